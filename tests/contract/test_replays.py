"""PRF-2: a receipt that is replayed after its pool changed names what entered and what dropped, of every kind, within its walls."""

from dataclasses import replace

import pytest

from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, ProjectId, ReceiptId
from cloister.domain.timestamps import now
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from cloister.services.receipts.explain import Change
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, long_talk, settle_house
from support.setups.replies import NotingModel, receipt_of_reply, settle_with_model

ANNA, CELLO = "My neighbour Anna plays the cello.", "What does my neighbour Anna play?"
LATER = "My neighbour Anna plays the cello in Vienna since May."


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    """Its replies are by a model, and its clock begins where that of the chat is."""
    return settle_with_model(engine, NotingModel(), began_at=now())


@pytest.fixture
def quoting(engine: Engine) -> MemorySetup:
    """Its replies are quotations."""
    return settle_house(engine)


def garden(house: MemorySetup, **settings: str) -> ProjectId:
    made = house.project()
    house.services.projects.change_project(house.reach, made, settings={"store_receipts": True, **settings})
    house.session("tells", made)
    house.session("asks", made)
    return made


def of_context(house: MemorySetup) -> ReceiptId:
    context = house.services.context.build(house.reach, "asks", ContextRequest(question=CELLO))
    _, id = house.services.recall_receipts.of_context(house.reach, context, None)
    assert id is not None
    return id


def of_search(house: MemorySetup, limit: int = 5, kinds: tuple[str, ...] | None = None) -> ReceiptId:
    found = house.services.search.find(house.reach, CELLO, SearchTarget(session="asks"), limit, kinds)
    _, id = house.services.recall_receipts.of_search(house.reach, found, "asks", None)
    assert id is not None
    return id


def changed(house: MemorySetup, id: ReceiptId, message: MessageId) -> Change | None:
    return house.services.explain.receipt(house.reach, id, message).changed


def kinds_of(items: tuple[tuple[str, int], ...]) -> set[str]:
    return {kind for kind, _ in items}


@pytest.mark.parametrize("kind", ["reply", "context", "search"])
def test_prf_2_what_entered_is_named_by_kind(house: MemorySetup, kind: str) -> None:
    made = garden(house)
    (said,) = house.tell("tells", ANNA)
    id = (
        receipt_of_reply(house, "asks", CELLO)
        if kind == "reply"
        else {"context": of_context, "search": of_search}[kind](house)
    )
    assert changed(house, id, said.id) is None
    house.session("more", made)
    (new,) = house.tell("more", LATER)
    change = changed(house, id, said.id)
    assert change is not None and change.version_now > change.version_then
    memories = {stored.memory.id for stored in house.stored("more")}
    assert ("message", new.id) in change.entered and kinds_of(change.entered) >= {"message", "memory"}
    assert {number for named, number in change.entered if named == "memory"} <= memories
    assert list(change.entered) == sorted(
        change.entered, key=lambda item: ["message", "memory", "entity", "observation"].index(item[0])
    )
    assert not any(change.hidden.values())


@pytest.mark.parametrize("kind", ["reply", "context"])
def test_prf_2_what_dropped_is_named_while_it_is_there(house: MemorySetup, kind: str) -> None:
    """Excluded by the session, it is named; forgotten or moved away, it is only counted."""
    made = garden(house)
    (said,) = house.tell("tells", ANNA)
    (memory,) = house.stored("tells")
    entities = house.entities(made)
    id = receipt_of_reply(house, "asks", CELLO) if kind == "reply" else of_context(house)
    exclusions = house.services.receipts.exclusions
    exclusions.exclude(house.reach, "asks", "message", said.id)
    exclusions.exclude(house.reach, "asks", "memory", memory.memory.id)
    for entity in entities:
        exclusions.exclude(house.reach, "asks", "entity", entity.id)
    change = changed(house, id, said.id)
    assert change is not None and change.entered == ()
    assert change.dropped[:2] == (("message", said.id), ("memory", memory.memory.id))
    assert {number for named, number in change.dropped if named == "entity"} <= {entity.id for entity in entities}
    assert "entity" in kinds_of(change.dropped) and change.now.reason == "excluded"
    (other,) = house.say("tells", "The weather is fine.")
    house.services.forgetting.message(house.reach, said.id)
    after = changed(house, id, other.id)
    assert after is not None and after.hidden["forgotten"] >= 1
    assert ("message", said.id) not in after.dropped


