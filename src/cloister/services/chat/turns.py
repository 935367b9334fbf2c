"""Turns: one assistant turn at a time in a session, taken with the user's words and given back with the reply.

A turn begins in one transaction: the session is found, or made in its project (ISO-7), the turn is taken, and what the user said
is appended. It ends in one transaction: the reply is appended, and the turn given back. Between them it is a lease: renewed while
somebody answers, and free again some time after whoever answered died.
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from cloister.domain.context import Context
from cloister.domain.conversation import Draft, Message, Project, Session
from cloister.domain.errors import Conflict, InvalidRequest, QuotaExceeded, TurnInProgress, TurnMoved
from cloister.domain.history import NewMessages
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.project_settings import system_prompt
from cloister.domain.prompts.forgotten_text import ForgottenTexts, without_forgotten
from cloister.domain.prompts.recalled_text import tokens_after
from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.services.chat.history import compared
from cloister.services.chat.recalled import RecalledText
from cloister.services.conversations.record import Prepared, Recorder
from cloister.services.conversations.sessions import SessionFields, Sessions, checked_fields
from cloister.services.events.bus import EventBus
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.turns import TurnStore

LEASE_SECONDS = 60
_MOST_REPLACED = 100
_ATTEMPTS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedSession:
    """The session that a chat request names, and what the request says of it. Of a session that is there nothing is changed: with
    `must_be_in` it has to be in `project` already, and a `user_id` has to be its own."""

    session: str | None
    project: ProjectId | None = None
    must_be_in: bool = False
    user_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask(NamedSession):
    """What a user says, and where; making one checks it. A session that is not there is made, in `project`; without a name it gets
    one. With `has_whole_history` the drafts are a client's whole history, and only what the session does not hold yet is appended;
    `continues` says that since the last reply only tools have spoken. `known` are the words that the model will be shown anyway."""

    drafts: Sequence[Draft]
    has_whole_history: bool = False
    continues: bool = False
    known: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.drafts:
            raise InvalidRequest("messages", "must hold a message of the user.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A turn that was taken. `session` is as it was then, `reach` its caller's, `messages` what was appended, or what waited for
    its reply already; the last of them is the question. A completed reply takes the place of those in `replaces`. It recalls from
    `scope`, which is the session's at that moment, and from no other (ISO-12)."""

    reach: Reach
    number: int
    session: Session
    scope: Scope
    is_new: bool
    messages: tuple[Message, ...]
    system_prompt: str | None
    replaces: tuple[MessageId, ...] = ()
    known: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return f"turn_{self.number:016x}"

    @property
    def question(self) -> Message:
        return self.messages[-1]


class _Overtaken(Exception):
    """Another turn was faster, and what is new is not what it was."""


class TurnLost(Conflict):
    """The turn is not this one's any more: what it answers was forgotten, or it took too long and another was begun."""


