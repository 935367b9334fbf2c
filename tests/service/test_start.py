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
OF_INTERFACES = {
    "cloister.integrations",
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
UNDER = {
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
    assert loaded & (PACKAGES | OF_INTERFACES) == set()
    assert [name for name in loaded if name.startswith("cloister.integrations")] == []


@pytest.fixture
def services(engine: Engine) -> Services:
    return engine.services()


def test_every_front_has_a_path_and_is_listed_with_the_other_routes(services: Services) -> None:
    """So that the tables of callers and the OpenAPI document have them, whatever was asked before."""
    assert set(UNDER) == set(FRONTS)
    paths = {getattr(route, "path", "") for route in create_app(services).routes}
    for front in FRONTS:
        assert any(path.startswith(f"/{front}") for path in paths), front


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
