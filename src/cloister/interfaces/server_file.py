"""The address of the server that serves a data directory, in a file of that directory: `cloister console` finds it there."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from cloister.settings import Settings

_NAME = "server.json"
_LONGEST = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerFile:
    """The file of a data directory. A database of PostgreSQL has no directory, and no file."""

    path: Path

    def write(self, address: str) -> None:
        """Name this process and its address; a directory that cannot be written to has no file."""
        text = json.dumps({"pid": os.getpid(), "address": address})
        with suppress(OSError):
            new = self.path.with_name(f"{_NAME}.{os.getpid()}")
            new.write_text(text)
            new.replace(self.path)

    def remove(self) -> None:
        """Remove the file, unless it names another process."""
        pid, _ = self._read()
        if pid == os.getpid():
            with suppress(OSError):
                self.path.unlink()

    def address(self) -> str | None:
        """The address of the process that the file names, or none if that process has ended."""
        pid, address = self._read()
        return address if pid is not None and _is_alive(pid) else None

    def _read(self) -> tuple[int | None, str | None]:
        try:
            text = self.path.read_text()[:_LONGEST]
            found: Any = json.loads(text)
        except (OSError, ValueError):
            return None, None
        fields = cast(dict[str, Any], found) if isinstance(found, dict) else {}
        pid, address = fields.get("pid"), fields.get("address")
        if not isinstance(pid, int) or pid <= 0 or not isinstance(address, str) or not address.startswith("http://"):
            return None, None
        return pid, address


def server_file(settings: Settings) -> ServerFile | None:
    return None if settings.postgres else ServerFile(path=Path(settings.data).expanduser() / _NAME)


def _is_alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # there is no signal that only asks
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
