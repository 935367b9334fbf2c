"""Projects by name: ids for names that people type, and names for ids that are printed."""

from cloister.domain.identifiers import NO_PROJECT
from cloister.interfaces.python.arguments import LARGEST_PAGE, NOT_GIVEN
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.shapes import Session

NO_PROJECT_NAME = "no project"


def project_id_of(memory: Cloister, given: str) -> str:
    """The id of a project that is given by its id or its name. What looks like an id is one."""
    return given if given.startswith("proj_") else memory.find_project(given).project_id


def chosen_project(memory: Cloister, given: str | None) -> str | None:
    """The option --project as the library takes it: left out, it is the project of the key, else the tenant's default one."""
    if given is None:
        return NOT_GIVEN
    return given if given == NO_PROJECT else project_id_of(memory, given)


class ProjectNames:
    """The names of a tenant's projects, read once. A project beyond the first page is printed by its id."""

    def __init__(self, memory: Cloister) -> None:
        self._projects = {project.project_id: project for project in memory.projects(limit=LARGEST_PAGE)}

    def name(self, project_id: str | None) -> str:
        if project_id is None:
            return NO_PROJECT_NAME
        return self._projects[project_id].name if project_id in self._projects else project_id

    def phrase(self, session: Session) -> str:
        """The session's pool as part of a sentence. No project, and projects with private members, are divided by user."""
        project = None if session.project_id is None else self._projects.get(session.project_id)
        named = NO_PROJECT_NAME if session.project_id is None else f"the project {self.name(session.project_id)!r}"
        is_divided = session.project_id is None or (project is not None and project.member_visibility == "private")
        return f"{named}, in the part of {session.user_id!r}" if is_divided and session.user_id is not None else named
