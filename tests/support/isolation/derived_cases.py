"""The stores of what derives, method by method, as `test_store_isolation` runs them: with our own ids, and with foreign ones."""

from cloister.domain.entity import same_name
from cloister.domain.errors import NotFound, StorageError
from cloister.domain.identifiers import MessageId, new_entity_id, new_memory_id, new_observation_id
from cloister.domain.memory import same_as
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import Entities, EntityRows
from cloister.storage.stores.extraction import Extraction
from cloister.storage.stores.memories import Memories, MemoryRows
from cloister.storage.stores.observations import Observations
from cloister.storage.stores.pools import DerivedState
from support.isolation.twin_tenants import (
    CLAIM,
    GARDEN,
    GENERATION,
    INDEXED,
    MOMENT,
    Case,
    Home,
    new_entity,
    new_memory,
    new_observation,
    pools,
)


def claimed(transaction: Transaction, home: Home) -> Extraction:
    """The first session, held by a worker; a foreign one cannot be claimed."""
    extraction = Extraction(transaction)
    extraction.claim(home.first.session, CLAIM, now=MOMENT, until=MOMENT + 10)
    return extraction


def forget_derived(transaction: Transaction, home: Home) -> None:
    session = home.first.session
    memories = Memories(transaction)
    memories.remove(session, memories.ids(session))
    Observations(transaction).forget_session(session)
    Entities(transaction).forget_session(session)
    Extraction(transaction).forget_past(session)


def memory_rows(transaction: Transaction, home: Home) -> MemoryRows:
    return MemoryRows(transaction, home.first.pool, GENERATION)


def entity_rows(transaction: Transaction, home: Home) -> EntityRows:
    return EntityRows(transaction, home.cellar, "ann", GENERATION)


