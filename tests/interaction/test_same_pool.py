"""ISO-11: the same call means the same pool, whichever way in it takes. One tenant, one database, every way in."""

import asyncio
import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.sessions.session import Session
from google.genai import types

from cloister import Cloister
from cloister.integrations.google_adk import CloisterMemoryService
from cloister.integrations.openai_agents import CloisterSession
from support.clients.chat_client import asking
from support.clients.command_line import CommandLine
from support.clients.mcp_client import over_http as over_mcp_http
from support.clients.mcp_client import over_stdio as over_mcp_stdio
from support.clients.typescript_package import TypeScriptPackage, built_package
from support.databases.engines import Engine, opened_engine
from support.servers.http_server import Caller, Server, serving

DEFAULT = "default"
QUESTION = "Where does the spare key hang?"


@dataclass(frozen=True, kw_only=True, slots=True)
class House:
    """The local tenant of one database, opened as a library and as a server."""

    embedded: Cloister
    remote: Cloister
    server: Server
    key: str
    commands: CommandLine
    over_server: CommandLine
    package: TypeScriptPackage

    @property
    def http(self) -> Caller:
        return self.server.caller(self.key)

    @property
    def default(self) -> str:
        return next(project.project_id for project in self.embedded.projects() if project.is_default)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Generator[House]:
    data: Path = tmp_path_factory.mktemp("house") / "data"
    package = built_package(tmp_path_factory.getbasetemp(), worker_id)
    with opened_engine(request.param, data, lambda: request.getfixturevalue("postgres_server")) as engine:
        yield from opened(engine, package)


def opened(engine: Engine, package: TypeScriptPackage) -> Generator[House]:
    embedded = Cloister(services=engine.services())
    key = embedded.create_key("all", permissions=["read", "write", "admin"]).key
    with serving(engine.services()) as server, Cloister(server.address, key=key) as remote:
        yield House(
            embedded=embedded,
            remote=remote,
            server=server,
            key=key,
            commands=CommandLine(data=engine.address),
            over_server=CommandLine(data=server.address, key=key),
            package=package,
        )


def fact(name: str) -> str:
    """What a session says: nearly the same in each, and never word for word."""
    return f"The spare key of {name} hangs behind the clock."


Place = str | None
Say = Callable[[House, str, Place, str | None], str | None]
"""Creates a session and says its fact there. Returns the external id, if that cannot be the name."""


def library(memory: Callable[[House], Cloister]) -> Say:
    def say(house: House, name: str, place: Place, user: str | None) -> None:
        given: dict[str, Any] = {} if place == DEFAULT else {"project_id": place}
        memory(house).create_session(name, user_id=user, **given)
        memory(house).record(name, "user", fact(name))

    return say


def command(shell: Callable[[House], CommandLine], *, recording: bool) -> Say:
    def say(house: House, name: str, place: Place, user: str | None) -> None:
        options = [] if user is None else ["--user", user]
        if place != DEFAULT:
            options += ["--project", place or "none"]
        if recording:
            shell(house).run("record", "--create", name, fact(name), *options)
            return
        shell(house).run("sessions", "create", name, *options)
        shell(house).run("record", name, fact(name))

    return say


def over_http(house: House, name: str, place: Place, user: str | None) -> None:
    given: dict[str, Any] = {} if place == DEFAULT else {"project_id": place}
    house.http.made("/v1/sessions", {"external_id": name, "user_id": user, **given})
    house.http.made(f"/v1/sessions/{name}/messages", {"role": "user", "content": fact(name)})


def over_chat(house: House, name: str, place: Place, user: str | None) -> None:
    """As the AI SDK and the console send it."""
    given: dict[str, Any] = {} if place == DEFAULT else {"project_id": place}
    answer = house.http.post("/v1/chat/stream", asking(name, fact(name), user_id=user, **given))
    assert answer.status_code == 200, answer.text


def over_openai(field: str) -> Say:
    def say(house: House, name: str, place: Place, user: str | None) -> None:
        """OpenAI's interface has no field for a project: the header names one, or the metadata."""
        body: dict[str, Any] = {"messages": [{"role": "user", "content": fact(name)}]}
        headers = {"X-Session-ID": name}
        if user is not None:
            body |= {"metadata": {"user_id": user}} if field == "metadata" else {field: user}
        if field == "metadata" and place != DEFAULT:
            body["metadata"] = {**body.get("metadata", {}), "project_id": place or "none"}
        else:
            headers |= project_header(place)
        answer = house.http.post("/v1/chat/completions", body, headers=headers)
        assert answer.status_code == 200, answer.text

    return say


