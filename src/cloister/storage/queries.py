"""The named queries of `sql/queries`: one text for both engines, replaced by name where a `.postgres.sql` file says so."""

import re
from collections.abc import Mapping
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):(\w+)")
MAINTENANCE_FILE = "maintenance.sql"


def load_queries(*, postgres: bool) -> Mapping[str, str]:
    """Every query by its name, in the engine's own parameter style."""
    texts = dict(read_queries(".sql"))
    if not postgres:
        return texts
    texts.update(read_queries(".postgres.sql"))
    return {name: _pyformat(text) for name, text in texts.items()}


def split_queries(queries: Mapping[str, str]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What a tenant's transaction may run, and what only maintenance may: neither knows the other's."""
    names = set(_NAME.findall(query_files(".sql")[MAINTENANCE_FILE]))
    return (
        {name: text for name, text in queries.items() if name not in names},
        {name: text for name, text in queries.items() if name in names},
    )


def read_queries(ending: str) -> list[tuple[str, str]]:
    """The queries of all files with this ending, as written."""
    named: list[tuple[str, str]] = []
    for name, text in sorted(query_files(ending).items()):
        _, *parts = _NAME.split(text)
        if not parts:
            raise ValueError(f"{name} holds no named query")
        named += zip(parts[0::2], (_bare(part) for part in parts[1::2]), strict=True)
    return named


def query_files(ending: str) -> dict[str, str]:
    folder = files("cloister.storage").joinpath("sql", "queries")
    found = {entry.name: entry.read_text("utf-8") for entry in folder.iterdir()}
    return {name: text for name, text in found.items() if name.partition(".")[2] == ending[1:]}


def positional(text: str) -> tuple[str, tuple[str, ...]]:
    """A query with numbers for its parameters, which bind faster than names, and the names in the order of the numbers."""
    names = tuple(dict.fromkeys(_PARAMETER.findall(text)))
    numbers = {name: str(number) for number, name in enumerate(names, 1)}
    return _PARAMETER.sub(lambda found: f"?{numbers[found[1]]}", text), names


def _bare(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    return "\n".join(lines).strip()


def _pyformat(text: str) -> str:
    return _PARAMETER.sub(r"%(\1)s", text.replace("%", "%%"))
