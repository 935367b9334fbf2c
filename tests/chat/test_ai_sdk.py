"""The unmodified AI SDK, its chats and its transport, in each version that we speak to, against a running server.

Its packages are installed when the tests first run, with the Node of the wheel that pyright brings along. Without a way to the
package index this skips at a desk and fails in CI.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.clients.chat_client import Gate, said, say, words
from support.clients.node_packages import installed, node
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint
from support.servers.http_server import Tenant

FOLDER = Path(__file__).parents[1] / "ai_sdk"


@pytest.fixture(scope="session")
def sdk() -> Path:
    """The folder, with its packages."""
    return installed(FOLDER)


def script(asked: Asked) -> Answer:
    question = asked.body["messages"][-1]["content"]
    if "SLOWLY" in question:
        gate = Gate()
        gate.let(2)
        return words("La ", "la", " la.", gate=gate)
    if "BREAK" in question:
        return words("I was about to", finish_reason=None)
    return words("You said: ", question)


@pytest.mark.parametrize("version", ["5", "6", "7"])
def test_the_ai_sdk_holds_a_conversation(tenant: Tenant, model: FakeEndpoint, sdk: Path, version: str) -> None:
    """ISO-4, CTX-1, TAB-5: streamed, with recall from an earlier session of the project, and none from another."""
    model.follows(script)
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    done = subprocess.run(
        [*node(), "talk.mjs", version, tenant.address, tenant.key, garden, kitchen],
        cwd=sdk,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)

    def reply(name: str) -> Any:
        assert told[name]["messages"][-1]["role"] == "assistant"
        return told[name]["messages"][-1]

    assert [entry["text"] for entry in told["earlier"]["messages"]] == [
        "My parrot is called Rico.",
        "You said: My parrot is called Rico.",
        "He is green.",
        "You said: He is green.",
    ]
    assert all(told[name]["error"] is None for name in ("earlier", "later", "elsewhere", "idle", "again", "speaker"))
    assert "My parrot is called Rico." in reply("later")["recalled"]
    assert reply("later")["metadata"]["status"] == "completed"
    assert reply("elsewhere")["recalled"] == []
    assert told["idle"]["messages"] == []
    assert [entry["role"] for entry in told["again"]["messages"]] == ["user", "assistant"]
    assert [role for role, _, _ in said(tenant, f"again {version}")] == ["user", "assistant"]

    assert (reply("speaker")["text"], reply("speaker")["metadata"]["status"]) == ("La la", "partial")
    assert reply("reader") == reply("speaker")
    assert told["second"]["status"] == "error" and "turn_in_progress" in told["second"]["error"]
    assert said(tenant, f"slow {version}") == [
        ("user", "completed", "SLOWLY, please."),
        ("assistant", "partial", "La la"),
    ]

    assert told["broken"]["status"] == "error" and "broke off" in told["broken"]["error"]
    assert reply("broken")["text"] == "I was about to"
    assert reply("broken")["metadata"]["status"] == "partial"


@pytest.mark.parametrize(
    ("page", "printed"),
    [("how-to/chat.md", ["completed", "Our boat is called Albatross."]), ("integrations.md", ["completed"])],
)
def test_the_program_of_the_page_runs(
    tenant: Tenant, model: FakeEndpoint, sdk: Path, page: str, printed: list[str]
) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text("utf-8")
    (program,) = re.findall(r"^```js\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    model.follows(script)
    say(tenant.admin, "friday", "Our boat is called Albatross.")
    done = subprocess.run(
        [*node(), "--input-type=module", "-"],
        input=program.replace('"ai"', '"ai-7"').replace('"@ai-sdk/react"', '"react-client-7"'),
        cwd=sdk,
        env={**os.environ, "URL": tenant.address, "KEY": tenant.key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == printed
