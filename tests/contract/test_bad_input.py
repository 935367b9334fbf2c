"""Bad input, through the library on both engines: a clear error of the right class, and not one row changed."""

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, cast

import pytest

from cloister import Cloister, CloisterError, Conflict, InvalidRequest, NotFound, TooLarge
from cloister.bootstrap import Services
from cloister.domain.conversation import Draft
from cloister.domain.errors import InvalidProjectId
from cloister.domain.identifiers import MAX_SEQUENCE, format_message_id, format_project_id
from cloister.domain.scope import Reach
from cloister.domain.text import MAX_CONTENT
from cloister.services.conversations.record import LARGEST_BATCH
from cloister.services.conversations.sessions import SessionFields
from support.databases.engines import Engine

MISSING = {"session": "nowhere", "project": "proj_00000000000000ff", "message": "msg_00000000000000ff"}


@dataclass(frozen=True, kw_only=True, slots=True)
class House:
    """Our tenant through the library, and another tenant in the same database with ids of its own."""

    engine: Engine
    services: Services
    memory: Cloister
    project: str
    message: str
    foreign: dict[str, str]

    def unchanged_by(
        self, call: Callable[[], object], kind: type[CloisterError] | tuple[type[CloisterError], ...]
    ) -> Any:
        return self.engine.unchanged_by(kind, call)


@pytest.fixture(scope="module")
def house(shared_engine: Engine) -> Generator[House]:
    """One for all tests here: each leaves it as it was, and says so."""
    services = shared_engine.services()
    memory = Cloister(services=services)
    project = memory.create_project("Garden").project_id
    memory.create_session("first", project_id=project, user_id="ann")
    said = memory.record("first", "user", "The roses need water.")
    yield House(
        engine=shared_engine,
        services=services,
        memory=memory,
        project=project,
        message=said.id,
        foreign=_another_tenant(services),
    )


def _another_tenant(services: Services) -> dict[str, str]:
    reach = Reach(tenant=services.projects.create_tenant("Others")[0])
    project = services.projects.create_project(reach, "Garden").id
    services.sessions.create(reach, SessionFields(external_id="theirs", project=project))
    (message,) = services.record.messages(reach, "theirs", [Draft(role="user", content="Roses")]).messages
    return {"session": "theirs", "project": format_project_id(project), "message": format_message_id(message.id)}


BY_ID: dict[str, tuple[str, Callable[[Cloister, str], object]]] = {
    "session": ("session", lambda memory, id: memory.session(id)),
    "update_session": ("session", lambda memory, id: memory.update_session(id, title="Mine")),
    "move session": ("session", lambda memory, id: memory.update_session(id, project_id=None)),
    "delete_session": ("session", lambda memory, id: memory.delete_session(id)),
    "clear_session": ("session", lambda memory, id: memory.clear_session(id)),
    "record": ("session", lambda memory, id: memory.record(id, "user", "Hello")),
    "record once": ("session", lambda memory, id: memory.record(id, "user", "Hello", idempotency_key="key")),
    "record_batch": ("session", lambda memory, id: memory.record_batch(id, [{"role": "user", "content": "Hello"}])),
    "record_episode": ("session", lambda memory, id: memory.record_episode(id, "Hello", "Hi")),
    "messages": ("session", lambda memory, id: memory.messages(id)),
    "context": ("session", lambda memory, id: memory.context(id, "roses")),
    "search in session": ("session", lambda memory, id: memory.search("roses", session_id=id)),
    "project": ("project", lambda memory, id: memory.project(id)),
    "update_project": ("project", lambda memory, id: memory.update_project(id, name="Mine")),
    "make default": ("project", lambda memory, id: memory.update_project(id, is_default=True)),
    "delete_project": ("project", lambda memory, id: memory.delete_project(id)),
    "create_session in project": ("project", lambda memory, id: memory.create_session("new", project_id=id)),
    "move into project": ("project", lambda memory, id: memory.update_session("first", project_id=id)),
    "sessions of project": ("project", lambda memory, id: memory.sessions(project_id=id)),
    "search in project": ("project", lambda memory, id: memory.search("roses", project_id=id)),
    "forget_message": ("message", lambda memory, id: memory.forget_message(id)),
    "messages after": ("message", lambda memory, id: memory.messages("first", after=id)),
}


@pytest.mark.parametrize("name", BY_ID)
def test_a_foreign_id_answers_exactly_as_a_missing_one(house: House, name: str) -> None:
    """ISO-4: the same class, the same code, the same words but for the id; and neither changes anything."""
    kind, call = BY_ID[name]
    missing, foreign = (
        house.unchanged_by(lambda id=id: call(house.memory, id), NotFound)
        for id in (MISSING[kind], house.foreign[kind])
    )
    assert str(missing).replace(MISSING[kind], "…") == str(foreign).replace(house.foreign[kind], "…")
    assert (missing.code, missing.kind) == (foreign.code, foreign.kind)


