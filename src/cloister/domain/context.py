"""The context of a reply: the current conversation and the related history, kept apart (CTX-1), from configured sources (CTX-2),
within a token budget (CTX-5)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, cast, get_args

from cloister.domain.conversation import ROLES, Message, Role
from cloister.domain.entity import Entity
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import EntityId, MemoryId, MessageId, PoolId, ProjectId
from cloister.domain.memory import StoredMemory, quoted
from cloister.domain.observation import StoredObservation
from cloister.domain.prompts.profile import ProfileFact
from cloister.domain.prompts.speaker import attributed, listener
from cloister.domain.text import checked_limit
from cloister.domain.timestamps import iso

Method = Literal["recent", "semantic"]
ConversationScope = Literal["current", "pool"]
Origin = Literal["session", "pool", "semantic"]
Reason = Literal["limit", "weak", "duplicate", "budget", "quotation", "excluded"]
"""Why something was not recalled, for receipts (PRF-1)."""

RECENT_LIMIT = 20
SEMANTIC_LIMIT = 10
HIGHEST_LIMIT = 1_000
WIDE_LIMIT = 100
"""How many messages of each role may be recalled to fill a budget."""
DEFAULT_HISTORY_TOKENS = 2_000
HIGHEST_BUDGET = 10_000_000
MOST_SOURCES = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A source of messages of one role: the most recent or the best matches, of the session or of the whole pool."""

    role: Role
    method: Method
    limit: int
    conversation_scope: ConversationScope


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallTerms:
    """How something was recalled: from which pool in which version, and with which limits, so that it can be recalled again.
    `version` is the pool's when it was read. `question` is the text that was asked, if no message has it, and `question_id` the
    message that has. `fill_floor` is the floor of all but the best, where a budget was filled. `history` limits the tokens of
    related messages, `budget` those of all; a budget that is a cap is not filled. `until` is the last message of the
    conversation at that time. `kinds` are those that were searched for; None for all. `is_filtered`: the request had a filter,
    which is not stored. `is_stored`: the project stores receipts of contexts and searches. `additional_model` is the number of the
    additional embedder whose vector of the question was used; None if none was."""

    pool: PoolId
    version: int
    project: ProjectId | None
    user: str | None
    asked_at: int
    floor: float
    fill_floor: float | None = None
    question: str | None = None
    question_id: MessageId | None = None
    sources: Sequence[Source] | None = None
    budget: int | None = None
    budget_is_cap: bool = False
    history: int | None = None
    as_of: int | None = None
    limit: int | None = None
    until: MessageId | None = None
    kinds: Sequence[str] | None = None
    is_filtered: bool = False
    is_stored: bool = False
    additional_model: int | None = None

    @property
    def searches_messages(self) -> bool:
        """Whether messages were searched for by the question."""
        of_search = self.kinds is None or "episodes" in self.kinds
        return of_search and (
            self.sources is None or any(source.method == "semantic" and source.limit for source in self.sources)
        )


_DEFAULT_SOURCES = (
    Source(role="user", method="recent", limit=RECENT_LIMIT, conversation_scope="current"),
    Source(role="assistant", method="recent", limit=RECENT_LIMIT, conversation_scope="current"),
    Source(role="user", method="semantic", limit=SEMANTIC_LIMIT, conversation_scope="pool"),
    Source(role="assistant", method="semantic", limit=SEMANTIC_LIMIT, conversation_scope="pool"),
)


