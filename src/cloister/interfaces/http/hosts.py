"""Checks the `Host` of requests against DNS rebinding: a foreign page whose name resolves to this server's address sends requests
with that name as their host, and they are refused."""

from collections.abc import Iterable
from ipaddress import ip_address

WRONG_HOST = (
    "This server does not answer under the Host of this request. Use the address that `cloister serve` prints, or set "
    "CLOISTER_ALLOWED_HOSTS, where the server runs, to the names it is reached by."
)
ANY = "*"
_LOOPBACK_NAME = "localhost"
_LONGEST_HOST = 261
_MOST_REMEMBERED = 1_000


class AllowedHosts:
    """The host names of this server: loopback names, the address it is bound to, and those of the setting. A server that other
    machines can reach also answers under any IP address, since an address cannot be rebound."""

    def __init__(self, bound_to: str = "127.0.0.1", allowed: Iterable[str] = ()) -> None:
        self._names = {_plain(bound_to), *map(_plain, allowed)}
        self._is_local = _is_loopback(_plain(bound_to))
        self._any = ANY in self._names
        self.trusts_keys = not self._is_local and len(self._names) == 1
        """Whether a request with a key is answered under any name: no hosts were configured, and a rebound page has no key."""
        self._remembered: dict[bytes, bool] = {}

    def allows(self, host: bytes) -> bool:
        """Whether this server answers under a `Host` header, with or without a port. Decisions are cached."""
        found = self._remembered.get(host)
        if found is None:
            found = self._decide(host)
            if len(self._remembered) < _MOST_REMEMBERED and len(host) <= _LONGEST_HOST:
                self._remembered[host] = found
        return found

    def _decide(self, host: bytes) -> bool:
        name = _without_port(host.decode("latin-1").strip()) if len(host) <= _LONGEST_HOST else None
        if name is None:
            return False
        if self._any or name in self._names or _is_loopback(name):
            return True
        return not self._is_local and _is_address(name)


def _is_loopback(name: str) -> bool:
    """`localhost`, a subdomain of it, or a loopback address."""
    if name == _LOOPBACK_NAME or name.endswith(f".{_LOOPBACK_NAME}"):
        return True
    return _is_address(name) and ip_address(name).is_loopback


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _plain(name: str) -> str:
    """A host name without brackets and trailing dot, in lower case."""
    return name.strip().removeprefix("[").removesuffix("]").lower().removesuffix(".")


def _without_port(host: str) -> str | None:
    """The name of a `Host` header, or none if the header is malformed."""
    if host.startswith("["):
        name, closed, port = host[1:].partition("]")
        port = port.removeprefix(":") if not port or port.startswith(":") else "x"
        usable = bool(closed) and _is_address(name)
    else:
        name, _, port = host.partition(":")
        usable = bool(name)
    return name.lower().removesuffix(".") if usable and (not port or port.isdecimal()) else None
