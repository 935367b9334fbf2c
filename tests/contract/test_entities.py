"""Entities: of the project in which they were said, and of nobody else's part of it (ISO-3, ISO-6, ISO-8 to ISO-10)."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, cast

import pytest

from cloister.domain.errors import NotFound
from cloister.domain.extraction import ExtractedEntity
from cloister.domain.identifiers import EntityId, ProjectId
from cloister.domain.scope import Reach
from cloister.index import terms
from cloister.services.indexing.entities import EntityIndexing
from cloister.services.recall.search import SearchTarget
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.tenants import ProjectStore
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_beside, settle_house
from support.waiting import eventually

BROTHER = "My brother Xandor works at Zentrix."
HIRED = "The user's brother Xandor works at Zentrix."


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def test_iso_9_entities_are_extracted_with_the_project_of_that_moment(house: MemorySetup) -> None:
    garden = house.project()
    house.session("a", garden)
    (said,) = house.tell("a", BROTHER)
    xandor, zentrix = house.entities(garden)
    assert (xandor.name, xandor.type, xandor.notes) == ("Xandor", "person", HIRED)
    assert (zentrix.name, zentrix.type) == ("Zentrix", "organisation")
    assert xandor.project == garden
    assert xandor.sources == (said.id,)


def test_iso_3_there_are_no_entities_outside_a_project(house: MemorySetup, engine: Engine) -> None:
    garden = house.project()
    house.session("out")
    house.session("in", garden)
    house.tell("out", BROTHER)
    assert engine.rows("SELECT name FROM entity") == []
    house.tell("in", BROTHER)
    assert house.recalled_entities("in", "Xandor") == ["Xandor", "Zentrix"]
    assert house.recalled_entities("out", "Xandor") == []
    house.move("in", None)
    assert house.recalled_entities("in", "Xandor") == []


def test_iso_6_an_entity_stays_in_its_project_when_its_session_moves_and_new_ones_are_of_the_new(
    house: MemorySetup,
) -> None:
    garden, cellar = house.project(), house.project("Cellar")
    house.session("a", garden)
    house.session("stays", garden)
    house.tell("a", BROTHER)
    house.move("a", cellar)
    assert house.names(garden) == ["Xandor", "Zentrix"]
    assert house.names(cellar) == []
    house.tell("a", "My sister Berta lives in Oslo.")
    assert house.names(garden) == ["Xandor", "Zentrix"]
    assert house.names(cellar) == ["Berta", "Oslo"]
    assert set(house.recalled_entities("stays", "Xandor Berta")) == {"Xandor", "Zentrix"}
    assert set(house.recalled_entities("a", "Xandor Berta")) == {"Berta", "Oslo"}


def test_iso_6_what_was_said_before_a_move_and_is_read_after_it_belongs_where_it_was_said(house: MemorySetup) -> None:
    """However often the session moved meanwhile, and whether it was in a project or in none."""
    garden, cellar, attic = house.project(), house.project("Cellar"), house.project("Attic")
    house.session("a", garden)
    for project, name in ((None, "Anna"), (cellar, "Berta"), (attic, "Clara"), (garden, "Dora"), (None, "Emma")):
        house.move("a", project)
        house.say("a", f"My sister {name} plays chess.")
    house.move("a", cellar)
    house.move("a", attic)
    house.services.extraction.extract_now(house.reach, "a")
    assert house.names(garden) == ["Dora"]
    assert house.names(cellar) == ["Berta"]
    assert house.names(attic) == ["Clara"]
    assert len(house.memories("a")) == 5


def test_iso_6_a_confined_caller_extracts_each_word_to_the_project_it_was_said_in(house: MemorySetup) -> None:
    garden, cellar = house.project(), house.project("Cellar")
    house.session("a", garden)
    house.say("a", "My sister Berta plays chess.")
    house.move("a", cellar)
    house.say("a", "My sister Clara plays chess.")
    house.services.extraction.extract_now(Reach(tenant=house.reach.tenant, confined_to=cellar), "a")
    assert house.names(garden) == ["Berta"]
    assert house.names(cellar) == ["Clara"]


def test_iso_6_what_was_said_in_a_project_that_is_gone_has_no_entities(house: MemorySetup, engine: Engine) -> None:
    """ORG-5: its words are org-wide now, where there are none (ISO-3)."""
    garden = house.project()
    house.session("a", garden)
    house.say("a", BROTHER)
    house.services.projects.delete_project(house.reach, garden)
    house.services.extraction.extract_now(house.reach, "a")
    assert engine.rows("SELECT name FROM entity") == []
    assert house.memories("a") == [HIRED]


def test_org_5_the_entities_of_a_deleted_project_are_shown_nowhere(house: MemorySetup) -> None:
    garden = house.project()
    house.session("a", garden)
    house.session("b")
    house.tell("a", BROTHER)
    house.services.projects.delete_project(house.reach, garden)
    for name in ("a", "b"):
        assert house.recalled_entities(name, "Xandor") == []
        assert "Xandor" not in repr(
            [hit for hit in house.searched("Xandor", SearchTarget(session=name)) if "EntityHit" in hit]
        )
    with pytest.raises(NotFound):
        house.entities(garden)


def test_notes_are_merged_over_the_mentions_of_all_sessions_of_the_project(house: MemorySetup) -> None:
    garden = house.project()
    for name in ("a", "b"):
        house.session(name, garden)
    house.tell("a", BROTHER)
    house.tell("b", "My brother Xandor lives in Oslo.")
    xandor = house.entities(garden)[0]
    assert xandor.notes == f"{HIRED} The user's brother Xandor lives in Oslo."
    assert house.recalled_entities("a", "Oslo")[:2] == ["Oslo", "Xandor"]


@pytest.mark.parametrize("how", ["message", "clear", "session"])
def test_an_entity_loses_what_was_forgotten_and_goes_with_its_last_mention(
    house: MemorySetup, engine: Engine, how: str
) -> None:
    garden = house.project()
    for name in ("a", "b"):
        house.session(name, garden)
    (said,) = house.tell("a", BROTHER)
    house.tell("b", "My brother Xandor lives in Oslo.")
    forget = house.services.forgetting
    if how == "message":
        forget.message(house.reach, said.id)
    else:
        (forget.contents if how == "clear" else forget.session)(house.reach, "a")
    (xandor, oslo) = house.entities(garden)
    assert (xandor.name, xandor.notes) == ("Xandor", "The user's brother Xandor lives in Oslo.")
    assert oslo.name == "Oslo"
    assert house.recalled_entities("b", "Zentrix") == house.recalled_entities("b", "Siemens")
    forget.session(house.reach, "b")
    assert house.entities(garden) == []
    assert engine.rows("SELECT entity_id FROM entity") == engine.rows("SELECT entity_id FROM mention") == []


def test_what_two_messages_tell_of_an_entity_together_goes_with_either(house: MemorySetup, engine: Engine) -> None:
    """Its words cannot be told apart: none of those that were forgotten may stay in what the other still tells."""
    garden = house.project()
    house.session("a", garden)
    first, second = house.tell("a", BROTHER, "My sister Berta works at Zentrix.")
    zentrix = next(entity for entity in house.entities(garden) if entity.name == "Zentrix")
    assert zentrix.sources == (first.id, second.id)
    house.services.forgetting.message(house.reach, first.id)
    assert house.names(garden) == ["Berta"]
    assert "Xandor" not in repr(engine.rows("SELECT notes FROM mention"))


def test_iso_10_entities_of_a_private_project_are_divided_by_user(house: MemorySetup) -> None:
    """They are never wider than the sessions that they came from."""
    diary = house.project("Diary", "private")
    for user in ("ann", "bob", None):
        house.session(f"of {user}", diary, user)
        house.tell(f"of {user}", f"My brother Xandor is a friend of Berta{user}.")
    for user in ("ann", "bob", None):
        assert house.names(diary, user) == ["Xandor", f"Berta{user}"]
        recalled = house.recalled_entities(f"of {user}", "Xandor Bertaann Bertabob")
        assert sorted(recalled) == [f"Berta{user}", "Xandor"]
        (xandor, _) = house.entities(diary, user)
        assert xandor.notes == f"The user: My brother Xandor is a friend of Berta{user}."
        for place in (SearchTarget(session=f"of {user}"), SearchTarget(project=diary, user_id=user)):
            shown = " ".join(house.searched("Xandor Berta", place))
            assert {other for other in ("ann", "bob", None) if f"Berta{other}" in shown} == {user}


def retag(house: MemorySetup, entity: EntityId, project: ProjectId, user: str | None = None) -> str:
    return house.services.entities.retag(house.reach, entity, project, user_id=user, is_admin=True).entity.name


def test_iso_6_retagging_is_explicit_and_merges_what_has_the_same_name(house: MemorySetup) -> None:
    garden, cellar = house.project(), house.project("Cellar")
    house.session("a", garden)
    house.session("b", cellar)
    house.tell("a", BROTHER)
    house.tell("b", "My brother Xandor lives in Oslo.")
    xandor, zentrix = house.entities(garden)
    assert retag(house, zentrix.id, cellar) == "Zentrix"
    assert retag(house, xandor.id, cellar) == "Xandor"
    assert house.entities(garden) == []
    assert house.names(cellar) == ["Zentrix", "Xandor", "Oslo"]
    merged = house.entities(cellar)[1]
    assert merged.id != xandor.id
    assert merged.notes == f"{HIRED} The user's brother Xandor lives in Oslo."
    assert house.recalled_entities("a", "Xandor Zentrix") == []
    assert set(house.recalled_entities("b", "Xandor Zentrix")) == {"Zentrix", "Xandor", "Oslo"}
    assert retag(house, merged.id, cellar) == "Xandor"
    assert house.entities(cellar)[1] == merged


def test_iso_4_retagging_reaches_no_foreign_entity_and_no_foreign_project(house: MemorySetup) -> None:
    garden, cellar = house.project(), house.project("Cellar")
    house.session("a", garden)
    house.tell("a", BROTHER)
    xandor = house.entities(garden)[0]
    other, theirs = house.services.projects.create_tenant("Other")
    for reach, project in (
        (Reach(tenant=other), theirs),
        (house.reach, theirs),
        (Reach(tenant=house.reach.tenant, confined_to=cellar), cellar),
        (Reach(tenant=house.reach.tenant, confined_to=garden), cellar),
    ):
        with pytest.raises(NotFound):
            house.services.entities.retag(reach, xandor.id, project)
    assert house.entities(garden)[0] == xandor


@pytest.mark.parametrize("what", ["session", "contents", "message"])
def test_iso_6_a_confined_key_can_forget_what_its_session_said_in_another_project_before(
    house: MemorySetup, what: str
) -> None:
    """ORG-4: the entity is not there for the key, and yet loses what came from the session."""
    garden, cellar = house.project(), house.project("Cellar")
    house.session("a", garden)
    house.session("b", garden)
    (said,) = house.tell("a", BROTHER)
    house.tell("b", "My brother Xandor lives in Oslo.")
    house.move("a", cellar)
    confined = Reach(tenant=house.reach.tenant, confined_to=cellar)
    forget = house.services.forgetting
    if what == "message":
        forget.message(confined, said.id)
    else:
        (forget.session if what == "session" else forget.contents)(confined, "a")
    assert house.names(garden) == ["Xandor", "Oslo"]
    assert "Zentrix" not in house.entities(garden)[0].notes
    assert "Zentrix" not in repr(house.context("b", "Zentrix").derived.entities)


def test_iso_10_into_a_private_project_an_entity_goes_to_one_user(house: MemorySetup) -> None:
    garden, diary = house.project(), house.project("Diary", "private")
    house.session("a", garden, "ann")
    house.tell("a", BROTHER)
    xandor, zentrix = house.entities(garden)
    retag(house, xandor.id, diary, "ann")
    retag(house, zentrix.id, diary)
    assert house.names(diary, "ann") == ["Xandor"]
    assert house.names(diary) == ["Zentrix"]
    assert house.names(diary, "bob") == []
    retag(house, xandor.id, garden)
    assert house.names(garden) == ["Xandor"]


def test_ctx_3_an_entity_bears_the_tags_of_its_project_and_the_message_that_named_it_first(house: MemorySetup) -> None:
    garden, diary = house.project(), house.project("Diary", "private")
    house.session("a", garden, "ann")
    house.session("b", diary, "ann")
    (said,) = house.tell("a", BROTHER)
    house.tell("b", BROTHER)
    of_garden, of_diary = (house.find(name).stamped_tags[2] for name in ("a", "b"))
    shared, private = house.entities(garden)[0], house.entities(diary, "ann")[0]
    assert (shared.tags, shared.trigger) == ((of_garden,), said.id)
    assert private.tags == ("user:ann", of_diary)
    house.move("a", None)
    assert house.entities(garden)[0].tags == (of_garden,)


def _mention(house: MemorySetup, session: str, notes: str, meanwhile: Callable[[], object] = lambda: None) -> None:
    """As an extraction keeps what it found."""
    (said,) = house.say(session, notes)
    found = [ExtractedEntity(name="Xandor", type="person", notes=notes, sources=(said.id,))]
    stored = house.find(session)

    def work(transaction: Transaction) -> None:
        project = ProjectStore(transaction).get(stored.project or ProjectId(0))
        house.services.entities.mention(transaction, project, None, stored.id, found)
        meanwhile()

    house.services.database.write(house.reach, work)


def _mentioned(house: MemorySetup, engine: Engine, notes: str) -> tuple[ProjectId, MemorySetup, list[Future[object]]]:
    """Sessions `a` and `b` of a project, and what `a` said there; another process, and room for what it will begin."""
    garden = house.project()
    house.session("a", garden)
    house.session("b", garden)
    _mention(house, "a", notes)
    return garden, settle_beside(engine, house), []


def _begin_and_wait_for_it(engine: Engine, work: Callable[[], object], begun: list[Future[object]]) -> None:
    """Until it waits for the other transaction; on SQLite every write does."""
    begun.append(ThreadPoolExecutor(1).submit(work))
    if engine.name == "postgres":
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        eventually(lambda: engine.rows(waiting))


def test_two_sessions_that_speak_of_one_thing_at_once_are_both_found(house: MemorySetup, engine: Engine) -> None:
    garden, other, begun = _mentioned(house, engine, "Xandor sails.")
    second = partial(_mention, other, "b", "Xandor collects walnuts.")
    _mention(house, "a", "Xandor likes amber.", lambda: _begin_and_wait_for_it(engine, second, begun))
    begun[0].result(10)
    for word in ("amber", "walnuts"):
        assert "Xandor" in str(house.searched(word, SearchTarget(project=garden)))
        assert terms.encode(word) in cast(bytes, engine.rows("SELECT terms FROM entity")[0][0])


def test_what_is_said_while_something_is_forgotten_brings_no_word_of_it_back(
    house: MemorySetup, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, other, begun = _mentioned(house, engine, "Xandor likes amber.")
    _mention(house, "b", "Xandor sails.")
    say_more = partial(_mention, other, "b", "Xandor collects walnuts.")
    index_again = EntityIndexing.index_again

    def and_hesitate(indexing: EntityIndexing, *touched: Any, **gone: Any) -> None:
        index_again(indexing, *touched, **gone)
        if not begun:
            _begin_and_wait_for_it(engine, say_more, begun)

    monkeypatch.setattr(EntityIndexing, "index_again", and_hesitate)
    house.services.forgetting.session(house.reach, "a")
    begun[0].result(10)
    stored = cast(bytes, engine.rows("SELECT terms FROM entity")[0][0])
    assert terms.encode("walnuts") in stored and terms.encode("amber") not in stored


def test_a_thing_that_is_spoken_of_while_its_only_mention_is_forgotten_stays(
    house: MemorySetup, engine: Engine
) -> None:
    garden, other, begun = _mentioned(house, engine, "Xandor likes amber.")
    mention = partial(_mention, other, "b", "Xandor collects walnuts.")

    def work(transaction: Transaction) -> None:
        EntityStore(transaction).forget_session(house.find("a").id)
        _begin_and_wait_for_it(engine, mention, begun)

    house.services.database.write(house.reach, work)
    begun[0].result(10)
    assert [entity.notes for entity in house.entities(garden)] == ["Xandor collects walnuts."]
