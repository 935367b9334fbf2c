"""Entries of the key-value store on both engines: parts that share nothing, batches, expiry, erasure and quotas (DOOR-4)."""

from typing import Any

import pytest

from cloister.bootstrap import Services
from cloister.domain.entries.entry import Entry, EntryScope
from cloister.domain.entries.operations import (
    DeleteExpired,
    Operation,
    delete_entry,
    expect_entry,
    get_entry,
    list_entries,
    list_namespaces,
    put_entry,
    search_entries,
)
from cloister.domain.errors import Conflict, Forbidden, NotFound, QuotaExceeded, TooLarge
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.services.entries import entries as service
from support.databases.engines import Engine, at_once

MINUTE = 60_000_000
NOTES = ("notes", "roses")


class House:
    """A new tenant among others, with a clock that a test sets, a garden and a kitchen."""

    def __init__(self, engine: Engine, limits: Limits | None = None) -> None:
        self.now = 1_700_000_000_000_000
        self.services: Services = engine.services(clock=lambda: self.now, limits=limits)
        tenant, _ = self.services.projects.create_tenant("Household")
        self.reach = Reach(tenant=tenant)
        self.garden, self.kitchen = (
            self.services.projects.create_project(self.reach, name).id for name in ("Garden", "Kitchen")
        )

    def run(
        self,
        *operations: Operation,
        project: ProjectId | None = None,
        user: str | None = None,
        reach: Reach | None = None,
        may_refresh: bool = True,
    ) -> list[Any]:
        scope = EntryScope(project=project or self.garden, user=user)
        return self.services.entries.run(reach or self.reach, scope, operations, may_refresh=may_refresh)

    def value(self, key: str = "k", **named: Any) -> Any:
        (found,) = self.run(get_entry(NOTES, key, refresh=False), **named)
        return None if found is None else found.value


@pytest.fixture
def house(shared_engine: Engine) -> House:
    return House(shared_engine)


def put(value: Any = None, key: str = "k", **named: Any) -> Operation:
    return put_entry(NOTES, key, {"n": 1} if value is None else value, **named)


def test_iso_4_parts_of_the_store_share_nothing(house: House) -> None:
    """ISO-4, ISO-10: project, user and no user are parts of their own; the visibility of a project changes nothing."""
    parts = {
        (project, user): f"{number}"
        for number, (project, user) in enumerate(
            (project, user) for project in (house.garden, house.kitchen) for user in (None, "ann", "bob")
        )
    }
    for (project, user), mark in parts.items():
        house.run(put({"mark": mark}), project=project, user=user)
    house.services.projects.change_project(house.reach, house.garden, member_visibility="shared")
    searches = (search_entries(()), search_entries((), query="mark"), list_entries(NOTES))
    everything = (*searches, list_namespaces(), get_entry(NOTES, "k"))
    for (project, user), mark in parts.items():
        *lists, namespaces, got = house.run(*everything, project=project, user=user)
        assert [[entry.value for entry in found] for found in lists] == [[{"mark": mark}]] * 3
        assert (namespaces, got.value) == ([NOTES], {"mark": mark})
    house.run(delete_entry(NOTES, "k"), project=house.garden, user="ann")
    assert house.value(user="ann") is None
    assert house.value() == {"mark": "0"}


def test_org_4_org_10_a_narrow_reach_uses_its_own_part_only(house: House) -> None:
    house.run(put(), user="ann")
    bound = Reach(tenant=house.reach.tenant, user="ann")
    confined = Reach(tenant=house.reach.tenant, confined_to=house.garden)
    assert house.value(reach=bound) == {"n": 1}, "a bound caller that names no user means its own"
    assert house.value(reach=confined) is None
    for operation in (put(), get_entry(NOTES, "k"), list_entries(NOTES), DeleteExpired()):
        with pytest.raises(Forbidden):
            house.run(operation, reach=bound, user="bob")
        with pytest.raises(NotFound):
            house.run(operation, reach=confined, project=house.kitchen)
        with pytest.raises(Forbidden):
            house.services.entries.run(confined, EntryScope(project=None, user=None), [operation])


