"""What a process costs before it does anything: processor time, memory and modules of an import, of a library on a new directory,
of the HTTP app, and of `cloister serve` until `/readyz` answers. With `--against REVISION`, the same of older revisions of this
repository, in turn with this one.

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
from collections.abc import Mapping
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
# The modules of interfaces for other programs, wherever they are.
DOORS = (
    *(f"cloister.interfaces.http.{name}." for name in ("anthropic", "langgraph", "mcp", "mem0", "openai")),
    *(f"cloister.interfaces.python.{name}." for name in ("entries", "files", "items")),
    *("cloister.interfaces.mcp.", "cloister.integrations.", "cloister.domain.entries.", "cloister.domain.files."),
    *("cloister.services.entries.", "cloister.storage.stores.entries.", "cloister.storage.stores.files."),
)
# What each module costs by itself, without those that it imports: `now` is a clock, or the memory allocated so far.
_BY_MODULE = """
import importlib.machinery as machinery, sys, time, tracemalloc
if MEMORY:
    tracemalloc.start()
now = (lambda: tracemalloc.get_traced_memory()[0]) if MEMORY else time.process_time
costs, inside, execute = {}, [0], machinery.SourceFileLoader.exec_module

def measured(loader, module):
    inside.append(0)
    began = now()
    execute(loader, module)
    whole = now() - began
    costs[module.__name__] = whole - inside.pop()
    inside[-1] += whole

machinery.SourceFileLoader.exec_module = measured
import cloister.interfaces.http.app
chosen = [cost for name, cost in costs.items() if name.startswith(DOORS)]
print(sum(chosen), len(chosen))
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


def costs(program: str, sources: Mapping[str, Path], runs: int) -> dict[str, Cost]:
    """The least of several runs of each source in turn, each in a process of its own, after one that compiles the modules."""
    found: dict[str, list[Cost]] = {revision: [] for revision in sources}
    for _ in range(runs + 1):
        for revision, source in sources.items():
            found[revision].append(cost(program, source))
    return {revision: min(each[1:], key=lambda each: each.seconds) for revision, each in found.items()}


def cost(program: str, source: Path) -> Cost:
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{_REPORT}"],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, kilobytes, modules, own = done.stdout.split()[-4:]
    return Cost(seconds=float(seconds), megabytes=int(kilobytes) / 1_024, modules=int(modules), own=int(own))


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Start:
    """A start of the server until `/readyz` answers: by the clock, the time of its processors, and its memory then."""

    processor: float
    seconds: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.processor:6.2f} s {self.megabytes:6.1f} MB, {self.seconds:.2f} s by the clock"


def cost_of_doors(runs: int) -> str:
    """What the modules of `DOORS` cost that are imported with the HTTP app: the least time and memory of several runs."""
    least: list[float] = []
    modules = ""
    for memory in (False, True):
        program = f"DOORS, MEMORY = {DOORS!r}, {memory}\n{_BY_MODULE}"
        found: list[float] = []
        for _ in range(runs + 1):
            command = [sys.executable, "-c", program]
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            value, modules = done.stdout.split()
            found.append(float(value))
        least.append(min(found[1:]))
    return f"{1_000 * least[0]:.0f} ms {least[1] / 1_048_576:.2f} MB {modules} modules"


def start_server(source: Path) -> Start:
    """`cloister serve` on a new directory until `/readyz` answers 200."""
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
            seconds = time.perf_counter() - began
            return Start(seconds=seconds, processor=processor_of(server.pid), megabytes=memory_of(server.pid))
        finally:
            server.terminate()
            server.wait()


def processor_of(pid: int) -> float:
    """Seconds of processors that a process has used, in Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(pid: int) -> float:
    """The resident memory of a process in megabytes, in Linux."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1_048_576


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
    parser.add_argument(
        "--against", metavar="REVISION", action="append", default=[], help="measure this revision too; may be repeated"
    )
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sources = {revision: unpacked(revision, Path(folder) / revision) for revision in given.against}
        sources["now"] = ROOT / "src"
        for name, program in PROGRAMS.items():
            for revision, measured in costs(program, sources, given.runs).items():
                print(f"{name:30} {revision:8} {measured}", flush=True)
        print(f"{'of it, other interfaces':30} now      {cost_of_doors(given.runs)}", flush=True)
        starts: dict[str, list[Start]] = {revision: [] for revision in sources}
        for _ in range(given.runs):
            for revision, source in sources.items():
                starts[revision].append(start_server(source))
        for revision, measured in starts.items():
            print(f"{'/readyz answers after':30} {revision:8} {min(measured)}", flush=True)


if __name__ == "__main__":
    main()
