"""Which part of a project a request of mem0's clients means. The key and the headers name the project; a payload can choose among
the users that the key reaches, and nothing more.

Memory is divided by user here, so a filter reads the part of each user that it names, the part of the user of each run that it
names, or, if it names an agent or an app only, the part of sessions without a user.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from cloister.bootstrap import Services
from cloister.domain.errors import InvalidRequest, NotFound, TooLarge
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.interfaces.http.dispatch.callers import CallerInfo
from cloister.interfaces.http.mem0.filters import ANY, Condition, Filter, Group, conditions

MOST_USERS = 100
"""The most users whose memories one request reads."""
_MISSING = "must name at least one of user_id, agent_id, app_id and run_id."

Users = frozenset[str | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """The memories of one pool that a request may read: of one user, or of sessions without one."""

    reach: Reach
    user: str | None
    is_shared: bool
    """Whether the pool has memories of other users too, because the project is shared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectScope:
    """The project of a request, and what its key reaches there."""

    caller: CallerInfo
    project: ProjectId

    @property
    def services(self) -> Services:
        return self.caller.services

    @property
    def reach(self) -> Reach:
        """The reach of the key, confined to the project: an id of another project is not found."""
        return replace(self.caller.reach, confined_to=self.project)

    def reach_of(self, user: str | None) -> Reach:
        """The reach of one user, or without a user of the key; `Forbidden` if the key is bound to another user."""
        if user is not None:
            checked_name(user, "user_id")
        return replace(self.reach, user=self.reach.user_of(user))

    def parts(self, wanted: Filter, field: str = "filters") -> list[Part]:
        """The parts that a filter can find memories in."""
        users = _Users(self).named_by(wanted)
        if users is None:
            if not any(condition.field in ("agent_id", "app_id", "run_id") for condition in conditions(wanted)):
                raise InvalidRequest(field, _MISSING)
            users = frozenset({None})
        if len(users) > MOST_USERS:
            raise TooLarge(field, len(users), MOST_USERS, "users")
        return [self.part(user) for user in sorted({self.reach_of(user).user for user in users}, key=_order)]

    def part(self, user: str | None) -> Part:
        reach = self.reach_of(user)
        project = self.services.projects.project(reach, self.project)
        return Part(reach=reach, user=reach.user, is_shared=project.member_visibility == "shared")

    def every_user(self) -> Users:
        """All users of the project, for a key of an admin; refused if there are too many, since some would be left out."""
        self.caller.key.require("admin")
        found = self.services.sessions.users(self.reach, self.project, limit=MOST_USERS + 1)
        if len(found) > MOST_USERS:
            raise TooLarge("user_id", len(found), MOST_USERS, "users; name them instead of *")
        return frozenset(summary.user_id for summary in found)


def scope_of(caller: CallerInfo) -> ProjectScope:
    return ProjectScope(caller=caller, project=caller.project(required=False))


class _Users:
    """Finds the users that a filter names."""

    def __init__(self, scope: ProjectScope) -> None:
        self._scope = scope

    def named_by(self, wanted: Filter) -> Users | None:
        """The users whose memories a filter can let pass; None if it does not say."""
        if isinstance(wanted, Condition):
            return self._of_condition(wanted)
        if wanted.kind == "NOT":
            return None
        named = [self.named_by(part) for part in wanted.parts]
        if wanted.kind == "OR":
            return None if all(users is None for users in named) else _union(named)
        known = [users for users in named if users is not None]
        return known[0].intersection(*known[1:]) if known else None

    def _of_condition(self, condition: Condition) -> Users | None:
        if condition.field == "user_id":
            match condition.operator:
                case "eq":
                    return frozenset({cast(str | None, condition.value)})
                case "in":
                    return frozenset(cast(Collection[str | None], condition.value))
                case "*":
                    return self._scope.every_user()
                case _:
                    return None
        if condition.field == "run_id" and condition.operator in ("eq", "in"):
            values = [condition.value] if condition.operator == "eq" else cast(Collection[str | None], condition.value)
            runs = [run for run in values if run is not None]
            if len(runs) > MOST_USERS:
                raise TooLarge("filters", len(runs), MOST_USERS, "runs")
            return frozenset[str | None]().union(*map(self._of_run, runs)) if runs else None
        return None

    def _of_run(self, run: str) -> Users:
        """The user of a run's session. A run that is missing and one that is out of reach name nobody."""
        try:
            return frozenset({self._scope.services.sessions.get(self._scope.reach, run).user_id})
        except NotFound:
            return frozenset()


def _union(named: list[Users | None]) -> Users:
    """A part of an `OR` that names no user means the sessions without one."""
    return frozenset[str | None]().union(*(frozenset({None}) if users is None else users for users in named))


def _order(user: str | None) -> tuple[bool, str]:
    return user is not None, user or ""


def entity_filter(given: Mapping[str, Any]) -> Filter:
    """The filter of a request that names entities by parameters: all of them must be those of the memory."""
    named = {name: value for name, value in given.items() if value is not None}
    return Group(
        "AND", tuple(Condition(name, None, ANY if value == ANY else "eq", value) for name, value in named.items())
    )
