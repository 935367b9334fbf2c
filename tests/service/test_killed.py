"""The server is killed under load, again and again: what it acknowledged is there, and what it did not can be repeated safely.

Set `CLOISTER_LONG_RUN=1` for twelve kills instead of three.
"""

import os
import random
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx2

from support.servers.http_server import Caller, ServerProcess, new_client

KILLS = 12 if os.environ.get("CLOISTER_LONG_RUN") else 3
WRITERS = 6


@dataclass(kw_only=True, slots=True)
class Kept:
    """A session as it must be found: what was said in it, by id, and where it is."""

    project: str | None
    said: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """A request about a session or a key that was never answered: done or not done. `settle` takes its answer into the books."""

    method: str
    path: str
    body: Any
    key: str
    about: str
    contents: tuple[str, ...]
    settle: Callable[[httpx2.Response], object]


class Writer:
    """One client with sessions of its own. It keeps books of all that it was told."""

    def __init__(self, number: int, projects: list[str | None]) -> None:
        self._number = number
        self._projects = projects
        self._random = random.Random(number)
        self._numbers = count(1)
        self.kept: dict[str, Kept] = {}
        self.gone: set[str] = set()
        self.keys: dict[str, bool] = {}
        """Whether each key is valid."""
        self.doubt: Doubt | None = None
        self.acknowledged = 0
        self.failure: BaseException | None = None

    def run(self, address: str, key: str) -> None:
        """Until the server is gone."""
        with new_client(address, key) as http:
            try:
                self.compare(Caller(http=http, headers={}))
                self.repeat(http)
                self.compare(Caller(http=http, headers={}))
                for act in self._acts():
                    self.send(http, act)
            except httpx2.TransportError:
                return
            except BaseException as failure:  # noqa: BLE001 - told to the test, which raises it
                self.failure = failure

    def repeat(self, http: httpx2.Client) -> None:
        """What was in doubt, once more under the same idempotency key."""
        if self.doubt is not None:
            self.send(http, self.doubt)

    def send(self, http: httpx2.Client, doubt: Doubt) -> None:
        repeated = self.doubt is doubt
        self.doubt = doubt
        answer = http.request(doubt.method, doubt.path, json=doubt.body, headers={"Idempotency-Key": doubt.key})
        done_before = repeated and doubt.method == "DELETE" and answer.status_code == 404
        assert done_before or answer.status_code < 300, f"{doubt.method} {doubt.path}: {answer.text}"
        doubt.settle(answer)
        self.doubt = None
        self.acknowledged += 1

    def compare(self, caller: Caller) -> None:
        """Everything acknowledged is there, in order and once; a batch in doubt is there as a whole, or not at all."""
        for name, kept in self.kept.items():
            doubt = self._in_doubt(name)
            answer = caller.get(f"/v1/sessions/{name}")
            if doubt is not None and doubt.method == "DELETE" and answer.status_code == 404:
                continue
            assert answer.status_code == 200, f"{name} is lost: {answer.text}"
            found = caller.everything(f"/v1/sessions/{name}/messages")
            assert answer.json()["message_count"] == len(found)
            contents, told = [entry["content"] for entry in found], list(kept.said.values())
            if doubt is None:
                assert answer.json()["project_id"] == kept.project
                assert {entry["id"]: entry["content"] for entry in found} == kept.said
            elif doubt.contents:
                assert contents in (told, [*told, *doubt.contents])
            elif doubt.path.endswith("/clear"):
                assert contents in (told, [])
            else:
                assert [content for content in told if content in contents] == contents
                assert len(told) - len(contents) <= (1 if doubt.path.startswith("/v1/messages") else 0)
        for name in self.gone:
            assert caller.get(f"/v1/sessions/{name}").status_code == 404
        for key, valid in self.keys.items():
            answer = caller.get("/v1/sessions?limit=1", headers={"Authorization": f"Bearer {key}"})
            assert answer.status_code == (200 if valid else 401) or self._in_doubt(key)

    def _in_doubt(self, about: str) -> Doubt | None:
        return self.doubt if self.doubt is not None and self.doubt.about == about else None

    def _acts(self) -> Generator[Doubt]:
        """Nothing is asked for twice before it was answered, so the books are always up to date here."""
        while True:
            names = list(self.kept)
            if len(names) < 2:
                yield self._create()
                continue
            name = self._random.choice(names)
            kind = self._random.random()
            if kind < 0.35:
                yield self._say(name, 1)
            elif kind < 0.65:
                yield self._say(name, self._random.randint(2, 40))
            elif kind < 0.80:
                yield self._move(name)
            elif kind < 0.86:
                yield self._forget(name)
            elif kind < 0.90:
                yield self._clear(name)
            elif kind < 0.95:
                yield self._delete(name)
            else:
                yield from self._key()

    def _doubt(
        self,
        method: str,
        path: str,
        about: str,
        settle: Callable[[httpx2.Response], object],
        body: Any = None,
        contents: tuple[str, ...] = (),
    ) -> Doubt:
        key = f"{self._number}-{next(self._numbers)}"
        return Doubt(method=method, path=path, body=body, key=key, about=about, contents=contents, settle=settle)

    def _create(self) -> Doubt:
        name = f"writer{self._number}-{next(self._numbers)}"
        project = self._random.choice(self._projects)

        def settle(_: httpx2.Response) -> None:
            self.kept[name] = Kept(project=project)

        return self._doubt("POST", "/v1/sessions", name, settle, {"external_id": name, "project_id": project})

    def _say(self, name: str, many: int) -> Doubt:
        contents = tuple(f"parcel {self._number}-{next(self._numbers)} came" for _ in range(many))
        messages = [{"role": "user", "content": content} for content in contents]
        path = f"/v1/sessions/{name}/messages"

        def settle(answer: httpx2.Response) -> None:
            said = [answer.json()] if many == 1 else answer.json()["data"]
            assert tuple(entry["content"] for entry in said) == contents
            self.kept[name].said |= {entry["id"]: entry["content"] for entry in said}

        if many == 1:
            return self._doubt("POST", path, name, settle, messages[0], contents)
        return self._doubt("POST", f"{path}/batch", name, settle, {"messages": messages}, contents)

    def _move(self, name: str) -> Doubt:
        project = self._random.choice(self._projects)

        def settle(_: httpx2.Response) -> None:
            self.kept[name].project = project

        return self._doubt("PATCH", f"/v1/sessions/{name}", name, settle, {"project_id": project})

    def _forget(self, name: str) -> Doubt:
        said = self.kept[name].said
        if not said:
            return self._say(name, 1)
        message = self._random.choice(list(said))
        return self._doubt("DELETE", f"/v1/messages/{message}", name, lambda _: said.pop(message))

    def _clear(self, name: str) -> Doubt:
        return self._doubt("POST", f"/v1/sessions/{name}/clear", name, lambda _: self.kept[name].said.clear())

    def _delete(self, name: str) -> Doubt:
        def settle(_: httpx2.Response) -> None:
            del self.kept[name]
            self.gone.add(name)

        return self._doubt("DELETE", f"/v1/sessions/{name}", name, settle)

    def _key(self) -> Generator[Doubt]:
        made: dict[str, str] = {}

        def settle(answer: httpx2.Response) -> None:
            made.update(answer.json())
            self.keys[made["key"]] = True

        yield self._doubt("POST", "/org/api-keys", "", settle, {"name": "passing"})
        if self._random.random() < 0.5:

            def settle_end(_: httpx2.Response) -> None:
                self.keys[made["key"]] = False

            yield self._doubt("DELETE", f"/org/api-keys/{made['key_id']}", made["key"], settle_end)


