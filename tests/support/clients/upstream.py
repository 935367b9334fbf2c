"""The tests of other projects, run unmodified on ours: fetched as source distributions from the package index, never kept here. A
pytest plugin puts our class where their tests import theirs."""

import asyncio
import inspect
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest


def fetched(package: str, folder: Path) -> Path:
    """The sources of a package, such as `name==1.2.3`, in this folder. Without the package index the test is skipped, but not in
    CI."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", package]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(f"{package} cannot be fetched: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def outcomes(
    sources: Path, plugin: str, files: Sequence[str], *options: str, settings: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Whether each of their tests passed, by its name. Their own configuration is not read, since it asks for plugins of theirs."""
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", ".", "-q", "-rA", "--tb=no"),
            *("-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "-p", f"support.clients.{plugin}"),
            *options,
            *files,
        ],
        cwd=sources,
        env={**os.environ, **(settings or {}), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [line.split(" ") for line in run.stdout.splitlines() if line.startswith(("PASSED ", "FAILED ", "ERROR "))]
    assert lines, run.stdout[-2_000:] + run.stderr[-2_000:]
    return {name: how for how, name, *_ in lines}


def failed(found: Mapping[str, str]) -> set[str]:
    return {name for name, how in found.items() if how != "PASSED"}


def run_coroutine_test(item: pytest.Function, loop: asyncio.AbstractEventLoop) -> bool | None:
    """For a plugin's `pytest_pyfunc_call`: run an asynchronous test, which would need another plugin of theirs."""
    if not inspect.iscoroutinefunction(item.obj):
        return None
    names = inspect.signature(item.obj).parameters
    given: dict[str, Any] = {name: item.funcargs[name] for name in names}
    loop.run_until_complete(item.obj(**given))
    return True
