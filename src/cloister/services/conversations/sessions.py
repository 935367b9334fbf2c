"""Create, find, list, change and move sessions."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cloister.domain.conversation import NO_CHOICES, Message, Session
from cloister.domain.errors import Conflict, Forbidden, NotFound
from cloister.domain.identifiers import (
    MessageId,
    ProjectId,
    format_message_id,
    new_external_id,
    new_session_id,
    session_of,
)
from cloister.domain.recall.filter import Filter
from cloister.domain.scope import DEFAULT_VISIBILITY, Reach, Scope
from cloister.domain.sessions.fields import (
    ALL_SESSIONS,
    NO_CHANGE,
    SessionChange,
    SessionFields,
    SessionFilter,
    checked_fields,
)
from cloister.domain.text import checked_metadata, checked_name, checked_tags
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits, refuse_over
from cloister.services.chat_model.names import ModelNames
from cloister.services.conversations.move import MovePreview, SessionMove, preview_move
from cloister.services.events.bus import EventBus
from cloister.services.tenancy.idempotency import done_once, request, write_once
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.filters import FilterStore, SessionNames
from cloister.storage.stores.idempotency import FirstAnswer
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import NEWEST_PAGE, Description, NewSession, SessionStore, UserSummary
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.usage import UsageStore

_DRAWS = 4


class Sessions:
    """Each method is one use case, and one transaction."""

    def __init__(
        self,
        database: Database,
        generation: int,
        clock: Clock,
        limits: Limits,
        events: EventBus,
        models: ModelNames,
    ) -> None:
        self._models = models
        self._database = database
        self._generation = generation
        self._clock = clock
        self._limits = limits
        self._events = events

    def create(
        self, reach: Reach, fields: SessionFields, *, idempotency_key: str | None = None, names_field: bool = True
    ) -> tuple[Session, bool]:
        """The session, and whether it is new. The same external id with the same fields gives the existing session. A caller that
        is bound to a user creates sessions of that user. Without `names_field`, for callers that may not read, an error does not
        say which field of an existing session is another one."""
        wanted = checked_fields(replace(fields, user_id=reach.user_of(fields.user_id)))
        if wanted.choices.model is not None:
            self._models.check(wanted.choices.model)

        def work(transaction: Transaction) -> tuple[Session, bool]:
            sessions = SessionStore(transaction)
            existing = sessions.find(wanted.external_id) if wanted.external_id else None
            session, is_new = self.add(transaction, wanted) if existing is None else (existing, False)
            if not is_new:
                _refuse_other(session, wanted, names_field=names_field)
            return session, is_new

        if idempotency_key is None:
            session, is_new = self._database.write(reach, work)
            return self._noted(session, is_new), is_new

        def first(transaction: Transaction) -> tuple[tuple[Session, bool, bool], FirstAnswer]:
            session, is_new = work(transaction)
            kept = json.dumps([is_new, *kept_of(session)])
            return (session, is_new, False), FirstAnswer("sessions", kept, session=session.id)

        def again(kept: Sequence[Any]) -> tuple[Session, bool, bool]:
            """The first answer, even if the session has changed since; its fields are those of the repeated request. When a session
            is deleted, its idempotency key is deleted too."""
            is_new, *session = kept
            return repeated_session(session, wanted, reach), is_new, True

        given = request(idempotency_key, *parts_of(wanted))

        def create_once(transaction: Transaction) -> tuple[Session, bool, bool]:
            return done_once(
                transaction, given, ("sessions",), self._clock, first=lambda: first(transaction), again=again
            )

        session, is_new, is_repeated = write_once(self._database, reach, create_once)
        return self._noted(session, is_new and not is_repeated), is_new

    def _noted(self, session: Session, is_new: bool) -> Session:
        if is_new:
            self._events.created(session)
        return session

    def get(self, reach: Reach, external_id: str) -> Session:
        with self._database.read(reach) as transaction:
            return SessionStore(transaction).get(external_id)

    def page(
        self,
        reach: Reach,
        *,
        limit: int,
        project: ProjectId | None = None,
        any_project: bool = True,
        wanted: SessionFilter = ALL_SESSIONS,
        before: tuple[int, int] | None = None,
    ) -> list[Session]:
        """A page of sessions, newest activity first. `any_project=False` selects `project`, where None is the shared pool."""
        if wanted.user_id is not None:
            checked_name(wanted.user_id, "user_id")
        if wanted.external_id is not None:
            checked_name(wanted.external_id, "external_id")
        reach.user_of(wanted.user_id)
        with self._database.read(reach) as transaction:
            if project is not None:
                ProjectStore(transaction).get(project)
            store = SessionStore(transaction)
            if wanted.external_id is not None:
                found = store.find(wanted.external_id)
                is_listed = found is not None and wanted.admits(found) and (any_project or found.project == project)
                return [found] if found is not None and is_listed and before is None else []
            return store.page(
                limit=limit,
                project=project,
                any_project=any_project,
                user_id=wanted.user_id,
                pinned=wanted.pinned,
                archived=wanted.archived,
                before=before or NEWEST_PAGE,
            )

    def users(self, reach: Reach, project: ProjectId, *, limit: int) -> list[UserSummary]:
        """The users who have sessions in a project and are within reach, in order."""
        with self._database.read(reach) as transaction:
            ProjectStore(transaction).get(project)
            return SessionStore(transaction).users(project, limit=limit)

    def messages(
        self,
        reach: Reach,
        external_id: str,
        *,
        limit: int,
        after: MessageId | None = None,
        filter: Filter | None = None,
        all_branches: bool = False,
    ) -> tuple[Session, list[Message]]:
        """A page of the messages of a session's current branch, or of all its branches, in order, after the given one; with a
        filter, of those that it lets pass. Each with its parent."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            if after is not None and session_of(after) != session.id:
                raise NotFound("message", format_message_id(after))
            messages = MessageStore(transaction)
            if filter is None:
                found = messages.page(session.id, session.pool, limit=limit, after=after, all_branches=all_branches)
            else:
                names = SessionNames(session.external_id, session.user_id)
                passing = FilterStore(transaction).session_messages(
                    session.id, names, filter, after=after or 0, all_branches=all_branches
                )
                found = messages.found(session.id, session.pool, passing[:limit])
            parents = BranchStore(transaction).parents(session.id, [message.id for message in found])
            return session, [message._replace(parent=parents.get(message.id) or None) for message in found]

    def change(self, reach: Reach, external_id: str, change: SessionChange) -> Session:
        """Change the title, tags or metadata of a session, which counts as activity, or what was chosen for it, which does not. If
        nothing differs, nothing is stored and no event is published."""
        self.check_change(change)

        def work(transaction: Transaction) -> tuple[Session, Session]:
            session = SessionStore(transaction).lock(external_id).session
            return session, self._describe(transaction, session, change)

        before, after = self._database.write(reach, work)
        if after is not before:
            self._events.changed(after)
        return after

    def move(
        self, reach: Reach, external_id: str, project: ProjectId | None, change: SessionChange = NO_CHANGE
    ) -> Session:
        """Move a session to a project, or with None to the shared pool, and change its fields in the same transaction. Its whole
        history is in the new pool, and out of the old one, by the next request (ISO-5)."""
        self.check_change(change)

        def work(transaction: Transaction) -> tuple[Session, Session]:
            if project is not None:
                ProjectStore(transaction).lock_shared(project)  # projects are locked before sessions, to avoid deadlock
            locked = SessionStore(transaction).lock(external_id)
            session = locked.session
            scope = _scope_in(transaction, project, session.user_id)
            mover = SessionMove(transaction, self._generation, self._clock())
            mover.move(locked, scope)
            mover.finish()
            return session, self._describe(transaction, session, change, is_moved=project != session.project)

        before, after = self._database.write(reach, work)
        if after is not before:
            self._events.moved([before], project)
        return after

    def _describe(
        self, transaction: Transaction, session: Session, change: SessionChange, *, is_moved: bool = False
    ) -> Session:
        """Write the changed fields, and the time of activity; returns the same object if there is nothing to write."""
        stored = Description(title=session.title, tags=session.tags, metadata=checked_metadata(session.metadata))
        wanted = Description(
            title=None if change.untitle else session.title if change.title is None else change.title,
            tags=session.tags if change.tags is None else checked_tags(change.tags),
            metadata=stored.metadata if change.metadata is None else checked_metadata(change.metadata),
        )
        chosen = change.choices(session.choices)
        is_described = wanted != stored or is_moved
        if not is_described and chosen == session.choices:
            return session
        sessions = SessionStore(transaction)
        if is_described:
            sessions.describe(session.id, wanted, self._clock())
        if chosen != session.choices:
            sessions.choose(session.id, chosen)
        return sessions.get(session.external_id)

    def check_change(self, change: SessionChange) -> None:
        """Refuse invalid fields, and a model that is not listed; a dry run calls this too."""
        change.check()
        if change.model is not None:
            self._models.check(change.model)

    def preview_move(
        self, reach: Reach, external_id: str, project: ProjectId | None, *, names_users: bool = False
    ) -> MovePreview:
        """What would move along with a session to this project, or with None to the shared pool, and who would recall it there.
        Nothing is changed. `names_users` is for admins."""
        with self._database.read(reach) as transaction:
            found = None if project is None else ProjectStore(transaction).get(project)
            session = SessionStore(transaction).get(external_id)
            _refuse_leaving(transaction.reach, project)
            visibility = DEFAULT_VISIBILITY if found is None else found.member_visibility
            scope = Scope(tenant=reach.tenant, project=project, user=session.user_id, visibility=visibility)
            return preview_move(transaction, session, scope, self._generation, names_users=names_users)

    def add(self, transaction: Transaction, wanted: SessionFields) -> tuple[Session, bool]:
        """Add a session in the transaction of a larger use case; `wanted` was checked. Returns False with the existing session if
        another transaction was faster. External ids are unique in a tenant: for an id that is in use outside its reach, a confined
        or bound caller gets `NotFound` (ISO-4), and can infer from it that the id is taken."""
        stored = UsageStore(transaction).counts()
        refuse_over("sessions", stored.sessions, 1, stored.limits.over(self._limits).sessions)
        pools = PoolStore(transaction, self._generation)
        pool = pools.ensure(_scope_in(transaction, wanted.project, wanted.user_id).pool)
        sessions = SessionStore(transaction)
        new = NewSession(
            id=new_session_id(),
            external_id=wanted.external_id or new_external_id(),
            project=wanted.project,
            pool=pool,
            user_id=wanted.user_id,
            title=wanted.title,
            tags=wanted.tags,
            metadata=checked_metadata(wanted.metadata or {}),
            version=pools.raise_version(pool),
            created_at=self._clock(),
            choices=wanted.choices,
        )
        for _ in range(_DRAWS):
            if sessions.add(new):
                return sessions.get(new.external_id), True
            if (existing := sessions.find(new.external_id)) is not None:
                return existing, False
            new = replace(new, id=new_session_id())
        if not transaction.reach.is_whole_tenant:
            raise NotFound("session", new.external_id)
        raise Conflict(f"The external_id {new.external_id!r} is taken.")


