"""A commit that was not confirmed is said to be unknown, through every door, and repeating it with its key does it once (OPS-1)."""

import json
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.errors import APIStatusError

from cloister import Cloister, OutcomeUnknown, StorageError
from cloister.domain.errors import StorageUnavailable
from cloister.domain.reply import ChatRequest, Piece
from cloister.models.recall_only import RecallOnly
from cloister.storage.postgres.database import open_postgres
from support.clients.command_line import CommandLine
from support.clients.mcp_client import over_http
from support.databases.engines import Engine, postgres_engine, sqlite_engine
from support.databases.faulty_files import Fsync, files_with_faulty_fsync
from support.databases.postgres_proxy import CommitProxy, commit_proxy
from support.databases.postgres_server import PostgresServer
from support.databases.rows import insert_message, settle
from support.servers.http_server import Server, Tenant, serving

WORDS: Any = {"role": "user", "content": "The heron stood by the pond."}
ADVICE = "repeat the request with the same idempotency key"


@pytest.fixture(scope="module")
def fsync() -> Generator[Fsync]:
    with files_with_faulty_fsync() as made:
        yield made


@pytest.fixture(scope="module")
def engine(fsync: Fsync, folder: Path) -> Generator[Engine]:
    made = sqlite_engine(folder / "unknown-outcomes")
    with made.closing:
        yield made


@pytest.fixture(scope="module")
def server(engine: Engine) -> Generator[Server]:
    with serving(engine.services()) as running:
        yield running


@pytest.fixture
def tenant(server: Server, fsync: Fsync) -> Generator[Tenant]:
    made = server.new_tenant()
    made.new_session("s")
    yield made
    fsync.fails = False


@pytest.fixture(scope="module")
def proxy(postgres_server: PostgresServer) -> Generator[CommitProxy]:
    with postgres_server.migrated_database() as url, commit_proxy(url) as made:
        yield made


class Model(RecallOnly):
    """Answers, and if asked to, has the proxy cut the next commit: that of its reply."""

    def __init__(self, proxy: CommitProxy) -> None:
        self.proxy = proxy
        self.cuts = False

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        async for piece in super().stream(request):
            yield piece
        self.proxy.cuts += self.cuts


@pytest.fixture(scope="module")
def model(proxy: CommitProxy) -> Model:
    return Model(proxy)


@pytest.fixture(scope="module")
def postgres_service(proxy: CommitProxy, model: Model) -> Generator[Server]:
    engine = postgres_engine(proxy.url)
    with engine.closing, serving(engine.services(chat_model=model)) as running:
        yield running


def said_in(tenant: Tenant) -> list[str]:
    return [each["content"] for each in tenant.admin.everything("/v1/sessions/s/messages")]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_server_lost_while_it_commits_leaves_an_unknown_outcome_and_the_key_resolves_it(
    postgres_service: Server, proxy: CommitProxy, when: Any
) -> None:
    """OPS-1: PostgreSQL is cut off at COMMIT. Nothing tells which of both happened; the same key gives one message in either."""
    tenant = postgres_service.new_tenant()
    tenant.new_session("s")
    proxy.when, proxy.cuts = when, 1
    key = {"Idempotency-Key": f"key-{when}"}
    lost = tenant.admin.post("/v1/sessions/s/messages", WORDS, headers=key)
    while lost.status_code == 201:  # a write of the background was cut off instead
        tenant = postgres_service.new_tenant()
        tenant.new_session("s")
        proxy.cuts = 1
        lost = tenant.admin.post("/v1/sessions/s/messages", WORDS, headers=key)
    assert (lost.status_code, lost.json()["code"]) == (503, "outcome_unknown")
    assert lost.headers["retry-after"] == "1"
    assert ADVICE in lost.json()["detail"]
    assert said_in(tenant) == [WORDS["content"]] * (when == "after")
    again = tenant.admin.post("/v1/sessions/s/messages", WORDS, headers=key)
    assert again.status_code == 201
    assert said_in(tenant) == [WORDS["content"]]


def test_a_reply_whose_commit_was_lost_after_it_was_made_is_stored_once_and_completed(
    postgres_service: Server, proxy: CommitProxy, model: Model
) -> None:
    """OPS-1: the turn looks whether its reply is there, rather than say that it was not kept."""
    tenant = postgres_service.new_tenant()
    proxy.when, model.cuts = "after", True
    stream = tenant.admin.post("/v1/chat/stream", {"id": "s", "messages": [ui_message()]})
    model.cuts = False
    assert proxy.cuts == 0
    assert '"type":"error"' not in stream.text
    said = tenant.admin.everything("/v1/sessions/s/messages")
    assert [(each["role"], each["status"]) for each in said] == [("user", "completed"), ("assistant", "completed")]
    assert said[1]["id"] in stream.text


def test_a_read_whose_end_is_lost_is_no_unknown_outcome(migrated_postgres: str) -> None:
    with commit_proxy(migrated_postgres) as proxy:
        database = open_postgres(proxy.url)
        home = settle(database)
        proxy.of, proxy.cuts = "reads", 1
        with pytest.raises(StorageUnavailable), database.read(home.reach) as transaction:
            transaction.row("tenant")
        assert database.write_problem() is None
        proxy.of, proxy.cuts = "writes", 1
        with pytest.raises(OutcomeUnknown, match="same idempotency key"):
            database.write(home.reach, lambda other: insert_message(other, home.session, 2))
        assert isinstance(database.write_problem(), OutcomeUnknown)
        database.write(home.reach, lambda other: insert_message(other, home.session, 3))
        assert database.write_problem() is None
        database.close()


