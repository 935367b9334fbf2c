"""Archives of entities with several names, of what people changed of them, and of other small things (ORG-11, MEM-17)."""

import pytest

from support.databases.engines import Engine
from support.setups.archives import archive_of, import_into
from support.setups.memories import MemorySetup, long_talk, settle_house


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def test_org_11_a_session_whose_first_message_was_forgotten_comes_along(engine: Engine, house: MemorySetup) -> None:
    """ORG-11, MEM-9: its notes are made again from the first message that is left, and nothing is covered before it."""
    house.session("long", house.project("Cellar", "private"), "ann")
    first, *_ = house.tell("long", *long_talk(30))
    house.services.forgetting.message(house.reach, first.id)
    lines = archive_of(house)
    assert b'"observed_message_id":null' in lines[3]
    assert import_into(house, lines).added.sessions == 0
    assert import_into(settle_house(engine), lines).added.sessions == 1
