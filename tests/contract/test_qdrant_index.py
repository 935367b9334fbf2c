"""The Qdrant index behind real services: what its points hold, that no pool sees into another, and how the queue feeds it."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import cast

import pytest
from qdrant_client import models

from cloister.domain.conversation import Message
from cloister.domain.identifiers import MAX_SEQUENCE, MessageId, SessionId, message_id
from cloister.index.interface import Point
from cloister.index.qdrant.points import point_id
from cloister.index.qdrant.search import Hit, QdrantPool
from cloister.storage.stores.indexing.index_rows import IndexStore
from support.setups.qdrant import COLLECTION, EMBEDDER, KINDS, MAY_2023, QdrantSetup, Reader, open_house

SECRET = "The vault opens with the sunflower code"
QUESTION = "which code opens the vault?"


@pytest.fixture(params=KINDS)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[QdrantSetup]:
    with open_house(request.param, tmp_path / "data") as opened:
        yield opened


def _not_told(tenant: int, ids: Sequence[int]) -> None:
    """As when Qdrant is out of reach, or slow."""


def test_iso_8_a_point_carries_its_session_and_time_as_integers_and_no_words(house: QdrantSetup) -> None:
    reach = house.tenant("one")
    session = house.session(reach, "s")
    (message,) = house.say(reach, "s", SECRET, author="Caroline")
    house.drain()
    (point,) = house.points().values()
    payload = point.payload or {}
    assert point.id == point_id(reach.tenant, message.id)
    assert payload["sessionId"] == session.id
    assert payload["createdAt"] == MAY_2023 // 1_000_000
    assert payload["tenantId"] == reach.tenant
    assert payload["tenantKey"] == f"{reach.tenant:x}"
    assert {type(payload[key]) for key in ("sessionId", "createdAt", "tenantId", "role")} == {int}
    assert all(isinstance(term, int) for term in payload["author"])
    assert set(payload) == {"sessionId", "createdAt", "tenantId", "tenantKey", "role", "author"}


def test_iso_8_the_longest_ids_come_back_whole_and_their_neighbours_stay_apart(house: QdrantSetup) -> None:
    longest, beside = (1 << 42) - 1, (1 << 42) - 2
    tenant = (1 << 63) - 1
    runs = [
        Point(
            message=message_id(SessionId(session), MAX_SEQUENCE),
            tenant=owner,
            session=session,
            role="user",
            author=None,
            created_at=MAY_2023,
            vector=None,
            terms=bytes(range(8)),
        )
        for session, owner in ((longest, tenant), (beside, tenant), (longest - 2, tenant - 1))
    ]
    for point in runs:
        house.index.put([point], 0, 1 << 63)
    evidence = house.index.within(Reader(tenant, [longest, longest - 2])).evidence("anything", 0)
    assert evidence.ids.tolist() == [(1 << 63) - 1]
    assert evidence.session_ids.tolist() == [longest]


def test_iso_4_tenants_with_the_same_session_id_have_points_of_their_own(house: QdrantSetup) -> None:
    """PostgreSQL's session ids are unique within a tenant only: what one tenant puts or forgets leaves the other's as it is."""
    session = 4711
    message = message_id(SessionId(session), 1)
    for tenant in (1, 2):
        point = Point(
            message=message,
            tenant=tenant,
            session=session,
            role="user",
            author=None,
            created_at=MAY_2023,
            vector=None,
            terms=bytes(range(8)),
        )
        house.index.put([point], 0, 1 << 63)
    assert [house.index.count(tenant, [session], [message], []) for tenant in (1, 2)] == [2, 2]
    house.index.forget_messages(1, [message])
    house.index.forget_sessions(1, [session])
    assert [house.index.count(tenant, [session], [message], []) for tenant in (1, 2)] == [0, 2]
    evidence = house.index.within(Reader(2, [session])).evidence("anything", 0)
    assert evidence.ids.tolist() == [message]


def test_iso_4_an_empty_pool_is_answered_without_asking_qdrant() -> None:
    def ask(requests: Sequence[models.QueryRequest]) -> list[list[Hit]]:
        raise AssertionError("an empty pool was asked for")

    assert len(QdrantPool(ask, Reader(1, []), EMBEDDER.embed_query).evidence(QUESTION, 0)) == 0


def test_iso_4_the_same_words_stay_in_their_own_pool(house: QdrantSetup) -> None:
    first, second = house.tenant("one"), house.tenant("two")
    red, blue = house.project(first, "red"), house.project(first, "blue")
    places = ((first, red, "red"), (first, blue, "blue"), (first, None, "shared"), (second, None, "other"))
    for reach, project, name in places:
        house.session(reach, name, project)
        house.say(reach, name, f"{SECRET} {name}")
    house.drain()
    for reach, project, name in places:
        assert house.found(reach, QUESTION, project) == [f"{SECRET} {name}"]
    assert house.services.recall.foreign_hits == 0


def test_iso_4_what_other_pools_hold_changes_no_score(house: QdrantSetup) -> None:
    first, second = house.tenant("one"), house.tenant("two")
    session = house.session(first, "s")
    house.say(first, "s", SECRET, "Noted.", "The garden gate needs paint", "Which colour?", "A code for the gate")
    house.drain()
    pool = Reader(first.tenant, [session.id])
    before = house.index.within(pool).evidence(QUESTION, 0)
    house.session(second, "t")
    house.say(second, "t", *[f"vault code number {number}" for number in range(30)])
    house.drain()
    after = house.index.within(pool).evidence(QUESTION, 0)
    order = {message: at for at, message in enumerate(after.ids.tolist())}
    assert sorted(order) == sorted(before.ids.tolist())
    rows = [order[message] for message in before.ids.tolist()]
    for column in ("lexical", "semantic", "author", "date", "session_prior"):
        assert getattr(after, column)[rows].tolist() == getattr(before, column).tolist()


def test_iso_5_a_moved_session_is_recalled_in_its_new_pool_before_the_index_hears_of_it(house: QdrantSetup) -> None:
    reach = house.tenant("one")
    project = house.project(reach, "red")
    house.session(reach, "s")
    house.say(reach, "s", SECRET)
    house.drain()
    house.move(reach, "s", project)
    assert (house.found(reach, QUESTION), house.found(reach, QUESTION, project)) == ([], [SECRET])
    house.move(reach, "s", None)
    assert (house.found(reach, QUESTION), house.found(reach, QUESTION, project)) == ([SECRET], [])
    assert house.services.recall.foreign_hits == 0


def test_iso_5_what_was_deleted_is_gone_before_the_index_hears_of_it(
    house: QdrantSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = house.tenant("one")
    house.session(reach, "kept")
    house.session(reach, "gone")
    said = house.say(reach, "kept", SECRET, "The gate is green")
    house.say(reach, "gone", SECRET)
    house.drain()
    with monkeypatch.context() as deaf:
        for method in ("forget_sessions", "forget_messages"):
            deaf.setattr(house.index, method, _not_told)
        house.services.forgetting.session(reach, "gone")
        house.services.forgetting.message(reach, said[0].id)
    assert len(house.points()) == 3
    assert house.found(reach, QUESTION) == ["The gate is green"]
    assert house.services.recall.foreign_hits == 1


def test_forgetting_takes_the_points_out_of_qdrant(house: QdrantSetup) -> None:
    reach = house.tenant("one")
    house.session(reach, "kept")
    house.session(reach, "gone")
    kept = house.say(reach, "kept", SECRET, "The gate is green")
    house.say(reach, "gone", SECRET)
    house.drain()
    house.services.forgetting.session(reach, "gone")
    house.services.forgetting.message(reach, kept[0].id)
    house.index.forget_sessions(reach.tenant, [])
    house.index.forget_messages(reach.tenant, [])
    assert set(house.points()) == {kept[1].id}


def test_iso_4_a_poisoned_index_yields_nothing_of_another_pool_and_is_counted(house: QdrantSetup) -> None:
    victim, thief = house.tenant("victim"), house.tenant("thief")
    house.session(victim, "theirs")
    own = house.session(thief, "own")
    (secret,) = house.say(victim, "theirs", SECRET)
    house.say(thief, "own", "I would like to know a code")
    house.drain()
    wrong = {"tenantId": thief.tenant, "sessionId": own.id}
    house.client.set_payload(COLLECTION, wrong, points=[point_id(victim.tenant, secret.id)], wait=True)
    copied = cast(dict[str, models.Vector], house.points(with_vectors=True)[secret.id].vector)
    forged = models.PointStruct(id=point_id(thief.tenant, message_id(own.id, 77)), vector=copied, payload=wrong)
    house.client.upsert(COLLECTION, [forged], wait=True)
    assert house.found(thief, QUESTION) == ["I would like to know a code"]
    assert house.services.recall.foreign_hits == 2


def test_iso_9_recorded_messages_are_found_once_the_queue_is_drained(house: QdrantSetup) -> None:
    reach = house.tenant("one")
    house.session(reach, "s")
    house.say(reach, "s", SECRET)
    assert (house.found(reach, QUESTION), house.services.queue.waiting()) == ([], 1)
    assert house.drain() == 1
    assert (house.found(reach, QUESTION), house.services.queue.waiting()) == ([SECRET], 0)


def test_a_crash_between_putting_and_marking_puts_again_harmlessly(
    house: QdrantSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = house.tenant("one")
    house.session(reach, "s")
    house.say(reach, "s", SECRET, "Noted.", "The gate is green")

    def crash(rows: IndexStore, messages: Sequence[MessageId], now: int) -> None:
        raise RuntimeError("the power went")

    with monkeypatch.context() as crashing:
        crashing.setattr(IndexStore, "mark_indexed", crash)
        with pytest.raises(RuntimeError):
            house.drain()
    put = house.points(with_vectors=True)
    assert (len(put), house.services.queue.waiting()) == (3, 3)
    assert house.drain() == 3
    assert house.points(with_vectors=True) == put
    assert house.found(reach, QUESTION)[0] == SECRET


def test_a_new_message_puts_the_neighbours_that_borrow_from_it_again(house: QdrantSetup) -> None:
    reach = house.tenant("one")
    lines = ["We adopted a puppy", "Lovely!", "He chews shoes", "Buy toys", "The vet gave him drops", "For his eyes?"]
    for name in ("slowly", "at once"):
        house.session(reach, name)
    slowly: list[Message] = []
    for line in lines:
        slowly += house.say(reach, "slowly", line)
        house.drain()
    at_once = [message for line in lines for message in house.say(reach, "at once", line)]
    house.drain()
    points = house.points(with_vectors=True)
    for one, other in zip(slowly, at_once, strict=True):
        assert points[one.id].vector == points[other.id].vector
