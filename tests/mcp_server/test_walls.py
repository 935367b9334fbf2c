"""The canary grid at the MCP door: connections of different keys side by side, every tool, and nothing crosses (ISO-4)."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from cloister.services.conversations.record import Recorder
from cloister.services.memories.memories import Memories
from support.clients.mcp_client import ERAS, Connected, Era, over_http, over_stdio
from support.interruptions import before
from support.servers.http_server import Server, Tenant

# Invented names, so that none can be in an answer by chance; each is one pool's alone.
CANARIES = {
    "garden, ada": "Zorvath",
    "garden, bob": "Quimbelo",
    "garden, no user": "Yandrimo",
    "kitchen, ada": "Wextalu",
    "kitchen, no user": "Brosk",
    "other tenant, ada": "Fenwilda",
}


@dataclass(kw_only=True, slots=True)
class Pool:
    """One pool with its canary in a memory, an exchange, an entity and a note, and a connection that belongs to it."""

    name: str
    canary: str
    connected: Connected
    tenant: Tenant
    scope: dict[str, str] = field(default_factory=dict[str, str])
    ids: list[str] = field(default_factory=list[str])
    memories: list[str] = field(default_factory=list[str])

    def fill(self, server: Server) -> None:
        stored = self.connected.call("remember", contents=[f"{self.canary} keeps the safe of the captain."])
        self.scope = stored["scope"]
        said = f"My neighbour {self.canary} plays the cello."
        self.connected.call("record_exchange", user_message=said, ai_response=f"{self.canary}, noted.")
        assert self.tenant.admin.post(f"/v1/sessions/{self.scope['session']}/extract").status_code == 200
        found = self.connected.call("search", query=f"{self.canary}, the safe, the cello")["results"]
        self.ids = [result["id"] for result in found]
        self.memories = [memory["id"] for memory in self.connected.call("list_memories")["memories"]]

    @property
    def question(self) -> str:
        return f"Who is {self.canary}, and who keeps the safe of the captain or plays the cello?"


@pytest.fixture(params=ERAS)
def grid(request: pytest.FixtureRequest, server: Server) -> Generator[dict[str, Pool]]:
    """Every pool with its canary, and a connection to each that stays open for the whole test. Some are bound by their key, some by
    the header, and some by both."""
    era: Era = request.param
    tenant, stranger = server.new_tenant(), server.new_tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    keys: dict[str, tuple[Tenant, str, dict[str, str]]] = {
        "garden, ada": (tenant, tenant.new_key("read", "write", project_id=garden, confined=True, user_id="ada"), {}),
        "garden, bob": (tenant, tenant.new_key("read", "write", user_id="bob"), {"X-Project-ID": garden}),
        "garden, no user": (tenant, tenant.new_key(project_id=garden), {}),
        "kitchen, ada": (tenant, tenant.key, {"X-Project-ID": kitchen, "X-User-ID": "ada"}),
        "kitchen, no user": (tenant, tenant.new_key("read", "write", project_id=kitchen, confined=True), {}),
        "other tenant, ada": (stranger, stranger.key, {"X-User-ID": "ada"}),
    }
    with ExitStack() as stack:
        pools = {
            name: Pool(
                name=name,
                canary=CANARIES[name],
                connected=stack.enter_context(over_http(owner.address, key, headers, era)),
                tenant=owner,
            )
            for name, (owner, key, headers) in keys.items()
        }
        for pool in pools.values():
            pool.fill(server)
        yield pools


def answers_of(reader: Connected, owner: Pool) -> dict[str, str]:
    """Everything that a connection can ask about another pool, with what it was answered."""
    asked: dict[str, Callable[[], Any]] = {
        "get_context": lambda: reader.result("get_context", query=owner.question, budget_tokens=20_000),
        "get_context without a query": lambda: reader.result("get_context", budget_tokens=20_000),
        "search_memory": lambda: reader.result("search_memory", query=owner.question, limit=50),
        "search": lambda: reader.result("search", query=owner.question),
        "list_memories": lambda: reader.result("list_memories", limit=50),
        "prompt": lambda: reader.prompt(f"the cello of {owner.canary}").partition("\n")[2],
        "context": lambda: reader.resource("cloister://context"),
        "session": lambda: reader.resource(f"cloister://sessions/{owner.scope['session']}"),
    }
    for id in owner.ids:
        asked[f"fetch {id}"] = lambda id=id: reader.result("fetch", id=id)
    for id in owner.memories:
        asked[f"forget {id}"] = lambda id=id: reader.result("forget", memory_id=id)
    return {name: outcome(ask) for name, ask in asked.items()}


def outcome(ask: Callable[[], types.CallToolResult | str]) -> str:
    try:
        answer = ask()
    except MCPError as error:
        return f"refused: {error.message}"
    return answer if isinstance(answer, str) else answer.model_dump_json()


def check_that_nothing_crosses(grid: dict[str, Pool]) -> None:
    """Every pool asks every other, by words and by ids, all at once; the control is that each finds its own."""
    for pool in grid.values():
        kinds = {id.partition("_")[0] for id in pool.ids}
        assert kinds == {"ep", "mem", "ent"}, pool.name
        own = pool.connected.call("search_memory", query=pool.question, limit=50)
        assert pool.canary in str(own["results"])
        assert all(pool.canary in pool.connected.call("fetch", id=id)["text"] for id in pool.ids)
    pairs = list(permutations(grid.values(), 2))
    with ThreadPoolExecutor(8) as threads:
        readers, owners = [reader.connected for reader, _ in pairs], [owner for _, owner in pairs]
        answers = list(threads.map(answers_of, readers, owners))
    crossed = [
        (reader.name, owner.name, name)
        for (reader, owner), given in zip(pairs, answers, strict=True)
        for name, text in given.items()
        if owner.canary in text
    ]
    assert crossed == []
    for (reader, owner), given in zip(pairs, answers, strict=True):
        assert given["session"].startswith("refused: not_found"), (reader.name, owner.name)
        by_id = {name: text for name, text in given.items() if name.startswith(("fetch", "forget"))}
        assert all("not_found: There is no" in text for text in by_id.values()), (reader.name, owner.name)
    for pool in grid.values():
        assert [memory["id"] for memory in pool.connected.call("list_memories")["memories"]] == pool.memories


def test_nothing_crosses_between_connections_that_are_open_side_by_side(grid: dict[str, Pool]) -> None:
    """ISO-4, ISO-10, ORG-4, ORG-10, DOOR-1: over HTTP."""
    check_that_nothing_crosses(grid)


def test_nothing_crosses_between_processes_of_the_command_side_by_side(server: Server) -> None:
    """ISO-4, ISO-10, ORG-4, ORG-10, DOOR-1: over stdio, each process with a key of its own."""
    tenant, stranger = server.new_tenant(), server.new_tenant()
    garden = tenant.new_project("Garden")
    keys = {
        "garden, ada": (tenant, tenant.new_key("read", "write", project_id=garden, confined=True, user_id="ada")),
        "garden, bob": (tenant, tenant.new_key("read", "write", project_id=garden, user_id="bob")),
        "other tenant, ada": (stranger, stranger.new_key("read", "write", user_id="ada")),
    }
    with ExitStack() as stack:
        pools: dict[str, Pool] = {}
        for name, (owner, key) in keys.items():
            connected = stack.enter_context(over_stdio("--data", owner.address, "--key", key))
            pools[name] = Pool(name=name, canary=CANARIES[name], connected=connected, tenant=owner)
            pools[name].fill(server)
        check_that_nothing_crosses(pools)


def test_a_foreign_id_and_a_missing_one_are_answered_alike(grid: dict[str, Pool]) -> None:
    """ISO-4: byte for byte, but for the id that was sent."""
    reader, owner = grid["garden, no user"], grid["garden, ada"]
    for id in owner.ids:
        missing = id[:4] + ("0" * 15 + "1")[-(len(id) - 4) :]
        for tool, name in (("fetch", "id"), ("forget", "memory_id")):
            foreign = reader.connected.refusal(tool, **{name: id})
            assert foreign.replace(id, "ID") == reader.connected.refusal(tool, **{name: missing}).replace(missing, "ID")
    name = owner.scope["session"]
    foreign, missing = (reader.connected.error(f"cloister://sessions/{each}") for each in (name, "nobody"))
    assert foreign.message.replace(name, "ID") == missing.message.replace("nobody", "ID")
    assert foreign.code == missing.code


def test_headers_narrow_and_never_widen(server: Server) -> None:
    """ORG-4, ORG-10: a key that is confined or bound is refused with a header that names anything else, before any tool."""
    tenant = server.new_tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    stranger = server.new_tenant()
    confined = tenant.new_key("read", "write", project_id=garden, confined=True)
    bound = tenant.new_key("read", "write", user_id="ada")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for key, headers, status in (
        (confined, {}, 200),
        (confined, {"X-Project-ID": garden}, 200),
        (confined, {"X-Project-ID": kitchen}, 403),
        (confined, {"X-Project-ID": stranger.default_project_id}, 403),
        (tenant.key, {"X-Project-ID": stranger.default_project_id}, 404),
        (tenant.key, {"X-Project-ID": "nonsense"}, 400),
        (bound, {"X-User-ID": "ada"}, 200),
        (bound, {"X-User-ID": "bob"}, 403),
        (bound, {"X-User-ID": ""}, 422),
        (tenant.key, {"X-Session-ID": "x" * 256}, 413),
    ):
        accept = {"Accept": "application/json, text/event-stream", **headers}
        answer = tenant.caller(key).post("/mcp", ping, headers=accept)
        assert answer.status_code == status, (headers, answer.text)


@pytest.mark.parametrize("era", ERAS)
def test_a_shared_project_is_recalled_by_all_its_members_and_changed_by_each_alone(server: Server, era: Era) -> None:
    """ISO-10, ORG-10: what is shared is shared here too; a member cannot forget another's memory or open another's session."""
    tenant = server.new_tenant()
    shared = tenant.new_project("Shared", member_visibility="shared")
    ada, bob = (tenant.new_key("read", "write", project_id=shared, user_id=user) for user in ("ada", "bob"))
    with over_http(tenant.address, ada, era=era) as hers, over_http(tenant.address, bob, era=era) as his:
        stored = hers.call("remember", contents=["Zorvath keeps the safe."])
        (memory,) = stored["remembered"]
        assert "Zorvath" in his.call("get_context", query="Who keeps the safe?")["context"]
        assert his.call("fetch", id=memory["id"])["text"] == 'user "ada": Zorvath keeps the safe.'
        assert his.refusal("forget", memory_id=memory["id"]).startswith("not_found")
        assert his.error(f"cloister://sessions/{stored['scope']['session']}").code == -32602
        hers.call("forget", memory_id=memory["id"])


@pytest.mark.parametrize("visibility", ["private", "shared"])
@pytest.mark.parametrize(
    ("tool", "service", "method", "arguments"),
    [
        ("remember", Memories, "add", {"contents": ["I keep the key under the mat."]}),
        ("record_exchange", Recorder, "messages", {"user_message": "I keep the key.", "ai_response": "Noted."}),
    ],
)
def test_iso_10_a_session_that_becomes_a_users_before_a_write_is_refused(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    visibility: str,
    tool: str,
    service: type,
    method: str,
    arguments: dict[str, Any],
) -> None:
    """ISO-10: a connection without a user writes to a session without a user, also if its session was deleted and created anew for
    a user since it was looked up."""
    tenant = server.new_tenant()
    project = tenant.new_project("P", member_visibility=visibility)
    headers = {"X-Project-ID": project, "X-Session-ID": "s"}
    tenant.new_session("s", project_id=project)

    def create_anew() -> None:
        tenant.admin.delete("/v1/sessions/s")
        tenant.new_session("s", project_id=project, user_id="bob")

    with over_http(tenant.address, tenant.key, headers) as connected:
        before(monkeypatch, service, method, create_anew)
        for _ in range(2):
            assert connected.refusal(tool, **arguments).startswith("conflict")
    found = tenant.admin.get("/v1/sessions/s").json()
    assert (found["user_id"], found["message_count"], found["memory_count"]) == ("bob", 0, 0)


def test_a_connection_follows_its_project_and_its_key_by_the_next_request(server: Server) -> None:
    """ISO-12: a session that leaves, and a key that is revoked, end what an open connection sees."""
    tenant = server.new_tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    made = tenant.admin.made("/org/api-keys", {"name": "k", "permissions": ["read", "write"], "project_id": garden})
    tenant.new_session("chat", project_id=garden)
    tenant.say("chat", "Zorvath keeps the safe.")
    with over_http(tenant.address, made["key"]) as connected:
        assert "Zorvath" in connected.call("get_context", query="Who keeps the safe?")["context"]
        assert tenant.admin.patch("/v1/sessions/chat", {"project_id": kitchen}).status_code == 200
        assert "Zorvath" not in connected.call("get_context", query="Who keeps the safe?")["context"]
        assert connected.error("cloister://sessions/chat").code == -32602
        assert tenant.admin.delete(f"/org/api-keys/{made['key_id']}").status_code == 204
        with pytest.raises(MCPError, match="A valid API key is needed"):
            connected.call("get_context", query="Who keeps the safe?")
