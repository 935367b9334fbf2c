"""The remote library: an address opens it, it answers and refuses as the embedded one does, and says what is only a server's."""

import subprocess
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from cloister import (
    AsyncCloister,
    Cloister,
    CloisterError,
    Closed,
    Forbidden,
    InvalidRequest,
    QuotaExceeded,
    RateLimited,
    RemoteCloister,
    TooLarge,
    Unauthenticated,
)
from cloister.bootstrap import wire
from cloister.domain.errors import ModelUnavailable
from cloister.domain.identifiers import LOCAL_TENANT
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.interfaces.python import errors as remote_errors
from cloister.interfaces.python.backends.embedded import EmbeddedBackend
from cloister.interfaces.python.errors import Problem
from cloister.storage.sqlite.database import SqliteDatabase
from support.databases.engines import EMBEDDER, exact_index
from support.servers.http_server import serving

MISSING = "proj_00000000deadbeef"
Call = Callable[[Cloister], object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Both:
    """One tenant, seen from inside and through a server."""

    here: Cloister
    there: Cloister
    address: str

    def with_key(self, key: str) -> Cloister:
        return Cloister(self.address, key=key)


@pytest.fixture
def both(sqlite_database: SqliteDatabase) -> Generator[Both]:
    services = wire(sqlite_database, index=exact_index(), embedder=EMBEDDER)
    here = Cloister(services=services)
    key = here.create_key("tests", permissions=("read", "write", "admin")).key
    with serving(services) as server, Cloister(server.address, key=key) as there:
        yield Both(here=here, there=there, address=server.address)


def error_of(memory: Cloister, call: Call) -> CloisterError:
    with pytest.raises(CloisterError) as caught:
        call(memory)
    return caught.value


def test_an_address_opens_a_remote_cloister(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    key = both.here.create_key("another").key
    with Cloister(both.address + "/", key=f"{key}\n") as memory:
        assert isinstance(memory, RemoteCloister)
        assert memory.sessions() == []
    monkeypatch.setenv("CLOISTER_DATA", both.address)
    monkeypatch.setenv("CLOISTER_KEY", key)
    with Cloister() as memory:
        assert isinstance(memory, Cloister)
        assert [project.name for project in memory.projects()] == ["Default"]


def test_an_address_needs_a_key_and_a_directory_none(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLOISTER_KEY", raising=False)
    for key in (None, "", " \n", "schlüssel", "two\nlines"):
        with pytest.raises(InvalidRequest, match=f"key: must be an API key that {both.address} knows") as refused:
            Cloister(both.address, key=key)
        assert "CLOISTER_KEY" in str(refused.value)
    with pytest.raises(InvalidRequest, match="key: is for the http:// address of a server"):
        Cloister("data", key="clo_1")
    with pytest.raises(InvalidRequest, match="data"):
        RemoteCloister("data")


@pytest.mark.parametrize(
    "address",
    [
        "http://",
        "http://user:secret@host",
        "http://@host",
        "http://host?key=x",
        "http://host#",
        "http://host:0",
        "http://a b",
    ],
)
def test_an_address_is_an_address_and_nothing_more(address: str) -> None:
    with pytest.raises(InvalidRequest, match="data: must be the address of a server alone") as refused:
        Cloister(address, key="clo_1")
    assert "secret" not in str(refused.value)


def test_the_embedded_library_loads_nothing_that_only_the_remote_one_needs() -> None:
    program = "import sys, cloister; print({'httpx2', 'pydantic', 'fastapi'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_both_libraries_answer_alike(both: Both) -> None:
    project = both.there.create_project("Garden", member_visibility="private")
    both.there.create_session(
        "beds", project_id=project.project_id, user_id="ann", tags=["spring"], metadata={"a": [1]}
    )
    both.there.record(
        "beds", "user", "Peas – in the „north“ bed.", author="Ann", created_at="2026-01-31T09:30:00+01:00"
    )
    both.there.record_episode("beds", "And the beans?", "Beside them.")
    both.there.record("beds", "user", "My neighbour Anna plays the cello.")
    assert both.there.add_memories("beds", ["Ann likes peas."]).appended
    assert both.there.extract("beds").appended == 1
    assert len(both.here.memories("beds")) == 2 and both.here.entities(project.project_id, user_id="ann")
    both.there.create_key("pinned", project_id=project.project_id, confined=True, expires_at="2099-01-01T00:00:00Z")
    reads: list[Call] = [
        lambda memory: memory.project(project.project_id),
        lambda memory: memory.projects(),
        lambda memory: memory.session("beds"),
        lambda memory: memory.sessions(user_id="ann", limit=3),
        lambda memory: memory.messages("beds"),
        lambda memory: memory.context("beds", "peas"),
        lambda memory: memory.search("peas", session_id="beds"),
        lambda memory: memory.search("peas", project_id=project.project_id, user_id="ann"),
        lambda memory: memory.search(
            "Anna", project_id=project.project_id, user_id="ann", kinds=["entities", "memories"]
        ),
        lambda memory: memory.memories("beds", limit=2),
        lambda memory: memory.memories("beds", after=memory.memories("beds", limit=1)[0].id),
        lambda memory: memory.user_memories("ann", limit=1),
        lambda memory: memory.entities(project.project_id, user_id="ann"),
        lambda memory: memory.observations("beds"),
        lambda memory: memory.keys(),
        lambda memory: memory.usage(),
        lambda memory: memory.schema_version(),
    ]
    for read in reads:
        assert read(both.there) == read(both.here)


REFUSED: dict[str, Call] = {
    "no session": lambda memory: memory.session("no'body"),
    "no session, in quotes": lambda memory: memory.clear_session('it\'s "nobody"'),
    "empty session": lambda memory: memory.messages(""),
    "unstorable session": lambda memory: memory.context("\ud800"),
    "endless session": lambda memory: memory.delete_session("x" * 100_000),
    "session of another type": lambda memory: memory.record(5, "user", "x"),  # pyright: ignore[reportArgumentType]
    "no project": lambda memory: memory.project(MISSING),
    "no project to search": lambda memory: memory.search("peas", project_id=MISSING),
    "no project to list": lambda memory: memory.sessions(project_id=MISSING),
    "no project to move to": lambda memory: memory.update_session("s", project_id=MISSING),
    "no project to try a move to": lambda memory: memory.preview_move("s", MISSING),
    "no session to try to move": lambda memory: memory.preview_move("nobody", None),
    "no project id": lambda memory: memory.update_project("garden", name="x"),
    "no message": lambda memory: memory.forget_message("msg_0000000000000001"),
    "no message id": lambda memory: memory.messages("s", after="peas"),
    "no key": lambda memory: memory.revoke_key("key_0000000000000001"),
    "no session to add to": lambda memory: memory.add_memories("nobody", ["x"]),
    "no session to extract": lambda memory: memory.extract("nobody"),
    "no session's memories": lambda memory: memory.memories(""),
    "no session's notes": lambda memory: memory.observations("\ud800"),
    "no memory": lambda memory: memory.forget_memory("mem_0000000000000001"),
    "no memory id": lambda memory: memory.forget_memory("peas"),
    "no memory to go on from": lambda memory: memory.memories("s", after="mem_0000000000000001"),
    "no user": lambda memory: memory.user_memories(""),
    "no user's name": lambda memory: memory.user_memories("two\nlines"),
    "no memories": lambda memory: memory.add_memories("s", []),
    "one text": lambda memory: memory.add_memories("s", "x"),
    "empty memory": lambda memory: memory.add_memories("s", ["x", " "]),
    "large memory": lambda memory: memory.add_memories("s", ["x" * 2_001]),
    "many memories": lambda memory: memory.add_memories("s", ["x"] * 101),
    "memory of another type": lambda memory: memory.add_memories("s", [5]),  # pyright: ignore[reportArgumentType]
    "no entity": lambda memory: memory.retag_entity("ent_0000000000000001", memory.projects()[0].project_id),
    "no entity id": lambda memory: memory.retag_entity("peas", memory.projects()[0].project_id),
    "no project of entities": lambda memory: memory.entities(MISSING),
    "no project to retag to": lambda memory: memory.retag_entity("ent_0000000000000001", "garden"),
    "no member": lambda memory: memory.entities(memory.projects()[0].project_id, user_id=" "),
    "wrong kind": lambda memory: memory.search("peas", kinds=["secrets"]),  # pyright: ignore[reportArgumentType]
    "no kind": lambda memory: memory.search("peas", kinds=[]),
    "empty content": lambda memory: memory.record("s", "user", "  "),
    "large content": lambda memory: memory.record_episode("s", "x" * 65_537, "y"),
    "wrong role": lambda memory: memory.record("s", "gardener", "x"),  # pyright: ignore[reportArgumentType]
    "wrong time": lambda memory: memory.record("s", "user", "x", created_at="tomorrow"),
    "no JSON": lambda memory: memory.record("s", "user", "x", metadata={"a": object()}),
    "not a number": lambda memory: memory.create_session("t", metadata={"a": float("nan")}),
    "metadata no object": lambda memory: memory.update_session("s", metadata=[1]),  # pyright: ignore[reportArgumentType]
    "reserved tag": lambda memory: memory.create_session("t", tags=["user:ann"]),
    "control characters": lambda memory: memory.create_session("two\nlines"),
    "lone surrogate": lambda memory: memory.create_session("t", title="\ud800"),
    "lone surrogate in a query": lambda memory: memory.sessions(user_id="\ud800"),
    "other fields": lambda memory: memory.create_session("s", user_id="bob"),
    "empty batch": lambda memory: memory.record_batch("s", []),
    "large batch": lambda memory: memory.record_batch("s", [{"role": "user", "content": "x"}] * 1_001),
    "unknown field": lambda memory: memory.record_batch("s", [{"role": "user", "content": "x", "id": 1}]),
    "missing field": lambda memory: memory.record_batch("s", [{"role": "user"}]),
    "wrong limit": lambda memory: memory.sessions(limit=0),
    "wrong search limit": lambda memory: memory.search("peas", limit=201),
    "wrong budget": lambda memory: memory.context("s", budget_tokens=-1),
    "wrong source": lambda memory: memory.context("s", sources=[{"role": "nobody", "method": "recent"}]),
    "wrong setting": lambda memory: memory.update_project(
        memory.projects()[0].project_id, settings={"isolated": False}
    ),
    "two places": lambda memory: memory.search("peas", session_id="s", user_id="ann"),
    "default project": lambda memory: memory.delete_project(memory.projects()[0].project_id),
    "no default": lambda memory: memory.update_project(memory.projects()[0].project_id, is_default=False),
    "used key": lambda memory: memory.record("s", "user", "other", idempotency_key="once"),
    "empty key": lambda memory: memory.record("s", "user", "x", idempotency_key=""),
    "key of two lines": lambda memory: memory.record("s", "user", "x", idempotency_key="a\nb: c"),
    "wrong permission": lambda memory: memory.create_key("k", permissions=("fly",)),  # pyright: ignore[reportArgumentType]
    "confined to nothing": lambda memory: memory.create_key("k", confined=True),
    "expired": lambda memory: memory.create_key("k", expires_at="2000-01-01T00:00:00Z"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_both_libraries_refuse_alike(both: Both, name: str) -> None:
    """The same class, the same words, the same field."""
    both.here.create_session("s")
    both.here.record("s", "user", "first", idempotency_key="once")
    here, there = error_of(both.here, REFUSED[name]), error_of(both.there, REFUSED[name])
    assert (type(there), str(there), there.code) == (type(here), str(here), here.code)
    assert vars(there) == vars(here)
    assert both.here.session("s").message_count == 1


def test_a_key_of_other_scripts_is_a_key(both: Both) -> None:
    both.here.create_session("s")
    for key in ("Àé", "你好", "plain", "with space"):
        first = both.there.record("s", "user", key, idempotency_key=key)
        assert both.there.record("s", "user", key, idempotency_key=key) == first
    assert both.here.session("s").message_count == 4


def test_a_key_that_is_wrong_or_revoked_opens_nothing(both: Both) -> None:
    made = both.there.create_key("short-lived")
    with both.with_key(made.key) as memory:
        assert memory.sessions() == []
        both.there.revoke_key(made.key_id)
        with pytest.raises(Unauthenticated, match="valid API key") as refused:
            memory.sessions()
        assert any("CLOISTER_KEY" in note for note in refused.value.__notes__)
    with both.with_key("clo_wrong") as memory, pytest.raises(Unauthenticated):
        memory.usage()


def test_a_key_does_what_it_may_and_no_more(both: Both) -> None:
    """ORG-4, ORG-8"""
    project = both.there.create_project("Garden").project_id
    both.there.create_session("beds", project_id=project)
    both.there.create_session("loose")
    reader, confined = (
        both.there.create_key("reader", permissions=("read",)),
        both.there.create_key("confined", project_id=project, confined=True),
    )
    with both.with_key(reader.key) as memory:
        assert memory.session("loose").external_id == "loose"
        with pytest.raises(Forbidden, match="'write'"):
            memory.record("loose", "user", "x")
        with pytest.raises(Forbidden, match="'admin'"):
            memory.create_project("Mine")
    with both.with_key(confined.key) as memory:
        assert [session.external_id for session in memory.sessions()] == ["beds"]
        assert "There is no session 'loose' here." in str(error_of(memory, lambda memory: memory.session("loose")))
        with pytest.raises(Forbidden, match="confined"):
            memory.create_session("new", project_id=None)
        assert memory.create_session("new").project_id == project


def test_a_quota_is_said_as_such(both: Both) -> None:
    """ORG-7"""
    backend = cast(EmbeddedBackend, both.here._backend)  # pyright: ignore[reportPrivateUsage]
    backend.services.projects.set_limits(Reach(tenant=LOCAL_TENANT), Limits(messages=1, sessions=5, projects=None))
    both.there.create_session("s")
    both.there.record("s", "user", "fits")
    with pytest.raises(QuotaExceeded, match="quota of 1 messages is reached"):
        both.there.record("s", "user", "does not")
    assert both.there.usage().limits.messages == 1


def test_a_model_that_failed_there_is_not_said_to_have_answered() -> None:
    """Of kinds with one code the widest: no more is known here."""
    there = Problem(code="model_unavailable", detail="The model cannot be reached.")
    error = remote_errors.error_of(there)
    assert (type(error), str(error)) == (ModelUnavailable, "The model cannot be reached.")


def test_too_many_requests_are_told_when_to_try_again(
    sqlite_database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cloister.interfaces.python.connection._MOST_REPEATS", 0)
    services = wire(sqlite_database, index=exact_index(), embedder=EMBEDDER)
    key = Cloister(services=services).create_key("busy").key
    with serving(services, requests_per_second=1) as server, Cloister(server.address, key=key) as memory:
        with pytest.raises(RateLimited, match="Rate limited: too many requests") as refused:
            for _ in range(10):
                memory.sessions()
        assert refused.value.retry_after == 1


@pytest.mark.parametrize("characters", [1_100, 60_000])
def test_a_batch_that_is_too_large_for_the_wire_is_said_so(both: Both, characters: int) -> None:
    both.here.create_session("s")
    with pytest.raises(TooLarge, match="body is larger than 1,048,576 bytes") as refused:
        both.there.record_batch("s", [{"role": "user", "content": "x" * characters}] * 1_000)
    assert refused.value.field == "body"
    largest = [{"role": "user", "content": "\U0001f511" * 65_536}] * 3
    assert len(both.there.record_batch("s", largest)) == 3


def test_care_is_taken_where_the_data_is(both: Both) -> None:
    for call in (lambda: both.there.reindex(), lambda: both.there.backup("copy.db"), lambda: both.there.health()):
        with pytest.raises(Forbidden, match="needs the database itself"):
            call()


def test_a_closed_remote_is_closed(both: Both) -> None:
    both.there.close()
    both.there.close()
    for call in (lambda: both.there.sessions(), lambda: both.there.create_session("s")):
        with pytest.raises(Closed):
            call()
    assert both.here.sessions() == []


async def _talk(address: str, key: str) -> Any:
    async with AsyncCloister(address, key=key) as memory:
        await memory.create_session("s")
        await memory.record("s", "user", "Hello.")
        return await memory.messages("s")


def test_the_async_library_opens_an_address_too(both: Both) -> None:
    import asyncio

    key = both.there.create_key("async").key
    assert asyncio.run(_talk(both.address, key)) == both.here.messages("s")
