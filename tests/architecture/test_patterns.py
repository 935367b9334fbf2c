"""Patterns that meet outside text are made in one module, so that the growth test goes through all of them (ISO-13)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import cloister

SOURCE = Path(cloister.__file__).parent
MAKER = "domain/patterns.py"
NEVER_SEES_OUTSIDE_TEXT = {
    "storage/queries.py": "cuts our own .sql files into queries when the process starts",
    "storage/migrate.py": "rewrites our own migrations for SQLite",
}
ENGINES = {"re", "regex", "re2", "sre_compile", "sre_parse", "fnmatch"}
MADE_BY = {"linear", "anchored"}
# They make patterns of tables, for constants of other modules.
MAKES_FOR_OTHERS = {"models/rules/tables/notation.py"}


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text("utf-8"))


def imports(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_iso_13_only_one_module_makes_patterns_for_outside_text() -> None:
    users = {path for path, tree in trees() if imports(tree) & ENGINES}
    assert users == {MAKER, *NEVER_SEES_OUTSIDE_TEXT}, "make the pattern with cloister.domain.patterns.linear"


def test_iso_13_patterns_are_made_when_a_module_is_loaded() -> None:
    """One that is made inside a function, of whatever a caller gives, would be met by no test."""
    late: list[str] = []
    for path, tree in trees():
        if path in (MAKER, *MAKES_FOR_OTHERS):
            continue
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                late += [
                    f"{path}:{call.lineno}"
                    for call in ast.walk(function)
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MADE_BY
                ]
    assert late == []


def test_patterns_of_tables_are_made_when_a_module_is_loaded_too() -> None:
    late: list[str] = []
    for path, tree in trees():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                late += [
                    f"{path}:{call.lineno}"
                    for call in ast.walk(function)
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("anywhere", "opening")
                ]  # fmt: skip
    assert late == []