DERIVED_CASES: dict[str, Case] = {
    "Pools.derived": Case(
        act=lambda t, h: pools(t).derived(h.first.pool, h.first.session, h.cellar, "ann"),
        nothing=DerivedState(memories=False, entities=False, observations=False),
    ),
    "Memories.add": Case(
        act=lambda t, h: Memories(t).add(
            new_memory(new_memory_id(), h.first.session, content="Other words."), same_as("Other words."), INDEXED
        ),
        nothing=StorageError,
        writes=True,
    ),
    "Memories.count": Case(act=lambda t, h: Memories(t).count(h.first.session, 3), writes=True),
    "Memories.note_change": Case(act=lambda t, h: Memories(t).note_change(h.first.pool), writes=True),
    "Memories.move": Case(act=lambda t, h: Memories(t).move(3, old=None, new=h.cellar), writes=True),
    "Memories.get": Case(act=lambda t, h: Memories(t).get(h.first.memory), nothing=NotFound),
    "Memories.of_session": Case(act=lambda t, h: Memories(t).of_session(h.first.session, limit=9), nothing=[]),
    "Memories.of_user": Case(act=lambda t, h: Memories(t).of_user("ann", limit=9)),
    "Memories.known": Case(
        act=lambda t, h: Memories(t).known(h.first.session, h.first.pool, "ann", 9), nothing=([], [])
    ),
    "Memories.derived_from": Case(act=lambda t, h: Memories(t).derived_from(h.first.messages[0]), nothing=[]),
    "Memories.ids": Case(act=lambda t, h: Memories(t).ids(h.first.session), nothing=[]),
    "Memories.remove": Case(
        act=lambda t, h: Memories(t).remove(h.first.session, [h.first.memory]), nothing=0, writes=True
    ),
    "Memories.held": Case(
        act=lambda t, h: [
            held.memory.sources
            for held in Memories(t).held([(h.first.memory, h.first.session, "x", None, MOMENT, "first", "ann", None)])
        ],
        nothing=[()],
    ),
    "MemoryRows.version": Case(act=lambda t, h: memory_rows(t, h).version(), nothing=None),
    "MemoryRows.all_rows": Case(act=lambda t, h: list(memory_rows(t, h).all_rows()), nothing=[]),
    "MemoryRows.found": Case(act=lambda t, h: memory_rows(t, h).found([h.first.memory]), nothing={}),
    "Entities.find": Case(act=lambda t, h: Entities(t).find(h.cellar, "ann", same_name("Rosa")), nothing=None),
    "Entities.get": Case(act=lambda t, h: Entities(t).get(h.first.entity), nothing=NotFound),
    "Entities.add": Case(
        act=lambda t, h: Entities(t).add(
            new_entity(new_entity_id(), h.cellar, "ann", "Vera"), same_name("Vera"), INDEXED
        ),
        nothing=StorageError,
        writes=True,
    ),
    "Entities.mention": Case(
        act=lambda t, h: Entities(t).mention(h.first.entity, h.first.session, h.first.messages[1:], "red", MOMENT),
        nothing=StorageError,
        writes=True,
    ),
    "Entities.set_index": Case(
        act=lambda t, h: Entities(t).set_index(h.first.entity, INDEXED._replace(terms=b"\x02\x00")),
        writes=True,
    ),
    "Entities.note_change": Case(act=lambda t, h: Entities(t).note_change(h.cellar), writes=True),
    "Entities.page": Case(act=lambda t, h: Entities(t).page(h.cellar, "ann", limit=9), nothing=[]),
    "Entities.of_project": Case(act=lambda t, h: Entities(t).of_project(h.cellar), nothing=[]),
    "Entities.users_of": Case(act=lambda t, h: Entities(t).users_of(h.second.entity), nothing=[]),
    "Entities.give_mentions": Case(
        act=lambda t, h: Entities(t).give_mentions(h.second.entity, h.first.entity, "ann"), writes=True
    ),
    "Entities.set_user": Case(act=lambda t, h: Entities(t).set_user(h.second.entity, "bob"), writes=True),
    "Entities.forget_session": Case(act=lambda t, h: Entities(t).forget_session(h.first.session), writes=True),
    "Entities.forget_message": Case(act=lambda t, h: Entities(t).forget_message(h.first.messages[0]), writes=True),
    "Entities.retag": Case(act=lambda t, h: retag(t, h), writes=True),
    "Entities.hold": Case(act=lambda t, h: Entities(t).hold([h.second.entity]), nothing=[], writes=True),
    "Entities.found": Case(act=lambda t, h: Entities(t).found([h.first.entity, h.second.entity]), nothing=[]),
    "EntityRows.size": Case(act=lambda t, h: entity_rows(t, h).size(), nothing=0),
    "EntityRows.version": Case(act=lambda t, h: entity_rows(t, h).version(), nothing=None),
    "EntityRows.all_rows": Case(act=lambda t, h: list(entity_rows(t, h).all_rows()), nothing=[]),
    "EntityRows.found": Case(act=lambda t, h: entity_rows(t, h).found([h.second.entity]), nothing={}),
    "Observations.add": Case(
        act=lambda t, h: Observations(t).add(
            new_observation(new_observation_id(), h.first.session, h.first.messages[1]), *h.first.messages
        ),
        nothing=StorageError,
        writes=True,
    ),
    "Observations.of_session": Case(act=lambda t, h: Observations(t).of_session(h.first.session, limit=9), nothing=[]),
    "Observations.count": Case(act=lambda t, h: Observations(t).count(h.first.session), nothing=0),
    "Observations.place": Case(
        act=lambda t, h: Observations(t).place(h.first.session, h.first.observation), nothing=NotFound
    ),
    "Observations.recent": Case(
        act=lambda t, h: Observations(t).recent(h.first.session, h.first.pool, limit=9), nothing=[]
    ),
    "Observations.recent_of_user": Case(
        act=lambda t, h: Observations(t).recent_of_user("ann", h.first.pool, limit=9), nothing=[]
    ),
    "Observations.forget_session": Case(
        act=lambda t, h: Observations(t).forget_session(h.first.session), nothing=0, writes=True
    ),
    "Observations.forget_message": Case(
        act=lambda t, h: Observations(t).forget_message(h.first.session, h.first.messages[0]), nothing=0, writes=True
    ),
    "Extraction.claim": Case(
        act=lambda t, h: Extraction(t).claim(h.first.session, CLAIM, now=MOMENT, until=MOMENT + 10),
        nothing=False,
        writes=True,
    ),
    "Extraction.renew": Case(
        act=lambda t, h: claimed(t, h).renew(h.first.session, CLAIM, until=MOMENT + 20), nothing=False, writes=True
    ),
    "Extraction.release": Case(
        act=lambda t, h: claimed(t, h).release(h.first.session, CLAIM),
        writes=False,
    ),
    "Extraction.claimed": Case(
        act=lambda t, h: claimed(t, h).claimed(h.first.session, CLAIM), nothing=None, writes=True
    ),
    "Extraction.hold": Case(act=lambda t, h: claimed(t, h).hold(h.first.session, CLAIM), nothing=None, writes=True),
    "Extraction.unchecked": Case(act=lambda t, h: Extraction(t).unchecked(h.first.session, 9), nothing=[]),
    "Extraction.mark_checked": Case(
        act=lambda t, h: Extraction(t).mark_checked(h.first.session, h.first.messages), nothing=0, writes=True
    ),
    "Extraction.present": Case(
        act=lambda t, h: Extraction(t).present(h.first.session, h.first.messages), nothing=set()
    ),
    "Extraction.finish": Case(
        act=lambda t, h: claimed(t, h).finish(h.first.session, CLAIM, checked=1, observed=1, threshold=9, now=MOMENT),
        writes=True,
    ),
    "Extraction.failures": Case(
        act=lambda t, h: (failed(t, h), Extraction(t).failures(h.first.session))[1], nothing=0, writes=True
    ),
    "Extraction.fail": Case(act=lambda t, h: failed(t, h), writes=True),
    "Extraction.note_past": Case(
        act=lambda t, h: Extraction(t).note_past(h.first.session, h.first.messages[1], h.cellar),
        nothing=StorageError,
        writes=True,
    ),
    "Extraction.past": Case(act=lambda t, h: Extraction(t).past(h.first.session), nothing=[]),
    "Extraction.unobserved": Case(
        act=lambda t, h: Extraction(t).unobserved(h.first.session, MessageId(0), window=1, limit=9), nothing=[]
    ),
    "Extraction.count_again": Case(
        act=lambda t, h: (
            Extraction(t).mark_checked(h.first.session, h.first.messages),
            Extraction(t).count_again(h.first.session),
        ),
        writes=True,
    ),
    "Extraction.forget_past": Case(act=lambda t, h: Extraction(t).forget_past(h.first.session), writes=True),
}


def failed(transaction: Transaction, home: Home) -> None:
    claimed(transaction, home).fail(home.first.session, CLAIM, error="No model.", retry_at=MOMENT + 5)


def retag(transaction: Transaction, home: Home) -> None:
    """It answers the id that it was given, and with it nothing that was not known."""
    held = new_entity(home.first.entity, GARDEN, None)
    assert Entities(transaction).retag(held, home.cellar, "bob", same_name("Rosa")) == home.first.entity
