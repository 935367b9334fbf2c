"""A model's server with answers set by the test: the one place where a model is faked, at the network's edge."""

import json
import re
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_STATEMENT = re.compile(r'^<statement number="(\d+)" [^\n]*>\n(.*?)\n</statement>$', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What is sent back. `pieces` go out one by one, with a pause before each."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    pieces: Sequence[bytes] = ()
    pause: Callable[[], object] = lambda: None


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def instructions(self) -> str:
        return self.body["messages"][0]["content"]

    @property
    def question(self) -> str:
        return self.body["messages"][1]["content"]

    @property
    def statements(self) -> dict[int, str]:
        """What stands between the marks, by number, as a reader who trusts them would find it."""
        return {int(number): text for number, text in _STATEMENT.findall(self.question)}


def completion(content: str | None, finish_reason: str = "stop") -> Answer:
    """A completion as a stream of events, in which it is asked for."""
    halves = [None] if content is None else [content[: len(content) // 2], content[len(content) // 2 :]]
    chunks: list[dict[str, object]] = [{"delta": {"content": half}, "finish_reason": None} for half in halves]
    chunks.append({"delta": {}, "finish_reason": finish_reason})
    lines = [event({"choices": [{"index": 0, **chunk}]}) for chunk in chunks]
    return stream(*lines, event({"choices": [], "usage": {"total_tokens": 7}}), b"data: [DONE]\n\n")


def in_one_piece(content: str) -> Answer:
    """The same from a server that does not stream."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    return Answer(body=json.dumps({"object": "chat.completion", "choices": [choice]}).encode())


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def stream(*events: bytes) -> Answer:
    return Answer(body=b"".join(events), headers={"content-type": "text/event-stream"})


def completed(value: object) -> Answer:
    return completion(json.dumps(value))


def refusal(status: int, message: str, *, code: str | None = None, **headers: str) -> Answer:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, body=json.dumps({"error": error}).encode(), headers=named)


Script = Callable[[Asked], Answer]


class FakeEndpoint:
    """Answers with the script, or with a list of answers one after the other; the last one stays. With `models` it lists them, and
    questions for that list are neither answered by the script nor noted. With `title`, that is the answer to all who want one for
    a conversation, and they are noted in `titled` only."""

    def __init__(self, address: str) -> None:
        self.url = f"{address}/v1"
        self.asked: list[Asked] = []
        self.models: tuple[str, ...] | None = None
        self.title: Answer | None = None
        self.titled: list[Asked] = []
        self._script: Script = lambda _: refusal(500, "no answer is set")

    def answers(self, *answers: Answer) -> None:
        left = list(answers)
        self._script = lambda _: left.pop(0) if len(left) > 1 else left[0]

    def follows(self, script: Script) -> None:
        self._script = script

    def answer(self, asked: Asked) -> Answer:
        if self.models is not None and asked.path.endswith("/models"):
            return Answer(body=json.dumps({"data": [{"id": name} for name in self.models]}).encode())
        if self.title is not None and _wants_title(asked):
            self.titled.append(asked)
            return self.title
        self.asked.append(asked)
        return self._script(asked)


def _wants_title(asked: Asked) -> bool:
    return bool(asked.body) and "You name conversations." in str(asked.body.get("messages", [""])[0])


@contextmanager
def fake_endpoint() -> Generator[FakeEndpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = endpoint.answer(Asked(path=self.path, headers=headers, body=body))
            self.send_response(answer.status)
            for name, value in {"content-type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for piece in answer.pieces or (answer.body,):
                    answer.pause()
                    self.wfile.write(piece)
            except OSError:
                """Whoever asked did not wait for the end."""

        do_GET = do_POST  # noqa: N815 - the name is the standard library's

        def log_message(self, format: str, *args: Any) -> None:
            """Not to standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint = FakeEndpoint(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
