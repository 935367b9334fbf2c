"""The conformance suite and the inspector of MCP, unmodified, against our server."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from cloister.domain.scope import Reach
from cloister.services.tenancy.api_keys import KeyFields
from support.clients.mcp_client import READING, WRITING
from support.clients.node_packages import installed, node
from support.databases.engines import sqlite_engine
from support.servers.http_server import Server
from support.servers.mcp_fixtures import serving_fixtures

FOLDER = Path(__file__).parents[1] / "mcp_clients"
VERSIONS = ["2025-11-25", "2026-07-28"]


@pytest.fixture(scope="session")
def packages() -> Path:
    return installed(FOLDER)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    engine = sqlite_engine(tmp_path_factory.mktemp("conformance") / "data")
    with engine.closing:
        services = engine.services()
        tenant, _ = services.projects.create_tenant("Household")
        made = services.api_keys.create(Reach(tenant=tenant), KeyFields(name="k", permissions=("read", "write")))
        with serving_fixtures(services, made.text) as found:
            yield found


def conformance(
    packages: Path, address: str, version: str, baseline: Path, output: Path
) -> subprocess.CompletedProcess[str]:
    command = str(packages / "node_modules/.bin/conformance")
    options = ["--url", f"{address}/mcp", "--requirements", version, "--expected-failures", str(baseline)]
    return subprocess.run(
        [*node(), command, "server", *options, "-o", str(output)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_the_server_conforms_but_for_what_is_named_with_its_reason(
    packages: Path, address: str, version: str, tmp_path: Path
) -> None:
    """DOOR-1: exactly what each revision requires, every message checked against its schema."""
    done = conformance(packages, address, version, FOLDER / f"expected-failures-{version}.yml", tmp_path)
    assert done.returncode == 0, done.stdout[-4_000:]
    assert "Baseline check passed" in done.stdout


def test_an_expected_failure_that_passes_fails_the_suite(packages: Path, address: str, tmp_path: Path) -> None:
    """The list cannot go stale."""
    baseline = tmp_path / "stale.yml"
    known = (FOLDER / "expected-failures-2026-07-28.yml").read_text()
    baseline.write_text(f"{known}\n  - caching\n")
    done = conformance(packages, address, "2026-07-28", baseline, tmp_path / "results")
    assert done.returncode == 1 and "caching" in done.stdout.partition("Stale")[2], done.stdout[-2_000:]


def inspector(packages: Path, *options: str) -> Any:
    command = str(packages / "node_modules/.bin/mcp-inspector")
    done = subprocess.run(
        [*node(), command, "--cli", *options], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_finds_nothing_wrong_with_the_schemas(packages: Path, sqlite_service: Server) -> None:
    """DOOR-1: `--strict` fails on what the clients of some models cannot read."""
    tenant = sqlite_service.new_tenant()
    target = (f"{tenant.address}/mcp", "--header", f"Authorization: Bearer {tenant.key}")
    listed = inspector(packages, *target, "--method", "tools/list", "--strict")
    assert {tool["name"] for tool in listed["tools"]} == READING | WRITING
    called = inspector(
        packages, *target, "--method", "tools/call", "--tool-name", "search_memory", "--tool-arg", "query=tea"
    )
    assert called["structuredContent"]["scope"]["project"] == tenant.default_project_id
    read = inspector(packages, *target, "--method", "resources/read", "--uri", "cloister://context")
    assert tenant.default_project_id in read["contents"][0]["text"]


def test_the_inspector_speaks_to_the_command(packages: Path, tmp_path: Path) -> None:
    """DOOR-1: on standard input and output."""
    command = (sys.executable, "-m", "cloister", "mcp", "--data", str(tmp_path / "data"), "--user", "ada")
    path = os.environ.get("PYTHONPATH")
    sources = ("-e", f"PYTHONPATH={path}") if path else ()
    listed = inspector(packages, *command, *sources, "--method", "tools/list", "--strict")
    assert {tool["name"] for tool in listed["tools"]} == READING | WRITING
