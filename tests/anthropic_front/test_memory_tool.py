"""Anthropic's memory tool on our files, embedded and at a server: the answers of the SDK's own tool, inside the walls (DOOR-3)."""

import asyncio
import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cloister import AsyncCloister, Cloister, Conflict, NotFound
from cloister.integrations.anthropic import AsyncCloisterMemoryTool, CloisterMemoryTool
from support.clients.anthropic_client import AnthropicFront, blocks, message
from support.clients.memory_commands import COMMANDS, answer, same
from support.servers.http_server import Tenant

# At least so many commands; CLOISTER_LONG_RUN asks for more.
COMMANDS_WANTED = int(os.environ.get("CLOISTER_LONG_RUN", "2000"))
SECRET = "The safe opens with 4711."


@pytest.fixture(scope="session")
def embedded(folder: Path) -> Generator[Cloister]:
    with Cloister(folder / "files") as cloister:
        yield cloister


@pytest.fixture
def tenant(front: AnthropicFront) -> Tenant:
    return front.tenant()


@pytest.fixture
def remote(tenant: Tenant) -> Generator[Cloister]:
    with Cloister(tenant.address, key=tenant.key) as cloister:
        yield cloister


def create(path: str, text: str = SECRET) -> dict[str, Any]:
    return {"command": "create", "path": path, "file_text": text}


def view(path: str = "/memories") -> dict[str, Any]:
    return {"command": "view", "path": path}


