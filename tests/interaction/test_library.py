"""What is the library's own: its files, its names, its objects and `await`."""

import asyncio
import inspect
from pathlib import Path

import pytest

import cloister
from cloister import AsyncCloister, Cloister, InvalidRequest, RemoteCloister
from cloister.domain.conversation import Draft
from cloister.interfaces.python.backends.embedded import EmbeddedBackend
from cloister.interfaces.python.backends.interface import Backend
from cloister.interfaces.python.backends.remote import RemoteBackend
from support.clients.entry_points import EMBEDDED, REMOTE, only
from support.clients.library_over_commands import OverCommands
from support.clients.library_over_http import OverHttp

PUBLIC = {name for name in dir(Cloister) if not name.startswith("_")}


def embedded(memory: Cloister) -> EmbeddedBackend:
    backend = memory._backend  # pyright: ignore[reportPrivateUsage]
    assert isinstance(backend, EmbeddedBackend)
    return backend


@only(EMBEDDED)
def test_failed_and_partial_replies_are_kept_but_never_recalled(memory: Cloister) -> None:
    """No way in takes such a reply yet; the services do."""
    memory.create_session("s")
    memory.create_session("ask")
    backend = embedded(memory)
    services, reach = backend.services, backend.reach
    services.record.messages(reach, "s", [Draft(role="assistant", content="Half a rep", status="partial")])
    assert memory.messages("s")[0].status == "partial"
    assert memory.context("ask", "half a rep").relevant_history == ()


def test_the_async_library_does_the_same_with_await(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with AsyncCloister(tmp_path) as memory:
            await memory.create_session("s")
            await asyncio.gather(*(memory.record("s", "user", f"Number {number}.") for number in range(20)))
            return [message.content for message in await memory.messages("s")]

    assert sorted(asyncio.run(talk())) == sorted(f"Number {number}." for number in range(20))


def test_the_async_library_has_every_method_of_the_other() -> None:
    assert PUBLIC - set(vars(AsyncCloister)) == set()
    for name in PUBLIC - {"close"}:
        assert inspect.signature(getattr(AsyncCloister, name)) == inspect.signature(getattr(Cloister, name))


def test_the_backends_have_every_method_of_their_protocol_with_the_same_signature() -> None:
    methods = {name for name in vars(Backend) if not name.startswith("_")}
    assert methods <= PUBLIC
    for backend in (EmbeddedBackend, RemoteBackend):
        assert {name for name in dir(backend) if not name.startswith("_")} == methods
        for name in methods:
            taken, wanted = (list(inspect.signature(getattr(kind, name)).parameters) for kind in (backend, Backend))
            assert taken == wanted, (backend, name)
    assert inspect.signature(RemoteCloister.__init__) == inspect.signature(Cloister.__init__)


def test_the_ways_in_of_these_tests_take_what_the_library_takes() -> None:
    by_hand, by_command = ({name for name in vars(way) if name[0] != "_"} for way in (OverHttp, OverCommands))
    assert by_command < by_hand < PUBLIC
    for name in by_hand:
        assert inspect.signature(getattr(OverHttp, name)) == inspect.signature(getattr(Cloister, name)), name
    for name in by_command:
        taken, known = (inspect.signature(getattr(kind, name)).parameters for kind in (OverCommands, Cloister))
        assert set(taken) <= set(known), name


@only([*EMBEDDED, *REMOTE])
def test_an_object_in_place_of_its_id_is_refused_by_name(memory: Cloister) -> None:
    session, project = memory.create_session("s"), memory.create_project("P")
    with pytest.raises(InvalidRequest, match="session_id: must be the id as text, not Session"):
        memory.record(session, "user", "x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequest, match="project_id: must be the id as text, not Project"):
        memory.create_session("t", project_id=project)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequest, match="tags"):
        memory.create_session("t", tags="abc")


def test_a_mistyped_address_is_refused_and_makes_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in ("postgress://user:secret@host/db", "mysql://x", ""):
        with pytest.raises(InvalidRequest, match="data"):
            Cloister(wrong)
    assert list(tmp_path.iterdir()) == []


def test_what_was_forgotten_is_in_none_of_the_files_while_they_are_open(tmp_path: Path) -> None:
    with Cloister(tmp_path) as memory:
        memory.create_session("s")
        message = memory.record("s", "user", "The word is xylophonist.")
        memory.create_session("t")
        memory.record("t", "user", "Another xylophonist.")
        assert any(b"xylophonist" in path.read_bytes() for path in tmp_path.iterdir())
        memory.forget_message(message.id)
        memory.delete_session("t")
        assert not any(b"xylophonist" in path.read_bytes() for path in tmp_path.iterdir())


def test_the_files_are_the_owners_alone(tmp_path: Path) -> None:
    with Cloister(tmp_path / "data") as memory:
        memory.create_session("s")
        memory.backup(tmp_path / "copy.db")
        files = [*(tmp_path / "data").iterdir(), tmp_path / "copy.db"]
        assert {path.stat().st_mode & 0o077 for path in files} == {0}
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_the_public_names_are_these() -> None:
    assert sorted(cloister.__all__) == [
        "ApiKey",
        "Appended",
        "AsyncCloister",
        "Cloister",
        "CloisterError",
        "Closed",
        "Conflict",
        "Context",
        "ContextItem",
        "CreatedKey",
        "DeletedContents",
        "DeletedProject",
        "Entity",
        "Episode",
        "Extraction",
        "Forbidden",
        "Forgotten",
        "Hit",
        "IdempotencyMismatch",
        "InvalidRequest",
        "Memory",
        "MemoryRevision",
        "Message",
        "ModelUnavailable",
        "NotFound",
        "Observation",
        "OutcomeUnknown",
        "Overloaded",
        "Page",
        "Project",
        "QuotaExceeded",
        "RateLimited",
        "RemoteCloister",
        "ServerError",
        "Session",
        "StorageError",
        "TooLarge",
        "Unauthenticated",
        "Usage",
    ]
