"""`cloister retention`, `reindex` and `migrate`: maintenance of the database and the index."""

from dataclasses import asdict
from typing import Annotated

import typer

from cloister.domain.errors import InvalidRequest
from cloister.interfaces.cli.options import Data, DryRun, Json, Key, KeyProject, Yes, with_library
from cloister.interfaces.cli.organisation.project_names import project_id_of
from cloister.interfaces.cli.terminal import answer, confirm, counted, progress_bar
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json
from cloister.interfaces.python.tenant_shapes import Retention
from cloister.services.indexing.reindex import IndexCounts


def index_counts(counts: IndexCounts) -> str:
    """The counts as part of a sentence; kinds with none are left out, or it is "0 messages"."""
    derived = (counts.memories, "memory", "memories"), (counts.entities, "entity", "entities")
    shown = [counted(number, one, many) for number, one, many in derived if number]
    return ", ".join([counted(counts.messages, "message"), *shown] if counts.messages or not shown else shown)


@with_library
def retention(
    memory: Cloister,
    json: bool,
    project: KeyProject = None,
    days: Annotated[
        int | None,
        typer.Option("--days", metavar="N", help="Set after how many days what was said is forgotten; 0: never."),
    ] = None,
    receipt_days: Annotated[
        int | None,
        typer.Option(
            "--receipt-days", metavar="N", help="Set after how many days receipts are deleted; 0: as without it."
        ),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Forget what is older than a project or the tenant keeps.

    With --days the number of days is set, of one project or of the tenant with all its projects; a worker forgets what is older.
    Without it, what is older is forgotten now. With --dry-run it is counted. --receipt-days sets how long receipts are stored, and
    forgets nothing else.
    """
    project_id = None if project is None else project_id_of(memory, project)
    if receipt_days is not None:
        if days is not None or dry_run:
            raise InvalidRequest("--receipt-days", "is set alone: leave out --days and --dry-run.")
        _set_receipt_days(memory, json, project, project_id, receipt_days or None)
        return
    preview = memory.apply_retention(project_id, dry_run=True, retention_days=days)
    if dry_run:
        answer(as_json(preview), json, f"Too old: {_old_counts(preview)}. Nothing was changed.")
        return
    is_nothing = not (preview.messages or preview.memories or preview.files or preview.receipts)
    confirm(f"Forget {_old_counts(preview)} for good?", yes or is_nothing)
    if days is None:
        done = memory.apply_retention(project_id)
        more = "" if done.complete else " There is more: run it again."
        answer(as_json(done), json, f"Forgot {_old_counts(done)}.{more}")
        return
    whose = "The tenant" if project is None else f"The project {project!r}"
    what = f"forgets what is older than {counted(days, 'day')}" if days else "keeps what was said"
    if project_id is None:
        answer(as_json(memory.update_tenant_settings(retention_days=days)), json, f"{whose} {what}.")
    else:
        changed = memory.update_project(project_id, settings={"retention_days": days})
        answer(as_json(changed), json, f"{whose} {what}, unless the tenant is stricter.")


def _set_receipt_days(
    memory: Cloister, json: bool, project: str | None, project_id: str | None, days: int | None
) -> None:
    what = f"deletes receipts after {counted(days, 'day')}" if days else "keeps receipts as without this setting"
    if project_id is None:
        answer(as_json(memory.update_tenant_settings(receipt_days=days)), json, f"The tenant {what}.")
        return
    changed = memory.update_project(project_id, settings={"receipt_days": days})
    answer(as_json(changed), json, f"The project {project!r} {what}, unless the tenant is stricter.")


def _old_counts(found: Retention) -> str:
    numbers = (
        (found.memories, "memory", "memories"),
        (found.observations, "note", "notes"),
        (found.files, "file", "files"),
        (found.entities, "entity", "entities"),
        (found.receipts, "receipt", "receipts"),
    )
    parts = [counted(found.messages, "message"), *(counted(*each) for each in numbers if each[0])]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def reindex(
    everything: Annotated[
        bool,
        typer.Option("--everything", help="Rebuild everything, not only what another embedder or tokeniser indexed."),
    ] = False,
    data: Data = None,
    key: Key = None,
    json: Json = False,
) -> None:
    """Rebuild the recall index. Searches still work meanwhile; it can be stopped and started again."""
    with Cloister(data, key=key) as memory, progress_bar("reindexing") as bar:
        task = bar.add_task("", total=None)
        rebuilt = memory.reindex(
            everything=everything, progress=lambda done, total: bar.update(task, completed=done, total=total)
        )
    sentence = f"Rebuilt the index of {index_counts(rebuilt)}." if rebuilt.total else "The index was up to date."
    if rebuilt.vectors:
        sentence += f" Embedded {counted(rebuilt.vectors, 'message')}."
    answer({"reindexed": rebuilt.total, **asdict(rebuilt)}, json, sentence)


def migrate(data: Data = None, key: Key = None, json: Json = False) -> None:
    """Migrate the database's schema to this version. Every other command does so too; this one does nothing else."""
    with Cloister(data, key=key) as memory:
        version = memory.schema_version()
    answer({"schema_version": version}, json, f"The schema is up to date, at version {version}.")
