"""Sessions. A caller that is confined to a project, or bound to a user, finds only those sessions."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from cloister.domain.conversation import NO_CHOICES, Session, SessionChoices
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import SEQUENCE_BITS, MessageId, PoolId, ProjectId, SessionId, TenantId
from cloister.domain.text import is_storable
from cloister.storage.interface import CursorKey, Row, Transaction, integers
from cloister.storage.stores.usage import UsageStore

NEWEST_PAGE: CursorKey = ((1 << 63) - 1, (1 << 63) - 1)
"""Before which every session is, in a list with the newest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewSession:
    """A session to be added, already checked."""

    id: SessionId
    external_id: str
    project: ProjectId | None
    pool: PoolId
    user_id: str | None
    title: str | None
    tags: tuple[str, ...]
    metadata: str
    version: int
    created_at: int
    choices: SessionChoices = NO_CHOICES


@dataclass(frozen=True, kw_only=True, slots=True)
class Description:
    """The title, tags and metadata of a session, which a caller may change, already checked."""

    title: str | None
    tags: tuple[str, ...]
    metadata: str


class LockedSession(NamedTuple):
    """A session locked for writing, with the position of its next message and the counts of messages being appended."""

    session: Session
    next_sequence: int
    episode: MessageId | None
    unchecked: int = 0
    appended: int = 0
    completed: int = 0
    replied: bool = False
    leaf: MessageId | None = None

    @property
    def unread(self) -> int:
        """The number of completed messages without extraction, including those that are being appended."""
        return self.unchecked + self.completed

    @property
    def last_message(self) -> MessageId:
        """The id of the last message, or an id below all messages of the session."""
        return MessageId((self.session.id << SEQUENCE_BITS) + self.next_sequence - 1)

    def grown(
        self,
        messages: int,
        episode: MessageId | None,
        *,
        completed: int | None = None,
        replied: bool = False,
        leaf: MessageId | None,
    ) -> "LockedSession":
        """The session after appending messages, of which `completed` are completed (None: all); `replied` if an assistant's
        completed reply is among them. `leaf` is now the last message of the current branch."""
        return self._replace(
            next_sequence=self.next_sequence + messages,
            episode=episode,
            appended=self.appended + messages,
            completed=self.completed + (messages if completed is None else completed),
            replied=self.replied or replied,
            leaf=leaf,
        )


class UserSummary(NamedTuple):
    """A user of a project, with what the project has of them."""

    user_id: str
    sessions: int
    memories: int
    created_at: int
    updated_at: int


