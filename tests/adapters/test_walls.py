"""The canary grid of the adapters: handles of different keys, projects and users side by side, every call, and nothing crosses
(DOOR-8, ISO-4). All handles use the same names of conversations, chats, apps and, where they can, sessions."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from google.adk.events.event import Event
from google.adk.sessions.session import Session
from google.genai import types
from llama_index.core.base.llms.types import ChatMessage
from pydantic_ai.conversation import Conversation
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelRequest, UserPromptPart

from cloister import Cloister
from cloister.domain.errors import Conflict, Forbidden, NotFound
from cloister.integrations.anthropic import CloisterMemoryTool
from cloister.integrations.google_adk import CloisterMemoryService
from cloister.integrations.llama_index import CloisterChatStore
from cloister.integrations.openai_agents import CloisterSession
from cloister.integrations.pydantic_ai import CloisterConversationStore
from cloister.interfaces.python.arguments import NOT_GIVEN
from support.servers.http_server import Server

# Invented names, so that none can be in an answer by chance; each is one part's alone.
CANARIES = {
    "garden, ada": "Zorvath",
    "garden, bob": "Quimbelo",
    "kitchen, ada": "Wextalu",
    "no project, ada": "Yandrimo",
    "hall, ada": "Brosk",
    "hall, bob": "Plomitz",
    "other tenant, ada": "Fenwilda",
}
APP, QUESTION = "captains", "Who keeps the safe?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One user's part of a project, with its canary and a handle of each framework."""

    name: str
    user: str
    cloister: Cloister
    project: str | None

    @property
    def canary(self) -> str:
        return CANARIES[self.name]

    @property
    def words(self) -> str:
        return f"{self.canary} keeps the safe."

    @property
    def session(self) -> str:
        """Sessions of one user have names of their own in a tenant."""
        return f"session of {self.name.partition(',')[0]}"

    @property
    def tool(self) -> CloisterMemoryTool:
        return CloisterMemoryTool(cloister=self.cloister, project_id=self.project, user_id=self.user)

    @property
    def agent(self) -> CloisterSession:
        """Its session has a name of the part's own, as sessions have in a tenant."""
        return CloisterSession(f"agent, {self.session}, {self.user}", self.cloister, **self.scope)

    def agent_of(self, other: "Part") -> CloisterSession:
        """A session object of this part with the name of another part's session."""
        return CloisterSession(other.agent.session_id, self.cloister, **self.scope)

    @property
    def scope(self) -> dict[str, Any]:
        return {"project_id": self.project, "user_id": self.user}

    @property
    def conversations(self) -> CloisterConversationStore:
        return CloisterConversationStore(self.cloister, project_id=self.project, user_id=self.user)

    @property
    def chats(self) -> CloisterChatStore:
        return CloisterChatStore(self.cloister, project_id=self.project, user_id=self.user)

    @property
    def memory(self) -> CloisterMemoryService:
        return CloisterMemoryService(self.cloister, app_name=APP, user_id=self.user, project_id=self.project)

    async def fill(self) -> None:
        request = ModelRequest(parts=[UserPromptPart(self.words)])
        await self.conversations.save(Conversation(conversation_id="talk", messages=[request]), scope="captains")
        await self.conversations.save(Conversation(conversation_id=f"of {self.canary}", messages=[request]))
        for key in ("talk", f"of {self.canary}"):
            await self.chats.add_message(key, ChatMessage(role="user", content=self.words))
        content = types.Content(role="user", parts=[types.Part(text=f"My dog is called {self.canary}. {self.words}")])
        event = Event(id="event-1", author="user", content=content, timestamp=1_700_000_000.0)
        session = Session(id=self.session, app_name=APP, user_id=self.user, events=[event])
        await self.memory.add_session_to_memory(session)
        await self.agent.add_items([{"role": "user", "content": self.words}])
        for path in ("safe.txt", f"of {self.canary}.txt"):
            self.tool.call({"command": "create", "path": f"/memories/{path}", "file_text": self.words})

    async def stored(self) -> list[Any]:
        """Everything that any read of the stores answers."""
        entries = await self.conversations.load_entries("talk")
        return [
            await self.conversations.load("talk"),
            await self.conversations.load("talk", scope="captains"),
            await self.conversations.list_conversations(),
            await self.conversations.list_conversations(scope="captains", limit=50),
            entries,
            [await self.conversations.read_entry(entry.id) for entry in entries or ()],
            await self.chats.get_keys(),
            *[await self.chats.get_messages(key, None) for key in await self.chats.get_keys()],
            await self.agent.get_items(),
            self.tool.call({"command": "view", "path": "/memories"}),
            self.tool.call({"command": "view", "path": "/memories/safe.txt"}),
        ]

    async def recalled(self) -> list[Any]:
        questions = (QUESTION, "What is my dog called?", *CANARIES.values())
        return [await self.memory.search_memory(app_name=APP, user_id=self.user, query=each) for each in questions]


Grid = dict[str, Part]


