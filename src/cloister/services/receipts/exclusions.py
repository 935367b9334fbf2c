"""Exclude something from what one session recalls, and take that back: 'not relevant here'.

Only what the session could recall now can be excluded: any other id is not found, whether it exists or not. An exclusion of
something that is in another pool now is neither listed nor can it be taken back; it counts again when both are in one pool.
"""

from dataclasses import dataclass

from cloister.domain.conversation import Session
from cloister.domain.errors import Conflict, NotFound
from cloister.domain.identifiers import format_entity_id, format_memory_id, format_message_id
from cloister.domain.prompts.speaker import attributed
from cloister.domain.receipts.receipt import ReceiptItem
from cloister.domain.scope import Reach
from cloister.domain.sessions.exclusions import MOST_EXCLUSIONS, ExcludedKind, Exclusion
from cloister.domain.timestamps import Clock
from cloister.services.receipts.items import ItemWords, PoolItems
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.receipts.exclusions import ExclusionStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

_FORMATS = {"message": format_message_id, "memory": format_memory_id, "entity": format_entity_id}


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownExclusion:
    """An exclusion, and what it excludes as it is now."""

    exclusion: Exclusion
    words: ItemWords

    @property
    def key(self) -> tuple[int, int]:
        """Its position in a list."""
        return self.exclusion.created_at, self.exclusion.id


class Exclusions:
    """Each call is one transaction."""

    def __init__(self, database: Database, generation: int, clock: Clock) -> None:
        self._database = database
        self._generation = generation
        self._clock = clock

    def exclude(self, reach: Reach, session: str, kind: ExcludedKind, item: int) -> ShownExclusion:
        """Exclude an item from what a session recalls. What is excluded already stays so."""

        def work(transaction: Transaction) -> ShownExclusion:
            found = SessionStore(transaction).lock(session).session
            words = self._words(transaction, found, [(kind, item)]).get((kind, item))
            if words is None:
                raise NotFound(kind, formatted(kind, item))
            store = ExclusionStore(transaction, found.id)
            there = store.all()
            same = next((each for each in there if (each.kind, each.item) == (kind, item)), None)
            if same is None and len(there) >= MOST_EXCLUSIONS:
                raise Conflict(f"A session excludes at most {MOST_EXCLUSIONS} items: include others again first.")
            return ShownExclusion(exclusion=same or store.add(kind, item, self._clock()), words=words)

        return self._database.write(reach, work)

    def include(self, reach: Reach, session: str, kind: ExcludedKind, item: int) -> None:
        """Take an exclusion back."""

        def work(transaction: Transaction) -> None:
            found = SessionStore(transaction).lock(session).session
            store = ExclusionStore(transaction, found.id)
            same = next((each for each in store.all() if (each.kind, each.item) == (kind, item)), None)
            if same is None or not self._words(transaction, found, [(kind, item)]):
                raise NotFound("exclusion", formatted(kind, item))
            store.remove(same.id)

        self._database.write(reach, work)

    def of_session(self, reach: Reach, session: str, *, after: tuple[int, int] | None = None) -> list[ShownExclusion]:
        """The exclusions of a session of what is in its pool now, oldest first; `after` is the key of the last one of the page
        before."""
        with self._database.read(reach) as transaction:
            found = SessionStore(transaction).get(session)
            there = ExclusionStore(transaction, found.id).all()
            words = self._words(transaction, found, [(each.kind, each.item) for each in there])
            shown = [
                ShownExclusion(exclusion=each, words=words[each.kind, each.item])
                for each in there
                if (each.kind, each.item) in words
            ]
            return sorted((each for each in shown if after is None or each.key > after), key=lambda each: each.key)

    def _words(
        self, transaction: Transaction, session: Session, wanted: list[tuple[ExcludedKind, int]]
    ) -> dict[tuple[str, int], ItemWords]:
        """What of this the session could recall now, with its words; in a shared project a memory names its user."""
        project = None if session.project is None else ProjectStore(transaction).get(session.project)
        scope = session.scope(None if project is None else project.member_visibility)
        if not wanted or PoolStore(transaction, self._generation).find(scope.pool) != session.pool:
            return {}
        now = self._clock()
        items = [ReceiptItem(kind, item, "match") for kind, item in wanted]
        found = PoolItems(transaction, self._generation, scope, session.pool, now).of(items, since=now)
        return {
            (kind, number): words._replace(content=attributed(words.content, words.user, named=scope.shared))
            if kind == "memory"
            else words
            for (kind, number), words in found.words().items()
        }


def formatted(kind: ExcludedKind, item: int) -> str:
    """The outside id of what is excluded."""
    return _FORMATS[kind](item)  # pyright: ignore[reportArgumentType]
