"""The canary grid at the Anthropic front: every pool through its own key, and nothing crosses (ISO-4)."""

from itertools import permutations

import anthropic
import pytest

from support.clients.anthropic_client import AnthropicFront
from support.clients.openai_client import said_in
from support.servers.http_server import Tenant

# Invented names, so that none can be in a prompt by chance; each is one pool's alone.
CANARIES = {
    "garden, ada": "Zorvath",
    "garden, bob": "Quimbelo",
    "garden, no user": "Yandrimo",
    "kitchen, ada": "Wextalu",
    "other tenant, ada": "Fenwilda",
}
QUESTION = "Who keeps the safe of the captain?"


def test_no_pool_is_shown_what_another_pool_remembers(front: AnthropicFront) -> None:
    """ISO-4, ISO-10, ORG-4, ORG-10: bound by the key, by the header, by the user of the request."""
    tenant, stranger = front.tenant(), front.tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    ada = {"user_id": "ada"}
    ways: dict[str, tuple[Tenant, str, dict[str, object]]] = {
        "garden, ada": (tenant, tenant.new_key("read", "write", project_id=garden, confined=True, user_id="ada"), {}),
        "garden, bob": (tenant, tenant.key, {"project": garden, "metadata": {"user_id": "bob"}}),
        "garden, no user": (tenant, tenant.new_key(project_id=garden), {}),
        "kitchen, ada": (tenant, tenant.key, {"project": kitchen, "metadata": ada}),
        "other tenant, ada": (stranger, stranger.key, {"metadata": ada}),
    }
    for pool, (owner, key, fields) in ways.items():
        front.say(key, f"{CANARIES[pool]} keeps the safe of the captain.", f"{pool} says", **fields)
        assert said_in(owner, f"{pool} says")[0][1].startswith(CANARIES[pool])
    for pool, (_, key, fields) in ways.items():
        front.say(key, QUESTION, f"{pool} asks", **fields)
        prompt = str(front.shown)
        assert CANARIES[pool] in prompt
        assert [canary for other, canary in CANARIES.items() if other != pool and canary in prompt] == []
    for mine, other in permutations(("garden, ada", "garden, bob", "kitchen, ada"), 2):
        _, key, fields = ways[mine]
        asked = len(front.model.asked)
        with pytest.raises((anthropic.NotFoundError, anthropic.ConflictError)):
            front.say(key, QUESTION, f"{other} says", **fields)
        assert len(front.model.asked) == asked, "a session of another pool is not answered out of"
