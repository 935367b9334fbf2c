"""Lists come in pages that cover everything once, whatever their size; a cursor that was changed is refused."""

from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest

from cloister.bootstrap import Services
from cloister.domain.identifiers import new_observation_id, parse_tenant_id
from cloister.domain.observation import Observation
from cloister.domain.scope import Reach
from cloister.storage.interface import Transaction
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.sessions import SessionStore
from support.databases.engines import Engine, sqlite_engine
from support.servers.http_server import Caller, Server, Tenant, serving

MANY = 7
PATHS = (
    "/v1/sessions",
    "/org/projects/{project}/sessions",
    "/v1/sessions/s-0/messages",
    "/org/projects",
    "/org/api-keys",
    "/v1/sessions/s-0/memories",
    "/v1/sessions/s-0/observations",
    "/v1/users/ann/memories",
    "/v1/entities",
)
OF_ANN = {"/v1/entities": {"user_id": "ann"}}
"""What a list is asked with besides: entities are divided by user."""
NEIGHBOURS = ("Anna", "Bruno", "Carla", "David", "Elena", "Frank", "Greta")


class World(NamedTuple):
    tenant: Tenant
    caller: Caller
    """With a key that names the tenant's project, so that entities can be asked for."""
    other: Tenant
    theirs: Caller

    def path(self, path: str) -> str:
        return path.format(project=self.tenant.default_project_id)


@pytest.fixture(scope="module", params=["moving", "standing"])
def world(request: pytest.FixtureRequest, server: Server, folder: Path) -> Generator[World]:
    """Seven of everything. Where the clock stands still, all of it was made at the same moment."""
    if request.param == "moving":
        yield World(*filled(server), *filled(server))
        return
    engine: Engine = sqlite_engine(folder / "standing")
    with engine.closing, serving(engine.services(clock=lambda: 1_700_000_000_000_000)) as standing:
        yield World(*filled(standing), *filled(standing))


def filled(server: Server) -> tuple[Tenant, Caller]:
    tenant = server.new_tenant()
    for number, name in enumerate(NEIGHBOURS):
        tenant.new_session(f"s-{number}", user_id="ann")
        tenant.say("s-0", f"My neighbour {name} plays the cello.")
    assert tenant.admin.made("/v1/sessions/s-0/extract", None) == {"appended": MANY, "checked_messages": MANY}
    for number in range(MANY - 1):
        tenant.new_project(f"Project {number}")
    for _ in range(MANY - 2):
        tenant.new_key("read")
    assert server.services is not None
    note_each_message(server.services, Reach(tenant=parse_tenant_id(tenant.tenant_id)))
    return tenant, tenant.with_key(project_id=tenant.default_project_id)