UNSTORABLE = [
    "",
    " ",
    "\x00",
    "first\x00",
    "\ud800",
    "first\udfff",
    "x" * 100_000,
    "first\n",
    "'; DROP TABLE message; --",
]


@pytest.mark.parametrize("given", UNSTORABLE, ids=lambda text: ascii(text)[:20])
@pytest.mark.parametrize("name", [name for name, (kind, _) in BY_ID.items() if kind == "session"])
def test_an_id_that_could_never_be_stored_is_not_found_either(house: House, name: str, given: str) -> None:
    """A lone surrogate or a NUL in a session's id is an id that nothing has, not an error of the driver."""
    house.unchanged_by(lambda: BY_ID[name][1](house.memory, given), NotFound)


@pytest.mark.parametrize("given", ["", "proj_", "garden", "PROJ_00000000000000ff", "proj_-0000000000000ff", "\ud800"])
@pytest.mark.parametrize("name", [name for name, (kind, _) in BY_ID.items() if kind == "project"])
def test_what_is_no_project_id_is_refused_by_name(house: House, name: str, given: str) -> None:
    """ORG-3."""
    error = house.unchanged_by(lambda: BY_ID[name][1](house.memory, given), InvalidProjectId)
    assert error.field == "project_id"


BAD_TEXT: list[tuple[str, type[CloisterError]]] = [
    ("", InvalidRequest),
    (" \n\t", InvalidRequest),
    ("nul \x00 inside", InvalidRequest),
    ("lone \ud800 surrogate", InvalidRequest),
    ("x" * (MAX_CONTENT + 1), TooLarge),
    ("ten megabytes " * 750_000, TooLarge),
    (cast(str, None), InvalidRequest),
    (cast(str, 5), InvalidRequest),
    (cast(str, b"bytes"), InvalidRequest),
]
CONTENT: dict[str, Callable[[Cloister, str], object]] = {
    "record": lambda memory, text: memory.record("first", "user", text),
    "record_batch": lambda memory, text: memory.record_batch(
        "first", [{"role": "user", "content": "fine"}, {"role": "user", "content": text}]
    ),
    "record_episode, question": lambda memory, text: memory.record_episode("first", text, "fine"),
    "record_episode, answer": lambda memory, text: memory.record_episode("first", "fine", text),
    "search": lambda memory, text: memory.search(text, session_id="first"),
}


@pytest.mark.parametrize(("text", "kind"), BAD_TEXT, ids=lambda given: ascii(given)[:24])
@pytest.mark.parametrize("name", CONTENT)
def test_content_that_is_no_text_is_refused_and_nothing_of_its_batch_is_kept(
    house: House, name: str, text: str, kind: type[CloisterError]
) -> None:
    error = house.unchanged_by(lambda: CONTENT[name](house.memory, text), kind)
    assert error.field == {"search": "query", "record_batch": "messages[1].content"}.get(name, "content")


NAMES: dict[str, Callable[[Cloister, str], object]] = {
    "external_id": lambda memory, text: memory.create_session(text),
    "user_id": lambda memory, text: memory.create_session("new", user_id=text),
    "title": lambda memory, text: memory.create_session("new", title=text),
    "tags": lambda memory, text: memory.create_session("new", tags=[text]),
    "author": lambda memory, text: memory.record("first", "user", "Hello", author=text),
    "idempotency_key": lambda memory, text: memory.record("first", "user", "Hello", idempotency_key=text),
    "name": lambda memory, text: memory.create_project(text),
}
UPDATES: dict[str, Callable[[Cloister, str], object]] = {
    "title": lambda memory, text: memory.update_session("first", title=text),
    "tags": lambda memory, text: memory.update_session("first", tags=[text]),
    "name": lambda memory, text: memory.update_project(memory.projects()[-1].project_id, name=text),
    "user_id": lambda memory, text: memory.search("roses", user_id=text),
}
SESSIONS_OF: dict[str, Callable[[Cloister, str], object]] = {
    "user_id": lambda memory, text: memory.sessions(user_id=text),
}
ALL_NAMES = [(field, call) for table in (NAMES, UPDATES, SESSIONS_OF) for field, call in table.items()]


