"""The store of turns, method by method, as `test_store_isolation` runs it: with our own ids, and with foreign ones."""

from cloister.storage.interface import Transaction
from cloister.storage.stores.turns import TurnStore
from support.isolation.twin_tenants import MOMENT, Case, Home

TURN = 78


def taken(transaction: Transaction, home: Home) -> TurnStore:
    """The first session, being answered; a foreign one cannot be."""
    turns = TurnStore(transaction)
    turns.take(home.first.session, TURN, now=MOMENT, until=MOMENT + 10, process=1)
    return turns


TURN_CASES: dict[str, Case] = {
    "TurnStore.take": Case(
        act=lambda t, h: TurnStore(t).take(h.first.session, TURN, now=MOMENT, until=MOMENT + 10),
        nothing=False,
        writes=True,
    ),
    "TurnStore.renew": Case(
        act=lambda t, h: taken(t, h).renew(h.first.session, TURN, until=MOMENT + 20), nothing=False, writes=True
    ),
    "TurnStore.process_of": Case(act=lambda t, h: taken(t, h).process_of(h.first.name), nothing=None, writes=True),
    "TurnStore.cap": Case(act=lambda t, h: taken(t, h).cap(h.first.name, until=MOMENT + 5), writes=True),
    "TurnStore.end": Case(act=lambda t, h: taken(t, h).end(h.first.session, TURN), nothing=None),
    "TurnStore.revoke": Case(act=lambda t, h: taken(t, h).revoke(h.first.session)),
    "TurnStore.is_running": Case(
        act=lambda t, h: taken(t, h).is_running(h.first.session, now=MOMENT), nothing=False, writes=True
    ),
    "TurnStore.is_of": Case(act=lambda t, h: taken(t, h).is_of(h.first.session, TURN), nothing=False, writes=True),
}
