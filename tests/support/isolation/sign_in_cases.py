"""The store of links and signed-in browsers, method by method, as `test_store_isolation` runs it: with our own ids, and with
foreign ones."""

from cloister.storage.stores.keys import SignInStore, StoredSignIn
from support.isolation.twin_tenants import MOMENT, Case, sign_in_digest

SIGN_IN_CASES: dict[str, Case] = {
    "SignInStore.add": Case(
        act=lambda t, h: SignInStore(t).add("link", b"new", StoredSignIn(h.key, MOMENT + 1), now=MOMENT, most=1),
        writes=True,
    ),
    "SignInStore.find": Case(
        act=lambda t, h: SignInStore(t).find("browser", sign_in_digest(h.key), now=MOMENT), nothing=None
    ),
    "SignInStore.extend": Case(
        act=lambda t, h: SignInStore(t).extend("browser", sign_in_digest(h.key), now=MOMENT, until=MOMENT + 2),
        writes=True,
    ),
    "SignInStore.remove": Case(
        act=lambda t, h: SignInStore(t).remove("browser", sign_in_digest(h.key), now=MOMENT),
        nothing=None,
        writes=True,
    ),
}
