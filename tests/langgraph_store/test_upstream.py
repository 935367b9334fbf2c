"""The tests of LangGraph's own SQLite stores, unmodified, with `CloisterStore` in their place (DOOR-4). They are fetched, never
kept here; what fails is named with its reason, and a reason that no longer holds fails too."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.clients.upstream import failed, fetched, outcomes

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
    return fetched(PACKAGE, tmp_path_factory.mktemp("upstream"))


def outcome(upstream: Path, store: str, *options: str) -> dict[str, str]:
    return outcomes(upstream, "langgraph_upstream", FILES, *options, settings={"UPSTREAM_STORE": store})


def test_the_upstream_tests_pass_on_a_directory_but_for_those_that_are_named(upstream: Path) -> None:
    """Every one of the 36 cases and more in which a namespace would escape passes."""
    found = outcome(upstream, "embedded")
    assert len(found) == CASES
    assert failed(found) == set(FAILURES)
    escapes = [how for name, how in found.items() if "rejects_invalid_namespace_labels" in name]
    assert len(escapes) >= 36
    assert set(escapes) == {"PASSED"}


def test_the_upstream_tests_pass_at_a_server_but_for_those_that_are_named(upstream: Path) -> None:
    found = outcome(upstream, "remote", *LARGE)
    assert failed(found) == set(REMOTE_FAILURES)
