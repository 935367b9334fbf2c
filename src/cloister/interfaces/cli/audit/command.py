"""`cloister audit`: checks the isolation of an installation from outside, and prints who saw what."""

import typer
from rich.table import Table

from cloister.interfaces.audit.report import Audit, AuditCell
from cloister.interfaces.cli.options import with_library
from cloister.interfaces.cli.terminal import answer, complain, counted, progress_bar, table
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json


@with_library
def audit(memory: Cloister, json: bool) -> None:
    """Check that nothing is shown where it must not be, and exit with code 1 if anything is, if a read did not work, or if anything
    that was made could not be removed.

    Makes throw-away tenants, projects, users, sessions and keys with markers, asks for the markers through every interface, and
    removes everything again. At a server it needs an admin key, and stays within the key's tenant.
    """
    with progress_bar("asking", shown=not json) as bar:
        task = bar.add_task("", total=None)
        try:
            found = memory.audit(progress=lambda done, of: bar.update(task, completed=done, total=of))
        except KeyboardInterrupt as stopped:
            complain("interrupted", "The audit was interrupted.", getattr(stopped, "__notes__", ()), json)
            raise
    answer(as_json(found), json, _matrix(found), "", *_legend(found), *_sentences(found))
    if not found.passed:
        raise typer.Exit(1)


def _matrix(found: Audit) -> Table:
    """A row for each reader and a numbered column for each target; a cell is in how many answers the reader saw the target."""
    targets = _targets(found)
    readers = list(dict.fromkeys(cell.reader for cell in found.matrix))
    cells = {(cell.reader, cell.target): cell for cell in found.matrix}
    numbers = [str(number) for number in range(1, len(targets) + 1)]
    rows = [[reader, *(_shown(cells[reader, target]) for target in targets)] for reader in readers]
    return table(["reader", *numbers], rows, numbers=numbers)


def _shown(cell: AuditCell) -> str:
    if cell.crossings:
        return f"{cell.seen} !"
    return str(cell.seen) if cell.allowed else "-"


def _legend(found: Audit) -> list[str]:
    named = "; ".join(f"{number}: {target}" for number, target in enumerate(_targets(found), 1))
    return [f"Targets: {named}.", "A number: in so many answers; -: must not be seen, and was not; !: a crossing.", ""]


def _targets(found: Audit) -> list[str]:
    return list(dict.fromkeys(cell.target for cell in found.matrix))


def _sentences(found: Audit) -> list[str]:
    doors = ", ".join(f"{door.door} {door.reads:,}" for door in found.doors)
    faults = [f"{counted(found.crossings, 'crossing')}"]
    if found.blind:
        faults.append(f"{counted(found.blind, 'read')} that did not work")
    if found.left:
        faults.append(f"{counted(len(found.left), 'thing')} left behind")
    lines = [f"{counted(found.reads, 'read')}: {doors}.", f"{', '.join(faults)}."]
    lines += [
        f"CROSSING: {crossing.reader} saw {crossing.target}, through {crossing.door}: {crossing.read}."
        for crossing in found.found
    ]
    lines += [f"DID NOT WORK, so that it proves nothing: {read}." for read in found.not_seen]
    if found.tenants == 1:
        lines.append("Tenant to tenant was not asked: that needs the data itself, or the operator's key.")
    lines += [f"Not asked: {skipped.door}. {skipped.reason}" for skipped in found.not_asked]
    return lines + [f"COULD NOT BE REMOVED: {what}" for what in found.left]
