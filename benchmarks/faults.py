"""What callers are told when something fails: each fault, how often it was tried, and what was lost, duplicated or inconsistent.

    python benchmarks/faults.py [--tries 20] [--only WORDS] [--json]

The faults are real: PostgreSQL is cut off while it commits, the operating system refuses SQLite's writes, files are removed while
they are open, a model's server never ends its answer. A row is a function with `@fault`; others add theirs here or in a module that
`ROWS` names. Exit code 1 if anything acknowledged was lost, or anything was stored twice.
"""

# ruff: noqa: E402 - the means are those of the tests, which have to be on the path first

import argparse
import errno
import itertools
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from temporary import open_engine

# This folder has an `http.py`, which would hide the standard library's.
sys.path[0] = str(Path(__file__).resolve().parent.parent / "tests")

from cloister import Cloister, CloisterError
from cloister.bootstrap import Services, wire
from cloister.domain.conversation import Draft
from cloister.domain.errors import ModelUnavailable, TurnInProgress
from cloister.domain.reply import ChatRequest
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.index.exact.index import ExactIndex
from cloister.models.openai.chat import OpenAiChatModel
from cloister.models.openai.endpoint import Endpoint
from cloister.models.static.embedder import StaticEmbedder
from cloister.services.chat.turns import TurnRequest
from cloister.storage.sqlite.database import open_sqlite
from cloister.worker import Worker
from support.clients.chat_model import whole_reply
from support.databases.faulty_files import every_write_fails, files_with_faulty_fsync
from support.databases.postgres_proxy import CommitProxy, commit_proxy
from support.samples.other_embedder import OtherEmbedder
from support.servers.fake_endpoint import Answer, event, fake_endpoint
from support.servers.http_server import postgres_address

MEGABYTE = 1_000_000


@dataclass(kw_only=True)
class Row:
    """`lost` counts acknowledged writes that are not there, `duplicated` those that are there twice, `inconsistent` what
    contradicts what was told; `told` says what callers were told, and how often."""

    fault: str
    tries: int
    lost: int = 0
    duplicated: int = 0
    inconsistent: int = 0
    told: Counter[str] = field(default_factory=Counter[str])


Fault = Callable[[int], Iterator[Row]]
ROWS: list[Fault] = []


def fault(rows: Fault) -> Fault:
    ROWS.append(rows)
    return rows


@contextmanager
def directory() -> Generator[Path]:
    with tempfile.TemporaryDirectory(prefix="cloister-faults-") as made:
        yield Path(made) / "data"


def attempt(row: Row, call: Callable[[], object]) -> bool:
    """Whether it succeeded; what it said is counted."""
    try:
        call()
    except CloisterError as error:
        row.told[error.code] += 1
        return False
    row.told["stored"] += 1
    return True


def said(memory: Cloister) -> list[str]:
    return [each.content for each in memory.messages("s", limit=200)]


def repeated(row: Row, memory: Cloister, tries: int, provoke: Callable[[], object], mend: Callable[[], object]) -> None:
    """Each write fails once and is repeated with its key; it has to be there once."""
    for number in range(tries):

        def write(words: str = f"Words {number}.", key: str = f"key-{number}") -> object:
            return memory.record("s", "user", words, idempotency_key=key)

        provoke()
        attempt(row, write)
        mend()
        write()
    found = Counter(said(memory))
    row.lost = sum(f"Words {number}." not in found for number in range(tries))
    row.duplicated = sum(count > 1 for count in found.values())


@fault
def lost_confirmations(tries: int) -> Iterator[Row]:
    for when in ("before", "after"):
        row = Row(fault=f"PostgreSQL cut off {when} it commits; repeated with the key", tries=tries)
        with (
            open_engine("postgres") as url,
            commit_proxy(url) as proxy,
            Cloister(postgres_address(proxy.url)) as memory,
        ):
            memory.create_session("s")

            def cut(proxy: CommitProxy = proxy, when: Any = when) -> None:
                proxy.when, proxy.cuts = when, 1

            repeated(row, memory, tries, cut, lambda: None)
        yield row


@fault
def unconfirmed_fsync(tries: int) -> Iterator[Row]:
    row = Row(fault="SQLite: fsync fails at COMMIT; repeated with the key", tries=tries)
    with files_with_faulty_fsync() as fsync, directory() as data, Cloister(data) as memory:
        memory.create_session("s")

        def fail() -> None:
            fsync.fails = True

        def mend() -> None:
            fsync.fails = False

        repeated(row, memory, tries, fail, mend)
    yield row


@fault
def refused_writes(tries: int) -> Iterator[Row]:
    for what, number in (
        ("file system read-only", errno.EROFS),
        ("disk full", errno.ENOSPC),
        ("quota used up", errno.EDQUOT),
        ("disk broken (EIO)", errno.EIO),
    ):
        row = Row(fault=f"SQLite: {what}", tries=tries)
        with directory() as data, Cloister(data) as memory:
            memory.create_session("s")
            memory.record("s", "user", "Before.")
            with every_write_fails(number):
                for _ in range(tries):
                    attempt(row, lambda: memory.record("s", "user", "Refused."))
                row.inconsistent += said(memory) != ["Before."]
            memory.record("s", "user", "After.")
            row.inconsistent += said(memory) != ["Before.", "After."]
        yield row


