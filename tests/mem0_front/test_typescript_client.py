"""The unmodified TypeScript client of mem0 at `/mem0` (DOOR-5), in the Node of the wheel.

Its packages are installed when the test first runs. Without a way to the package index this skips at a desk and fails in CI.
"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.clients.node_packages import installed, node
from support.servers.http_server import Server

FOLDER = Path(__file__).parents[1] / "mem0_clients"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "mem0.md"


@pytest.fixture(scope="session")
def packages() -> Path:
    """The folder, with its packages."""
    return installed(FOLDER)


def run(packages: Path, *arguments: str, key: str = "") -> str:
    """What Node prints."""
    done = subprocess.run(
        [*node(), *arguments],
        cwd=packages,
        env={**os.environ, "MEM0_TELEMETRY": "false", "CLOISTER_KEY": key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_of_the_page_prints_what_it_found(sqlite_service: Server, packages: Path) -> None:
    (program,) = re.findall(r"^```js\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    here = program.replace("http://127.0.0.1:8420", sqlite_service.address)
    printed = run(packages, "--input-type=module", "--eval", here, key=sqlite_service.new_tenant().key)
    assert printed == "The user owns a red bicycle.\n"


def test_the_client_goes_through_all_that_is_supported(sqlite_service: Server, packages: Path) -> None:
    """DOOR-5: add, search, getAll, get, update, history, users, batches, delete, deleteAll, deleteUsers, and refusals."""
    tenant = sqlite_service.new_tenant()
    printed = run(packages, "talk.mjs", sqlite_service.address, tenant.key, tenant.new_key("read"))
    said: dict[str, Any] = json.loads(printed)

    assert [each[:4] for each in said["identity"]] == ["ten_", "proj"]
    assert said["added"]["status"] == said["plain"]["status"] == "SUCCEEDED"
    assert len(said["added"]["results"]) == 2 and len(said["plain"]["results"]) == 1
    (best,) = said["found"]["results"]
    assert (best["memory"], best["userId"], best["agentId"]) == ("The user is a vegetarian.", "alice", "waiter")
    assert best["metadata"] == {"favouriteTopic": "food"} and best["score"] > 0.5
    assert (said["filtered"]["count"], len(said["filtered"]["results"])) == (2, 1) and said["filtered"]["next"]
    assert said["got"]["memory"] == "The user is a vegetarian."
    assert (said["updated"]["memory"], said["updated"]["agentId"]) == ("Alice is a vegan.", "waiter")
    assert [each["newMemory"] for each in said["history"]] == ["The user is a vegetarian.", "Alice is a vegan."]
    assert [(each["type"], each["name"]) for each in said["users"]["results"]] == [
        ("user", "alice"),
        ("run", "ticket-1"),
    ]
    assert said["batch"][1]["memory"] == "Alice eats no meat."
    assert said["missing"]["name"] == "MemoryNotFoundError"
    assert "Supported: add, search" in said["unsupported"]["message"]
    assert "rerank" in said["option"]["message"]
    assert [said[name]["name"] for name in ("refused", "wildcard")] == ["AuthenticationError"] * 2
    assert said["deleted"]["deleted"] == 2 and said["left"]["results"] == []
    assert said["forgotten"]["message"] == "Entity deleted successfully." and said["nobody"]["results"] == []
