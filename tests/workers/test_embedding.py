"""The additional embedder in a server, a worker and the command line: never in the way, and its state to be seen."""

import json
import logging
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from cloister import worker as loop
from cloister.domain.conversation import Draft
from cloister.domain.scope import Reach
from cloister.services.conversations.sessions import SessionFields
from cloister.worker import Worker
from support.clients.command_line import CommandLine, Outcome
from support.samples.additional_embedder import Synonyms
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint, fake_endpoint, refusal
from support.servers.http_server import serving
from support.servers.worker_processes import Place
from support.waiting import eventually

KILLED = Path(__file__).with_name("embedding_process.py")


def vectors(asked: Asked) -> Answer:
    data = [{"index": at, "embedding": [1.0, len(text), *[0.0] * 6]} for at, text in enumerate(asked.body["input"])]
    return Answer(body=json.dumps({"data": data}).encode())


@pytest.fixture
def endpoint() -> Generator[FakeEndpoint]:
    with fake_endpoint() as fake:
        fake.follows(vectors)
        yield fake


def test_a_worker_embeds_what_is_recorded_and_tries_again_after_a_failure(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(loop, "_INDEX_SECONDS", 0.01)
    monkeypatch.setattr(loop, "_LONGEST_PAUSE_SECONDS", 0.02)
    embedder = Synonyms(down=True)
    services = place.engine.services(additional_embedder=embedder)
    queue = services.vectors
    assert queue is not None
    reach = Reach(tenant=services.projects.create_tenant("One")[0])
    services.sessions.create(reach, SessionFields(external_id="s"))
    worker = Worker(services)
    with caplog.at_level(logging.WARNING, "cloister.worker"):
        worker.start()
        try:
            services.record.messages(reach, "s", [Draft(role="user", content="The bees need water.")])
            eventually(lambda: queue.failures > 1)
            embedder.down = False
            eventually(lambda: not queue.waiting())
            services.record.messages(reach, "s", [Draft(role="user", content="The gate is green.")])
            eventually(lambda: queue.embedded == 2)
        finally:
            worker.stop()
    assert worker.done.embedded == 2
    problems = {getattr(record, "fields", {})["problem"] for record in caplog.records}
    assert problems == {"The model (synonyms) cannot be reached."}


def test_a_server_stays_ready_and_answers_while_the_embedder_is_down(place: Place) -> None:
    embedder = Synonyms(down=True)
    services = place.engine.services(additional_embedder=embedder)
    with serving(services) as server:
        tenant = server.new_tenant()
        tenant.new_session("s")
        tenant.say("s", "The bees need water.")
        for _ in range(2):
            found = tenant.admin.post("/v1/search", {"query": "What do bees need?", "session_id": "s"}).json()
            assert "The bees need water." in json.dumps(found)
        assert server.nobody.get("/readyz").status_code == 200
        text = server.nobody.get("/metrics").text
    assert "cloister_embedding_waiting 1.0" in text
    assert 'cloister_embedding_questions_total{result="failed"} 1.0' in text
    assert 'cloister_embedding_questions_total{result="skipped"} 1.0' in text
    assert "cloister_embedding_failures_total 0.0" in text


def test_reindexing_and_the_doctor_say_how_far_it_is_and_what_is_wrong(tmp_path: Path, endpoint: FakeEndpoint) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    shell = CommandLine(data=str(tmp_path / "data"))

    def run(*arguments: str, code: int = 0, model: str = "minilm") -> Outcome:
        return shell.run(
            *arguments,
            code=code,
            CLOISTER_EMBEDDER="openai",
            CLOISTER_EMBEDDER_URL=endpoint.url,
            CLOISTER_EMBEDDER_MODEL=model,
            COLUMNS="200",
        )

    run("record", "--create", "beds", "Peas.")
    shown = run("doctor").stdout
    assert "openai:minilm" in shown and "1 message without a vector of it yet" in shown
    endpoint.answers(refusal(503, "loading"))
    assert "is not ready" in run("reindex", code=1).stderr
    assert "is not ready" in run("doctor").stdout
    endpoint.follows(vectors)
    run("reindex")
    assert "0 messages without a vector of it yet" in run("doctor").stdout
    run("record", "beds", "Beans.")
    assert "Embedded 1 message." in run("worker", "--once").stdout
    assert "CLOISTER_EMBEDDER_MODEL" in run("doctor", code=1, model="").stderr


def test_a_process_that_is_killed_in_the_middle_of_a_batch_leaves_nothing_half_done(
    place: Place, endpoint: FakeEndpoint
) -> None:
    services = place.engine.services(additional_embedder=Synonyms(name="openai:minilm"))
    reach = Reach(tenant=services.projects.create_tenant("One")[0])
    services.sessions.create(reach, SessionFields(external_id="s"))
    services.record.messages(reach, "s", [Draft(role="user", content=f"Message {number}.") for number in range(40)])
    command = [sys.executable, str(KILLED), place.engine.name, place.url, endpoint.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "embedded\n"
        process.kill()
    assert place.number("SELECT count(*) FROM message_vector") == 0
    assert services.vectors is not None
    assert services.vectors.waiting() == 40
    assert services.vectors.drain() == 0, "the lease of the killed process is not over"
    later = place.engine.services(additional_embedder=Synonyms(name="openai:minilm"), clock=lambda: 1 << 60)
    assert later.vectors is not None
    assert later.vectors.drain() == 40
    assert place.number("SELECT count(*) FROM message_vector") == 40
