"""One tenant, two projects, every public method of every store: what a key confined to the garden may not touch (ISO-4, ORG-4)."""

from collections.abc import Callable
from typing import Any

import pytest

from cloister.domain.entity import same_name
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import ProjectId, SessionId
from cloister.domain.scope import Reach
from cloister.storage.interface import Transaction
from cloister.storage.stores.changes import Changes
from cloister.storage.stores.derived_index_rows import EntityIndexRows, MemoryIndexRows
from cloister.storage.stores.entities import Entities, EntityRows
from cloister.storage.stores.extraction import Extraction
from cloister.storage.stores.memories import Memories, MemoryRows
from cloister.storage.stores.messages import Messages
from cloister.storage.stores.observations import Observations
from cloister.storage.stores.pools import PoolRows
from cloister.storage.stores.sessions import Sessions
from cloister.storage.stores.tenants import Projects
from cloister.storage.stores.turns import Turns
from support.isolation.derived_index_cases import WAITING
from support.isolation.erasure_cases import ERASING_CASES
from support.isolation.twin_tenants import GARDEN, GENERATION, MOMENT, Case, Home, World, methods_of_stores, pools

CONFINED: dict[str, Case] = {
    "Projects.find": Case(act=lambda t, h: Projects(t).find(h.cellar), nothing=None),
    "Projects.default": Case(act=lambda t, h: Projects(t).default(), nothing=GARDEN),
    "Projects.get": Case(act=lambda t, h: Projects(t).get(h.cellar), nothing=NotFound),
    "Projects.hold": Case(act=lambda t, h: Projects(t).hold(h.cellar), nothing=NotFound),
    "Projects.page": Case(act=lambda t, h: [project.id for project in Projects(t).page(limit=9)], nothing=[GARDEN]),
    "Projects.names": Case(act=lambda t, h: [project for project, _ in Projects(t).names()], nothing=[GARDEN]),
    "Sessions.find": Case(
        act=lambda t, h: [Sessions(t).find(name) for name in ("second", "third")], nothing=[None] * 2
    ),
    "Sessions.get": Case(act=lambda t, h: Sessions(t).get("second"), nothing=NotFound),
    "Sessions.lock": Case(act=lambda t, h: Sessions(t).lock("third"), nothing=NotFound),
    "Sessions.page": Case(
        act=lambda t, h: [
            session.external_id
            for project, any_project in ((None, True), (h.cellar, False), (None, False))
            for session in Sessions(t).page(limit=9, project=project, any_project=any_project)
        ],
        nothing=["first"],
    ),
    "Messages.session_name": Case(act=lambda t, h: Messages(t).session_name(h.second.messages[0]), nothing=NotFound),
    "Pools.rows": Case(act=lambda t, h: pools(t).rows(h.scope(h.second)), nothing=ValueError),
    "Changes.versions": Case(act=lambda t, h: list(Changes(t).versions()) == [h.first.pool], nothing=True),
    "Changes.sessions": Case(
        act=lambda t, h: [Changes(t).sessions(place.pool, since=-1, limit=9) for place in (h.second, h.places[2])],
        nothing=[[], []],
    ),
    "Memories.get": Case(act=lambda t, h: Memories(t).get(h.second.memory), nothing=NotFound),
    "Memories.of_user": Case(
        act=lambda t, h: [held.session for held in Memories(t).of_user("ann", limit=9)], nothing=["first"]
    ),
    "Entities.get": Case(act=lambda t, h: Entities(t).get(h.second.entity), nothing=NotFound),
    "Sessions.reached_memories": Case(act=lambda t, h: Sessions(t).reached_memories(h.cellar), nothing=0),
    "Extraction.claim": Case(
        act=lambda t, h: [
            Extraction(t).claim(place.session, 1, now=MOMENT, until=MOMENT + 1) for place in (h.second, h.places[2])
        ],
        nothing=[False, False],
    ),
    "Turns.take": Case(
        act=lambda t, h: [
            Turns(t).take(place.session, 1, now=MOMENT, until=MOMENT + 1) for place in (h.second, h.places[2])
        ],
        nothing=[False, False],
    ),
    # What erases a user or a tenant cannot even be made for a narrow reach.
    **{name: Case(act=case.act, nothing=ValueError) for name, case in ERASING_CASES.items()},
}
# A pool's rows are one pool's by construction; what is asked of them here is another pool's.
ONE_POOL: dict[str, Callable[[PoolRows, Home], Any]] = {
    "PoolRows.size": lambda rows, h: rows.size() == len(h.first.messages),
    "PoolRows.members": lambda rows, h: rows.members() == [h.first.session],
    "PoolRows.changes": lambda rows, h: [session for session, _ in rows.changes(-1)] == [h.first.session],
    "PoolRows.all_rows": lambda rows, h: [row[0] for row in rows.all_rows()] == h.first.messages,
    "PoolRows.session_rows": lambda rows, h: rows.session_rows(h.second.session, 0) == [],
    "PoolRows.messages": lambda rows, h: (
        list(rows.messages([*h.first.messages, *h.second.messages])) == h.first.messages
    ),
    "PoolRows.recent": lambda rows, h: [found.message.id for found in rows.recent("user", 9)] == h.first.messages[:1],
}
# The same for what derives: of one pool the memories, of one project, or a user's part of it, the entities.
ONE_PLACE: dict[str, Callable[[Transaction, Home], Any]] = {
    "MemoryRows.all_rows": lambda t, h: [row[0] for row in garden_memories(t, h).all_rows()] == [h.first.memory],
    "MemoryRows.found": lambda t, h: (
        list(garden_memories(t, h).found([place.memory for place in h.places])) == [h.first.memory]
    ),
    "EntityRows.all_rows": lambda t, h: (
        [
            [row[0] for row in EntityRows(t, project, user, GENERATION).all_rows()]
            for project, user in (
                (GARDEN, None),
                (h.cellar, "ann"),
                (h.cellar, "bob"),
                (h.cellar, None),
                (GARDEN, "ann"),
            )
        ]
        == [[h.first.entity], [h.second.entity], [], [], []]
    ),
    "EntityRows.size": lambda t, h: (
        [
            EntityRows(t, project, user, GENERATION).size()
            for project, user in (
                (GARDEN, None),
                (h.cellar, "ann"),
                (h.cellar, "bob"),
                (h.cellar, None),
                (GARDEN, "ann"),
            )
        ]
        == [1, 1, 0, 0, 0]
    ),
    "MemoryIndexRows.waiting": lambda t, h: (
        [words.id for words in MemoryIndexRows(t, GENERATION).waiting(waiting_memory(t, h), limit=9)]
        == [h.first.memory]
    ),
    "MemoryIndexRows.words": lambda t, h: (
        [
            words.id
            for words in MemoryIndexRows(t, GENERATION).words(h.first.session, after=0, limit=9, all_generations=True)
        ]
        == [h.first.memory]
    ),
    "EntityIndexRows.waiting": lambda t, h: (
        [words.entity.id for words in EntityIndexRows(t, GENERATION).waiting(waiting_entity(t, h), limit=9)]
        == [h.first.entity]
    ),
    "EntityIndexRows.words": lambda t, h: (
        [
            words.entity.id
            for words in EntityIndexRows(t, GENERATION).words(GARDEN, after=0, limit=9, all_generations=True)
        ]
        == [h.first.entity]
    ),
    "EntityRows.found": lambda t, h: (
        [
            list(EntityRows(t, project, user, GENERATION).found([h.first.entity, h.second.entity]))
            for project, user in ((GARDEN, None), (h.cellar, "ann"), (h.cellar, "bob"), (h.cellar, None))
        ]
        == [[h.first.entity], [h.second.entity], [], []]
    ),
    "Entities.page": lambda t, h: (
        [
            [entity.id for entity in Entities(t).page(project, user, limit=9)]
            for project, user in ((GARDEN, None), (h.cellar, "ann"), (h.cellar, "bob"), (h.cellar, None))
        ]
        == [[h.first.entity], [h.second.entity], [], []]
    ),
    "Entities.find": lambda t, h: (
        [
            None if found is None else found.id
            for found in (
                Entities(t).find(project, user, same_name("Rosa"))
                for project, user in ((GARDEN, None), (h.cellar, "ann"), (h.cellar, "bob"), (h.cellar, None))
            )
        ]
        == [h.first.entity, h.second.entity, None, None]
    ),
    "Observations.recent": lambda t, h: Observations(t).recent(h.first.session, h.second.pool, limit=9) == [],
    "Observations.recent_of_user": lambda t, h: (
        [held.session for held in Observations(t).recent_of_user("ann", h.first.pool, limit=9)] == ["first"]
    ),
    "Memories.known": lambda t, h: Memories(t).known(h.first.session, h.second.pool, "bob", 9) == ([], []),
}
# These take the integer id of a session, project or pool that the caller found under its own reach, or name the tenant's own;
# keys and usage are the whole tenant's, and their services refuse a confined caller.
BY_FOUND_ID = {
    "Tenants.exists",
    "Tenants.name",
    "Tenants.add",
    "Projects.add",
    "Projects.lock",
    "Projects.rename",
    "Projects.set_settings",
    "Projects.set_visibility",
    "Projects.make_default",
    "Projects.soft_delete",
    "Tenants.share",
    "Tenants.lock_names",
    "Tenants.lock",
    "Sessions.add",
    "Sessions.make_due",
    "Sessions.note_appends",
    "Sessions.note_removal",
    "Sessions.describe",
    "Sessions.place",
    "Sessions.count_of_project",
    "Sessions.lock_of_project",
    "Sessions.remove",
    "Turns.renew",
    "Turns.end",
    "Turns.revoke",
    "Turns.is_of",
    "Messages.append",
    "Messages.page",
    "Messages.recent",
    "Messages.count_episodes",
    "Messages.count_given_recalled_text",
    "Messages.part_from_pool",
    "Messages.remove",
    "Messages.remove_all",
    "Pools.find",
    "Pools.ensure",
    "Pools.raise_version",
    "Pools.note_departure",
    "PoolRows.state",
    "Idempotency.find",
    "Idempotency.drop_expired",
    "Idempotency.keep",
    "Idempotency.forget_session",
    "Idempotency.forget_contents",
    "Idempotency.forget_message",
    "Idempotency.forget_memories",
    "Idempotency.forget_key",
    "IndexRows.members",
    "IndexRows.words",
    "IndexRows.waiting",
    "IndexRows.set_indexed",
    "IndexRows.mark_indexed",
    "IndexRows.points",
    "IndexRows.wait_again",
    "IndexRows.note_removal",
    "IndexRows.settle_removal",
    "IndexRows.settle",
    "ApiKeys.add",
    "ApiKeys.find",
    "ApiKeys.page",
    "ApiKeys.lock_admins",
    "ApiKeys.revoke",
    "UsageRows.limits",
    "UsageRows.held",
    "UsageRows.add_messages",
    "UsageRows.add_session",
    "UsageRows.remove_session",
    "UsageRows.projects",
    "UsageRows.api_keys",
    "UsageRows.set_limits",
    "Pools.derived",
    "Memories.add",
    "Memories.count",
    "Memories.note_change",
    "Memories.move",
    "Memories.of_session",
    "Memories.derived_from",
    "Memories.ids",
    "Memories.remove",
    "Memories.held",
    "MemoryRows.version",
    "Entities.add",
    "Entities.mention",
    "Entities.set_index",
    "Entities.note_change",
    "Entities.of_project",
    "Entities.users_of",
    "Entities.give_mentions",
    "Entities.set_user",
    "Entities.forget_session",
    "Entities.forget_message",
    "Entities.retag",
    "Entities.found",
    "Entities.hold",
    "EntityRows.version",
    "MemoryIndexRows.set_indexed",
    "EntityIndexRows.set_indexed",
    "EntityIndexRows.mark_indexed",
    "EntityIndexRows.mark_put",
    "EntityIndexRows.settle_removal",
    "EntityIndexRows.note_removal",
    "Observations.add",
    "Observations.of_session",
    "Observations.count",
    "Observations.place",
    "Observations.forget_session",
    "Observations.forget_message",
    "Extraction.renew",
    "Extraction.release",
    "Extraction.claimed",
    "Extraction.hold",
    "Extraction.unchecked",
    "Extraction.mark_checked",
    "Extraction.present",
    "Extraction.finish",
    "Extraction.failures",
    "Extraction.fail",
    "Extraction.note_past",
    "Extraction.past",
    "Extraction.unobserved",
    "Extraction.count_again",
    "Extraction.forget_past",
}


