"""The stores of what derives, method by method, as `test_store_isolation` runs them: with our own ids, and with foreign ones."""

from cloister.domain.entity import same_name
from cloister.domain.errors import NotFound, StorageError
from cloister.domain.identifiers import MessageId, new_entity_id, new_memory_id, new_observation_id
from cloister.domain.memory import same_as
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import EntityStore, StoredEntities
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.memories import MemoryStore, ProfileStore, StoredMemories
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import DerivedState
from support.isolation.twin_tenants import (
    CLAIM,
    GARDEN,
    GENERATION,
    INDEXED,
    MOMENT,
    WORDS,
    Case,
    Home,
    new_entity,
    new_memory,
    new_observation,
    pools,
)


def claimed(transaction: Transaction, home: Home) -> ExtractionStore:
    """The first session, held by a worker; a foreign one cannot be claimed."""
    extraction = ExtractionStore(transaction)
    extraction.claim(home.first.session, CLAIM, now=MOMENT, until=MOMENT + 10)
    return extraction


def forget_derived(transaction: Transaction, home: Home) -> None:
    session = home.first.session
    memories = MemoryStore(transaction)
    memories.remove(session, memories.ids(session))
    ObservationStore(transaction).forget_session(session)
    EntityStore(transaction).forget_session(session)
    ExtractionStore(transaction).forget_past(session)


def profile(transaction: Transaction, home: Home) -> ProfileStore:
    return ProfileStore(transaction, home.first.pool)


def memory_rows(transaction: Transaction, home: Home) -> StoredMemories:
    return StoredMemories(transaction, home.first.pool, GENERATION)


def entity_rows(transaction: Transaction, home: Home) -> StoredEntities:
    return StoredEntities(transaction, home.cellar, "ann", GENERATION)


