"""What an archive is of."""

from dataclasses import dataclass

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import ProjectId
from cloister.domain.text import checked_name


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchiveTarget:
    """What to archive within the caller's reach: everything, what is in one project, or what is of one user."""

    project: ProjectId | None = None
    user: str | None = None

    def __post_init__(self) -> None:
        if self.project is not None and self.user is not None:
            raise InvalidRequest("user_id", "cannot be given together with a project: export one of them.")
        if self.user is not None:
            checked_name(self.user, "user_id")
