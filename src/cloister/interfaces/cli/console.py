"""`cloister console`: a link that opens the console of a running server."""

from dataclasses import dataclass
from pathlib import Path

from cloister.domain.errors import InvalidRequest
from cloister.interfaces.cli.options import Data, Json, Key
from cloister.interfaces.cli.terminal import answer
from cloister.settings import Remote, Settings, read_remote, read_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class _Link:
    path: str


def console(data: Data = None, key: Key = None, json: Json = False) -> None:
    """Make a link that signs a browser in to the console, once.

    With the address of a server, for the key that is given; with a data directory, for its local key and the server on it.
    """
    # Here, because it brings an HTTP client, which takes its time and which no command on a directory needs.
    from cloister.interfaces.python.connection import Connection

    remote = read_remote(data, key) or _local(read_settings(data))
    connection = Connection(remote)
    try:
        path = connection.ask("/console/links", {}).one(_Link).path
    finally:
        connection.close()
    link = f"{remote.address}{path}"
    answer({"link": link}, json, f"Open this in a browser; it works once, within a quarter of an hour:\n\n  {link}\n")


def _local(settings: Settings) -> Remote:
    """The server that `cloister serve` starts here, with the key that its first start kept."""
    from cloister.interfaces.http.serve import LOCAL_KEY_FILE

    address = f"http://{f'[{settings.host}]' if ':' in settings.host else settings.host}:{settings.port}"
    kept = Path(settings.data).expanduser() / LOCAL_KEY_FILE
    if settings.postgres or not kept.is_file():
        raise InvalidRequest(
            "data", f"has no {LOCAL_KEY_FILE}: give the address of the server as --data, and a key to it as --key."
        )
    return Remote(address=address, key=kept.read_text().strip())
