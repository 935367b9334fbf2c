"""DOOR-8: what an adapter can be made with."""

from collections.abc import Callable
from typing import Any

import pytest

from cloister import AsyncCloister, Cloister
from cloister.integrations.anthropic import AsyncCloisterMemoryTool, CloisterMemoryTool
from cloister.integrations.google_adk import CloisterMemoryService
from cloister.integrations.langgraph import CloisterStore
from cloister.integrations.llama_index import CloisterChatStore
from cloister.integrations.pydantic_ai import CloisterConversationStore

ADAPTERS: dict[str, Callable[[Any], object]] = {
    "Pydantic AI": CloisterConversationStore,
    "LlamaIndex": CloisterChatStore,
    "Google ADK": lambda cloister: CloisterMemoryService(cloister, app_name="app", user_id="ada"),
    "LangGraph": CloisterStore,
    "Anthropic": lambda cloister: CloisterMemoryTool("notes", cloister),
    "Anthropic, asynchronous": lambda cloister: AsyncCloisterMemoryTool("notes", cloister),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_door_8_an_asynchronous_library_is_refused_and_the_error_says_what_to_pass(
    embedded: Cloister, name: str
) -> None:
    """DOOR-8: it failed at the first call, with an error about a coroutine that has no length."""
    assert ADAPTERS[name](embedded)
    for wrong in (AsyncCloister(cloister=embedded), "./memory", None):
        with pytest.raises(TypeError, match=r"must be a Cloister, not \w+: open one with Cloister"):
            ADAPTERS[name](wrong)
