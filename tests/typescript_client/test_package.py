"""DOOR-6: the TypeScript client is typed from the OpenAPI document, is built and packed, and speaks to a running server."""

import json
import re
import runpy
import subprocess
from typing import Any

import pytest

from cloister.interfaces.http.app import create_app
from support.clients.typescript_package import CLIENT, VERSIONS, TypeScriptPackage
from support.servers.http_server import OPERATOR_KEY, Server


@pytest.fixture(scope="session")
def generate() -> dict[str, Any]:
    return runpy.run_path(str(CLIENT / "generate.py"))


def test_the_generated_types_are_those_of_the_openapi_document(generate: dict[str, Any], server: Server) -> None:
    """DOOR-6: whoever adds or changes a route runs one command."""
    assert server.services is not None
    rendered: dict[str, str] = generate["render"](create_app(server.services))
    assert set(rendered) == {path.name for path in (CLIENT / "src/generated").iterdir()}
    for name, text in rendered.items():
        stored = (CLIENT / "src/generated" / name).read_text("utf-8")
        assert stored == text, f"{name} is out of date; run: {generate['COMMAND']}"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_declarations_fit_each_version_of_the_ai_sdk(package: TypeScriptPackage, version: str) -> None:
    """DOOR-6: `tsc --noEmit`, strict, with the packed package as its users install it."""
    done = package.check_types(version)
    assert done.returncode == 0, done.stdout


def test_the_packed_package_is_imported_from_a_fresh_directory(package: TypeScriptPackage) -> None:
    """DOOR-6: ESM and declarations, and nothing else; no dependency is needed at run time."""
    names_of = 'Object.keys(await import("@cloister/client{}"))'
    program = f"console.log({names_of.format('')}, {names_of.format('/ai-sdk')})"
    done = package.run("7", ["--input-type=module", "-e", program])
    assert done.returncode == 0, done.stderr
    assert "Cloister" in done.stdout and "withCloister" in done.stdout
    inside = package.fresh("7") / "node_modules/@cloister/client"
    names = {path.relative_to(inside).as_posix() for path in inside.rglob("*") if path.is_file()}
    assert {"package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"} <= names
    assert all(name.startswith("dist/") for name in names - {"package.json", "README.md", "LICENSE"})
    described = json.loads((inside / "package.json").read_text())
    assert "dependencies" not in described
    for path in inside.rglob("*.js"):
        outside = set(re.findall(r'from "([^."][^"]*)"', path.read_text()))
        assert outside <= ({"ai"} if path.parent.name == "ai-sdk" else set()), path


def passed(done: subprocess.CompletedProcess[str]) -> None:
    failures = re.findall(r"^not ok .*?^ +\.\.\.$", done.stdout, re.MULTILINE | re.DOTALL)
    assert done.returncode == 0, "\n".join([*failures, done.stderr[-2_000:]])
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE), done.stdout[-2_000:]


def node_tests(package: TypeScriptPackage, server: Server, version: str, *files: str) -> None:
    environment = {"CLOISTER_URL": server.address, "CLOISTER_OPERATOR_KEY": OPERATOR_KEY, "NODE_OPTIONS": ""}
    # In one process, because each would load the client again.
    options = ["--test", "--test-isolation=none", "--test-timeout=30000", "--test-reporter=tap"]
    passed(package.run(version, [*options, *files], environment))


def test_the_client_speaks_to_a_running_server(package: TypeScriptPackage, server: Server) -> None:
    """DOOR-6, ISO-4, ISO-12: `clients/typescript/test`, but for the AI SDK."""
    files = sorted(path.name for path in (CLIENT / "test").glob("*.test.ts") if not path.name.startswith("ai-sdk"))
    node_tests(package, server, "7", *files)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_middleware_works_with_each_version_of_the_ai_sdk(
    package: TypeScriptPackage, server: Server, version: str
) -> None:
    """DOOR-6, ISO-4, ISO-12, MEM-10: `withCloister`, with the mock models of the AI SDK and our server."""
    files = sorted(path.name for path in (CLIENT / "test").glob("ai-sdk*.test.ts"))
    node_tests(package, server, version, *files)
