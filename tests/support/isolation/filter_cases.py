"""The store of filters, method by method, as `test_store_isolation` runs it: with our own ids, and with foreign ones."""

from cloister.domain.recall.filter_language import parse_filter
from cloister.storage.stores.filters import FilterStore, SessionNames
from support.isolation.twin_tenants import Case

# What every row of both tenants fulfils.
ANYTHING = parse_filter({"or": [{"session_id": "first"}, {"not": {"category": "unheard of"}}]})

FILTER_CASES: dict[str, Case] = {
    "FilterStore.pool_messages": Case(
        act=lambda t, h: FilterStore(t).pool_messages(h.first.pool, ANYTHING).ids.tolist(), nothing=[]
    ),
    "FilterStore.session_messages": Case(
        act=lambda t, h: FilterStore(t).session_messages(
            h.first.session, SessionNames("first", "ann"), ANYTHING, after=0
        ),
        nothing=[],
    ),
    "FilterStore.pool_memories": Case(
        act=lambda t, h: FilterStore(t).pool_memories(h.first.pool, ANYTHING), nothing=[]
    ),
    "FilterStore.project_entities": Case(
        act=lambda t, h: FilterStore(t).project_entities(h.second.project or h.cellar, "ann", ANYTHING), nothing=[]
    ),
}
