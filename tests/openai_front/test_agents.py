"""The unmodified OpenAI Agents SDK: its runner with conversations of this server, and with `CloisterSession` (DOOR-2)."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIConversationsSession,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SessionSettings,
    function_tool,
    set_tracing_disabled,
)

from cloister import AsyncCloister, Cloister, Conflict, InvalidRequest, TooLarge
from cloister.integrations.openai_agents import CloisterSession
from support.clients.openai_client import Front, said_in, user
from support.databases.engines import Engine
from support.servers.fake_endpoint import Answer, completion, event, stream
from support.servers.http_server import Tenant

FIRST, SECOND = "The ferry leaves at ten past.", "When does the ferry leave?"
set_tracing_disabled(True)


@function_tool
def weather(town: str) -> str:
    """The weather of a town."""
    return f"sunny in {town}"


def tool_call() -> Answer:
    call: dict[str, Any] = {
        "index": 0,
        "id": "call_7",
        "function": {"name": "weather", "arguments": '{"town": "Graz"}'},
    }
    return stream(
        event({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}),
        event({"choices": [{"index": 0, "delta": dict[str, Any](), "finish_reason": "tool_calls"}]}),
        b"data: [DONE]\n\n",
    )


def agent_of(client: openai.AsyncOpenAI) -> Agent[Any]:
    model = OpenAIResponsesModel(model="m", openai_client=client)
    return Agent[Any](name="Ferryman", instructions="Be kind.", tools=[weather], model=model)


def naming(conversation: str) -> RunConfig:
    return RunConfig(model_settings=ModelSettings(extra_headers={"X-Session-ID": conversation}))


async def run(agent: Agent[Any], words: str, **named: Any) -> str:
    return (await Runner.run(agent, words, **named)).final_output


async def run_streamed(agent: Agent[Any], words: str, **named: Any) -> str:
    streamed = Runner.run_streamed(agent, words, **named)
    deltas = [
        each.data.delta
        async for each in streamed.stream_events()
        if each.type == "raw_response_event" and each.data.type == "response.output_text.delta"
    ]
    assert "".join(deltas) == streamed.final_output
    return streamed.final_output


Run = Callable[..., Coroutine[Any, Any, str]]
WAYS: list[Run] = [run, run_streamed]


def with_client(front: Front, tenant: Tenant, work: Callable[[openai.AsyncOpenAI], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        async with openai.AsyncOpenAI(base_url=f"{front.server.address}/v1", api_key=tenant.key) as client:
            await work(client)

    asyncio.run(main())


@pytest.mark.parametrize("run", WAYS)
def test_a_runner_with_a_conversations_session_is_recorded_once(front: Front, run: Run) -> None:
    """The SDK adds items to the conversation and sends them again as input: if the run names it, they are stored once."""
    tenant = front.tenant()

    async def work(client: openai.AsyncOpenAI) -> None:
        conversation = await client.conversations.create()
        session = OpenAIConversationsSession(conversation_id=conversation.id, openai_client=client)
        named: Any = {"session": session, "run_config": naming(conversation.id)}
        agent = agent_of(client)
        front.model.answers(tool_call(), completion("Sunny."))
        assert await run(agent, FIRST, **named) == "Sunny."
        front.model.answers(completion("At ten past."))
        assert await run(agent, SECOND, **named) == "At ten past."
        items = await session.get_items()
        assert [item.get("type") for item in items] == [
            "message",
            "function_call",
            "function_call_output",
            "message",
            "message",
            "message",
        ]
        assert [one["external_id"] for one in tenant.admin.everything("/v1/sessions")] == [session.session_id]
        assert said_in(tenant, session.session_id) == [
            ("user", FIRST),
            ("assistant", "Sunny."),
            ("user", SECOND),
            ("assistant", "At ten past."),
        ]
        popped: Any = await session.pop_item()
        assert popped["content"][0]["text"] == "At ten past."
        assert len(await session.get_items()) == 5
        assert [item.get("type") for item in await session.get_items(limit=2)] == ["message", "message"]
        await session.clear_session()
        assert tenant.admin.everything("/v1/sessions") == []

    with_client(front, tenant, work)


@pytest.mark.filterwarnings(
    "ignore:asynchronous generator:ResourceWarning"
)  # the SDK's own, of a loop that it uses twice
def test_run_sync_with_a_conversations_session_is_recorded_once(front: Front) -> None:
    """DOOR-2: `Runner.run_sync`, on a thread with an event loop of its own, as a program without one calls it."""
    tenant = front.tenant()

    def main() -> str:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        client = openai.AsyncOpenAI(base_url=f"{front.server.address}/v1", api_key=tenant.key)
        conversation = loop.run_until_complete(client.conversations.create())
        session: Any = OpenAIConversationsSession(conversation_id=conversation.id, openai_client=client)
        agent, named = agent_of(client), naming(conversation.id)
        front.model.answers(completion("Noted."))
        assert Runner.run_sync(agent, FIRST, session=session, run_config=named).final_output == "Noted."
        front.model.answers(completion("At ten past."))
        assert Runner.run_sync(agent, SECOND, session=session, run_config=named).final_output == "At ten past."
        loop.run_until_complete(client.close())
        loop.close()
        return conversation.id

    with ThreadPoolExecutor(1) as executor:
        conversation = executor.submit(main).result(60)
    assert [one["external_id"] for one in tenant.admin.everything("/v1/sessions")] == [conversation]
    said = [("user", FIRST), ("assistant", "Noted."), ("user", SECOND), ("assistant", "At ten past.")]
    assert said_in(tenant, conversation) == said


def test_a_conversations_session_without_a_run_config_is_recorded_twice(front: Front) -> None:
    """A documented deviation: the request of a run that does not name its conversation is one of its own, so the exchange is in the
    conversation and in a second session. Neither is in anybody else's part: the key, and no words, says whose they are."""
    tenant, other = front.tenant(), front.tenant()

    async def work(client: openai.AsyncOpenAI) -> None:
        conversation = await client.conversations.create()
        session = OpenAIConversationsSession(conversation_id=conversation.id, openai_client=client)
        front.model.answers(completion("Noted."))
        assert await run(agent_of(client), FIRST, session=session) == "Noted."
        said = [("user", FIRST), ("assistant", "Noted.")]
        assert said_in(tenant, conversation.id) == said
        (second,) = {one["external_id"] for one in tenant.admin.everything("/v1/sessions")} - {conversation.id}
        assert said_in(tenant, second) == said
        assert other.admin.everything("/v1/sessions") == []

    with_client(front, tenant, work)


