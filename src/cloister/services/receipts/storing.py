"""Store receipts: that of a reply with the reply, those of contexts and searches if their project says so (PRF-1)."""

from collections.abc import Mapping

from cloister.domain.conversation import Message, Project, Session
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import ProjectId, ReceiptId, new_receipt_id
from cloister.domain.project_settings import NO_SETTINGS, receipt_days, retention_days, stores_receipts, stricter
from cloister.domain.receipts.receipt import Receipt, ReceiptKind
from cloister.domain.scope import Reach
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.erasure import RetentionStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.receipts.templates import TemplateStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

_DAY_MICROSECONDS = 86_400 * 1_000_000


def store_with_reply(
    transaction: Transaction,
    receipt: Receipt | None,
    turn: int,
    prompt: str | None,
    session: Session,
    reply: Message | None,
) -> None:
    """Store the receipt of a reply, if there is one, and the template of its `prompt`, unless that is the default one. The receipt
    has the number of the reply, so that it is found by that; that of tool calls alone has the number of the turn."""
    if receipt is None:
        return
    project = _project(transaction, receipt)
    of_tenant = ReceiptStore(transaction).days_of_tenant()
    age = _age(stricter(receipt_days(receipt.kind, _settings(project)), of_tenant))
    ReceiptStore(transaction).add(
        ReceiptId(turn if reply is None else reply.id),
        receipt,
        session=session.id,
        question=receipt.terms.question_id,
        reply=None if reply is None else reply.id,
        expires_at=None if age is None else receipt.created_at + age,
        template=_kept_template(transaction, receipt, project, prompt),
    )


def _kept_template(
    transaction: Transaction, receipt: Receipt, project: Project | None, prompt: str | None
) -> int | None:
    """The stored text of the prompt that a receipt names, so that it can be shown after the prompt was edited. None in a project
    that was deleted meanwhile, whose texts are gone: no receipt shows them."""
    named = None if receipt.sent is None else receipt.sent.template
    if named is None or prompt is None or (project is None and receipt.terms.project is not None):
        return None
    return TemplateStore(transaction).keep(receipt.terms.project, named, prompt)


def set_ages(transaction: Transaction, project: ProjectId | None, settings: Mapping[str, object]) -> None:
    """Set when the receipts of a project expire that has these settings now; the tenant may be stricter."""
    receipts = ReceiptStore(transaction)
    of_tenant = receipts.days_of_tenant()
    kinds: tuple[ReceiptKind, ...] = ("reply", "context")
    reply_age, other_age = (_age(stricter(receipt_days(kind, settings), of_tenant)) for kind in kinds)
    receipts.set_ages(project, reply_age=reply_age, other_age=other_age)


class ReceiptStoring:
    """Stores the receipts of contexts and searches in projects whose setting `store_receipts` is on."""

    def __init__(self, database: Database, generation: int) -> None:
        self._database = database
        self._generation = generation

    def store(self, reach: Reach, receipt: Receipt, session: str | None) -> ReceiptId | None:
        """Store a receipt of a session, or of the project and the user it was searched for; returns its id. None if the project
        does not store receipts, or if the session was moved or deleted meanwhile, or the pool removed."""
        if not receipt.terms.is_stored:
            return None
        return self._database.write(reach, lambda transaction: self._store(transaction, receipt, session))

    def _store(self, transaction: Transaction, receipt: Receipt, session: str | None) -> ReceiptId | None:
        found = None
        if session is not None:
            try:
                found = SessionStore(transaction).lock(session).session
            except NotFound:
                return None
            if found.pool != receipt.terms.pool:
                return None
        PoolStore(transaction, self._generation).lock(receipt.terms.pool)
        if not ReceiptStore(transaction).is_pool_there(receipt.terms.pool):
            return None
        settings = _settings(_project(transaction, receipt))
        if not stores_receipts(settings):
            return None
        days = stricter(
            receipt_days(receipt.kind, settings),
            retention_days(settings),
            RetentionStore(transaction).of_tenant(),
            ReceiptStore(transaction).days_of_tenant(),
        )
        age, id = _age(days), new_receipt_id()
        ReceiptStore(transaction).add(
            id,
            receipt,
            session=None if found is None else found.id,
            question=receipt.terms.question_id,
            expires_at=None if age is None else receipt.created_at + age,
        )
        return id


def _project(transaction: Transaction, receipt: Receipt) -> Project | None:
    """The project in which a receipt was made, unless it was deleted."""
    return None if receipt.terms.project is None else ProjectStore(transaction).find(receipt.terms.project)


def _settings(project: Project | None) -> Mapping[str, object]:
    return NO_SETTINGS if project is None else project.settings


def _age(days: int | None) -> int | None:
    return None if days is None else days * _DAY_MICROSECONDS
