"""The adapters' own entries in the key-value store: what an application does with everything that its store lists does not reach
them, and one that was changed all the same is named (DOOR-8)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from google.adk.events.event import Event
from google.genai import types
from llama_index.core.base.llms.types import ChatMessage
from pydantic_ai.conversation import Conversation
from pydantic_ai.messages import ModelRequest, UserPromptPart

from adapters.conftest import NewUser
from cloister import Cloister
from cloister.integrations.entry_part import DamagedEntry
from cloister.integrations.google_adk import CloisterMemoryService
from cloister.integrations.langgraph import CloisterStore
from cloister.integrations.llama_index import CloisterChatStore
from cloister.integrations.pydantic_ai import CloisterConversationStore

ADAPTERS = ("\x01google_adk", "\x01llama_index", "\x01pydantic_ai")


def fill(memory: Cloister, user: str) -> list[Callable[[], Any]]:
    """Store something through every adapter; returns the calls that read it again."""
    chats, talks = CloisterChatStore(memory, user_id=user), CloisterConversationStore(memory, user_id=user)
    service = CloisterMemoryService(memory, app_name="harbour", user_id=user)
    said = Event(
        id="e", author="user", content=types.Content(role="user", parts=[types.Part(text="The mast is tall.")])
    )

    async def save() -> None:
        await chats.add_message("chat", ChatMessage(role="user", content="The keel is lead."))
        conversation = Conversation(
            conversation_id="talk", messages=[ModelRequest(parts=[UserPromptPart(content="The sail is red.")])]
        )
        await talks.save(conversation)
        await service.add_events_to_memory(app_name="harbour", user_id=user, events=[said], session_id="s")

    asyncio.run(save())
    return [
        lambda: asyncio.run(chats.get_messages("chat")),
        lambda: asyncio.run(talks.load("talk")),
        lambda: asyncio.run(
            service.add_events_to_memory(app_name="harbour", user_id=user, events=[said], session_id="s")
        ),
    ]


def test_door_8_a_store_lists_nothing_of_the_adapters(memory: Cloister, new_user: NewUser) -> None:
    user = new_user()
    reads = fill(memory, user)
    store = CloisterStore(memory, user_id=user)
    store.put(("boats",), "one", {"text": "The keel is lead."})
    for found in (
        store.search(()),
        store.search((), query="keel"),
        store.search((), filter={"text": "The keel is lead."}),
    ):
        assert [item.namespace for item in found] == [("boats",)]
    assert store.list_namespaces() == [("boats",)]
    for read in reads:
        read()
    assert {item.namespace[0] for label in ADAPTERS for item in store.search((label,))} == set(ADAPTERS)


def test_door_8_a_store_lists_nothing_of_the_adapters_after_their_project_was_deleted(
    memory: Cloister, new_user: NewUser
) -> None:
    """ORG-5: its entries are in no project then, below the project's id where their addresses are taken."""
    user, project = new_user(), memory.create_project("To be deleted").project_id
    for place in (project, None):
        chats = CloisterChatStore(memory, user_id=user, project_id=place)
        asyncio.run(chats.add_message("chat", ChatMessage(role="user", content="The keel is lead.")))
    memory.delete_project(project)
    store = CloisterStore(memory, user_id=user, project_id=None)
    assert store.search(()) == []
    assert store.list_namespaces() == []


def test_door_8_a_changed_entry_of_an_adapter_is_named(memory: Cloister, new_user: NewUser) -> None:
    """An application that names the adapters' namespaces can change them, as any caller of this part can."""
    user = new_user()
    reads = fill(memory, user)
    store = CloisterStore(memory, user_id=user)
    for label in ADAPTERS:
        for item in store.search((label,), limit=50):
            store.put(item.namespace, item.key, {"junk": 1})
    for read in reads:
        with pytest.raises(DamagedEntry, match="another program changed it"):
            read()