@pytest.mark.parametrize(
    "text", ["", "   ", "a\x00b", "\ud800", "two\nlines", "\x1b[31mred", "x" * 256, "a\u2028b"], ids=ascii
)
@pytest.mark.parametrize(("field", "call"), ALL_NAMES)
def test_a_name_that_is_no_name_is_refused_by_its_field(
    house: House, field: str, call: Callable[[Cloister, str], object], text: str
) -> None:
    error = house.unchanged_by(lambda: call(house.memory, text), CloisterError)
    assert isinstance(error, InvalidRequest | TooLarge)
    assert error.field == field


@pytest.mark.parametrize("tag", ["session:other", "user:bob", "project:proj_00000000000000ff", "User:bob"])
def test_a_client_cannot_stamp_infrastructure_tags(house: House, tag: str) -> None:
    """CTX-3."""
    house.unchanged_by(lambda: house.memory.create_session("new", tags=[tag]), InvalidRequest)
    house.unchanged_by(lambda: house.memory.update_session("first", tags=["fine", tag]), InvalidRequest)


LIMITS: dict[str, tuple[str, Callable[[Cloister, int], object]]] = {
    "projects": ("limit", lambda memory, limit: memory.projects(limit=limit)),
    "sessions": ("limit", lambda memory, limit: memory.sessions(limit=limit)),
    "messages": ("limit", lambda memory, limit: memory.messages("first", limit=limit)),
    "search": ("limit", lambda memory, limit: memory.search("roses", limit=limit)),
    "recent": ("recent_limit", lambda memory, limit: memory.context("first", recent_limit=limit)),
    "semantic": ("semantic_limit", lambda memory, limit: memory.context("first", semantic_limit=limit)),
    "budget": ("budget_tokens", lambda memory, limit: memory.context("first", budget_tokens=limit)),
    "source": (
        "sources[0].limit",
        lambda memory, limit: memory.context("first", sources=[{"role": "user", "method": "recent", "limit": limit}]),
    ),
}


# None is how these are left out.
MAY_BE_LEFT_OUT = ("recent", "semantic", "budget")
WRONG_LIMITS = [
    (name, limit)
    for name in LIMITS
    for limit in (-1, -(1 << 63), 1 << 63, 10**30, True, 2.5, "5", None)
    if limit is not None or name not in MAY_BE_LEFT_OUT
]


@pytest.mark.parametrize(("name", "limit"), WRONG_LIMITS, ids=repr)
def test_a_limit_out_of_bounds_is_refused_by_its_field(house: House, name: str, limit: Any) -> None:
    """CTX-2, CTX-5."""
    field, call = LIMITS[name]
    assert house.unchanged_by(lambda: call(house.memory, cast(int, limit)), InvalidRequest).field == field


@pytest.mark.parametrize(
    "created_at", ["", "soon", "2026-13-01", "10000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", 5]
)
def test_a_time_that_is_none_is_refused(house: House, created_at: Any) -> None:
    error = house.unchanged_by(
        lambda: house.memory.record("first", "user", "Hello", created_at=created_at), InvalidRequest
    )
    assert error.field == "created_at"


@pytest.mark.parametrize("role", ["", "root", "User", None, 5, ["user"]], ids=repr)
def test_a_role_that_is_none_is_refused(house: House, role: Any) -> None:
    assert house.unchanged_by(lambda: house.memory.record("first", role, "Hello"), InvalidRequest).field == "role"


@pytest.mark.parametrize(
    "metadata",
    [{"a": object()}, {"a": "\ud800"}, {1: "x", "b": 2}, {"a": float("nan")}, [1]],
    ids=["object", "surrogate", "keys", "nan", "list"],
)
def test_metadata_that_is_no_json_object_is_refused(house: House, metadata: Any) -> None:
    memory = house.memory
    for call in (
        lambda: memory.record("first", "user", "Hello", metadata=metadata),
        lambda: memory.record("first", "user", "Hello", metadata=metadata, idempotency_key="once"),
        lambda: memory.create_session("new", metadata=metadata),
        lambda: memory.update_session("first", metadata=metadata),
    ):
        assert house.unchanged_by(call, InvalidRequest).field == "metadata"


@pytest.mark.parametrize(
    ("messages", "kind"),
    [
        ([], InvalidRequest),
        ([{"role": "user"}], InvalidRequest),
        ([{"content": "Hello"}], InvalidRequest),
        ([{"role": "user", "content": "Hello", "tenant_id": 7}], InvalidRequest),
        ([{"role": "user", "content": "Hello"}] * (LARGEST_BATCH + 1), TooLarge),
    ],
    ids=["empty", "no content", "no role", "unknown field", "too many"],
)
def test_a_batch_that_is_none_is_refused_whole(house: House, messages: Any, kind: type[CloisterError]) -> None:
    house.unchanged_by(lambda: house.memory.record_batch("first", messages), kind)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("role", "gardener"),
        ("content", " "),
        ("content", "x" * (MAX_CONTENT + 1)),
        ("author", "x" * 256),
        ("metadata", {"a": "x" * 17_000}),
        ("created_at", "yesterday"),
    ],
)
def test_a_batch_says_which_of_its_messages_is_wrong(house: House, field: str, wrong: Any) -> None:
    good: Any = {"role": "user", "content": "Hello"}
    error = house.unchanged_by(
        lambda: house.memory.record_batch("first", [good, {**good, field: wrong}]), (InvalidRequest, TooLarge)
    )
    assert error.field == f"messages[1].{field}"


