"""The parts of the backends for memories and timelines of projects and users: in this process, and over HTTP."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from cloister.bootstrap import Services
from cloister.domain.identifiers import NO_PROJECT, ProjectId, format_project_id
from cloister.domain.memory import StoredMemory
from cloister.domain.recall.filter_language import filter_identity
from cloister.domain.scope import Reach
from cloister.interfaces.python.arguments import UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.backends.interface import MemoryListQuery
from cloister.interfaces.python.backends.requests import project_path, user_path
from cloister.interfaces.python.derived_shapes import Memory, memory_shape
from cloister.interfaces.python.listing.shapes import Activity, TimelineEntry, activity_shape, timeline_shape
from cloister.interfaces.python.pages import ListCursors, Page, PageRequest
from cloister.services.listing.project_memories import MemoryQuery, PartOfProject

if TYPE_CHECKING:  # the HTTP client takes long to load, and an embedded Cloister does not need it
    from cloister.interfaces.python.connection import Connection

EVERYBODY = "all"


def memory_key(stored: StoredMemory) -> tuple[int, int]:
    return stored.memory.created_at, stored.memory.id


class EmbeddedListings:
    """Calls the services in this process."""

    services: Services
    reach: Reach
    _resolved: Callable[[ProjectChoice], ProjectId | None]

    def project_memories(self, project: ProjectChoice, wanted: MemoryListQuery, page: PageRequest[int]) -> Page[Memory]:
        part = PartOfProject(project=self._resolved(project), user_id=wanted.user_id, everybody=wanted.everybody)
        filter = None if page.filter is None else page.filter.parsed
        query = MemoryQuery(status=wanted.status, pinned=wanted.pinned, words=wanted.words, filter=filter)
        identity = (*part.identity, *query.identity, *filter_identity(filter))
        cursors = ListCursors("memories of a project", self.reach.tenant, *identity)
        rows = self.services.listings.memories.page(
            self.reach, part, query, limit=page.limit + 1, before=cursors.pair(page.cursor)
        )
        return cursors.page(rows, page.limit, shape=memory_shape, key=memory_key)

    def project_timeline(self, part: PartOfProject, page: PageRequest[int]) -> Page[TimelineEntry]:
        cursors = ListCursors("timeline of a project", self.reach.tenant, *part.identity)
        rows = self.services.listings.timelines.of_project(
            self.reach, part, limit=page.limit + 1, before=cursors.pair(page.cursor)
        )
        return cursors.page(rows, page.limit, shape=timeline_shape, key=lambda entry: entry.cursor)

    def user_timeline(self, user_id: str, page: PageRequest[int]) -> Page[TimelineEntry]:
        cursors = ListCursors("timeline of a user", self.reach.tenant, user_id)
        rows = self.services.listings.timelines.of_user(
            self.reach, user_id, limit=page.limit + 1, before=cursors.pair(page.cursor)
        )
        return cursors.page(rows, page.limit, shape=timeline_shape, key=lambda entry: entry.cursor)

    def project_activity(self, part: PartOfProject, days: int) -> Activity:
        return activity_shape(self.services.listings.activities.of_project(self.reach, part, days=days))

    def user_activity(self, user_id: str, days: int) -> Activity:
        return activity_shape(self.services.listings.activities.of_user(self.reach, user_id, days=days))


class RemoteListings:
    """Asks a server."""

    server: "Connection"

    def project_memories(self, project: ProjectChoice, wanted: MemoryListQuery, page: PageRequest[int]) -> Page[Memory]:
        """Where no project is named, it is the key's, else the tenant's default project."""
        named = None if project is UNSPECIFIED else NO_PROJECT if project is None else format_project_id(project)
        return self.server.get(
            "/v1/memories",
            project_id=named,
            user_id=wanted.user_id,
            users=EVERYBODY if wanted.everybody else None,
            status=wanted.status,
            pinned=None if wanted.pinned is None else str(wanted.pinned).lower(),
            query=wanted.words,
            filter=None if page.filter is None else json.dumps(page.filter.given),
            limit=page.limit,
            cursor=page.cursor,
        ).page(Memory)

    def project_timeline(self, part: PartOfProject, page: PageRequest[int]) -> Page[TimelineEntry]:
        assert part.project is not None
        return self.server.get(
            f"{project_path(part.project)}/timeline",
            user_id=part.user_id,
            users=EVERYBODY if part.everybody else None,
            limit=page.limit,
            cursor=page.cursor,
        ).page(TimelineEntry)

    def user_timeline(self, user_id: str, page: PageRequest[int]) -> Page[TimelineEntry]:
        path = f"{user_path(user_id)}/timeline"
        return self.server.get(path, limit=page.limit, cursor=page.cursor).page(TimelineEntry)

    def project_activity(self, part: PartOfProject, days: int) -> Activity:
        assert part.project is not None
        return self.server.get(
            f"{project_path(part.project)}/activity",
            user_id=part.user_id,
            users=EVERYBODY if part.everybody else None,
            days=days,
        ).one(Activity)

    def user_activity(self, user_id: str, days: int) -> Activity:
        return self.server.get(f"{user_path(user_id)}/activity", days=days).one(Activity)
