"""Record what was said: durable when it returns, and already findable where the embedder is immediate."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from cloister.domain.conversation import Draft, Episode, Message, Session, opens_episode
from cloister.domain.errors import CloisterError, Conflict, InvalidRequest, NotFound, QuotaExceeded, TooLarge
from cloister.domain.identifiers import MAX_SEQUENCE, MessageId, PoolId, SessionId, message_id
from cloister.domain.project_settings import pending_message_count
from cloister.domain.scope import Reach
from cloister.domain.text import is_storable
from cloister.domain.timestamps import Clock
from cloister.domain.usage import Limits, refuse_over
from cloister.services.events.bus import EventBus
from cloister.services.indexing.indexer import Indexer
from cloister.services.tenancy.idempotency import done_once, request, write_once
from cloister.services.wakeup import WakeUp
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.idempotency import FirstAnswer
from cloister.storage.stores.messages import Indexed, MessageStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import LockedSession, SessionStore
from cloister.storage.stores.tenants import ProjectStore
from cloister.storage.stores.usage import UsageStore

LARGEST_BATCH = 1_000
# Characters from which a request is prepared on its caller's thread, so that it keeps no other waiting.
_LARGE = 4_000


class Prepared(NamedTuple):
    """A draft with everything that can be known before the transaction."""

    draft: Draft
    created_at: int
    indexed: Indexed


_Request = tuple[str, Sequence[Prepared]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """What was recorded, and the session it is in."""

    session: Session
    messages: tuple[Message, ...]
    is_repeated: bool = False
    """Whether it was recorded before, by the same request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Append:
    """Messages on their way to the end of a session; making one checks it."""

    reach: Reach
    session: str
    drafts: Sequence[Draft]

    def __post_init__(self) -> None:
        if not is_storable(self.session):
            raise NotFound("session", self.session)
        if not self.drafts:
            raise InvalidRequest("messages", "must not be empty.")
        if len(self.drafts) > LARGEST_BATCH:
            raise TooLarge("messages", len(self.drafts), LARGEST_BATCH, "messages")


class _Appending:
    """The messages that one transaction adds, gathered and then written: a pool's version rises once, however many come to it."""

    def __init__(self, transaction: Transaction, pools: PoolStore, limits: Limits) -> None:
        self._sessions = SessionStore(transaction)
        usage = UsageStore(transaction)
        self._limit = usage.limits().over(limits).messages
        self._stored = 0 if self._limit is None else usage.stored().messages
        self._messages = MessageStore(transaction)
        self._projects = ProjectStore(transaction)
        self._pools = pools
        self._tails: dict[str, LockedSession] = {}
        self._added: list[tuple[Message, Indexed]] = []

    def add(
        self,
        name: str,
        prepared: Sequence[Prepared],
        answering: MessageId | None = None,
        room_for: int = 0,
        recalled_pool: PoolId | None = None,
        locked: LockedSession | None = None,
    ) -> Recorded:
        locked = locked or self._tails.get(name) or self._sessions.lock(name)
        if locked.next_sequence + len(prepared) - 1 > MAX_SEQUENCE:
            raise Conflict(f"The session {name!r} is full ({MAX_SEQUENCE:,} messages): go on in a new one.")
        refuse_over("messages", self._stored, len(prepared) + room_for, self._limit)
        self._stored += len(prepared)
        session, episode = locked.session, answering or locked.episode
        messages: list[Message] = []
        for sequence, entry in enumerate(prepared, locked.next_sequence):
            message = _message(session, sequence, episode, entry, recalled_pool)
            messages.append(message)
            self._added.append((message, entry.indexed))
            episode = message.episode
        done = [message.role for message in messages if message.status == "completed"]
        self._tails[name] = locked.grown(
            len(messages),
            locked.episode if answering else episode,
            completed=len(done),
            replied="assistant" in done,
        )
        return Recorded(session=session, messages=tuple(messages))

    def write(self, now: int) -> None:
        pools = sorted({locked.session.pool for locked in self._tails.values()})
        versions = {pool: self._pools.raise_version(pool) for pool in pools}
        self._messages.append(self._added)
        tails = [(locked, versions[locked.session.pool]) for locked in self._tails.values()]
        self._sessions.note_appends(tails, now)
        for locked in self._tails.values():
            if self._is_due(locked):
                self._sessions.make_due(locked.session.id, now)

    def _is_due(self, locked: LockedSession) -> bool:
        """After a reply the unchecked messages are counted (MEM-3); each project says how many are enough."""
        if not locked.replied or locked.session.memory_job_pending:
            return False
        project = locked.session.project
        return locked.unread >= pending_message_count({} if project is None else self._projects.get(project).settings)


