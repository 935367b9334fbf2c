"""Windows of a conversation: around a message, before it, and from its end, in both directions."""

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import CloisterError, NotFound
from cloister.domain.identifiers import MessageId
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.scope import Reach
from cloister.domain.sessions.windows import MessageRange, Window, halves
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

COUNT = 9


@pytest.fixture
def house(shared_engine: Engine) -> MemorySetup:
    made = settle_house(shared_engine)
    for name in ("talk", "other talk"):
        made.session(name)
        drafts = [Draft(role="user", content=f"{name} {number}") for number in range(COUNT)]
        made.services.record.messages(made.reach, name, drafts)
    return made


def ids(house: MemorySetup, name: str = "talk") -> list[MessageId]:
    return [message.id for message in house.services.sessions.messages(house.reach, name, limit=50)[1]]


def window(house: MemorySetup, asked: MessageRange, limit: int, **filter: object) -> Window:
    wanted = parse_filter(filter) if filter else None
    return house.services.message_windows.page(house.reach, "talk", asked, limit=limit, filter=wanted)[1]


def numbers(found: Window) -> list[int]:
    return [int(message.content.rpartition(" ")[2]) for message in found.messages]


@pytest.mark.parametrize("filter", [{}, {"role": "user"}])
def test_a_window_is_around_a_message_or_before_it_or_at_the_end(house: MemorySetup, filter: dict[str, object]) -> None:
    there = ids(house)

    def shown(direction: str, position: int | None, limit: int) -> tuple[list[int], bool, bool]:
        message = None if position is None else there[position]
        asked = MessageRange(direction=direction, message=message, is_named=True)  # pyright: ignore[reportArgumentType]
        found = window(house, asked, limit, **filter)
        return numbers(found), found.has_earlier, found.has_later

    assert shown("around", 4, 3) == ([3, 4, 5], True, True)
    assert shown("around", 4, 1) == ([4], True, True)
    assert shown("around", 0, 4) == ([0, 1, 2, 3], False, True)
    assert shown("around", 8, 4) == ([5, 6, 7, 8], True, False)
    assert shown("around", 8, 50) == ([*range(COUNT)], False, False)
    assert shown("before", None, 4) == ([5, 6, 7, 8], True, False)
    assert shown("before", 5, 4) == ([1, 2, 3, 4], True, True)
    assert shown("before", 1, 4) == ([0], False, True)
    assert shown("before", 0, 4) == ([], False, True)
    assert shown("after", None, 4) == ([0, 1, 2, 3], False, True)
    assert shown("after", 5, 4) == ([6, 7, 8], True, False)


def test_a_filter_holds_in_every_direction(house: MemorySetup) -> None:
    house.services.record.messages(house.reach, "talk", [Draft(role="assistant", content="reply 9")])
    there = ids(house)
    for direction in ("around", "before", "after"):
        asked = MessageRange(direction=direction, message=there[8])
        assert numbers(window(house, asked, 50, role="assistant")) == ([9] if direction != "before" else [])


def test_iso_4_a_foreign_message_and_a_missing_one_are_not_found_alike(house: MemorySetup) -> None:
    """ISO-4: whichever direction; a message that was deleted too. A cursor of a deleted message goes on."""
    there, others = ids(house), ids(house, "other talk")
    house.services.forgetting.message(house.reach, there[4])
    stranger = Reach(tenant=house.services.projects.create_tenant("Others")[0])

    def refused(reach: Reach, message: MessageId, direction: str, name: str = "talk") -> str:
        asked = MessageRange(direction=direction, message=message, is_named=True)  # pyright: ignore[reportArgumentType]
        with pytest.raises(CloisterError) as caught:
            house.services.message_windows.page(reach, name, asked, limit=3)
        assert isinstance(caught.value, NotFound)
        return caught.value.kind

    for direction in ("around", "before"):
        for message in (others[4], there[4], MessageId(there[8] + 9), MessageId(1)):
            assert refused(house.reach, message, direction) == "message"
        assert refused(stranger, there[3], direction) == "session"
    asked = MessageRange(direction="before", message=there[4])
    assert numbers(window(house, asked, 2)) == [2, 3]


def test_a_window_is_filled_with_what_there_is() -> None:
    for earlier in range(8):
        for later in range(1, 8):
            for limit in range(1, 9):
                before, after = halves(earlier, later, limit)
                assert before + after == min(limit, earlier + later)
                assert 0 <= before <= earlier and 1 <= after <= later
