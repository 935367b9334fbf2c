"""ISO-12: a change by this process is noticed by its open streams at once. The check that comes with the clock is turned off here.

A caller who asks was checked by the request itself, and is checked again before the first byte only where something changed since.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import Any

import pytest

from cloister.domain.scope import Reach
from cloister.interfaces.http.chat.running_turns import RunningTurns
from cloister.interfaces.http.dispatch import access_recheck
from cloister.services.chat import converse
from cloister.services.chat.turns import Turns
from cloister.services.chat.unrecorded import UnrecordedChat
from support.clients.chat_client import Gate, asking, streaming, words
from support.servers.fake_endpoint import FakeEndpoint
from support.servers.http_server import Server, Tenant

STREAM, FOLLOW = "/v1/chat/stream", "/v1/chat/tab/stream"
SECRET = "The vault's code in the garden is 7-4-1-9."
NEVER = 3_600.0
NOT_STORED = ["completion not stored", "response not stored"]


@pytest.fixture(autouse=True)
def clock_alone_notices_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (access_recheck, converse):
        monkeypatch.setattr(module, "CHECK_SECONDS", NEVER)


@pytest.fixture
def server(lone_server: Server) -> Server:
    """What another process changes is noticed by the clock."""
    return lone_server


@pytest.fixture
def gate() -> Generator[Gate]:
    made = Gate()
    yield made
    made.open()


class Changes:
    """What takes the session "tab" of ann away from a key that is confined to the garden."""

    def __init__(self, server: Server, tenant: Tenant) -> None:
        self.server, self.tenant = server, tenant
        self.garden, self.kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
        tenant.new_session("in the garden", project_id=self.garden, user_id="ann")
        tenant.say("in the garden", SECRET)
        tenant.new_session("tab", project_id=self.garden, user_id="ann")
        self.key = tenant.new_key("read", "write", project_id=self.garden, confined=True)

    def make(self, kind: str) -> None:
        admin = self.tenant.admin
        answer = {
            "erase the user": lambda: admin.delete("/v1/users/ann"),
            "erase the tenant": lambda: self.server.operator.delete(f"/operator/tenants/{self.tenant.tenant_id}"),
            "move": lambda: admin.patch("/v1/sessions/tab", {"project_id": self.kitchen}),
            "clear": lambda: admin.post("/v1/sessions/tab/clear"),
            "delete": lambda: admin.delete("/v1/sessions/tab"),
            "delete the project": lambda: admin.delete(f"/org/projects/{self.garden}"),
        }[kind]()
        assert answer.status_code in (200, 204), answer.text

    def asked(self) -> dict[str, Any]:
        return asking("tab", "What is the vault's code?")


KINDS = ["erase the user", "erase the tenant", "move", "clear", "delete", "delete the project"]


@pytest.fixture
def changes(server: Server, tenant: Tenant) -> Changes:
    return Changes(server, tenant)


@pytest.mark.parametrize("kind", KINDS)
def test_iso_12_a_change_ends_open_streams_at_once(
    changes: Changes, model: FakeEndpoint, gate: Gate, kind: str
) -> None:
    """The asker's stream and a follower's, though the model is silent."""
    model.answers(words("It is", " so.", gate=gate))
    with ExitStack() as stack:
        asker = stack.enter_context(streaming(changes.tenant, "POST", STREAM, changes.asked(), key=changes.key))
        asker.until("data-context")
        follower = stack.enter_context(streaming(changes.tenant, "GET", FOLLOW, key=changes.key))
        gate.let(1)
        for reader in (asker, follower):
            reader.until("text-delta")
        changes.make(kind)
        for reader in (asker, follower):
            told = reader.rest()
            assert "has changed" in told.error and told.text == "It is"


def ask(changes: Changes, entry: str) -> str:
    """What comes of asking with the confined key, to the end of the stream."""
    if entry == "chat":
        with streaming(changes.tenant, "POST", STREAM, changes.asked(), key=changes.key) as reader:
            return repr(reader.rest().events)
    said = "What is the vault's code?"
    path, body = {
        "openai": ("/v1/chat/completions", {"messages": [{"role": "user", "content": said}]}),
        "completion not stored": (
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": said}], "store": False},
        ),
        "response not stored": ("/v1/responses", {"input": said, "store": False}),
    }[entry]
    caller = changes.tenant.caller(changes.key, **{"X-Session-ID": "tab"})
    return caller.post(path, {"model": "any", "stream": True, **body}).text


def call_with(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, happen: Callable[[], object]) -> None:
    """Let something happen just after each call of a method."""
    original: Callable[..., Any] = getattr(owner, name)

    def replacement(*given: Any, **named: Any) -> Any:
        result = original(*given, **named)
        happen()
        return result

    monkeypatch.setattr(owner, name, replacement)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """How often the database was asked whether a caller may still read."""
    made: list[object] = []
    call_with(monkeypatch, access_recheck.StreamGuard, "look", lambda: made.append(None))
    return made


@pytest.mark.parametrize("entry", ["chat", "openai"])
@pytest.mark.parametrize("kind", ["erase the user", "move", "clear", "delete"])
def test_iso_12_a_change_just_after_a_turn_began_shows_its_asker_nothing(
    changes: Changes, model: FakeEndpoint, monkeypatch: pytest.MonkeyPatch, kind: str, entry: str
) -> None:
    model.answers(words("It is so."))
    call_with(monkeypatch, Turns, "begin", lambda: changes.make(kind))
    shown = ask(changes, entry)
    assert "rror" in shown and SECRET not in shown and "It is so." not in shown


@pytest.mark.parametrize("entry", NOT_STORED)
@pytest.mark.parametrize("kind", ["erase the user", "move", "delete"])
def test_iso_12_a_change_just_after_an_unrecorded_question_was_checked_shows_its_asker_nothing(
    changes: Changes, model: FakeEndpoint, monkeypatch: pytest.MonkeyPatch, kind: str, entry: str
) -> None:
    """The last change has to be read before the question is checked."""
    model.answers(words("It is so."))
    call_with(monkeypatch, UnrecordedChat, "ask", lambda: changes.make(kind))
    shown = ask(changes, entry)
    assert "rror" in shown and SECRET not in shown and "It is so." not in shown


@pytest.mark.parametrize("entry", NOT_STORED)
@pytest.mark.parametrize("changed", [False, True])
def test_iso_12_an_unrecorded_question_is_checked_again_only_after_a_change(
    changes: Changes,
    model: FakeEndpoint,
    looks: list[object],
    monkeypatch: pytest.MonkeyPatch,
    changed: bool,
    entry: str,
) -> None:
    services = changes.server.services
    assert services is not None
    tenant = services.api_keys.authenticate(changes.tenant.key).tenant
    project = services.projects.default_project(Reach(tenant=tenant))
    if changed:
        call_with(monkeypatch, UnrecordedChat, "ask", lambda: services.events.regrouped(tenant, project))
    model.answers(words("It is so."))
    assert "It is so." in ask(changes, entry)
    assert len(looks) == (1 if changed else 0)


@pytest.mark.parametrize("entry", ["chat", "openai"])
@pytest.mark.parametrize("moment", ["never", "the turn has begun", "the turn is started"])
def test_iso_12_an_asker_is_checked_again_before_the_first_byte_only_after_a_change(
    changes: Changes, model: FakeEndpoint, looks: list[object], monkeypatch: pytest.MonkeyPatch, moment: str, entry: str
) -> None:
    """No stream is open that could be woken, at either moment. Noting a change is the last that every change does."""
    services = changes.server.services
    assert services is not None
    tenant = services.api_keys.authenticate(changes.tenant.key).tenant
    owner, method = (Turns, "begin") if moment == "the turn has begun" else (RunningTurns, "start")
    if moment != "never":
        project = services.projects.default_project(Reach(tenant=tenant))
        call_with(monkeypatch, owner, method, lambda: services.events.regrouped(tenant, project))
    model.answers(words("It is so."))
    assert "It is so." in ask(changes, entry)
    assert len(looks) == (0 if moment == "never" else 1)
