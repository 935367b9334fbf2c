"""A session that is moved, or deleted and created anew for another user, at the moment before a call of `CloisterSession` reads or
changes it: the call is refused, and nothing crosses (ISO-10, ISO-12)."""

import asyncio
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import pytest
from google.adk.events.event import Event
from google.genai import types

from cloister import Cloister
from cloister.domain.errors import CloisterError, Conflict, InvalidRequest, NotFound
from cloister.integrations.google_adk import CloisterMemoryService
from cloister.integrations.openai_agents import CloisterSession
from cloister.integrations.recall_part import RecallPart
from cloister.services.conversations.forget import Forgetting
from cloister.services.conversations.items import Items
from cloister.services.conversations.record import Recorder
from support.interruptions import before
from support.servers.http_server import Server, Tenant

OURS, THEIRS = "The safe opens with 4711.", "My doctor is called Zorvath."
ADDED = "I keep the key under the mat."


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """A session of ada in the project Garden, and the library that `CloisterSession` is given."""

    tenant: Tenant
    everything: Cloister
    memory: Cloister
    garden: str
    cellar: str

    @property
    def session(self) -> CloisterSession:
        return CloisterSession("s", self.memory, project_id=self.garden, user_id="ada")

    def said(self) -> list[str]:
        return [message.content for message in self.everything.messages("s")]

    def move(self) -> None:
        self.everything.move_session("s", self.cellar)

    def create_anew(self) -> None:
        self.everything.delete_session("s")
        self.everything.create_session("s", project_id=self.garden, user_id="bob")
        self.everything.record("s", "user", THEIRS)


@pytest.fixture(params=["embedded", "remote"])
def scene(request: pytest.FixtureRequest, server: Server) -> Generator[Scene]:
    tenant = server.new_tenant()
    assert server.services is not None
    everything = Cloister(services=server.services, tenant=tenant.tenant_id)
    everything.create_session("s", project_id=(garden := tenant.new_project("Garden")), user_id="ada")
    everything.record("s", "user", OURS)
    with Cloister(server.address, key=tenant.key) as remote:
        yield Scene(
            tenant=tenant,
            everything=everything,
            memory=everything if request.param == "embedded" else remote,
            garden=garden,
            cellar=tenant.new_project("Cellar"),
        )


def called(session: CloisterSession, name: str) -> Any:
    given = [[{"role": "user", "content": ADDED}]] if name == "add_items" else []
    return asyncio.run(getattr(session, name)(*given))


CALLS = {
    "get_items": (Items, "page"),
    "add_items": (Items, "add"),
    "pop_item": (Items, "remove"),
    "pop_item of a message": (Forgetting, "message"),
    "clear_session": (Forgetting, "contents"),
}