def test_prf_2_a_memory_that_is_not_true_any_more_dropped(house: MemorySetup) -> None:
    garden(house)
    (said,) = house.tell("tells", ANNA)
    (memory,) = house.stored("tells")
    id = of_context(house)
    house.services.corrections.correct(
        house.reach, memory.memory.id, MemoryChange(given=frozenset({"content"}), content="My aunt sails."), by=None
    )
    corrected = changed(house, id, said.id)
    assert corrected is not None and corrected.dropped == (("memory", memory.memory.id),)


def test_prf_2_notes_that_entered_are_named(house: MemorySetup) -> None:
    """Notes of the session that asked; and not after the project's prompt has no placeholder for them."""
    garden(house)
    (said,) = house.tell("tells", ANNA)
    id, reply = of_context(house), receipt_of_reply(house, "asks", CELLO)
    house.tell("asks", *long_talk(30))
    notes = house.services.observations.of_session(house.reach, "asks", limit=9)
    assert notes
    for each in (id, reply):
        change = changed(house, each, said.id)
        assert change is not None
        assert {number for kind, number in change.entered if kind == "observation"} == {
            stored.observation.id for stored in notes
        }


def test_prf_2_what_a_prompt_has_no_placeholder_for_does_not_enter(house: MemorySetup) -> None:
    made = garden(house, system_prompt="Answer. {MEMORY.CONTEXT}")
    (said,) = house.tell("tells", ANNA)
    id = receipt_of_reply(house, "asks", CELLO)
    assert changed(house, id, said.id) is None
    house.session("more", made)
    house.tell("more", LATER)
    change = changed(house, id, said.id)
    assert change is not None and kinds_of(change.entered) == {"memory"}


def test_prf_2_the_profile_is_compared_too(house: MemorySetup) -> None:
    made = house.project(system_prompt="{PROFILE}", visibility="private")
    for name in ("tells", "asks"):
        house.session(name, made, "ann")
    (said,) = house.tell("tells", ANNA)
    id = receipt_of_reply(house, "asks", CELLO)
    assert changed(house, id, said.id) is None
    house.tell("tells", "I work at the harbour.")
    change = changed(house, id, said.id)
    assert change is not None and kinds_of(change.entered) == {"memory"} and change.dropped == ()


def test_prf_2_a_search_is_replayed_with_its_kinds_and_its_limit(house: MemorySetup) -> None:
    garden(house)
    (said,) = house.tell("tells", ANNA)
    house.tell("tells", "Anna plays the violin, too.", "My neighbour Anna lives above the bakery.")
    for id in (of_search(house, 2), of_search(house, 5, ("memories",)), of_search(house, 1, ("episodes", "entities"))):
        assert changed(house, id, said.id) is None


def test_prf_2_a_quoting_reply_is_replayed_as_it_was_made(quoting: MemorySetup) -> None:
    """What was said in the session since, and the reply itself, do not enter."""
    made = garden(quoting)
    (said,) = quoting.tell("tells", ANNA)
    id = receipt_of_reply(quoting, "asks", CELLO)
    assert changed(quoting, id, said.id) is None
    quoting.say("asks", "My neighbour Anna plays the cello well.")
    assert changed(quoting, id, said.id) is None
    quoting.session("more", made)
    (new,) = quoting.say("more", LATER)
    change = changed(quoting, id, said.id)
    assert change is not None and ("message", new.id) in change.entered


def test_prf_2_nothing_outside_the_walls_enters_or_drops(house: MemorySetup) -> None:
    """The same words of another project, of another user of a private one, and of another tenant; and after the session moved."""
    made = house.project(visibility="private", store_receipts=True)
    cellar = house.project("Cellar")
    for name, project, user in (
        ("tells", made, "ann"),
        ("asks", made, "ann"),
        ("bobs", made, "bob"),
        ("below", cellar, "ann"),
    ):
        house.session(name, project, user)
    (said,) = house.tell("tells", ANNA)
    ids = [receipt_of_reply(house, "asks", CELLO), of_context(house), of_search(house)]
    other = MemorySetup(
        services=house.services, reach=replace(house.reach, tenant=house.services.projects.create_tenant("Other")[0])
    )
    other.session("tells", other.project())
    for setup, name in ((house, "bobs"), (house, "below"), (other, "tells")):
        setup.tell(name, LATER)
    assert [changed(house, id, said.id) for id in ids] == [None, None, None]
    house.move("asks", cellar)
    for id in ids:
        with pytest.raises(NotFound):
            changed(house, id, said.id)
