"""Schemathesis against a running server, with every check on: what the document says is what the server does.

Set `CLOISTER_LONG_RUN=20000` for at least that many requests to each engine. What no schema can say is in `schemathesis_hooks.py`.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Generator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from support.databases.engines import Engine, opened_engine
from support.servers.http_server import OPERATOR_KEY, Server, serving

SCHEMATHESIS = [sys.executable, "-m", "schemathesis.cli"]
# A stream that goes on until its reader leaves: Schemathesis would read it to its end. It has tests of its own.
NEVER_ENDS = ["--exclude-path", "/v1/events"]
# Schemathesis cannot write the lines of an archive. Importing has tests of its own, in `test_archives.py`.
NO_JSON = ["--exclude-path", "/v1/import", "--exclude-path", "/v1/import/file"]
# An audit makes a thousand requests of its own. It is shown in `test_audit.py`.
TAKES_SECONDS = ["--exclude-path", "/v1/audit", "--exclude-path", "/operator/audit"]
HOOKS = Path(__file__).with_name("schemathesis_hooks.py")
SESSIONS = ["lisbon-in-may", "lisbon-tickets"]
FACTS = ["Ada is allergic to shellfish.", "The hotel is in Alfama."]
CONFIGURATION = """
hooks = {hooks}
warnings = false
[auth.openapi.api_key]
bearer = {key}
[auth.openapi.operator_key]
bearer = {operator_key}
[generation]
database = "none"
# A wrong key is the coverage phase's business: here it would hide all that comes behind it.
[phases.fuzzing.generation]
with-security-parameters = false
[phases.stateful.generation]
with-security-parameters = false
[checks]
enabled = true
# The usual refusals, and 413: what is too long is refused as such.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422]
# Without 5xx, which the package lets pass here.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 403, 404, 409]
"""
COUNTED = re.compile(r'^cloister_http_requests_total\{.*status="(\d+)"\} (\d+)', re.MULTILINE)


def lay_ground(server: Server) -> tuple[str, dict[str, Any]]:
    """A key of a project, and sessions with something said in them, under the ids that the examples use."""
    tenant = server.new_tenant()
    project = tenant.default_project_id
    with tenant.client() as admin:
        # With a project of its own, so that search is never without one.
        key = admin.post("/org/api-keys", json={"name": "run", "project_id": project, "permissions": ["admin"]}).json()
        for session in SESSIONS:
            assert admin.post("/v1/sessions", json={"external_id": session}).status_code == 201
            for place in ("Cacilhas", "Belém"):
                said = {"session_id": session, "user_message": f"The ferry to {place}?", "ai_response": "At ten past."}
                assert admin.post("/v1/episodes", json=said).status_code == 201
            assert admin.post("/v1/memories", json={"session_id": session, "contents": FACTS}).status_code == 201
        assert admin.post("/org/projects", json={"name": "another"}).status_code == 201
        of_sessions = [f"/v1/sessions/{session}/{list}" for session in SESSIONS for list in ("messages", "memories")]
        cursors = {
            path: admin.get(path, params={"limit": 1}).json()["next_cursor"]
            for path in ("/org/projects", "/org/api-keys", *of_sessions)
        }
    assert all(cursors.values())
    ground = {"key_id": key["key_id"], "project_id": project, "sessions": SESSIONS, "cursors": cursors}
    return key["key"], ground


def run_schemathesis(server: Server, place: Path, *options: str) -> None:
    key, ground = lay_ground(server)
    configuration = place / "schemathesis.toml"
    configuration.write_text(
        CONFIGURATION.format(hooks=json.dumps(str(HOOKS)), key=json.dumps(key), operator_key=json.dumps(OPERATOR_KEY))
    )
    done = subprocess.run(
        [
            *SCHEMATHESIS,
            "--config-file",
            configuration,
            "run",
            *NEVER_ENDS,
            *NO_JSON,
            *TAKES_SECONDS,
            *options,
            f"{server.address}/openapi.json",
        ],
        cwd=place,
        env={**os.environ, "CLOISTER_SCHEMATHESIS": json.dumps(ground)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def answered(server: Server) -> dict[int, int]:
    """How many answers of each status the server itself has counted."""
    with server.client() as client:
        counted: dict[int, int] = {}
        for status, number in COUNTED.findall(client.get("/metrics").text):
            counted[int(status)] = counted.get(int(status), 0) + int(number)
    return counted


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, data: Path) -> Generator[Engine]:
    with opened_engine(request.param, data, lambda: request.getfixturevalue("postgres_server")) as made:
        yield made


def test_the_server_does_what_its_document_says(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = int(os.environ.get("CLOISTER_LONG_RUN", "0"))
    with serving(engine.services()) as server:
        if not wanted:
            phases = "examples,coverage,fuzzing,stateful" if engine.name == "sqlite" else "examples"
            run_schemathesis(server, tmp_path, "--seed", "1", "--max-examples", "5", "--phases", phases)
        for seed in count(1):
            if sum(answered(server).values()) >= wanted:
                break
            run_schemathesis(server, tmp_path, "--seed", str(seed), "--max-examples", "200", "--workers", "2")
            with capsys.disabled():
                os.write(2, f"{engine.name}: {answered(server)}\n".encode())
        assert not [status for status in answered(server) if status >= 500]
