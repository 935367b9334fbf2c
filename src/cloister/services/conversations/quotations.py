"""Take quotations of what is forgotten out of the messages that stay, in the transaction that forgets it."""

from collections.abc import Iterable, Iterator, Sequence

from cloister.domain.conversation import Session
from cloister.domain.identifiers import SEQUENCE_BITS, MemoryId, MessageId, PoolId, SessionId
from cloister.domain.prompts.forgotten_text import ForgottenTexts, without_forgotten
from cloister.domain.prompts.recalled_text import NO_POOL, own_words, tokens_after
from cloister.domain.prompts.speaker import without_user
from cloister.domain.scope import PoolKey
from cloister.storage.interface import Transaction
from cloister.storage.stores.entities import EntityStore
from cloister.storage.stores.idempotency import IdempotencyStore
from cloister.storage.stores.memories import MemoryStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore

_MOST_TEXTS = 50_000
"""The maximum number of keys in memory. When it is reached, quotations of them are removed, and collecting goes on."""


class QuotationRemoval:
    """Works in one transaction, which has locked the sessions that lose something. Add what will be removed before it is removed,
    pool by pool in id order or with all pools locked; then `apply`."""

    def __init__(self, transaction: Transaction, generation: int) -> None:
        self._transaction = transaction
        self._messages = MessageStore(transaction)
        self._pools = PoolStore(transaction, generation)
        self._texts: dict[tuple[PoolId, ...], ForgottenTexts] = {}
        self._quoted: dict[PoolId, bool] = {}
        self._removed: set[SessionId] = set()
        self._changed: set[SessionId] = set()

    def add_session(self, session: Session) -> None:
        """Add all messages of a session, and all that derives from them."""
        self._removed.add(session.id)
        memories = MemoryStore(self._transaction)
        if pools := self._quoted_pools(session):
            self._add(pools, self._said(session.id))
            self._add(pools, map(without_user, memories.contents(memories.ids(session.id))))
            self._add(pools, map(without_user, ObservationStore(self._transaction).contents(session.id)))
            self._add(pools, self._mentions(session.id))

    def add_messages(self, session: Session, messages: Sequence[MessageId], notes: Iterable[str]) -> None:
        """Add some messages, the memories and mentions that derive from them, and the notes that are forgotten with them."""
        memories = MemoryStore(self._transaction)
        if messages and (pools := self._quoted_pools(session)):
            for message in messages:
                self._add(pools, self._said(session.id, message))
                self._add(pools, map(without_user, memories.contents(memories.derived_from(message))))
                self._add(pools, self._mentions(session.id, message))
            self._add(pools, map(without_user, notes))

    def add_memory(self, session: Session, memory: MemoryId) -> None:
        """Add one memory that is forgotten alone."""
        if pools := self._quoted_pools(session):
            self._add(pools, map(without_user, MemoryStore(self._transaction).contents([memory])))

    def apply(self) -> list[Session]:
        """Rewrite the messages that quote any of it. Returns their sessions."""
        for pools in sorted(self._texts):
            self._rewrite(pools)
        return SessionStore(self._transaction).by_ids(sorted(self._changed)) if self._changed else []

    def _quoted_pools(self, session: Session) -> tuple[PoolId, ...]:
        """The pools of which the session's text may be quoted: its own and, in a shared project, its user's part from the time when
        the project was private, because quotations of that are shown again if it is divided again. Empty if nothing quotes any of
        them: then what is removed need not be read. Locks them in id order, so that no message that quotes them is stored before
        the transaction ends."""
        part = self._pools.find(PoolKey(project=session.project, user=session.user_id))
        pools = tuple(sorted({session.pool, session.pool if part is None else part}))
        for pool in pools:
            if pool not in self._quoted:
                self._pools.lock(pool)
                self._quoted[pool] = any(map(self._messages.is_pool_quoted, (pool, NO_POOL)))
        return pools if any(self._quoted[pool] for pool in pools) else ()

    def _said(self, session: SessionId, message: MessageId | None = None) -> Iterator[str]:
        return map(own_words, self._messages.contents(session, message))

    def _mentions(self, session: SessionId, message: MessageId | None = None) -> Iterator[str]:
        """What is known of entities: a line of an entity begins with its name and type."""
        for name, kind, notes in EntityStore(self._transaction).contents(session, message):
            yield from (f"{name} ({kind})", without_user(notes))

    def _add(self, pools: tuple[PoolId, ...], texts: Iterable[str]) -> None:
        for text in texts:
            known = self._texts.setdefault(pools, ForgottenTexts())
            known.add(text)
            if len(known) >= _MOST_TEXTS:
                self._rewrite(pools)

    def _rewrite(self, pools: tuple[PoolId, ...]) -> None:
        """Also rewrites quotations of `NO_POOL`, which are stored but not shown."""
        texts = self._texts.pop(pools)
        for quoted in (*pools, NO_POOL) if len(texts) else ():
            changed = [
                (message, left, tokens_after(tokens, content, left))
                for message, content, tokens in self._messages.given_text_of(quoted)
                if message >> SEQUENCE_BITS not in self._removed
                and (left := without_forgotten(content, texts)) != content
            ]
            self._messages.set_contents(changed)
            self._note(message for message, _, _ in changed)

    def _note(self, messages: Iterable[MessageId]) -> None:
        """Blank the answers of the requests that recorded the messages: they have fingerprints of the old text."""
        answers = IdempotencyStore(self._transaction)
        for message in messages:
            session = SessionId(message >> SEQUENCE_BITS)
            answers.forget_recording(session, message)
            self._changed.add(session)
