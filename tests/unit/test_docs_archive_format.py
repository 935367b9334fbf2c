"""The format of an archive as it is documented is the one that is written (ORG-11)."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from cloister.domain.archive import records, stored_records
from cloister.domain.archive.lines import VERSION
from cloister.domain.archive.records import Record, StateRecord

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "archives.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `(\w+)` \| [^\n]*? \| ([^\n]*) \|$", PAGE.split("## The format")[1], re.MULTILINE))
RECORDS = {
    record.kind: record
    for module in (records, stored_records)
    for record in vars(module).values()
    if isinstance(record, type) and issubclass(record, Record) and record not in (Record, StateRecord)
}


def documented(cells: str) -> list[str]:
    """The names outside parentheses."""
    return re.findall(r"`(\w+)`", re.sub(r"\([^()]*\)", "", cells))


def test_every_kind_of_line_is_documented() -> None:
    assert set(ROWS) == {"header", "end", *RECORDS}
    assert f"`version` ({VERSION})" in ROWS["header"] and f"This is version {VERSION}." in PAGE


@pytest.mark.parametrize("kind", sorted(RECORDS))
def test_the_fields_of_a_kind_are_documented_in_their_order(kind: str) -> None:
    assert documented(ROWS[kind]) == [field.name for field in fields(RECORDS[kind])]


def test_the_fields_before_a_revision_are_documented() -> None:
    (before,) = re.findall(r"`before` \(([^)]*)\)", ROWS["revision"])
    assert re.findall(r"`(\w+)`", before) == [field.name for field in fields(StateRecord)]
