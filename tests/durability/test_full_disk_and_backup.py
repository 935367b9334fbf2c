"""A full disk is said plainly and passes; a backup taken while others write restores to the same answers."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from cloister import Cloister, Message, StorageError
from cloister.domain.errors import StorageFull
from cloister.storage.sqlite.database import DATABASE_FILE, SqliteDatabase


def limit_pages(memory: Cloister, pages: int) -> None:
    """SQLite itself then behaves as on a full disk; the limit belongs to the write connection."""
    database = cast(SqliteDatabase, cast(Any, memory)._backend.services.database)
    database.run_unscoped(lambda connection: cast(Any, connection).pragma("max_page_count", pages))


def test_a_full_disk_gives_a_clear_error_and_a_usable_database_after(tmp_path: Path) -> None:
    with Cloister(tmp_path) as memory:
        memory.create_session("s")
        acknowledged = [memory.record("s", "user", f"Kept {number}.").id for number in range(20)]
        limit_pages(memory, 60)
        with pytest.raises(StorageFull, match="disk"):
            for number in range(10_000):
                acknowledged.append(memory.record("s", "user", f"Written {number}. " + "word " * 200).id)
        before = [message.id for message in pages(memory)]
        assert before == acknowledged
        assert memory.context("s", "kept").current_conversation
        with pytest.raises(StorageFull):
            memory.record_batch("s", [{"role": "user", "content": "word " * 2_000}] * 20)
        assert [message.id for message in pages(memory)] == before

        limit_pages(memory, 1_000_000)
        after = memory.record("s", "user", "There is room again.")
        assert memory.search("room again", limit=1)[0].content == "There is room again."
        assert [message.id for message in pages(memory)] == [*before, after.id]
        assert memory.health().problems == ()


def test_on_a_full_disk_every_writer_of_the_group_is_told_and_none_is_half_done(tmp_path: Path) -> None:
    with Cloister(tmp_path) as memory:
        for number in range(8):
            memory.create_session(str(number))
        limit_pages(memory, 120)
        acknowledged: dict[str, list[str]] = {str(number): [] for number in range(8)}
        refused: list[str] = []

        def write(session: str) -> None:
            while True:
                try:
                    acknowledged[session].append(memory.record(session, "user", "word " * 100).id)
                except StorageFull:
                    refused.append(session)
                    return

        threads = [threading.Thread(target=write, args=(session,)) for session in acknowledged]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(refused) == sorted(acknowledged)
        for session, ids in acknowledged.items():
            assert [message.id for message in memory.messages(session, limit=200)] == ids


def test_an_online_backup_restores_to_the_same_answers(tmp_path: Path) -> None:
    with Cloister(tmp_path / "live") as memory:
        memory.create_session("s")
        memory.create_session("ask")
        for number in range(50):
            memory.record("s", "user", f"The heron number {number} stood by the pond.")
        question = "which heron stood by the pond"
        expected = memory.context("ask", question).relevant_history
        stop = threading.Event()

        def keep_writing() -> None:
            memory.create_session("other", user_id="someone else")
            while not stop.is_set():
                memory.record("other", "user", "A heron that is not in this pool.")

        writer = threading.Thread(target=keep_writing)
        writer.start()
        (tmp_path / "restored").mkdir()
        memory.backup(tmp_path / "restored" / DATABASE_FILE)
        stop.set()
        writer.join()
        with pytest.raises(StorageError, match="exists already"):
            memory.backup(tmp_path / "restored" / DATABASE_FILE)
    with Cloister(tmp_path / "restored") as restored:
        assert restored.context("ask", question).relevant_history == expected
        assert restored.health().problems == ()


def pages(memory: Cloister) -> Iterator[Message]:
    after = None
    while page := memory.messages("s", limit=200, after=after):
        yield from page
        after = page[-1].id