class Recorder:
    """One transaction a call. Embedding happens before it, so the writer only writes."""

    def __init__(
        self, database: Database, indexer: Indexer, clock: Clock, limits: Limits, wake_up: WakeUp, events: EventBus
    ) -> None:
        self._database = database
        self._indexer = indexer
        self.generation = indexer.generation
        self._clock = clock
        self._limits = limits
        self._wake_up = wake_up
        self._events = events

    def messages(
        self, reach: Reach, session: str, drafts: Sequence[Draft], *, idempotency_key: str | None = None
    ) -> Recorded:
        """Append in the order given, all or none."""
        append = Append(reach=reach, session=session, drafts=drafts)
        if idempotency_key is None and sum(len(draft.content) for draft in drafts) <= _LARGE:
            (recorded,) = self.all([append])
            if isinstance(recorded, BaseException):
                raise recorded
            return recorded
        return self._noted(self._recorded_alone(append, idempotency_key))

    def _noted(self, recorded: Recorded) -> Recorded:
        if not recorded.is_repeated:
            self._events.added(recorded.session, recorded.messages)
        if any(message.role == "assistant" for message in recorded.messages):
            self.notify()
        return recorded

    def _recorded_alone(self, append: Append, idempotency_key: str | None) -> Recorded:
        reach, session, drafts = append.reach, append.session, append.drafts
        if idempotency_key is not None:
            return self._once(reach, session, drafts, idempotency_key)
        prepared = self.prepare(drafts)
        return self._database.write(reach, lambda transaction: self.append(transaction, session, prepared))

    def all(self, appends: Sequence[Append]) -> list[Recorded | BaseException]:
        """What many callers want to append, with one sync for all of it: one answer each, or why it was not done."""
        answers = self._database.write_together(
            [(append.reach, (append.session, append.drafts)) for append in appends],
            self._prepare_requests,
            self._append_requests,
        )
        return [answer if isinstance(answer, BaseException) else self._noted(answer) for answer in answers]

    def episode(
        self, reach: Reach, session: str, user_message: Draft, reply: Draft, *, idempotency_key: str | None = None
    ) -> Episode:
        """Both sides of one exchange (ISO-9)."""
        messages = self.messages(reach, session, (user_message, reply), idempotency_key=idempotency_key).messages
        opening = messages[0]
        return Episode(id=opening.id, session=opening.session, messages=messages, created_at=opening.created_at)

    def prepare(self, drafts: Sequence[Draft]) -> list[Prepared]:
        """All that can be done before a transaction that will `append` them."""
        (prepared,) = self._prepare([drafts])
        return prepared

    def append(
        self,
        transaction: Transaction,
        session: str,
        prepared: Sequence[Prepared],
        *,
        answering: MessageId | None = None,
        room_for: int = 0,
        recalled_pool: PoolId | None = None,
        locked: LockedSession | None = None,
    ) -> Recorded:
        """Inside a transaction of a larger use case. `answering` names the message that opened the exchange, where others may have
        been said since; with `room_for` so many more must fit into the quota. `recalled_pool` is the pool whose text they were
        given; where none is named, what they quote is taken to be of the session's pool. `locked` is the session, where the
        transaction has locked it already. After the commit, `ring` for a reply."""
        appending = _Appending(transaction, PoolStore(transaction, self.generation), self._limits)
        recorded = appending.add(session, prepared, answering, room_for, recalled_pool, locked)
        appending.write(self._clock())
        return recorded

    def notify(self) -> None:
        """A reply was recorded, and may have made its session due for extraction (MEM-3)."""
        self._wake_up.notify()

    def _prepare_requests(self, requests: Sequence[tuple[str, Sequence[Draft]]]) -> list[_Request]:
        prepared = self._prepare([drafts for _, drafts in requests])
        return [(session, entries) for (session, _), entries in zip(requests, prepared, strict=True)]

    def _prepare(self, requests: Sequence[Sequence[Draft]]) -> list[list[Prepared]]:
        """The drafts of one or more requests, embedded together: many at once cost little more than one."""
        now = self._clock()
        drafts = [draft for request in requests for draft in request]
        times = [now if draft.created_at is None else draft.created_at for draft in drafts]
        indexed = self._indexer.prepare_messages(
            [(draft.content, draft.author, time) for draft, time in zip(drafts, times, strict=True)], now
        )
        prepared = map(Prepared, drafts, times, indexed)
        return [list(islice(prepared, len(request))) for request in requests]

    def _append_requests(
        self, transaction: Transaction, requests: Sequence[_Request]
    ) -> list[Recorded | CloisterError]:
        """Each at the end of its session. One that cannot be done is answered with the reason, and the others go on."""
        appending = _Appending(transaction, PoolStore(transaction, self.generation), self._limits)
        answers: list[Recorded | CloisterError] = []
        for session, prepared in requests:
            try:
                answers.append(appending.add(session, prepared))
            except (NotFound, Conflict, QuotaExceeded) as error:
                answers.append(error)
        appending.write(self._clock())
        return answers

    def _once(self, reach: Reach, session: str, drafts: Sequence[Draft], key: str) -> Recorded:
        """The same request under the same key is done once in a session, which is known by its number: another session that was
        later given the same outside id has keys of its own."""
        parts = [
            [draft.role, draft.content, draft.author, draft.created_at, draft.status, draft.metadata]
            for draft in drafts
        ]
        given = request(key, parts)
        prepared = self.prepare(drafts)

        def work(transaction: Transaction) -> Recorded:
            locked = SessionStore(transaction).lock(session)

            def first() -> tuple[Recorded, FirstAnswer]:
                recorded = self.append(transaction, session, prepared, locked=locked)
                return recorded, _first_answer(recorded)

            def again(kept: Sequence[Any]) -> Recorded:
                return Recorded(session=locked.session, messages=_repeated(kept, prepared), is_repeated=True)

            place = ("messages", locked.session.id)
            return done_once(transaction, given, place, self._clock, first=first, again=again)

        return write_once(self._database, reach, work)


def _message(
    session: Session, sequence: int, episode: MessageId | None, entry: Prepared, recalled_pool: PoolId | None
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
    )


def _first_answer(recorded: Recorded) -> FirstAnswer:
    messages = recorded.messages
    kept = [[message.id, message.session, message.episode, message.created_at] for message in messages]
    return FirstAnswer(
        "messages",
        json.dumps(kept),
        session=recorded.session.id,
        first_id=messages[0].id,
        last_id=messages[-1].id,
    )


def _repeated(kept: Sequence[Sequence[int]], prepared: Sequence[Prepared]) -> tuple[Message, ...]:
    """The first answer again, made of what was kept and the words that came with the repeated request."""
    return tuple(
        Message(
            id=MessageId(identity),
            session=SessionId(session),
            role=entry.draft.role,
            content=entry.draft.content,
            author=entry.draft.author,
            status=entry.draft.status,
            episode=MessageId(episode),
            is_memory_checked=False,
            tokens=entry.indexed.tokens,
            metadata=entry.draft.metadata,
            created_at=created_at,
        )
        for (identity, session, episode, created_at), entry in zip(kept, prepared, strict=True)
    )
