"""`cloister doctor`: checks the installation, and says what to do about problems."""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import typer
from rich.table import Table
from rich.text import Text

from cloister.domain.errors import CloisterError, Forbidden, InvalidRequest
from cloister.domain.maintenance.damage import RowCheck
from cloister.interfaces.cli.maintenance import index_counts
from cloister.interfaces.cli.options import Data, Json, Key
from cloister.interfaces.cli.terminal import answer, counted, harmless, progress_bar
from cloister.interfaces.cli.upkeep.progress import StepBar
from cloister.interfaces.python.library import Cloister
from cloister.services.health import HealthReport
from cloister.settings import Remote, Settings, read_remote, read_settings

State = Literal["ok", "warn", "bad"]
_STYLES: dict[State, str] = {"ok": "green", "warn": "yellow", "bad": "bold red"}
_SCARCE = 200_000_000
_TOO_LONG_SECONDS = 600
_MOST_ROWS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report; `advice` says what to do where there is something to do."""

    state: State
    name: str
    finding: str
    advice: str = ""


def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Rebuild first what another version of Cloister indexed, as a server would.")
    ] = False,
    set_aside: Annotated[
        Path | None,
        typer.Option(
            "--set-aside",
            metavar="FILE",
            help="Copy damaged rows to this new file, and take them out, so that the rest can be read.",
        ),
    ] = None,
    data: Data = None,
    key: Key = None,
    json: Json = False,
) -> None:
    """Check the installation, and say what to do about problems.

    It checks the data, the schema, every row that has text, the index and the embedder; of a server, whether it is ready and
    accepts the key. The exit code is 1 if a check is bad.
    """
    remote = read_remote(data, key)
    if remote is not None and set_aside is not None:
        raise Forbidden("Rows are set aside where the database is: run it on the server.")
    if fix:
        if remote is not None:
            raise InvalidRequest(
                "--fix", "is done on the machine of the server, with --data DIRECTORY or a database URL."
            )
        with Cloister(data) as memory, progress_bar("rebuilding") as bar:
            task = bar.add_task("", total=None)
            memory.reindex(progress=lambda done, total: bar.update(task, completed=done, total=total))
    checks = list(_examine(read_settings(data), set_aside) if remote is None else _server(remote))
    bad = any(check.state == "bad" for check in checks)
    answer({"ok": not bad, "checks": [asdict(check) for check in checks]}, json, _drawn(checks))
    if bad:
        raise typer.Exit(1)


def _obstacle(directory: Path) -> str | None:
    """Why nothing can be stored in this directory, or None where no reason is found without opening the database."""
    for path in (directory, *directory.parents):
        try:
            if path.is_dir():
                usable = os.access(path, os.R_OK | os.W_OK | os.X_OK)
                return None if usable else f"{path} cannot be written by this user."
            if path.exists():
                return f"{path} is a file."
        except OSError as error:
            return f"{path} cannot be looked into: {error.strerror}."
    return None


def _examine(settings: Settings, set_aside: Path | None) -> Iterator[Check]:
    directory = None if settings.postgres else Path(settings.data).expanduser()
    if directory is None:
        url = urlsplit(settings.data)
        yield Check("ok", "data", f"PostgreSQL, {url.hostname or 'local socket'}{url.path}")
    elif (obstacle := _obstacle(directory)) is not None:
        yield Check("bad", "data", obstacle, "Choose another data directory, or mend this one.")
        return
    elif not directory.exists():
        advice = "The first command that stores something makes it."
        yield Check("warn", "data", f"{directory} is not there yet.", advice)
        return
    else:
        yield from _directory(directory)
    try:
        with Cloister(settings.data) as memory:
            health = memory.health()
            with StepBar() as bar:
                rows = memory.check_rows(set_aside=set_aside, progress=bar.show)
    except CloisterError as error:
        yield Check("bad", "database", str(error))
        return
    yield from _database(health)
    yield from _rows(rows)
    yield from _index(health)
    yield from _additional_embedder(health)
    yield from _extraction(health)


def _server(remote: Remote) -> Iterator[Check]:
    yield Check("ok", "data", f"the server at {remote.address}")
    with Cloister(remote.address, key=remote.key) as memory:
        try:
            yield Check("ok", "server", f"ready, with the schema at version {memory.schema_version()}")
        except CloisterError as error:
            yield Check("bad", "server", str(error))
            return
        try:
            memory.projects(limit=1)
        except Forbidden as error:
            yield Check("warn", "key", str(error))
        except CloisterError as error:
            advice = "Look at --key or CLOISTER_KEY; an admin makes a new one with: cloister keys create"
            yield Check("bad", "key", str(error), advice)
        else:
            yield Check("ok", "key", "accepted")


def _directory(directory: Path) -> Iterator[Check]:
    if os.name == "posix" and stat.S_IMODE(directory.stat().st_mode) & 0o077:
        advice = f"Other users of this machine may read what was said: chmod 700 {directory}"
        yield Check("warn", "data", f"{directory} is open to other users.", advice)
    else:
        yield Check("ok", "data", str(directory))
    free = shutil.disk_usage(directory).free
    finding = f"{free / 1e9:,.1f} GB free"
    if free < _SCARCE:
        yield Check("warn", "disk", finding, "Free some space before it runs out.")
    else:
        yield Check("ok", "disk", finding)


def _database(health: HealthReport) -> Iterator[Check]:
    yield Check("ok", "engine", health.engine)
    yield Check("ok", "schema", f"version {health.schema_version}")
    for problem in health.problems:
        advice = "Stop writing, keep a copy of the data, and restore a backup."
        yield Check("bad", "integrity", problem, advice)
    if not health.problems:
        yield Check("ok", "integrity", "every page and every reference is whole")
    if health.excess_rights is not None:
        yield Check("warn", "rights", health.excess_rights)
    if health.remains is not None:
        yield Check("ok", "forgetting", health.remains)
    counts = (
        counted(health.tenants, "tenant"),
        counted(health.projects, "project"),
        counted(health.sessions, "session"),
        counted(health.messages, "message"),
    )
    yield Check("ok", "stored", ", ".join(counts))


def _rows(found: RowCheck) -> Iterator[Check]:
    for problem in found.unreadable:
        yield Check("bad", "rows", problem, "Keep a copy of the data, and restore a backup: cloister restore")
    for row in found.damaged[:_MOST_ROWS_SHOWN]:
        where = f"of the session {row.session_id!r}, " if row.session_id is not None else ""
        finding = f"{row.table} {row.id} {where}tenant {row.tenant_id}, is not what was stored"
        if row.set_aside:
            yield Check("warn", "rows", f"{finding}; it was set aside.", f"What is left of it is in {found.file}.")
        else:
            advice = "Restore a backup, or take it out so that the rest can be read: cloister doctor --set-aside FILE"
            yield Check("bad", "rows", f"{finding}.", advice)
    if len(found.damaged) > _MOST_ROWS_SHOWN:
        yield Check("bad", "rows", f"{len(found.damaged):,} rows are damaged in all; the first are shown.")
    if not (found.unreadable or found.damaged):
        yield Check("ok", "rows", f"{found.rows:,} read, all as they were stored")
    if found.unchecked:
        finding = f"{counted(found.unchecked, 'row')} without a checksum yet"
        yield Check("ok", "checksums", f"{finding}: `cloister serve` and `cloister worker` compute them")


def _index(health: HealthReport) -> Iterator[Check]:
    yield Check("ok", "embedder", health.embedder)
    waiting = f"{health.waiting:,} messages, memories or entities" if health.waiting else "nothing"
    rebuilt = "`cloister serve` and `cloister worker` rebuild it by themselves; or run: cloister doctor --fix"
    stale = f"{index_counts(health.stale)} indexed by another embedder or tokeniser"
    for name, number, finding, advice in (
        ("waiting", health.waiting, f"{waiting} not indexed yet", "Run: cloister reindex"),
        ("stale", health.stale.total, stale, rebuilt),
    ):
        if number:
            yield Check("warn", name, finding, advice)
        else:
            yield Check("ok", name, finding)


def _additional_embedder(health: HealthReport) -> Iterator[Check]:
    if health.additional_embedder is None:
        return
    if health.embedder_problem is None:
        yield Check("ok", "additional", health.additional_embedder)
    else:
        advice = (
            "Recall goes on with the built-in table alone. New messages are embedded when the embedder answers again."
        )
        yield Check("warn", "additional", health.embedder_problem, advice)
    finding = f"{counted(health.unembedded, 'message')} without a vector of it yet"
    if health.unembedded:
        yield Check(
            "warn", "vectors", finding, "`cloister serve` and `cloister worker` make them; or run: cloister reindex"
        )
    else:
        yield Check("ok", "vectors", finding)


def _extraction(health: HealthReport) -> Iterator[Check]:
    yield Check("ok", "extractor", health.extractor)
    finding = f"{counted(health.due, 'session')} waiting for extraction"
    if health.due_seconds > _TOO_LONG_SECONDS:
        finding += f", the longest for {counted(health.due_seconds // 60, 'minute')}"
        advice = "No worker keeps up: start `cloister serve` or `cloister worker`, or run: cloister worker --once"
        yield Check("warn", "extraction", finding, advice)
    else:
        yield Check("ok", "extraction", finding)
    if health.failing:
        finding = f"{counted(health.failing, 'session')} could not be extracted: {health.failing_because}"
        advice = (
            "Nothing was lost. Mend what it names; they are tried again by themselves, within an hour at the latest."
        )
        yield Check("warn", "failing", finding, advice)


def _drawn(checks: list[Check]) -> Table:
    drawn = Table.grid(padding=(0, 2))
    drawn.add_column(no_wrap=True)
    drawn.add_column(no_wrap=True, style="bold")
    drawn.add_column(overflow="fold")
    for check in checks:
        finding = Text(harmless(check.finding))
        if check.advice:
            finding.append(f"\n{harmless(check.advice)}", style="italic")
        drawn.add_row(Text(check.state, style=_STYLES[check.state]), check.name, finding)
    return drawn