@pytest.fixture
def grid(server: Server) -> Generator[Grid]:
    """Every part with its canary. Some handles are bound by their key, some by an argument, and some by both."""
    tenant, stranger = server.new_tenant(), server.new_tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    hall = tenant.new_project("Hall", member_visibility="shared")
    parts: dict[str, tuple[str, str | None]] = {
        "garden, ada": (tenant.new_key("read", "write", project_id=garden, confined=True, user_id="ada"), NOT_GIVEN),
        "garden, bob": (tenant.new_key("read", "write", user_id="bob"), garden),
        "kitchen, ada": (tenant.key, kitchen),
        "no project, ada": (tenant.key, None),
        "hall, ada": (tenant.new_key("read", "write", project_id=hall, confined=True), hall),
        "hall, bob": (tenant.new_key("read", "write", project_id=hall), NOT_GIVEN),
        "other tenant, ada": (stranger.key, NOT_GIVEN),
    }
    with ExitStack() as stack:
        made: Grid = {}
        for name, (key, project) in parts.items():
            cloister = stack.enter_context(Cloister(server.address, key=key))
            made[name] = Part(name=name, user=name.rpartition(" ")[2], cloister=cloister, project=project)
            asyncio.run(made[name].fill())
        for one in (tenant, stranger):
            with Cloister(server.address, key=one.key) as everything:
                for session in everything.sessions(limit=200):
                    everything.extract(session.external_id)
        yield made


def seen(read: Callable[[], Awaitable[list[Any]]]) -> set[str]:
    async def main() -> list[Any]:
        return await read()

    text = repr(asyncio.run(main())).lower()
    return {name for name, canary in CANARIES.items() if canary.lower() in text}


def test_iso_4_no_adapter_shows_what_another_part_stored(grid: Grid) -> None:
    """ISO-4, ISO-10, ORG-4, ORG-10, DOOR-8: stores are of one user also in a shared project; its memory is of all of its users."""
    for part in grid.values():
        assert seen(part.stored) == {part.name}
        shared = {"hall, ada", "hall, bob"}
        assert seen(part.recalled) == (shared if part.name in shared else {part.name})


def test_iso_4_no_adapter_changes_what_another_part_stored(grid: Grid) -> None:
    """ISO-4, DOOR-8: with the names, and the ids, of what another part stored."""
    kept = grid.pop("kitchen, ada")
    before = [asyncio.run(kept.stored()), asyncio.run(kept.recalled())]
    entries = asyncio.run(kept.conversations.load_entries("talk"))
    (memory, *_) = [
        each.id for answer in asyncio.run(kept.recalled()) for each in answer.memories if each.id is not None
    ]
    assert entries is not None

    async def attack(part: Part) -> None:
        with pytest.raises(KeyError):
            await part.conversations.read_entry(entries[0].id)
        with pytest.raises(UserError):
            await part.conversations.fork("talk", from_entry=entries[0].id)
        for name in ("talk", f"of {kept.canary}"):
            await part.conversations.delete(name)
            await part.chats.delete_messages(name)
            await part.chats.delete_message(name, 1)
        agent = part.agent_of(kept)
        for call in (agent.get_items, agent.pop_item, agent.clear_session):
            with suppress(Conflict, NotFound):  # another tenant has no such session, and answers nothing
                assert not await call()
        with pytest.raises((Conflict, NotFound)) if part.name != "other tenant, ada" else nullcontext():
            await agent.add_items([{"role": "user", "content": "The safe is empty."}])
        with pytest.raises(ToolError):
            part.tool.call({"command": "delete", "path": f"/memories/of {kept.canary}.txt"})
        with pytest.raises(NotFound):
            await part.memory.delete_memory(app_name=APP, user_id=part.user, memory_id=memory)

    for part in grid.values():
        asyncio.run(attack(part))
    assert [asyncio.run(kept.stored()), asyncio.run(kept.recalled())] == before


def test_iso_4_a_handle_cannot_name_more_than_its_key_reaches(grid: Grid) -> None:
    """ISO-4, ORG-4, ORG-10, DOOR-8: another user, another project, no project; and an app's session that exists in another project
    is another session in this one."""
    confined, kitchen = grid["garden, ada"], grid["kitchen, ada"]
    for named in ({"user_id": "bob"}, {"project_id": kitchen.project}, {"project_id": None}):
        given: dict[str, Any] = {"user_id": "ada", **named}
        with pytest.raises((Forbidden, NotFound)):
            asyncio.run(CloisterChatStore(confined.cloister, **given).get_keys())
        with pytest.raises((Forbidden, NotFound)):
            asyncio.run(CloisterConversationStore(confined.cloister, **given).list_conversations())
        with pytest.raises((Forbidden, NotFound)):
            CloisterMemoryTool(cloister=confined.cloister, **given).call({"command": "view", "path": "/memories"})
        with pytest.raises((Conflict, Forbidden, NotFound)):
            asyncio.run(CloisterSession(confined.agent.session_id, confined.cloister, **given).get_items())
        with pytest.raises((Forbidden, NotFound)):
            service = CloisterMemoryService(confined.cloister, app_name=APP, **given)
            asyncio.run(service.search_memory(app_name=APP, user_id=given["user_id"], query=QUESTION))
    content = types.Content(role="user", parts=[types.Part(text="I keep the safe.")])
    event = Event(id="event-2", author="user", content=content, timestamp=1_700_000_001.0)
    same = Session(id=grid["no project, ada"].session, app_name=APP, user_id="ada", events=[event])
    asyncio.run(kitchen.memory.add_session_to_memory(same))
    assert "I keep the safe." not in repr(asyncio.run(grid["no project, ada"].recalled()))
    assert "I keep the safe." in repr(asyncio.run(kitchen.recalled()))
