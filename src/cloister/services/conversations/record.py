"""Record messages: durable when the call returns, and already indexed if the embedder is immediate."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from cloister.domain.branches import NO_MESSAGE, Fork
from cloister.domain.conversation import Draft, Episode, Message, Session, opens_episode
from cloister.domain.errors import CloisterError, Conflict, InvalidRequest, NotFound, QuotaExceeded, TooLarge
from cloister.domain.identifiers import MAX_SEQUENCE, MessageId, PoolId, format_message_id, message_id
from cloister.domain.project_settings import pending_message_count
from cloister.domain.scope import Reach
from cloister.domain.sessions.expected import ANY_SESSION, ExpectedSession
from cloister.domain.text import is_storable
from cloister.domain.timestamps import Clock
from cloister.domain.tracing.interface import NO_TRACING, MemorySpan, TracedRecord, Tracer
from cloister.domain.usage import Limits, refuse_over
from cloister.services.conversations.expected import check_expected
from cloister.services.conversations.repeated_record import PreparedMessage, first_answer, repeated
from cloister.services.events.bus import EventBus
from cloister.services.indexing.indexer import Indexer
from cloister.services.recall.unmoved import refuse_if_moved
from cloister.services.tenancy.idempotency import done_once, request, write_once
from cloister.services.wakeup import WakeUp
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.idempotency import FirstAnswer
from cloister.storage.stores.messages import Indexed, MessageStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import LockedSession, SessionStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.usage import UsageStore

LARGEST_BATCH = 1_000
# Requests of more characters are embedded on the caller's thread, so that they do not delay others in a group commit.
_LARGE = 4_000


class _Request(NamedTuple):
    session: str
    prepared: Sequence[PreparedMessage]
    expected: ExpectedSession


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordResult:
    """The recorded messages, and their session."""

    session: Session
    messages: tuple[Message, ...]
    is_repeated: bool = False
    """Whether the same request had recorded them before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordRequest:
    """Messages to append to a session; validated when it is made. `parent` is the span of the request, if it runs on another
    thread. They are refused with `Conflict` if the session is not the expected one (ISO-12)."""

    reach: Reach
    session: str
    drafts: Sequence[Draft]
    parent: object | None = None
    expected: ExpectedSession = ANY_SESSION

    def __post_init__(self) -> None:
        if not is_storable(self.session):
            raise NotFound("session", self.session)
        if not self.drafts:
            raise InvalidRequest("messages", "must not be empty.")
        if len(self.drafts) > LARGEST_BATCH:
            raise TooLarge("messages", len(self.drafts), LARGEST_BATCH, "messages")


class _MessageBatch:
    """All messages that one transaction appends, so that each pool's version is raised once, however many messages it gets."""

    def __init__(self, transaction: Transaction, pools: PoolStore, limits: Limits) -> None:
        self._transaction = transaction
        self._sessions = SessionStore(transaction)
        usage = UsageStore(transaction)
        self._limit = usage.limits().over(limits).messages
        self._stored = 0 if self._limit is None else usage.counts().messages
        self._messages = MessageStore(transaction)
        self._projects = ProjectStore(transaction)
        self._pools = pools
        self._locked: dict[str, LockedSession] = {}
        self._added: list[tuple[Message, Indexed]] = []
        self._branches = BranchStore(transaction)
        self._forks: list[Fork] = []

    def add(
        self,
        name: str,
        prepared: Sequence[PreparedMessage],
        answering: MessageId | None = None,
        room_for: int = 0,
        recalled_pool: PoolId | None = None,
        locked: LockedSession | None = None,
        aside: MessageId | None = None,
        expected: ExpectedSession = ANY_SESSION,
    ) -> RecordResult:
        locked = locked or self._locked.get(name) or self._sessions.lock(name)
        check_expected(self._transaction, locked.session, expected)
        if expected.unmoved_since is not None:
            refuse_if_moved(self._transaction, locked.session, expected.unmoved_since)
        if locked.next_sequence + len(prepared) - 1 > MAX_SEQUENCE:
            raise Conflict(f"The session {name!r} is full ({MAX_SEQUENCE:,} messages): go on in a new one.")
        refuse_over("messages", self._stored, len(prepared) + room_for, self._limit)
        self._stored += len(prepared)
        session, episode = locked.session, answering or locked.episode
        parent = locked.leaf if aside is None else aside
        if (session.is_forked or aside is not None) and parent != locked.last_message:
            self._forks.append(Fork(message_id(session.id, locked.next_sequence), parent or NO_MESSAGE))
        messages: list[Message] = []
        for sequence, entry in enumerate(prepared, locked.next_sequence):
            message = _message(session, sequence, episode, entry, recalled_pool, parent, is_current=aside is None)
            messages.append(message)
            self._added.append((message, entry.indexed))
            episode, parent = message.episode, message.id
        done = [message.role for message in messages if message.status == "completed" and message.is_current]
        self._locked[name] = locked.grown(
            len(messages),
            locked.episode if answering else episode,
            completed=len(done),
            replied="assistant" in done,
            leaf=locked.leaf if aside is not None else parent,
        )
        return RecordResult(session=session, messages=tuple(messages))

    def write(self, now: int) -> None:
        pools = sorted({locked.session.pool for locked in self._locked.values()})
        versions = {pool: self._pools.raise_version(pool) for pool in pools}
        self._messages.append(self._added)
        for fork in self._forks:
            self._branches.set_parent(*fork)
        appended = [(locked, versions[locked.session.pool]) for locked in self._locked.values()]
        self._sessions.note_appends(appended, now)
        for locked in self._locked.values():
            if self._is_due(locked):
                self._sessions.make_due(locked.session.id, now)

    def _is_due(self, locked: LockedSession) -> bool:
        """Whether the session is due for extraction: after a reply, with as many unchecked messages as the project requires
        (MEM-3)."""
        if not locked.replied or locked.session.memory_job_pending:
            return False
        project = locked.session.project
        return locked.unread >= pending_message_count({} if project is None else self._projects.get(project).settings)