def test_a_batch_reads_before_it_writes_and_makes_the_last_write_of_each_key(house: House) -> None:
    house.run(put({"n": 1}), put({"n": 1}, "gone"))
    house.now += 1
    before, _, _, _, _, listed = house.run(
        get_entry(NOTES, "k"),
        put({"n": 2}),
        delete_entry(NOTES, "k"),
        put({"n": 3}),
        delete_entry(NOTES, "gone"),
        search_entries(NOTES[:1]),
    )
    assert before.value == {"n": 1}
    assert len(listed) == 2
    (after, gone) = house.run(get_entry(NOTES, "k"), get_entry(NOTES, "gone"))
    assert (after.value, after.created_at, after.updated_at) == ({"n": 3}, house.now - 1, house.now)
    assert gone is None


def test_a_list_in_order_of_keys_has_every_entry_whatever_is_changed_between_its_pages(house: House) -> None:
    """DOOR-8: a search lists what was changed last first, so that a changed entry could be on no page."""
    keys = [f"key-{number:02}" for number in range(7)]
    house.run(*(put(key=key) for key in keys), put_entry((*NOTES, "below"), "key-03", {"n": 0}))
    found: list[str] = []
    while len(found) < 7:
        (page,) = house.run(list_entries(NOTES, after=found[-1] if found else None, limit=2))
        found += [entry.key for entry in page]
        house.now += 1
        house.run(put(key="key-06"), put(key="key-00"))
    assert found == keys
    house.now += 1
    house.run(put(key="key-06", ttl=1))
    house.now += MINUTE
    (last,) = house.run(list_entries(NOTES, after="key-04"))
    assert [entry.key for entry in last] == ["key-05"], "expired entries are not listed"


def test_what_has_expired_is_not_found_and_reading_prolongs_life_where_it_may(house: House) -> None:
    reads = (
        get_entry(NOTES, "k"),
        search_entries(()),
        search_entries((), filter={"n": 1}),
        search_entries((), query="n"),
    )
    for read in reads:
        house.run(put(ttl=2))
        house.now += MINUTE
        house.run(read)
        house.now += 2 * MINUTE - 1
        assert house.value() == {"n": 1}, "read in time, and so it lives on"
        house.run(read, may_refresh=False)
        house.now += 1
        assert house.value() is None
        assert house.run(*reads, list_namespaces()) == [None, [], [], [], []]


def test_an_expired_entry_is_replaced_as_if_it_had_been_deleted(house: House) -> None:
    house.run(put(ttl=1))
    house.now += MINUTE
    house.run(put({"n": 2}))
    (entry,) = house.run(get_entry(NOTES, "k"))
    assert entry == Entry(namespace=NOTES, key="k", value={"n": 2}, created_at=house.now, updated_at=house.now)


def test_expired_entries_are_deleted_by_their_part_and_by_the_worker(shared_engine: Engine, house: House) -> None:
    house.run(put(ttl=1), put(key="lasting"), put(key="later", ttl=9))
    house.run(put(ttl=1), user="ann")
    house.now += MINUTE
    assert house.run(DeleteExpired()) == [1]
    count = f"SELECT count(*) FROM entry WHERE tenant_id = {house.reach.tenant:d}"
    assert shared_engine.rows(count) == [(3,)]
    assert house.services.entry_expiry.drop() >= 1
    assert shared_engine.rows(count) == [(2,)]


def test_org_9_a_users_entries_go_with_the_user_and_a_projects_to_no_project(
    shared_engine: Engine, house: House
) -> None:
    """ORG-5, ORG-9: and no others; names that are taken are in `test_files_and_entries`."""
    for project in (house.garden, house.kitchen):
        for user in (None, "ann", "bob"):
            house.run(put(), project=project, user=user)
    house.services.entries.run(house.reach, EntryScope(project=None, user="ann"), [put()])
    assert house.services.erase_user.erase(house.reach, "ann", dry_run=True).entries == 3
    assert house.services.erase_user.erase(house.reach, "ann").entries == 3
    house.services.projects.delete_project(house.reach, house.garden)
    left = shared_engine.rows(
        f"SELECT project_id, user_id FROM entry WHERE tenant_id = {house.reach.tenant:d} ORDER BY user_id"
    )
    parts = [(project, user) for project in (house.kitchen, None) for user in ("bob", None)]
    assert sorted(left, key=repr) == sorted(parts, key=repr)
    with pytest.raises(NotFound):
        house.run(put())
    with pytest.raises(NotFound):
        house.run(get_entry(NOTES, "k"))


