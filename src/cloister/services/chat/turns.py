"""Assistant turns: at most one at a time in a session, begun with the user's message and ended with the reply.

A turn begins in one transaction: the session is found, or created in its project (ISO-7), the turn is taken, and the user's message
is appended. It ends in one transaction: the reply is appended, and the turn is released. In between it is a lease of a few seconds,
which is renewed while the model answers. If the process dies, the question can be answered again, at once if that is noticed.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from cloister.domain.context import Context
from cloister.domain.conversation import Draft, Message, Session
from cloister.domain.errors import Conflict, InvalidRequest, NotFound, QuotaExceeded, TurnInProgress
from cloister.domain.history import NewMessages
from cloister.domain.identifiers import KeyId, MessageId
from cloister.domain.prompts.images import Image
from cloister.domain.receipts.receipt import Receipt
from cloister.domain.scope import Reach, Scope
from cloister.services.chat.history import compared
from cloister.services.chat.named_session import NamedSession, checked_session
from cloister.services.chat.recalled import RecalledText
from cloister.services.chat.reply_buffer import FinishedReply
from cloister.services.chat.turn_branches import (
    ReplyBranch,
    asked_again,
    branch_of_reply,
    failed_replies,
    leave_for_edit,
    make_room,
)
from cloister.services.chat.turn_scope import model_of, note_project, project_of, prompt_of, refuse_moved, scope_of
from cloister.services.conversations.branches import Branches
from cloister.services.conversations.record import PreparedMessage, Recorder
from cloister.services.conversations.sessions import SessionFields, Sessions, checked_fields
from cloister.services.events.bus import EventBus
from cloister.services.receipts.storing import store_with_reply
from cloister.services.turn_leases import TurnLeases
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.turns import TurnStore

_ATTEMPTS = 5
_MOST_LATER = 100  # messages after a turn began are looked at for its reply


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRequest(NamedSession):
    """A request for an assistant turn. A missing session is created in `project`; one without a name gets one. With
    `has_whole_history` the drafts are the client's whole history, and only the messages that the session lacks are appended;
    `continues` says that there are only tool messages after the last reply. `known` are the keys of words that the client's own
    prompt already has, so that they are not recalled. `record` stores more with the turn. `edits` is a message of the user that the
    drafts are another version of: they become its siblings. `images` go to the model, in this turn."""

    drafts: Sequence[Draft]
    has_whole_history: bool = False
    continues: bool = False
    known: frozenset[str] = frozenset()
    record: "TurnRecord | None" = None
    edits: MessageId | None = None
    images: tuple[Image, ...] = ()
    check_images: Callable[[str | None], None] = lambda model: None

    def __post_init__(self) -> None:
        if not self.drafts and not self.continues:
            raise InvalidRequest("messages", "must hold a message of the user.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A turn that was begun. `session` is the session at that time, and `reach` the caller's. `messages` were appended, or were
    already waiting for a reply; the last is the question. `branch` is where the reply goes if there was one before; those in
    `failed`, the failed replies to the same question, go when it is stored. `last` was the last message of the session. With
    `is_unnamed` the request named no session, and made this one. The turn recalls only from `scope`, the session's scope at its
    beginning (ISO-12). `model` is the model that the session or its project names; `min_relevance` the floor that the request sets
    for what is recalled (CTX-6). `images` are sent with the question, in this turn only."""

    reach: Reach
    number: int
    session: Session
    scope: Scope
    is_new: bool
    messages: tuple[Message, ...]
    last: MessageId
    system_prompt: str | None
    model: str | None = None
    branch: ReplyBranch | None = None
    failed: tuple[MessageId, ...] = ()
    is_unnamed: bool = False
    known: frozenset[str] = frozenset()
    record: "TurnRecord | None" = None
    key: KeyId | None = None
    min_relevance: float | None = None
    images: tuple[Image, ...] = ()

    @property
    def name(self) -> str:
        return f"turn_{self.number:016x}"

    @property
    def question(self) -> Message:
        return self.messages[-1]


