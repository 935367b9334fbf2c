"""What receipts cost (PRF-1): processor time of a turn and of a context with and without them, bytes, and what retention keeps.

    python benchmarks/receipts.py [--messages 20000] [--rounds 200] [--json]

There is no switch for receipts: without them means without the calls that make, store and answer them. Both are measured in turn,
in this process, so that a busy machine slows both. Times are milliseconds of processor time, p50.
"""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast
from unittest.mock import patch

import apsw
from pydantic import TypeAdapter

from cloister import Cloister
from cloister.bootstrap import Services, build_services, ensure_local_tenant
from cloister.domain.conversation import Draft, Message
from cloister.domain.prompts.prompt import prompt
from cloister.domain.reply import ChatRequest
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.interfaces.python.recall.shapes import Context, context_shape
from cloister.services.chat.turns import TurnRequest
from cloister.services.recall.build_context import ContextRequest
from cloister.services.receipts.reply import ReplyReceipt
from cloister.settings import CONTEXT_TOKENS, read_settings
from cloister.storage.sqlite.database import DATABASE_FILE
from latency import SMALL_POOL, Questions, fill, line, readable

T = TypeVar("T")
SESSION = "small/ask"
# As the routes encode what they answer.
_ENCODER = TypeAdapter(Context)
DAY = 86_400 * 1_000_000
DAYS_KEPT = 3
_REPEATS = 20
PER_DAY = 50
_SIZE = "SELECT count(*), sum(length(body) + coalesce(length(query), 0)) FROM receipt WHERE kind = ?"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--messages", type=int, default=20_000)
    arguments.add_argument("--rounds", type=int, default=200)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        with Cloister(directory) as memory:
            fill(memory, "small", SMALL_POOL)
            fill(memory, "large", given.messages - SMALL_POOL)
        report = measure(Path(directory), given.messages, given.rounds)
    print(json.dumps(report) if given.json else readable(report))


