"""Where a damaged file is damaged, and how a log is called that has no title."""

import json
from pathlib import Path

import pytest

from cloister.domain.errors import InvalidRequest
from cloister.interfaces.formats import json_values
from cloister.interfaces.formats.export_file import ExportFile


@pytest.mark.parametrize("chunk", [7, 1 << 18])
def test_a_damaged_file_is_refused_with_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(json_values, "_CHUNK", chunk)
    monkeypatch.setattr(json_values, "_LITTLE", 9)
    message = {"role": "user", "content": "Bread."}
    lines = [json.dumps(message) + "," for _ in range(5)]
    for text, where in (
        ("[" + "".join(lines) + '{"role" oh}]', "line 1, column 200"),
        ("[\n" + "\n".join(lines) + '\n{"role" oh}]', "line 7, column 9"),
        ('{\n "role": "user",\n oops\n}', "line 3, column 2"),
    ):
        (tmp_path / "broken.json").write_text(text)
        with pytest.raises(InvalidRequest, match=f"is not valid JSON at {where}"):
            list(ExportFile(tmp_path / "broken.json").conversations())


def test_a_log_without_a_title_is_called_by_its_first_words(tmp_path: Path) -> None:
    lines = [
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "How do I feed\na sourdough " + "starter " * 9},
    ]
    (tmp_path / "log.json").write_text(json.dumps([{"messages": lines}, {"messages": lines[:1]}, *lines[1:]]))
    titles = [each.record.title for each in ExportFile(tmp_path / "log.json").conversations()]
    assert titles == ["How do I feed a sourdough starter starter starter starter…", "Hello.", titles[0]]
