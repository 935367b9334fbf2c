"""The parts of the backends for recall, receipts and explanations: in this process, and over HTTP."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from cloister.bootstrap import Services
from cloister.domain.errors import ProjectRequired
from cloister.domain.identifiers import MessageId, ReceiptId, format_message_id, format_receipt_id
from cloister.domain.scope import Reach
from cloister.domain.sessions.exclusions import ExcludedKind
from cloister.interfaces.python.arguments import PageRequest
from cloister.interfaces.python.backends.interface import ContextQuery, SearchQuery
from cloister.interfaces.python.backends.requests import (
    fields_given,
    filter_field,
    project_field,
    session_path,
    time_fields,
)
from cloister.interfaces.python.pages import ListCursors, Page
from cloister.interfaces.python.recall import shapes as recall_shapes
from cloister.interfaces.python.receipts.exclusion_shapes import Exclusion, exclusion_shape
from cloister.interfaces.python.receipts.hits import Hits
from cloister.interfaces.python.receipts.inline import InlineReceipt
from cloister.interfaces.python.receipts.shapes import (
    Explanation,
    Receipt,
    ReceiptPrompt,
    explanation_shape,
    receipt_prompt_shape,
    receipt_shape,
)
from cloister.services.receipts.exclusions import formatted

if TYPE_CHECKING:  # the HTTP client takes long to load, and an embedded Cloister does not need it
    from cloister.interfaces.python.connection import Connection


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    data: list[recall_shapes.Hit]
    receipt: InlineReceipt | None = None
    receipt_id: str | None = None
    stale: int | None = None


class EmbeddedReceipts:
    """Calls the services in this process."""

    services: Services
    reach: Reach

    def receipt(self, receipt: ReceiptId) -> Receipt:
        return receipt_shape(self.services.receipts.get(self.reach, receipt))

    def receipt_prompt(self, receipt: ReceiptId) -> ReceiptPrompt:
        return receipt_prompt_shape(self.services.receipt_prompts.get(self.reach, receipt))

    def exclude(self, session_id: str, kind: ExcludedKind, item: int) -> Exclusion:
        return exclusion_shape(self.services.receipts.exclusions.exclude(self.reach, session_id, kind, item))

    def include(self, session_id: str, kind: ExcludedKind, item: int) -> None:
        self.services.receipts.exclusions.include(self.reach, session_id, kind, item)

    def exclusions(self, session_id: str, page: PageRequest[int]) -> Page[Exclusion]:
        cursors = ListCursors("exclusions", self.reach.tenant, session_id)
        start = cursors.pair(page.cursor)
        rows = self.services.receipts.exclusions.of_session(self.reach, session_id, after=start)
        return cursors.page(rows[: page.limit + 1], page.limit, shape=exclusion_shape, key=lambda shown: shown.key)

    def explain(self, asked: tuple[str, str] | ReceiptId, message: MessageId) -> Explanation:
        explains = self.services.explain
        if isinstance(asked, tuple):
            return explanation_shape(explains.question(self.reach, *asked, message))
        return explanation_shape(explains.receipt(self.reach, asked, message))


class RemoteReceipts:
    """Asks a server."""

    server: "Connection"
    _default_project_id: Callable[[], str]

    def context(self, session_id: str, query: ContextQuery) -> recall_shapes.Context:
        session_path(session_id)
        given = fields_given(**asdict(replace(query, filter=None)))
        body = {
            "session_id": session_id,
            **given,
            **time_fields(query.asked_at, query.as_of),
            **filter_field(query.filter),
        }
        return self.server.ask("/v1/context", body).one(recall_shapes.Context)

    def search(self, query: SearchQuery) -> Hits:
        """Where neither a session nor a project is named, it is the key's project, else the tenant's default project."""
        if query.session_id is not None:
            session_path(query.session_id)
        given = {
            **fields_given(session_id=query.session_id, user_id=query.user_id, min_relevance=query.min_relevance),
            **time_fields(query.asked_at, query.as_of),
            **filter_field(query.filter),
            **project_field(query.project),
        }
        body = {**given, "query": query.query, "kinds": query.kinds, "limit": query.limit}
        try:
            found = self.server.ask("/v1/search", body).one(_Found)
        except ProjectRequired:
            body["project_id"] = self._default_project_id()
            found = self.server.ask("/v1/search", body).one(_Found)
        return Hits(found.data, found.receipt, found.receipt_id, found.stale)

    def receipt(self, receipt: ReceiptId) -> Receipt:
        return self.server.get(f"/v1/receipts/{format_receipt_id(receipt)}").one(Receipt)

    def receipt_prompt(self, receipt: ReceiptId) -> ReceiptPrompt:
        return self.server.get(f"/v1/receipts/{format_receipt_id(receipt)}/prompt").one(ReceiptPrompt)

    def exclude(self, session_id: str, kind: ExcludedKind, item: int) -> Exclusion:
        body = {"kind": kind, "id": formatted(kind, item)}
        return self.server.change("POST", f"{session_path(session_id)}/exclusions", body).one(Exclusion)

    def include(self, session_id: str, kind: ExcludedKind, item: int) -> None:
        self.server.change("DELETE", f"{session_path(session_id)}/exclusions/{formatted(kind, item)}")

    def exclusions(self, session_id: str, page: PageRequest[int]) -> Page[Exclusion]:
        path = f"{session_path(session_id)}/exclusions"
        return self.server.get(path, limit=page.limit, cursor=page.cursor).page(Exclusion)

    def explain(self, asked: tuple[str, str] | ReceiptId, message: MessageId) -> Explanation:
        if isinstance(asked, tuple):
            session_path(asked[0])
            body = {"session_id": asked[0], "query": asked[1]}
        else:
            body = {"receipt_id": format_receipt_id(asked)}
        return self.server.ask("/v1/explain", {**body, "message_id": format_message_id(message)}).one(Explanation)
