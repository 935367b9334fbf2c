"""What receipts cost (PRF-1): processor time of a turn and of a context with and without them, bytes, and what retention keeps.

    python benchmarks/receipts.py [--messages 20000] [--rounds 200] [--json]
    python benchmarks/receipts.py --pairs 9 --messages 2000 [--calls 100] [--json]

There is no switch for receipts. Without them means without the calls that make, store and answer them; of the recall of a turn, a
context and a search also without what it does for receipts alone, which is patched out here. Both are measured in turn, in this
process: the least processor time of several calls with one question, and of these the median. The second form is short, for an idle
machine: pairs of blocks of calls, with the processor time a call, the median by the clock, and the spread over the pairs.
"""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false

import argparse
import asyncio
import inspect
import json
import math
import statistics
import tempfile
import textwrap
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast
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
from cloister.interfaces.python.recall.shapes import Context, Hit, context_shape, hit_shapes
from cloister.interfaces.python.receipts.inline import InlineReceipt, receipt_fields
from cloister.services.chat.turns import TurnRequest
from cloister.services.recall import build_context, selection
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.recall import Recall
from cloister.services.recall.search import Search, SearchTarget
from cloister.services.recall.selection import Selection
from cloister.services.receipts.reply import ReplyReceipt
from cloister.settings import CONTEXT_TOKENS, read_settings
from cloister.storage.sqlite.database import DATABASE_FILE
from latency import SMALL_POOL, Questions, fill, line, readable

T = TypeVar("T")
SESSION = "small/ask"
# As the routes encode what they answer.
_CONTEXTS, _HITS, _RECEIPTS = TypeAdapter(Context), TypeAdapter(list[Hit]), TypeAdapter(InlineReceipt)
_COUNTING = "    if available > count:\n"
DAY = 86_400 * 1_000_000
DAYS_KEPT = 3
_REPEATS = 7
PER_DAY = 50
_SIZE = "SELECT count(*), sum(length(body) + coalesce(length(query), 0)) FROM receipt WHERE kind = ?"


class Block(NamedTuple):
    """Milliseconds of one block of calls: of the processor a call, and the median by the clock."""

    processor: float
    p50: float


class Compared(NamedTuple, Generic[T]):
    """A call with receipts and one without, and what makes their argument."""

    ours: Callable[[T], object]
    floor: Callable[[T], object]
    make: Callable[[], T]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--messages", type=int, default=20_000)
    arguments.add_argument("--rounds", type=int, default=200)
    arguments.add_argument("--pairs", type=int, default=0)
    arguments.add_argument("--calls", type=int, default=100)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        with Cloister(directory) as memory:
            fill(memory, "small", SMALL_POOL)
            fill(memory, "large", given.messages - SMALL_POOL)
        if given.pairs:
            found = in_pairs(Path(directory), given.pairs, given.calls)
            print(json.dumps(found) if given.json else "\n".join(map(pair_lines, found)))
            return
        report = measure(Path(directory), given.messages, given.rounds)
    print(json.dumps(report) if given.json else readable(report))


def in_pairs(directory: Path, pairs: int, calls: int) -> list[dict[str, Any]]:
    """Recall and prompt of a turn, and a context as the route answers it: blocks of calls with receipts and without."""
    services = build_services(read_settings(str(directory)))
    try:
        reach = ensure_local_tenant(services)
        named: list[tuple[str, Compared[Any]]] = [
            ("recall and prompt of a turn", turn_calls(services, reach)),
            ("context, receipt answered and not stored", context_calls(services, reach)),
        ]
        return [pair_of_blocks(name, given, pairs, calls) for name, given in named]
    finally:
        services.close()


def pair_of_blocks(name: str, given: "Compared[T]", pairs: int, calls: int) -> dict[str, Any]:
    """The figures of all pairs; the first pair is not counted."""
    taken: tuple[list[Block], list[Block]] = ([], [])
    for number in range(pairs + 1):
        made = [given.make() for _ in range(calls)]
        for which in (0, 1) if number % 2 else (1, 0):
            with nothing_for_receipts() if which else nullcontext():
                block = timed((given.ours, given.floor)[which], made)
            if number:
                taken[which].append(block)
    found: dict[str, Any] = {"name": name, "pairs": pairs, "calls": calls}
    for kind in ("processor", "p50"):
        ours, floor = ([getattr(block, kind) for block in blocks] for blocks in taken)
        found[kind] = {
            "with": spread(ours),
            "without": spread(floor),
            "more": spread([one - other for one, other in zip(ours, floor, strict=True)]),
            "times": spread([one / other for one, other in zip(ours, floor, strict=True)]),
        }
    return found


def timed(call: Callable[[T], object], arguments: Sequence[T]) -> "Block":
    times: list[float] = []
    began = time.process_time()
    for argument in arguments:
        since = time.perf_counter()
        call(argument)
        times.append((time.perf_counter() - since) * 1_000)
    return Block((time.process_time() - began) * 1_000 / len(arguments), statistics.median(times))


def spread(values: Sequence[float]) -> list[float]:
    """The median, the least and the greatest."""
    return [round(value, 4) for value in (statistics.median(values), min(values), max(values))]


