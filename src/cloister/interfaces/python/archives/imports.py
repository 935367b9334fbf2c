"""Reads files of archives and of other assistants' exports, to preview or to import them (ORG-11, ORG-12)."""

from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

from cloister.domain.archive.conversations import conversation_lines
from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.identifiers import ProjectId
from cloister.domain.timestamps import iso
from cloister.interfaces.formats.export_file import ExportFile
from cloister.interfaces.python.archives.files import STEP, checked_archive
from cloister.interfaces.python.archives.shapes import BytesProgress, Imported, ImportPreview

MOST_CONVERSATIONS = 1_000_000
"""A preview remembers each conversation, because one may come in several parts."""


def preview_file(file: Path, format: str | None) -> ImportPreview:
    """How much an import of the file would store."""
    source = ExportFile(file, format)
    if source.format == "cloister":
        counts = checked_archive(file).counts
        return ImportPreview(
            format=source.format,
            conversations=counts.get("session", 0) + counts.get("conversation", 0),
            messages=counts.get("message", 0) + counts.get("spoken", 0),
            memories=counts.get("memory", 0) + counts.get("fact", 0),
            first_at=None,
            last_at=None,
            skipped={},
            remarks={},
        )
    return _preview(source)


def import_file(
    import_lines: Callable[[Iterator[bytes]], Imported],
    file: Path,
    project: ProjectId | None,
    format: str | None,
    user: str | None,
    progress: BytesProgress | None,
) -> Imported:
    """Import the conversations of the file into a project, or into none. `import_lines` imports the lines that are made of it."""
    source = ExportFile(file, format)
    if source.format == "cloister":
        raise InvalidRequest("file", "is an archive of a Cloister: import it as a whole (import_archive).")
    _refuse_other_users(source, user)
    lines = conversation_lines(
        source.records(),
        project=project,
        user=user,
        created_by=f"cloister {version('cloister')}",
    )
    imported = import_lines(lines if progress is None else _watched(lines, progress))
    source.refuse_empty()
    return Imported(
        added=imported.added,
        unchanged=imported.unchanged,
        skipped=dict(Counter(imported.skipped) + source.skipped),
        remarks=dict(Counter(imported.remarks) + source.remarks),
    )


def _refuse_other_users(source: ExportFile, user: str | None) -> None:
    """Raise if memories of the file are of another user than the one that is named: nobody's become another user's."""
    if user is None or source.format != "mem0":
        return
    others = sorted(name for name in source.users() if name not in (None, user))
    if others:
        raise InvalidRequest(
            "user_id",
            f"is {user!r}, and the file has memories of {others[0]!r}"
            f"{' and of other users' if others[1:] else ''}, whose they stay: leave it out, and each "
            "memory goes to the user that it names. Only memories that name no user get this one.",
        )


def _watched(lines: Iterator[bytes], progress: BytesProgress) -> Iterator[bytes]:
    """The lines, with a call for every megabyte of them; how many there will be is not known."""
    done = 0
    for line in lines:
        yield line
        if (done + len(line)) // STEP > done // STEP:
            progress(done + len(line), None)
        done += len(line)


def _preview(source: ExportFile) -> ImportPreview:
    names: set[int] = set()
    messages = memories = 0
    times: list[int] = []
    for found in source.conversations():
        names.add(hash(found.record.external_id))
        if len(names) > MOST_CONVERSATIONS:
            raise TooLarge("file", len(names), MOST_CONVERSATIONS, "conversations in a preview")
        messages += len(found.spoken)
        memories += len(found.facts)
        moments = [each.created_at for each in (*found.spoken, *found.facts)]
        times = [min(times + moments), max(times + moments)]
    source.refuse_empty()
    return ImportPreview(
        format=source.format,
        conversations=len(names),
        messages=messages,
        memories=memories,
        first_at=iso(times[0]) if times else None,
        last_at=iso(times[1]) if times else None,
        skipped=dict(source.skipped),
        remarks=dict(source.remarks),
    )