class Item(NamedTuple):
    """A message in a context, with the outside id and the user of its session, and its source. A message that was searched for has
    a score, which orders it among the others, and its relevance to the question; `times` is how often the same was said, and `same`
    are some of the other messages that say it. Of an excerpt, the content is only a passage of the stored message."""

    message: Message
    session: str
    source: Origin
    score: float | None = None
    user: str | None = None
    relevance: float | None = None
    times: int = 1
    same: tuple[MessageId, ...] = ()
    excerpt: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived:
    """Data derived from earlier messages: memories of the pool and entities of the project, best first; observations in order. The
    relevance of memories and entities is by their ids. `profile` has facts of the user, if the prompt asks for them (MEM-16)."""

    memories: tuple[StoredMemory, ...] = ()
    entities: tuple[Entity, ...] = ()
    observations: tuple[StoredObservation, ...] = ()
    profile: tuple[ProfileFact, ...] = ()
    memory_relevance: Mapping[MemoryId, float] = field(default_factory=dict[MemoryId, float])
    entity_relevance: Mapping[EntityId, float] = field(default_factory=dict[EntityId, float])


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """What a model is given to answer with. `current_conversation` has messages of this session only, in order; `relevant_history`
    has none of those, best first. `user` is the session's user; `shared` says that several users' messages may be in it
    (MEM-11). `stale`: how much of the pool was indexed by another version, and not yet again (OPS-1)."""

    session: str
    project: ProjectId | None
    current_conversation: tuple[Item, ...]
    relevant_history: tuple[Item, ...]
    derived: Derived
    tokens: int
    omitted: Mapping[str, int]
    user: str | None = None
    shared: bool = False
    stale: int = 0
    project_name: str | None = None
    terms: RecallTerms | None = field(default=None, repr=False)
    """How this was recalled; None for a context that was not recalled from a pool."""
    quotations: int = 0
    """How many candidates have no words of their own, and so were not recalled."""
    known: int = 0
    """How many candidates say what the caller has already."""
    excluded: int = 0
    """How many items of the pool the session does not recall, because somebody excluded them."""
    unmoved_token: str | None = None
    """With this a reply is recorded only if the session still recalls from the same pool."""

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many candidates were left out, for which reason."""
        omitted = self.omitted
        return {
            "limit": omitted["limit"],
            "weak": omitted["weak"],
            "duplicate": omitted["duplicate"] + self.known,
            "budget": omitted["budget"],
            "quotation": self.quotations,
            "excluded": self.excluded,
        }

    @property
    def holds_other_sessions(self) -> bool:
        """Whether anything in the context comes from another session, and so belongs to the pool it was recalled from."""
        derived = self.derived
        sessions = (*self.relevant_history, *derived.memories, *derived.observations)
        of_profile = (session for fact in derived.profile for session in fact.sessions)
        return bool(derived.entities) or any(
            session != self.session for session in (*(each.session for each in sessions), *of_profile)
        )

    @property
    def memory_context(self) -> str:
        """The memories as `{MEMORY.CONTEXT}` shows them (MEM-7): quoted data, not instructions."""
        named = self.names_speakers
        return self.quoted(
            f"{attributed(stored.memory.content, stored.user, named=named)}{past_note(stored)}"
            for stored in self.derived.memories
        )

    @property
    def profile_text(self) -> str:
        """The facts of the user as `{PROFILE}` shows them (MEM-16): quoted data, not instructions."""
        named = self.names_speakers
        return self.quoted(fact.line(named=named) for fact in self.derived.profile)

    def quoted(self, lines: Iterable[str]) -> str:
        """Recalled lines as one marked block, which names the current user where several users are quoted."""
        return quoted(lines, listener(self.user) if self.names_speakers else "")

    @property
    def entity_lines(self) -> Iterator[str]:
        """The entities, one line each, with their notes."""
        named = self.names_speakers
        for entity in self.derived.entities:
            notes = entity.notes_for(named=named)
            yield f"{entity.name} ({entity.type}){': ' if notes else ''}{notes}"

    @property
    def names_speakers(self) -> bool:
        """Whether a prompt has to name the speakers it quotes (MEM-11): in a shared context with at least one named user."""
        return self.shared and (
            self.user is not None
            or any(item.user is not None for item in self.relevant_history)
            or any(stored.user is not None for stored in self.derived.memories)
        )

    @property
    def chat_history(self) -> tuple[Item, ...]:
        """Both lists in one, for clients that take only one: the related messages, oldest first, then the conversation."""
        related = sorted(self.relevant_history, key=lambda item: (item.message.created_at, item.message.id))
        return (*related, *self.current_conversation)


def past_note(stored: StoredMemory) -> str:
    """What a prompt adds to a memory that is no longer true (MEM-12); nothing to one that is."""
    until = stored.memory.valid_until if stored.status == "superseded" else None
    return "" if until is None else f" (until {iso(until)[:10]})"


def default_sources() -> tuple[Source, ...]:
    """The sources of a project that configures none (CTX-2): per role the last 20 of the session and the 10 best of the pool."""
    return _DEFAULT_SOURCES


def checked_limits(recent: int | None, semantic: int | None) -> dict[Method, int]:
    """The limits that a request sets for all its sources of a method, checked."""
    given: tuple[tuple[Method, int | None], ...] = (("recent", recent), ("semantic", semantic))
    return {
        method: checked_limit(limit, f"{method}_limit", HIGHEST_LIMIT) for method, limit in given if limit is not None
    }


def with_limits(sources: Sequence[Source], limits: Mapping[Method, int]) -> Sequence[Source]:
    return [replace(source, limit=limits.get(source.method, source.limit)) for source in sources] if limits else sources


def parse_sources(given: object, field: str) -> tuple[Source, ...]:
    """Sources from untrusted input: a list of objects with role, method, limit and conversation_scope."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InvalidRequest(field, "must be a list of sources.")
    entries = cast(Sequence[object], given)
    if len(entries) > MOST_SOURCES:
        raise InvalidRequest(field, f"has {len(entries)} sources, and the limit is {MOST_SOURCES}.")
    return tuple(_parse_source(entry, f"{field}[{position}]") for position, entry in enumerate(entries))


def _parse_source(given: object, field: str) -> Source:
    if not isinstance(given, Mapping):
        raise InvalidRequest(field, "must be an object.")
    entry = cast(Mapping[str, object], given)
    if unknown := set(entry) - {"role", "method", "limit", "conversation_scope"}:
        raise InvalidRequest(f"{field}.{min(map(str, unknown))}", "is not a field of a source.")
    role, method, scope = entry.get("role"), entry.get("method"), entry.get("conversation_scope")
    if role not in ROLES:
        raise InvalidRequest(f"{field}.role", f"must be one of {', '.join(ROLES)}.")
    if method not in get_args(Method):
        raise InvalidRequest(f"{field}.method", "must be recent or semantic.")
    if scope is None:
        scope = "current" if method == "recent" else "pool"
    if scope not in get_args(ConversationScope):
        raise InvalidRequest(f"{field}.conversation_scope", "must be current or pool.")
    limit = cast(int, entry.get("limit", RECENT_LIMIT if method == "recent" else SEMANTIC_LIMIT))
    checked_limit(limit, f"{field}.limit", HIGHEST_LIMIT)
    return Source(
        role=role,
        method=cast(Method, method),
        limit=limit,
        conversation_scope=cast(ConversationScope, scope),
    )
