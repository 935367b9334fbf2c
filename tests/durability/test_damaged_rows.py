"""OPS-1: damage of stored text is known: named by `doctor`, never shown, and set aside so that everything else works."""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cloister import Cloister
from cloister.domain.errors import DamagedRow, Forbidden, StorageUnavailable
from cloister.storage.queries import dialect_queries
from cloister.storage.stores.integrity.text_rows import BLANK
from support.clients.command_line import CommandLine
from support.databases.engines import Engine

SECRET = "The heron stands by the north gate at dawn."


def opened(engine: Engine, tenant: str | None = None) -> Cloister:
    return Cloister(engine.address, tenant=tenant)


def said(memory: Cloister) -> dict[str, str]:
    """Two sessions of one project; the second is damaged later."""
    memory.create_session("whole")
    memory.create_session("hurt")
    memory.record("whole", "user", "The owl nests in the barn.")
    message = memory.record("hurt", "user", SECRET)
    memory.record("hurt", "user", "The kettle is on the stove.")
    memory.add_memories("hurt", ["The gate is painted green."])
    return {"message": message.id, "memory": memory.memories("hurt")[0].id}


def test_existing_rows_get_their_checksums_in_the_background(engine: Engine) -> None:
    """Rows from before the migration have none; they are counted, and not taken for damaged."""
    with opened(engine) as memory:
        said(memory)
        engine.rows("UPDATE message SET checksum = NULL")
        assert memory.check_rows().unchecked >= 3
        services: Any = memory._backend  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownVariableType]
        assert services.services.integrity.fill() >= 3
        assert services.services.integrity.fill() == 0
        found = memory.check_rows()
        assert (found.unchecked, found.damaged, found.unreadable) == (0, (), ())


def test_a_damaged_row_is_an_error_of_that_row_and_the_rest_is_read(engine: Engine) -> None:
    """OPS-1: the list that contains it says which; recall leaves it out; nothing shows its text."""
    with opened(engine) as memory:
        ids = said(memory)
        engine.rows(f"UPDATE message SET content = 'garbage' WHERE content = '{SECRET}'")
        engine.rows("UPDATE memory SET content = 'garbage'")
        with pytest.raises(DamagedRow, match=ids["message"]):
            memory.messages("hurt")
        with pytest.raises(DamagedRow, match=ids["memory"]):
            memory.memories("hurt")
        assert [message.content for message in memory.messages("whole")] == ["The owl nests in the barn."]
        hits = memory.search("heron north gate kettle stove", limit=10)
        assert "The kettle is on the stove." in [hit.content for hit in hits]
        assert "garbage" not in [hit.content for hit in hits]
        context = memory.context("whole", "what is on the stove, and where is the heron")
        assert "garbage" not in repr(context)


def test_damaged_rows_are_named_and_set_aside(engine: Engine, tmp_path: Path) -> None:
    """OPS-1, ISO-4: a tenant's damage is told with its tenant and session; the rows of another tenant stay as they are."""
    other = engine.services().projects.create_tenant("other")[0]
    with opened(engine, "other") as memory:
        said(memory)
    theirs = engine.dump(other)
    with opened(engine) as memory:
        ids = said(memory)
        engine.rows(f"UPDATE message SET content = 'garbage' WHERE content = '{SECRET}' AND tenant_id <> {other:d}")
        engine.rows(f"UPDATE memory SET content = 'garbage' WHERE tenant_id <> {other:d}")
        found = memory.check_rows()
        assert [(row.table, row.id, row.session_id, row.set_aside) for row in found.damaged] == [
            ("message", ids["message"], "hurt", False),
            ("memory", ids["memory"], "hurt", False),
        ]
        file = tmp_path / "aside"
        done = memory.check_rows(set_aside=file)
        assert [row.set_aside for row in done.damaged] == [True, True]
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        assert [line["id"] for line in lines] == [ids["message"], ids["memory"]]
        assert b"garbage" in [base64.b64decode(text or "") for text in lines[0]["texts_base64"]]
        assert [message.content for message in memory.messages("hurt")] == [BLANK, "The kettle is on the stove."]
        assert list(memory.memories("hurt")) == []
        assert memory.session("hurt").message_count == 2
        assert BLANK not in [hit.content for hit in memory.search("message damaged set aside heron", limit=10)]
        assert memory.check_rows().damaged == ()
        assert memory.health().problems == ()
    assert engine.dump(other) == theirs


def test_nothing_is_made_of_a_damaged_message_and_no_profile_has_a_damaged_memory(engine: Engine) -> None:
    """OPS-1: an extraction fails, and says why; it can be repeated."""
    with opened(engine) as memory:
        memory.create_session("beds", user_id="ann")
        memory.record("beds", "user", "I live in Graz.")
        memory.record("beds", "user", "I work at Acme.")
        memory.add_memories("beds", ["Ann keeps bees.", "Ann has a dog."])
        engine.rows("UPDATE message SET content = 'I live in garbage.' WHERE content = 'I live in Graz.'")
        engine.rows("UPDATE memory SET content = 'garbage' WHERE content = 'Ann keeps bees.'")
        with pytest.raises(DamagedRow):
            memory.extract("beds")
        assert "garbage" not in repr(memory.user_profile("ann"))
        assert "dog" in repr(memory.user_profile("ann"))
        engine.rows("UPDATE message SET content = 'I live in Graz.' WHERE content = 'I live in garbage.'")
        memory.extract("beds")