@pytest.mark.filterwarnings(
    "ignore:asynchronous generator:ResourceWarning"
)  # the SDK's own, of a loop that it uses twice
@pytest.mark.parametrize("model", [OpenAIResponsesModel, OpenAIChatCompletionsModel])
def test_iso_10_a_run_recalls_and_records_for_its_own_user_and_project(front: Front, model: Any) -> None:
    """The program of the documentation, for two users and two projects, with a key that reaches all of them: each recalls only its
    own words, and every exchange is recorded once (ISO-4)."""
    tenant = front.tenant()
    beta = tenant.admin.post("/org/projects", {"name": "Beta"}).json()["project_id"]

    def main() -> None:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        client = openai.AsyncOpenAI(base_url=f"{front.server.address}/v1", api_key=tenant.key)
        agent = Agent[Any](name="Ferryman", model=model("m", client))
        with Cloister(front.server.address, key=tenant.key) as memory:

            def ask(name: str, words: str, **scope: Any) -> str:
                session = CloisterSession(name, memory, **scope)
                Runner.run_sync(agent, words, session=session, run_config=session.run_config())
                return front.system

            ask("ann-1", "My locker code is 6060-ANN.", user_id="ann")
            ask("beta-1", "The locker code of the merger is 7070-BETA.", project_id=beta)
            asked = "What is the locker code?"
            assert "6060-ANN" in ask("ann-2", asked, user_id="ann")
            others: dict[str, dict[str, Any]] = {
                "bob-1": {"user_id": "bob"},
                "nobody": {},
                "beta-ann": {"project_id": beta},
            }
            for name, scope in others.items():
                recalled = ask(name, asked, **scope)
                assert "6060-ANN" not in recalled
                assert ("7070-BETA" in recalled) is (name == "beta-ann")
        loop.run_until_complete(client.close())
        loop.close()

    with ThreadPoolExecutor(1) as executor:
        executor.submit(main).result(60)
    found = {one["external_id"]: one for one in tenant.admin.everything("/v1/sessions")}
    assert set(found) == {"ann-1", "ann-2", "beta-1", "bob-1", "nobody", "beta-ann"}
    assert {one["message_count"] for one in found.values()} == {2}