def test_a_project_cannot_be_made_unisolated(house: House) -> None:
    """ISO-2: there is no field, no setting and no update for it."""
    memory: Any = house.memory
    assert memory.project(house.project).isolated is True
    for call in (
        lambda: memory.create_project("New", isolated=False),
        lambda: memory.update_project(house.project, isolated=False),
    ):
        with pytest.raises(TypeError, match="isolated"):
            call()
    house.unchanged_by(lambda: memory.update_project(house.project, settings={"isolated": False}), InvalidRequest)


def test_the_default_project_cannot_be_deleted_or_merely_unset(house: House) -> None:
    """ORG-2, ORG-5."""
    default = next(project for project in house.memory.projects() if project.is_default)
    house.unchanged_by(lambda: house.memory.delete_project(default.project_id), Conflict)
    house.unchanged_by(lambda: house.memory.update_project(default.project_id, is_default=False), InvalidRequest)


def test_a_session_cannot_be_made_again_as_another(house: House) -> None:
    for fields in ({"user_id": "bob"}, {"title": "Other"}, {"project_id": None}):
        given: Any = {"project_id": house.project, "user_id": "ann", **fields}
        house.unchanged_by(lambda given=given: house.memory.create_session("first", **given), Conflict)


def test_the_same_key_with_another_request_is_refused(house: House) -> None:
    memory = house.memory
    memory.create_session("keys")
    first = memory.record("keys", "user", "Hello", idempotency_key="one key")
    assert memory.record("keys", "user", "Hello", idempotency_key="one key").id == first.id
    error = house.unchanged_by(
        lambda: memory.record("keys", "user", "Other", idempotency_key="one key"), InvalidRequest
    )
    assert error.code == "idempotency_mismatch"
    memory.delete_session("keys")


def test_a_clock_that_goes_backwards_does_not_change_the_order(engine: Engine) -> None:
    """CTX-1: the order is the sequence, and what is newest stays newest."""
    backwards: Iterator[int] = count(1_700_000_000_000_000, -1_000_000)
    memory = Cloister(services=engine.services(clock=lambda: next(backwards)))
    memory.create_session("first")
    words = [f"word {number}" for number in range(12)]
    for number, word in enumerate(words):
        memory.record("first", "assistant" if number % 2 else "user", word)
    assert [message.content for message in memory.messages("first")] == words
    context = memory.context("first", "word", recent_limit=3)
    assert [item.content for item in context.current_conversation] == words[-6:]
    assert [item.content for item in context.chat_history][-6:] == words[-6:]
    listed = memory.session("first")
    assert listed.updated_at >= listed.created_at


def test_a_session_takes_its_last_message_and_then_says_that_it_is_full(engine: Engine) -> None:
    memory = Cloister(services=engine.services())
    memory.create_session("first")
    memory.record("first", "user", "Hello")
    engine.rows(f"UPDATE session SET next_sequence = {MAX_SEQUENCE} WHERE external_id = 'first'")
    before = engine.dump()
    two = [{"role": "user", "content": "one"}, {"role": "user", "content": "too many"}]
    with pytest.raises(Conflict, match="full"):
        memory.record_batch("first", two)
    assert engine.dump() == before
    assert memory.record("first", "user", "the last").seq == MAX_SEQUENCE
    before = engine.dump()
    with pytest.raises(Conflict, match="full"):
        memory.record("first", "user", "one more")
    assert engine.dump() == before
    assert [message.content for message in memory.messages("first")] == ["Hello", "the last"]
    assert "the last" in [item.content for item in memory.context("first", "last").current_conversation]


def test_no_error_shows_what_was_said_elsewhere(house: House) -> None:
    """ISO-4: errors name fields and the ids that were given, nothing else."""
    for kind, call in BY_ID.values():
        with pytest.raises(NotFound) as caught:
            call(house.memory, house.foreign[kind])
        assert re.fullmatch(rf"There is no {kind} '{house.foreign[kind]}' here\.", str(caught.value))
        assert caught.value.__cause__ is None
