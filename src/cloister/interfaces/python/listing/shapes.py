"""The shapes of timelines, what was learnt and what changed, and of activity, how much was stored on each day."""

from dataclasses import dataclass

from cloister.domain.identifiers import format_memory_id
from cloister.domain.timestamps import iso
from cloister.interfaces.python.derived_shapes import Memory, memory_shape
from cloister.services.listing.activity import Activity as CountedActivity
from cloister.services.listing.timeline import TimelineEntry as ServedEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class TimelineEntry:
    """Something that happened to a memory. `kind` is `learnt`; `superseded`, if it took the place of the memory `replaced_id`, from
    `before` to `after`; `corrected`, if a person changed its text from `before` to `after`; `changed`, if a person changed
    something else of it; `retracted` or `restored`. `memory` is the memory as it is now. `changed_by` is the id of an API key,
    `extraction` or `import`. A change that was undone has an `undone_at`."""

    kind: str
    at: str
    memory: Memory
    before: str | None
    after: str | None
    replaced_id: str | None
    changed_by: str | None
    undone_at: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ActivityDay:
    """How many messages and memories were stored on one day of UTC, and are still there."""

    date: str
    messages: int
    memories: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Activity:
    """The last days, the oldest first, also those on which nothing was stored. `complete` is false if something was done in more
    than 1,000 sessions: then only those in which something was done last are counted."""

    days: list[ActivityDay]
    complete: bool


def activity_shape(activity: CountedActivity) -> Activity:
    days = [
        ActivityDay(date=iso(day.start)[: len("2026-03-01")], messages=day.messages, memories=day.memories)
        for day in activity.days
    ]
    return Activity(days=days, complete=activity.complete)


def timeline_shape(entry: ServedEntry) -> TimelineEntry:
    return TimelineEntry(
        kind=entry.kind,
        at=iso(entry.row.happened_at),
        memory=memory_shape(entry.memory),
        before=entry.before,
        after=entry.after,
        replaced_id=None if entry.replaced is None else format_memory_id(entry.replaced.id),
        changed_by=entry.changed_by,
        undone_at=None if entry.undone_at is None else iso(entry.undone_at),
    )
