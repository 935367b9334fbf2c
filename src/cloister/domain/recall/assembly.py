"""Assemble a context: what of the conversation, the related history and the derived data fits (CTX-5, CTX-8)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cloister.domain.context import Context, Derived, Item
from cloister.domain.conversation import Message
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import StoredMemory
from cloister.domain.recall.excerpt import EXCERPT_TOKENS
from cloister.domain.text import CHARACTERS_A_TOKEN

# A chat format adds a role and delimiters to each message.
TOKENS_AROUND_A_MESSAGE = 4
# Long messages count a little less than their score, because several short ones fit in their place.
_LENGTH_POWER = 0.02
# In a smaller budget than this, messages longer than this are shortened to an excerpt.
SMALL_BUDGET = 1_000
_LONG = 160
_SHORTEST_EXCERPT = 24
Shorten = Callable[[Message, int], Message]


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """How many tokens a context may have, and how many of them its related history; None is no limit. `shorten` makes an excerpt
    of a message, of about so many tokens."""

    budget: int | None = None
    history: int | None = None
    shorten: Shorten | None = None


def assemble(
    *,
    session: str,
    project: ProjectId | None,
    said: Iterable[Message],
    related: Sequence[Item],
    derived: Derived,
    room: Room,
    left_out: Mapping[str, int] | None = None,
    user: str | None = None,
    shared: bool = False,
    unshown: int = 0,
    in_time_order: bool = False,
) -> Context:
    """Assemble a context. Pinned memories come first, with at most half of the budget; then the newest part of the conversation;
    then related messages; then other memories, entities and observations with the tokens that are left. Whatever does not fit is
    counted in `omitted`, with what recall has left out, and with `unshown`: messages of the conversation that the caller has left
    out of `said` because they do not fit (see `newest_that_fit`), and that are not among the related ones. The related messages are
    the best first, or in the order in which they were said."""
    pinned, pinned_tokens = _pinned_that_fit(derived, room.budget)
    budget = None if room.budget is None else room.budget - pinned_tokens
    conversation = _in_order(said)
    spoken = {message.id for message in conversation}
    history = [item for item in _first_of_each(related) if item.message.id not in spoken]
    kept = _newest_that_fit(conversation, budget)
    left = None if budget is None else budget - sum(map(_cost, kept))
    chosen = _fitting(history, _smaller(left, room.history), room.shorten)
    if in_time_order:
        chosen.sort(key=lambda item: (item.message.created_at, item.message.id))
    left = None if left is None else left - sum(_cost(item.message) for item in chosen)
    unpinned = derived
    if derived.memories:
        others = tuple(stored for stored in derived.memories if not stored.memory.pinned)
        unpinned = replace(derived, memories=others)
    fitting, derived_tokens = _derived_that_fit(unpinned, left)
    if pinned:
        fitting = replace(fitting, memories=(*pinned, *fitting.memories))
    too_much = {
        "current_conversation": len(conversation) - len(kept) + unshown,
        "relevant_history": len(history) - len(chosen),
        "memories": len(derived.memories) - len(fitting.memories),
        "entities": len(derived.entities) - len(fitting.entities),
        "observations": len(derived.observations) - len(fitting.observations),
    }
    return Context(
        session=session,
        project=project,
        current_conversation=tuple(Item(message, session, "session", user=user) for message in kept),
        relevant_history=tuple(chosen),
        derived=fitting,
        tokens=sum(map(_cost, kept)) + sum(_cost(item.message) for item in chosen) + derived_tokens + pinned_tokens,
        omitted={
            **too_much,
            "weak": 0,
            "duplicate": 0,
            "limit": 0,
            **(left_out or {}),
            "budget": sum(too_much.values()),
        },
        user=user,
        shared=shared,
    )


def newest_that_fit(said: Iterable[Message], derived: Derived, room: Room) -> Sequence[Message]:
    """The part of a conversation that `assemble` shows, if it is given the same. The rest may then be recalled as related history:
    what was said before a long message would otherwise be neither shown nor found."""
    budget = None if room.budget is None else room.budget - _pinned_that_fit(derived, room.budget)[1]
    return _newest_that_fit(_in_order(said), budget)


def _in_order(said: Iterable[Message]) -> Sequence[Message]:
    return sorted({message.id: message for message in said}.values(), key=lambda message: message.id)


def _fitting(ranked: Sequence[Item], tokens: int | None, shorten: Shorten | None) -> list[Item]:
    """The items that fit, in their order. They are tried by score and length. Of a long item that does not fit, or in a small
    budget, an excerpt is tried; an item that is still too long is skipped."""
    if tokens is None:
        return list(ranked)
    is_small = tokens < SMALL_BUDGET
    chosen: dict[int, Item] = {}
    for item in sorted(ranked, key=_packing_order):
        fitting = item
        if shorten is not None and item.message.tokens > _LONG and (is_small or _cost(item.message) > tokens):
            fitting = _shortened(item, shorten, tokens - TOKENS_AROUND_A_MESSAGE)
        if _cost(fitting.message) <= tokens:
            tokens -= _cost(fitting.message)
            chosen[item.message.id] = fitting
    return [chosen[item.message.id] for item in ranked if item.message.id in chosen]


def _packing_order(item: Item) -> float:
    """Items without a score, which are the most recent of the pool, come first."""
    return -item.score / _cost(item.message) ** _LENGTH_POWER if item.score is not None else float("-inf")


def _shortened(item: Item, shorten: Shorten, tokens: int) -> Item:
    """The best passage of an item, in at most so many tokens; the item itself if that would be too short to say anything."""
    if tokens < _SHORTEST_EXCERPT:
        return item
    return item._replace(message=shorten(item.message, min(tokens, EXCERPT_TOKENS)), excerpt=True)


def _smaller(one: int | None, other: int | None) -> int | None:
    limits = [limit for limit in (one, other) if limit is not None]
    return min(limits, default=None)


def _cost(message: Message) -> int:
    return message.tokens + TOKENS_AROUND_A_MESSAGE


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


def _pinned_that_fit(derived: Derived, budget: int | None) -> tuple[tuple[StoredMemory, ...], int]:
    """The pinned memories that fit into half of the budget, and their tokens."""
    room = _Counter(None if budget is None else budget // 2)
    pinned = (stored for stored in derived.memories if stored.memory.pinned)
    return tuple(stored for stored in pinned if room.takes(stored.memory.content)), room.taken


def _derived_that_fit(derived: Derived, budget: int | None) -> tuple[Derived, int]:
    """The derived data that fits, each kind in its order, and its tokens."""
    if not (derived.memories or derived.entities or derived.observations):
        return derived, 0
    room = _Counter(budget)
    memories = tuple(stored for stored in derived.memories if room.takes(stored.memory.content))
    entities = tuple(entity for entity in derived.entities if room.takes(f"{entity.name} {entity.notes}"))
    newest_first = [stored for stored in reversed(derived.observations) if room.takes(stored.observation.content)]
    fitting = replace(derived, memories=memories, entities=entities, observations=tuple(reversed(newest_first)))
    return fitting, room.taken


class _Counter:
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
