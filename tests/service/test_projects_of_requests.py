"""Which project a request means (ORG-3, ORG-4): the header, else the key's own, else none or the default one."""

from typing import NamedTuple

import httpx2
import pytest

from cloister.domain.identifiers import format_project_id, new_project_id
from support.servers.http_server import Caller, Server, Tenant

IMPOSSIBLE = {
    "zero": "proj_0000000000000000",
    "too large": "proj_deadbeefdeadbeef",
    "far too large": "proj_ffffffffffffffff",
}
"""Well formed, and of no project that there could be."""
HEADERS = ("absent", "empty", "malformed", "missing", *IMPOSSIBLE, "foreign", "deleted", "default", "own", "other")


class World(NamedTuple):
    tenant: Tenant
    projects: dict[str, str]
    """What each kind of header names: `own` is the garden, which some keys belong to, and `other` the kitchen."""
    keys: dict[str, str]

    def asking(self, key: str, header: str) -> Caller:
        named = {} if header == "absent" else {"X-Project-ID": self.projects[header]}
        return self.tenant.caller(self.keys[key], **named)


@pytest.fixture(scope="module")
def world(server: Server) -> World:
    tenant = server.new_tenant()
    garden, kitchen, gone = (tenant.new_project(name) for name in ("Garden", "Kitchen", "Cellar"))
    tenant.admin.delete(f"/org/projects/{gone}")
    for name, project in (("garden", garden), ("kitchen", kitchen), ("pool", None)):
        tenant.new_session(name, project_id=project)
        tenant.say(name, f"The roses of the {name} need water.")
    return World(
        tenant=tenant,
        projects={
            "empty": "",
            "malformed": "garden",
            "missing": format_project_id(new_project_id()),
            **IMPOSSIBLE,
            "foreign": server.new_tenant().new_project("Garden"),
            "deleted": gone,
            "default": tenant.default_project_id,
            "own": garden,
            "other": kitchen,
        },
        keys={
            "unpinned": tenant.new_key("read", "write"),
            "pinned": tenant.new_key("read", "write", project_id=garden),
            "confined": tenant.new_key("read", "write", project_id=garden, confined=True),
        },
    )


MALFORMED = dict.fromkeys(("empty", "malformed"), "400")
ABSENT = ("missing", *IMPOSSIBLE, "foreign", "deleted")
BAD = {**MALFORMED, **dict.fromkeys(ABSENT, "404")}
# A status for a refusal, and else the project that the request meant.
MEANT_BY_SEARCH = {
    "unpinned": {"absent": "400", **BAD, "default": "default", "own": "own", "other": "other"},
    "pinned": {"absent": "own", **BAD, "default": "default", "own": "own", "other": "other"},
    "confined": {
        "absent": "own",
        **MALFORMED,
        **dict.fromkeys(ABSENT, "403"),
        "default": "403",
        "own": "own",
        "other": "403",
    },
}
CODES = {403: "forbidden", 404: "not_found"}


def meaning(key: str, header: str, without_any: str) -> str:
    """The table, but where neither the header nor the key names a project."""
    return without_any if (key, header) == ("unpinned", "absent") else MEANT_BY_SEARCH[key][header]


