"""Read a receipt: what it names is looked up now, in the pool it was recalled from, if the reader may still read that (ISO-12).

What is no longer there is only counted. An item that the reader could still find by its id, in another project or on another
branch of its session, is counted as such; all others as forgotten, so that a reader with a narrow key cannot tell whether a
foreign item exists.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cloister.domain.conversation import Session
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, ReceiptId, format_receipt_id
from cloister.domain.prompts.recalled_text import NO_POOL
from cloister.domain.receipts.receipt import Receipt, ReceiptItem, Sent, StoredReceipt
from cloister.domain.scope import Reach, Scope
from cloister.domain.timestamps import Clock
from cloister.services.receipts.exclusions import Exclusions
from cloister.services.receipts.items import FoundItems, ItemWords, PoolItems
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore


class ShownItem(NamedTuple):
    """An item that is still in its pool, with its words."""

    item: ReceiptItem
    words: ItemWords

    @property
    def content(self) -> str:
        return self.words.content

    @property
    def session(self) -> str | None:
        return self.words.session


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownReceipt:
    """A receipt as one reader may see it. `hidden` counts the items that are not shown: `another_project` for those of a pool that
    the session has left, and those that moved to another pool; `other_branch` for messages that are not on the current branch of
    their session; `forgotten` for the others. `version` is that of the pool now; None
    if the reader may not read it. `conversation` are those of the session's messages that still exist. The question is that of a
    context or a search; that of a reply is a message. `found` are the items that are shown, as they are stored. `shows_template`:
    the reader may see the prompt that was sent; `other_pool` says in words where the items of another pool are from."""

    stored: StoredReceipt
    items: tuple[ShownItem, ...]
    hidden: Mapping[str, int]
    conversation: tuple[MessageId, ...]
    version: int | None
    found: FoundItems | None = None
    shows_template: bool = True
    other_pool: str = "in another pool"

    @property
    def receipt(self) -> Receipt:
        return self.stored.receipt

    @property
    def summary(self) -> tuple[str, ...]:
        """What is hidden, in words."""
        phrases = {
            "another_project": self.other_pool,
            "other_branch": "on another branch",
            "forgotten": "forgotten",
        }
        return tuple(
            f"{count:,} item{'' if count == 1 else 's'} {phrases[reason]}"
            for reason, count in self.hidden.items()
            if count
        )


class Receipts:
    """Each call reads one snapshot."""

    def __init__(self, database: Database, generation: int, clock: Clock) -> None:
        self._database = database
        self._generation = generation
        self._clock = clock
        self.exclusions = Exclusions(database, generation, clock)

    def get(self, reach: Reach, id: ReceiptId) -> ShownReceipt:
        with self._database.read(reach) as transaction:
            return self.shown(transaction, find_receipt(transaction, id, self._clock()))

    def shown(self, transaction: Transaction, stored: StoredReceipt) -> ShownReceipt:
        """The receipt as the caller of this transaction may see it."""
        receipt = stored.receipt
        scope = scope_of(transaction, stored)
        pools = PoolStore(transaction, self._generation)
        pool = None if scope is None else pools.find(scope.pool)
        conversation = self._conversation(transaction, stored)
        if scope is None or pool is None or pool != receipt.terms.pool or pool == NO_POOL:
            hidden = {"another_project": len(receipt.items), "other_branch": 0, "forgotten": 0}
            return ShownReceipt(
                stored=stored,
                items=(),
                hidden=hidden,
                conversation=conversation,
                version=None,
                shows_template=False,
                other_pool=_left_pool(receipt, scope),
            )
        rows = pools.rows(scope)
        assert rows is not None
        items = PoolItems(transaction, self._generation, scope, pool, self._clock())
        found = items.of(receipt.items, since=receipt.created_at)
        texts = found.words()
        shown = tuple(
            ShownItem(item, texts[item.kind, item.id]) for item in receipt.items if (item.kind, item.id) in texts
        )
        gone = [item for item in receipt.items if (item.kind, item.id) not in texts]
        reached = ReceiptStore(transaction).messages_in_reach([item.id for item in gone if item.kind == "message"])
        aside = sum(item.kind == "message" and reached.get(item.id) is False for item in gone)
        moved = sum(item.kind == "message" and reached.get(item.id) is True for item in gone)
        return ShownReceipt(
            stored=stored,
            items=shown,
            hidden={"another_project": moved, "other_branch": aside, "forgotten": len(gone) - moved - aside},
            conversation=conversation,
            version=rows.state()[0],
            found=found,
            shows_template=may_read_template(transaction.reach, receipt.sent),
        )

    def _conversation(self, transaction: Transaction, stored: StoredReceipt) -> tuple[MessageId, ...]:
        sent = stored.receipt.sent
        if sent is None or stored.session is None:
            return ()
        present = ExtractionStore(transaction).present(stored.session, sent.conversation, all_branches=True)
        return tuple(message for message in sent.conversation if message in present)


def may_read_template(reach: Reach, sent: Sent | None) -> bool:
    """Settings of a project are not shown to a caller that is bound to one user, so neither is its prompt."""
    return reach.user is None or sent is None or sent.prompt != "project"


def _left_pool(receipt: Receipt, scope: Scope | None) -> str:
    """Where all items of a receipt are from, if its session is in another pool now. That may be one of the same project, after its
    visibility was changed, and the items may be from no project."""
    if scope is None:
        return "from a project that was deleted"
    has_moved = receipt.terms.project is not None and receipt.terms.project != scope.project
    return "from another project" if has_moved else "from another pool"


def find_receipt(transaction: Transaction, id: ReceiptId, now: int) -> StoredReceipt:
    """The receipt with this id within the caller's reach; a foreign one and a missing one are the same error."""
    stored = ReceiptStore(transaction).find(id, now)
    if stored is None:
        raise NotFound("receipt", format_receipt_id(id))
    return stored


def session_of_receipt(transaction: Transaction, stored: StoredReceipt) -> Session | None:
    return None if stored.session_name is None else SessionStore(transaction).get(stored.session_name)


def scope_of(transaction: Transaction, stored: StoredReceipt) -> Scope | None:
    """The scope in which the items of a receipt may be read now: that of its session, or of its project and user. None if the
    project was deleted."""
    session = session_of_receipt(transaction, stored)
    terms, reach = stored.receipt.terms, transaction.reach
    project_id = terms.project if session is None else session.project
    project = None if project_id is None else ProjectStore(transaction).find(project_id)
    if project_id is not None and project is None:
        return None
    if session is not None:
        return session.scope(None if project is None else project.member_visibility)
    if project is None:
        return Scope(tenant=reach.tenant, project=None, user=terms.user)
    return Scope(tenant=reach.tenant, project=project.id, user=terms.user, visibility=project.member_visibility)
