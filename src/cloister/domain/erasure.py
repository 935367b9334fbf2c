"""What forgetting removes: the counts of erasing a user, a project or a tenant, and the rows of any removal, for its certificate;
and who recalls something, for dry runs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cloister.domain.identifiers import EntityId, MemoryId, MessageId, ObservationId, ProjectId, ReceiptId, SessionId
from cloister.domain.scope import Scope

MOST_NAMED = 1_000
"""So many ids of each kind are named in an answer; of the others, their number."""
MOST_TEXTS = 3
"""So many texts are searched for after a removal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Readers:
    """How many sessions, of how many users, recall something, or would. `user_ids` are the first of these users, for an admin; None
    for any other caller."""

    sessions: int
    users: int
    user_ids: tuple[str, ...] | None = None


NO_READERS = Readers(sessions=0, users=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class EmptiedSession:
    """A session that lost its contents. `last_message` is the highest id that a message of it had then: later messages of a
    session that stays have higher ids. `files` are the paths and times of change of its files."""

    id: SessionId
    last_message: MessageId
    is_deleted: bool
    files: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class RemovedText:
    """Words of a removed message, and the scope that recalled it: what a search is tried with afterwards."""

    text: str
    scope: Scope


class RemovedFile(NamedTuple):
    """A file that was removed from a session that stays: its path, and when it was last changed."""

    session: SessionId
    path: str
    updated_at: int


@dataclass(kw_only=True, slots=True)
class Removal:
    """What one call removed: by kind and id for the caller, and by number for the checks that are made afterwards (PRF-4). What
    lies outside the caller's reach is not in `named`."""

    named: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    more: Counter[str] = field(default_factory=Counter[str])
    sessions: list[EmptiedSession] = field(default_factory=list[EmptiedSession])
    messages: list[MessageId] = field(default_factory=list[MessageId])
    memories: list[MemoryId] = field(default_factory=list[MemoryId])
    observations: list[ObservationId] = field(default_factory=list[ObservationId])
    entities: list[EntityId] = field(default_factory=list[EntityId])
    hidden_entities: list[EntityId] = field(default_factory=list[EntityId])
    items: list[int] = field(default_factory=list[int])
    responses: list[int] = field(default_factory=list[int])
    receipts: list[ReceiptId] = field(default_factory=list[ReceiptId])
    templates: list[int] = field(default_factory=list[int])
    """The texts of prompts that the removed receipts named; those that other receipts name stay."""
    files: list[RemovedFile] = field(default_factory=list[RemovedFile])
    texts: list[RemovedText] = field(default_factory=list[RemovedText])
    projects: list[ProjectId] = field(default_factory=list[ProjectId])
    user: str | None = None
    is_tenant: bool = False

    def name(self, kind: str, ids: Sequence[str], total: int | None = None) -> None:
        """Name rows of a kind, of which there are `total`; beyond `MOST_NAMED` they are only counted."""
        known = self.named.get(kind, [])
        taken = list(ids[: MOST_NAMED - len(known)])
        if taken:
            self.named[kind] = [*known, *taken]
        left = (len(ids) if total is None else total) - len(taken)
        if left:
            self.more[kind] += left

    def add(self, other: "Removal") -> None:
        """Add what another transaction of the same call removed from sessions that stay."""
        for kind, ids in other.named.items():
            self.name(kind, ids)
        self.more += other.more
        self.messages += other.messages
        self.memories += other.memories
        self.observations += other.observations
        self.entities += other.entities
        self.items += other.items
        self.responses += other.responses
        self.receipts += other.receipts
        self.templates += other.templates
        self.files += other.files
        self.texts += other.texts[: MOST_TEXTS - len(self.texts)]


@dataclass(frozen=True, kw_only=True, slots=True)
class UserCounts:
    """The rows of one user, or of one project."""

    sessions: int
    messages: int
    episodes: int
    memories: int
    observations: int
    entities: int
    entries: int = 0
    files: int = 0
    removal: Removal = field(default_factory=Removal, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantCounts(UserCounts):
    """The rows of all users of a tenant, and what belongs to the tenant itself."""

    projects: int
    api_keys: int
