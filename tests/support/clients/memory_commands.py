"""Random commands of Anthropic's memory tool, and what its tool for local directories and ours answer to them."""

import re
from collections.abc import Mapping
from typing import Any

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool
from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "a.txt", "ä", ".hidden", "B", "c d", "..", ".", "", "memories"])
PATHS = st.one_of(
    st.lists(NAMES, max_size=3).map(lambda names: "/".join(("/memories", *names))),
    st.sampled_from(["/memories", "/memories/", "/memoriesx", "/memory", "", "a.txt", "/memories/../memories/a", "/"]),
)
TEXTS = st.one_of(
    st.sampled_from(
        ["", "\n", "aa", "aaa", "one\ntwo\nthree", "one\r\ntwo\r\n", "a\n\na\n", "ä\u2028b\x0bc\n", "x" * 1_500]
    ),
    st.text(st.sampled_from("a\nb\r\tä "), max_size=12),
)
SHORT = st.one_of(
    st.sampled_from(["", "a", "aa", "\n", "one", "two\n", "ä", "\r"]), st.text(st.sampled_from("a\nb"), max_size=3)
)
NUMBERS = st.integers(-3, 6)
COMMANDS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("view"), "path": PATHS}),
    st.fixed_dictionaries(
        {"command": st.just("view"), "path": PATHS, "view_range": st.lists(NUMBERS, min_size=2, max_size=2)}
    ),
    st.fixed_dictionaries({"command": st.just("str_replace"), "path": PATHS, "old_str": SHORT, "new_str": TEXTS}),
    st.fixed_dictionaries({"command": st.just("insert"), "path": PATHS, "insert_line": NUMBERS, "insert_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
)
FAILED = "failed in the file system"
# The sizes of directories are the file system's.
_DIRECTORY = re.compile(r"^[0-9.]+[BKMG]\t(?=.*/$)", re.MULTILINE)
_FIRST = re.compile(r"(excluding hidden items:\n)[0-9.]+[BKMG]\t")


def answer(tool: BetaAbstractMemoryTool, command: Mapping[str, Any]) -> tuple[str, bool]:
    """What a tool answers, and whether it is an error. Some errors of a file system reach the caller of the local tool as they are:
    ours are errors of the tool then, in words of their own."""
    try:
        return _FIRST.sub(r"\1", _DIRECTORY.sub("", str(tool.call(dict(command))))), False
    except ToolError as error:
        return str(error), True
    except OSError:
        return FAILED, True


def same(theirs: tuple[str, bool], ours: tuple[str, bool]) -> bool:
    return theirs == ours or (theirs[0] == FAILED and ours[1])
