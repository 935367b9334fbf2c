"""The named queries of `sql/queries`. One text serves both engines, with PostgreSQL's row locks; a `.postgres.sql` file replaces a
query by name where PostgreSQL needs another text."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

_SECTION = re.compile(r"^-- (name|columns): (\w+)$", re.MULTILINE)
_COLUMNS = re.compile(r"\{(\w+)\}")
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")
_ROW_LOCK = re.compile(r"\s+FOR (?:KEY SHARE|(?:NO KEY )?UPDATE)(?: SKIP LOCKED)?\b")
_TEXT_BYTES = re.compile(r"\bconvert_to\(([\w.]+), 'UTF8'\)")
_ID_LIST = re.compile(r"\bIN \((SELECT value FROM json_each\(CAST\(:\w+ AS TEXT\)\))\)")
MAINTENANCE_FILE = "maintenance.sql"


@cache
def load_queries(*, postgres: bool) -> Mapping[str, str]:
    """Every query by its name, in the engine's dialect and parameter style."""
    texts = dialect_queries(postgres=postgres)
    return {name: _pyformat(text) for name, text in texts.items()} if postgres else texts


def dialect_queries(*, postgres: bool) -> dict[str, str]:
    """Every query by its name, in the engine's dialect, with `:name` parameters.

    SQLite has no row locks, and needs none: its write transactions run one at a time. PostgreSQL gets lists of ids as arrays: its
    planner estimates the length of a list badly, and would scan whole tables. The bytes of a text are `convert_to` on PostgreSQL,
    and a cast on SQLite.
    """
    texts = _by_name(read_queries(".sql"))
    if not postgres:
        return {name: _TEXT_BYTES.sub(r"CAST(\1 AS BLOB)", _ROW_LOCK.sub("", text)) for name, text in texts.items()}
    texts.update(_by_name(read_queries(".postgres.sql")))
    return {name: _ID_LIST.sub(r"= ANY (ARRAY(\1))", text) for name, text in texts.items()}


def _by_name(queries: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Refuses two queries of one name, of which one would silently replace the other."""
    found: dict[str, str] = {}
    for name, text in queries:
        if name in found:
            raise ValueError(f"two queries are called {name}")
        found[name] = text
    return found


def split_queries(queries: Mapping[str, str]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The queries that a tenant's transaction may run, and those that only maintenance may run."""
    names = _maintenance_names()
    return (
        {name: text for name, text in queries.items() if name not in names},
        {name: text for name, text in queries.items() if name in names},
    )


@cache
def _maintenance_names() -> frozenset[str]:
    return frozenset(name for kind, name, _ in _sections(query_files(".sql")[MAINTENANCE_FILE]) if kind == "name")


def read_queries(ending: str) -> list[tuple[str, str]]:
    """The queries of all files with this ending, in file order, with `{name}` replaced by the `columns` section of that name."""
    columns = {
        name: text for file in query_files(".sql").values() for kind, name, text in _sections(file) if kind == "columns"
    }
    return [
        (name, _COLUMNS.sub(lambda found: columns[found[1]], text))
        for _, file in sorted(query_files(ending).items())
        for kind, name, text in _sections(file)
        if kind == "name"
    ]


def query_files(ending: str) -> dict[str, str]:
    folder = files("cloister.storage").joinpath("sql", "queries")
    found = {entry.name: entry.read_text("utf-8") for entry in folder.iterdir()}
    return {name: text for name, text in found.items() if name.partition(".")[2] == ending[1:]}


@cache
def positional(text: str) -> tuple[str, tuple[str, ...]]:
    """A query with numbered parameters, which SQLite binds faster than named ones, and their names in the order of the numbers."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    numbers = {name: str(number) for number, name in enumerate(names, 1)}
    return _PARAMETER.sub(lambda found: f"?{numbers[found[1]]}", text), names


def _sections(file: str) -> list[tuple[str, str, str]]:
    """The sections of a file: `name` or `columns`, the section's name, and its text without comments."""
    _, *parts = _SECTION.split(file)
    return [(kind, name, _bare(text)) for kind, name, text in zip(parts[0::3], parts[1::3], parts[2::3], strict=True)]


def _bare(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return "\n".join(lines).strip()


def _pyformat(text: str) -> str:
    return _PARAMETER.sub(r"%(\1)s", text.replace("%", "%%"))
