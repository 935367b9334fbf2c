"""What a process costs before it does anything: processor time, memory and modules of an import, of a library on a new directory,
of the HTTP app, and the time until `/readyz` answers. With `--against REVISION`, the same of an older revision of this repository.

    python benchmarks/start.py --against 28a2282   # the last one without interfaces for other programs

Processor time is measured, and the least of several runs counts, because other programs may run at the same time. The time until
the server is ready is that of the clock, and means something on an idle machine only.
"""

import argparse
import io
import os
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = {
    "import cloister": "import cloister",
    "a library on a new directory": "import tempfile; from cloister import Cloister; Cloister(tempfile.mkdtemp())",
    "import the HTTP app": "import cloister.interfaces.http.app",
    "import the command line": "import cloister.interfaces.cli.main",
}
_REPORT = """
import resource, sys
used = resource.getrusage(resource.RUSAGE_SELF)
own = sum(1 for name in sys.modules if name.startswith("cloister"))
print(used.ru_utime + used.ru_stime, used.ru_maxrss, len(sys.modules), own)
"""
_LISTENING = re.compile(r"http://([\d.]+):(\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """`modules` are all that were imported, `own` those of Cloister."""

    seconds: float
    megabytes: float
    modules: int
    own: int

    def __str__(self) -> str:
        return f"{self.seconds:6.2f} s {self.megabytes:6.1f} MB {self.modules:5} modules, {self.own:3} of Cloister"


def cost(program: str, source: Path, runs: int) -> Cost:
    """The least of several runs, each in a process of its own, after one that compiles the modules."""
    found: list[Cost] = []
    for _ in range(runs + 1):
        done = subprocess.run(
            [sys.executable, "-c", f"{program}\n{_REPORT}"],
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, kilobytes, modules, own = done.stdout.split()[-4:]
        found.append(Cost(seconds=float(seconds), megabytes=int(kilobytes) / 1_024, modules=int(modules), own=int(own)))
    return min(found[1:], key=lambda each: each.seconds)


def seconds_until_ready(source: Path) -> float:
    """From the start of `cloister serve` on a new directory until `/readyz` answers 200."""
    with tempfile.TemporaryDirectory() as data:
        began = time.perf_counter()
        server = subprocess.Popen(
            [sys.executable, "-m", "cloister", "serve", "--port", "0", "--data", data],
            env={**os.environ, "PYTHONPATH": str(source)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert server.stdout is not None
            host, port = next(found.groups() for line in server.stdout if (found := _LISTENING.search(line)))
            while not is_ready(host, int(port)):
                time.sleep(0.01)
            return time.perf_counter() - began
        finally:
            server.terminate()
            server.wait()


def is_ready(host: str, port: int) -> bool:
    """Asked over a bare socket: the module `http` of this folder hides the one that the clients need."""
    try:
        with socket.create_connection((host, port), timeout=5) as connection:
            connection.sendall(f"GET /readyz HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
            return connection.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def unpacked(revision: str, folder: Path) -> Path:
    """The sources of a revision."""
    packed = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def main() -> None:
    parser = argparse.ArgumentParser(description="What a process costs before it does anything.")
    parser.add_argument("--against", metavar="REVISION", help="measure this revision too")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = {"now": ROOT / "src"}
        if given.against:
            sources = {given.against: unpacked(given.against, Path(folder)), **sources}
        for name, program in PROGRAMS.items():
            for revision, source in sources.items():
                print(f"{name:30} {revision:8} {cost(program, source, given.runs)}", flush=True)
        for revision, source in sources.items():
            ready = min(seconds_until_ready(source) for _ in range(given.runs))
            print(f"{'/readyz answers after':30} {revision:8} {ready:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
