"""What an archive says of its own projects, which decides how much of it may be shown here."""

from cloister.domain.archive.records import ProjectRecord
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import MemberVisibility


class ArchivedProjects:
    """The visibility that each project had when the archive was made."""

    def __init__(self) -> None:
        self._visibilities: dict[ProjectId, MemberVisibility] = {}

    def note(self, record: ProjectRecord) -> None:
        self._visibilities[record.id] = record.member_visibility

    def is_divided(self, project: ProjectId, visibility: MemberVisibility) -> bool:
        """Whether what all users shared there has to be divided by user here (ISO-10): the project is private now, and was not. A
        project that the archive does not have counts as shared."""
        return visibility == "private" and self._visibilities.get(project) != "private"
