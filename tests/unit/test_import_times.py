"""Times of imported conversations (ORG-12): read where there is no doubt, else skipped and counted, and never taken for now."""

import json
from pathlib import Path
from typing import Any

import pytest

from cloister.domain.timestamps import iso
from cloister.interfaces.formats.conversation import UNDATED, UNREADABLE
from cloister.interfaces.formats.export_file import ExportFile

NOON = "2019-05-01T12:00:00Z"


def log(tmp_path: Path, *values: dict[str, Any]) -> ExportFile:
    path = tmp_path / f"chat{len(list(tmp_path.iterdir()))}.jsonl"
    path.write_text("\n".join(map(json.dumps, values)), "utf-8")
    return ExportFile(path)


def times(file: ExportFile) -> list[str]:
    return [iso(each.created_at) for found in file.conversations() for each in found.spoken]


@pytest.mark.parametrize(
    "given",
    [
        "2019-05-01T12:00:00Z",
        "2019-05-01T14:00:00+02:00",
        "2019-05-01 12:00:00 UTC",
        "2019-05-01 12:00:00 +0000",
        " 2019-05-01T12:00 ",
        1556712000,
        1556712000.0,
        "1556712000",
        "1556712000000",
        1556712000000,
        1556712000000000,
        "1556712000000000000",
        "Wed, 01 May 2019 12:00:00 +0000",
        "Wed, 1 May 2019 05:00:00 -0700",
        "1 May 2019 12:00 GMT",
        "01 May 2019 08:00:00 EDT",
    ],
)
def test_org_12_a_time_without_doubt_is_read(tmp_path: Path, given: object) -> None:
    """ORG-12: ISO 8601, seconds to nanoseconds since 1970, also as text, and RFC 2822."""
    file = log(tmp_path, {"role": "user", "content": "Hi", "created_at": given})
    assert times(file) == [NOON] and not file.skipped and not file.remarks


@pytest.mark.parametrize("given", ["2019-05-01", "20190501", "1 May 2019", "1 may 2019"])
def test_org_12_a_date_is_its_first_moment(tmp_path: Path, given: str) -> None:
    """ORG-12."""
    assert times(log(tmp_path, {"role": "user", "content": "Hi", "date": given})) == ["2019-05-01T00:00:00Z"]


@pytest.mark.parametrize(
    "name", ["createdAt", "CreatedAt", "created-at", "timeStamp", "create_time", "sent_at", "dateTime"]
)
def test_org_12_the_field_of_the_time_is_found_in_its_usual_spellings(tmp_path: Path, name: str) -> None:
    """ORG-12."""
    assert times(log(tmp_path, {"role": "user", "content": "Hi", name: NOON})) == [NOON]


@pytest.mark.parametrize(
    "given",
    [
        "05/01/2019",
        "yesterday",
        "2019-13-01",
        "31 June 2019",
        "1 Mai 2019",
        "12:30",
        "1 May 2019 12:00 XYZ",
        1e30,
        "9" * 19 + "9",
        float("nan"),
        True,
        [],
        {"$date": NOON},
    ],
)
def test_org_12_a_time_that_cannot_be_read_is_skipped_and_counted(tmp_path: Path, given: object) -> None:
    """ORG-12: in lines and in whole conversations, whose other messages are read."""
    doubtful = {"role": "user", "content": "I live in Rome.", "created_at": given}
    dated = {"role": "user", "content": "I live in Oslo.", "created_at": NOON}
    for file, expected, skipped in (
        (log(tmp_path, doubtful, dated), [NOON], 1),
        (log(tmp_path, {"id": "c", "messages": [dated, doubtful]}), [NOON], 1),
        (log(tmp_path, {"id": "c", "messages": [doubtful]}), [], 1),
        (log(tmp_path, {"id": "c", "created_at": given, "messages": [{"role": "user", "content": "Hi"}]}), [], 1),
        (log(tmp_path, {"id": "c", "created_at": given, "messages": [dated]}), [NOON], 0),
    ):
        assert times(file) == expected
        assert file.skipped == ({UNREADABLE: 1} if skipped else {})


def test_org_12_messages_without_a_time_have_that_of_the_one_before_or_are_counted(tmp_path: Path) -> None:
    """ORG-12: in lines and in whole conversations."""
    undated = {"role": "user", "content": "Hi"}
    file = log(
        tmp_path, {**undated, "time": NOON}, undated, {**undated, "session_id": "b"}, {**undated, "session_id": "b"}
    )
    assert times(file)[:2] == [NOON, NOON] and file.remarks == {UNDATED: 2}
    file = log(tmp_path, {"messages": [undated, undated]}, {"created_at": NOON, "messages": [undated]})
    assert times(file)[2:] == [NOON] and file.remarks == {UNDATED: 2} and not file.skipped


def test_org_12_messages_without_words_are_counted(tmp_path: Path) -> None:
    """ORG-12."""
    file = log(
        tmp_path, {"messages": [{"role": "user", "content": "Hi", "ts": 1}, {"role": "user", "content": " "}, 7]}
    )
    assert len(times(file)) == 1 and file.skipped == {"it has no role, or no text": 2}


def test_org_12_an_id_that_all_messages_share_is_not_taken_for_theirs(tmp_path: Path) -> None:
    """ORG-12: it is the conversation's; no message is taken for another."""
    said = [{"id": "c1", "role": "user", "content": words, "ts": 1} for words in ("one", "two", "three")]
    for file in (log(tmp_path, *said), log(tmp_path, {"messages": said})):
        ids = [each.source_id for found in file.conversations() for each in found.spoken]
        assert len(ids) == len(set(ids)) == 3
