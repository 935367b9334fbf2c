"""Exports of other assistants as conversations (ORG-12): the current branch, the words of people, times and ids."""

import io
import json
import os
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cloister.domain.archive.conversations import ConversationRecord, FactRecord, SpokenRecord
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.timestamps import iso
from cloister.interfaces.formats import chat_log, export_parts, json_values
from cloister.interfaces.formats.branch import current_branch
from cloister.interfaces.formats.export_file import ExportFile
from cloister.interfaces.formats.json_values import Malformed


def said(role: str, words: Any, at: float | None, **more: Any) -> dict[str, Any]:
    return {
        "id": f"m-{words}",
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": "text", "parts": [words]},
        "recipient": "all",
        **more,
    }


def chatgpt(identity: str = "c1", **more: Any) -> dict[str, Any]:
    """A tree whose first question was edited: the old branch is still in it."""
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    thoughts: dict[str, Any] = {"content": {"content_type": "thoughts", "thoughts": []}}
    messages: dict[str, tuple[str | None, dict[str, Any] | None]] = {
        "root": (None, None),
        "sys": ("root", said("system", "You are helpful", 1.0)),
        "old": ("sys", said("user", "first try", 2.0)),
        "new": ("sys", said("user", "second try", 1_546_300_800.5)),
        "hid": ("new", said("assistant", "hidden", 4.0, **hidden)),
        "tool": ("hid", said("tool", "search result", 5.0)),
        "code": ("tool", said("assistant", "call", 6.0, recipient="python")),
        "think": ("code", said("assistant", "hm", 6.5, **thoughts)),
        "zero": ("think", said("assistant", "dropped", 6.6, weight=0)),
        "ans": ("zero", said("assistant", "the answer", None)),
    }
    nodes: dict[str, Any] = {
        key: {"id": key, "parent": parent, "children": [], "message": message}
        for key, (parent, message) in messages.items()
    }
    return {
        "id": identity,
        "title": " A \n title ",
        "create_time": 0.5,
        "mapping": nodes,
        "current_node": "ans",
        **more,
    }


def claude(identity: str = "k1", **more: Any) -> dict[str, Any]:
    return {
        "uuid": identity,
        "name": "Birds",
        "created_at": "2024-03-01T10:00:00.000000Z",
        "updated_at": "2024-03-01T10:05:00.000000Z",
        "chat_messages": [
            {
                "uuid": "u1",
                "sender": "human",
                "text": "ignored",
                "content": [{"type": "text", "text": "Which bird?"}, {"type": "tool_use", "text": "no"}],
                "created_at": "2024-03-01T10:00:01Z",
            },
            {
                "uuid": "a1",
                "sender": "assistant",
                "text": "A wren.",
                "content": [],
                "created_at": "2024-03-01T10:00:02Z",
            },
            {
                "uuid": "u2",
                "sender": "human",
                "text": "",
                "attachments": [{"file_name": "p.txt", "extracted_content": "A long paste."}],
                "created_at": "2024-03-01T10:00:03Z",
            },
        ],
        **more,
    }


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def words(file: ExportFile) -> list[list[str]]:
    return [[each.content for each in found.spoken] for found in file.conversations()]


def test_org_12_of_a_chatgpt_tree_the_current_branch_is_read(tmp_path: Path) -> None:
    """ORG-12: what the user and the assistant said, not what was edited away, hidden, or said to a tool."""
    file = ExportFile(written(tmp_path / "conversations.json", [chatgpt(), chatgpt("c2", is_do_not_remember=True)]))
    (found,) = file.conversations()
    assert file.format == "chatgpt"
    assert [(each.role, each.content) for each in found.spoken] == [("user", "second try"), ("assistant", "the answer")]
    assert found.record.external_id == "chatgpt:c1" and found.record.title == "A title"
    assert [iso(each.created_at) for each in found.spoken] == ["2019-01-01T00:00:00.500000Z"] * 2
    assert file.skipped == {"it is marked not to be remembered": 1}


def test_org_12_a_claude_export_is_read(tmp_path: Path) -> None:
    """ORG-12: text blocks first, else the text, else a paste."""
    file = ExportFile(written(tmp_path / "c.json", [claude()]))
    (found,) = file.conversations()
    assert file.format == "claude"
    assert [(each.role, each.content) for each in found.spoken] == [
        ("user", "Which bird?"),
        ("assistant", "A wren."),
        ("user", "A long paste."),
    ]
    assert iso(found.record.updated_at) == "2024-03-01T10:05:00Z"