class Recorder:
    """Each call is one transaction. Messages are embedded before it, so that it is short."""

    def __init__(
        self,
        database: Database,
        indexer: Indexer,
        clock: Clock,
        limits: Limits,
        wake_up: WakeUp,
        events: EventBus,
        tracer: Tracer = NO_TRACING,
    ) -> None:
        self._tracer = tracer
        self._database = database
        self._indexer = indexer
        self.generation = indexer.generation
        self._clock = clock
        self._limits = limits
        self._wake_up = wake_up
        self._events = events

    def messages(
        self,
        reach: Reach,
        session: str,
        drafts: Sequence[Draft],
        *,
        idempotency_key: str | None = None,
        expected: ExpectedSession = ANY_SESSION,
    ) -> RecordResult:
        """Append messages in the given order, all or none."""
        append = RecordRequest(reach=reach, session=session, drafts=drafts, expected=expected)
        if idempotency_key is None and sum(len(draft.content) for draft in drafts) <= _LARGE:
            (recorded,) = self.all([append])
            if isinstance(recorded, BaseException):
                raise recorded
            return recorded
        with self._tracer.memory("create_memory", reach.tenant) as span:
            recorded = self._noted(self._recorded_alone(append, idempotency_key))
            note_recorded(span, recorded.session, recorded.messages)
            return recorded

    def _noted(self, recorded: RecordResult) -> RecordResult:
        if not recorded.is_repeated:
            self._events.added(recorded.session, recorded.messages)
        if any(message.role == "assistant" for message in recorded.messages):
            self.notify()
        return recorded

    def _recorded_alone(self, append: RecordRequest, idempotency_key: str | None) -> RecordResult:
        if idempotency_key is not None:
            return self._once(append, idempotency_key)
        prepared, expected = self.prepare(append.drafts), append.expected
        return self._database.write(
            append.reach,
            lambda transaction: self.append(transaction, append.session, prepared, expected=expected),
        )

    def all(self, appends: Sequence[RecordRequest]) -> list[RecordResult | BaseException]:
        """Append the messages of several requests with one fsync; each answer is a result or an error."""
        spans = [self._tracer.start("create_memory", append.reach.tenant, parent=append.parent) for append in appends]
        try:
            answers = self._database.write_batch(
                [(append.reach, append) for append in appends],
                self._prepare_requests,
                self._append_requests,
            )
            for span, answer in zip(spans, answers, strict=True):
                if isinstance(answer, BaseException):
                    span.fail(answer)
                else:
                    note_recorded(span, answer.session, answer.messages)
            return [answer if isinstance(answer, BaseException) else self._noted(answer) for answer in answers]
        except BaseException as error:  # raised again: the spans of all requests say that they failed
            for span in spans:
                span.fail(error)
            raise
        finally:
            for span in spans:
                span.end()

    def episode(
        self,
        reach: Reach,
        session: str,
        user_message: Draft,
        reply: Draft,
        *,
        idempotency_key: str | None = None,
        expected: ExpectedSession = ANY_SESSION,
    ) -> Episode:
        """Append both sides of one exchange (ISO-9)."""
        drafts = (user_message, reply)
        messages = self.messages(reach, session, drafts, idempotency_key=idempotency_key, expected=expected).messages
        opening = messages[0]
        return Episode(id=opening.id, session=opening.session, messages=messages, created_at=opening.created_at)

    def prepare(self, drafts: Sequence[Draft]) -> list[PreparedMessage]:
        """Embed drafts before the transaction that will `append` them."""
        (prepared,) = self._prepare([drafts])
        return prepared

    def append(
        self,
        transaction: Transaction,
        session: str,
        prepared: Sequence[PreparedMessage],
        *,
        answering: MessageId | None = None,
        room_for: int = 0,
        recalled_pool: PoolId | None = None,
        locked: LockedSession | None = None,
        aside: MessageId | None = None,
        expected: ExpectedSession = ANY_SESSION,
    ) -> RecordResult:
        """Append in the transaction of a larger use case. `answering` is the message that opened the exchange, if others may follow
        it; `room_for` so many more messages the quota must have room. `recalled_pool` is the pool whose text the messages were
        given; without it, text that they quote is taken to be of the session's pool. `locked` is the session, if the transaction
        has locked it already. `aside` is a message that the new ones follow without becoming the current branch. After the commit
        of a reply, call `notify`."""
        batch = _MessageBatch(transaction, PoolStore(transaction, self.generation), self._limits)
        recorded = batch.add(session, prepared, answering, room_for, recalled_pool, locked, aside, expected)
        batch.write(self._clock())
        if aside is not None:
            BranchStore(transaction).set_leaf(recorded.session.id, recorded.session.leaf or NO_MESSAGE, is_forked=True)
        return recorded

    def notify(self) -> None:
        """Wake a worker: a recorded reply may have made its session due for extraction (MEM-3)."""
        self._wake_up.notify()

    def _prepare_requests(self, requests: Sequence[RecordRequest]) -> list[_Request]:
        prepared = self._prepare([request.drafts for request in requests])
        return [
            _Request(request.session, entries, request.expected)
            for request, entries in zip(requests, prepared, strict=True)
        ]

    def _prepare(self, requests: Sequence[Sequence[Draft]]) -> list[list[PreparedMessage]]:
        """Embed the drafts of several requests in one batch, which costs little more than one request."""
        now = self._clock()
        drafts = [draft for request in requests for draft in request]
        times = [now if draft.created_at is None else draft.created_at for draft in drafts]
        indexed = self._indexer.prepare_messages(
            [(draft.content, draft.author, time) for draft, time in zip(drafts, times, strict=True)], now
        )
        prepared = map(PreparedMessage, drafts, times, indexed)
        return [list(islice(prepared, len(request))) for request in requests]

    def _append_requests(
        self, transaction: Transaction, requests: Sequence[_Request]
    ) -> list[RecordResult | CloisterError]:
        """Append each request to its session. The answer to one that is refused is its error, and the others are still appended."""
        batch = _MessageBatch(transaction, PoolStore(transaction, self.generation), self._limits)
        answers: list[RecordResult | CloisterError] = []
        for session, prepared, expected in requests:
            try:
                answers.append(batch.add(session, prepared, expected=expected))
            except (NotFound, Conflict, QuotaExceeded, InvalidRequest) as error:
                answers.append(error)
        batch.write(self._clock())
        return answers

    def _once(self, asked: RecordRequest, key: str) -> RecordResult:
        """Record a request with an idempotency key once. Keys belong to a session by its internal id: a later session with the same
        external id has keys of its own."""
        parts = [
            [draft.role, draft.content, draft.author, draft.created_at, draft.status, draft.metadata, *draft.categories]
            for draft in asked.drafts
        ]
        session, since = asked.session, asked.expected.unmoved_since
        given = request(key, parts) if since is None else request(key, parts, since)
        prepared = self.prepare(asked.drafts)

        def work(transaction: Transaction) -> RecordResult:
            locked = SessionStore(transaction).lock(session)
            check_expected(transaction, locked.session, asked.expected)

            def first() -> tuple[RecordResult, FirstAnswer]:
                recorded = self.append(transaction, session, prepared, locked=locked, expected=asked.expected)
                return recorded, first_answer(recorded.session.id, recorded.messages)

            def again(kept: Sequence[Any]) -> RecordResult:
                return RecordResult(session=locked.session, messages=repeated(kept, prepared), is_repeated=True)

            namespace = ("messages", locked.session.id)
            return done_once(transaction, given, namespace, self._clock, first=first, again=again, is_sessions=True)

        return write_once(self._database, asked.reach, work)


def note_recorded(span: MemorySpan, session: Session, messages: Sequence[Message]) -> None:
    """Note in the span of a recording what was recorded."""
    span.store(session.project)
    span.result(
        len(messages),
        session=session.id,
        records=lambda: (TracedRecord(format_message_id(message.id), message.content) for message in messages),
    )


def _message(
    session: Session,
    sequence: int,
    episode: MessageId | None,
    entry: PreparedMessage,
    recalled_pool: PoolId | None,
    parent: MessageId | None,
    *,
    is_current: bool,
) -> Message:
    draft = entry.draft
    identity = message_id(session.id, sequence)
    if recalled_pool is None and entry.indexed.quotes:
        recalled_pool = session.pool
    return Message(
        id=identity,
        session=session.id,
        role=draft.role,
        content=draft.content,
        author=draft.author,
        status=draft.status,
        episode=identity if episode is None or opens_episode(draft.role, episode) else episode,
        is_memory_checked=False,
        tokens=entry.indexed.tokens,
        metadata=draft.metadata,
        created_at=entry.created_at,
        recalled_pool=recalled_pool,
        categories=draft.categories,
        parent=parent,
        is_current=is_current,
    )
