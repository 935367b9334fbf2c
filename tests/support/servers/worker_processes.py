"""`cloister worker` in processes of its own, conversations that wait for it, and a model that answers from a script.

The model is faked at the network's edge. What it is told and what it answers is plain: each thing somebody says becomes one memory
and one entity, and whatever falls out of the recent window one note.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from support.databases.engines import Engine, Rows
from support.servers.fake_endpoint import Answer, Asked, completed
from support.servers.signal_dispositions import dispositions
from support.waiting import eventually

PATIENCE = 60
FACT = "I keep the bees of hive"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Data of either engine. `address` is what `--data` takes, `url` what a driver takes: a file, or a connection string."""

    engine: Engine
    address: str
    url: str

    def rows(self, statement: str) -> Rows:
        return self.engine.rows(statement)

    def number(self, statement: str) -> int:
        ((number,),) = self.rows(statement)
        assert isinstance(number, int)
        return number

    def make_due(self) -> None:
        """All sessions, whatever they wait for."""
        self.rows("UPDATE session SET due_at = 1 WHERE unchecked_count > 0")

    def eventually_none(self, condition: str) -> None:
        """Until no session is like this."""
        eventually(lambda: self.number(f"SELECT count(*) FROM session WHERE {condition}") == 0, PATIENCE)


class WorkerProcess:
    """As people start it, with a short lease; `kill` is SIGKILL, `stop` is SIGTERM."""

    def __init__(self, place: Place, *options: str, **environment: str) -> None:
        self.lines: list[Any] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "cloister", "worker", "--json", "--data", place.address, *options],
            env={**os.environ, "CLOISTER_WORKER_LEASE": "2", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=dispositions(),
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _is_start(self, line: Any) -> bool:
        assert "event" in line, f"the worker refused to start: {line}"
        return line["event"] == "worker started"

    def wait_until_started(self) -> None:
        eventually(lambda: any(self._is_start(line) for line in self.lines), PATIENCE)

    def stop(self) -> Any:
        """What it says it did."""
        self._process.send_signal(signal.SIGTERM)
        return self.result()

    def result(self, code: int = 0) -> Any:
        assert self._process.stdout is not None
        said = self._process.stdout.read()
        assert self._process.wait(PATIENCE) == code, (self._process.returncode, said, self.lines)
        return json.loads(said)

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.lines.append(json.loads(line) if line.startswith("{") else {"event": line})


def converse(
    services: Services, reach: Reach, name: str, *, exchanges: int = 2, project: ProjectId | None = None
) -> None:
    """A session with something worth keeping in each exchange, recorded at once."""
    services.sessions.create(reach, SessionFields(external_id=name, project=project))
    drafts: list[Draft] = []
    for number in range(exchanges):
        drafts += [
            Draft(role="user", content=f"{FACT} {name}-{number}."),
            Draft(role="assistant", content="That is a lot of bees."),
        ]
    services.record.messages(reach, name, drafts)


def kind(asked: Asked) -> str:
    """What is wanted: memories, entities or notes; or the list of models."""
    if asked.body is None:
        return "models"
    (field,) = asked.body["response_format"]["json_schema"]["schema"]["properties"]
    return field


def answered(asked: Asked) -> Answer:
    """The script of the plain model."""
    wanted = kind(asked)
    if wanted == "models":
        return Answer(body=json.dumps({"object": "list", "data": [{"id": "plain"}]}).encode())
    facts = {number: text for number, text in asked.statements.items() if text.startswith(FACT)}
    match wanted:
        case "memories":
            items = [{"content": text, "importance": 5, "sources": [number]} for number, text in facts.items()]
        case "entities":
            items = [
                {"name": _hive(text), "type": "place", "notes": text, "sources": [number]}
                for number, text in facts.items()
            ]
        case _:
            items = [{"content": f"{len(facts)} hives.", "sources": sorted(asked.statements)}]
    return completed({wanted: items})


def asked_about(asked: list[Asked], wanted: str) -> Counter[str]:
    """How often each hive was asked about."""
    found: Counter[str] = Counter()
    for each in asked:
        if kind(each) == wanted:
            found.update(_hive(text) for text in each.statements.values() if text.startswith(FACT))
    return found


def gated(gates: Mapping[str, threading.Event], reached: Callable[[str], object]) -> Callable[[Asked], Answer]:
    """The plain model, which says what it was asked, and then waits at the gate of that kind, where there is one."""

    def script(asked: Asked) -> Answer:
        reached(kind(asked))
        gate = gates.get(kind(asked))
        if gate is not None:
            gate.wait(PATIENCE)
        return answered(asked)

    return script


def _hive(text: str) -> str:
    return f"hive {text.removeprefix(FACT).strip(' .')}"
