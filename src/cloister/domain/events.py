"""Events: changes of sessions by id, never with message content, and who may see them."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from cloister.domain.conversation import Message, Session, Status
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.scope import Reach

Kind = Literal[
    "session.created",
    "session.changed",
    "session.deleted",
    "message.added",
    "turn.started",
    "turn.finished",
    "reset",
]


class Event(NamedTuple):
    """A change of one session. `project` is its project now, or its last one; `origin` the project it left, if it `moved`. Added
    messages are given by the id of the first and their number. A `reset` says that events were lost: those of `project`, or, if it
    is `wide`, those of the whole tenant."""

    kind: Kind
    session: str
    project: ProjectId | None
    user: str | None
    at: int
    moved: bool = False
    origin: ProjectId | None = None
    first_message: MessageId | None = None
    messages: int = 0
    status: Status | None = None
    wide: bool = False

    @property
    def message_ids(self) -> list[MessageId]:
        """The ids of the added messages; messages of one transaction have consecutive ids."""
        if self.first_message is None:
            return []
        return [MessageId(self.first_message + step) for step in range(self.messages)]


def visible_to(event: Event, reach: Reach, user: str | None) -> Event | None:
    """The event as a subscriber with this reach, to one user's sessions or to all, may see it; None if it may not. A move out of
    the reach is seen as a deletion and a move into it as a creation; neither shows the other project."""
    is_reset = event.kind == "reset"
    if not is_reset and (user not in (None, event.user) or reach.user not in (None, event.user)):
        return None
    project = reach.confined_to
    if project is None or (is_reset and event.wide):
        return event
    is_here = event.project == project
    if not event.moved:
        return event if is_here else None
    if is_here:
        return event._replace(kind="session.created", moved=False, origin=None)
    if event.origin == project:
        return event._replace(kind="session.deleted", project=project, moved=False, origin=None)
    return None


def of_session(kind: Kind, session: Session, at: int) -> Event:
    return Event(kind, session.external_id, session.project, session.user_id, at)


def of_messages(session: Session, messages: Sequence[Message], at: int) -> Event:
    """The event for messages that were appended in one transaction."""
    event = of_session("message.added", session, at)
    return event._replace(first_message=messages[0].id, messages=len(messages))


def of_move(session: Session, project: ProjectId | None, at: int) -> Event:
    """The event for a session, given as it was before, that is now in this project."""
    event = of_session("session.changed", session, at)
    if project == session.project:
        return event
    return event._replace(project=project, moved=True, origin=session.project)


def reset(at: int, *, project: ProjectId | None = None, wide: bool = False) -> Event:
    return Event("reset", "", project, None, at, wide=wide)
