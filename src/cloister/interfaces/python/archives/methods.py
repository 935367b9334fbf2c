"""The methods of `Cloister` that export and import (ORG-11, ORG-12). The readers of files are imported at the first call: most
programs import and export nothing."""

import os
from pathlib import Path

from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.identifiers import parse_project_id
from cloister.interfaces.python.archives.shapes import BytesProgress, Exported, Imported, ImportPreview
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
        from cloister.interfaces.python.archives.files import write_archive

        target = ArchiveTarget(project=project_of(project_id), user=checked_user(user_id))
        return Exported(counts=write_archive(Path(file), self._backend.export(target), progress))

    def import_archive(self, file: str | os.PathLike[str], *, progress: BytesProgress | None = None) -> Imported:
        """Import an archive. It is checked as a whole first: a damaged one is an `InvalidRequest`, and nothing is imported.

        What is there already stays as it is, so that importing twice changes nothing, and an import that was interrupted is
        completed by another. `progress` is called with how many bytes are done, and how many there are.
        """
        from cloister.interfaces.python.archives.files import checked_archive, read_lines

        source = Path(file)
        checked_archive(source)
        return self._backend.import_archive(read_lines(source, progress))

    def preview_import(self, file: str | os.PathLike[str], *, format: str | None = None) -> ImportPreview:
        """Read a file, or the folder of an unpacked export, as an import would, and say how much is in it. Nothing is stored."""
        from cloister.interfaces.python.archives.imports import preview_file

        return preview_file(Path(file), format)

    def import_conversations(
        self,
        file: str | os.PathLike[str],
        project_id: str | None,
        *,
        format: str | None = None,
        user_id: str | None = None,
        progress: BytesProgress | None = None,
    ) -> Imported:
        """Import conversations of another assistant into a project; None is no project. `file` is a file of an export, its zip
        file, or the folder to which it was unpacked; links in a folder are not followed.

        `format` is `chatgpt`, `claude`, `mem0` or `log`; without it, it is found out. A conversation becomes a session of the user
        `user_id`; memories of mem0 that name another user are refused. Importing a newer export adds the new messages only. A
        conversation that differs from the one that is stored under its id, or is of another project or user, is stored under an
        id of its own. What cannot be read is skipped, and counted with the reason.
        """
        from cloister.interfaces.python.archives.imports import import_file

        project = None if project_id is None else parse_project_id(project_id)
        return import_file(self._backend.import_archive, Path(file), project, format, checked_user(user_id), progress)
