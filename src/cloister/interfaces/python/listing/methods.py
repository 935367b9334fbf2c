"""The methods of `Cloister` for looking through what is remembered: memories, timeline and activity of a project or a user."""

from collections.abc import Mapping
from typing import Literal

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_project_id
from cloister.domain.memory import MemoryStatus
from cloister.domain.text import checked_name
from cloister.interfaces.python.arguments import (
    NOT_GIVEN,
    checked_flag,
    checked_user,
    given_filter,
    page_request,
    page_size,
    project_choice,
)
from cloister.interfaces.python.backends.interface import Backend, MemoryListQuery
from cloister.interfaces.python.derived_shapes import Memory
from cloister.interfaces.python.listing.shapes import Activity, TimelineEntry
from cloister.interfaces.python.pages import Page, PageRequest
from cloister.services.listing.activity import DEFAULT_DAYS, checked_days
from cloister.services.listing.project_memories import PartOfProject, checked_part
from cloister.services.memories.memories import checked_status


class ListingMethods:
    """The part of `Cloister` for people who look through memories."""

    _backend: Backend

    def project_memories(
        self,
        project_id: str | None = NOT_GIVEN,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        status: MemoryStatus | None = None,
        pinned: bool | None = None,
        query: str | None = None,
        filter: Mapping[str, object] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """List the memories of a project, newest first: without `project_id` of the key's project, else of the default project,
        with None of no project.

        Where memory is divided by user, `user_id` says whose; without it, of sessions without a user, and with `users="all"` of
        everybody, for admins. `query` keeps those that contain all of its words; `status`, `pinned` and a `filter`, as in
        `memories`, narrow the list further.
        """
        wanted = MemoryListQuery(
            user_id=checked_user(user_id),
            everybody=_everybody(users),
            status=checked_status(status),
            pinned=None if pinned is None else checked_flag(pinned, "pinned"),
            words=None if query is None else checked_name(query, "query"),
        )
        checked_part(PartOfProject(project=None, user_id=wanted.user_id, everybody=wanted.everybody))
        page: PageRequest[int] = PageRequest(limit=page_size(limit), cursor=cursor, filter=given_filter(filter))
        return self._backend.project_memories(project_choice(project_id), wanted, page)

    def project_timeline(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TimelineEntry]:
        """List what was learnt and what changed in a project, newest first. `user_id` and `users` are as in `project_memories`."""
        part = PartOfProject(
            project=parse_project_id(project_id), user_id=checked_user(user_id), everybody=_everybody(users)
        )
        return self._backend.project_timeline(checked_part(part), page_request(limit, cursor))

    def user_timeline(self, user_id: str, *, limit: int = 50, cursor: str | None = None) -> Page[TimelineEntry]:
        """List what was learnt of a user and what changed, in all projects, newest first: for display and audit."""
        return self._backend.user_timeline(checked_name(user_id, "user_id"), page_request(limit, cursor))

    def project_activity(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        days: int = DEFAULT_DAYS,
    ) -> Activity:
        """Count the messages and memories of a project that were stored on each of the last `days` days (at most 90), in UTC.
        `user_id` and `users` are as in `project_memories`."""
        part = PartOfProject(
            project=parse_project_id(project_id), user_id=checked_user(user_id), everybody=_everybody(users)
        )
        return self._backend.project_activity(checked_part(part), checked_days(days))

    def user_activity(self, user_id: str, *, days: int = DEFAULT_DAYS) -> Activity:
        """Count the messages and memories of a user that were stored on each of the last `days` days, in all projects."""
        return self._backend.user_activity(checked_name(user_id, "user_id"), checked_days(days))


def _everybody(users: str | None) -> bool:
    if users not in (None, "all"):
        raise InvalidRequest("users", "must be all, or left out.")
    return users == "all"
