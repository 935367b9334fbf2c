"""What a reply with memory costs before its first word, and whether many at once stay apart.

    python benchmarks/chat.py [--messages 100000] [--streams 200] [--quick] [--json]

`cloister serve` runs in a process of its own. Its model is a server in this process that answers at once: what is left is what we
add. Times are milliseconds, p50 unless said otherwise.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

from cloister import Cloister
from cloister.bootstrap import build_services, ensure_local_tenant
from cloister.domain.conversation import Draft
from cloister.domain.prompts.prompt import prompt
from cloister.services.recall.build_context import ContextRequest
from cloister.settings import CONTEXT_TOKENS, read_settings
from latency import SMALL_POOL, Questions, fill, line, readable
from service import Service, serving

TOKENS = 100
# Between the first token and the second: no model has all of them ready at once.
THINKING = 0.005
_DELTA = b'"type": "text-delta"'


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--messages", type=int, default=100_000)
    arguments.add_argument("--streams", type=int, default=200)
    arguments.add_argument("--quick", action="store_true", help="a tenth of everything, to see that it runs")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    share = 10 if given.quick else 1
    with tempfile.TemporaryDirectory(prefix="cloister-benchmark-") as directory:
        with Cloister(directory) as memory:
            fill(memory, "small", SMALL_POOL)
            fill(memory, "large", given.messages // share - SMALL_POOL)
        inside = recall_and_prompt(Path(directory), 200 // share)
        stored = f"{given.messages // share:,} stored, {SMALL_POOL:,} in the pool"
        report = [line(f"recall and prompt after a message, {stored}", inside, target=10)]
        report += asyncio.run(measure(Path(directory), given.messages // share, given.streams // share, 200 // share))
    print(json.dumps(report) if given.json else readable(report))


def recall_and_prompt(directory: Path, turns: int) -> list[float]:
    """In this process: what lies between the user's words, recorded just now, and a request that is ready for the model."""
    services = build_services(read_settings(str(directory)))
    reach, questions, taken = ensure_local_tenant(services), Questions(), list[float]()
    for turn in range(turns + 5):
        reply = Draft(role="assistant", content=f"Reply {turn}.")
        said = Draft(role="user", content=questions.next())
        *_, question = services.record.messages(reach, "small/ask", [reply, said]).messages
        began = time.perf_counter()
        context = services.context.build(
            reach, "small/ask", ContextRequest(question=question.content, budget=CONTEXT_TOKENS)
        )
        prompt(None, context, question)
        taken.append((time.perf_counter() - began) * 1_000)
    services.close()
    return taken[5:]


async def measure(directory: Path, messages: int, streams: int, turns: int) -> list[dict[str, Any]]:
    async with model() as asked:
        environment = {"CLOISTER_WORKER": "off", "CLOISTER_MODEL_NAME": "instant"}
        environment["CLOISTER_MODEL_URL"] = f"http://127.0.0.1:{asked.port}/v1"
        with serving(directory, **environment) as service:
            return await answered(asked, Client(service), messages, streams, turns)


async def answered(asked: "Model", client: "Client", messages: int, streams: int, turns: int) -> list[dict[str, Any]]:
    await client.turns(asked, "small/ask", 5)
    direct = [await asked.first_token() for _ in range(turns)]
    until_asked, until_told = await client.turns(asked, "small/ask", turns)
    await client.turns(asked, "large/ask", 2)
    _, in_large = await client.turns(asked, "large/ask", turns // 4)
    began = time.perf_counter()
    wrong = await client.at_once(streams)
    seconds = time.perf_counter() - began
    stored = f"{messages:,} stored, {SMALL_POOL:,} in the pool"
    return [
        line(f"until the model is asked, {stored}", until_asked),
        line(
            f"until the first token, {stored}",
            until_told,
            floor=direct,
            floor_name="the model asked directly",
        ),
        line(f"until the first token, {messages - SMALL_POOL:,} in the pool", in_large),
        line(f"{streams} streams at once: lost or mixed tokens of {streams * TOKENS:,}", wrong, target=0),
        line(f"{streams} streams at once: tokens a second", streams * TOKENS / seconds),
    ]


class Model:
    """A chat model that has its answer ready: the number that stands in the question, over and over. It keeps its connections, as
    model servers do."""

    def __init__(self) -> None:
        self.port = 0
        self.asked_at = 0.0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])
                body = json.loads(await reader.readexactly(length))
                self.asked_at = time.perf_counter()
                number = body["messages"][-1]["content"].rpartition("#")[2]
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                for token in range(TOKENS):
                    chunk = {"choices": [{"index": 0, "delta": {"content": f"{number}:{token} "}}]}
                    writer.write(_chunk(f"data: {json.dumps(chunk)}\n\n"))
                    await asyncio.sleep(0 if token else THINKING)
                end = {"choices": [{"index": 0, "finish_reason": "stop"}]}
                writer.write(_chunk(f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n") + _chunk(""))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            writer.close()

    async def first_token(self) -> float:
        body = json.dumps({"messages": [{"role": "user", "content": "#0"}]}).encode()
        request = f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        began = time.perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request)
        await reader.readuntil(b"data: ")
        taken = (time.perf_counter() - began) * 1_000
        await reader.readuntil(b"[DONE]")
        writer.close()
        return taken


def _chunk(text: str) -> bytes:
    return f"{len(text):x}\r\n{text}\r\n".encode()


@asynccontextmanager
async def model() -> AsyncGenerator[Model]:
    made = Model()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0, backlog=1_024)
    made.port = int(server.sockets[0].getsockname()[1])
    try:
        yield made
    finally:
        server.close()


class Client:
    """Says something, and reads the reply, over a connection for each turn."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._questions = Questions()

    async def turns(self, asked: Model, session: str, turns: int) -> tuple[list[float], list[float]]:
        """Milliseconds from the request until the model was asked, and until the first token was here."""
        until_asked: list[float] = []
        until_told: list[float] = []
        for number in range(turns):
            began = time.perf_counter()
            reader, writer = await self._say(session, f"{self._questions.next()} #{number}")
            await reader.readuntil(_DELTA)
            until_told.append((time.perf_counter() - began) * 1_000)
            until_asked.append((asked.asked_at - began) * 1_000)
            await reader.read()
            writer.close()
        return until_asked, until_told

    async def at_once(self, streams: int) -> int:
        """How many tokens of so many replies, told at one time, are not what their model said at that place."""
        return sum(await asyncio.gather(*(self._wrong(number) for number in range(streams))))

    async def _wrong(self, number: int) -> int:
        reader, writer = await self._say(f"stream {number}", f"Say your number: #{number}")
        body = await reader.read()
        writer.close()
        deltas = [json.loads(piece.partition(b"\n")[0]) for piece in body.split(b"data: ") if _DELTA in piece]
        told = "".join(delta["delta"] for delta in deltas).split()
        said = [f"{number}:{token}" for token in range(TOKENS)]
        return sum(one != other for one, other in zip_longest(told, said))

    async def _say(self, session: str, text: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        message = {"role": "user", "parts": [{"type": "text", "text": text}]}
        body = {"id": session, "messages": [message]}
        reader, writer = await asyncio.open_connection("127.0.0.1", self._service.port, limit=1 << 22)
        writer.write(self._service.request("POST", "/v1/chat/stream", body, close=True))
        return reader, writer


if __name__ == "__main__":
    main()
