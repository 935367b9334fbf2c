"""The methods of `Cloister` that export and import (ORG-11, ORG-12)."""

import os
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from cloister.domain.archive.conversations import conversation_lines
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_project_id
from cloister.domain.timestamps import iso
from cloister.interfaces.formats.export_file import ExportFile
from cloister.interfaces.python.archives.files import STEP, BytesProgress, checked_archive, read_lines, write_archive
from cloister.interfaces.python.archives.shapes import Exported, Imported, ImportPreview
from cloister.interfaces.python.arguments import checked_user, project_of
from cloister.interfaces.python.backends.interface import Backend


class ArchiveMethods:
    """The part of `Cloister` that takes data out and in."""

    _backend: Backend

    def export(
        self,
        file: str | os.PathLike[str],
        *,
        project_id: str | None = None,
        user_id: str | None = None,
        progress: BytesProgress | None = None,
    ) -> Exported:
        """Export everything of the tenant, or of one project or one user, to a new file as an archive: JSON lines, without keys.

        It is read from one snapshot of the database. `progress` is called with the number of bytes so far, and None.
        """
        target = ArchiveTarget(project=project_of(project_id), user=checked_user(user_id))
        return Exported(counts=write_archive(Path(file), self._backend.export(target), progress))

    def import_archive(self, file: str | os.PathLike[str], *, progress: BytesProgress | None = None) -> Imported:
        """Import an archive. It is checked as a whole first: a damaged one is an `InvalidRequest`, and nothing is imported.

        What is there already stays as it is, so that importing twice changes nothing, and an import that was interrupted is
        completed by another. `progress` is called with how many bytes are done, and how many there are.
        """
        source = Path(file)
        checked_archive(source)
        return self._backend.import_archive(read_lines(source, progress))

    def preview_import(self, file: str | os.PathLike[str], *, format: str | None = None) -> ImportPreview:
        """Read a file as an import would, and say how much is in it. Nothing is stored."""
        source = ExportFile(Path(file), format)
        if source.format == "cloister":
            counts = checked_archive(Path(file)).counts
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

    def import_conversations(
        self,
        file: str | os.PathLike[str],
        project_id: str | None,
        *,
        format: str | None = None,
        user_id: str | None = None,
        progress: BytesProgress | None = None,
    ) -> Imported:
        """Import conversations of another assistant into a project; None is no project.

        `format` is `chatgpt`, `claude`, `mem0` or `log`; without it, it is found out. A conversation becomes a session of the user
        `user_id`; memories of mem0 that name another user are refused. Importing a newer export adds the new messages only. A
        conversation that differs from the one that is stored under its id, or is of another project or user, is stored under an
        id of its own. What cannot be read is skipped, and counted with the reason.
        """
        source = ExportFile(Path(file), format)
        if source.format == "cloister":
            raise InvalidRequest("file", "is an archive of a Cloister: import it as a whole (import_archive).")
        user = checked_user(user_id)
        _refuse_other_users(source, user)
        lines = conversation_lines(
            source.records(),
            project=None if project_id is None else parse_project_id(project_id),
            user=user,
            created_by=f"cloister {version('cloister')}",
        )
        imported = self._backend.import_archive(lines if progress is None else _watched(lines, progress))
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
            f"{f' and {len(others) - 1:,} other users' if others[1:] else ''}, whose they stay: leave it out, and each "
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
    names: set[str] = set()
    messages = memories = 0
    times: list[int] = []
    for found in source.conversations():
        names.add(found.record.external_id)
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
