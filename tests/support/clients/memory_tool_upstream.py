"""A pytest plugin that puts our memory tool where the tests of Anthropic's SDK import the one for local directories: their files
run unmodified, on ours, if their `conftest.py` is not read.

The tests look into the directory themselves. So each command is preceded by the creation of the files that a test has put there,
and followed by a copy of our tree to it.
"""

import asyncio
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest

from cloister import Cloister
from cloister.integrations.anthropic import AsyncCloisterMemoryTool, CloisterMemoryTool
from support.clients.upstream import run_coroutine_test

_LOOP = asyncio.new_event_loop()


class _Mirror:
    """Our tree and a directory, kept equal."""

    def __init__(self, base_path: str) -> None:
        self.root = Path(base_path) / "memories"
        self.root.mkdir(parents=True, exist_ok=True)
        self.cloister = Cloister(tempfile.mkdtemp())
        self.cloister.create_session("upstream")

    def read(self) -> None:
        for path in self.root.rglob("*"):
            if path.is_file():
                text = path.read_bytes().decode()
                self._run({"command": "create", "path": self._name(path), "file_text": text})

    def write(self) -> None:
        """Every file as it is shown, without the numbers of its lines."""
        shutil.rmtree(self.root)
        self.root.mkdir()
        self._copy("/memories")

    def _copy(self, directory: str) -> None:
        for line in self._run({"command": "view", "path": directory}).split("\n")[2:]:
            path = line.partition("\t")[2]
            target = self.root / path.removeprefix("/memories/")
            if path.endswith("/"):
                target.mkdir(exist_ok=True)
                if path.removeprefix(directory).count("/") == 3:
                    self._copy(path.rstrip("/"))
            elif not target.exists():
                shown = self._run({"command": "view", "path": path}).split("\n")[1:]
                target.write_bytes("\n".join(each[7:] for each in shown).encode())

    def _run(self, command: dict[str, Any]) -> str:
        return self.cloister.memory_tool("upstream", command).text

    def _name(self, path: Path) -> str:
        return f"/memories/{path.relative_to(self.root)}"


class SwappedTool(CloisterMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        self._mirror = _Mirror(base_path)
        self.base_path = Path(base_path)
        self.memory_root = self._mirror.root
        super().__init__("upstream", self._mirror.cloister)

    def _run(self, command: Any) -> str:
        self._mirror.read()
        try:
            return super()._run(command)
        finally:
            self._mirror.write()


class AsyncSwappedTool(AsyncCloisterMemoryTool):
    def __init__(self, base_path: str = "./memory") -> None:
        self._mirror = _Mirror(base_path)
        super().__init__("upstream", self._mirror.cloister)
        self._tool = SwappedTool(base_path)
        self.base_path = anyio.Path(base_path)
        self.memory_root = anyio.Path(self._tool.memory_root)


_module: Any = import_module("anthropic.lib.tools._beta_builtin_memory_tool")
_module.BetaLocalFilesystemMemoryTool = SwappedTool
_module.BetaAsyncLocalFilesystemMemoryTool = AsyncSwappedTool


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    return run_coroutine_test(pyfuncitem, _LOOP)