def project_header(place: Place) -> dict[str, str]:
    return {} if place == DEFAULT else {"X-Project-ID": place or "none"}


def over_conversations(house: House, name: str, place: Place, user: str | None) -> None:
    metadata = {"session_id": name} | ({} if user is None else {"user_id": user})
    metadata |= {} if place == DEFAULT else {"project_id": place or "none"}
    item = {"type": "message", "role": "user", "content": fact(name)}
    answer = house.http.post("/v1/conversations", {"metadata": metadata, "items": [item]})
    assert answer.status_code == 200, answer.text


def over_mcp(house: House, name: str, place: Place, user: str | None) -> None:
    """MCP has no argument for a project: the connection names one, and always belongs to one."""
    given = {"X-Session-ID": name, "X-User-ID": user, "X-Project-ID": None if place == DEFAULT else place}
    headers = {header: value for header, value in given.items() if value is not None}
    with over_mcp_http(house.server.address, house.key, headers) as connected:
        connected.call("record_exchange", user_message=fact(name), ai_response="Noted.")


def mcp_command(options: Callable[[House], tuple[str, ...]]) -> Say:
    def say(house: House, name: str, place: Place, user: str | None) -> None:
        given = {"--session": name, "--user": user, "--project": None if place == DEFAULT else place}
        named = [part for option, value in given.items() if value is not None for part in (option, value)]
        with over_mcp_stdio(*options(house), *named) as connected:
            connected.call("record_exchange", user_message=fact(name), ai_response="Noted.")

    return say


def over_responses(house: House, name: str, place: Place, user: str | None) -> None:
    body: dict[str, Any] = {"input": fact(name)} | ({} if user is None else {"user": user})
    headers = {"X-Session-ID": name} | project_header(place)
    answer = house.http.post("/v1/responses", body, headers=headers)
    assert answer.status_code == 200, answer.text


def agents_session(house: House, name: str, place: Place, user: str | None) -> None:
    """As the runner of OpenAI's Agents SDK does."""
    given: dict[str, Any] = {} if place == DEFAULT else {"project_id": place}
    session = CloisterSession(name, house.remote, user_id=user, **given)
    asyncio.run(session.add_items([{"role": "user", "content": fact(name)}]))


def over_anthropic(house: House, name: str, place: Place, user: str | None) -> None:
    """Anthropic's interface has no field for a project: the header names one."""
    body: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": fact(name)}]}
    body |= {} if user is None else {"metadata": {"user_id": user}}
    headers = {"X-Session-ID": name} | project_header(place)
    answer = house.http.post("/anthropic/v1/messages", body, headers=headers)
    assert answer.status_code == 200, answer.text


def over_mem0(house: House, name: str, place: Place, user: str | None) -> None:
    """mem0's interface has no field for a project: the header names one, and the memories always belong to one."""
    body = {"messages": [{"role": "user", "content": fact(name)}], "user_id": user, "run_id": name}
    answer = house.http.post("/mem0/v3/memories/add/", body, headers=project_header(place))
    assert answer.status_code == 200, answer.text


def adk_service(house: House, name: str, place: Place, user: str | None) -> str:
    """The memory service of the ADK has a user, and names its sessions itself."""
    given: dict[str, Any] = {} if place == DEFAULT else {"project_id": place}
    before = {session.external_id for session in house.embedded.sessions(user_id=user, limit=200)}
    event = Event(author="user", content=types.Content(role="user", parts=[types.Part(text=fact(name))]))
    service = CloisterMemoryService(house.remote, app_name="house", user_id=user or "", **given)
    said = Session(id=name, app_name="house", user_id=user or "", events=[event])
    asyncio.run(service.add_session_to_memory(said))
    made = {session.external_id for session in house.embedded.sessions(user_id=user, limit=200)} - before
    return made.pop()


_TYPESCRIPT = """
import { Cloister } from "@cloister/client";
const [url, key, name, fields, words] = JSON.parse(process.argv[1]);
const session = new Cloister({ url, key }).session(name);
await session.create(fields);
await session.record({ role: "user", content: words });
"""


def typescript_client(house: House, name: str, place: Place, user: str | None) -> None:
    fields = {"user_id": user} | ({} if place == DEFAULT else {"project_id": place})
    given = json.dumps([house.server.address, house.key, name, fields, fact(name)])
    done = house.package.run("7", ["--input-type=module", "-e", _TYPESCRIPT, given])
    assert done.returncode == 0, done.stderr


