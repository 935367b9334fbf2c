"""Entities as points in Qdrant (ISO-8): what they carry, that nobody sees those of another place, and how the queue keeps them."""

from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from qdrant_client import models

from cloister.domain.identifiers import EntityId, new_entity_id
from cloister.domain.timestamps import now
from cloister.index import terms
from cloister.index.interface import EntityPoint
from cloister.index.qdrant.points import point_id, user_part
from cloister.index.qdrant.search import Hit, QdrantProject
from cloister.services.indexing import entities as index_entities
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import SearchTarget
from cloister.storage.stores.entities import StoredEntities
from cloister.storage.stores.indexing.derived_index_rows import EntityIndexStore, EntityWords
from support.setups.qdrant import EMBEDDER, ENTITY_COLLECTION, KINDS, QdrantSetup, open_house

CELLO = "My neighbour Anna plays the cello."
FLUTE = "My neighbour Anna plays the flute."
KEPT = "The user's neighbour Anna plays the cello."
QUESTION = "Who plays the cello?"


@pytest.fixture(params=KINDS)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[QdrantSetup]:
    with open_house(request.param, tmp_path / "data") as opened:
        yield opened


def test_iso_8_an_entity_point_carries_its_words_and_whose_it_is_as_integers(house: QdrantSetup) -> None:
    reach = house.tenant("one")
    diary = house.project(reach, "Diary", "private")
    house.session(reach, "s", diary, "ann")
    house.tell(reach, "s", CELLO)
    house.drain()
    (anna,) = house.services.entities.page(reach, diary, user_id="ann", limit=9)
    assert house.entity_points() == {
        anna.id: {
            "name": "Anna",
            "type": "person",
            "notes": KEPT,
            "projectId": diary,
            "tenantId": reach.tenant,
            "tenantKey": f"{reach.tenant:x}",
            "userPart": user_part("ann"),
            "createdAt": anna.created_at // 1_000_000,
        }
    }
    assert all(message not in house.points() for message in house.entity_points())


def test_iso_1_a_users_part_is_a_number_of_its_own() -> None:
    parts = [user_part(user) for user in (None, "ann", "bob", "Ann", "ann ", "0")]
    assert len(set(parts)) == len(parts)
    assert parts[0] == 0
    assert all(0 <= part < 1 << 63 for part in parts)


def test_iso_9_entities_are_found_in_qdrant_once_the_queue_is_drained(house: QdrantSetup) -> None:
    """They are found there and nowhere else: without the point there is no hit."""
    reach = house.tenant("one")
    garden = house.project(reach, "Garden")
    house.session(reach, "s", garden)
    house.tell(reach, "s", CELLO)
    assert house.entities(reach, QUESTION, SearchTarget(project=garden)) == []
    assert house.services.queue.waiting() == 2
    assert house.drain() == 2
    assert house.services.queue.waiting() == 0
    (anna,) = house.entities(reach, QUESTION, SearchTarget(session="s"))
    assert (anna.name, anna.notes, anna.project) == ("Anna", KEPT, garden)
    assert house.services.context.build(reach, "s", ContextRequest(question=QUESTION)).derived.entities == (anna,)
    house.index.forget_entities(reach.tenant, [anna.id])
    house.index.forget_entities(reach.tenant, [])
    assert house.entities(reach, QUESTION, SearchTarget(session="s")) == []


def test_iso_4_the_same_words_stay_in_their_project_their_users_part_and_their_tenant(house: QdrantSetup) -> None:
    """ISO-10"""
    first, second = house.tenant("one"), house.tenant("two")
    diary = house.project(first, "Diary", "private")
    places = {
        "red": (first, house.project(first, "Red"), None),
        "blue": (first, house.project(first, "Blue"), None),
        "ann": (first, diary, "ann"),
        "bob": (first, diary, "bob"),
        "other": (second, house.project(second, "Red"), None),
    }
    for name, (reach, project, user) in places.items():
        house.session(reach, name, project, user)
        house.tell(reach, name, CELLO)
    house.session(first, "loose")
    house.tell(first, "loose", CELLO)
    house.drain()
    assert len(house.entity_points()) == len(places)
    for name, (reach, project, user) in places.items():
        (anna,) = house.entities(reach, QUESTION, SearchTarget(session=name))
        assert (anna.project, anna.user) == (project, user)
        assert house.entities(reach, QUESTION, SearchTarget(project=project, user_id=user)) == [anna]
    assert house.entities(first, QUESTION, SearchTarget(session="loose")) == []
    assert house.entities(first, QUESTION, SearchTarget(project=diary)) == []
    assert house.services.recall.foreign_hits == 0


