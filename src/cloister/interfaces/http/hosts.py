"""The `Host` of a request: under which names a server answers. A page of somebody else's can have its own name resolve to this
server's address (DNS rebinding); its requests then carry that name."""

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
    """Names of this server: loopback names, the address it is bound to, and those of the setting. A server that other machines can
    reach also answers under any IP address, since an address cannot be rebound."""

    def __init__(self, bound_to: str = "127.0.0.1", allowed: Iterable[str] = ()) -> None:
        self._names = {_plain(bound_to), *map(_plain, allowed)}
        self._is_local = _is_loopback(_plain(bound_to))
        self._any = ANY in self._names
        self.trusts_keys = not self._is_local and len(self._names) == 1
        """Whether a request with a key is answered under any name: nobody named the hosts, and no rebound page has a key."""
        self._remembered: dict[bytes, bool] = {}

    def allows(self, host: bytes) -> bool:
        """Of the header as it came, with or without a port."""
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
    """`localhost`, a name below it, or an address that only this machine has."""
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
    """Without brackets, case, or the dot that ends a full name."""
    return name.strip().removeprefix("[").removesuffix("]").lower().removesuffix(".")


def _without_port(host: str) -> str | None:
    """The name alone, or none for what is no host."""
    if host.startswith("["):
        name, closed, port = host[1:].partition("]")
        port = port.removeprefix(":") if not port or port.startswith(":") else "x"
        usable = bool(closed) and _is_address(name)
    else:
        name, _, port = host.partition(":")
        usable = bool(name)
    return name.lower().removesuffix(".") if usable and (not port or port.isdecimal()) else None