WAYS: dict[str, Say] = {
    "library": library(lambda house: house.embedded),
    "remote library": library(lambda house: house.remote),
    "HTTP": over_http,
    "sessions create on a directory": command(lambda house: house.commands, recording=False),
    "record on a directory": command(lambda house: house.commands, recording=True),
    "sessions create on a server": command(lambda house: house.over_server, recording=False),
    "record on a server": command(lambda house: house.over_server, recording=True),
    "AI SDK and console": over_chat,
    "OpenAI user": over_openai("user"),
    "OpenAI safety_identifier": over_openai("safety_identifier"),
    "OpenAI metadata": over_openai("metadata"),
    "MCP": over_mcp,
    "MCP command on a directory": mcp_command(lambda house: ("--data", house.commands.data)),
    "MCP command on a server": mcp_command(lambda house: ("--data", house.server.address, "--key", house.key)),
    "OpenAI responses": over_responses,
    "OpenAI conversations": over_conversations,
    "Agents SDK": agents_session,
    "Anthropic": over_anthropic,
    "mem0": over_mem0,
    "ADK": adk_service,
    "TypeScript": typescript_client,
}


ALWAYS_IN_A_PROJECT = ("MCP", "mem0")
"""What these answer is of a whole project, or of a user's part of one: they refuse to be in none."""


@pytest.mark.parametrize("place", [DEFAULT, None, "project"])
def test_the_same_call_gives_the_same_pool_through_every_way_in(house: House, place: Place) -> None:
    """ISO-10, ISO-11: sessions of ana made through every way in recall each other, and nobody else recalls them."""
    project = house.embedded.create_project(f"Made for {place}").project_id
    given = project if place == "project" else place
    expected = {DEFAULT: house.default, None: None, "project": project}[place]
    ways = {way: say for way, say in WAYS.items() if place is not None or not way.startswith(ALWAYS_IN_A_PROJECT)}
    names = {way: f"{place} {number}".replace(" ", "-") for number, way in enumerate(ways)}
    user = f"ana-{place}"
    facts: dict[str, str] = {}
    for way, say in ways.items():
        said = fact(names[way])
        names[way] = say(house, names[way], given, user) or names[way]
        facts[names[way]] = said
    made = {way: house.embedded.session(name) for way, name in names.items()}
    assert {way: (session.project_id, session.user_id) for way, session in made.items()} == dict.fromkeys(
        ways, (expected, user)
    )
    for way, name in names.items():
        recalled = house.embedded.context(name, QUESTION, semantic_limit=200, min_relevance=0).relevant_history
        assert {item.session_id for item in recalled if item.content == facts.get(item.session_id)} == {
            *names.values()
        } - {name}, way
    for number, other in enumerate((f"ben-{place}", None)):
        asks = f"{place}-other-{number}"
        house.embedded.create_session(asks, user_id=other, project_id=expected)
        assert house.embedded.context(asks, QUESTION, min_relevance=0).relevant_history == ()


@pytest.mark.parametrize("way", WAYS)
def test_two_users_who_named_no_project_do_not_recall_each_other(house: House, way: str) -> None:
    """ISO-10: ben's context held ana's words when both were put into the default project."""
    name = way.replace(" ", "-")
    for user in ("ana", "ben"):
        WAYS[way](house, f"{name}-{user}", DEFAULT, f"{name} {user}")
    for user in ("ana", "ben"):
        (session,) = house.embedded.sessions(user_id=f"{name} {user}")
        found = house.embedded.context(session.external_id, QUESTION, min_relevance=0)
        assert found.project_id == house.default
        assert found.relevant_history == ()
        assert found.memories == ()


def test_no_project_is_refused_where_everything_belongs_to_one(house: House) -> None:
    """ISO-11: an unknown wish is refused, never ignored."""
    asked = {"X-Project-ID": "none"}
    body = {"messages": [{"role": "user", "content": "Hello."}], "user_id": "ana"}
    for path, given in (
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ("/mem0/v3/memories/add/", body),
        ("/v1/search", {"query": "spare key"}),
    ):
        refused = house.http.post(path, given, headers=asked)
        assert (refused.status_code, "proj_ followed by" in refused.text) == (400, True), path
    assert house.http.get("/v1/sessions", headers=asked).json()["code"] == "invalid_project_id"
    for address in (house.commands.data, house.server.address):
        assert "belongs to one" in CommandLine(data=address, key=house.key).refusal("mcp", "--project", "none")


