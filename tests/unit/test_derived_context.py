"""What was derived earlier in a context: in the room that is left (CTX-5), and quoted as data (MEM-7)."""

import pytest

from cloister.domain.context import Context, Derived
from cloister.domain.conversation import Message
from cloister.domain.entity import Entity
from cloister.domain.identifiers import EntityId, MemoryId, ObservationId, ProjectId, SessionId, message_id
from cloister.domain.memory import Memory, StoredMemory
from cloister.domain.observation import Observation, StoredObservation
from cloister.domain.recall.assembly import Room, assemble

SESSION = SessionId(5)
Found = tuple[list[int], list[int], list[int]]
# Eight characters are two tokens, and four stand around them.
EACH = 6


def memory(number: int, content: str = "12345678") -> StoredMemory:
    stored = Memory(
        id=MemoryId(number),
        session=SESSION,
        content=content,
        importance=None,
        sources=(),
        created_at=number,
        valid_from=number,
        source="written",
    )
    return StoredMemory(memory=stored, session="here", user=None, project=None)


def entity(number: int) -> Entity:
    return Entity(
        id=EntityId(number),
        project=ProjectId(1),
        user=None,
        name="123",
        type="other",
        notes="4567",
        sources=(),
        created_at=number,
    )


def observation(number: int) -> StoredObservation:
    stored = Observation(
        id=ObservationId(number), session=SESSION, content="12345678", sources=(), said_at=number, created_at=number
    )
    return StoredObservation(observation=stored, session="here", user=None)


DERIVED = Derived(
    memories=tuple(map(memory, (3, 1, 2))),
    entities=tuple(map(entity, (2, 1))),
    observations=tuple(map(observation, (1, 2, 3))),
)


def put_together(budget: int | None, said: int = 0) -> Context:
    words = Message(
        id=message_id(SESSION, 1),
        session=SESSION,
        role="user",
        content="x",
        author=None,
        status="completed",
        episode=message_id(SESSION, 1),
        is_memory_checked=False,
        tokens=said - 4,
        metadata={},
        created_at=0,
    )
    return assemble(
        session="here",
        project=None,
        said=[words] if said else [],
        related=[],
        derived=DERIVED,
        room=Room(budget=budget),
    )


def ids(context: Context) -> Found:
    return (
        [stored.memory.id for stored in context.derived.memories],
        [stored.id for stored in context.derived.entities],
        [stored.observation.id for stored in context.derived.observations],
    )


FITTING: list[tuple[int | None, Found]] = [
    (None, ([3, 1, 2], [2, 1], [1, 2, 3])),
    (8 * EACH, ([3, 1, 2], [2, 1], [1, 2, 3])),
    (8 * EACH - 1, ([3, 1, 2], [2, 1], [2, 3])),
    (6 * EACH, ([3, 1, 2], [2, 1], [3])),
    (4 * EACH, ([3, 1, 2], [2], [])),
    (2 * EACH, ([3, 1], [], [])),
    (0, ([], [], [])),
]


@pytest.mark.parametrize(("budget", "expected"), FITTING)
def test_memories_come_before_entities_and_these_before_notes_of_which_the_newest_stay(
    budget: int | None, expected: Found
) -> None:
    """CTX-5: what is left out is said."""
    context = put_together(budget)
    assert ids(context) == expected
    assert context.tokens == EACH * sum(map(len, expected))
    omitted = [context.omitted[kind] for kind in ("memories", "entities", "observations")]
    assert omitted == [3 - len(expected[0]), 2 - len(expected[1]), 3 - len(expected[2])]


def test_what_is_said_comes_before_all_that_derives() -> None:
    """CTX-5: current conversation first."""
    context = put_together(EACH + 10, said=10)
    assert len(context.current_conversation) == 1
    assert ids(context) == ([3], [], [])


def test_mem_7_the_memory_context_holds_the_memories_that_are_in_the_context() -> None:
    context = put_together(2 * EACH)
    assert context.memory_context.count("12345678") == 2
    assert put_together(0).memory_context == ""
