"""The store of listed memories, method by method, as `test_store_isolation` runs them: with our own ids, and with foreign ones."""

from dataclasses import replace

from cloister.domain.identifiers import RevisionId
from cloister.domain.truth.supersession import Person
from cloister.storage.interface import Transaction
from cloister.storage.stores.listing.activity import ActivityStore
from cloister.storage.stores.listing.listed_memories import ListedMemoryStore, MemoryPart
from cloister.storage.stores.revisions import RevisionStore
from cloister.storage.stores.supersession import SupersessionStore
from support.isolation.supersession_cases import fact
from support.isolation.twin_tenants import MOMENT, Case, Home


def whole(transaction: Transaction, home: Home) -> ListedMemoryStore:
    """Everything of the second session's project."""
    return ListedMemoryStore(transaction, MemoryPart(kind="project", project=home.cellar, any_user=True))


def activity(transaction: Transaction, home: Home) -> ActivityStore:
    return ActivityStore(transaction, MemoryPart(kind="project", project=home.cellar, any_user=True))


def revisions(transaction: Transaction, home: Home) -> list[RevisionId]:
    """The changes of all memories of a home, found by their memories."""
    return [revision.id for place in home.places for revision in RevisionStore(transaction, place.memory).page(limit=9)]


def replaced(transaction: Transaction, home: Home) -> object:
    """After the memory of the second session took its own place: nothing else is said there."""
    second = home.second
    person = Person(pool=second.pool, user="ann", session=second.session)
    itself = replace(fact(home), id=second.memory, session=second.session)
    SupersessionStore(transaction, person).set_successor(itself, itself)
    return whole(transaction, home).replaced([second.memory])


EVER = {"since": 0, "until": 1 << 60}

LISTING_CASES: dict[str, Case] = {
    "ActivityStore.sessions": Case(act=lambda t, h: activity(t, h).sessions(since=0, limit=9), nothing=[]),
    "ActivityStore.messages": Case(act=lambda t, h: activity(t, h).messages([h.second.session], **EVER), nothing={}),
    "ActivityStore.memories": Case(act=lambda t, h: activity(t, h).memories([h.second.session], **EVER), nothing={}),
    "ListedMemoryStore.page": Case(act=lambda t, h: whole(t, h).page(limit=9, now=MOMENT), nothing=[]),
    "ListedMemoryStore.timeline": Case(act=lambda t, h: whole(t, h).timeline(limit=9), nothing=[]),
    "ListedMemoryStore.memories": Case(act=lambda t, h: whole(t, h).memories([h.second.memory], MOMENT), nothing={}),
    "ListedMemoryStore.changes": Case(
        act=lambda t, h: whole(t, h).changes([h.second.memory], revisions(t, h)), nothing={}
    ),
    "ListedMemoryStore.first_states": Case(act=lambda t, h: whole(t, h).first_states([h.second.memory]), nothing={}),
    "ListedMemoryStore.replaced": Case(act=replaced, nothing={}, writes=True),
}