def test_a_confined_key_cannot_ask_for_no_project(house: House) -> None:
    """ORG-4, ISO-11: in the words for any other project, wherever none can be asked for; and nothing is created."""
    project = house.embedded.create_project("Closed").project_id
    other = house.embedded.create_project("Not theirs").project_id
    caller = house.server.caller(house.embedded.create_key("confined", project_id=project, confined=True).key)
    chat = {"messages": [{"role": "user", "content": "Hello."}]}
    anthropic = {"model": "m", "max_tokens": 9, **chat}
    conversation = {"items": [{"type": "message", "role": "user", "content": "Hello."}]}
    before = house.embedded.usage()
    for path, body, in_metadata in (
        ("/v1/chat/completions", chat, True),
        ("/v1/chat/completions", {**chat, "store": False}, True),
        ("/v1/responses", {"input": "Hello."}, True),
        ("/v1/conversations", conversation, True),
        ("/anthropic/v1/messages", anthropic, False),
    ):
        answers = [caller.post(path, body, headers={"X-Project-ID": named}) for named in ("none", other)]
        if in_metadata:
            answers += [caller.post(path, {**body, "metadata": {"project_id": named}}) for named in ("none", other)]
        told = [(answer.status_code, without_request_id(answer.json())) for answer in answers]
        assert [status for status, _ in told] == [403] * len(told), path
        assert all(each == told[0] for each in told), path
    assert house.embedded.usage() == before


def without_request_id(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "request_id"}


def test_a_session_that_is_asked_for_in_no_project_must_be_in_none(house: House) -> None:
    """ISO-11: `none` is a claim about an existing session, as any project is; a stream goes on under it."""
    house.embedded.create_session("in-the-default", user_id="cleo")
    body = {"messages": [{"role": "user", "content": "Hello."}], "user": "cleo"}
    refused = house.http.post(
        "/v1/chat/completions", body, headers={"X-Session-ID": "in-the-default", "X-Project-ID": "none"}
    )
    assert refused.status_code == 409
    answer = house.http.post(
        "/v1/chat/completions",
        {**body, "stream": True},
        headers={"X-Session-ID": "streamed-in-none", "X-Project-ID": "none"},
    )
    assert answer.status_code == 200
    assert answer.text.rstrip().endswith("data: [DONE]")
    assert house.embedded.session("streamed-in-none").project_id is None
    assert house.http.get("/v1/models", headers={"X-Project-ID": "none"}).status_code == 200


def test_a_search_without_a_project_is_of_the_default_one_through_every_way_in(house: House) -> None:
    """ISO-11. Over bare HTTP the route insists on a project (ORG-3)."""
    house.embedded.create_session("searched", user_id="searcher")
    house.embedded.record("searched", "user", fact("searched"))
    found = [
        [hit.content for hit in memory.search("spare key", user_id="searcher")]
        for memory in (house.embedded, house.remote)
    ]
    found += [shell.said("spare key", "--user", "searcher") for shell in (house.commands, house.over_server)]
    assert found == [[fact("searched")]] * 4
    refused = house.http.post("/v1/search", {"query": "spare key"})
    assert (refused.status_code, refused.json()["code"]) == (400, "project_required")


def test_a_session_without_a_word_about_its_project_is_in_that_of_the_key(house: House) -> None:
    """ISO-11, ORG-3: the header, else the key's project, else the default one."""
    pinned, named = (house.embedded.create_project(name).project_id for name in ("Pinned", "Named"))
    key = house.embedded.create_key("pinned", project_id=pinned).key
    with Cloister(house.server.address, key=key) as memory:
        assert memory.create_session("by-key").project_id == pinned
        assert memory.create_session("by-key-none", project_id=None).project_id is None
        assert memory.search("anything") == []
    caller = house.server.caller(key)
    by_header = caller.made("/v1/sessions", {"external_id": "by-header"}, headers={"X-Project-ID": named})
    assert by_header["project_id"] == named
    for path, body in (
        ("/v1/chat/stream", asking("by-key-chat", fact("by-key-chat"))),
        (
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": fact("by-oai")}], "metadata": {"session_id": "by-oai"}},
        ),
    ):
        assert caller.post(path, body).status_code == 200
    assert {house.embedded.session(name).project_id for name in ("by-key-chat", "by-oai")} == {pinned}