def refused(answer: httpx2.Response, header: str, meant: str) -> bool:
    if not meant.isdecimal():
        return False
    assert answer.status_code == int(meant), answer.text
    code = "project_required" if header == "absent" else "invalid_project_id"
    assert answer.json()["code"] == CODES.get(int(meant), code)
    return True


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("key", ["unpinned", "pinned", "confined"])
def test_search_needs_a_project_and_stays_in_it(world: World, key: str, header: str) -> None:
    """ORG-3, ORG-4, ISO-4."""
    meant = meaning(key, header, "400")
    answer = world.asking(key, header).post("/v1/search", {"query": "roses"})
    if not refused(answer, header, meant):
        assert answer.status_code == 200
        expected = {"own": ["garden"], "other": ["kitchen"], "default": []}[meant]
        assert [hit["session_id"] for hit in answer.json()["data"]] == expected


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("key", ["unpinned", "pinned", "confined"])
def test_a_new_session_is_in_the_project_of_its_request(world: World, key: str, header: str) -> None:
    """ORG-3, ORG-4, ISO-7: without any, it is in the default project."""
    meant = meaning(key, header, "default")
    answer = world.asking(key, header).post("/v1/sessions", {})
    if refused(answer, header, meant):
        return
    assert answer.status_code == 201
    made = answer.json()
    assert made["project_id"] == world.projects[meant]
    world.tenant.admin.delete(f"/v1/sessions/{made['external_id']}")


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("key", ["unpinned", "pinned", "confined"])
def test_the_list_of_sessions_is_that_of_the_project_or_of_all(world: World, key: str, header: str) -> None:
    meant = meaning(key, header, "all")
    answer = world.asking(key, header).get("/v1/sessions")
    if not refused(answer, header, meant):
        expected = {
            "own": {"garden"},
            "other": {"kitchen"},
            "default": set[str](),
            "all": {"garden", "kitchen", "pool"},
        }
        assert {session["external_id"] for session in answer.json()["data"]} == expected[meant]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("key", ["unpinned", "pinned", "confined"])
def test_a_session_by_its_name_says_itself_which_project_it_is_in(world: World, key: str, header: str) -> None:
    """A header is checked all the same, and a confined key finds only the sessions of its project."""
    meant = meaning(key, header, "any")
    for name, project in (("garden", "own"), ("kitchen", "other"), ("pool", None)):
        asking = world.asking(key, header)
        answers = (
            asking.get(f"/v1/sessions/{name}"),
            asking.patch(f"/v1/sessions/{name}", {"tags": []}),
            asking.get(f"/v1/sessions/{name}/messages"),
            asking.post("/v1/context", {"session_id": name}),
            asking.post("/v1/search", {"session_id": name, "query": "roses"}),
        )
        for answer in answers:
            if refused(answer, header, meant):
                continue
            if key == "confined" and name != "garden":
                assert answer.status_code == 404
                continue
            assert answer.status_code == 200
            if "project_id" in answer.json():
                assert answer.json()["project_id"] == (None if project is None else world.projects[project])


def test_the_body_may_name_another_project_than_the_header_unless_the_key_is_confined(world: World) -> None:
    """ORG-4: a pinned key may name others."""
    kitchen = world.projects["other"]
    for key in ("unpinned", "pinned"):
        made = world.asking(key, "own").made("/v1/sessions", {"project_id": kitchen})
        assert made["project_id"] == kitchen
        world.tenant.admin.delete(f"/v1/sessions/{made['external_id']}")
    confined = world.asking("confined", "own")
    assert confined.post("/v1/sessions", {"project_id": kitchen}).status_code == 404
    assert confined.post("/v1/sessions", {"project_id": None}).status_code == 403
    assert confined.patch("/v1/sessions/garden", {"project_id": kitchen}).status_code == 404
    assert confined.patch("/v1/sessions/garden", {"project_id": None}).status_code == 403


def test_a_confined_caller_sees_one_project_of_the_tenant(world: World) -> None:
    """ORG-4, ISO-4."""
    confined = world.asking("confined", "absent")
    assert [project["project_id"] for project in confined.everything("/org/projects")] == [world.projects["own"]]
    assert [session["external_id"] for session in confined.everything("/v1/sessions", project_id="none")] == []
    assert [session["external_id"] for session in confined.everything("/v1/sessions")] == ["garden"]
    assert confined.get("/org/usage").status_code == 403


def test_a_key_whose_project_was_deleted_names_nothing(server: Server) -> None:
    tenant = server.new_tenant()
    project = tenant.new_project("Garden")
    tenant.new_session("roses", project_id=project)
    pinned, confined = (tenant.with_key(project_id=project, confined=confined) for confined in (False, True))
    tenant.admin.delete(f"/org/projects/{project}")

    for asking in (pinned, confined):
        assert asking.post("/v1/search", {"query": "roses"}).status_code == 404
        assert asking.post("/v1/sessions", {}).status_code == 404
    assert pinned.get("/v1/sessions/roses").json()["project_id"] is None
    assert confined.get("/v1/sessions/roses").status_code == 404
    assert confined.get("/org/projects").json()["data"] == []