def test_iso_10_a_run_of_no_project_recalls_from_no_project_before_its_session_exists(front: Front) -> None:
    """ISO-10: a run without `session` has only its `run_config` to say that it is in no project."""
    tenant = front.tenant()
    front.client(tenant.key, "monday").chat.completions.create(model="m", messages=[user("The code is 6060-ALL.")])

    async def work(client: openai.AsyncOpenAI) -> None:
        with Cloister(front.server.address, key=tenant.key) as memory:
            scopes: list[dict[str, Any]] = [{}, {"project_id": None}, {"project_id": "none"}]
            for scope in scopes:
                session = CloisterSession("later", memory, **scope)
                await run(agent_of(client), "What is the code?", run_config=session.run_config())
                assert ("6060-ALL" in front.system) is (not scope)

    with_client(front, tenant, work)


@pytest.mark.parametrize("run", WAYS)
def test_a_runner_goes_on_in_a_conversation_and_after_a_response(front: Front, run: Run) -> None:
    tenant = front.tenant()

    async def work(client: openai.AsyncOpenAI) -> None:
        agent = agent_of(client)
        conversation = await client.conversations.create()
        front.model.answers(tool_call(), completion("Sunny."))
        assert await run(agent, FIRST, conversation_id=conversation.id) == "Sunny."
        front.model.answers(completion("At ten past."))
        assert await run(agent, SECOND, conversation_id=conversation.id) == "At ten past."
        shown = [message["role"] for message in front.shown]
        assert shown == ["system", "user", "assistant", "tool", "assistant", "user"]
        first = await Runner.run(agent, FIRST)
        second = await Runner.run(agent, SECOND, previous_response_id=first.last_response_id)
        assert second.last_response_id is not None
        assert [message["role"] for message in front.shown][-3:] == ["user", "assistant", "user"]
        assert len(tenant.admin.everything("/v1/sessions")) == 2

    with_client(front, tenant, work)


@pytest.mark.parametrize("remote", [False, True], ids=["embedded", "at a server"])
@pytest.mark.parametrize("run", WAYS)
def test_a_runner_with_a_cloister_session_is_recorded_once(front: Front, run: Run, remote: bool) -> None:
    """With the model of this server and the session of this library, in another process or in this one."""
    tenant = front.tenant()
    assert front.server.services is not None
    memory = (
        Cloister(front.server.address, key=tenant.key)
        if remote
        else Cloister(services=front.server.services, tenant=tenant.tenant_id)
    )

    async def work(client: openai.AsyncOpenAI) -> None:
        session = CloisterSession("ferries", AsyncCloister(cloister=memory) if remote else memory)
        agent, named = agent_of(client), session.run_config()
        front.model.answers(tool_call(), completion("Sunny."))
        assert await run(agent, FIRST, session=session, run_config=named) == "Sunny."
        front.model.answers(completion("At ten past."))
        assert await run(agent, SECOND, session=session, run_config=named) == "At ten past."
        assert said_in(tenant, "ferries") == [
            ("user", FIRST),
            ("assistant", "Sunny."),
            ("user", SECOND),
            ("assistant", "At ten past."),
        ]
        assert [item.get("type") for item in await session.get_items()][1:3] == [
            "function_call",
            "function_call_output",
        ]
        assert len(tenant.admin.everything("/v1/sessions")) == 1

    with_client(front, tenant, work)
    if remote:
        memory.close()


@dataclass
class Traveller:
    name: str


def test_the_context_of_a_run_says_whose_session_it_is(front: Front) -> None:
    """ISO-10: one object serves many users, each in a session of their own; another user's session is refused."""
    tenant = front.tenant()
    assert front.server.services is not None
    memory = Cloister(services=front.server.services, tenant=tenant.tenant_id)
    session = CloisterSession(
        "trips", memory, session_of=lambda who: f"trips of {who.name}", user_of=lambda who: who.name
    )

    async def work(client: openai.AsyncOpenAI) -> None:
        agent = agent_of(client)
        for name in ("ada", "bob"):
            who = Traveller(name)
            named = session.run_config(context=who)
            await Runner.run(agent, f"I am {name}.", session=session, context=who, run_config=named)
        found = {one["external_id"]: one["user_id"] for one in tenant.admin.everything("/v1/sessions")}
        assert found == {"trips of ada": "ada", "trips of bob": "bob"}
        assert said_in(tenant, "trips of ada")[0] == ("user", "I am ada.")
        of_ada = session.run_config(context=Traveller("ada"))
        with pytest.raises(Conflict, match="another context"):
            await Runner.run(agent, "Who am I?", session=session, context=Traveller("bob"), run_config=of_ada)
        with pytest.raises(InvalidRequest):
            session.run_config()

    with_client(front, tenant, work)


