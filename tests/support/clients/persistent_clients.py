"""Clients that write, read, chat and follow events all the time, and repeat by themselves what a client repeats: a lost connection,
and an answer that says when to try again. Anything else that is no success is a failure."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import httpx2

from support.clients.chat_client import Reader, asking, messages
from support.clients.event_streams import Stream
from support.servers.http_server import Tenant

SESSION = "roses"
_PAUSE = 0.05
_REPEATED = frozenset({429, 503})


class PersistentClients:
    """`acknowledged` are the texts of writes that were answered, `chats` the sessions whose reply was read to its end, `told` what
    clients were told and how often, `failed` what a client would not repeat."""

    def __init__(self, tenant: Tenant, *, attempts: int = 40, waits_for_turns: bool = False) -> None:
        """With `waits_for_turns` a turn in progress is waited for: where its process lives on, it ends with its lease."""
        self.tenant = tenant
        self._busy = _REPEATED | {409} if waits_for_turns else _REPEATED
        self._attempts = attempts
        self.acknowledged: list[str] = []
        self.chats: list[str] = []
        self.failed: list[str] = []
        self.told: Counter[str] = Counter()
        self.reads = 0
        self.events = 0
        self.resets = 0
        self._stop = threading.Event()

    @contextmanager
    def running(self, *, writers: int = 2, chatters: int = 1) -> Generator[None]:
        """Run them while the block runs; then each finishes what it does."""
        work: list[Callable[[], None]] = [self._read, self._follow]
        work += [lambda name=f"w{number}": self._write(name) for number in range(writers)]
        work += [lambda name=f"c{number}": self._chat(name) for number in range(chatters)]
        threads = [threading.Thread(target=self._guarded, args=(each,), daemon=True) for each in work]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join(60)
            self.failed += [f"{thread.name} did not end" for thread in threads if thread.is_alive()]

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - it is a failure like others
            self.failed.append(repr(error))

    def wait_for(self, writes: int, chats: int = 0, seconds: float = 60) -> None:
        """Return when so many more writes, and replies, were acknowledged."""
        writes, chats = len(self.acknowledged) + writes, len(self.chats) + chats
        until = time.monotonic() + seconds
        while (len(self.acknowledged) < writes or len(self.chats) < chats) and time.monotonic() < until:
            assert not self.failed, self.failed
            time.sleep(0.01)
        assert len(self.acknowledged) >= writes and len(self.chats) >= chats, (self.told, self.failed)

    def lost(self) -> list[str]:
        """The acknowledged writes that are not stored."""
        stored = {each["content"] for each in messages(self.tenant, SESSION)}
        return [text for text in self.acknowledged if text not in stored]

    def duplicated(self) -> list[str]:
        """The writes that are stored twice, and the questions."""
        found = Counter(each["content"] for each in messages(self.tenant, SESSION))
        return [text for text, count in found.items() if count > 1] + [
            chat for chat in self.chats if [each["role"] for each in messages(self.tenant, chat)].count("user") != 1
        ]

    def reordered(self) -> list[str]:
        """The acknowledged writes that are stored before an earlier one of the same writer."""
        positions = {each["content"]: at for at, each in enumerate(messages(self.tenant, SESSION))}
        latest: dict[str, int] = {}
        found: list[str] = []
        for text in self.acknowledged:
            writer, position = text.rpartition(" ")[2], positions.get(text)
            if position is not None:
                if position < latest.get(writer, -1):
                    found.append(text)
                latest[writer] = max(position, latest.get(writer, -1))
        return found

    def inconsistent(self) -> list[str]:
        """The chats that do not end with the completed reply that was read."""
        return [chat for chat in self.chats if messages(self.tenant, chat)[-1]["status"] != "completed"]

    def _write(self, name: str) -> None:
        number = 0
        while not self._stop.is_set():
            text, number = f"Word {number} of {name}.", number + 1
            answer = self._asked(
                "POST",
                f"/v1/sessions/{SESSION}/messages",
                json={"role": "user", "content": text},
                headers={"Idempotency-Key": text},
            )
            if answer is not None:
                self.acknowledged.append(text)

    def _read(self) -> None:
        while not self._stop.is_set():
            for path in (f"/v1/sessions/{SESSION}", "/v1/sessions", "/org/projects"):
                self.reads += self._asked("GET", path) is not None

    def _asked(self, method: str, path: str, **given: Any) -> httpx2.Response | None:
        """The successful answer to a request, repeated as a client does."""
        for _ in range(self._attempts):
            try:
                with self.tenant.client() as http:
                    answer = http.request(method, path, **given)
            except httpx2.TransportError:
                self.told["connection lost"] += 1
            else:
                if answer.is_success:
                    return answer
                if answer.status_code not in _REPEATED:
                    break
                self.told[answer.json()["code"]] += 1
            time.sleep(_PAUSE)
        else:
            self.failed.append(f"{method} {path}: no success in {self._attempts} attempts")
            return None
        self.failed.append(f"{method} {path}: {answer.status_code} {answer.text}")
        return None

    def _chat(self, name: str) -> None:
        number = 0
        while not self._stop.is_set():
            session, number = f"{name}-{number}", number + 1
            body = asking(session, "Tell me.")
            for _ in range(self._attempts):
                end = self._streamed(body)
                if end == "completed":
                    self.chats.append(session)
                    break
                self.told[f"reply {end}"] += 1
                if end.startswith("refused"):
                    self.failed.append(f"chat {session}: {end}")
                    break
                time.sleep(_PAUSE)
                body = self._again(session)
            else:
                self.failed.append(f"chat {session}: no whole reply")

    def _again(self, session: str) -> dict[str, Any]:
        """What a client sends after a reply that did not end: the question again, unless it is stored."""
        for _ in range(self._attempts):
            try:
                with self.tenant.client() as http:
                    answer = http.get(f"/v1/sessions/{session}/messages")
            except httpx2.TransportError:
                time.sleep(_PAUSE)
                continue
            if answer.status_code == 200 and answer.json()["data"]:
                return {**asking(session, "Tell me."), "trigger": "regenerate-message"}
            break
        return asking(session, "Tell me.")

    def _streamed(self, body: dict[str, Any]) -> str:
        """How a reply ended: its status, `cut` without an end, or `refused`."""
        try:
            with self.tenant.client() as http, http.stream("POST", "/v1/chat/stream", json=body) as response:
                if response.status_code != 200:
                    response.read()
                    return "busy" if response.status_code in self._busy else f"refused: {response.text}"
                reply = Reader(response).rest()
        except httpx2.TransportError:
            return "cut"
        if not reply.done:
            return "cut"
        return str(reply.metadata["status"])

    def _follow(self) -> None:
        last = ""
        while not self._stop.is_set():
            try:
                headers = {"Last-Event-ID": last} if last else {}
                with Stream(self.tenant.address, self.tenant.key, headers) as stream:
                    while not self._stop.is_set() and not stream.ended:
                        time.sleep(0.02)
                    self.events += len(stream.events)
                    self.resets += sum(event.kind == "reset" for event in stream.events)
                    last = stream.last_id or last
                    self.told["events ended"] += stream.ended
            except (OSError, AssertionError) as error:
                if isinstance(error, AssertionError) and b"storage_" not in repr(error).encode():
                    raise
                self.told["connection lost"] += 1
                time.sleep(_PAUSE)
