"""Group commit: one writer at a time, and nobody suffers for another's failure."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cloister.domain.errors import Closed
from cloister.storage.sqlite.group_commit import BatchKind, GroupCommit


class Notes:
    """A connection that keeps what was written in a list, with the same rules of undoing."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.open: list[str] | None = None
        self.commits = 0
        self.committing = threading.Event()
        self.may_commit = threading.Event()
        self.may_commit.set()
        self.writers: set[int] = set()

    def write(self, word: str) -> str:
        assert self.open is not None
        self.open.append(word)
        self.writers.add(threading.get_ident())
        if word == "fails":
            raise ValueError(word)
        return word.upper()

    def begin(self) -> None:
        assert self.open is None
        self.open = []

    def commit(self) -> None:
        assert self.open is not None
        self.committing.set()
        assert self.may_commit.wait(10)
        self.kept += self.open
        self.open = None
        self.commits += 1

    def abandon(self) -> None:
        self.open = None

    def attempt(self, work: Callable[[Any], Any], item: Any) -> Any:
        assert self.open is not None
        before = list(self.open)
        try:
            return work(item)
        except BaseException:
            self.open = before
            raise

    @property
    def in_transaction(self) -> bool:
        return self.open is not None

    def close(self) -> None:
        assert self.open is None


def wait_until(reached: Callable[[], bool]) -> None:
    """The writer thread holds one job while it waits for its turn; the others are in the queue."""
    deadline = time.monotonic() + 30
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.fixture
def notes() -> Notes:
    return Notes()


def written(notes: Notes, words: Sequence[str]) -> list[str | Exception]:
    return [KeyError(word) if word == "missing" else notes.write(word) for word in words]


def together(notes: Notes, prepared: list[list[str]] | None = None) -> BatchKind[str, str, str]:
    def prepare(words: Sequence[str]) -> list[str]:
        if prepared is not None:
            prepared.append(list(words))
        if "unprepared" in words:
            raise TypeError("unprepared")
        return [word + "!" if word == "add" else word for word in words]

    return BatchKind("notes", prepare, lambda words: written(notes, words))


def test_a_lone_caller_writes_on_his_own_thread(notes: Notes) -> None:
    writer = GroupCommit(notes)
    assert writer.run(lambda: notes.write("alone")) == "ALONE"
    assert writer.run_batch([("add", together(notes))]) == ["ADD!"]
    assert notes.writers == {threading.get_ident()}
    assert notes.kept == ["alone", "add!"]
    writer.close()


def test_what_waits_shares_one_commit_and_one_call(notes: Notes) -> None:
    writer = GroupCommit(notes)
    prepared: list[list[str]] = []
    kind = together(notes, prepared)
    with ThreadPoolExecutor(12) as threads:
        notes.may_commit.clear()
        first = threads.submit(writer.run, lambda: notes.write("first"))
        assert notes.committing.wait(10)
        waiting = [threads.submit(writer.run_batch, [(f"word {number}", kind)]) for number in range(8)]
        wait_until(lambda: writer.waiting == 7)
        notes.may_commit.set()
        assert first.result(10) == "FIRST"
        assert [each.result(10) for each in waiting] == [[f"WORD {number}"] for number in range(8)]
    assert notes.commits == 2
    assert sorted(map(len, prepared)) == [8]
    writer.close()


def test_what_one_caller_gathered_shares_one_commit_and_each_has_its_own_answer(notes: Notes) -> None:
    writer = GroupCommit(notes)
    kind = together(notes)
    first, wrong, last = writer.run_batch([(word, kind) for word in ("one", "fails", "two")])
    assert (first, type(wrong), last) == ("ONE", ValueError, "TWO")
    assert notes.kept == ["one", "two"]
    assert notes.commits == 1
    writer.close()


def test_each_failure_is_its_callers_own(notes: Notes) -> None:
    writer = GroupCommit(notes)
    kind = together(notes)
    words = ["one", "fails", "unprepared", "missing", "two"] * 4
    outcomes: dict[str, list[object]] = {}

    def call(word: str) -> None:
        (outcome,) = writer.run_batch([(word, kind)])
        outcomes.setdefault(word, []).append(type(outcome) if isinstance(outcome, BaseException) else outcome)

    with ThreadPoolExecutor(20) as threads:
        list(threads.map(call, words))
    assert outcomes == {
        "one": ["ONE"] * 4,
        "two": ["TWO"] * 4,
        "fails": [ValueError] * 4,
        "unprepared": [TypeError] * 4,
        "missing": [KeyError] * 4,
    }
    assert sorted(notes.kept) == ["one"] * 4 + ["two"] * 4
    writer.close()


def test_what_was_refused_together_and_stored_apart_is_not_reported_as_failed(notes: Notes) -> None:
    """The first attempt of all is undone because another failed; its answers are undone with it."""

    def crowded(words: Sequence[str]) -> list[str | Exception]:
        return [KeyError(word) if len(words) > 1 else notes.write(word) for word in words]

    writer = GroupCommit(notes)
    alone: BatchKind[str, str, str] = BatchKind("alone", list, crowded)
    outcomes = writer.run_batch([("one", alone), ("two", alone), ("fails", together(notes))])
    assert outcomes[:2] == ["ONE", "TWO"]
    assert isinstance(outcomes[2], ValueError)
    assert notes.kept == ["one", "two"]
    writer.close()


@pytest.mark.parametrize("beside", [False, True])
def test_a_write_inside_a_write_is_refused_and_not_waited_for(notes: Notes, beside: bool) -> None:
    writer = GroupCommit(notes)
    with ThreadPoolExecutor(1) as threads:
        if beside:
            notes.may_commit.clear()
            threads.submit(writer.run, lambda: notes.write("first"))
            assert notes.committing.wait(10)
            threading.Timer(0.05, notes.may_commit.set).start()
        with pytest.raises(RuntimeError, match="inside a write"):
            writer.run(lambda: writer.run(lambda: notes.write("inner")))
    assert "inner" not in notes.kept
    writer.close()


def test_a_failed_commit_is_everyones(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = GroupCommit(notes)
    monkeypatch.setattr(notes, "commit", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        writer.run(lambda: notes.write("lost"))
    monkeypatch.undo()
    assert writer.run(lambda: notes.write("kept")) == "KEPT"
    assert notes.kept == ["kept"]
    writer.close()


def test_closing_finishes_what_was_accepted_and_refuses_the_rest(notes: Notes) -> None:
    writer = GroupCommit(notes)
    with ThreadPoolExecutor(8) as threads:
        notes.may_commit.clear()
        accepted = [threads.submit(writer.run, lambda: notes.write("accepted")) for _ in range(6)]
        assert notes.committing.wait(10)
        wait_until(lambda: writer.waiting == 4)
        closing = threads.submit(writer.close)
        notes.may_commit.set()
        assert [each.result(10) for each in accepted] == ["ACCEPTED"] * 6
        closing.result(10)
    with pytest.raises(Closed):
        writer.run(lambda: notes.write("late"))
    writer.close()