def test_a_session_of_another_user_or_project_is_refused_and_unchanged(front: Front) -> None:
    """ISO-10, ISO-4: as in a chat, whichever method of the session is called."""
    tenant = front.tenant()
    beta = tenant.admin.post("/org/projects", {"name": "Beta"}).json()["project_id"]
    assert front.server.services is not None
    memory = Cloister(services=front.server.services, tenant=tenant.tenant_id)
    memory.create_session("api-1", user_id="ann")
    memory.record("api-1", "user", FIRST)

    async def main() -> None:
        others: list[dict[str, Any]] = [
            {"user_id": "bob"},
            {"user_id": "ann", "project_id": beta},
            {"project_id": None},
        ]
        for scope in others:
            session = CloisterSession("api-1", memory, **scope)
            for call in (session.get_items, session.pop_item, session.clear_session):
                with pytest.raises(Conflict):
                    await call()
            with pytest.raises(Conflict):
                await session.add_items([{"role": "user", "content": SECOND}])

    asyncio.run(main())
    assert said_in(tenant, "api-1") == [("user", FIRST)]


@pytest.mark.parametrize(("name", "error"), [("", InvalidRequest), ("n" * 300, TooLarge), (None, InvalidRequest)])
def test_a_session_that_cannot_exist_is_refused_at_once(engine: Engine, name: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="session_id"):
        CloisterSession(name, Cloister(services=engine.services()))
    nothing: Any = None
    with pytest.raises(TypeError, match="must be a Cloister or an AsyncCloister, not None"):
        CloisterSession("s", nothing)


def test_a_request_that_names_no_session_is_never_added_to_one_with_the_same_words(front: Front) -> None:
    """A conversation that waits for its reply is not found by its words."""
    tenant = front.tenant()
    client = front.client(tenant.key)
    waiting = client.conversations.create(items=[{"type": "message", "role": "user", "content": FIRST}])
    client.responses.create(model="m", input=FIRST)
    assert said_in(tenant, waiting.id) == [("user", FIRST)]
    assert len(tenant.admin.everything("/v1/sessions")) == 2


ITEMS: list[Any] = [
    {"role": "user", "content": "Hello"},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "done"},
    {"role": "assistant", "content": "Hi 🌍\u0000"[:-1]},
    {"role": "user", "content": ""},
]


def test_a_session_has_the_behaviour_of_the_sdks_own(engine: Engine) -> None:
    """As the SDK's tests of its SQLite session ask for it, which `test_upstream.py` runs with the class swapped."""
    memory = Cloister(services=engine.services())

    async def main() -> None:
        session = CloisterSession("s'; DROP TABLE message;--", memory)
        assert await session.get_items() == [] and await session.pop_item() is None
        await session.clear_session()
        await session.add_items([])
        assert await session.get_items() == []
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS
        assert await session.get_items(limit=2) == ITEMS[-2:]
        assert await session.get_items(limit=0) == []
        assert await session.get_items(limit=99) == ITEMS
        assert await session.pop_item() == ITEMS[-1]
        assert await session.pop_item() == ITEMS[-2]
        assert await session.get_items() == ITEMS[:3]
        other = CloisterSession("other", memory)
        assert await other.get_items() == []
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items([{"role": "user", "content": f"m{n}"} for n in range(450)])
        assert [item.get("content") for item in await session.get_items()] == [f"m{n}" for n in range(450)]
        narrow = CloisterSession(session.session_id, memory, session_settings={"limit": 3})
        assert [item.get("content") for item in await narrow.get_items()] == ["m447", "m448", "m449"]
        assert len(await narrow.get_items(limit=5)) == 5
        wide = CloisterSession(session.session_id, memory, session_settings=SessionSettings(limit=None))
        assert len(await wide.get_items()) == 450

    asyncio.run(main())


def test_a_session_may_be_used_from_many_event_loops_at_once(engine: Engine) -> None:
    session = CloisterSession("busy", Cloister(services=engine.services()))

    def add(number: int) -> None:
        asyncio.run(session.add_items([{"role": "user", "content": f"message {number}"}]))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = asyncio.run(session.get_items())
    assert sorted(str(item.get("content")) for item in found) == sorted(f"message {n}" for n in range(20))