@fault
def missing_files(tries: int) -> Iterator[Row]:
    def remove(data: Path) -> None:
        shutil.rmtree(data)

    def replace(data: Path) -> None:
        data.rename(data.with_name("away"))
        Cloister(data).close()

    def remove_log(data: Path) -> None:
        (data / "cloister.db-wal").unlink()

    for what, harm in (("directory removed", remove), ("directory replaced", replace), ("log removed", remove_log)):
        row = Row(fault=f"SQLite: {what} while open", tries=tries)
        with directory() as data, Cloister(data) as memory:
            memory.create_session("s")
            memory.record("s", "user", "Before.")
            harm(data)
            row.lost = sum(attempt(row, lambda: memory.record("s", "user", "Gone.")) for _ in range(tries))
            row.inconsistent += said(memory) != ["Before."]
        yield row


def opened(data: Path, embedder: Any) -> Services:
    index = ExactIndex(embedder.embed_query, embedder.dimension, 100 * MEGABYTE)
    return wire(open_sqlite(data), index=index, embedder=embedder)


@fault
def stale_index(tries: int) -> Iterator[Row]:
    row = Row(fault="upgrade: index of another version", tries=tries)
    with directory() as data:
        old = opened(data, StaticEmbedder())
        memory = Cloister(services=old)
        memory.create_session("s")
        memory.create_session("ask")
        for number in range(tries):
            memory.record("s", "user", f"The bell number {number} rings at noon.")
        new = opened(data, OtherEmbedder())
        upgraded = Cloister(services=new)

        def found() -> int:
            asked = upgraded.context("ask", "when does the bell ring", semantic_limit=1_000, min_relevance=0)
            row.told["complete" if asked.stale is None else f"stale: {asked.stale}"] += 1
            return len(asked.relevant_history)

        row.inconsistent += found() == 0
        Worker(new).drain()
        row.lost = tries - found()
        old.close()
        new.close()
    yield row


@fault
def clock_set_back(tries: int) -> Iterator[Row]:
    row = Row(fault="clock set back a day, the answering process dead", tries=tries)
    moment = [now()]
    with directory() as data:
        services = wire(open_sqlite(data), index=exact(), embedder=EMBEDDER, clock=lambda: moment[0])
        reach = Reach(tenant=services.projects.create_tenant("One")[0])
        seconds = services.turns.leases.seconds
        for number in range(tries):
            request = TurnRequest(session=str(number), drafts=[Draft(role="user", content="Is it so?")])
            services.turns.begin(reach, request)
            moment[0] -= 86_400_000_000
            try:
                services.turns.begin(reach, request)
                row.inconsistent += 1
            except TurnInProgress as error:
                row.told[error.code] += 1
            moment[0] += round(seconds * 1_000_000) + 1
            services.turns.begin(reach, request)
            row.told[f"answered again {seconds:g} s later"] += 1
        services.close()
    yield row


EMBEDDER = StaticEmbedder()


def exact() -> ExactIndex:
    return ExactIndex(EMBEDDER.embed_query, EMBEDDER.dimension, 100 * MEGABYTE)


class Endless:
    """A body that never ends; `sent` is how much of it was taken."""

    def __init__(self, begin: bytes, again: bytes) -> None:
        self.parts = itertools.chain([begin], itertools.repeat(again))
        self.sent = 0

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            yield part
            self.sent += len(part)


@fault
def endless_answers(tries: int) -> Iterator[Row]:
    empty = event({"choices": [{"index": 0, "delta": {"content": ""}}]})
    request = ChatRequest(messages=[{"role": "user", "content": "Hello."}])
    for what, begin, again in (
        ("a line without end", b"data: ", b"x" * MEGABYTE),
        ("empty chunks for ever", b"", empty * 10_000),
    ):
        few = min(tries, 3)
        row = Row(fault=f"model: {what}", tries=few)
        with fake_endpoint() as model:
            for _ in range(few):
                body = Endless(begin, again)
                model.answers(Answer(headers={"content-type": "text/event-stream"}, pieces=cast(Any, body)))
                began = time.monotonic()
                try:
                    whole_reply(OpenAiChatModel(Endpoint(url=model.url, model="m")), request)
                    row.inconsistent += 1
                except ModelUnavailable as error:
                    row.told[f"{error.code} after {body.sent // MEGABYTE} MB, {time.monotonic() - began:.1f} s"] += 1
        yield row


def table(rows: list[Row]) -> str:
    lines = ["| fault | tries | lost | duplicated | inconsistent | told |", "|---|---|---|---|---|---|"]
    for row in rows:
        told = "; ".join(f"{count} x {what}" for what, count in row.told.items())
        lines.append(f"| {row.fault} | {row.tries} | {row.lost} | {row.duplicated} | {row.inconsistent} | {told} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--only", default="", help="run the functions whose names contain these words")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    chosen = [rows for rows in ROWS if given.only in cast(Any, rows).__name__]
    found = [row for rows in chosen for row in rows(given.tries)]
    print(json.dumps([asdict(row) for row in found]) if given.json else table(found))
    return int(any(row.lost or row.duplicated or row.inconsistent for row in found))


if __name__ == "__main__":
    sys.exit(main())