class Turns:
    """Takes turns, renews them, and gives them back. Each is one transaction."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        recorder: Recorder,
        clock: Clock,
        events: EventBus,
        *,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._recorder = recorder
        self._clock = clock
        self._events = events
        self.lease_seconds = lease_seconds

    def begin(self, reach: Reach, ask: Ask) -> Turn:
        """Durable when it returns, all of it or nothing. Raises `TurnInProgress` while another turn stands. The quota must have
        room for the reply too."""
        user_id = reach.user_of(ask.user_id)
        wanted = checked_fields(SessionFields(external_id=ask.session, project=ask.project, user_id=user_id))
        for _ in range(_ATTEMPTS):
            with suppress(_Overtaken):
                return self._begin(reach, ask, wanted, self._unknown(reach, ask))
        raise TurnInProgress(ask.session or "")

    def _begin(self, reach: Reach, ask: Ask, wanted: SessionFields, new_messages: NewMessages) -> Turn:
        prepared = self._recorder.prepare(new_messages.new)
        number = secrets.randbits(62) + 1

        def work(transaction: Transaction) -> Turn:
            session, is_new = self._find_or_add(transaction, ask, wanted)
            now = self._clock()
            if not TurnStore(transaction).take(session.id, number, now=now, until=self._until(now)):
                raise TurnInProgress(session.external_id)
            if (
                ask.has_whole_history
                and compared(transaction, session, ask.drafts, continues=ask.continues) != new_messages
            ):
                raise _Overtaken
            if prepared:
                recorded = self._recorder.append(transaction, session.external_id, prepared, room_for=1)
                session, messages = recorded.session, recorded.messages
            else:
                session = SessionStore(transaction).get(session.external_id)  # as it is now that it cannot move
                messages = () if new_messages.answering is None else (new_messages.answering,)
            if not is_new:
                _checked(session, ask)  # again, now that it is locked
            project = _project(transaction, session)
            return Turn(
                reach=reach,
                number=number,
                session=session,
                scope=_scope(session, project),
                is_new=is_new,
                messages=messages,
                system_prompt=None if project is None else system_prompt(project.settings),
                known=ask.known,
            )

        turn = self._database.write(reach, work)
        if turn.is_new:
            self._events.created(turn.session)
        self._events.turn_started(turn.session)
        if prepared:
            self._events.added(turn.session, turn.messages)
        return turn

    def _unknown(self, reach: Reach, ask: Ask) -> NewMessages:
        """What is to be appended; read before the transaction, so that it can be embedded before it."""
        if not ask.has_whole_history or ask.session is None:
            return NewMessages(new=tuple(ask.drafts))
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).find(ask.session)
            return compared(transaction, session, ask.drafts, continues=ask.continues)

    def begin_again(self, reach: Reach, named: NamedSession) -> Turn:
        """To answer the user's last message anew. Nothing is appended, and the replies that it has stay until there is another."""
        reach.user_of(named.user_id)
        number = secrets.randbits(62) + 1

        def work(transaction: Transaction) -> Turn:
            session = _checked(SessionStore(transaction).lock(named.session or "").session, named)
            now = self._clock()
            if not TurnStore(transaction).take(session.id, number, now=now, until=self._until(now)):
                raise TurnInProgress(session.external_id)
            messages = MessageStore(transaction)
            asked = messages.recent(session.id, session.pool, "user", 1)
            if not asked:
                raise Conflict(
                    f"Nobody has said anything in the session {session.external_id!r} that could be answered again."
                )
            later = messages.page(session.id, session.pool, limit=_MOST_REPLACED, after=asked[0].id)
            project = _project(transaction, session)
            return Turn(
                reach=reach,
                number=number,
                session=session,
                scope=_scope(session, project),
                is_new=False,
                messages=(asked[0],),
                system_prompt=None if project is None else system_prompt(project.settings),
                replaces=tuple(message.id for message in later if message.role == "assistant"),
            )

        turn = self._database.write(reach, work)
        self._events.turn_started(turn.session)
        return turn

    def renew(self, turn: Turn) -> bool:
        """False when it was lost."""
        until = self._until(self._clock())
        return self._database.write(
            _tenant_of(turn),
            lambda transaction: TurnStore(transaction).renew(turn.session.id, turn.number, until=until),
        )

    def stands(self, turn: Turn) -> bool:
        """False when it was lost: another was begun, or what it answers was forgotten."""
        with self._database.read(_tenant_of(turn)) as transaction:
            return TurnStore(transaction).is_of(turn.session.id, turn.number)

    def end(
        self,
        turn: Turn,
        reply: Draft | None,
        *,
        given_recalled_text: bool = False,
        contexts: Sequence[Context] = (),
    ) -> Message | None:
        """Append the reply, where there is one, and give the turn back; raises `TurnLost` and appends nothing when it is not this
        one's any more. Where the reply does not fit, the turn is given back all the same. The reply keeps the pool whose text it
        quotes or was given, and its entities go to the project of the question, wherever the session is by now. A reply that was
        given text of a pool that the session has left is not stored in the new one: `TurnMoved` (ISO-12). What was forgotten since
        it was recalled, in `contexts`, is not in what the reply quotes (MEM-9)."""
        prepared = None if reply is None else self._recorder.prepare([reply])

        def work(transaction: Transaction) -> tuple[Session, Message | None]:
            name = TurnStore(transaction).end(turn.session.id, turn.number)
            if name is None or not ExtractionStore(transaction).present(turn.session.id, [turn.question.id]):
                raise TurnLost("What this reply answers was forgotten, or another turn was begun: it is not kept.")
            if prepared is None:
                return SessionStore(transaction).get(name), None
            # A failed reply is a sentence of ours, and no words of a model.
            given = (
                reply is not None and reply.status != "failed" and (given_recalled_text or prepared[0].indexed.quotes)
            )
            if given:
                _refuse_moved(transaction, turn, name)
            recorded = self._recorder.append(
                transaction,
                name,
                self._without_forgotten(transaction, turn, prepared, contexts) if given else prepared,
                answering=turn.question.episode,
                recalled_pool=turn.session.pool if given else None,
            )
            self._note_project(transaction, turn, recorded.session, recorded.messages[0])
            return recorded.session, recorded.messages[0]

        try:
            session, message = self._database.write(_tenant_of(turn), work)
        except (QuotaExceeded, Conflict):
            self._give_back(turn)
            raise
        if message is not None:
            self._recorder.notify()
            self._events.added(session, [message])
        # Without a message it was a completed call of tools: all others have words to store.
        self._events.turn_finished(session, "completed" if message is None else message.status)
        return message

    def _without_forgotten(
        self, transaction: Transaction, turn: Turn, prepared: Sequence[Prepared], contexts: Sequence[Context]
    ) -> Sequence[Prepared]:
        """The pool is locked first: what is forgotten after that takes the quotation out of the stored reply."""
        ((draft, created_at, indexed),) = prepared
        if not indexed.quotes:
            return prepared
        PoolStore(transaction, self._recorder.generation).lock(turn.session.pool)
        recalled = RecalledText(transaction, self._recorder.generation, turn.scope, turn.session.id)
        forgotten = ForgottenTexts(text for context in contexts for text in recalled.gone(context))
        left = without_forgotten(draft.content, forgotten)
        tokens = tokens_after(indexed.tokens, draft.content, left)
        return [Prepared(replace(draft, content=left), created_at, indexed._replace(tokens=tokens))]

    def _give_back(self, turn: Turn) -> None:
        def work(transaction: Transaction) -> Session | None:
            name = TurnStore(transaction).end(turn.session.id, turn.number)
            return None if name is None else SessionStore(transaction).get(name)

        session = self._database.write(_tenant_of(turn), work)
        if session is not None:
            self._events.turn_finished(session, "failed")

    def _note_project(self, transaction: Transaction, turn: Turn, session: Session, reply: Message) -> None:
        """A reply whose session moved while it was written was said where its question was asked: that is where its entities go
        (ISO-6). What was said in the new project meanwhile stays of that one."""
        if session.project != turn.session.project:
            extraction = ExtractionStore(transaction)
            extraction.note_past(session.id, MessageId(reply.id - 1), session.project)
            extraction.note_past(session.id, reply.id, turn.session.project)

    def find(self, reach: Reach, named: NamedSession) -> Session:
        """The session whose turn is to be followed or stopped, after the same checks as before asking in it."""
        reach.user_of(named.user_id)
        with self._database.read(reach) as transaction:
            return _checked(SessionStore(transaction).get(named.session or ""), named)

    def _find_or_add(self, transaction: Transaction, ask: Ask, wanted: SessionFields) -> tuple[Session, bool]:
        existing = SessionStore(transaction).find(wanted.external_id) if wanted.external_id else None
        session, is_new = self._sessions.add(transaction, wanted) if existing is None else (existing, False)
        return (session if is_new else _checked(session, ask)), is_new

    def _until(self, now: int) -> int:
        return now + round(self.lease_seconds * 1_000_000)


def _tenant_of(turn: Turn) -> Reach:
    """A session that moved while it was answered still gets its reply, though its caller may not follow it there."""
    return Reach(tenant=turn.reach.tenant)


def _checked(session: Session, named: NamedSession) -> Session:
    """The one check of all chat requests, whether they ask, ask again, follow or stop, of a session that was found within the
    caller's reach: it is what the request says of it."""
    if named.must_be_in and session.project != named.project:
        raise Conflict(f"The session {session.external_id!r} exists already with another project_id.")
    if named.user_id is not None and session.user_id != named.user_id:
        raise Conflict(f"The session {session.external_id!r} exists already with another user_id.")
    return session


def _project(transaction: Transaction, session: Session) -> Project | None:
    return None if session.project is None else ProjectStore(transaction).get(session.project)


def _scope(session: Session, project: Project | None) -> Scope:
    return session.scope(None if project is None else project.member_visibility)


def _refuse_moved(transaction: Transaction, turn: Turn, name: str) -> None:
    """The session is locked here, and cannot move any more before the reply is stored."""
    session = SessionStore(transaction).get(name)
    if _scope(session, _project(transaction, session)) != turn.scope:
        raise TurnMoved(name)