@pytest.mark.parametrize("call", CALLS)
def test_iso_12_a_session_that_moves_before_a_call_is_refused(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """ISO-12: nothing of the other project is shown, stored there or forgotten there."""
    before(monkeypatch, *CALLS[call], scene.move)
    with pytest.raises(Conflict, match="another project"):
        called(scene.session, call.partition(" ")[0])
    assert scene.everything.session("s").project_id == scene.cellar
    assert scene.said() == [OURS]


@pytest.mark.parametrize("call", CALLS)
def test_iso_10_a_session_that_becomes_another_users_before_a_call_is_refused(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """ISO-10: nothing of the other user's is shown or forgotten, and nothing stored with it."""
    before(monkeypatch, *CALLS[call], scene.create_anew)
    with pytest.raises(Conflict, match="another user_id"):
        called(scene.session, call.partition(" ")[0])
    assert scene.said() == [THEIRS]


def test_iso_10_a_session_that_appears_while_it_is_created_is_refused(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ISO-10: `add_items` creates the session that is missing; another user's, created in between, stays as it is."""
    scene.everything.delete_session("s")
    add = Items.add

    def added(*given: Any, **named: Any) -> Any:
        try:
            return add(*given, **named)
        except NotFound:
            scene.everything.create_session("s", project_id=scene.garden, user_id="bob")
            raise

    monkeypatch.setattr(Items, "add", added)
    with pytest.raises(Conflict):
        called(scene.session, "add_items")
    assert scene.said() == []


def _always_s(*_: object) -> str:
    return "s"


@pytest.mark.parametrize("change", [Scene.move, Scene.create_anew])
def test_iso_12_an_adk_session_that_changes_before_it_is_recorded_is_refused(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, change: Callable[[Scene], None]
) -> None:
    """ISO-10, ISO-12: the session is created, and then moved or created anew for another user before an event is recorded."""
    service = CloisterMemoryService(scene.memory, app_name="app", user_id="ada", project_id=scene.garden)
    said = [Event(id="e", author="user", content=types.Content(role="user", parts=[types.Part(text=ADDED)]))]
    adding = service.add_events_to_memory(app_name="app", user_id="ada", events=said, session_id="s")
    scene.everything.delete_session("s")
    monkeypatch.setattr(RecallPart, "session_of", _always_s)
    before(monkeypatch, Recorder, "messages", lambda: change(scene))
    with pytest.raises(Conflict):
        asyncio.run(adding)
    assert ADDED not in scene.said()


def test_iso_12_each_call_on_items_names_what_its_session_must_be(scene: Scene) -> None:
    """ISO-12: right ones are carried out; each wrong one is refused, and changes nothing."""
    memory = scene.memory
    right: dict[str, Any] = {"project_id": scene.garden, "user_id": "ada"}
    (item,) = memory.items("s", **right)
    words = [{"role": "user", "content": ADDED}]
    calls: dict[str, Callable[[dict[str, Any]], object]] = {
        "items": lambda named: memory.items("s", **named),
        "add_items": lambda named: memory.add_items("s", words, **named),
        "forget_item": lambda named: memory.forget_item("s", item.id, **named),
        "record": lambda named: memory.record("s", "user", ADDED, **named),
        "record once": lambda named: memory.record("s", "user", ADDED, idempotency_key=str(named), **named),
        "record_batch": lambda named: memory.record_batch("s", words, **named),
        "record_episode": lambda named: memory.record_episode("s", ADDED, "I will.", **named),
        "clear_session": lambda named: memory.clear_session("s", **named),
    }
    wrong: list[tuple[dict[str, Any], type[CloisterError]]] = [
        ({"project_id": None}, Conflict),
        ({"project_id": scene.cellar}, Conflict),
        ({"user_id": "bob"}, Conflict),
        ({"project_id": "proj_0000000000000001"}, NotFound),
        ({"project_id": "garden"}, InvalidRequest),
        ({"user_id": ""}, InvalidRequest),
    ]
    for name, call in calls.items():
        for named, error in wrong:
            with pytest.raises(error):
                call({**right, **named})
            assert scene.said() == [OURS], name
    for call in calls.values():
        call(right)
    assert scene.said() == []


def test_a_key_that_only_writes_is_not_answered_what_a_session_is(scene: Scene) -> None:
    """ORG-8: whether a session is this user's is read from it; without the question, such a key writes as before."""
    writer, path = scene.tenant.with_key("write"), "/v1/sessions/s"
    body = {"items": [{"role": "user", "content": ADDED}]}
    for query in ("user_id=ada", "user_id=bob", "project_id=none"):
        assert writer.post(f"{path}/items?{query}", body).status_code == 403
        assert writer.post(f"{path}/clear?{query}").status_code == 403
        assert writer.post(f"{path}/messages?{query}", body["items"][0]).status_code == 403
        assert writer.post(f"{path}/messages/batch?{query}", {"messages": body["items"]}).status_code == 403
        assert writer.delete(f"{path}/items/msg_{'0' * 48}?{query}").status_code == 403
    assert scene.said() == [OURS]
    assert writer.post(f"{path}/items", body).status_code == 200
    assert scene.tenant.admin.get(f"{path}/items?owner=ada").json()["errors"][0]["field"] == "owner"


def test_a_session_that_a_move_brought_into_the_project_is_found(scene: Scene) -> None:
    scene.move()
    with pytest.raises(Conflict):
        asyncio.run(scene.session.get_items())
    scene.everything.move_session("s", scene.garden)
    assert OURS in repr(asyncio.run(scene.session.get_items()))