def waiting_memory(transaction: Transaction, home: Home) -> SessionId:
    """Every session's memory waits; of the first it is asked."""
    for place in home.places:
        MemoryIndexRows(transaction, GENERATION).set_indexed(place.session, [(place.memory, WAITING)])
    return home.first.session


def waiting_entity(transaction: Transaction, home: Home) -> ProjectId:
    """Every project's entity waits; of the garden's it is asked."""
    for place in (home.first, home.second):
        Entities(transaction).set_index(place.entity, WAITING)
    return GARDEN


def garden_memories(transaction: Transaction, home: Home) -> MemoryRows:
    return MemoryRows(transaction, home.first.pool, GENERATION)


def test_every_method_is_known_to_be_confined_or_to_take_found_ids() -> None:
    """ISO-4, ORG-4."""
    assert set(CONFINED) | set(ONE_POOL) | set(ONE_PLACE) | BY_FOUND_ID == methods_of_stores()


@pytest.mark.parametrize("name", CONFINED)
def test_a_confined_reach_finds_nothing_outside_its_project(world: World, name: str) -> None:
    """ISO-4: project ↔ project and project ↔ shared pool."""
    case = CONFINED[name]
    confined = Reach(tenant=world.ours.tenant, confined_to=GARDEN)
    before = world.engine.dump()
    if case.refusal is not None:
        with pytest.raises(case.refusal):
            world.database.write(confined, lambda transaction: case.act(transaction, world.ours))
    else:
        assert world.database.write(confined, lambda transaction: case.act(transaction, world.ours)) == case.nothing
    assert world.engine.dump() == before


