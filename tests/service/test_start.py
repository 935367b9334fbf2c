"""What a process loads when it starts: nothing of the interfaces that nobody has used yet (DOOR-1 to DOOR-8)."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from cloister.bootstrap import Services
from cloister.interfaces.http.app import create_app
from cloister.interfaces.http.fronts.routes import FRONTS
from support.databases.engines import Engine
from support.servers.http_server import Server, serving

PROGRAMS = {
    "the library": "import cloister",
    "a library on a directory": "import tempfile; from cloister import Cloister; Cloister(tempfile.mkdtemp())",
    "the server": "import cloister.interfaces.http.app",
    "the command line": "import cloister.interfaces.cli.main",
}
PACKAGES = {
    "mcp",
    "mcp_types",
    "sse_starlette",
    "jsonschema",
    "jwt",
    "openai",
    "agents",
    "anthropic",
    "langgraph",
    "mem0",
} | {*("pydantic_ai", "llama_index", "google", "opentelemetry.sdk", "ijson")}
# Of each, also all that is inside.
OF_INTERFACES = {
    "cloister.integrations",
    "cloister.domain.entries.operations",
    "cloister.domain.entries.value_filter",
    "cloister.domain.files.commands",
    "cloister.services.chat.responses",
    "cloister.services.chat.unrecorded",
    "cloister.services.conversations.files",
    "cloister.services.conversations.items",
    "cloister.services.entries.entries",
    "cloister.services.entries.embedding",
    "cloister.services.audit.plant",
    "cloister.interfaces.audit.app_client",
    "cloister.interfaces.audit.reads",
    "cloister.interfaces.python.entries.operations",
    "cloister.interfaces.mcp.connection",
    "cloister.interfaces.http.mcp.routes",
    "cloister.interfaces.http.resources.items",
    "cloister.interfaces.http.anthropic.files",
    "cloister.interfaces.http.openai.routes",
    "cloister.interfaces.http.openai.models",
    "cloister.interfaces.http.openai.bodies",
    "cloister.interfaces.http.openai.messages",
    "cloister.telemetry.spans",
    "cloister.services.archive",
    "cloister.storage.stores.archived_rows",
    "cloister.storage.stores.imported_rows",
    "cloister.interfaces.formats.export_file",
    "cloister.interfaces.audit.local_app",
    "cloister.interfaces.mcp.server",
    "cloister.interfaces.http.mcp.transport",
    "cloister.interfaces.http.archive",
    "cloister.interfaces.http.audit.routes",
    "cloister.interfaces.http.anthropic.routes",
    "cloister.interfaces.http.anthropic.models",
    "cloister.interfaces.http.langgraph",
    "cloister.interfaces.http.mem0.routes",
    "cloister.interfaces.http.mem0.bodies",
    "cloister.interfaces.http.openai.responses",
    "cloister.interfaces.http.openai.conversations",
}
# What is left in the folders of these interfaces when a server starts: the formats of errors, which the layer around all requests
# needs, and what every deletion and every change of a project does to rows that they may have stored.
LEFT = {
    "cloister.interfaces.http.anthropic.errors",
    "cloister.interfaces.http.mcp.errors",
    "cloister.interfaces.http.mem0.errors",
    "cloister.interfaces.http.openai.errors",
    "cloister.interfaces.mcp.command",
    "cloister.interfaces.mcp.extra",
    "cloister.interfaces.python.entries.backends",
    "cloister.interfaces.python.entries.methods",
    "cloister.interfaces.python.files.backends",
    "cloister.interfaces.python.files.methods",
    "cloister.interfaces.python.items.backends",
    "cloister.interfaces.python.items.methods",
    "cloister.interfaces.python.items.shapes",
    "cloister.domain.entries.entry",
    "cloister.domain.entries.namespace",
    "cloister.domain.files.answer",
    "cloister.domain.files.tree",
    "cloister.services.entries.expiry",
    "cloister.storage.stores.entries.entries",
    "cloister.storage.stores.files.project_trees",
    "cloister.storage.stores.files.trees",
}
FOLDERS = (
    *(f"cloister.interfaces.http.{name}." for name in ("anthropic", "langgraph", "mcp", "mem0", "openai")),
    *(f"cloister.interfaces.python.{name}." for name in ("entries", "files", "items")),
    *("cloister.interfaces.mcp.", "cloister.integrations.", "cloister.domain.entries.", "cloister.domain.files."),
    *("cloister.services.entries.", "cloister.storage.stores.entries.", "cloister.storage.stores.files."),
)
UNDER = {
    "v1/sessions/*/items": "/v1/sessions/none/items",
    "v1/sessions/*/files": "/v1/sessions/none/files/view",
    "v1/memory-tool": "/v1/memory-tool",
    "v1/chat/completions": "/v1/chat/completions",
    "v1/models": "/v1/models",
    "v1/embeddings": "/v1/embeddings",
    "mcp": "/mcp",
    "anthropic": "/anthropic/v1/models",
    "mem0": "/mem0/v1/ping/",
    "langgraph": "/langgraph/store/items",
    "v1/entries": "/v1/entries/read",
    "v1/responses": "/v1/responses/resp_1",
    "v1/conversations": "/v1/conversations/conv_1",
    "v1/export": "/v1/export",
    "v1/import": "/v1/import",
    "v1/audit": "/v1/audit",
    "operator/audit": "/operator/audit",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_process_loads_nothing_of_interfaces_that_nobody_uses(program: str) -> None:
    """DOOR-1 to DOOR-8: neither their packages nor our own modules for them. `benchmarks/start.py` prints what the rest costs."""
    wanted = f"{PROGRAMS[program]}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", wanted], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "cloister" in loaded
    unwanted = PACKAGES | OF_INTERFACES
    assert [
        name for name in loaded if name in unwanted or name.startswith(tuple(f"{each}." for each in unwanted))
    ] == []
    assert {name for name in loaded if name.startswith(FOLDERS)} <= LEFT


@pytest.fixture
def services(engine: Engine) -> Services:
    return engine.services()


def test_every_front_has_a_path_and_is_listed_with_the_other_routes(services: Services) -> None:
    """So that the tables of callers and the OpenAPI document have them, whatever was asked before."""
    assert set(UNDER) == set(FRONTS)
    paths = {getattr(route, "path", "") for route in create_app(services).routes}
    for front in FRONTS:
        assert any(path.startswith(f"/{front.replace('*', '{external_id}')}") for path in paths), front


def _answer(server: Server, path: str) -> tuple[int, str]:
    answer = server.http.get(path)
    return answer.status_code, answer.text.replace(answer.headers["X-Request-ID"], "…")


def test_the_first_requests_of_a_front_are_answered_like_all_others(services: Services) -> None:
    """Several at once; paths that are none are refused in the format of their clients, also before anything else was asked."""
    with serving(services) as server, ThreadPoolExecutor(8) as pool:
        for path in UNDER.values():
            for asked in (path, f"{path.rstrip('/')}/there/is/none"):
                answers = set(pool.map(_answer, [server] * 8, [asked] * 8))
                assert answers == {_answer(server, asked)}, asked
                ((status, _),) = answers
                assert 400 <= status < 500 or status == 501, asked
    with serving(services) as server:
        unknown = server.http.get("/anthropic/v1/nothing")
        assert (unknown.status_code, unknown.json()["type"]) == (404, "error")
        assert server.http.get("/v1/nothing").json()["error"]["code"] == "not_found"
