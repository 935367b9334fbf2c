"""Usage over time: how many messages and memories of a project or a user were stored on each of the last days."""

from dataclasses import dataclass

from cloister.domain.errors import InvalidRequest
from cloister.domain.scope import Reach
from cloister.domain.text import checked_name
from cloister.domain.timestamps import Clock
from cloister.services.listing.project_memories import PartOfProject, checked_part, part_of
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.listing.activity import ActivityStore
from cloister.storage.stores.listing.listed_memories import MemoryPart

DEFAULT_DAYS = 30
MOST_DAYS = 90
MICROSECONDS_OF_A_DAY = 86_400_000_000
# So many sessions are counted, those that something was done in last.
_MOST_SESSIONS = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class DayOfActivity:
    """What was stored on one day of UTC, which begins at the moment `start`."""

    start: int
    messages: int
    memories: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Activity:
    """The last days, the oldest first, also those without anything. Not `complete` if there are more sessions than are counted."""

    days: tuple[DayOfActivity, ...]
    complete: bool


def checked_days(days: int) -> int:
    if not 1 <= days <= MOST_DAYS:
        raise InvalidRequest("days", f"must be a number from 1 to {MOST_DAYS}.")
    return days


class Activities:
    """Each call reads one snapshot, and only what is within the caller's reach."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def of_project(self, reach: Reach, part: PartOfProject, *, days: int) -> Activity:
        """What was stored in a part of a project."""
        checked_part(part)
        with self._database.read(reach) as transaction:
            return self._count(transaction, part_of(transaction, part), checked_days(days))

    def of_user(self, reach: Reach, user: str, *, days: int) -> Activity:
        """What was stored in the sessions of a user, in all projects within reach."""
        checked_name(user, "user_id")
        part = MemoryPart(kind="user", user=reach.user_of(user))
        with self._database.read(reach) as transaction:
            return self._count(transaction, part, checked_days(days))

    def _count(self, transaction: Transaction, part: MemoryPart, days: int) -> Activity:
        today = self._clock() // MICROSECONDS_OF_A_DAY
        first = today - days + 1
        since, until = first * MICROSECONDS_OF_A_DAY, (today + 1) * MICROSECONDS_OF_A_DAY
        store = ActivityStore(transaction, part)
        found = store.sessions(since=since, limit=_MOST_SESSIONS + 1)
        sessions = found[:_MOST_SESSIONS]
        messages = store.messages(sessions, since=since, until=until)
        memories = store.memories(sessions, since=since, until=until)
        counted = tuple(
            DayOfActivity(
                start=day * MICROSECONDS_OF_A_DAY, messages=messages.get(day, 0), memories=memories.get(day, 0)
            )
            for day in range(first, today + 1)
        )
        return Activity(days=counted, complete=len(found) <= _MOST_SESSIONS)