class TurnRecord(Protocol):
    """Stores more with a turn than its messages, in the transactions that begin and end it; a transaction may be tried again."""

    def begun(self, transaction: Transaction, turn: Turn) -> None:
        """The turn was taken, and its messages appended."""

    def ended(
        self, transaction: Transaction, turn: Turn, session: Session, reply: Message | None, outcome: FinishedReply
    ) -> None:
        """The reply was appended, if there is one. `session` is the session as it is now."""


class _Overtaken(Exception):
    """Another turn was faster, so that the list of new messages is outdated: compare again."""


class TurnLost(Conflict):
    """The lease of the turn was lost: its question was forgotten, or it expired and another turn was begun."""


class Turns:
    """Begins, renews and ends turns. Each call is one transaction."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        recorder: Recorder,
        branches: Branches,
        events: EventBus,
        leases: TurnLeases,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._recorder = recorder
        self._branches = branches
        self._events = events
        self.leases = leases

    def begin(self, reach: Reach, request: TurnRequest) -> Turn:
        """Begin a turn; durable when it returns, all or nothing. Raises `TurnInProgress` while there is another turn. The quota
        must have room for the reply too."""
        user_id = reach.user_of(request.user_id)
        wanted = checked_fields(SessionFields(external_id=request.session, project=request.project, user_id=user_id))
        for _ in range(_ATTEMPTS):
            with suppress(_Overtaken):
                return self.leases.without_ended(
                    reach, lambda: self._begin(reach, request, wanted, self._unknown(reach, request))
                )
        raise TurnInProgress(request.session or "")

    def _begin(self, reach: Reach, request: TurnRequest, wanted: SessionFields, new_messages: NewMessages) -> Turn:
        prepared = self._recorder.prepare(new_messages.new)

        def work(transaction: Transaction) -> Turn:
            session, is_new = self._find_or_add(transaction, request, wanted)
            if is_new and request.edits is not None:
                raise NotFound("session", session.external_id)  # as for a session out of the caller's reach
            number = self.leases.take(transaction, session)
            if (
                request.has_whole_history
                and compared(transaction, session, request.drafts, continues=request.continues) != new_messages
            ):
                raise _Overtaken
            if request.edits is not None:
                session = SessionStore(transaction).lock(session.external_id).session
                leave_for_edit(transaction, self._branches, session, request.edits)
            branch = None
            if prepared:
                recorded = self._recorder.append(transaction, session.external_id, prepared, room_for=1)
                session, messages = recorded.session, recorded.messages
            else:
                # It is locked now, and may have moved before.
                session = SessionStore(transaction).get(session.external_id)
                messages = () if new_messages.answering is None else (new_messages.answering,)
            if not is_new:
                checked_session(session, request)  # again, because it was not locked at the first check
            if not messages:
                raise InvalidRequest("messages", "must hold a message of the user: the session has none yet.")
            if not prepared and not request.continues:
                branch = branch_of_reply(transaction, session, messages[-1])
            turn = replace(
                self._turn(transaction, reach, session, number, messages, key=request.key),
                is_new=is_new,
                branch=branch,
                failed=() if prepared else failed_replies(transaction, session, messages[-1]),
                is_unnamed=is_new and request.session is None,
                known=request.known,
                record=request.record,
                images=request.images,
            )
            request.check_images(turn.model)
            if request.record is not None:
                request.record.begun(transaction, turn)
            return turn

        turn = self._database.write(reach, work)
        if turn.is_new:
            self._events.created(turn.session)
        self._events.turn_started(turn.session)
        if prepared:
            self._events.added(turn.session, turn.messages)
        if request.edits is not None:
            self._branches.publish(turn.session)
        return turn

    def _turn(
        self,
        transaction: Transaction,
        reach: Reach,
        session: Session,
        number: int,
        messages: tuple[Message, ...],
        *,
        key: KeyId | None,
    ) -> Turn:
        """A turn that was taken, in an existing session."""
        project = project_of(transaction, session)
        return Turn(
            reach=reach,
            number=number,
            session=session,
            scope=scope_of(session, project),
            is_new=False,
            messages=messages,
            last=SessionStore(transaction).last_message(session.id),
            system_prompt=prompt_of(session, project),
            model=model_of(session, project),
            key=key,
        )

    def _unknown(self, reach: Reach, request: TurnRequest) -> NewMessages:
        """The messages to append, read before the write transaction, so that they can be embedded outside it."""
        if not request.has_whole_history or request.session is None:
            return NewMessages(new=tuple(request.drafts))
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).find(request.session)
            return compared(transaction, session, request.drafts, continues=request.continues)

    def begin_again(self, reach: Reach, named: NamedSession, message: MessageId | None = None) -> Turn:
        """Begin a turn that answers the user's last message again, or makes the reply `message` again, or answers the user's
        message `message`. Nothing is appended; the old reply stays current until the new one is stored."""
        reach.user_of(named.user_id)

        def work(transaction: Transaction) -> tuple[Turn, bool]:
            locked = checked_session(SessionStore(transaction).lock(named.session or "").session, named)
            number = self.leases.take(transaction, locked)
            session, asked, branch = asked_again(transaction, self._branches, locked, message)
            turn = replace(
                self._turn(transaction, reach, session, number, (asked,), key=named.key),
                branch=branch,
                failed=failed_replies(transaction, session, asked),
            )
            return turn, session is not locked

        turn, is_switched = self.leases.without_ended(reach, lambda: self._database.write(reach, work))
        self._events.turn_started(turn.session)
        if is_switched:
            self._branches.publish(turn.session)
        return turn

    def renew(self, turn: Turn) -> bool:
        """False if the turn was lost."""
        _, until = self.leases.term()
        return self._database.write(
            _tenant_of(turn),
            lambda transaction: TurnStore(transaction).renew(turn.session.id, turn.number, until=until),
        )

    def is_running(self, session: Session) -> bool:
        """Whether some process answers in this session."""
        now, _ = self.leases.term()
        with self._database.read(Reach(tenant=session.tenant)) as transaction:
            return TurnStore(transaction).is_running(session.id, now=now)

    def stands(self, turn: Turn) -> bool:
        """False if the turn was lost: another was begun, or its question was forgotten."""
        with self._database.read(_tenant_of(turn)) as transaction:
            return TurnStore(transaction).is_of(turn.session.id, turn.number)

    def stored_reply(self, turn: Turn) -> Message | None:
        """The reply to the turn's question that is stored and was not there when the turn began."""
        with self._database.read(_tenant_of(turn)) as transaction:
            later = MessageStore(transaction).page(
                turn.session.id, turn.session.pool, limit=_MOST_LATER, after=turn.last, all_branches=True
            )
        return next(
            (each for each in later if each.role == "assistant" and each.episode == turn.question.episode), None
        )

    def end(
        self,
        turn: Turn,
        reply: Draft | None,
        *,
        given_recalled_text: bool = False,
        contexts: Sequence[Context] = (),
        outcome: FinishedReply | None = None,
        receipt: Receipt | None = None,
    ) -> Message | None:
        """Append the reply, if there is one, and release the turn. Raises `TurnLost`, and appends nothing, if the turn was lost; if
        the reply exceeds a quota, the turn is released nevertheless. The reply is marked with the pool whose text it quotes or was
        given, and its entities go to the project of the question, even if the session has moved. A reply that was given text of a
        pool that the session has left is not stored: `TurnMoved` (ISO-12). Text of `contexts` that was forgotten since it was
        recalled is taken out of what the reply quotes (MEM-9). The receipt is stored with the reply (PRF-1)."""
        prepared = None if reply is None else self._recorder.prepare([reply])

        def work(transaction: Transaction) -> tuple[Session, Message | None]:
            name = TurnStore(transaction).end(turn.session.id, turn.number)
            if name is None or not ExtractionStore(transaction).present(turn.session.id, [turn.question.id]):
                raise TurnLost("What this reply answers was forgotten, or another turn was begun: it is not kept.")
            if prepared is None:
                session = SessionStore(transaction).get(name)
                if turn.record is not None and outcome is not None:
                    turn.record.ended(transaction, turn, session, None, outcome)
                store_with_reply(transaction, receipt, turn.number, turn.system_prompt, session, None)
                return session, None
            # The content of a failed reply is our own sentence, not the model's.
            given = (
                reply is not None and reply.status != "failed" and (given_recalled_text or prepared[0].indexed.quotes)
            )
            if given:
                refuse_moved(transaction, turn.scope, name)
            status = prepared[0].draft.status
            aside = make_room(transaction, self._branches, name, turn.branch, began_after=turn.last, status=status)
            recorded = self._recorder.append(
                transaction,
                name,
                self._without_forgotten(transaction, turn, prepared[0], contexts) if given else prepared,
                answering=turn.question.episode,
                recalled_pool=turn.session.pool if given else None,
                aside=aside,
            )
            note_project(transaction, recorded.session, recorded.messages[0], said_in=turn.session.project)
            if turn.record is not None and outcome is not None:
                turn.record.ended(transaction, turn, recorded.session, recorded.messages[0], outcome)
            answer = recorded.messages[0]
            store_with_reply(transaction, receipt, turn.number, turn.system_prompt, recorded.session, answer)
            return recorded.session, answer

        try:
            session, message = self._database.write(_tenant_of(turn), work)
        except (QuotaExceeded, Conflict):
            self._release(turn)
            raise
        if message is not None:
            self._recorder.notify()
            self._events.added(session, [message])
            if turn.branch is not None:
                self._branches.publish(session)
        # A turn without a message completed with tool calls: every other reply has words to store.
        self._events.turn_finished(session, "completed" if message is None else message.status)
        return message

    def _without_forgotten(
        self, transaction: Transaction, turn: Turn, prepared: PreparedMessage, contexts: Sequence[Context]
    ) -> Sequence[PreparedMessage]:
        """The reply without quotations of what was forgotten since it was recalled. Locks the pool first: what is forgotten later
        is taken out of the stored reply."""
        if not prepared.indexed.quotes:
            return [prepared]
        PoolStore(transaction, self._recorder.generation).lock(turn.session.pool)
        recalled = RecalledText(transaction, self._recorder.generation, turn.scope, turn.session.id)
        return [prepared.shortened(recalled.without_gone(prepared.draft.content, contexts))]

    def _release(self, turn: Turn) -> None:
        def work(transaction: Transaction) -> Session | None:
            name = TurnStore(transaction).end(turn.session.id, turn.number)
            return None if name is None else SessionStore(transaction).get(name)

        session = self._database.write(_tenant_of(turn), work)
        if session is not None:
            self._events.turn_finished(session, "failed")

    def find(self, reach: Reach, named: NamedSession) -> Session:
        """The session whose turn is to be followed or stopped, after the same checks as for a new turn."""
        reach.user_of(named.user_id)
        with self._database.read(reach) as transaction:
            return checked_session(SessionStore(transaction).get(named.session or ""), named)

    def _find_or_add(
        self, transaction: Transaction, request: TurnRequest, wanted: SessionFields
    ) -> tuple[Session, bool]:
        existing = SessionStore(transaction).find(wanted.external_id) if wanted.external_id else None
        request.require(existing)
        session, is_new = self._sessions.add(transaction, wanted) if existing is None else (existing, False)
        return (session if is_new else checked_session(session, request)), is_new


def _tenant_of(turn: Turn) -> Reach:
    """The whole tenant, so that the reply can be stored even if the session has moved out of the caller's reach."""
    return Reach(tenant=turn.reach.tenant)