def note_each_message(services: Services, reach: Reach) -> None:
    """As an extraction notes them in a longer session."""

    def work(transaction: Transaction) -> None:
        session = SessionStore(transaction).get("s-0")
        for message in MessageStore(transaction).page(session.id, session.pool, limit=MANY):
            note = Observation(
                id=new_observation_id(),
                session=session.id,
                content=message.content,
                sources=(message.id,),
                said_at=message.created_at,
                created_at=message.created_at,
            )
            ObservationStore(transaction).add(note, message.id, message.id)

    services.database.write(reach, work)


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8, 200])
@pytest.mark.parametrize("path", PATHS)
def test_pages_cover_everything_once_and_in_order(world: World, path: str, limit: int) -> None:
    pages = list(world.caller.pages(world.path(path), limit, **OF_ANN.get(path, {})))
    sizes = [len(page) for page in pages]
    assert sizes == [limit] * (MANY // limit) + ([MANY % limit] if MANY % limit else [])
    found = [entry for page in pages for entry in page]
    assert found == world.caller.everything(world.path(path), 200, **OF_ANN.get(path, {}))
    assert len({repr(entry) for entry in found}) == MANY


def test_the_order_is_newest_activity_first_for_sessions_and_oldest_first_for_the_rest(tenant: Tenant) -> None:
    for name in ("first", "second", "third"):
        tenant.new_session(name)
    for number in range(3):
        tenant.say("second", f"Message {number}.")
        tenant.new_project(f"Project {number}")
    sessions = [session["external_id"] for session in tenant.admin.everything("/v1/sessions", 1)]
    assert sessions == ["second", "third", "first"]
    assert [message["seq"] for message in tenant.admin.everything("/v1/sessions/second/messages", 1)] == [1, 2, 3]
    projects = [project["name"] for project in tenant.admin.everything("/org/projects", 1)]
    assert projects == ["Default", "Project 0", "Project 1", "Project 2"]


def test_without_a_limit_a_page_holds_fifty(tenant: Tenant) -> None:
    tenant.new_session("roses")
    messages = [{"role": "user", "content": f"Message {number}."} for number in range(51)]
    tenant.admin.made("/v1/sessions/roses/messages/batch", {"messages": messages})
    page = tenant.admin.get("/v1/sessions/roses/messages").json()
    assert len(page["data"]) == 50
    rest = tenant.admin.get("/v1/sessions/roses/messages", params={"cursor": page["next_cursor"]}).json()
    assert ([entry["seq"] for entry in rest["data"]], rest["next_cursor"]) == ([51], None)


def test_what_is_said_between_two_pages_comes_at_the_end_and_nothing_twice(tenant: Tenant) -> None:
    tenant.new_session("roses")
    for number in range(4):
        tenant.say("roses", f"Message {number}.")
    seen: list[int] = []
    for page in tenant.admin.pages("/v1/sessions/roses/messages", 2):
        seen += [entry["seq"] for entry in page]
        tenant.say("roses", "And another thing.")
    assert seen == [1, 2, 3, 4, 5, 6]


def test_filters_hold_on_every_page(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    for number in range(6):
        project = (garden, None, tenant.default_project_id)[number % 3]
        tenant.new_session(f"s-{number}", project_id=project, user_id=("ann", "bob")[number % 2])

    def names(**wanted: str) -> set[str]:
        return {session["external_id"] for session in tenant.admin.everything("/v1/sessions", 1, **wanted)}

    assert names(project_id=garden) == {"s-0", "s-3"}
    assert names(project_id="none") == {"s-1", "s-4"}
    assert names(user_id="ann") == {"s-0", "s-2", "s-4"}
    assert names(user_id="ann", project_id="none") == {"s-4"}
    assert names(user_id="nobody") == set()


@pytest.mark.parametrize("path", PATHS)
def test_a_changed_cursor_is_refused(world: World, path: str) -> None:
    """Whichever character is changed, added or taken away."""
    cursor: str = world.caller.get(world.path(path), params={"limit": 1, **OF_ANN.get(path, {})}).json()["next_cursor"]
    changed = [
        cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :] for place in range(len(cursor))
    ]
    wrong = [
        *changed,
        cursor[:-1],
        cursor[1:],
        cursor + "A",
        cursor + "=",
        cursor * 2,
        "",
        " ",
        "null",
        "ü",
        "W10",
        "[" * 9_999,
    ]
    for given in wrong:
        answer = world.caller.get(world.path(path), params={"cursor": given, **OF_ANN.get(path, {})})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), given
        assert answer.json()["errors"][0]["field"] == "cursor"
    assert world.caller.get(world.path(path), params={"cursor": cursor, **OF_ANN.get(path, {})}).status_code == 200


def refused(caller: Caller, path: str, cursor: str, **wanted: str) -> None:
    answer = caller.get(path, params={"cursor": cursor, **wanted})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), (path, wanted)
    assert [error["field"] for error in answer.json()["errors"]] == ["cursor"]


@pytest.mark.parametrize("path", PATHS)
def test_a_cursor_of_another_tenant_is_refused(world: World, path: str) -> None:
    """ISO-4."""
    theirs = path.format(project=world.other.default_project_id)
    cursor: str = world.theirs.get(theirs, params={"limit": 3, **OF_ANN.get(path, {})}).json()["next_cursor"]
    refused(world.caller, world.path(path), cursor, **OF_ANN.get(path, {}))


