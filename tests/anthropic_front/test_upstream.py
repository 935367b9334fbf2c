"""The tests of Anthropic's SDK for its memory tool, unmodified, with ours instead of the tool for local directories (DOOR-3).
They are fetched, never kept here; what fails is named with its reason, and a reason that no longer holds fails too."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from support.clients.upstream import failed, fetched, outcomes

PACKAGE = "anthropic==2.9.0"
FILE = "tests/lib/tools/memory_tools/test_filesystem.py"
LINKS = "puts symbolic links among the files; our files are rows, and have none"
MODES = "looks at the modes of directories; our directories are parts of names"
LARGE = "has a file of a million lines; a file of ours has at most 262,144 characters, which the error says"
PRIVATE = "calls a private method that resolves paths of the file system"
COMMANDS = ("view", "str_replace", "insert")
_BOTH: Mapping[str, str] = {
    "mkdir_parents_not_world_writable_under_permissive_umask": MODES,
    "view_error_for_files_with_too_many_lines": LARGE,
    **{f"read_rejects_symlink_created_after_validation[{command}]": LINKS for command in COMMANDS},
    **{f"read_rejects_file_replaced_with_symlink_before_open[{command}]": LINKS for command in COMMANDS},
    "view_rejects_directory_symlink_created_after_validation": LINKS,
    "symlink_validation_reject_symlink_pointing_outside_memories": LINKS,
    "view_lists_symlinks_only_when_they_stay_inside_memories": LINKS,
    "symlink_validation_reject_creating_files_through_symlink_pointing_outside": LINKS,
    "symlink_validation_reject_parent_directory_that_is_symlink_pointing_outside": LINKS,
}
_SYNC, _ASYNC = (
    f"{FILE}::Test{kind}::test_" for kind in ("BetaLocalFilesystemMemoryTool", "BetaAsyncLocalFilesystemMemoryTool")
)
FAILURES: Mapping[str, str] = {
    **{f"{kind}{name}": reason for kind in (_SYNC, _ASYNC) for name, reason in _BOTH.items()},
    f"{_ASYNC}validate_path_returns_resolved_path_not_symlink_target": PRIVATE,
}
CASES = 99


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fetched(PACKAGE, tmp_path_factory.mktemp("upstream"))


def test_door_3_the_upstream_tests_of_the_memory_tool_pass_but_for_those_that_are_named(upstream: Path) -> None:
    """DOOR-3: the synchronous tool and the asynchronous one. Their `conftest.py` asks for packages that these tests do not use."""
    found = outcomes(upstream, "memory_tool_upstream", [FILE], "--noconftest")
    assert failed(found) == set(FAILURES)
    assert len(found) == CASES
