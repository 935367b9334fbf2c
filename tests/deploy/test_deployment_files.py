"""The files in `deploy/` are what their tools accept, and name only settings and metrics that exist (OPS-8)."""

import json
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import promql_parser
import pytest
import yaml

from cloister.bootstrap import Services
from cloister.interfaces.http.metrics import Metrics
from cloister.settings import VARIABLES

DEPLOY = Path(__file__).parents[2] / "deploy"
SCRIPTS = Path(sysconfig.get_path("scripts"))
KUBERNETES = "1.34"
# Metrics that exist only with an additional embedder.
_EMBEDDING = {"cloister_embedding_waiting"}


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def _documents(path: Path) -> list[Any]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def test_hadolint_accepts_the_image() -> None:
    _run(SCRIPTS / "hadolint", DEPLOY / "Dockerfile")


def test_the_image_is_built_from_all_that_it_copies_and_from_nothing_installed_here() -> None:
    """`.dockerignore` leaves out everything but what is copied; then what npm and builds leave behind."""
    ignored = (DEPLOY.parent / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {f"!{name}" for line in copied for name in line.split()} == {line for line in ignored if line[:1] == "!"}
    assert "*" in ignored
    assert {"console/node_modules", "src/cloister/interfaces/http/console/built"} <= set(ignored)


def test_the_compose_file_keeps_to_its_specification() -> None:
    _run(SCRIPTS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_kubernetes_accepts_every_manifest_and_no_field_is_unknown() -> None:
    _run(SCRIPTS / "kubernetes-validate", "-k", KUBERNETES, "--strict", DEPLOY / "kubernetes/cloister.yaml")


def test_systemd_accepts_the_unit() -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    done = subprocess.run(
        ["systemd-analyze", "verify", DEPLOY / "systemd/cloister.service"], capture_output=True, text=True, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if "cloister.service" in line]
    assert all("is not executable: No such file" in line for line in complaints), done.stderr


def test_the_unit_on_the_page_is_the_unit_in_the_folder() -> None:
    unit = (DEPLOY / "systemd/cloister.service").read_text(encoding="utf-8")
    page = (DEPLOY.parent / "docs/how-to/deploy.md").read_text(encoding="utf-8")
    assert unit.partition("\n")[2] in page


def test_only_settings_that_exist_are_set() -> None:
    named: set[str] = set()
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            named.update(re.findall(r"\bCLOISTER_[A-Z_]+\b", path.read_text(encoding="utf-8")))
    assert named
    assert named <= set(VARIABLES)


def test_containers_run_as_nobody_on_a_read_only_root() -> None:
    pods = [document["spec"]["template"]["spec"] for document in _documents(DEPLOY / "kubernetes/cloister.yaml")
            if document["kind"] == "Deployment"]  # fmt: skip
    assert len(pods) == 2
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"]
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    services = _documents(DEPLOY / "compose.yaml")[0]["services"]
    for name in ("server", "worker"):
        assert services[name]["read_only"]
        assert services[name]["cap_drop"] == ["ALL"]
    assert re.search(r"^USER 10001:10001$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)


def _expressions() -> Iterator[str]:
    dashboard = cast(dict[str, Any], json.loads((DEPLOY / "grafana/cloister.json").read_text(encoding="utf-8")))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$__rate_interval", "5m").replace("$job", ".*")


def test_the_dashboard_asks_for_metrics_that_exist(services: Services) -> None:
    shown = Metrics(services)
    shown.began()
    shown.ended("GET", "/livez", 200, 0.001)
    exposed = set(re.findall(r"^(cloister_\w+)", shown.text().decode(), re.MULTILINE))
    asked: set[str] = set()
    for expression in _expressions():
        promql_parser.parse(expression)
        asked.update(re.findall(r"\bcloister_\w+", expression))
    assert asked
    assert asked - _EMBEDDING <= exposed
