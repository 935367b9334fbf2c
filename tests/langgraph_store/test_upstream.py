"""The tests of LangGraph's own SQLite stores, unmodified, with `CloisterStore` in their place (DOOR-4). They are fetched, never
kept here; what fails is named with its reason, and a reason that no longer holds fails too."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

PACKAGE = "langgraph-checkpoint-sqlite==3.1.2"
FILES = ("tests/test_store.py", "tests/test_async_store.py", "tests/test_ttl.py")
INTERNALS = "looks into the SQLite store: its connection, its migrations or its patterns"
INJECTION = "wants a filter key with quotes refused; ours never becomes SQL, and is a key like any other"
ANY_THREAD = "wants synchronous methods refused where an event loop runs; ours may be called there"
REFRESH = "wants reading not to prolong life by default; LangGraph documents that it does, and our store does"
NO_INFINITY = "filters by infinity, which JSON cannot say"
FAILURES: Mapping[str, str] = {
    "tests/test_store.py::test_vector_store_initialization": INTERNALS,
    "tests/test_store.py::test_nonnull_migrations": INTERNALS,
    "tests/test_store.py::test_escape_glob_literal": INTERNALS,
    "tests/test_store.py::test_namespace_match_pattern": INTERNALS,
    "tests/test_store.py::test_list_namespaces_prefix_uses_indexable_condition": INTERNALS,
    "tests/test_store.py::test_sql_injection_vulnerability[memory]": INJECTION,
    "tests/test_store.py::test_sql_injection_vulnerability[file]": INJECTION,
    "tests/test_async_store.py::test_no_running_loop[memory]": ANY_THREAD,
    "tests/test_async_store.py::test_no_running_loop[file]": ANY_THREAD,
    "tests/test_ttl.py::test_ttl_override_default": REFRESH,
}
REMOTE_FAILURES: Mapping[str, str] = {
    **FAILURES,
    "tests/test_store.py::test_numeric_filter_safety[memory]": NO_INFINITY,
    "tests/test_store.py::test_numeric_filter_safety[file]": NO_INFINITY,
}
CASES = 153
# Two times 6,000 requests, which say nothing that 6,000 calls do not.
LARGE = ("--deselect", "tests/test_async_store.py::test_large_batches_async")


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("upstream")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", PACKAGE]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(f"{PACKAGE} cannot be fetched: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def outcome(upstream: Path, store: str, *options: str) -> dict[str, str]:
    """Whether each of their tests passed, by its name."""
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", ".", "-q", "-rA", "--tb=no"),
            *("-p", "no:cacheprovider", "-p", "no:langsmith_plugin", "-p", "support.clients.langgraph_upstream"),
            *options,
            *FILES,
        ],
        cwd=upstream,
        env={**os.environ, "UPSTREAM_STORE": store, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [line.split(" ") for line in run.stdout.splitlines() if line.startswith(("PASSED ", "FAILED ", "ERROR "))]
    assert lines, run.stdout[-2_000:] + run.stderr[-2_000:]
    return {name: how for how, name, *_ in lines}


def test_the_upstream_tests_pass_on_a_directory_but_for_those_that_are_named(upstream: Path) -> None:
    """Every one of the 36 cases and more in which a namespace would escape passes."""
    found = outcome(upstream, "embedded")
    assert len(found) == CASES
    assert {name for name, how in found.items() if how != "PASSED"} == set(FAILURES)
    escapes = [how for name, how in found.items() if "rejects_invalid_namespace_labels" in name]
    assert len(escapes) >= 36
    assert set(escapes) == {"PASSED"}


def test_the_upstream_tests_pass_at_a_server_but_for_those_that_are_named(upstream: Path) -> None:
    found = outcome(upstream, "remote", *LARGE)
    assert {name for name, how in found.items() if how != "PASSED"} == set(REMOTE_FAILURES)