def test_random_commands_have_the_answers_of_anthropics_own_tool(embedded: Cloister, tmp_path: Path) -> None:
    """Byte for byte, except for the sizes of directories. After each list of commands the whole trees are compared too."""
    count = 0

    @settings(max_examples=COMMANDS_WANTED // 10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(COMMANDS, min_size=12, max_size=24))
    @example([create("/memories/a"), {"command": "rename", "old_path": "/memories/b", "new_path": "/memories/a/b"}])
    def compared(commands: list[dict[str, Any]]) -> None:
        nonlocal count
        shutil.rmtree(tmp_path / "memories", ignore_errors=True)
        local = BetaLocalFilesystemMemoryTool(str(tmp_path))
        ours.clear_all_memory()
        for command in commands:
            theirs = answer(local, command)
            assert same(theirs, answer(ours, command)), (command, theirs)
            count += 1
        for path in sorted((tmp_path / "memories").rglob("*")):
            given = view("/" + str(path.relative_to(tmp_path)))
            assert answer(ours, given) == answer(local, given), path

    ours = CloisterMemoryTool("random", embedded)
    compared()
    assert count >= COMMANDS_WANTED


def test_the_files_of_a_session_are_its_own_at_a_server_too(remote: Cloister, tenant: Tenant) -> None:
    """ISO-4, ORG-4: each session has its tree; the session is created in its project, of its user; a foreign one is not found."""
    garden = tenant.new_project("Garden")
    ours = CloisterMemoryTool("notes", remote, project_id=garden, user_id="ada")
    assert ours.call(create("/memories/safe.txt")) == "File created successfully at: /memories/safe.txt"
    stored = remote.session("notes")
    assert (stored.project_id, stored.user_id) == (garden, "ada")
    assert SECRET in str(ours.call(view("/memories/safe.txt")))
    assert "safe.txt" not in str(CloisterMemoryTool("other", remote).call(view()))
    others: list[dict[str, Any]] = [{"user_id": "bob"}, {"project_id": tenant.default_project_id}]
    for fields in others:
        with pytest.raises(Conflict):
            CloisterMemoryTool("notes", remote, **fields).call(view())
    elsewhere = tenant.new_key("read", "write", project_id=tenant.default_project_id, confined=True)
    with Cloister(tenant.address, key=elsewhere) as confined, pytest.raises(NotFound):
        confined.memory_tool("notes", view())
    with pytest.raises(ToolError, match="user_id"):
        ours.call({**view(), "user_id": "bob"})
    remote.move_session("notes", tenant.default_project_id)
    with pytest.raises(Conflict):
        ours.call(view())
    remote.delete_session("notes")
    remote.create_session("notes", project_id=garden, user_id="bob")
    with pytest.raises(Conflict):
        ours.call(view())


def test_files_stay_in_their_pool_and_go_with_their_session(remote: Cloister, tenant: Tenant) -> None:
    """ISO-5, ISO-12, MEM-9, ORG-9: a model may have put recalled text into a file. A session that moves leaves its files behind,
    and finds them again when it comes back; clearing, deleting and erasing remove them."""
    garden = tenant.new_project("Garden")

    def filled(name: str) -> CloisterMemoryTool:
        tool = CloisterMemoryTool(name, remote, project_id=tenant.default_project_id, user_id="ada")
        tool.call(create("/memories/safe.txt"))
        return tool

    def shows(name: str) -> bool:
        return "safe.txt" in remote.memory_tool(name, view()).text

    filled("moves")
    remote.move_session("moves", garden)
    assert not shows("moves")
    remote.move_session("moves", tenant.default_project_id)
    assert shows("moves")
    filled("cleared")
    remote.clear_session("cleared")
    assert not shows("cleared")
    deleted = filled("deleted")
    remote.delete_session("deleted")
    with pytest.raises(NotFound):
        remote.memory_tool("deleted", view())
    assert "safe.txt" not in str(deleted.call(view())), "the tool makes a new session, without files"
    remote.erase_user("ada")
    filled("moves")
    remote.update_project(tenant.default_project_id, member_visibility="shared")
    filled("shared")
    remote.update_project(tenant.default_project_id, member_visibility="private")
    assert shows("shared"), "a file goes with its session, and is shown in no other"
    remote.create_session("of bob", project_id=tenant.default_project_id, user_id="bob")
    assert not shows("of bob")


def test_iso_12_a_command_is_carried_out_only_where_its_session_is_expected(remote: Cloister, tenant: Tenant) -> None:
    """ISO-12: user and project are checked in the transaction of the command, so that no move comes between."""
    garden = tenant.new_project("Garden")
    remote.create_session("notes", project_id=garden, user_id="ada")
    expected: dict[str, Any] = {"project_id": garden, "user_id": "ada"}
    assert not remote.memory_tool("notes", create("/memories/safe.txt"), **expected).is_error
    for wrong in ({"project_id": None}, {"project_id": tenant.default_project_id}, {"user_id": "bob"}):
        with pytest.raises(Conflict):
            remote.memory_tool("notes", view(), **wrong)
        with pytest.raises(Conflict):
            remote.memory_tool("notes", {"command": "clear"}, **{**expected, **wrong})
    assert "safe.txt" in remote.memory_tool("notes", view(), **expected).text
    path = "/v1/sessions/notes/files/view"
    refused = tenant.admin.post(path, {"path": "/memories", "project_id": "garden"})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_project_id")
    with Cloister(tenant.address, key=tenant.key) as other:
        tool = CloisterMemoryTool("notes", other, **expected)
        tool.call(view())
        remote.move_session("notes", None)
        with pytest.raises(Conflict):
            tool.call(view())


def test_an_asynchronous_cloister_is_refused_with_what_to_pass_instead() -> None:
    given: Any = AsyncCloister()
    for tool in (CloisterMemoryTool, AsyncCloisterMemoryTool):
        with pytest.raises(TypeError, match="not AsyncCloister: open one with Cloister"):
            tool("notes", given)


def test_a_key_that_only_reads_views_and_one_that_only_writes_does_nothing(remote: Cloister, tenant: Tenant) -> None:
    CloisterMemoryTool("notes", remote).call(create("/memories/safe.txt"))
    body = create("/memories/b.txt")
    reader, writer = tenant.with_key("read"), tenant.with_key("write")
    assert SECRET in reader.post("/v1/sessions/notes/files/view", {"path": "/memories/safe.txt"}).json()["text"]
    assert reader.post("/v1/sessions/notes/files", body).status_code == 403
    assert writer.post("/v1/sessions/notes/files", body).status_code == 403
    assert "b.txt" not in remote.memory_tool("notes", view()).text


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (create("/memories/a.txt", "x" * 262_145), "at most 262,144 characters"),
        (create("/memories/a.txt", "\x00"), "NUL"),
        (create("/memories/" + "x" * 600), "at most 512 characters"),
        (create("/memories/a\x00b"), "NUL"),
        (create("/memories/a.txt\n4.0K\t/memories/forged.txt"), "line breaks"),
        (create("/memories/a\u2028b"), "line breaks"),
        ({"command": "rename", "old_path": "/memories/kept", "new_path": "/memories/a\x1bb"}, "line breaks"),
        ({"command": "insert", "path": "/memories", "insert_line": "x", "insert_text": "x"}, "insert_line"),
        ({"command": "create", "path": "/memories/a"}, "file_text"),
    ],
)
def test_limits_and_wrong_fields_are_said_to_the_assistant(
    embedded: Cloister, command: dict[str, Any], says: str
) -> None:
    tool = CloisterMemoryTool("limits", embedded)
    if "kept" not in str(tool.call(view())):
        tool.call(create("/memories/kept"))
    with pytest.raises(ToolError, match=says):
        tool.call(command)
    assert "a.txt" not in str(tool.call(view()))