DERIVED_CASES: dict[str, Case] = {
    "PoolStore.derived": Case(
        act=lambda t, h: pools(t).derived(h.first.pool, h.first.session, h.cellar, "ann"),
        nothing=DerivedState(version=0, memories=False, entities=False, observations=False, exclusions=False),
    ),
    "MemoryStore.add": Case(
        act=lambda t, h: MemoryStore(t).add(
            new_memory(new_memory_id(), h.first.session, content="Other words."), same_as("Other words."), INDEXED
        ),
        nothing=StorageError,
        writes=True,
    ),
    "MemoryStore.count": Case(act=lambda t, h: MemoryStore(t).count(h.first.session, 3), writes=True),
    "MemoryStore.note_change": Case(act=lambda t, h: MemoryStore(t).note_change(h.first.pool), writes=True),
    "MemoryStore.move": Case(act=lambda t, h: MemoryStore(t).move(3, old=None, new=h.cellar), writes=True),
    "MemoryStore.get": Case(act=lambda t, h: MemoryStore(t).get(h.first.memory, MOMENT), nothing=NotFound),
    "MemoryStore.of_session": Case(
        act=lambda t, h: MemoryStore(t).of_session(h.first.session, limit=9, now=MOMENT), nothing=[]
    ),
    "MemoryStore.of_user": Case(act=lambda t, h: MemoryStore(t).of_user("ann", limit=9, now=MOMENT)),
    "MemoryStore.known": Case(
        act=lambda t, h: MemoryStore(t).known(h.first.session, h.first.pool, "ann", 9, MOMENT), nothing=([], [])
    ),
    "MemoryStore.derived_from": Case(act=lambda t, h: MemoryStore(t).derived_from(h.first.messages[0]), nothing=[]),
    "MemoryStore.sources": Case(act=lambda t, h: MemoryStore(t).sources(h.first.memory), nothing=set[MessageId]()),
    "MemoryStore.ids": Case(act=lambda t, h: MemoryStore(t).ids(h.first.session), nothing=[]),
    "MemoryStore.contents": Case(act=lambda t, h: MemoryStore(t).contents([h.first.memory]), nothing=[]),
    "MemoryStore.with_digest": Case(
        act=lambda t, h: MemoryStore(t).with_digest(h.first.session, same_as(WORDS)), nothing=None
    ),
    "MemoryStore.remove": Case(
        act=lambda t, h: MemoryStore(t).remove(h.first.session, [h.first.memory]), nothing=0, writes=True
    ),
    "MemoryStore.stored": Case(
        act=lambda t, h: [
            stored.memory.sources
            for stored in MemoryStore(t).stored(
                [
                    (
                        *(h.first.memory, h.first.session, "x", None, MOMENT, MOMENT, None, None, None, None),
                        *(0, "extracted", None, "[]", "{}", None, "first", "ann", None),
                    )
                ],
                MOMENT,
            )
        ],
        nothing=[()],
    ),
    "ProfileStore.of_user": Case(
        act=lambda t, h: profile(t, h).of_user("ann", h.first.session, now=MOMENT, limit=9), nothing=[]
    ),
    "ProfileStore.equal": Case(act=lambda t, h: profile(t, h).equal([h.first.memory], now=MOMENT)),
    "ProfileStore.decisions": Case(act=lambda t, h: profile(t, h).decisions(now=MOMENT, limit=9), nothing=[]),
    "StoredMemories.version": Case(act=lambda t, h: memory_rows(t, h).version(), nothing=None),
    "StoredMemories.validity_rows": Case(act=lambda t, h: memory_rows(t, h).validity_rows(), nothing=[]),
    "StoredMemories.all_rows": Case(act=lambda t, h: list(memory_rows(t, h).all_rows()), nothing=[]),
    "StoredMemories.stale_words": Case(
        act=lambda t, h: StoredMemories(t, h.first.pool, GENERATION + 1).stale_words(9), nothing=[]
    ),
    "StoredMemories.stale": Case(act=lambda t, h: StoredMemories(t, h.first.pool, GENERATION + 1).stale(), nothing=0),
    "StoredMemories.page": Case(act=lambda t, h: memory_rows(t, h).page(now=MOMENT, limit=9), nothing=[]),
    "StoredMemories.found": Case(act=lambda t, h: memory_rows(t, h).found([h.first.memory], MOMENT), nothing={}),
    "EntityStore.find": Case(act=lambda t, h: EntityStore(t).find(h.cellar, "ann", same_name("Rosa")), nothing=None),
    "EntityStore.get": Case(act=lambda t, h: EntityStore(t).get(h.first.entity), nothing=NotFound),
    "EntityStore.add": Case(
        act=lambda t, h: EntityStore(t).add(
            new_entity(new_entity_id(), h.cellar, "ann", "Vera"), same_name("Vera"), INDEXED
        ),
        nothing=StorageError,
        writes=True,
    ),
    "EntityStore.mention": Case(
        act=lambda t, h: EntityStore(t).mention(h.first.entity, h.first.session, h.first.messages[1:], "red", MOMENT),
        nothing=StorageError,
        writes=True,
    ),
    "EntityStore.set_index": Case(
        act=lambda t, h: EntityStore(t).set_index(h.first.entity, INDEXED._replace(terms=b"\x02\x00")),
        writes=True,
    ),
    "EntityStore.note_change": Case(act=lambda t, h: EntityStore(t).note_change(h.cellar), writes=True),
    "EntityStore.page": Case(act=lambda t, h: EntityStore(t).page(h.cellar, "ann", limit=9), nothing=[]),
    "EntityStore.of_project": Case(act=lambda t, h: EntityStore(t).of_project(h.cellar), nothing=[]),
    "EntityStore.users_of": Case(act=lambda t, h: EntityStore(t).users_of(h.second.entity), nothing=[]),
    "EntityStore.give_mentions": Case(
        act=lambda t, h: EntityStore(t).give_mentions(h.second.entity, h.first.entity, "ann"), writes=True
    ),
    "EntityStore.set_user": Case(act=lambda t, h: EntityStore(t).set_user(h.second.entity, "bob"), writes=True),
    "EntityStore.of_session": Case(act=lambda t, h: EntityStore(t).of_session(h.first.session), nothing=[]),
    "EntityStore.of_message": Case(act=lambda t, h: EntityStore(t).of_message(h.first.messages[0]), nothing=[]),
    "EntityStore.contents": Case(
        act=lambda t, h: [
            *EntityStore(t).contents(h.first.session),
            *EntityStore(t).contents(h.first.session, h.first.messages[0]),
        ],
        nothing=[],
    ),
    "EntityStore.forget_session": Case(act=lambda t, h: EntityStore(t).forget_session(h.first.session), writes=True),
    "EntityStore.most_mentioned": Case(
        act=lambda t, h: EntityStore(t).most_mentioned(h.cellar, "ann", limit=9), nothing=[]
    ),
    "EntityStore.forget_messages": Case(act=lambda t, h: EntityStore(t).forget_messages(h.first.messages), writes=True),
    "EntityStore.forget_statements": Case(
        act=lambda t, h: EntityStore(t).forget_statements(h.first.session, {same_as("needs water")}), writes=True
    ),
    "EntityStore.retag": Case(act=lambda t, h: retag(t, h), writes=True),
    "EntityStore.lock": Case(act=lambda t, h: EntityStore(t).lock([h.second.entity]), nothing=[], writes=True),
    "EntityStore.found": Case(act=lambda t, h: EntityStore(t).found([h.first.entity, h.second.entity]), nothing=[]),
    "StoredEntities.size": Case(act=lambda t, h: entity_rows(t, h).size(), nothing=0),
    "StoredEntities.stale": Case(
        act=lambda t, h: StoredEntities(t, h.cellar, "ann", GENERATION + 1).stale(), nothing=0
    ),
    "StoredEntities.stale_entities": Case(
        act=lambda t, h: StoredEntities(t, h.cellar, "ann", GENERATION + 1).stale_entities(9), nothing=[]
    ),
    "StoredEntities.version": Case(act=lambda t, h: entity_rows(t, h).version(), nothing=None),
    "StoredEntities.all_rows": Case(act=lambda t, h: list(entity_rows(t, h).all_rows()), nothing=[]),
    "StoredEntities.found": Case(act=lambda t, h: entity_rows(t, h).found([h.second.entity], MOMENT), nothing={}),
    "ObservationStore.add": Case(
        act=lambda t, h: ObservationStore(t).add(
            new_observation(new_observation_id(), h.first.session, h.first.messages[1]), *h.first.messages
        ),
        nothing=StorageError,
        writes=True,
    ),
    "ObservationStore.of_session": Case(
        act=lambda t, h: ObservationStore(t).of_session(h.first.session, limit=9), nothing=[]
    ),
    "ObservationStore.count": Case(act=lambda t, h: ObservationStore(t).count(h.first.session), nothing=0),
    "ObservationStore.cursor_key": Case(
        act=lambda t, h: ObservationStore(t).cursor_key(h.first.session, h.first.observation), nothing=NotFound
    ),
    "ObservationStore.recent": Case(
        act=lambda t, h: ObservationStore(t).recent(h.first.session, h.first.pool, limit=9), nothing=[]
    ),
    "ObservationStore.recent_of_user": Case(
        act=lambda t, h: ObservationStore(t).recent_of_user("ann", h.first.pool, limit=9), nothing=[]
    ),
    "ObservationStore.contents": Case(
        act=lambda t, h: [
            *ObservationStore(t).contents(h.first.session),
            *ObservationStore(t).contents(h.first.session, h.first.messages[0]),
        ],
        nothing=[],
    ),
    "ObservationStore.forget_session": Case(
        act=lambda t, h: ObservationStore(t).forget_session(h.first.session), nothing=0, writes=True
    ),
    "ObservationStore.forget_from": Case(
        act=lambda t, h: ObservationStore(t).forget_from(h.first.session, h.first.messages[0]), nothing=[], writes=True
    ),
    "ObservationStore.forget_message": Case(
        act=lambda t, h: ObservationStore(t).forget_message(h.first.session, h.first.messages[0]),
        nothing=[],
        writes=True,
    ),
    "ExtractionStore.claim": Case(
        act=lambda t, h: ExtractionStore(t).claim(h.first.session, CLAIM, now=MOMENT, until=MOMENT + 10),
        nothing=False,
        writes=True,
    ),
    "ExtractionStore.renew": Case(
        act=lambda t, h: claimed(t, h).renew(h.first.session, CLAIM, until=MOMENT + 20), nothing=False, writes=True
    ),
    "ExtractionStore.release": Case(
        act=lambda t, h: claimed(t, h).release(h.first.session, CLAIM),
        writes=False,
    ),
    "ExtractionStore.claimed": Case(
        act=lambda t, h: claimed(t, h).claimed(h.first.session, CLAIM), nothing=None, writes=True
    ),
    "ExtractionStore.lock": Case(
        act=lambda t, h: claimed(t, h).lock(h.first.session, CLAIM), nothing=None, writes=True
    ),
    "ExtractionStore.unchecked": Case(act=lambda t, h: ExtractionStore(t).unchecked(h.first.session, 9), nothing=[]),
    "ExtractionStore.mark_checked": Case(
        act=lambda t, h: ExtractionStore(t).mark_checked(h.first.session, h.first.messages), nothing=0, writes=True
    ),
    "ExtractionStore.present": Case(
        act=lambda t, h: ExtractionStore(t).present(h.first.session, h.first.messages), nothing=set()
    ),
    "ExtractionStore.finish": Case(
        act=lambda t, h: claimed(t, h).finish(h.first.session, CLAIM, checked=1, observed=1, threshold=9, now=MOMENT),
        writes=True,
    ),
    "ExtractionStore.failures": Case(
        act=lambda t, h: (failed(t, h), ExtractionStore(t).failures(h.first.session))[1], nothing=0, writes=True
    ),
    "ExtractionStore.fail": Case(act=lambda t, h: failed(t, h), writes=True),
    "ExtractionStore.note_past": Case(
        act=lambda t, h: ExtractionStore(t).note_past(h.first.session, h.first.messages[1], h.cellar),
        nothing=StorageError,
        writes=True,
    ),
    "ExtractionStore.past": Case(act=lambda t, h: ExtractionStore(t).past(h.first.session), nothing=[]),
    "ExtractionStore.unobserved": Case(
        act=lambda t, h: ExtractionStore(t).unobserved(h.first.session, MessageId(0), window=1, limit=9), nothing=[]
    ),
    "ExtractionStore.recount_unchecked": Case(
        act=lambda t, h: (
            ExtractionStore(t).mark_checked(h.first.session, h.first.messages),
            ExtractionStore(t).recount_unchecked(h.first.session),
        ),
        writes=True,
    ),
    "ExtractionStore.forget_past": Case(act=lambda t, h: ExtractionStore(t).forget_past(h.first.session), writes=True),
}


def failed(transaction: Transaction, home: Home) -> None:
    claimed(transaction, home).fail(home.first.session, CLAIM, error="No model.", retry_at=MOMENT + 5)


def retag(transaction: Transaction, home: Home) -> None:
    """It answers the id that it was given, and with it nothing that was not known."""
    stored = new_entity(home.first.entity, GARDEN, None)
    assert EntityStore(transaction).retag(stored, home.cellar, "bob", same_name("Rosa")) == home.first.entity
