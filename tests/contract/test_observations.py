"""Observations: notes on what fell out of the recent window, of a session or of its user (TAB-7)."""

import pytest

from cloister.domain.errors import InvalidRequest
from support.databases.engines import Engine
from support.setups.extraction import run_due
from support.setups.memories import MemorySetup, long_talk, settle_house


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def talk(house: MemorySetup, name: str, word: str, turns: int = 32) -> None:
    """Past the recent window by twelve exchanges, in which every user's message holds the word."""
    for text in long_talk(turns):
        house.say(name, text.replace("Xandor", word))
    while run_due(house.services):
        pass


def test_a_session_within_its_recent_window_has_no_notes(house: MemorySetup) -> None:
    house.session("a")
    talk(house, "a", "Xandor", 20)
    assert house.notes("a") == []


def test_what_falls_out_of_the_window_is_noted_with_its_sources_in_order(house: MemorySetup) -> None:
    house.session("a")
    talk(house, "a", "Xandor")
    notes = house.services.observations.of_session(house.reach, "a", limit=200)
    _, page = house.services.sessions.messages(house.reach, "a", limit=200)
    words = {message.id: message for message in page}
    assert len(notes) >= 2
    for stored in notes:
        (source,) = stored.observation.sources
        assert words[source].content.rstrip(".") in stored.observation.content
        assert stored.observation.said_at == words[source].created_at
        assert source <= page[24].id
    assert [stored.observation.said_at for stored in notes] == sorted(stored.observation.said_at for stored in notes)
    assert house.recalled_notes("a") == house.notes("a")


def test_nothing_is_noted_twice(house: MemorySetup) -> None:
    house.session("a")
    talk(house, "a", "Xandor")
    before = house.notes("a")
    talk(house, "a", "Yanko", 8)
    assert house.notes("a")[: len(before)] == before
    assert len(set(house.notes("a"))) == len(house.notes("a")) > len(before)


def test_tab_7_notes_are_of_their_session_unless_the_project_shares_them_between_the_users_sessions(
    house: MemorySetup,
) -> None:
    """The change takes effect on the next request, in both directions."""
    garden = house.project()
    for name, user in (("first", "ann"), ("second", "ann"), ("other user", "bob"), ("nobody", None)):
        house.session(name, garden, user)
    talk(house, "first", "Xandor")
    talk(house, "other user", "Yanko")
    talk(house, "nobody", "Zoran")
    own, others, nobodys = (house.notes(name) for name in ("first", "other user", "nobody"))
    assert own and others and nobodys
    for scope, seen in (("session", []), ("user", own), ("session", []), ("user", own)):
        house.services.projects.change_project(house.reach, garden, settings={"observation_scope": scope})
        assert house.recalled_notes("second") == seen
        assert house.recalled_notes("first") == own
        assert house.recalled_notes("other user") == others
        assert house.recalled_notes("nobody") == nobodys
    with pytest.raises(InvalidRequest, match="observation_scope"):
        house.services.projects.change_project(house.reach, garden, settings={"observation_scope": "tenant"})


def test_tab_7_notes_of_a_user_stay_in_their_pool_and_move_with_their_session(house: MemorySetup) -> None:
    garden = house.project(observation_scope="user")
    cellar = house.project("Cellar", observation_scope="user")
    for name, project in (("a", garden), ("in garden", garden), ("in cellar", cellar), ("shared", None)):
        house.session(name, project, "ann")
    talk(house, "a", "Xandor")
    notes = house.notes("a")
    for project, where in ((garden, "in garden"), (cellar, "in cellar"), (None, None), (garden, "in garden")):
        house.move("a", project)
        found = {name: house.recalled_notes(name) for name in ("in garden", "in cellar", "shared")}
        assert found == {name: notes if name == where else [] for name in found}
        assert house.recalled_notes("a") == notes


def test_tab_7_a_private_project_shares_nothing_between_users(house: MemorySetup) -> None:
    diary = house.project("Diary", "private", observation_scope="user")
    for name, user in (("a", "ann"), ("b", "ann"), ("c", "bob")):
        house.session(name, diary, user)
    talk(house, "a", "Xandor")
    assert house.recalled_notes("b") == house.notes("a")
    assert house.recalled_notes("c") == []


@pytest.mark.parametrize("how", ["clear", "delete"])
def test_mem_9_notes_go_with_their_session(house: MemorySetup, engine: Engine, how: str) -> None:
    garden = house.project(observation_scope="user")
    for name in ("a", "b"):
        house.session(name, garden, "ann")
    talk(house, "a", "Xandor")
    count = len(house.notes("a"))
    forget = house.services.forgetting
    assert (forget.contents if how == "clear" else forget.session)(house.reach, "a").observations == count > 0
    assert house.recalled_notes("b") == []
    assert engine.rows("SELECT content FROM observation") == []


def test_a_note_goes_with_any_message_of_its_stretch_and_what_remains_is_noted_again(house: MemorySetup) -> None:
    house.session("a")
    talk(house, "a", "Xandor")
    _, page = house.services.sessions.messages(house.reach, "a", limit=200)
    house.services.forgetting.message(house.reach, page[0].id)
    assert house.notes("a") == []
    house.services.extraction.extract_now(house.reach, "a")
    assert house.notes("a")
    assert not any("Xandor0 " in note for note in house.notes("a"))


def test_after_a_message_within_a_stretch_was_deleted_its_first_message_is_noted_again(house: MemorySetup) -> None:
    """MEM-9: only what was deleted is missing from the notes that are made again."""
    house.session("a")
    talk(house, "a", "Xandor")
    _, page = house.services.sessions.messages(house.reach, "a", limit=200)
    first = sources(house)[0][0]
    assert first == page[0].id
    house.services.forgetting.message(house.reach, page[2].id)
    house.services.extraction.extract_now(house.reach, "a")
    assert sources(house)[0][0] == first
    assert page[2].id not in {each for noted in sources(house) for each in noted}


def sources(house: MemorySetup) -> list[tuple[int, ...]]:
    return [
        stored.observation.sources for stored in house.services.observations.of_session(house.reach, "a", limit=200)
    ]
