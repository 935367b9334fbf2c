"""Migrations: numbered SQL files, each applied once, in order, in one transaction with its record."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cloister.domain.errors import StorageTooNew

_COMMENT = re.compile(r"--[^\n]*")
_QUOTE = re.compile(r"\$[a-z]*\$")
_CREATE = re.compile(r"^(CREATE TABLE .*?^\));", re.MULTILINE | re.DOTALL)

RECORD_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migration (
    version BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL
)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """One numbered migration; `text` is in the dialect of the engine."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def migrations(*, postgres: bool) -> tuple[Migration, ...]:
    """All migrations, oldest first. PostgreSQL's add the text of the `.postgres.sql` file: roles and row-level security."""
    folder = files("cloister.storage").joinpath("sql", "migrations")
    texts = {entry.name: entry.read_text("utf-8") for entry in folder.iterdir()}
    steps: list[Migration] = []
    for file_name in sorted(name for name in texts if name.count(".") == 1):
        stem = file_name.removesuffix(".sql")
        text = texts[file_name] + texts.get(f"{stem}.postgres.sql", "") if postgres else _for_sqlite(texts[file_name])
        number, _, name = stem.partition("_")
        steps.append(Migration(version=int(number), name=name, text=text))
    return tuple(steps)


def statements(text: str) -> list[str]:
    """The statements of a PostgreSQL migration. They end with a semicolon at the end of a line, outside of a quoted body."""
    found = [""]
    for line in text.splitlines(keepends=True):
        found[-1] += line
        if _COMMENT.sub("", line).rstrip().endswith(";") and len(_QUOTE.findall(found[-1])) % 2 == 0:
            found.append("")
    return [statement for statement in found if _COMMENT.sub("", statement).strip()]


def pending(applied: dict[int, str], known: Sequence[Migration]) -> list[Migration]:
    """The migrations still to run. A database with an unknown or different one belongs to another version of Cloister."""
    newest = known[-1].version
    beyond = max(applied, default=0)
    if beyond > newest:
        raise StorageTooNew(
            f"The database is at schema version {beyond}, and this Cloister knows up to {newest}. "
            "Upgrade Cloister, or open another data directory; nothing was changed."
        )
    for step in known:
        if applied.get(step.version, step.checksum) != step.checksum:
            raise StorageTooNew(
                f"Migration {step.version} ({step.name}) was applied to this database in another form. "
                "It belongs to another version of Cloister; nothing was changed."
            )
    return [step for step in known if step.version not in applied]


def _for_sqlite(text: str) -> str:
    """A migration in SQLite's dialect: INTEGER PRIMARY KEY is the rowid, and STRICT refuses wrong types as PostgreSQL does."""
    plain = re.sub(r"\bBIGINT\b", "INTEGER", text)
    plain = re.sub(r"\bBYTEA\b", "BLOB", plain)
    return _CREATE.sub(r"\1 STRICT;", plain)