class SessionStore:
    """The tenant's sessions, by their outside ids."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._usage = UsageStore(transaction)

    def find(self, external_id: str) -> Session | None:
        row = self._transaction.row("session", external_id=external_id) if is_storable(external_id) else None
        return None if row is None else session_of_row(row)

    def get(self, external_id: str) -> Session:
        session = self.find(external_id)
        if session is None:
            raise NotFound("session", external_id)
        return session

    def lock(self, external_id: str) -> LockedSession:
        """Lock the session against other writers until the transaction ends. Lock order: sessions before pools."""
        row = self._transaction.row("lock_session", external_id=external_id) if is_storable(external_id) else None
        if row is None:
            raise NotFound("session", external_id)
        return _locked(row)

    def last_message(self, session: SessionId) -> MessageId:
        """The id of the last message that was recorded in a session, or an id below all its messages."""
        row = self._transaction.row("next_sequence", session_id=session)
        return MessageId((session << SEQUENCE_BITS) + (0 if row is None else cast(int, row[0]) - 1))

    def had_messages(self, external_id: str) -> bool:
        """Whether anything was ever recorded in a session that exists, also if all of it was removed since."""
        row = self._transaction.row("session", external_id=external_id)
        return row is not None and _locked(row).next_sequence > 1

    def by_ids(self, ids: Sequence[SessionId]) -> list[Session]:
        """Sessions by ids that come from storage, even outside the project that the caller is confined to."""
        rows = self._transaction.rows("sessions_by_id", session_ids=integers(ids), user_id=None)
        return [session_of_row(row) for row in rows]

    def page(
        self,
        *,
        limit: int,
        project: ProjectId | None = None,
        any_project: bool = True,
        user_id: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        before: CursorKey = NEWEST_PAGE,
    ) -> list[Session]:
        """A page of sessions, newest activity first; `before` is the (updated_at, id) of the last one of the page before."""
        rows = self._transaction.rows(
            "sessions",
            limit=limit,
            project_id=project,
            any_project=int(any_project),
            user_id=user_id,
            pinned=None if pinned is None else int(pinned),
            archived=None if archived is None else int(archived),
            before_updated_at=before[0],
            before_session_id=before[1],
        )
        return [session_of_row(row) for row in rows]

    def users(self, project: ProjectId, *, limit: int, after: str = "") -> list[UserSummary]:
        """The users who have sessions in a project, in order, after the given one."""
        rows = self._transaction.rows("session_users", project_id=project, limit=limit, after_user_id=after)
        return [UserSummary(*row) for row in cast(list[tuple[str, int, int, int, int]], rows)]

    def add(self, new: NewSession) -> bool:
        """Add a session; false if its id or its outside id is taken."""
        row = self._transaction.row(
            "insert_session",
            session_id=new.id,
            external_id=new.external_id,
            project_id=new.project,
            pool_id=new.pool,
            user_id=new.user_id,
            title=new.title,
            tags=json.dumps(new.tags),
            metadata=new.metadata,
            version=new.version,
            created_at=new.created_at,
        )
        if row is not None:
            if new.choices != NO_CHOICES:
                self.choose(new.id, new.choices)
            self._usage.add_session(new.id)
        return row is not None

    def note_appends(self, sessions: Sequence[tuple[LockedSession, int]], now: int) -> None:
        """Write the position and counts of locked sessions after an append; each comes with the new version of its pool."""
        appended: list[tuple[SessionId, int]] = []
        for locked, version in sessions:
            changed = self._transaction.execute(
                "note_append",
                session_id=locked.session.id,
                next_sequence=locked.next_sequence,
                episode_id=locked.episode,
                leaf_id=locked.leaf,
                appended=locked.appended,
                version=version,
                unchecked=locked.completed,
                now=now,
            )
            if changed:
                appended.append((locked.session.id, locked.appended))
        self._usage.add_messages(appended)

    def make_due(self, session: SessionId, now: int) -> None:
        """Make a session due for extraction (MEM-3), unless it is due already."""
        self._transaction.execute("make_due", session_id=session, now=now)

    def note_removal(self, session: SessionId, *, removed: int, version: int) -> None:
        if self._transaction.execute("note_removal", session_id=session, removed=removed, version=version):
            self._usage.add_messages([(session, -removed)])

    def describe(
        self, session: SessionId, words: Description, now: int, *, title_through: MessageId | None = None
    ) -> None:
        """`title_through`: the last message that a model made the title of."""
        self._transaction.execute(
            "describe_session",
            session_id=session,
            title=words.title,
            title_through=title_through or 0,
            tags=json.dumps(words.tags),
            metadata=words.metadata,
            now=now,
        )

    def forget_title(self, session: SessionId, first_removed: MessageId, *, said: str | None) -> None:
        """Remove the title that a model made of a message from `first_removed` on, and the title that is `said`."""
        self._transaction.execute("forget_title", session_id=session, first_removed=first_removed, said=said)

    def choose(self, session: SessionId, choices: SessionChoices) -> None:
        self._transaction.execute("set_session_choices", session_id=session, **_columns(choices))

    def move(self, session: SessionId, *, project: ProjectId | None, pool: PoolId, version: int, now: int) -> None:
        """Move a session to another project and pool; `version` is the new version of that pool. A lease on it is lost."""
        self._transaction.execute(
            "move_session", session_id=session, project_id=project, pool_id=pool, version=version, now=now
        )

    def lock_of_project(self, project: ProjectId) -> list[LockedSession]:
        """Lock all sessions of a project, in id order."""
        return [_locked(row) for row in self._transaction.rows("lock_project_sessions", project_id=project)]

    def reached_memories(self, project: ProjectId) -> int:
        """The number of memories of the project's sessions within the caller's reach."""
        return cast(int, self._transaction.rows("count_reached_memories", project_id=project)[0][0])

    def remove(self, session: SessionId, *, messages: int) -> None:
        """Blank the row but keep its id, which no API returns. `messages`: how many were already deleted, for the usage counter."""
        if self._transaction.execute("blank_session", session_id=session):
            self._usage.add_messages([(session, -messages)])
            self._usage.remove_session(session)


def _locked(row: Row) -> LockedSession:
    *_, next_sequence, episode, unchecked = cast(tuple[Any, ...], row)
    session = session_of_row(row)
    return LockedSession(
        session=session, next_sequence=next_sequence, episode=episode, unchecked=unchecked, leaf=session.leaf
    )


def _columns(choices: SessionChoices) -> dict[str, int | str | None]:
    return {**choices._asdict(), "pinned": int(choices.pinned), "archived": int(choices.archived)}


def session_of_row(row: Row) -> Session:
    columns = cast(tuple[Any, ...], row)
    session, tenant, external_id, project, pool, user_id, title, tags, metadata, count, created_at, updated_at = (
        columns[:12]
    )
    memory_count, pending, error, pinned, archived, system_prompt, model, leaf, is_forked = columns[12:21]
    return Session(
        id=SessionId(session),
        tenant=TenantId(tenant),
        external_id=external_id,
        project=project,
        pool=PoolId(pool),
        user_id=user_id,
        title=title,
        tags=() if tags == "[]" else tuple(json.loads(tags)),
        metadata={} if metadata == "{}" else json.loads(metadata),
        message_count=count,
        created_at=created_at,
        updated_at=updated_at,
        memory_count=memory_count,
        memory_job_pending=bool(pending),
        last_extraction_error=error,
        pinned=bool(pinned),
        archived=bool(archived),
        system_prompt=system_prompt,
        model=model,
        leaf=leaf,
        is_forked=bool(is_forked),
    )