def test_a_default_project_outside_the_reach_is_not_there(world: World) -> None:
    """ISO-4, ORG-4: the garden is the default; a key confined to the cellar does not learn its id."""
    confined = Reach(tenant=world.ours.tenant, confined_to=world.ours.cellar)
    with pytest.raises(NotFound) as caught, world.database.read(confined) as transaction:
        Projects(transaction).default()
    assert str(caught.value) == "There is no project 'default' here."


@pytest.mark.parametrize("name", ONE_POOL)
def test_the_rows_of_one_pool_hold_nothing_of_another_pool_of_the_same_tenant(world: World, name: str) -> None:
    """ISO-4: pool ↔ pool."""
    with world.database.read(world.ours.reach) as transaction:
        rows = pools(transaction).rows(world.ours.scope(world.ours.first))
        assert rows is not None
        assert ONE_POOL[name](rows, world.ours)


@pytest.mark.parametrize("name", ONE_PLACE)
def test_what_derives_in_one_place_is_nowhere_else_in_the_same_tenant(world: World, name: str) -> None:
    """ISO-4, ISO-10: pool ↔ pool, project ↔ project, and user ↔ user in a private project."""
    assert world.database.write(world.ours.reach, lambda transaction: ONE_PLACE[name](transaction, world.ours))
