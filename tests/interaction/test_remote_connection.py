"""The connection of the remote library: what happens when it breaks, hangs, or leads to something else than a Cloister."""

import json
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from cloister import Cloister, CloisterError, Closed, Overloaded, ServerError
from cloister.bootstrap import wire
from cloister.domain import errors
from cloister.interfaces.python import connection as remote_connection
from cloister.storage.sqlite.database import SqliteDatabase
from support.databases.engines import EMBEDDER, exact_index
from support.servers.faulty_servers import Cutting, cutting, http, telling
from support.servers.http_server import ServerProcess, Tenant, serving

SESSION: dict[str, object] = {
    "external_id": "s",
    "project_id": None,
    "user_id": None,
    "title": None,
    "tags": ["a"],
    "metadata": {},
    "message_count": 3,
    "memory_job_pending": False,
    "last_extraction_error": None,
    "created_at": "2026-01-31T09:30:00Z",
    "updated_at": "2026-01-31T09:30:00Z",
}


@pytest.fixture
def tenant(sqlite_database: SqliteDatabase) -> Generator[Tenant]:
    with serving(wire(sqlite_database, index=exact_index(), embedder=EMBEDDER)) as server:
        yield server.new_tenant()


@pytest.fixture
def proxy(tenant: Tenant) -> Generator[Cutting]:
    with cutting(tenant.address) as proxy:
        yield proxy


@pytest.fixture
def memory(proxy: Cutting, tenant: Tenant) -> Generator[Cloister]:
    """Through the proxy."""
    with Cloister(proxy.address, key=tenant.key) as memory:
        yield memory


def problem(status: int, code: str, detail: str, *, about: tuple[str, str] | None = None, **headers: str) -> bytes:
    body: dict[str, object] = {"type": "about:blank", "title": "No", "status": status, "detail": detail, "code": code}
    if about is not None:
        body["kind"], body["id"] = about
    return http(status, json.dumps(body), "application/problem+json", **headers)


def said_by(answer: bytes, call: Callable[[Cloister], object] = lambda memory: memory.session("s")) -> CloisterError:
    """The error that an answer of a server becomes."""
    with telling(answer) as server, Cloister(server.address, key="clo_1") as memory:
        with pytest.raises(CloisterError) as caught:
            call(memory)
        return caught.value