def test_org_12_a_claude_tree_gives_its_current_branch(tmp_path: Path) -> None:
    """ORG-12."""
    root = "00000000-0000-4000-8000-000000000000"
    tree = claude()
    for message, parent in zip(tree["chat_messages"], (root, "u1", "u1"), strict=True):
        message["parent_message_uuid"] = parent
    file = ExportFile(written(tmp_path / "c.json", [{**tree, "current_leaf_message_uuid": "a1"}, tree]))
    assert words(file) == [["Which bird?", "A wren."], ["Which bird?", "A long paste."]]


@pytest.mark.parametrize("page", [None, "results", "memories", "data"])
def test_org_12_mem0_memories_are_facts_of_their_users(tmp_path: Path, page: str | None) -> None:
    """ORG-12."""
    memories = [
        {
            "id": "1",
            "memory": "Likes tea",
            "user_id": "ann",
            "created_at": "2024-01-02T00:00:00Z",
            "categories": ["food"],
        },
        {"id": "2", "memory": "", "user_id": "ann", "created_at": "2024-01-02T00:00:00Z"},
        {"id": "3", "memory": "Likes sun", "user_id": "bob", "created_at": "2024-01-03T00:00:00Z", "agent_id": "x"},
    ]
    file = ExportFile(written(tmp_path / "m.json", memories if page is None else {page: memories}))
    records = list(file.records())
    assert file.format == "mem0"
    assert [each.external_id for each in records if isinstance(each, ConversationRecord)] == ["mem0:ann", "mem0:bob"]
    facts = [each for each in records if isinstance(each, FactRecord)]
    assert [(fact.content, fact.categories, dict(fact.metadata)) for fact in facts] == [
        ("Likes tea", ("food",), {}),
        ("Likes sun", (), {"agent_id": "x"}),
    ]
    assert sum(file.skipped.values()) == 1


def test_org_12_plain_logs_are_read_as_json_or_json_lines(tmp_path: Path) -> None:
    """ORG-12: whole conversations, or one message on each line; a malformed line is skipped and counted."""
    whole = {"id": "x", "messages": [{"role": "user", "content": "Hi", "created_at": 1_600_000_000}]}
    parts = {
        "messages": [{"role": "ai", "content": [{"type": "text", "text": "Hello"}], "timestamp": 1_600_000_000_000}]
    }
    for text in (
        json.dumps([whole, parts]),
        f"{json.dumps(whole)}\n{json.dumps(parts)}\n",
        json.dumps(whole, indent=2),
    ):
        file = ExportFile(written(tmp_path / "log.json", text))
        assert file.format == "log"
        assert words(file)[0] == ["Hi"]
    lines = [
        {"role": "user", "content": "one", "session_id": "a", "timestamp": "2020-01-01T00:00:00Z"},
        {"role": "assistant", "content": "two", "session_id": "b", "timestamp": "2020-01-01T00:00:01Z"},
        {"role": "user", "content": "three", "session_id": "a", "timestamp": "2020-01-01T00:00:02Z"},
    ]
    text = "\n".join(map(json.dumps, lines[:2])) + '\n{"role": "user", broken\n' + json.dumps(lines[2])
    file = ExportFile(written(tmp_path / "log.jsonl", text))
    records = list(file.records())
    assert [each.external_id for each in records if isinstance(each, ConversationRecord)] == ["log:a", "log:b", "log:a"]
    assert [each.source_id for each in records if isinstance(each, SpokenRecord)] == [
        "position 1",
        "position 1",
        "position 2",
    ]
    assert file.skipped == {"it is not a JSON object": 1}


