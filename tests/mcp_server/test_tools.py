"""Every tool, resource and prompt, asked by the unmodified client of the SDK on every transport and in both protocol eras."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from typer.testing import CliRunner

from cloister.bootstrap import wire
from cloister.index.exact.index import ExactIndex
from cloister.interfaces.cli.main import app
from support.clients.mcp_client import ERAS, READING, WRITING, Connected, Era, over_http, over_stdio, said_by
from support.databases.engines import sqlite_engine
from support.samples.other_embedder import OtherEmbedder
from support.servers.http_server import Server, ServerProcess, Tenant, serving
from support.waiting import eventually

WAYS = [
    "http-sqlite-auto",
    "http-sqlite-legacy",
    "http-postgres-auto",
    "directory-auto",
    "directory-legacy",
    "relay-auto",
    "relay-legacy",
]


@contextmanager
def through(way: str, request: pytest.FixtureRequest, folder: Path) -> Generator[Connected]:
    kind, _, rest = way.partition("-")
    era: Era = "legacy" if rest.endswith("legacy") else "auto"
    if kind == "directory":
        with over_stdio("--data", str(folder / "data"), "--user", "ada", era=era) as connected:
            yield connected
        return
    server: Server = request.getfixturevalue("postgres_service" if "postgres" in way else "sqlite_service")
    tenant = server.new_tenant()
    if kind == "relay":
        options = ("--data", tenant.address, "--key", tenant.key, "--user", "ada")
        with over_stdio(*options, era=era) as connected:
            yield connected
    else:
        with over_http(tenant.address, tenant.key, {"X-User-ID": "ada"}, era) as connected:
            yield connected


@pytest.fixture(params=WAYS)
def connected(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Connected]:
    with through(request.param, request, tmp_path) as opened:
        yield opened


def test_every_tool_does_what_it_says(connected: Connected) -> None:
    """DOOR-1: remembered, recorded, found, listed, fetched and forgotten, through one connection; every answer has its scope."""
    assert {tool.name for tool in connected.tools} == READING | WRITING
    empty = connected.call("get_context", query="What does Ada drink?")
    assert empty["context"] == "Nothing is remembered about this."
    scope = empty["scope"]
    assert (scope["user"], scope["project_name"]) == ("ada", "Default")

    added = connected.call("remember", contents=["Ada prefers tea to coffee.", "The spare key hangs behind the clock."])
    assert [memory["content"] for memory in added["remembered"]] == [
        "Ada prefers tea to coffee.",
        "The spare key hangs behind the clock.",
    ]
    again = connected.call("remember", contents=["Ada prefers  TEA to coffee!"])
    assert (again["remembered"], again["duplicates"]) == ([], 1)
    episode = connected.call("record_exchange", user_message="My sister Anna plays the cello.", ai_response="How nice.")

    assert "tea to coffee" in connected.call("get_context", query="What does Ada like to drink?")["context"]
    assert "plays the cello" in connected.call("get_context")["context"]
    hits = connected.call("search_memory", query="Where is the spare key?", kinds=["memories"])["results"]
    assert hits[0]["content"] == "The spare key hangs behind the clock."
    found = connected.call("search", query="Who plays the cello?")["results"]
    assert [result["id"] for result in found] == [episode["episode_id"]]
    fetched = connected.call("fetch", id=found[0]["id"])
    assert fetched["text"] == "user: My sister Anna plays the cello.\n\nassistant: How nice."
    assert connected.call("fetch", id=hits[0]["id"])["text"] == hits[0]["content"]

    first = connected.call("list_memories", limit=1)
    second = connected.call("list_memories", limit=1, cursor=first["next_cursor"])
    listed = [*first["memories"], *second["memories"]]
    assert listed == added["remembered"] and second["next_cursor"] is None
    forgotten = connected.call("forget", memory_id=listed[0]["id"])
    assert forgotten["forgotten"] == listed[0]["id"]
    certificate = forgotten["certificate"]
    assert certificate["removed"]["memories"] == 1 and certificate["all_checks_passed"], "PRF-4"
    assert certificate["checks"] > 0 and len(str(forgotten)) < 2_000
    assert connected.call("list_memories")["memories"] == listed[1:]
    assert connected.refusal("forget", memory_id=listed[0]["id"]).startswith("not_found: There is no memory")
    assert connected.call("get_context")["scope"] == scope


def test_mem_12_what_is_remembered_anew_takes_the_former_facts_position(connected: Connected) -> None:
    """MEM-12, DOOR-1: the context had both towns, because the assistant wrote "User" and not "The user"."""
    for town in ("Rome", "Oslo"):
        connected.call("remember", contents=[f"User lives in {town}."])
    context = connected.call("get_context", query="Where does Ada live?")["context"]
    assert "Oslo" in context and "Rome" not in context


def test_resources_and_the_prompt_have_what_the_tools_have(connected: Connected) -> None:
    """DOOR-1: `cloister://context`, one session by its external id, and the prompt `recall`."""
    scope = connected.call("record_exchange", user_message="The ferry leaves at nine.", ai_response="Noted.")["scope"]
    for text in (
        connected.resource("cloister://context"),
        connected.resource(f"cloister://sessions/{scope['session']}"),
        connected.prompt("When does the ferry leave?"),
    ):
        assert "The ferry leaves at nine." in text and scope["project"] in text
    (template,) = connected.portal.call(connected.client.list_resource_templates).resource_templates
    assert template.uri_template == "cloister://sessions/{external_id}"
    missing = connected.error("cloister://sessions/nobody")
    assert (missing.code, missing.message) == (-32602, "not_found: There is no session 'nobody' here.")
    assert connected.error("cloister://nothing").code == -32602


@pytest.mark.parametrize("era", ERAS)
def test_a_key_that_may_only_read_sees_no_tools_that_write(tenant: Tenant, era: Era) -> None:
    """DOOR-1, ORG-8: and is refused when it calls one all the same; it also creates no session."""
    with over_http(tenant.address, tenant.new_key("read"), era=era) as connected:
        assert {tool.name for tool in connected.tools} == READING
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in connected.tools)
        for tool, arguments in (
            ("remember", {"contents": ["x"]}),
            ("record_exchange", {"user_message": "x", "ai_response": "y"}),
            ("forget", {"memory_id": "mem_0000000000000001"}),
        ):
            assert connected.refusal(tool, **arguments).startswith("forbidden: This connection may only read")
        connected.call("get_context", query="anything")
        connected.resource("cloister://context")
    assert tenant.admin.everything("/v1/sessions") == []


def test_a_reader_recalls_what_others_of_the_pool_said(tenant: Tenant) -> None:
    """ISO-3: the session of the connection need not exist for that."""
    tenant.new_session("chat", user_id="ada")
    tenant.say("chat", "The spare key hangs behind the clock.")
    with over_http(tenant.address, tenant.new_key("read", user_id="ada")) as connected:
        assert "behind the clock" in connected.call("get_context", query="Where is the spare key?")["context"]
        assert "behind the clock" in connected.prompt("the spare key")
        assert "behind the clock" in connected.resource("cloister://sessions/chat")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", sorted(READING | WRITING))
def test_an_argument_that_a_tool_does_not_have_is_refused(sqlite_service: Server, tool: str, era: Era) -> None:
    """DOOR-1: a model that passes a scope is told that it is not obeyed, and nothing is done."""
    tenant = sqlite_service.new_tenant()
    arguments = {
        "remember": {"contents": ["x"]},
        "record_exchange": {"user_message": "x", "ai_response": "y"},
        "forget": {"memory_id": "mem_0000000000000001"},
        "fetch": {"id": "mem_0000000000000001"},
    }.get(tool, {} if tool == "list_memories" else {"query": "x"})
    with over_http(tenant.address, tenant.key, era=era) as connected:
        for unknown in ("user_id", "project_id", "session_id", "tenant", "nonsense"):
            refused = connected.refusal(tool, **arguments, **{unknown: "bob"})
            assert refused.startswith(f"invalid_request: {unknown}: is not an argument of {tool}")
    assert tenant.admin.everything("/v1/sessions") == []


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("search_memory", {}, "query: is missing"),
    ("search_memory", {"query": ""}, "query: must not be empty"),
    ("search_memory", {"query": "x" * 8_193}, "query: 8,193 characters, and the limit is 8,192"),
    ("search_memory", {"query": 7}, "query: must be text"),
    ("search_memory", {"query": "x", "limit": 51}, "limit: must be from 1 to 50"),
    ("search_memory", {"query": "x", "limit": True}, "limit: must be a whole number"),
    ("search_memory", {"query": "x", "kinds": ["all"]}, "kinds[0]: must be one of episodes, memories, entities"),
    ("search_memory", {"query": "x", "kinds": []}, "kinds: must have 1 to 3 entries"),
    ("remember", {"contents": "one"}, "contents: must be a list"),
    ("remember", {"contents": ["x"] * 21}, "contents: must have 1 to 20 entries"),
    ("remember", {"contents": ["x" * 2_001]}, "contents[0]: 2,001 characters"),
    ("record_exchange", {"user_message": "x" * 65_537, "ai_response": "y"}, "user_message: 65,537 characters"),
    ("list_memories", {"cursor": "AAAA"}, "cursor: is not one that was given out for this list"),
    ("get_context", {"budget_tokens": 20_001}, "budget_tokens: must be from 100 to 20,000"),
    ("fetch", {"id": "obs_0000000000000001"}, "There is no result 'obs_0000000000000001' here"),
    ("fetch", {"id": "ep_7fffffffffffffff"}, "There is no episode 'ep_7fffffffffffffff' here"),
    ("forget", {"memory_id": "mem_"}, "There is no memory 'mem_' here"),
]


def test_wrong_arguments_are_refused_in_words_that_help(tenant: Tenant) -> None:
    """DOOR-1: as results that the model reads, each naming the argument; nothing is changed."""
    with over_http(tenant.address, tenant.key) as connected:
        for tool, arguments, expected in WRONG:
            assert expected in connected.refusal(tool, **arguments)
    assert tenant.admin.everything("/v1/sessions") == []


def test_a_session_of_ones_own_is_used_and_one_outside_the_scope_is_not(tenant: Tenant) -> None:
    """ISO-4: X-Session-ID names the session that is written to; one of another user or project is not taken over."""
    kitchen = tenant.new_project("Kitchen")
    tenant.new_session("ada's", user_id="ada")
    tenant.new_session("kitchen's", project_id=kitchen)
    with over_http(tenant.address, tenant.key, {"X-Session-ID": "mine"}) as connected:
        connected.call("remember", contents=["The bike is green."])
        assert connected.resource("cloister://sessions/mine")
    (memory,) = tenant.admin.everything("/v1/sessions/mine/memories")
    assert memory["content"] == "The bike is green."
    for name in ("ada's", "kitchen's"):
        with over_http(tenant.address, tenant.key, {"X-Session-ID": name}) as connected:
            refused = connected.refusal("remember", contents=["The boat is red."])
            assert refused.startswith(f"conflict: The session {name!r} is in use outside the scope")
            assert connected.refusal("record_exchange", user_message="x", ai_response="y")
            assert connected.call("get_context", query="bike")["scope"]["session"] == name
    assert tenant.admin.everything("/v1/sessions/ada%27s/memories") == []
    assert tenant.admin.everything("/v1/sessions/kitchen%27s/memories") == []


def test_answers_are_short_however_much_is_remembered(tenant: Tenant) -> None:
    """DOOR-1: 2,000 tokens by default; what is left out is counted, and can be asked for."""
    long = "The spare key hangs behind the clock. " + "Then we talked about something else for a while. " * 100
    with over_http(tenant.address, tenant.key) as connected:
        for number in range(12):
            said = f"{number}: {long}"
            connected.call("record_exchange", user_message=said, ai_response=f"So it is: {said}")
        facts = [f"Fact {number}: {long}"[:2_000] for number in range(20)]
        stored = connected.result("remember", contents=facts)
        query = "Where does the spare key hang?"
        first = connected.call("search", query=query)["results"][0]["id"]
        answers = {
            "remember": said_by(stored),
            "get_context": said_by(connected.result("get_context", query=query)),
            "get_context without a query": said_by(connected.result("get_context")),
            "search_memory": said_by(connected.result("search_memory", query=query, limit=50)),
            "list_memories": said_by(connected.result("list_memories", limit=50)),
            "search": said_by(connected.result("search", query=query)),
            "fetch": said_by(connected.result("fetch", id=first)),
            "context": connected.resource("cloister://context"),
            "session": connected.resource(f"cloister://sessions/{connected.call('get_context')['scope']['session']}"),
            "prompt": connected.prompt(query),
        }
        assert {name: len(text) for name, text in answers.items() if len(text) > 8_000} == {}
        assert len(connected.call("get_context", query=query, budget_tokens=6_000)["context"]) > 8_000
        listed: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = connected.call("list_memories", limit=50, **cursor)
            listed += [memory["content"] for memory in page["memories"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert [each.partition(":")[0] for each in listed] == [each.partition(":")[0] for each in facts]


def test_answers_in_japanese_are_as_short(tenant: Tenant) -> None:
    """DOOR-1: 2,000 tokens, where a character of Japanese is one, and not a quarter of one as in English."""

    def tokens(text: str) -> int:
        wide = sum(each >= "\u2e80" for each in text)
        return wide + (len(text) - wide) // 4

    long = "合鍵は時計の裏に掛かっています。" + "それからしばらく別のことを話しました。" * 60
    with over_http(tenant.address, tenant.key) as connected:
        first = ""
        for number in range(12):
            said = f"{number}: {long}"
            first = connected.call("record_exchange", user_message=said, ai_response=f"はい、{said}")["episode_id"]
        facts = [f"事実{number}: {long}"[:500] for number in range(12)]
        stored = connected.result("remember", contents=facts)
        query = "合鍵はどこに掛かっていますか。"
        context = connected.call("get_context", query=query)
        answers = {
            "remember": said_by(stored),
            "get_context": str(context),
            "search_memory": said_by(connected.result("search_memory", query=query, limit=50)),
            "list_memories": said_by(connected.result("list_memories", limit=50)),
            "search": said_by(connected.result("search", query=query)),
            "fetch": said_by(connected.result("fetch", id=first)),
            "session": connected.resource(f"cloister://sessions/{context['scope']['session']}"),
            "prompt": connected.prompt(query),
        }
        assert {name: tokens(text) for name, text in answers.items() if tokens(text) > 2_000} == {}
        assert "合鍵" in context["context"] and context["tokens"] >= tokens(context["context"])
        assert "はい、11: 合鍵" in answers["session"], "its end is shown, and the block is closed"
        assert answers["session"].endswith("\n</recalled-memory>")
        whole, offset = "", 0
        while offset is not None:
            part = connected.call("fetch", id=first, offset=offset)
            whole, offset = whole + part["text"], part["next_offset"]
        assert whole.count(long) == 2, "the parts are the whole text"


@pytest.mark.parametrize("text", ["😀" * 1_900, "私" * 5_800, "<" * 5_800])
def test_the_quotation_of_a_session_is_closed_in_every_script(sqlite_service: Server, text: str) -> None:
    """DOOR-1, MEM-10: what does not fit is cut before it is quoted, and never the mark that ends the quotation."""
    tenant = sqlite_service.new_tenant()
    with over_http(tenant.address, tenant.key, {"X-Session-ID": "s"}) as connected:
        connected.call("record_exchange", user_message="Hello.", ai_response=text)
        assert connected.resource("cloister://sessions/s").endswith("\n</recalled-memory>")
        connected.call("record_exchange", user_message=text, ai_response="The last words.")
        assert "The last words.\n</recalled-memory>" in connected.resource("cloister://sessions/s")


def test_ctx_8_a_long_message_does_not_hide_what_was_said_before_it(sqlite_service: Server) -> None:
    """CTX-8: it comes shortened or not at all, and the answer says that something is left out."""
    tenant = sqlite_service.new_tenant()
    with over_http(tenant.address, tenant.key) as connected:
        connected.call("record_exchange", user_message="The quartz drawer key is under the fern.", ai_response="I see.")
        connected.call("record_exchange", user_message="Tell me more. " * 1_070, ai_response="Well.")
        for budget in (1_500, 3_000):
            answer = connected.call("get_context", query="Where is the quartz drawer key?", budget_tokens=budget)
            assert "under the fern" in answer["context"] and answer["context"].count("Tell me more") < 100
        greeting = connected.call("get_context", query="Hello!")
        assert "they do not fit into budget_tokens: 3." in greeting["context"] and greeting["left_out"] == 3


def test_exchanges_become_memories_without_a_server(tmp_path: Path) -> None:
    """DOOR-1, MEM-3: the process that a client starts extracts too."""
    with over_stdio("--data", str(tmp_path / "data")) as connected:
        for said in ("My neighbour Anna plays the cello.", "I prefer tea to coffee."):
            connected.call("record_exchange", user_message=said, ai_response="Noted.")
        listed = eventually(lambda: connected.call("list_memories")["memories"])
        assert any("Anna" in memory["content"] for memory in listed)


def test_a_relay_outlives_a_server_that_is_restarted(tmp_path: Path) -> None:
    """DOOR-1: meanwhile the client is told that no server answers."""
    data, port = tmp_path / "data", free_port()
    with ServerProcess(data, options=("--port", port)) as first:
        key = first.server.new_tenant().key
        with over_stdio("--data", first.address, "--key", key) as connected:
            connected.call("remember", contents=["The bike is green."])
            assert first.stop() == 0
            with pytest.raises(MCPError, match="No Cloister answers at"):
                connected.call("list_memories")
            with ServerProcess(data, options=("--port", port)):
                (memory,) = connected.call("list_memories")["memories"]
                assert memory["content"] == "The bike is green."


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return str(listening.getsockname()[1])


def test_a_command_that_cannot_begin_says_why(tmp_path: Path, tenant: Tenant) -> None:
    """DOOR-1: in one line on standard error, since standard output is the protocol's."""
    data, server = ("--data", str(tmp_path / "data")), ("--data", tenant.address)
    for options, expected in (
        ((*server, "--key", tenant.key[:-1] + "_"), "A valid API key is needed"),
        ((*server, "--key", tenant.key, "--project", "proj_0123456789abcdef"), "There is no project"),
        ((*server, "--key", tenant.key, "--read-only"), "use a key that may only read"),
        ((*data, "--project", "Nowhere"), "There is no project 'Nowhere' here"),
        ((*data, "--project", "none"), "an MCP connection belongs to one"),
        ((*data, "--user", ""), "user"),
        (("--data", "http://127.0.0.1:9", "--key", "clo_x"), "No Cloister answers at http://127.0.0.1:9"),
    ):
        done = CliRunner().invoke(app, ["mcp", *options])
        assert (done.exit_code, done.stdout) == (1, ""), done.output
        assert done.stderr.startswith("error: ") and expected in done.stderr and done.stderr.count("\n") == 1


def test_ops_1_a_context_says_how_much_an_upgrade_has_still_to_index_again(tmp_path: Path) -> None:
    engine, embedder = sqlite_engine(tmp_path / "data"), OtherEmbedder()
    with engine.closing:
        with serving(engine.services()) as server:
            tenant = server.new_tenant()
            with over_http(tenant.address, tenant.key) as connected:
                connected.call("record_exchange", user_message="The bell rings at noon.", ai_response="I see.")
                assert connected.call("get_context", query="bell")["stale"] == 0
        index = ExactIndex(embedder.embed_query, embedder.dimension, 100_000_000)
        upgraded = wire(engine.database(), index=index, embedder=embedder)
        with serving(upgraded) as server, over_http(server.address, tenant.key) as connected:
            assert connected.call("get_context", query="bell")["stale"] == 2