WRITES: dict[str, tuple[Callable[[Cloister], object], Callable[[Cloister], int]]] = {
    "record": (lambda memory: memory.record("s", "user", "x"), lambda memory: len(memory.messages("s"))),
    "record_batch": (
        lambda memory: memory.record_batch("s", [{"role": "user", "content": "x"}]),
        lambda memory: len(memory.messages("s")),
    ),
    "record_episode": (
        lambda memory: memory.record_episode("s", "x", "y"),
        lambda memory: len(memory.messages("s")) // 2,
    ),
    "add_items": (
        lambda memory: memory.add_items("s", [{"role": "user", "content": "x"}]),
        lambda memory: len(memory.messages("s")),
    ),
    "create_session": (lambda memory: memory.create_session(), lambda memory: len(memory.sessions()) - 1),
    "create_project": (
        lambda memory: memory.create_project("P", allow_duplicate_name=True),
        lambda memory: len(memory.projects()) - 1,
    ),
    "create_key": (lambda memory: memory.create_key("k"), lambda memory: len(memory.keys()) - 1),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_whose_answer_was_lost_is_done_once(memory: Cloister, proxy: Cutting, name: str) -> None:
    memory.create_session("s")
    write, count = WRITES[name]
    asked, proxy.cuts = proxy.requests, 1
    assert write(memory)
    assert proxy.requests == asked + 2
    assert count(memory) == 1


def test_the_answer_after_a_lost_one_is_the_first_answer(memory: Cloister, proxy: Cutting, tenant: Tenant) -> None:
    proxy.cuts = 1
    made = memory.create_key("k")
    with Cloister(tenant.address, key=made.key) as another:
        assert another.sessions() == []


def test_a_write_whose_answer_is_lost_twice_says_that_it_may_have_been_done(memory: Cloister, proxy: Cutting) -> None:
    memory.create_session("s")
    proxy.cuts = 2
    with pytest.raises(ServerError, match=r"connection to .* broke. Whether the change was made is not known"):
        memory.record("s", "user", "x")
    assert memory.session("s").message_count == 1


def test_a_read_whose_answer_was_lost_is_asked_again(memory: Cloister, proxy: Cutting) -> None:
    memory.create_session("s")
    reads: list[Callable[[], object]] = [
        lambda: memory.session("s"),
        lambda: memory.messages("s"),
        lambda: memory.context("s", "x"),
        lambda: memory.search("x"),
        lambda: memory.usage(),
    ]
    for read in reads:
        proxy.cuts = 1
        read()
        assert proxy.cuts == 0
    proxy.cuts = 2
    with pytest.raises(ServerError, match="Try again"):
        memory.session("s")


def test_what_cannot_be_repeated_is_not_repeated(memory: Cloister, proxy: Cutting) -> None:
    memory.create_session("s")
    message = memory.record("s", "user", "x")
    project = memory.create_project("P").project_id
    key = memory.create_key("k").key_id
    writes: list[Callable[[], object]] = [
        lambda: memory.update_session("s", title="T"),
        lambda: memory.update_project(project, name="Q"),
        lambda: memory.forget_message(message.id),
        lambda: memory.clear_session("s"),
        lambda: memory.delete_session("s"),
        lambda: memory.delete_project(project),
        lambda: memory.revoke_key(key),
    ]
    for write in writes:
        asked, proxy.cuts = proxy.requests, 1
        with pytest.raises(ServerError, match="not known"):
            write()
        assert proxy.requests == asked + 1


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited for, at once."""
    made: list[float] = []

    def pause(_: object, seconds: float) -> bool:
        made.append(seconds)
        return False

    monkeypatch.setattr(remote_connection.Connection, "_pause", pause)
    return made


def read(memory: Cloister) -> object:
    return memory.session("s")


def create(memory: Cloister) -> object:
    return memory.create_session("s")


def change(memory: Cloister) -> object:
    return memory.update_session("s", title="T")


@pytest.mark.parametrize(
    ("call", "status", "code", "seconds", "is_repeated"),
    [
        (read, 503, "overloaded", "1", True),
        (change, 503, "overloaded", "1", True),
        (change, 429, "rate_limited", "2", True),
        (read, 503, "closed", "1", True),
        (create, 503, "storage_busy", "1", True),
        (create, 503, "outcome_unknown", "1", True),
        (change, 503, "storage_busy", "1", False),
        (change, 503, "outcome_unknown", "1", False),
        (read, 503, "storage_missing", None, False),
        (change, 429, "quota_exceeded", None, False),
        (read, 503, "overloaded", "60", False),
    ],
)
def test_what_may_be_repeated_is_after_the_seconds_that_the_server_names(
    pauses: list[float],
    call: Callable[[Cloister], object],
    status: int,
    code: str,
    seconds: str | None,
    *,
    is_repeated: bool,
) -> None:
    """OPS-4: a rolling restart and a moment of overload fail no request that can be repeated."""
    refused = problem(status, code, "Not now.", Retry_After=seconds or "soon")
    answers = [refused, refused, http(200, json.dumps(SESSION))]
    with telling(answers) as server, Cloister(server.address, key="clo_1") as memory:
        if is_repeated:
            call(memory)
        else:
            with pytest.raises(CloisterError):
                call(memory)
    assert len(server.asked) == (3 if is_repeated else 1)
    assert all(int(seconds or 0) <= pause for pause in pauses)
    assert pauses == sorted(pauses)


def test_a_server_that_refuses_for_long_is_asked_four_times(pauses: list[float]) -> None:
    refused = problem(503, "overloaded", "Not now.", Retry_After="1")
    with telling(refused) as server, Cloister(server.address, key="clo_1") as memory, pytest.raises(Overloaded):
        read(memory)
    assert (len(server.asked), len(pauses)) == (4, 3)


def test_an_export_is_repeated_too(pauses: list[float], tmp_path: Path) -> None:
    answers = [problem(503, "overloaded", "Not now.", Retry_After="1"), http(404, "{}")]
    with telling(answers) as server, Cloister(server.address, key="clo_1") as memory, pytest.raises(ServerError):
        memory.export(tmp_path / "archive")
    assert (len(server.asked), len(pauses)) == (2, 1)


def test_closing_ends_the_wait_for_a_server_that_refuses() -> None:
    """The error of the last answer is raised, at once."""
    with telling(problem(503, "overloaded", "Not now.", Retry_After="15")) as server, ThreadPoolExecutor() as threads:
        memory = Cloister(server.address, key="clo_1")
        asked = threads.submit(read, memory)
        while not server.asked:
            assert not asked.done()
        memory.close()
        with pytest.raises(Overloaded):
            asked.result(10)
    assert len(server.asked) == 1


def test_a_server_that_is_gone_is_said_so_and_one_that_is_back_is_used(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "data") as first:
        key = (tmp_path / "data" / "local.key").read_text()
        port = first.address.rpartition(":")[2]
        with Cloister(first.address, key=key) as memory:
            memory.create_session("s")
            memory.record("s", "user", "Before.")
            first.kill()
            with pytest.raises(ServerError, match=r"No Cloister answers at http://.*: is it running there"):
                memory.record("s", "user", "Lost.")
            with ServerProcess(tmp_path / "data", options=("--port", port)):
                memory.record("s", "user", "After.")
                assert [message.content for message in memory.messages("s")] == ["Before.", "After."]


def test_a_server_that_stays_silent_is_not_waited_for_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_connection, "_SECONDS_TO_ANSWER", 0.2)
    with telling(None) as server, Cloister(server.address, key="clo_1") as memory:
        with pytest.raises(ServerError, match=r"did not answer in 0.2 s. Try again."):
            memory.session("s")
        with pytest.raises(ServerError, match=r"did not answer in 0.2 s. Whether the change was made is not known"):
            memory.create_session("s")
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    "answer",
    [
        http(200, "<html>Welcome</html>", "text/html"),
        http(502, "<html>Bad gateway</html>", "text/html"),
        http(404, '{"message": "nothing here"}'),
        http(500, "[]"),
        http(302, "", Location="http://127.0.0.1:1/elsewhere"),
    ],
    ids=["page", "gateway", "other JSON", "list", "redirect"],
)
def test_what_does_not_answer_like_a_cloister_is_said_so(answer: bytes) -> None:
    error = said_by(answer)
    assert type(error) is ServerError
    assert "not as a Cloister does: check the address" in str(error)


def test_the_key_is_sent_to_its_address_and_nowhere_else() -> None:
    with telling(http(200, "{}")) as other, telling(http(307, "", Location=f"{other.address}/v1/sessions")) as server:
        with Cloister(server.address, key="clo_secret") as memory, pytest.raises(ServerError):
            memory.sessions()
        assert b"Bearer clo_secret" in server.asked[0]
        assert other.asked == []


def test_half_an_answer_is_a_broken_connection() -> None:
    assert "broke" in str(said_by(http(200, json.dumps(SESSION))[:-20]))


def test_a_newer_server_may_say_more_and_an_older_one_is_noticed() -> None:
    newer = http(200, json.dumps({**SESSION, "colour": "blue"}))
    with telling(newer) as server, Cloister(server.address, key="clo_1") as memory:
        found = memory.session("s")
        assert (found.external_id, found.tags, found.message_count) == ("s", ("a",), 3)
        assert (found.pinned, found.current_leaf_id, found.is_forked) == (False, None, False), "older servers have none"
    older = {name: value for name, value in SESSION.items() if name != "message_count"}
    assert "does not understand (message_count)" in str(said_by(http(200, json.dumps(older))))
    assert "(data)" in str(said_by(http(200, "{}"), lambda memory: memory.sessions()))
    assert "There is no such route." in str(said_by(problem(404, "not_found", "There is no such route.")))


def _codes() -> dict[str, type[CloisterError]]:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, CloisterError)]
    return {kind.code: kind for kind in kinds if "code" in vars(kind)}


@pytest.mark.parametrize("code", sorted(_codes()))
def test_every_code_becomes_the_error_it_names(code: str) -> None:
    """What a server says of itself, that it failed or is closing, is a `ServerError` here."""
    error = said_by(problem(418, code, "There is no teapot 'x' here.", about=("teapot", "x")))
    its_own = code in ("error", "server_error", "closed")
    assert type(error) is (ServerError if its_own else _codes()[code])
    assert "There is no teapot 'x' here." in str(error)


def test_a_failure_of_the_server_names_the_request() -> None:
    error = said_by(problem(500, "internal_error", "Something broke on our side.", X_Request_ID="abc123"))
    assert type(error) is ServerError
    assert str(error).endswith("answered 500: Something broke on our side. X-Request-ID: abc123.")


def test_one_remote_serves_many_threads(tenant: Tenant) -> None:
    with Cloister(tenant.address, key=tenant.key) as memory:
        memory.create_session("all")

        def talk(number: int) -> list[str]:
            own = memory.create_session(f"own {number}").external_id
            for turn in range(10):
                memory.record(own, "user", f"{number}/{turn}")
                memory.record("all", "user", f"{number}/{turn}")
            return [message.content for message in memory.messages(own)]

        with ThreadPoolExecutor(16) as threads:
            said = list(threads.map(talk, range(16)))
        assert said == [[f"{number}/{turn}" for turn in range(10)] for number in range(16)]
        everything = [message.content for message in memory.messages("all", limit=200)]
        assert sorted(everything) == sorted(word for words in said for word in words)


def test_closing_waits_for_what_is_under_way() -> None:
    time = threading.Event()
    with telling(http(200, json.dumps(SESSION)), time) as server, ThreadPoolExecutor() as threads:
        memory = Cloister(server.address, key="clo_1")
        asked = threads.submit(memory.session, "s")
        while not server.asked:
            assert not asked.done()
        closing = threads.submit(memory.close)
        while not cast(Any, memory)._backend.server._closed:
            assert not asked.done()
        with pytest.raises(Closed):
            memory.session("s")
        assert not closing.done()
        time.set()
        closing.result(10)
        assert asked.result(10).external_id == "s"
