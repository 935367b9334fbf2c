"""The stores of supersession and revisions, method by method, as `test_store_isolation` runs them."""

from cloister.domain.errors import NotFound, StorageError
from cloister.domain.identifiers import MemoryId
from cloister.domain.memory import same_as
from cloister.domain.truth.revision import state_of
from cloister.domain.truth.supersession import Fact, Person
from cloister.storage.interface import Transaction
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.revisions import RevisionStore
from cloister.storage.stores.supersession import ReplacementStore, SupersessionStore
from support.isolation.twin_tenants import MOMENT, SUBJECT, WORDS, Case, Home, new_memory


def facts(transaction: Transaction, home: Home, user: str = "ann") -> SupersessionStore:
    first = home.first
    return SupersessionStore(transaction, Person(pool=first.pool, user=user, session=first.session))


def fact(home: Home) -> Fact:
    return Fact(
        id=home.first.memory,
        session=home.first.session,
        subject=SUBJECT,
        statement=same_as(WORDS),
        valid_from=MOMENT,
        created_at=MOMENT,
        stands=True,
        by_person=False,
        kept_by_person=False,
        superseded_by=None,
        valid_until=None,
    )


def revisions(transaction: Transaction, home: Home) -> RevisionStore:
    return RevisionStore(transaction, home.first.memory)


def set_state(transaction: Transaction, home: Home) -> None:
    memory = new_memory(home.first.memory, home.first.session, content="Other words.")
    revisions(transaction, home).set_state(memory, state_of(memory), same_as("Other words."))


SUPERSESSION_CASES: dict[str, Case] = {
    "SupersessionStore.all_facts": Case(act=lambda t, h: facts(t, h).all_facts(), nothing=[]),
    "SupersessionStore.about": Case(act=lambda t, h: facts(t, h).about(SUBJECT), nothing=[]),
    "SupersessionStore.by_id": Case(act=lambda t, h: facts(t, h).by_id([h.first.memory]), nothing=[]),
    "SupersessionStore.saying": Case(act=lambda t, h: facts(t, h).saying(same_as(WORDS), 9), nothing=[]),
    "SupersessionStore.withdrawn": Case(act=lambda t, h: facts(t, h).withdrawn(), nothing=set[bytes]()),
    "SupersessionStore.copies": Case(
        act=lambda t, h: facts(t, h).copies(MemoryStore(t).get(h.first.memory, MOMENT), MOMENT), nothing=NotFound
    ),
    "SupersessionStore.changed_at": Case(act=lambda t, h: facts(t, h).changed_at(MemoryId(0), MOMENT), nothing=[]),
    "SupersessionStore.set_successor": Case(act=lambda t, h: facts(t, h).set_successor(fact(h), fact(h)), writes=True),
    "ReplacementStore.person": Case(act=lambda t, h: ReplacementStore(t).person(h.first.session), nothing=None),
    "ReplacementStore.subjects": Case(
        act=lambda t, h: ReplacementStore(t).subjects([h.first.memory]), nothing=set[str]()
    ),
    "ReplacementStore.pairs": Case(act=lambda t, h: ReplacementStore(t).pairs([h.first.memory]), nothing=[]),
    "ReplacementStore.add": Case(
        act=lambda t, h: ReplacementStore(t).add([(h.first.memory, h.second.memory)]),
        nothing=StorageError,
        writes=True,
    ),
    "RevisionStore.add": Case(
        act=lambda t, h: revisions(t, h).add(
            "correct", state_of(new_memory(h.first.memory, h.first.session)), by=None, at=MOMENT
        ),
        nothing=StorageError,
        writes=True,
    ),
    "MemoryStore.change_times": Case(act=lambda t, h: MemoryStore(t).change_times([h.first.memory]), nothing={}),
    "RevisionStore.page": Case(act=lambda t, h: revisions(t, h).page(limit=9), nothing=[]),
    "RevisionStore.last": Case(act=lambda t, h: revisions(t, h).last(), nothing=None),
    "RevisionStore.replaced": Case(act=lambda t, h: revisions(t, h).replaced(), nothing=[]),
    "RevisionStore.set_undone": Case(
        act=lambda t, h: [revisions(t, h).set_undone(one.id, MOMENT) for one in revisions(t, h).page(limit=9)],
        nothing=[],
        writes=True,
    ),
    "RevisionStore.set_state": Case(act=set_state, writes=True),
}