def test_iso_4_a_poisoned_index_yields_nothing_of_another_project_and_is_counted(house: QdrantSetup) -> None:
    victim, thief = house.tenant("victim"), house.tenant("thief")
    theirs, own = house.project(victim, "Theirs"), house.project(thief, "Own")
    house.session(victim, "theirs", theirs)
    house.session(thief, "own", own)
    house.tell(victim, "theirs", CELLO)
    house.tell(thief, "own", "My neighbour Vera plays the harp.")
    house.drain()
    (secret,) = house.services.entities.page(victim, theirs, limit=9)
    wrong = {"tenantId": thief.tenant, "projectId": own}
    house.client.set_payload(ENTITY_COLLECTION, wrong, points=[point_id(victim.tenant, secret.id)], wait=True)
    house.index.put_entities([_forged(thief.tenant, own)])
    assert [entity.name for entity in house.entities(thief, QUESTION, SearchTarget(project=own))] == ["Vera"]
    assert house.services.recall.foreign_hits == 2
    assert house.entities(victim, QUESTION, SearchTarget(project=theirs)) == []


def test_iso_4_what_other_projects_hold_changes_no_score(house: QdrantSetup) -> None:
    first, second = house.tenant("one"), house.tenant("two")
    garden, other = house.project(first, "Garden"), house.project(second, "Other")
    house.session(first, "s", garden)
    house.session(second, "t", other)
    house.tell(first, "s", CELLO, "My sister Vera plays the harp.")
    house.drain()

    def scores() -> dict[int, tuple[float, float]]:
        with house.services.database.read(first) as transaction:
            place = house.index.entities_within(StoredEntities(transaction, garden, None, 1))
            found = place.evidence(QUESTION, 0)
        return dict(
            zip(found.ids.tolist(), zip(found.lexical.tolist(), found.semantic.tolist(), strict=True), strict=True)
        )

    before = scores()
    assert len(before) == 2
    names = ("Karl", "Otto", "Ida", "Emma", "Hugo", "Paul")
    house.tell(second, "t", *[f"My neighbour {name} plays the cello." for name in names])
    house.drain()
    assert len(house.entity_points()) > 2
    assert scores() == before


def test_iso_4_a_project_without_entities_is_answered_without_asking_qdrant(house: QdrantSetup) -> None:
    def ask(requests: Sequence[models.QueryRequest]) -> list[list[Hit]]:
        raise AssertionError("an empty project was asked for")

    reach = house.tenant("one")
    garden = house.project(reach, "Garden")
    with house.services.database.read(reach) as transaction:
        place = StoredEntities(transaction, garden, None, 1)
        assert len(QdrantProject(ask, place, EMBEDDER.embed_query).evidence(QUESTION, 0)) == 0


def test_iso_6_the_project_of_a_point_follows_a_retag(house: QdrantSetup) -> None:
    """Between the retag and the queue the old project's hit vanishes, and is counted."""
    reach = house.tenant("one")
    garden, kitchen = house.project(reach, "Garden"), house.project(reach, "Kitchen")
    house.session(reach, "s", garden)
    house.tell(reach, "s", CELLO)
    house.session(reach, "t", kitchen)
    house.tell(reach, "t", "My sister Vera plays the harp.")
    house.drain()
    (anna,) = house.entities(reach, QUESTION, SearchTarget(project=garden))
    house.session(reach, "u", garden)
    house.tell(reach, "u", "My sister Ida plays the cello.")
    house.drain()
    house.services.entities.retag(reach, anna.id, kitchen)
    assert anna.id not in {entity.id for entity in house.entities(reach, QUESTION, SearchTarget(project=garden))}
    assert house.services.recall.foreign_hits == 1
    house.drain()
    assert house.entity_points()[anna.id]["projectId"] == kitchen
    assert house.entities(reach, QUESTION, SearchTarget(project=kitchen))[0].id == anna.id
    assert anna.id not in {entity.id for entity in house.entities(reach, QUESTION, SearchTarget(project=garden))}
    assert house.services.recall.foreign_hits == 1


def test_forgetting_takes_the_words_of_entities_out_of_qdrant(house: QdrantSetup) -> None:
    """ISO-8: a point holds words, so they go with what they came from."""
    reach = house.tenant("one")
    garden = house.project(reach, "Garden")
    for name, said in (("one", CELLO), ("two", FLUTE)):
        house.session(reach, name, garden)
        house.tell(reach, name, said)
    house.drain()
    ((anna, payload),) = house.entity_points().items()
    assert "cello" in payload["notes"] and "flute" in payload["notes"]
    house.services.forgetting.session(reach, "one")
    assert "cello" not in house.entity_points()[anna]["notes"]
    house.services.forgetting.contents(reach, "two")
    assert house.entity_points() == {}
    assert house.services.queue.waiting() == 0