def parts_of(wanted: SessionFields) -> list[object]:
    """The content of a request to create a session, by which a repeated one is recognised."""
    fields = [wanted.external_id, wanted.project, wanted.user_id, wanted.title, wanted.tags]
    choices = [] if wanted.choices == NO_CHOICES else [list(wanted.choices)]
    return [*fields, dict(wanted.metadata or {}), *choices]


def kept_of(session: Session) -> list[Any]:
    """What is stored of the answer to a request that created a session: ids, times and counts."""
    counts = [session.message_count, session.created_at, session.updated_at]
    return [session.external_id, session.id, session.pool, *counts, session.leaf, session.is_forked]


def repeated_session(kept: Sequence[Any], wanted: SessionFields, reach: Reach) -> Session:
    """The session of the first answer, from what was stored of it and the fields of the repeated request."""
    external_id, identity, pool, message_count, created_at, updated_at, *branch = kept
    leaf, is_forked = branch or (None, False)  # an earlier version stored neither
    return Session(
        id=identity,
        tenant=reach.tenant,
        external_id=external_id,
        project=wanted.project,
        pool=pool,
        user_id=wanted.user_id,
        title=wanted.title,
        tags=wanted.tags,
        metadata=wanted.metadata or {},
        message_count=message_count,
        created_at=created_at,
        updated_at=updated_at,
        leaf=leaf,
        is_forked=is_forked,
        **wanted.choices._asdict(),
    )


