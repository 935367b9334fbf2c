"""The scripts of a checkout, with other programs in the place of those that they call."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.servers.signal_dispositions import dispositions

SCRIPTS = Path(__file__).parents[2] / "scripts"
CONSOLE = ("index.html", "package.json", "package-lock.json", "vite.config.ts", "src/app.tsx", "test/app.test.tsx")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """With all that is needed already there, so that nothing is installed."""
    (tmp_path / "scripts").mkdir()
    for name in ("run", "test", "test-setup", "test-programs", "test-fast", "venv"):
        shutil.copy(SCRIPTS / name, tmp_path / "scripts" / name)
    for folder in ("src", "public", "test"):
        (tmp_path / "console" / folder).mkdir(parents=True)
    for file in ("pyproject.toml", *(f"console/{name}" for name in CONSOLE)):
        older(tmp_path / file)
    program(tmp_path, "scripts/console")
    for name in ("python", "ruff", "pyright", "pytest", "chromium", "pgbouncer", "cloister"):
        program(tmp_path, f".venv/bin/{name}")
    for stamp in (".run", ".test"):
        (tmp_path / ".venv" / stamp).touch()
    return tmp_path


def older(file: Path) -> None:
    file.touch()
    os.utime(file, (1, 1))


def newer(file: Path) -> None:
    os.utime(file, (4_000_000_000, 4_000_000_000))


def program(checkout: Path, name: str, does: str = "exit 0") -> None:
    file = checkout / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/usr/bin/env bash\n{does}\n")
    file.chmod(0o755)


def called(checkout: Path, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{checkout / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [checkout / "scripts" / script, *arguments],
        cwd=checkout,
        env={"PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=dispositions(),
    )


def test_all_tests_run_on_one_more_worker_than_there_are_cores(checkout: Path) -> None:
    program(checkout, ".venv/bin/pytest", 'echo "pytest $*"')
    assert (
        called(checkout, "test", "tests/unit", "-x").stdout == f"pytest -n {(os.cpu_count() or 1) + 1} tests/unit -x\n"
    )


def test_the_fast_lane_checks_the_types_of_what_changed_and_runs_what_needs_no_server(checkout: Path) -> None:
    """Neither the console nor PostgreSQL; types of files that differ from main, or are new."""
    program(checkout, ".venv/bin/pytest", 'echo "pytest $*" > tests-run')
    program(checkout, ".venv/bin/pyright", 'echo "pyright $*" > types-checked')
    program(checkout, "scripts/console", "exit 1")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    (checkout / "src").mkdir()
    for name in ("same", "changed", "gone"):
        (checkout / "src" / f"{name}.py").touch()
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"], ["checkout", "-qb", "mine"]):
        subprocess.run([*git, *command], cwd=checkout, check=True)
    (checkout / "src" / "changed.py").write_text("changed = 1")
    (checkout / "src" / "gone.py").unlink()
    subprocess.run([*git, "commit", "-qam", "second"], cwd=checkout, check=True)
    (checkout / "src" / "new.py").touch()
    run = called(checkout, "test", "--fast", "-x")
    assert (run.returncode, run.stderr) == (0, "")
    assert (checkout / "types-checked").read_text() == "pyright src/changed.py src/new.py\n"
    tests = (checkout / "tests-run").read_text()
    assert "tests/architecture tests/unit tests/contract -k not postgres" in tests and tests.endswith(" -x\n")
    program(checkout, ".venv/bin/pyright", "exit 1")
    assert called(checkout, "test", "--fast").returncode != 0


def test_help_says_what_there_is_and_runs_nothing(checkout: Path) -> None:
    program(checkout, ".venv/bin/pytest", "exit 1")
    shown = called(checkout, "test", "--help")
    assert shown.returncode == 0 and "scripts/test --fast" in shown.stdout


def test_all_checks_have_ended_when_a_test_fails(checkout: Path) -> None:
    program(checkout, ".venv/bin/pyright", "sleep 0.3; touch pyright-is-done")
    program(checkout, ".venv/bin/pytest", "exit 3")
    program(checkout, "scripts/all", "scripts/test || echo $?; ls pyright-is-done")
    assert called(checkout, "all").stdout == "3\npyright-is-done\n"


@pytest.mark.parametrize("checking", [".venv/bin/pyright", "scripts/console"])
def test_a_check_that_fails_meanwhile_fails_all(checkout: Path, checking: str) -> None:
    assert called(checkout, "test").returncode == 0
    program(checkout, checking, '[ "${1-}" = build ] || exit 1')
    assert called(checkout, "test").returncode == 1


@pytest.mark.parametrize("sent", ["INT", "TERM"])
def test_whoever_stops_the_tests_stops_the_checks(checkout: Path, sent: str) -> None:
    """As long as a check lives it holds the output open, and nobody is told of the end."""
    program(checkout, ".venv/bin/pyright", "touch begun; sleep 1000")
    program(checkout, ".venv/bin/pytest", f"until [ -e begun ]; do sleep 0.05; done; kill -{sent} $PPID; exit 2")
    assert called(checkout, "test").returncode != 0


def test_the_suite_does_not_depend_on_the_signals_that_its_parent_ignores() -> None:
    """A shell starts what runs in the background with SIGINT ignored, and a test that sends it would wait in vain."""
    test = f"{__file__}::{test_whoever_stops_the_tests_stops_the_checks.__name__}[INT]"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
        cwd=SCRIPTS.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=dispositions(ignored=[signal.SIGINT]),
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_what_is_installed_runs_where_it_cannot_be_brought_up_to_date(checkout: Path) -> None:
    program(checkout, ".venv/bin/python", "exit 1")
    program(checkout, ".venv/bin/cloister", 'echo "cloister $*"')
    newer(checkout / "pyproject.toml")
    run = called(checkout, "run")
    assert (run.returncode, run.stdout) == (0, "cloister serve\n")
    assert "going on with what is installed" in run.stderr

    (checkout / ".venv" / ".run").unlink()
    run = called(checkout, "run")
    assert (run.returncode, run.stdout) == (1, "")


@pytest.mark.parametrize(("script", "stamp"), [("run", ".run"), ("test-setup", ".test")])
def test_a_first_installation_that_was_interrupted_begins_anew(checkout: Path, script: str, stamp: str) -> None:
    shutil.rmtree(checkout / ".venv")
    program(checkout, "new-python", "echo 'exit 130' > .venv/install; mkdir -p .venv/bin; cp fake .venv/bin/python")
    program(checkout, "fake", ". .venv/install")
    program(checkout, "cloister")
    system = str(checkout / "new-python")
    assert called(checkout, script, PYTHON=system).returncode != 0
    (checkout / ".venv" / "half-installed").touch()

    program(
        checkout,
        "new-python",
        "echo 'exit 0' > .venv/install; mkdir -p .venv/bin; cp fake cloister .venv/bin; cp fake .venv/bin/python",
    )
    assert called(checkout, script, PYTHON=system).returncode == 0
    assert not (checkout / ".venv" / "half-installed").exists()
    assert (checkout / ".venv" / stamp).exists()
    (checkout / ".venv" / "kept").touch()
    newer(checkout / "pyproject.toml")
    assert called(checkout, script, PYTHON=system).returncode == 0
    assert (checkout / ".venv" / "kept").exists()


def test_an_installation_that_is_going_on_is_left_alone(checkout: Path) -> None:
    (checkout / ".venv" / ".installing").write_text(f"{os.getpid()}\n")
    run = called(checkout, "run")
    assert run.returncode == 1 and f"Process {os.getpid()} is installing" in run.stderr
    assert (checkout / ".venv" / "bin" / "python").exists()


@pytest.mark.parametrize("file", CONSOLE)
def test_only_what_the_console_is_built_from_makes_it_old(checkout: Path, file: str) -> None:
    program(checkout, ".venv/bin/python", "touch installed")
    newer(checkout / "console" / file)
    assert called(checkout, "run").returncode == 0
    assert (checkout / "installed").exists() == (not file.startswith("test/"))


def test_a_mistyped_argument_is_refused() -> None:
    refused = subprocess.run([SCRIPTS / "console", "chekc"], capture_output=True, text=True, check=False, timeout=60)
    assert (refused.returncode, refused.stderr) == (2, "usage: scripts/console [check|build]\n")
