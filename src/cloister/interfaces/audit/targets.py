"""What an audit asks for, and who asks: sessions with markers that occur nowhere else, and keys with what they reach."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cloister.domain.identifiers import (
    EntityId,
    MemoryId,
    MessageId,
    ObservationId,
    ReceiptId,
    TenantId,
    format_entity_id,
    format_episode_id,
    format_memory_id,
    format_message_id,
    format_observation_id,
    format_project_id,
    format_receipt_id,
)
from cloister.domain.scope import Reach, Scope

QUESTION = "Who plays the cello, and what is the marker of the audit?"
NAMESPACE = "cloister-audit"
FILE = "/memories/audit.txt"
_LETTERS = "bcdfghklmnprstvz"
_VOWELS = "aeiou"


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A session with its marker, and the ids of what was stored of it. There is no entity outside a project."""

    name: str
    marker: str
    session: str
    scope: Scope
    messages: tuple[MessageId, ...]
    memory: MemoryId
    observation: ObservationId
    entity: EntityId | None
    response: str
    receipt: ReceiptId | None = None

    @property
    def tenant(self) -> TenantId:
        return self.scope.tenant

    @property
    def user(self) -> str:
        assert self.scope.user is not None
        return self.scope.user

    @property
    def project_header(self) -> dict[str, str]:
        """The header that names the project of the target; empty outside a project."""
        project = self.scope.project
        return {} if project is None else {"X-Project-ID": format_project_id(project)}

    @property
    def traces(self) -> tuple[str, ...]:
        """What shows that an answer has something of this target: its marker, or an id."""
        ids = [self.session, self.response, format_memory_id(self.memory), format_observation_id(self.observation)]
        ids += map(format_message_id, self.messages)
        ids += map(format_episode_id, self.messages[:1])
        if self.entity is not None:
            ids.append(format_entity_id(self.entity))
        if self.receipt is not None:
            ids.append(format_receipt_id(self.receipt))
        return (self.marker, *ids)

    def shares_pool(self, other: "Target") -> bool:
        return self.tenant == other.tenant and self.scope.pool == other.scope.pool

    def shares_project(self, other: "Target") -> bool:
        return self.tenant == other.tenant and self.scope.project == other.scope.project


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """A credential, by the name that the report gives it, with what it reaches. `headers` send it: a key, or with `is_browser` the
    cookie of a signed-in browser."""

    name: str
    headers: Mapping[str, str] = field(repr=False)
    reach: Reach
    is_admin: bool
    may_write: bool
    is_browser: bool = False

    def reaches(self, target: Target) -> bool:
        return self.reach.covers(target.scope)

    def reached(self, targets: Sequence[Target]) -> list[Target]:
        return [target for target in targets if self.reaches(target)]


def new_marker() -> str:
    """A word that reads like a name, so that rules take it for one, and that nobody ever said: about 60 random bits."""
    syllables = [secrets.choice(_LETTERS) + secrets.choice(_VOWELS) for _ in range(10)]
    return "Zq" + "".join(syllables)