def measure(directory: Path, messages: int, rounds: int) -> list[dict[str, Any]]:
    clock = Clock()
    services = build_services(read_settings(str(directory)), clock=clock)
    try:
        reach = ensure_local_tenant(services)
        stored = f"{messages:,} stored, {SMALL_POOL:,} in the pool"
        return [
            *before_the_first_token(services, reach, rounds, stored),
            *whole_turn(services, reach, rounds // 2, stored),
            *context(services, reach, rounds, stored),
            *size_and_retention(services, reach, clock, directory / DATABASE_FILE),
        ]
    finally:
        services.close()


def before_the_first_token(services: Services, reach: Reach, rounds: int, stored: str) -> list[dict[str, Any]]:
    """What lies between the user's words, recorded just now, and a request that is ready for the model."""
    questions = Questions()

    def asked() -> Message:
        said = Draft(role="user", content=questions.next())
        return services.record.messages(reach, SESSION, [said]).messages[-1]

    def without(question: Message) -> None:
        request = ContextRequest(question=question.content, budget=CONTEXT_TOKENS)
        prompt(None, services.context.build(reach, SESSION, request), question)

    def with_receipt(question: Message) -> None:
        receipt = ReplyReceipt(
            question=question.id, template=None, key=None, known=frozenset(), default_model="recall-only"
        )
        request = ContextRequest(question=question.content, budget=CONTEXT_TOKENS)
        built = services.context.build(reach, SESSION, request)
        receipt.sending(ChatRequest(messages=prompt(None, built, question)), built)
        receipt.token()

    more = compared(with_receipt, without, asked, rounds)
    return lines("recall and prompt of a turn", more, stored, most_more=1.0)


def whole_turn(services: Services, reach: Reach, rounds: int, stored: str) -> list[dict[str, Any]]:
    """A chat turn with its reply stored, by the model without a model; with the receipt in the reply's transaction."""
    questions = Questions()

    def turn(_: object) -> None:
        ask = TurnRequest(session=SESSION, drafts=[Draft(role="user", content=questions.next())])
        begun = services.turns.begin(reach, ask)
        asyncio.run(services.chat.reply(begun, lambda event: None, stop=asyncio.Event(), threads=Inline()))

    def no_receipt(*given: object) -> None:
        """In the position of the method that makes it."""

    def without(_: object) -> None:
        with patch.object(ReplyReceipt, "made", no_receipt):
            turn(_)

    return lines("a whole turn, reply and receipt stored", compared(turn, without, object, rounds), stored)


def context(services: Services, reach: Reach, rounds: int, stored: str) -> list[dict[str, Any]]:
    """As the route answers it, encoded, in a project that does not store receipts. Each context is built once, and answered many
    times with a receipt and without: the difference is smaller than that of two contexts."""
    questions, without, more = Questions(), list[float](), list[float]()
    for number in range(rounds + 5):
        began = time.process_time()
        found = services.context.build(reach, SESSION, ContextRequest(question=questions.next()))
        built = time.process_time()
        for _ in range(_REPEATS):
            _ENCODER.dump_json(context_shape(found))
        plain = time.process_time()
        for _ in range(_REPEATS):
            _ENCODER.dump_json(context_shape(found, services.recall_receipts.of_context(reach, found, None)))
        whole = time.process_time()
        if number >= 5:
            without.append(1_000 * (built - began + (plain - built) / _REPEATS))
            more.append(1_000 * ((whole - plain) - (plain - built)) / _REPEATS)
    name, ratio = "context, receipt answered and not stored", 1 + statistics.median(more) / statistics.median(without)
    return [
        line(f"{name}, {stored}: without", without),
        line(f"{name}: more with a receipt", more),
        line(f"{name}: times of without", ratio, target=1.03),
    ]


def size_and_retention(services: Services, reach: Reach, clock: "Clock", file: Path) -> list[dict[str, Any]]:
    """The bytes of the receipts of the turns above; then days of contexts in a project that keeps their receipts for a few days."""
    count, characters = sizes(file, "reply")
    report = [line(f"bytes a receipt of a reply, mean of {count:,}", characters / count, target=4_096)]
    project = services.sessions.get(reach, SESSION).project
    assert project is not None
    services.projects.change_project(reach, project, settings={"store_receipts": True, "receipt_days": DAYS_KEPT})
    questions, most = Questions(), list[tuple[int, int]]()
    for _ in range(4 * DAYS_KEPT):
        for _ in range(PER_DAY):
            built = services.context.build(reach, SESSION, ContextRequest(question=questions.next()))
            services.recall_receipts.of_context(reach, built, None)
        clock.ahead += DAY
        services.receipt_expiry.drop()
        count, characters = sizes(file, "context")
        most.append((count, characters))
    kept = statistics.median(characters / max(1, count) for count, characters in most)
    name = f"{PER_DAY} contexts a day for {4 * DAYS_KEPT} days, {DAYS_KEPT} days kept: most receipts"
    report.append(line("bytes a receipt of a context, with its question", kept, target=4_096))
    report.append(line(name, float(max(count for count, _ in most)), target=float(DAYS_KEPT * PER_DAY)))
    report.append(line("the same, kilobytes", max(characters for _, characters in most) / 1_000))
    return report


def sizes(file: Path, kind: str) -> tuple[int, int]:
    """How many receipts of a kind there are, and the bytes of what they store besides ids."""
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        ((count, characters),) = cast(list[tuple[int, int | None]], connection.execute(_SIZE, (kind,)).fetchall())
    finally:
        connection.close()
    return count, characters or 0


def compared(
    ours: Callable[[T], object], floor: Callable[[T], object], make: Callable[[], T], rounds: int
) -> tuple[list[float], list[float]]:
    """The processor time of two calls in turn, each with an argument of its own, which is made before; the first five are not
    counted, and who begins changes from round to round."""
    taken: dict[int, list[float]] = {0: [], 1: []}
    for number in range(rounds + 5):
        for which in (0, 1) if number % 2 else (1, 0):
            argument = make()
            began = time.process_time()
            (ours, floor)[which](argument)
            taken[which].append((time.process_time() - began) * 1_000)
    return taken[0][5:], taken[1][5:]


def lines(
    name: str,
    taken: tuple[list[float], list[float]],
    stored: str,
    *,
    most_more: float | None = None,
) -> list[dict[str, Any]]:
    """Both, and by how much more the one takes: the median of the differences, each of two calls of one round."""
    ours, floor = taken
    more = statistics.median(one - other for one, other in zip(ours, floor, strict=True))
    return [
        line(f"{name}, {stored}", ours, floor=floor, floor_name="without"),
        line(f"{name}: more with a receipt", more, target=most_more),
    ]


class Clock:
    """The time, and as many microseconds more as the benchmark says."""

    ahead = 0

    def __call__(self) -> int:
        return now() + self.ahead


class Inline:
    """Runs blocking calls where they are: nothing else waits here."""

    async def read(self, call: Callable[[], T], /) -> T:
        return call()

    async def write(self, call: Callable[[], T], /) -> T:
        return call()


if __name__ == "__main__":
    main()