def test_what_was_acknowledged_survives_every_kill(tmp_path: Path) -> None:
    """ISO-5 and all else that was acknowledged."""
    moments = random.Random(2026)
    with ServerProcess(tmp_path) as process:
        tenant = process.server.new_tenant()
        writers = [Writer(number, [None, tenant.default_project_id]) for number in range(WRITERS)]
        write_until_killed(process, writers, tenant.key, moments.uniform(0.3, 1.2))
    for _ in range(KILLS - 1):
        with ServerProcess(tmp_path) as process:
            write_until_killed(process, writers, tenant.key, moments.uniform(0.3, 1.2))

    assert sum(writer.acknowledged for writer in writers) > 5 * KILLS
    with ServerProcess(tmp_path) as process, new_client(process.address, tenant.key) as http:
        for writer in writers:
            writer.compare(Caller(http=http, headers={}))
            writer.repeat(http)
            writer.compare(Caller(http=http, headers={}))
        stored = sum(len(kept.said) for writer in writers for kept in writer.kept.values())
        assert http.get("/org/usage").json()["messages"] == stored
        assert process.stop() == 0


def write_until_killed(process: ServerProcess, writers: list[Writer], key: str, seconds: float) -> None:
    threads = [threading.Thread(target=writer.run, args=(process.address, key)) for writer in writers]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    process.kill()
    for thread in threads:
        thread.join()
    for writer in writers:
        if writer.failure is not None:
            raise writer.failure
