"""`cloister console`: a link that opens the console of a running server."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cloister.domain.errors import InvalidRequest, ServerError, Unauthenticated
from cloister.interfaces.cli.options import Data, Json, Key
from cloister.interfaces.cli.terminal import answer
from cloister.interfaces.server_file import server_file
from cloister.settings import Remote, Settings, read_remote, read_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class _Link:
    path: str


def console(data: Data = None, key: Key = None, json: Json = False) -> None:
    """Print a link that signs a browser in to the console, once.

    With the address of a server, for the given key; with a data directory, for the key in its local.key and the server that serves
    it on this machine, whatever its port.
    """
    remote = read_remote(data, key)
    if remote is not None:
        link = _link(remote)
    else:
        settings = read_settings(data)
        with _advice(settings):
            link = _link(_local(settings))
    answer({"link": link}, json, f"Open this in a browser; it works once, within a quarter of an hour:\n\n  {link}\n")


def _link(remote: Remote) -> str:
    # Imported here, because the HTTP client takes long to load and commands on a directory do not need it.
    from cloister.interfaces.python.connection import Connection

    with closing(Connection(remote)) as connection:
        return f"{remote.address}{connection.ask('/console/links', {}).one(_Link).path}"


@contextmanager
def _advice(settings: Settings) -> Generator[None]:
    """Say what to do if no server of a data directory is found, or it refuses the local key."""
    try:
        yield
    except ServerError as error:
        error.add_note(
            "Start it with `cloister serve`. If it runs on another machine, give --data http://HOST:PORT and --key."
        )
        raise
    except Unauthenticated as error:
        error.__notes__ = [
            f"The key in {_key_file(settings)} was revoked, or another Cloister listens there. Create a key with "
            "`cloister keys create NAME --may admin`, and give it as --key, with the server's address as --data."
        ]
        raise


def _local(settings: Settings) -> Remote:
    """The server that `cloister serve` starts on this machine, with the key that its first start stored."""
    file = _key_file(settings)
    if settings.postgres or not file.is_file():
        raise InvalidRequest(
            "data", f"has no {file.name}: give the address of the server as --data, and a key to it as --key."
        )
    running = server_file(settings)
    configured = f"http://{f'[{settings.host}]' if ':' in settings.host else settings.host}:{settings.port}"
    address = running.address() if running is not None else None
    return Remote(address=address or configured, key=file.read_text().strip())


def _key_file(settings: Settings) -> Path:
    from cloister.interfaces.http.serve import LOCAL_KEY_FILE

    return Path(settings.data).expanduser() / LOCAL_KEY_FILE