def test_a_crash_between_putting_and_marking_puts_again_harmlessly(
    house: QdrantSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = house.tenant("one")
    garden = house.project(reach, "Garden")
    house.session(reach, "s", garden)
    house.tell(reach, "s", CELLO)

    def crash(rows: EntityIndexStore, entries: Sequence[EntityWords], removals: Sequence[int], now: int) -> None:
        raise RuntimeError("the power went")

    with monkeypatch.context() as crashing:
        crashing.setattr(EntityIndexStore, "mark_put", crash)
        with pytest.raises(RuntimeError):
            house.drain()
    put = house.entity_points()
    assert (len(put), house.services.queue.waiting()) == (1, 1)
    assert house.drain() == 1
    assert house.entity_points() == put
    assert len(house.entities(reach, QUESTION, SearchTarget(session="s"))) == 1


def test_what_was_forgotten_while_it_was_put_goes_though_its_putter_was_killed(
    house: QdrantSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ISO-8: a point holds words, and nobody is left who knows that it is there."""
    reach = house.tenant("one")
    house.session(reach, "s", house.project(reach, "Garden"))
    house.tell(reach, "s", CELLO)
    put = house.index.put_entities

    def put_and_die(entities: Sequence[EntityPoint]) -> None:
        house.services.forgetting.session(reach, "s")
        put(entities)
        raise RuntimeError("the power went")

    with monkeypatch.context() as dying:
        dying.setattr(house.index, "put_entities", put_and_die)
        with pytest.raises(RuntimeError):
            house.drain()
    assert "cello" in str(house.entity_points())
    monkeypatch.setattr(house.services.queue, "_clock", lambda: now() + 61_000_000)
    house.drain()
    assert house.entity_points() == {}
    assert house.services.queue.waiting() == 0


def test_a_point_that_another_takes_out_while_it_is_put_is_put_again(
    house: QdrantSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = house.tenant("one")
    garden = house.project(reach, "Garden")
    house.session(reach, "s", garden)
    house.tell(reach, "s", CELLO)
    put = house.index.put_entities
    slow = iter((True, False))

    def put_slowly(entities: Sequence[EntityPoint]) -> None:
        put(entities)
        if next(slow):
            monkeypatch.setattr(index_entities, "PUT_MICROSECONDS", 60_000_000)
            house.services.queue.remove_forgotten()

    monkeypatch.setattr(index_entities, "PUT_MICROSECONDS", 0)
    monkeypatch.setattr(house.index, "put_entities", put_slowly)
    house.drain()
    assert len(house.entity_points()) == 1
    assert house.entities(reach, QUESTION, SearchTarget(project=garden))
    assert house.services.queue.waiting() == 0


def test_everything_can_be_put_again_from_nothing(house: QdrantSetup) -> None:
    """As after the loss of the Qdrant server."""
    reach = house.tenant("one")
    garden = house.project(reach, "Garden")
    house.session(reach, "s", garden)
    house.tell(reach, "s", CELLO)
    house.drain()
    put = house.entity_points()
    house.index.forget_entities(reach.tenant, list(put))
    rebuilt = house.services.reindex.run(everything=True)
    assert (rebuilt.messages, rebuilt.memories, rebuilt.entities) == (1, 1, 1)
    assert house.entity_points() == put


def test_memories_are_no_points_and_wait_for_nothing(house: QdrantSetup) -> None:
    reach = house.tenant("one")
    house.session(reach, "s")
    house.services.memories.add(reach, "s", ["The user plays the cello."])
    assert house.services.queue.waiting() == 0
    (stored,) = house.services.context.build(reach, "s", ContextRequest(question=QUESTION)).derived.memories
    assert stored.memory.content == "The user plays the cello."
    assert (house.points(), house.entity_points()) == ({}, {})


def _forged(tenant: int, project: int) -> EntityPoint:
    """Of the thief's own project by its payload, and of nobody in storage."""
    return EntityPoint(
        entity=EntityId(new_entity_id()),
        tenant=tenant,
        project=project,
        user=None,
        name="Anna",
        type="person",
        notes=KEPT,
        created_at=1,
        vector=None,
        terms=terms.encode(KEPT),
    )


def test_prf_4_the_certificate_of_a_memory_asks_the_index_that_has_it(house: QdrantSetup) -> None:
    """Memories are not in Qdrant; its entities are counted there."""
    reach, services = house.tenant("one"), house.services
    house.session(reach, "s", house.project(reach, "Garden"))
    house.tell(reach, "s", CELLO)
    house.drain()
    (stored,) = services.memories.of_session(reach, "s", limit=9)
    rehearsed = services.memories.forget(reach, stored.memory.id, dry_run=True)
    failed = {check.check for check in services.certification.certify(reach, rehearsed).checks if not check.passed}
    assert {"storage: memories", "index", "search"} <= failed
    done = services.certification.certify(reach, services.memories.forget(reach, stored.memory.id))
    assert {check.check: check.passed for check in done.checks}["index"]