def test_a_commit_that_the_disk_does_not_confirm_is_an_unknown_outcome(fsync: Fsync, data: Path) -> None:
    """OPS-1: the fsync fails when the commit is already in the file. A copy of the files, as a crash would leave them, has it."""
    with Cloister(data) as memory:
        memory.create_session("s")
        memory.record("s", "user", "Before.")
        fsync.fails = True
        with pytest.raises(OutcomeUnknown, match="same idempotency key") as unknown:
            memory.record("s", **WORDS, idempotency_key="k")
        assert isinstance(unknown.value, StorageError)
        fsync.fails = False
        crashed = data.with_name(f"{data.name}-crashed")
        crashed.mkdir(mode=0o700)
        for file in ("cloister.db", "cloister.db-wal"):
            (crashed / file).write_bytes((data / file).read_bytes())
        assert [each.content for each in memory.messages("s")] == ["Before."]
        memory.record("s", **WORDS, idempotency_key="k")
        assert [each.content for each in memory.messages("s")] == ["Before.", WORDS["content"]]
    with Cloister(crashed) as memory:
        assert [each.content for each in memory.messages("s")] == ["Before.", WORDS["content"]]
        memory.record("s", **WORDS, idempotency_key="k")
        assert [each.content for each in memory.messages("s")] == ["Before.", WORDS["content"]]


def test_every_door_says_that_the_outcome_is_unknown_in_the_words_of_its_clients(
    server: Server, tenant: Tenant, fsync: Fsync
) -> None:
    fsync.fails = True
    plain = tenant.admin.post("/v1/sessions/s/messages", WORDS)
    assert (plain.status_code, plain.json()["code"], plain.headers["retry-after"]) == (503, "outcome_unknown", "1")
    stream = tenant.admin.post("/v1/chat/stream", {"id": "s", "messages": [ui_message()]})
    assert (stream.status_code, stream.json()["code"]) == (503, "outcome_unknown")

    messages: Any = [{"role": "user", "content": "Hello."}]
    with openai.OpenAI(base_url=f"{server.address}/v1", api_key=tenant.key) as client:
        with pytest.raises(openai.InternalServerError) as failed:
            client.chat.completions.create(model="m", messages=messages)
        assert (failed.value.status_code, failed.value.code) == (503, "outcome_unknown")
        # A client that repeated it by itself might store the question twice.
        assert failed.value.response.headers["x-should-retry"] == "false"
        with pytest.raises(openai.InternalServerError) as failed:
            client.responses.create(model="m", input="Hello.")
        assert failed.value.code == "outcome_unknown"
    with anthropic.Anthropic(base_url=f"{server.address}/anthropic", api_key=tenant.key) as speaker:
        with pytest.raises(anthropic.APIStatusError) as refused:
            speaker.messages.create(model="m", max_tokens=50, messages=messages)
        body: Any = refused.value.body
        assert (refused.value.status_code, body["error"]["code"]) == (503, "outcome_unknown")
        assert ADVICE in body["error"]["message"]
        assert refused.value.response.headers["x-should-retry"] == "false"
    fsync.fails = False
    with over_http(server.address, tenant.key) as assistant:
        assistant.call("remember", contents=["Ann has a cat."])
        fsync.fails = True
        assert assistant.refusal("remember", contents=["Ann drinks tea."]).startswith("outcome_unknown: Whether")
    with get_sync_client(url=f"{server.address}/langgraph", api_key=tenant.key) as store:
        with pytest.raises(APIStatusError) as missing:
            store.store.put_item(["notes"], "tea", {"text": "green"})
        assert json.loads(missing.value.response.content)["code"] == "outcome_unknown"
    line = CommandLine(data=server.address, key=tenant.key)
    assert ADVICE in line.refusal("record", "s", "Hello.", "--role", "user")


def ui_message() -> dict[str, Any]:
    return {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hello."}]}


def test_the_remote_library_repeats_what_has_a_key_and_raises_the_same_error(
    server: Server, tenant: Tenant, fsync: Fsync, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OPS-1: a write that carries an idempotency key is repeated by the library itself."""
    pauses: list[float] = []

    def pause(_: object, seconds: float) -> bool:
        pauses.append(seconds)
        fsync.fails = len(pauses) != 4
        return False

    monkeypatch.setattr("cloister.interfaces.python.connection.Connection._pause", pause)
    with Cloister(server.address, key=tenant.key) as memory:
        fsync.fails = True
        with pytest.raises(OutcomeUnknown, match="same idempotency key"):
            memory.record("s", **WORDS)
        with pytest.raises(OutcomeUnknown):
            memory.update_session("s", title="A title")
        assert len(pauses) == 3
        assert memory.record("s", **WORDS).content == WORDS["content"]
        assert len(pauses) == 4
    assert said_in(tenant) == [WORDS["content"]]