@pytest.mark.parametrize("path", PATHS)
def test_a_cursor_of_another_list_is_refused(world: World, path: str) -> None:
    """It would leave something out there. Sessions of a project are one list, whichever route is asked for them."""
    cursor: str = world.caller.get(world.path(path), params={"limit": 1, **OF_ANN.get(path, {})}).json()["next_cursor"]
    of_a_project = ("/v1/sessions", "/org/projects/{project}/sessions")
    for other in PATHS:
        if other != path and not {path, other} <= {*of_a_project}:
            refused(world.caller, world.path(other), cursor, **OF_ANN.get(other, {}))


def test_a_cursor_is_of_its_filters(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    for number in range(12):
        project = (garden, None, tenant.default_project_id)[number % 3]
        tenant.new_session(f"s-{number}", project_id=project, user_id=("ann", "bob")[number // 3 % 2])
    filters: list[dict[str, str]] = [
        {},
        {"project_id": garden},
        {"project_id": "none"},
        {"user_id": "ann"},
        {"user_id": "bob"},
        {"user_id": "ann", "project_id": "none"},
        {"user_id": "ann", "project_id": garden},
    ]
    for given in filters:
        page = tenant.admin.get("/v1/sessions", params={"limit": 1, **given}).json()
        assert tenant.admin.get("/v1/sessions", params={"cursor": page["next_cursor"], **given}).status_code == 200
        for other in filters:
            if other != given:
                refused(tenant.admin, "/v1/sessions", page["next_cursor"], **other)


@pytest.mark.parametrize("kind", ["messages", "memories"])
def test_a_cursor_of_another_session_is_refused(tenant: Tenant, kind: str) -> None:
    """Also of one that had the same name before, where it says anything."""
    for name in ("roses", "beans"):
        tenant.new_session(name)
        for number in range(3):
            tenant.say(name, f"Message {number}.")
            tenant.admin.made("/v1/memories", {"session_id": name, "contents": [f"Fact {number}."]})
    cursor: str = tenant.admin.get(f"/v1/sessions/roses/{kind}", params={"limit": 1}).json()["next_cursor"]
    refused(tenant.admin, f"/v1/sessions/beans/{kind}", cursor)
    assert tenant.admin.delete("/v1/sessions/roses").status_code == 200
    gone = tenant.admin.get(f"/v1/sessions/roses/{kind}", params={"cursor": cursor})
    assert (gone.status_code, gone.json()["code"]) == (404, "not_found")
    tenant.new_session("roses")
    tenant.say("roses", "Another message.")
    if kind == "messages":
        refused(tenant.admin, "/v1/sessions/roses/messages", cursor)


def test_a_users_memories_go_on_in_the_same_project_only(world: World) -> None:
    """MEM-8: a cursor of all of them is none of those in one project."""
    cursor: str = world.tenant.admin.get("/v1/users/ann/memories", params={"limit": 1}).json()["next_cursor"]
    refused(world.caller, "/v1/users/ann/memories", cursor)
    refused(world.tenant.admin, "/v1/users/bob/memories", cursor)


def test_a_memory_that_goes_between_two_pages_takes_no_other_along(tenant: Tenant) -> None:
    tenant.new_session("roses")
    for number in range(4):
        tenant.admin.made("/v1/memories", {"session_id": "roses", "contents": [f"Rose {number} is red."]})
    seen: list[str] = []
    for page in tenant.admin.pages("/v1/sessions/roses/memories", 2):
        seen += [entry["content"] for entry in page]
        gone = tenant.admin.delete(f"/v1/memories/{page[-1]['id']}")
        assert gone.status_code == 200
        assert gone.json()["certificate"]["removed"] == {"memories": [page[-1]["id"]]}
    assert seen == [f"Rose {number} is red." for number in range(4)]


def test_lists_go_on_behind_a_memory_an_entity_or_a_note_that_is_named(world: World) -> None:
    for path in (
        "/v1/sessions/s-0/memories",
        "/v1/users/ann/memories",
        "/v1/entities",
        "/v1/sessions/s-0/observations",
    ):
        everything = world.caller.everything(path)
        for place, entry in enumerate(everything):
            assert world.caller.everything(path, 2, after=entry["id"]) == everything[place + 1 :]
