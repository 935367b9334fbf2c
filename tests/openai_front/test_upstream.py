"""The tests of the Agents SDK for its own SQLite session, unmodified, with `CloisterSession` in its place (DOOR-2). They are
fetched, never kept here; what fails is named with its reason, and a reason that no longer holds fails too."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.clients.upstream import failed, fetched, outcomes

PACKAGE = "openai-agents==0.24.0"
FILES = tuple(
    f"tests/memory/{name}.py" for name in ("test_session", "test_session_limit", "test_session_context_wrapper")
)
CONNECTIONS = "looks at the SQLite connections and locks of the session"
TABLES = "changes the SQLite tables of the session, to damage or to lock them"
_SQLITE: Mapping[str, str] = {
    "close_closes_worker_thread_connections": CONNECTIONS,
    "reaps_connections_from_exited_worker_threads": CONNECTIONS,
    "closes_retired_connections_before_the_next_allocation": CONNECTIONS,
    "keeps_connections_of_live_worker_threads": CONNECTIONS,
    "file_lock_is_shared_across_instances": CONNECTIONS,
    "rollback_failure_evicts_connection": CONNECTIONS,
    "close_retries_quarantined_connection": CONNECTIONS,
    "post_commit_cancellation_propagates_after_known_outcome[add]": CONNECTIONS,
    "post_commit_cancellation_propagates_after_known_outcome[pop]": CONNECTIONS,
    "post_commit_cancellation_propagates_after_known_outcome[clear]": CONNECTIONS,
    "pop_item_skips_corrupt_most_recent": TABLES,
    "pop_item_returns_none_after_dropping_only_corrupt_rows": TABLES,
    "get_items_limit_skips_corrupt_newest_rows": TABLES,
    "get_items_session_settings_limit_skips_corrupt_rows": TABLES,
    "failed_add_items_releases_write_lock": TABLES,
    "failed_clear_session_rolls_back": TABLES,
    "failed_pop_item_releases_write_lock": TABLES,
}
FAILURES = {f"tests/memory/test_session.py::test_sqlite_session_{name}": reason for name, reason in _SQLITE.items()}
CASES = 86


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fetched(PACKAGE, tmp_path_factory.mktemp("upstream"))


@pytest.mark.parametrize("way", ["embedded", "remote"])
def test_door_2_the_upstream_tests_of_sessions_pass_but_for_those_that_are_named(upstream: Path, way: str) -> None:
    """DOOR-2: also with `run`, `run_sync` and `run_streamed` of the unmodified runner, and with limits in settings."""
    settings = {"UPSTREAM_SESSION": way, "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    found = outcomes(upstream, "agents_upstream", FILES, settings=settings)
    assert failed(found) == set(FAILURES)
    assert len(found) == CASES
