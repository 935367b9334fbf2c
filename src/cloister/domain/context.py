"""The context of a reply: the current conversation and the related history, kept apart (CTX-1), from configured sources (CTX-2),
within a token budget (CTX-5)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, cast, get_args

from cloister.domain.conversation import ROLES, Message, Role
from cloister.domain.entity import Entity
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import StoredMemory, quoted
from cloister.domain.observation import StoredObservation
from cloister.domain.prompts.speaker import attributed, listener, with_user
from cloister.domain.text import CHARACTERS_A_TOKEN, checked_limit

Method = Literal["recent", "semantic"]
ConversationScope = Literal["current", "pool"]
Origin = Literal["session", "pool", "semantic"]

RECENT_LIMIT = 20
SEMANTIC_LIMIT = 10
HIGHEST_LIMIT = 1_000
HIGHEST_BUDGET = 10_000_000
MOST_SOURCES = 16
# A chat format adds a role and delimiters to each message.
TOKENS_AROUND_A_MESSAGE = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A source of messages of one role: the most recent or the best matches, of the session or of the whole pool."""

    role: Role
    method: Method
    limit: int
    conversation_scope: ConversationScope


_DEFAULT_SOURCES = (
    Source(role="user", method="recent", limit=RECENT_LIMIT, conversation_scope="current"),
    Source(role="assistant", method="recent", limit=RECENT_LIMIT, conversation_scope="current"),
    Source(role="user", method="semantic", limit=SEMANTIC_LIMIT, conversation_scope="pool"),
    Source(role="assistant", method="semantic", limit=SEMANTIC_LIMIT, conversation_scope="pool"),
)


class Item(NamedTuple):
    """A message in a context, with the outside id and the user of its session, its source, and its score if it was searched for."""

    message: Message
    session: str
    source: Origin
    score: float | None = None
    user: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived:
    """Data derived from earlier messages: memories of the pool and entities of the project, best first; observations in order."""

    memories: tuple[StoredMemory, ...] = ()
    entities: tuple[Entity, ...] = ()
    observations: tuple[StoredObservation, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """What a model is given to answer with. `current_conversation` has messages of this session only, in order; `relevant_history`
    has none of those, best first. `user` is the session's user; `shared` says that several users' messages may be in it
    (MEM-11)."""

    session: str
    project: ProjectId | None
    current_conversation: tuple[Item, ...]
    relevant_history: tuple[Item, ...]
    derived: Derived
    tokens: int
    omitted: Mapping[str, int]
    user: str | None = None
    shared: bool = False

    @property
    def holds_other_sessions(self) -> bool:
        """Whether anything in the context comes from another session, and so belongs to the pool it was recalled from."""
        derived = self.derived
        sessions = (*self.relevant_history, *derived.memories, *derived.observations)
        return bool(derived.entities) or any(each.session != self.session for each in sessions)

    @property
    def memory_context(self) -> str:
        """The memories as `{MEMORY.CONTEXT}` shows them (MEM-7): quoted data, not instructions."""
        named = self.names_speakers
        return self.quoted(
            attributed(stored.memory.content, stored.user, named=named) for stored in self.derived.memories
        )

    def quoted(self, lines: Iterable[str]) -> str:
        """Recalled lines as one marked block, which names the current user where several users are quoted."""
        return quoted(lines, listener(self.user) if self.names_speakers else "")

    @property
    def entity_lines(self) -> Iterator[str]:
        """The entities, one line each, with their notes. Notes name their speakers already, except users without a name."""
        for entity in self.derived.entities:
            notes = with_user(entity.notes, None) if self.names_speakers else entity.notes
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


def assemble(
    *,
    session: str,
    project: ProjectId | None,
    said: Iterable[Message],
    related: Sequence[Item],
    derived: Derived,
    budget: int | None,
    user: str | None = None,
    shared: bool = False,
) -> Context:
    """Assemble a context within a budget of tokens. The newest part of the conversation comes first; then related messages by rank;
    then memories, entities and observations with the tokens that are left. Whatever does not fit is counted in `omitted`."""
    conversation = sorted({message.id: message for message in said}.values(), key=lambda message: message.id)
    spoken = {message.id for message in conversation}
    history = [item for item in _first_of_each(related) if item.message.id not in spoken]
    kept = _newest_that_fit(conversation, budget)
    left = None if budget is None else budget - sum(map(_cost, kept))
    chosen = _best_that_fit(history, left)
    left = None if left is None else left - sum(_cost(item.message) for item in chosen)
    fitting, derived_tokens = _derived_that_fit(derived, left)
    return Context(
        session=session,
        project=project,
        current_conversation=tuple(Item(message, session, "session", user=user) for message in kept),
        relevant_history=tuple(chosen),
        derived=fitting,
        tokens=sum(map(_cost, kept)) + sum(_cost(item.message) for item in chosen) + derived_tokens,
        omitted={
            "current_conversation": len(conversation) - len(kept),
            "relevant_history": len(history) - len(chosen),
            "memories": len(derived.memories) - len(fitting.memories),
            "entities": len(derived.entities) - len(fitting.entities),
            "observations": len(derived.observations) - len(fitting.observations),
        },
        user=user,
        shared=shared,
    )


def _first_of_each(items: Sequence[Item]) -> Iterable[Item]:
    first: dict[int, Item] = {}
    for item in items:
        first.setdefault(item.message.id, item)
    return first.values()


def _newest_that_fit(conversation: Sequence[Message], budget: int | None) -> Sequence[Message]:
    """The longest uninterrupted end of the conversation that fits."""
    if budget is None:
        return conversation
    start = len(conversation)
    while start and (budget := budget - _cost(conversation[start - 1])) >= 0:
        start -= 1
    return conversation[start:]


def _best_that_fit(ranked: Sequence[Item], budget: int | None) -> Sequence[Item]:
    """The items that fit, by rank; an item that is too long is skipped."""
    if budget is None:
        return ranked
    chosen: list[Item] = []
    for item in ranked:
        if _cost(item.message) <= budget:
            budget -= _cost(item.message)
            chosen.append(item)
    return chosen


def _derived_that_fit(derived: Derived, budget: int | None) -> tuple[Derived, int]:
    """The derived data that fits, each kind in its order, and its tokens."""
    room = _Room(budget)
    memories = tuple(stored for stored in derived.memories if room.takes(stored.memory.content))
    entities = tuple(entity for entity in derived.entities if room.takes(f"{entity.name} {entity.notes}"))
    newest_first = [stored for stored in reversed(derived.observations) if room.takes(stored.observation.content)]
    fitting = Derived(memories=memories, entities=entities, observations=tuple(reversed(newest_first)))
    return fitting, room.taken


class _Room:
    """Counts tokens against a budget; None is no limit."""

    def __init__(self, budget: int | None) -> None:
        self._budget = budget
        self.taken = 0

    def takes(self, text: str) -> bool:
        tokens = -(-len(text) // CHARACTERS_A_TOKEN) + TOKENS_AROUND_A_MESSAGE
        if self._budget is not None and self.taken + tokens > self._budget:
            return False
        self.taken += tokens
        return True


def _cost(message: Message) -> int:
    return message.tokens + TOKENS_AROUND_A_MESSAGE


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
