"""`cloister export` and `import`: archives, and what other assistants export."""

from pathlib import Path
from typing import Annotated

import typer

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import NO_PROJECT
from cloister.interfaces.cli.archives.progress import ByteProgress
from cloister.interfaces.cli.options import KeyProject, User, with_library
from cloister.interfaces.cli.organisation.project_names import project_id_of
from cloister.interfaces.cli.terminal import answer, counted, minute
from cloister.interfaces.formats.names import FORMATS
from cloister.interfaces.python.archives.shapes import ImportCounts, Imported, ImportPreview
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import as_json

_NOUNS = {
    "projects": ("project",),
    "sessions": ("session",),
    "messages": ("message",),
    "memories": ("memory", "memories"),
    "observations": ("note",),
    "entities": ("entity", "entities"),
    "files": ("file",),
    "entries": ("entry", "entries"),
}
_KINDS = {
    "project": "projects",
    "session": "sessions",
    "message": "messages",
    "memory": "memories",
    "observation": "observations",
    "entity": "entities",
    "file": "files",
    "entry": "entries",
}


@with_library
def export_archive(
    memory: Cloister,
    json: bool,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file; an existing one is never overwritten.")],
    project: KeyProject = None,
    user: User = None,
) -> None:
    """Export everything, or one project or user, as an archive.

    The archive has one JSON object on each line, and no keys. `cloister import` reads it again, on any database.
    """
    project_id = None if project is None else project_id_of(memory, project)
    with ByteProgress("exporting") as progress:
        exported = memory.export(file, project_id=project_id, user_id=user, progress=progress.show)
    numbers = {_KINDS[kind]: number for kind, number in exported.counts.items() if kind in _KINDS}
    answer({"file": str(file), "counts": exported.counts}, json, f"Wrote {file}: {listed_counts(numbers)}.")


@with_library
def import_archive(
    memory: Cloister,
    json: bool,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="An archive, or an export of another assistant (its zip file or folder too)."
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="|".join(FORMATS), help="The format of the file, if it is not recognised."),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="PROJECT",
            help="Where conversations of other assistants go: a project, by its id (proj_…) or name, or `none`.",
        ),
    ] = None,
    user: User = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show how much is in the file, and import nothing.", show_default=False)
    ] = False,
) -> None:
    """Import an archive, or conversations of another assistant.

    What is there already stays as it is: importing twice changes nothing, and an import that was interrupted is completed by
    another. Conversations of ChatGPT, Claude or mem0, and plain chat logs, go into the project that --project names, as sessions of
    --user; of a newer export only the new messages are imported.
    """
    if preview:
        found = memory.preview_import(file, format=format)
        answer(as_json(found), json, _previewed(found))
        return
    from cloister.interfaces.formats.export_file import ExportFile

    is_archive = ExportFile(file, format).format == "cloister"
    if is_archive and (project is not None or user is not None):
        raise InvalidRequest(
            "project_id", "is not for an archive, which says itself where everything goes: leave it out."
        )
    if not is_archive and project is None:
        raise InvalidRequest("project_id", "must say where the conversations go: a project, or `none`.")
    with ByteProgress("importing") as progress:
        if is_archive:
            imported = memory.import_archive(file, progress=progress.show)
        else:
            named = None if project in (None, NO_PROJECT) else project_id_of(memory, project)
            imported = memory.import_conversations(file, named, format=format, user_id=user, progress=progress.show)
    answer(as_json(imported), json, *_sentences(imported))


def _sentences(imported: Imported) -> list[str]:
    said = [f"Imported {_counts(imported.added)}."]
    if any(as_json(imported.unchanged).values()):
        said.append(f"There already: {_counts(imported.unchanged)}.")
    if imported.skipped:
        said.append(_skipped(imported.skipped))
    if imported.remarks:
        said.append(_remarks(imported.remarks))
    return said


def _previewed(found: ImportPreview) -> str:
    parts = [counted(found.conversations, "conversation"), counted(found.messages, "message")]
    if found.memories:
        parts.append(counted(found.memories, "memory", "memories"))
    period = "" if not (found.first_at and found.last_at) else f", {minute(found.first_at)} to {minute(found.last_at)}"
    skipped = f" {_skipped(found.skipped)}" if found.skipped else ""
    remarks = f" {_remarks(found.remarks)}" if found.remarks else ""
    return f"A file of the format {found.format}: {', '.join(parts)}{period}.{skipped}{remarks} Nothing was imported."


def _skipped(reasons: dict[str, int]) -> str:
    listed = "; ".join(f"{number:,} because {reason}" for reason, number in sorted(reasons.items()))
    return f"Skipped {listed}."


def _remarks(remarks: dict[str, int]) -> str:
    return f"Note: {'; '.join(f'{remark}: {number:,}' for remark, number in sorted(remarks.items()))}."


def _counts(counts: ImportCounts) -> str:
    return listed_counts(as_json(counts))


def listed_counts(numbers: dict[str, int]) -> str:
    """How many of each kind, in words; kinds of which there are none are left out."""
    parts = [counted(numbers[kind], *nouns) for kind, nouns in _NOUNS.items() if numbers.get(kind)]
    return ", ".join(parts) or "nothing"