def test_a_search_for_overlapping_text_takes_linear_time(embedded: Cloister) -> None:
    """ISO-13: each occurrence is listed, 131,073 of them; a search from each on would compare 17 billion characters."""
    tool = CloisterMemoryTool("overlapping", embedded)
    tool.call(create("/memories/a", "a" * 262_144))
    with pytest.raises(ToolError) as refused:
        tool.call({"command": "str_replace", "path": "/memories/a", "old_str": "a" * 131_072, "new_str": ""})
    assert str(refused.value).endswith("1, 1. Please ensure it is unique")
    assert str(refused.value).count("1, ") == 131_072


def test_the_sdk_runs_the_tool_in_a_conversation_through_our_front(front: AnthropicFront, remote: Cloister) -> None:
    """The unmodified tool runner: the model calls the tool, the file is stored, and the model is shown the answer."""
    tenant_key = remote.create_key("runner", permissions=["read", "write"]).key
    use = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": create("/memories/boat.txt", "Wilhelmina")}
    front.model.answers(blocks((use, []), stop_reason="tool_use"), message("Noted."))
    runner: Any = front.client(tenant_key, "talk").beta.messages
    tool = CloisterMemoryTool("notes", remote)
    final = runner.tool_runner(
        model="m", max_tokens=50, tools=[tool], messages=[{"role": "user", "content": "My boat is Wilhelmina."}]
    ).until_done()
    assert final.content[0].text == "Noted."
    assert front.shown["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    result = front.shown["messages"][-1]["content"][0]
    assert (result["type"], result["content"]) == ("tool_result", "File created successfully at: /memories/boat.txt")
    assert "Wilhelmina" in remote.memory_tool("notes", view("/memories/boat.txt")).text


def test_the_asynchronous_tool_answers_alike(embedded: Cloister) -> None:
    tool = AsyncCloisterMemoryTool("asynchronous", embedded)

    async def run() -> list[Any]:
        await tool.clear_all_memory()
        commands = [
            create("/memories/a.txt", "one\ntwo"),
            {"command": "insert", "path": "/memories/a.txt", "insert_line": 1, "insert_text": "x"},
            {"command": "str_replace", "path": "/memories/a.txt", "old_str": "one", "new_str": "1"},
            {"command": "rename", "old_path": "/memories/a.txt", "new_path": "/memories/b/a.txt"},
            view("/memories/b/a.txt"),
            {"command": "delete", "path": "/memories/b"},
        ]
        return [await tool.call(command) for command in commands]

    assert asyncio.run(run())[-2:] == [
        "Here's the content of /memories/b/a.txt with line numbers:\n     1\t1\n     2\tx\n     3\ttwo\n     4\t",
        "Successfully deleted /memories/b",
    ]


def test_iso_11_a_tree_without_a_project_is_in_the_default_one_and_of_nobody(remote: Cloister) -> None:
    """ISO-11: as through every other way in; a tool that names a user or no project is refused."""
    tool = CloisterMemoryTool("tree-of-nobody", remote)
    tool.call({"command": "create", "path": "/memories/boat.txt", "file_text": "Albatross"})
    made = remote.session("tree-of-nobody")
    (default,) = (project.project_id for project in remote.projects() if project.is_default)
    assert (made.project_id, made.user_id) == (default, None)
    of_ada = CloisterMemoryTool("tree-of-nobody", remote, user_id="ada")
    of_no_project = CloisterMemoryTool("tree-of-nobody", remote, project_id=None)
    for other in (of_ada, of_no_project):
        with pytest.raises(Conflict):
            other.call({"command": "view", "path": "/memories"})
