"""Places in words: the project a session is in, by name, or the shared pool."""

from cloister.interfaces.arguments import LARGEST_PAGE
from cloister.interfaces.library import Cloister
from cloister.interfaces.shapes import Session

SHARED_POOL = "shared pool"


class Places:
    """The names of a tenant's projects, read once; a project beyond the first page is called by its id."""

    def __init__(self, memory: Cloister) -> None:
        self._names = {project.project_id: project.name for project in memory.projects(limit=LARGEST_PAGE)}

    def name(self, project_id: str | None) -> str:
        return SHARED_POOL if project_id is None else self._names.get(project_id, project_id)

    def phrase(self, session: Session) -> str:
        """As a sentence says it: the shared pool is divided by user."""
        if session.project_id is not None:
            return f"the project {self.name(session.project_id)!r}"
        return "the shared pool" if session.user_id is None else f"{session.user_id!r}'s part of the shared pool"