def flip(path: Path, text: str, change: Callable[[bytearray, int], None]) -> None:
    """Change bytes of a text in the database's file itself, as a bad disk does."""
    content = bytearray(path.read_bytes())
    change(content, content.index(text.encode()))
    path.write_bytes(content)


def other_letter(content: bytearray, at: int) -> None:
    content[at + 4] ^= 1


def no_text(content: bytearray, at: int) -> None:
    content[at + 4] = 0xFF


@pytest.mark.parametrize("change", [other_letter, no_text])
def test_a_byte_changed_on_the_disk_is_found(tmp_path: Path, change: Callable[[bytearray, int], None]) -> None:
    """OPS-1: SQLite itself does not notice; also where the bytes are no UTF-8 any more."""
    shell = CommandLine(data=str(tmp_path / "data"))
    with Cloister(tmp_path / "data") as memory:
        ids = said(memory)
    flip(tmp_path / "data" / "cloister.db", SECRET, change)
    with Cloister(tmp_path / "data") as memory:
        assert memory.health().problems == ()
        with pytest.raises(DamagedRow, match="cloister doctor"):
            memory.messages("hurt")
        assert [hit.content for hit in memory.search("kettle stove heron gate dawn", limit=9)] != []
    report = shell.json("doctor", code=1)
    (bad,) = [check for check in report["checks"] if check["name"] == "rows"]
    assert ids["message"] in bad["finding"] and "'hurt'" in bad["finding"] and "--set-aside" in bad["advice"]
    done = shell.run("doctor", "--set-aside", str(tmp_path / "aside"), COLUMNS="300")
    assert "it was set aside" in done.stdout and "reading rows: " in done.stderr
    with Cloister(tmp_path / "data") as memory:
        assert [message.content for message in memory.messages("hurt")] == [BLANK, "The kettle is on the stove."]
    assert shell.json("doctor")["ok"]


def test_set_aside_is_refused_at_a_server(tmp_path: Path) -> None:
    far = CommandLine(data="http://127.0.0.1:9", key="clk_x")
    assert "on the server" in far.refusal("doctor", "--set-aside", str(tmp_path / "aside"))
    with Cloister("http://127.0.0.1:9", key="clk_x") as memory, pytest.raises(Forbidden):
        memory.check_rows()


def test_an_empty_database_next_to_a_key_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """OPS-1: it would start with nothing, and the key in the file would be of nothing."""
    (tmp_path / "cloister.db").touch()
    Cloister(tmp_path).close()
    os.truncate(tmp_path / "cloister.db", 0)
    (tmp_path / "local.key").write_text("clk_x\n")
    with pytest.raises(StorageUnavailable, match="cloister restore"):
        Cloister(tmp_path)
    assert (tmp_path / "cloister.db").stat().st_size == 0


def test_a_missing_database_next_to_a_key_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """OPS-1: `serve` would make an empty one, and replace the key by that of the new one."""
    (tmp_path / "local.key").write_text("clk_x\n")
    with pytest.raises(StorageUnavailable, match=r"is missing.* Put cloister\.db back, or .*cloister restore"):
        Cloister(tmp_path)
    assert "is missing" in CommandLine(data=str(tmp_path)).refusal("serve", "--port", "0")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("local.key", "clk_x\n")]


def test_a_missing_database_next_to_its_log_is_refused_and_the_log_stays(tmp_path: Path) -> None:
    """OPS-1: the last writes of a killed process are in the log, and are there again when the database is put back."""
    code = "import os, sys; from cloister import Cloister; memory = Cloister(sys.argv[1]); memory.create_session('s'); "
    code += "memory.record('s', 'user', 'The gate code is 4417.'); os._exit(9)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    shutil.move(tmp_path / "cloister.db", tmp_path / "away")
    log = (tmp_path / "cloister.db-wal").read_bytes()
    refused = "is missing, but cloister.db-wal"
    assert refused in CommandLine(data=str(tmp_path)).refusal("search", "gate")
    assert refused in " ".join(CommandLine(data=str(tmp_path)).run("doctor", code=1).stdout.split())
    assert (tmp_path / "cloister.db-wal").read_bytes() == log
    shutil.move(tmp_path / "away", tmp_path / "cloister.db")
    with Cloister(tmp_path) as memory:
        assert [message.content for message in memory.messages("s")] == ["The gate code is 4417."]


# The columns that a checksum is of.
SUMMED = {
    "message": {"message_id", "role", "author", "metadata", "content", "categories"},
    "memory": {"memory_id", "subject", "metadata", "content", "categories"},
    "observation": {"observation_id", "content"},
    "session_item": {"message_id", "position", "item"},
    "memory_file": {"session_id", "recalled_pool_id", "path", "content"},
    "entry": {"entry_id", "entry_key", "value"},
}


def test_every_change_of_a_text_changes_its_checksum_too() -> None:
    """OPS-1: or an intact row would be taken for damaged. `NULL` means that it is computed later."""
    from sqlglot import exp, parse_one

    for postgres in (False, True):
        for name, text in dialect_queries(postgres=postgres).items():
            tree = parse_one(text, dialect="postgres" if postgres else "sqlite")
            for update in [*tree.find_all(exp.Update), *tree.find_all(exp.OnConflict)]:
                table = update.find(exp.Table) or tree.find(exp.Table)
                assert table is not None
                changed = {part.this.name for part in update.expressions if isinstance(part, exp.EQ)}
                if changed & SUMMED.get(table.name, set()):
                    assert "checksum" in changed, name