def _scope_in(transaction: Transaction, project: ProjectId | None, user: str | None) -> Scope:
    """The scope of a session in this project and of this user. Locks the project, which must be within the caller's reach."""
    _refuse_leaving(transaction.reach, project)
    if project is None:
        return Scope(tenant=transaction.reach.tenant, project=None, user=user)
    visibility = ProjectStore(transaction).lock_shared(project).member_visibility
    return Scope(tenant=transaction.reach.tenant, project=project, user=user, visibility=visibility)


def _refuse_leaving(reach: Reach, project: ProjectId | None) -> None:
    if reach.confined_to is not None and project is None:
        raise Forbidden("This key is confined to its project: its sessions stay there.")


def _refuse_other(existing: Session, wanted: SessionFields, *, names_field: bool) -> None:
    """Creating the same session twice is allowed; creating another one with the same id is not. What a person may have chosen since
    is compared only where the request names it."""
    pairs = (
        ("project_id", existing.project, wanted.project),
        ("user_id", existing.user_id, wanted.user_id),
        ("title", existing.title, wanted.title),
        ("tags", existing.tags, wanted.tags),
        ("metadata", existing.metadata, wanted.metadata or {}),
        *((name, getattr(existing, name), given) for name, given in wanted.choices._asdict().items() if given),
    )
    for field, stored, given in pairs:
        if stored != given:
            what = f"another {field}" if names_field else "other fields"
            raise Conflict(f"The session {existing.external_id!r} exists already with {what}.")
