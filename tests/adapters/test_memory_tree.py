"""A memory tool without a session: one tree of files for each project and user, whichever key and way in it uses (DOOR-3)."""

from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from cloister import Cloister
from cloister.domain.errors import Conflict, Forbidden, NotFound
from cloister.integrations.anthropic import AsyncCloisterMemoryTool, CloisterMemoryTool
from support.servers.http_server import Server, Tenant

VIEW = {"command": "view", "path": "/memories"}


@dataclass(frozen=True, kw_only=True, slots=True)
class House:
    tenant: Tenant
    embedded: Cloister
    remote: Cloister
    garden: str
    keys: ExitStack

    def with_key(self, **fields: Any) -> Cloister:
        key = self.tenant.new_key("read", "write", **fields)
        return self.keys.enter_context(Cloister(self.tenant.address, key=key))


@pytest.fixture
def house(server: Server) -> Generator[House]:
    tenant = server.new_tenant()
    assert server.services is not None
    embedded = Cloister(services=server.services, tenant=tenant.tenant_id)
    with ExitStack() as keys, Cloister(server.address, key=tenant.key) as remote:
        garden = tenant.new_project("Garden")
        yield House(tenant=tenant, embedded=embedded, remote=remote, garden=garden, keys=keys)


def store(cloister: Cloister, name: str, **scope: Any) -> None:
    command = {"command": "create", "path": f"/memories/{name}", "file_text": name}
    CloisterMemoryTool(cloister=cloister, **scope).call(command)


def files(cloister: Cloister, **scope: Any) -> list[str]:
    shown = str(CloisterMemoryTool(cloister=cloister, **scope).call(VIEW))
    return sorted(line.rpartition("/")[2] for line in shown.splitlines()[2:])


def test_iso_11_tools_of_one_project_and_user_share_a_tree_and_no_others_do(house: House) -> None:
    """ISO-4, ISO-10, ISO-11: embedded and remote, by argument and by key; another user, project and no project have their own."""
    default = house.tenant.default_project_id
    ways: dict[str, list[tuple[Cloister, dict[str, Any]]]] = {
        "nobody": [(house.embedded, {}), (house.remote, {}), (house.remote, {"project_id": default})],
        "ada": [
            (house.remote, {"user_id": "ada"}),
            (house.embedded, {"user_id": "ada", "project_id": default}),
            (house.with_key(user_id="ada"), {}),
        ],
        "bob": [(house.embedded, {"user_id": "bob"}), (house.with_key(user_id="bob"), {"user_id": "bob"})],
        "no project, ada": [
            (house.remote, {"user_id": "ada", "project_id": None}),
            (house.embedded, {"user_id": "ada", "project_id": None}),
            (house.with_key(user_id="ada"), {"project_id": None}),
        ],
        "garden, ada": [
            (house.remote, {"user_id": "ada", "project_id": house.garden}),
            (house.with_key(project_id=house.garden, confined=True, user_id="ada"), {}),
            (house.with_key(project_id=house.garden), {"user_id": "ada"}),
        ],
        "garden, nobody": [(house.with_key(project_id=house.garden, confined=True), {})],
    }
    for part, handles in ways.items():
        for number, (cloister, scope) in enumerate(handles):
            store(cloister, f"{part} {number}", **scope)
    for part, handles in ways.items():
        for cloister, scope in handles:
            assert files(cloister, **scope) == [f"{part} {number}" for number in range(len(handles))], part


def test_org_10_a_key_reaches_no_tree_of_another_scope(house: House) -> None:
    """ORG-4, ORG-10: by what the tool names; and the name of another's tree does not open it."""
    store(house.remote, "secret", user_id="bob")
    bound, confined = house.with_key(user_id="ada"), house.with_key(project_id=house.garden, confined=True)
    refused: list[tuple[Cloister, dict[str, Any]]] = [
        (bound, {"user_id": "bob"}),
        (confined, {"project_id": None}),
        (confined, {"project_id": house.tenant.default_project_id}),
        (house.remote, {"project_id": "proj_0000000000000001"}),
    ]
    for cloister, scope in refused:
        with pytest.raises((Forbidden, NotFound)):
            files(cloister, **scope)
    name = house.remote.memory_tool_session(user_id="bob").session_id
    for cloister in (bound, confined):
        with pytest.raises(NotFound):
            cloister.memory_tool(name, VIEW)
        with pytest.raises((Conflict, NotFound)):
            CloisterMemoryTool(name, cloister).call(VIEW)
    stranger = house.tenant.with_key("write")
    assert stranger.post("/v1/memory-tool", {"user_id": "bob"}).status_code == 403


def test_iso_12_a_tree_that_was_moved_is_begun_anew(house: House) -> None:
    """ISO-12: the files stay in their pool; the tool that is open goes on with an empty tree in another session."""
    tool = CloisterMemoryTool(cloister=house.remote, user_id="ada")
    tool.call({"command": "create", "path": "/memories/a", "file_text": "a"})
    first = house.remote.memory_tool_session(user_id="ada")
    assert first.session_id == house.remote.session(first.session_id).external_id
    house.remote.move_session(first.session_id, house.garden)
    assert "/memories/a" not in str(tool.call(VIEW))
    assert house.remote.memory_tool_session(user_id="ada").session_id != first.session_id


@pytest.mark.parametrize("is_confined", [True, False])
def test_iso_12_all_tools_use_one_tree_also_when_its_session_comes_back(house: House, is_confined: bool) -> None:
    """ISO-12: an open tool, a second one and a new one, at each step; the first tree is used while it is here, and deleting it
    where it went changes nothing. A confined key does not see where the session is."""
    admin = house.remote
    home = admin.create_project("Home", member_visibility="private").project_id
    memory = house.with_key(project_id=home, confined=is_confined)
    open_tools = [CloisterMemoryTool(cloister=memory, user_id="dora", project_id=home) for _ in range(2)]

    def trees() -> set[str]:
        new = CloisterMemoryTool(cloister=memory, user_id="dora", project_id=home)
        return {str(tool.call(VIEW)) for tool in (*open_tools, new)}

    def store_in(tool: CloisterMemoryTool, name: str) -> None:
        tool.call({"command": "create", "path": f"/memories/{name}", "file_text": name})
        (tree,) = trees()
        assert f"/memories/{name}" in tree

    store_in(open_tools[0], "first")
    session = memory.memory_tool_session(user_id="dora", project_id=home).session_id
    admin.move_session(session, house.garden)
    (tree,) = trees()
    assert "/memories/first" not in tree
    store_in(open_tools[1], "second")
    admin.move_session(session, home)
    (tree,) = trees()
    assert "/memories/first" in tree and "/memories/second" not in tree
    admin.move_session(session, house.garden)
    admin.delete_session(session)
    (tree,) = trees()
    assert "/memories/second" in tree, "the first name is free, and the second tree is in use"


def test_a_named_session_has_a_tree_of_its_own_and_the_library_is_needed(house: House) -> None:
    store(house.remote, "everywhere", user_id="ada")
    assert "everywhere" not in str(CloisterMemoryTool("notes", house.remote, user_id="ada").call(VIEW))
    for tool in (CloisterMemoryTool, AsyncCloisterMemoryTool):
        with pytest.raises(TypeError, match="must be a Cloister, not NoneType"):
            tool()
