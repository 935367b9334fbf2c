"""What a person chooses for one conversation: pinned, archived, its system prompt and its model."""

from dataclasses import replace
from typing import Any

import pytest

from cloister.domain.conversation import SessionChoices
from cloister.domain.errors import Conflict, InvalidRequest, TooLarge
from cloister.domain.scope import Reach
from cloister.domain.sessions.fields import SessionChange, SessionFields, SessionFilter
from support.databases.engines import Engine
from support.setups.archives import archive_of, changed, import_into
from support.setups.memories import MemorySetup, settle_house

PROMPT = "Speak like a sailor. {MEMORY.CONTEXT}"


@pytest.fixture
def house(shared_engine: Engine) -> MemorySetup:
    made = settle_house(shared_engine)
    for name in ("first", "second", "third"):
        made.session(name)
    return made


def listed(house: MemorySetup, **conditions: bool | str) -> list[str]:
    found = house.services.sessions.page(house.reach, limit=9, wanted=SessionFilter(**conditions))  # pyright: ignore[reportArgumentType]
    return [session.external_id for session in found]


def change(house: MemorySetup, name: str, **fields: object) -> None:
    house.services.sessions.change(house.reach, name, SessionChange(**fields))  # pyright: ignore[reportArgumentType]


def test_a_choice_is_stored_and_is_no_activity(house: MemorySetup) -> None:
    before = house.find("first")
    change(house, "first", pinned=True, archived=True, system_prompt=PROMPT)
    after = house.find("first")
    assert after.choices == SessionChoices(True, True, PROMPT, None)
    assert after.updated_at == before.updated_at and listed(house) == ["third", "second", "first"]
    change(house, "first", pinned=False, resets=frozenset({"system_prompt"}))
    assert house.find("first").choices == SessionChoices(False, True, None, None)


def test_lists_ask_for_pinned_and_archived_ones(house: MemorySetup) -> None:
    change(house, "first", pinned=True)
    change(house, "second", pinned=True, archived=True)
    assert listed(house, pinned=True) == ["second", "first"] and listed(house, pinned=False) == ["third"]
    assert listed(house, archived=True) == ["second"] and listed(house, archived=False) == ["third", "first"]
    assert listed(house, pinned=True, archived=False) == ["first"]
    assert listed(house, external_id="second") == ["second"]
    assert listed(house, external_id="second", archived=False) == [] == listed(house, external_id="nobody's")


def test_iso_4_a_list_by_external_id_finds_nothing_outside_the_reach(house: MemorySetup) -> None:
    """ISO-4, ORG-10: a foreign session and a missing one are the same empty list."""
    garden, cellar = house.project("Garden"), house.project("Cellar")
    house.session("ann's", garden, "ann")
    asked = SessionFilter(external_id="ann's")
    for reach in (
        Reach(tenant=house.reach.tenant, confined_to=cellar),
        Reach(tenant=house.reach.tenant, user="bob"),
        Reach(tenant=house.services.projects.create_tenant("Others")[0]),
    ):
        assert house.services.sessions.page(reach, limit=9, wanted=asked) == []
    assert house.services.sessions.page(house.reach, limit=9, project=cellar, any_project=False, wanted=asked) == []
    there = Reach(tenant=house.reach.tenant, confined_to=garden, user="ann")
    assert len(house.services.sessions.page(there, limit=9, wanted=asked)) == 1


def test_an_archived_session_is_still_recalled(house: MemorySetup) -> None:
    house.say("first", "The gate code is 4417.")
    change(house, "first", archived=True)
    recalled = house.context("second", "What is the gate code?").relevant_history
    assert "The gate code is 4417." in [item.message.content for item in recalled]


def test_creating_it_again_does_not_undo_what_was_chosen(house: MemorySetup) -> None:
    change(house, "first", pinned=True)
    fields = SessionFields(external_id="first")
    session, is_new = house.services.sessions.create(house.reach, fields)
    assert session.pinned and not is_new
    other = replace(fields, choices=SessionChoices(system_prompt=PROMPT))
    with pytest.raises(Conflict, match="system_prompt"):
        house.services.sessions.create(house.reach, other)


def test_nothing_of_a_deleted_session_is_left(house: MemorySetup, shared_engine: Engine) -> None:
    change(house, "first", pinned=True, archived=True, system_prompt=PROMPT)
    number = house.find("first").id
    house.services.forgetting.session(house.reach, "first")
    columns = "pinned, archived, system_prompt, model"
    assert shared_engine.rows(f"SELECT {columns} FROM session WHERE session_id = {number}") == [(0, 0, None, None)]


def test_bad_choices_are_refused_and_change_nothing(house: MemorySetup, shared_engine: Engine) -> None:
    for field, fields in (
        ("system_prompt", {"system_prompt": ""}),
        ("model", {"model": "gpt"}),
    ):
        refused = shared_engine.unchanged_by(
            InvalidRequest, lambda given=fields: change(house, "first", **given), house.reach.tenant
        )
        assert refused.field == field
        assert field != "model" or "no model is connected" in str(refused)
    shared_engine.unchanged_by(TooLarge, lambda: change(house, "first", system_prompt="x" * 20_001), house.reach.tenant)


def test_org_11_choices_travel_in_archives(engine: Engine) -> None:
    """ORG-11. An archive without them, as older versions made, is read too."""
    house = settle_house(engine)
    house.session("first")
    change(house, "first", pinned=True, archived=True, system_prompt=PROMPT)
    lines = archive_of(house)
    house.services.forgetting.session(house.reach, "first")
    import_into(house, lines)
    assert house.find("first").choices == SessionChoices(True, True, PROMPT, None)
    other = settle_house(engine)
    import_into(other, lines)
    assert other.find("first").choices == house.find("first").choices

    def older(line: dict[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in line.items() if name not in SessionChoices._fields}
        return {**given, "version": 3} if "version" in line else given

    third = settle_house(engine)
    import_into(third, changed(lines, older))
    assert third.find("first").choices == SessionChoices()