def test_org_7_a_tenant_with_a_limit_of_messages_may_store_as_many_entries(shared_engine: Engine) -> None:
    house = House(shared_engine, Limits(messages=2))
    house.run(put(), put(key="second"))
    house.run(put({"n": 2}), put({"n": 2}, key="second"))
    with pytest.raises(QuotaExceeded):
        house.run(put({"n": 3}), put(key="third"))
    assert house.value() == {"n": 2}
    house.run(delete_entry(NOTES, "second"))
    house.run(put(key="third"))


def test_iso_13_the_values_of_one_answer_are_bounded(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LARGEST_ANSWER", 1_000)
    house.run(*(put({"text": "x" * 300}, key=f"k{number}") for number in range(4)))
    for search in (search_entries(()), search_entries((), filter={"text": "x" * 300}), search_entries((), query="x")):
        with pytest.raises(TooLarge):
            house.run(search)
    assert len(house.run(search_entries((), limit=3))[0]) == 3
    with pytest.raises(TooLarge):
        house.run(*(search_entries((), limit=3) for _ in range(2)))


def test_ctx_10_vectors_of_another_embedder_are_computed_again(shared_engine: Engine, house: House) -> None:
    """Vectors that a caller computed are compared with a caller's vector only."""
    house.run(put({"text": "green tea"}, "tea"), put({"text": "a red car"}, "car", index=["text"]))
    house.run(put({"text": "tea"}, "own", vectors=[[0.0, 2.0], [3.0, 0.0]]))
    (before,) = house.run(search_entries((), query="tea"))
    shared_engine.each(
        [f"UPDATE entry SET vector_model = 'before' WHERE tenant_id = {house.reach.tenant:d} AND entry_key <> 'own'"]
    )
    assert house.run(search_entries((), query="tea")) == [before]
    assert [entry.key for entry in before] == ["tea", "car"]
    (given, other) = house.run(search_entries((), vector=[0.0, 1.0]), search_entries((), vector=[1.0, 0.0, 0.0]))
    assert [(entry.key, entry.score) for entry in given] == [("own", pytest.approx(1.0))]
    assert other == []


def test_door_8_a_batch_that_expects_something_else_writes_nothing(house: House) -> None:
    """DOOR-8: a condition is on one part of the store; an entry of the same name in another part does not fulfil it (ISO-4)."""
    house.run(put_entry(NOTES, "k", {"n": 1}), user="ben")
    change = put_entry(NOTES, "other", {"n": 2})
    with pytest.raises(Conflict):
        house.run(expect_entry(NOTES, "k", {"n": 1}), change, user="ada")
    house.run(expect_entry(NOTES, "k", None), put_entry(NOTES, "k", {"n": 1, "a": [None, 1.5]}), user="ada")
    for expected in (None, {"n": 1}, {"n": 2, "a": [None, 1.5]}):
        with pytest.raises(Conflict):
            house.run(expect_entry(NOTES, "k", expected), change, user="ada")
    assert house.value("other", user="ada") is None
    house.run(expect_entry(NOTES, "k", {"a": [None, 1.5], "n": 1}), change, user="ada")
    assert house.value("other", user="ada") == {"n": 2}


def test_door_8_of_batches_with_the_same_expectation_one_is_made(house: House) -> None:
    """DOOR-8: at once, for an entry that is missing and for one that is there."""
    for expected in (None, {"n": -1}):
        if expected is not None:
            house.run(put_entry(NOTES, "k", expected))

        def attempt(number: int, expected: dict[str, int] | None = expected) -> bool:
            try:
                house.run(expect_entry(NOTES, "k", expected), put_entry(NOTES, "k", {"n": number}))
            except Conflict:
                return False
            return True

        assert at_once(attempt, 6).count(True) == 1