def pair_lines(found: dict[str, Any]) -> str:
    said = [f"{found['name']}: {found['pairs']} pairs of {found['calls']} calls, in ms: median (least to greatest)"]
    for kind, meaning in (("processor", "processor time a call"), ("p50", "p50 by the clock")):
        parts = [f"{part} {at:.3f} ({least:.3f} to {most:.3f})" for part, (at, least, most) in found[kind].items()]
        said.append(f"  {meaning:<22}{'; '.join(parts)}")
    return "\n".join(said)


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
            *search(services, reach, rounds, stored),
            *size_and_retention(services, reach, clock, directory / DATABASE_FILE),
        ]
    finally:
        services.close()


def before_the_first_token(services: Services, reach: Reach, rounds: int, stored: str) -> list[dict[str, Any]]:
    taken = least(*turn_calls(services, reach), rounds)
    return lines("recall and prompt of a turn", taken, stored, most_more=1.0)


def turn_calls(services: Services, reach: Reach) -> Compared[Message]:
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

    return Compared(with_receipt, without, asked)


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
    taken = least(*context_calls(services, reach), rounds)
    return lines("context, receipt answered and not stored", taken, stored, most_times=1.03)


def context_calls(services: Services, reach: Reach) -> Compared[str]:
    """As the route answers it, encoded, in a project that does not store receipts."""

    def without(question: str) -> None:
        _CONTEXTS.dump_json(context_shape(services.context.build(reach, SESSION, ContextRequest(question=question))))

    def with_receipt(question: str) -> None:
        found = services.context.build(reach, SESSION, ContextRequest(question=question))
        _CONTEXTS.dump_json(context_shape(found, services.recall_receipts.of_context(reach, found, None)))

    return Compared(with_receipt, without, Questions().next)


def search(services: Services, reach: Reach, rounds: int, stored: str) -> list[dict[str, Any]]:
    """Ten hits, as the route answers them, encoded."""
    target = SearchTarget(session=SESSION)

    def without(question: str) -> None:
        _HITS.dump_json(hit_shapes(services.search.find(reach, question, target, 10)))

    def with_receipt(question: str) -> None:
        found = services.search.find(reach, question, target, 10)
        made = services.recall_receipts.of_search(reach, found, SESSION, None)
        _HITS.dump_json(hit_shapes(found))
        _RECEIPTS.dump_json(receipt_fields(made)["receipt"])

    taken = least(with_receipt, without, Questions().next, rounds)
    return lines("search, receipt answered and not stored", taken, stored, most_times=1.03)


@contextmanager
def nothing_for_receipts() -> Generator[None]:
    """Recall without what it does for receipts alone: the terms, and counting what was left out. The version of the pool is read by
    the query that also says what is in it, and counts of one addition each are left in."""

    def no_terms(*_: object, **__: object) -> None:
        """In the position of `RecallTerms`, and of the method of `Search` that makes them."""

    def none_excluded(*_: object) -> int:
        return 0

    with ExitStack() as patches:
        patches.enter_context(patch.object(build_context, "RecallTerms", no_terms))
        patches.enter_context(patch.object(Search, "_terms", no_terms))
        patches.enter_context(patch.object(Recall, "count_excluded", none_excluded))
        patches.enter_context(patch.object(Selection, "_pick", _pick_without_counting()))
        yield


@cache
def _pick_without_counting() -> Callable[..., object]:
    """`Selection._pick` without its last block, which counts the candidates that nobody reads. Made from its source, so that it
    fails if that block is not there."""
    source = textwrap.dedent(inspect.getsource(vars(Selection)["_pick"]))
    head, found, _ = source.partition(_COUNTING)
    if not found:
        raise AssertionError("Selection._pick counts in another way now: change the benchmark")
    made: dict[str, Any] = {}
    exec(f"{head}    return picked\n", selection.__dict__, made)
    return made["_pick"]


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


def least(
    ours: Callable[[T], object], floor: Callable[[T], object], make: Callable[[], T], rounds: int
) -> tuple[list[float], list[float]]:
    """The processor time of two calls with the same argument, each the least of several in turn, for one argument after another.
    The second one is called while recall does nothing for receipts. The first five arguments are not counted."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 5):
        argument, best = make(), [math.inf, math.inf]
        for repeat in range(_REPEATS):
            for which in (0, 1) if (number + repeat) % 2 else (1, 0):
                with nothing_for_receipts() if which else nullcontext():
                    began = time.process_time()
                    (ours, floor)[which](argument)
                    best[which] = min(best[which], (time.process_time() - began) * 1_000)
        if number >= 5:
            taken[0].append(best[0])
            taken[1].append(best[1])
    return taken


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
    most_times: float | None = None,
) -> list[dict[str, Any]]:
    """Both, and how much more the one takes: the median of the differences, each of two calls of one round, and by how many times
    of the other's median."""
    ours, floor = taken
    more = statistics.median(one - other for one, other in zip(ours, floor, strict=True))
    times = 1 + more / statistics.median(floor)
    return [
        line(f"{name}, {stored}", ours, floor=floor, floor_name="without"),
        line(f"{name}: more with a receipt", more, target=most_more),
        line(f"{name}: times of without", times, target=most_times),
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