def test_org_12_a_zip_file_is_read_in_the_order_of_its_parts(tmp_path: Path) -> None:
    """ORG-12: `conversations.json`, or the numbered files of newer exports."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("chat/conversations-001.json", json.dumps([chatgpt("later")]))
        made.writestr("chat/conversations-000.json", json.dumps([chatgpt("earlier")]))
        made.writestr("chat/user.json", json.dumps({"messages": [{"role": "user", "content": "not this"}]}))
    found = [each.record.external_id for each in ExportFile(path).conversations()]
    assert found == ["chatgpt:earlier", "chatgpt:later"]
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as made:
        made.writestr("x.txt", "x")
    with pytest.raises(InvalidRequest, match=r"conversations\.json"):
        ExportFile(tmp_path / "other.zip")


def test_org_12_an_unpacked_export_is_read_in_the_order_of_its_files(tmp_path: Path) -> None:
    """ORG-12: as its zip file would be; links in it, and other files, are not read."""
    folder = tmp_path / "export"
    (folder / "chat").mkdir(parents=True)
    written(folder / "chat" / "conversations-001.json", [chatgpt("later")])
    written(folder / "chat" / "conversations-000.json", [chatgpt("earlier")])
    written(folder / "chat" / "user.json", {"messages": [{"role": "user", "content": "not this"}]})
    outside = tmp_path / "outside"
    outside.mkdir()
    written(outside / "conversations.json", [chatgpt("not mine")])
    (folder / "conversations.json").symlink_to(outside / "conversations.json")
    (folder / "linked").symlink_to(outside)
    os.mkfifo(folder / "conversations-002.json")
    found = [each.record.external_id for each in ExportFile(folder).conversations()]
    assert found == ["chatgpt:earlier", "chatgpt:later"]
    with pytest.raises(InvalidRequest, match="chatgpt"):
        ExportFile(folder, "mem0")


def test_org_12_a_folder_of_one_file_for_each_conversation_is_read(tmp_path: Path) -> None:
    """ORG-12: also where the folder `conversations` itself is named, or by a link to it."""
    folder = tmp_path / "claude" / "conversations"
    folder.mkdir(parents=True)
    for name in ("b", "a"):
        spoken = {"uuid": "m", "sender": "human", "text": f"I am {name}.", "created_at": "2024-05-01T12:00:00Z"}
        written(folder / f"{name}.json", {"uuid": name, "chat_messages": [spoken]})
    (tmp_path / "link").symlink_to(folder)
    for path in (folder.parent, folder, tmp_path / "link"):
        assert words(ExportFile(path)) == [["I am a."], ["I am b."]]


def test_org_12_a_folder_that_is_no_export_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ORG-12: as a missing file is; one that is too large is not read, as a zip file would not be."""
    with pytest.raises(InvalidRequest, match=r"folder without conversations\.json"):
        ExportFile(tmp_path)
    with pytest.raises(InvalidRequest, match="neither a file nor a folder"):
        ExportFile(tmp_path / "missing")
    written(tmp_path / "conversations.json", [chatgpt()])
    monkeypatch.setattr(export_parts, "_MOST_ENTRIES", 0)
    with pytest.raises(InvalidRequest, match="too many files"):
        ExportFile(tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr(export_parts, "_LARGEST_UNPACKED", 10)
    with pytest.raises(TooLarge):
        ExportFile(tmp_path)


def test_org_12_malformed_conversations_are_skipped_with_their_reason(tmp_path: Path) -> None:
    """ORG-12: not fatal, whatever is in them."""
    broken: list[Any] = [
        chatgpt(),
        {"mapping": {}, "id": "empty"},
        {"mapping": {"a": 1}, "id": "odd", "current_node": 7},
        {"mapping": {"a": {"parent": "a", "message": said("user", "loop", 1.0)}}, "id": "loop", "current_node": "a"},
        {"mapping": {"a": {"message": {"content": {"parts": [None, 1]}, "author": []}}}, "id": "types"},
        7,
        None,
        "text",
    ]
    file = ExportFile(written(tmp_path / "c.json", broken))
    assert words(file) == [["second try", "the answer"], ["loop"]]
    assert sum(file.skipped.values()) == 6


def test_org_12_a_long_message_is_imported_in_parts(tmp_path: Path) -> None:
    """ORG-12: nothing is lost, and the parts have ids of their own."""
    long = {"id": "x", "messages": [{"role": "user", "content": "a" * 150_000, "id": "m", "created_at": 1}]}
    (found,) = ExportFile(written(tmp_path / "l.json", [long])).conversations()
    assert [len(each.content) for each in found.spoken] == [65_536, 65_536, 18_928]
    assert [each.source_id for each in found.spoken] == ["m", "m#2", "m#3"]


@pytest.mark.parametrize("text", ["", "[]", "nonsense", '{"a": 1}', "[1, 2]", "\xff"])
def test_org_12_an_unknown_file_is_refused_with_the_formats(tmp_path: Path, text: str) -> None:
    """ORG-12."""
    with pytest.raises(InvalidRequest, match="chatgpt, claude, mem0, log"):
        ExportFile(written(tmp_path / "f", text))
    with pytest.raises(InvalidRequest, match="chatgpt, claude, mem0, log"):
        ExportFile(written(tmp_path / "f", text), "other")


def test_org_12_a_damaged_array_is_refused(tmp_path: Path) -> None:
    """ORG-12: it cannot be read further, unlike lines."""
    for text, problem in (
        (f"[{json.dumps(chatgpt())},", "cut off"),
        (f"[{json.dumps(chatgpt())}, nonsense, 1]", "not valid"),
    ):
        with pytest.raises(InvalidRequest, match=problem):
            list(ExportFile(written(tmp_path / "c.json", text)).conversations())


def test_org_12_values_are_read_one_by_one_whatever_their_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """ORG-12: at every boundary of what is read at once."""
    monkeypatch.setattr(json_values, "_CHUNK", 7)
    values = [{"a": "x" * size, "b": [1.5, True, None, 'ü\\"\n']} for size in range(40)]
    for text in (
        json.dumps(values),
        "\n".join(map(json.dumps, values)),
        json.dumps(values, indent=1, ensure_ascii=False),
    ):
        assert list(json_values.json_values(io.BytesIO(text.encode()))) == values
    found = list(json_values.json_values(io.BytesIO(b'{"a":1}\n{"a"\n{"a":2}\n')))
    assert found == [{"a": 1}, Malformed(), {"a": 2}]
    assert isinstance(found[1], Malformed) and found[1].where == "line 3, column 1"


def test_org_12_a_value_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """ORG-12: before it takes the memory of the machine."""
    monkeypatch.setattr(json_values, "LARGEST_VALUE", 1_000_000)
    with pytest.raises(TooLarge):
        list(json_values.json_values(io.BytesIO(b'["' + b"x" * 5_000_000)))
    deep = list(json_values.json_values(io.BytesIO(b'{"a":' * 200_000 + b"\n[1]")))
    assert isinstance(deep[0], Malformed)


@pytest.mark.parametrize(
    ("unit", "problem"),
    [
        ('{"":\n', "damaged in too many lines"),
        ('{"":[1,1,1,1],"":\n', "damaged in too many lines"),
        ("[1,\n" * 400 + "x\n", "damaged in too many lines"),
        ("[1,\n" * 400 + '"x' + "x" * 9_000 + "\n", "damaged in too many lines"),
        ("x\n", "lines that are not JSON"),
    ],
)
def test_iso_13_what_is_nested_over_many_lines_is_not_parsed_for_each_of_them(
    monkeypatch: pytest.MonkeyPatch, unit: str, problem: str
) -> None:
    """ISO-13: after a damaged line the next one is read, and all of them may be damaged."""
    monkeypatch.setattr(json_values, "MOST_MALFORMED", 10_000)
    reads: list[int] = []
    decode = json.JSONDecoder.raw_decode

    def counted(self: json.JSONDecoder, text: str, position: int) -> tuple[object, int]:
        reads.append(position)
        return decode(self, text, position)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counted)
    file = io.BytesIO(b"1\n" + unit.encode() * ((1 << 20) // len(unit)))
    with pytest.raises(InvalidRequest, match=problem):
        list(json_values.json_values(file))
    assert len(reads) <= 10_010


def test_org_12_a_value_of_too_many_elements_is_refused_before_it_is_parsed_as_a_whole() -> None:
    """ISO-13: other threads wait while a value is parsed. A text of the same size is read."""
    with pytest.raises(TooLarge, match="elements in one JSON value"):
        list(json_values.json_values(io.BytesIO(b'{"messages":[' + b"{}," * (1 << 22) + b"{}]}")))
    long = b'{"a":"' + b"x" * (1 << 23) + b'"}'
    assert len(list(json_values.json_values(io.BytesIO(long)))) == 1


def test_org_12_a_log_of_too_many_sessions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ORG-12: what is remembered of each is in memory until the end of the file. Whole conversations are not remembered."""
    monkeypatch.setattr(chat_log, "MOST_SESSIONS", 3)
    messages = [{"role": "user", "content": "a", "session_id": str(each % 3)} for each in range(9)]
    path = written(tmp_path / "log.jsonl", "\n".join(map(json.dumps, messages)))
    assert len(list(ExportFile(path).conversations())) == 9
    written(path, "\n".join(map(json.dumps, [*messages, {**messages[0], "session_id": "3"}])))
    with pytest.raises(TooLarge, match="sessions of single messages"):
        list(ExportFile(path).conversations())
    whole = [{"id": each, "messages": [messages[0]]} for each in range(9)]
    assert len(list(ExportFile(written(path, json.dumps(whole))).conversations())) == 9


def test_org_12_memory_is_flat_in_the_number_of_conversations(tmp_path: Path) -> None:
    """ORG-12: of a large array one conversation is in memory."""
    one = json.dumps(chatgpt())
    peaks: list[int] = []
    for number in (500, 5_000):
        path = written(tmp_path / f"{number}.json", f"[{','.join([one] * number)}]")
        tracemalloc.start()
        assert sum(1 for _ in ExportFile(path, "chatgpt").conversations()) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_a_branch_ends_at_a_cycle_and_at_a_missing_parent() -> None:
    parents = {"a": "b", "b": "a", "c": "gone", "d": "c"}
    assert current_branch(parents, "a", lambda parent: parent) == ["a", "b"]
    assert current_branch(parents, "d", lambda parent: parent) == ["gone", "c"]
    assert current_branch(parents, None, lambda parent: parent) == ["gone", "c"]
