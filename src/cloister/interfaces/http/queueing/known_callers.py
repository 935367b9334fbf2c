"""Which tenant a credential belongs to, as far as it was seen: for the order in which requests are served, never for access."""

import threading
from collections import OrderedDict
from collections.abc import Hashable

from starlette.types import Scope

_MOST_KNOWN = 100_000


class KnownCallers:
    """Requests wait before their credentials are checked. Those whose credential was admitted before wait with their tenant's; all
    others wait together as one tenant, so that made-up keys gain nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tenants: OrderedDict[int, Hashable] = OrderedDict()

    def tenant_of(self, scope: Scope) -> Hashable:
        """The tenant of a request, or None if it is not known."""
        return self._tenants.get(_credential(scope))

    def note(self, scope: Scope, tenant: Hashable) -> None:
        """The credential of this request was admitted for this tenant."""
        credential = _credential(scope)
        if self._tenants.get(credential) == tenant:
            return
        with self._lock:
            self._tenants[credential] = tenant
            if len(self._tenants) > _MOST_KNOWN:
                self._tenants.popitem(last=False)


def _credential(scope: Scope) -> int:
    """A hash of the credential as it was sent, which is not kept itself."""
    cookie = b""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return hash(value)
        if name == b"cookie":
            cookie = value
    return hash(cookie)
