"""The methods of `Cloister` for receipts and explanations."""

from cloister.domain.identifiers import parse_message_id, parse_receipt_id
from cloister.interfaces.python.arguments import page_request
from cloister.interfaces.python.backends.interface import Backend
from cloister.interfaces.python.pages import Page
from cloister.interfaces.python.receipts.arguments import checked_form
from cloister.interfaces.python.receipts.exclusion_shapes import Exclusion, kind_of, parse_excluded
from cloister.interfaces.python.receipts.shapes import Explanation, Receipt, ReceiptPrompt


class ReceiptMethods:
    """The part of `Cloister` that shows what was given, and why (PRF-1, PRF-2)."""

    _backend: Backend

    def receipt(self, receipt_id: str) -> Receipt:
        """Return the receipt of a reply, a context or a search: what was given, by which rule, and how much was left out and why.

        The receipt of the reply `msg_…` is `rcpt_…` with the same digits. What was forgotten since, or is in another project, is
        only counted.
        """
        return self._backend.receipt(parse_receipt_id(receipt_id))

    def receipt_prompt(self, receipt_id: str) -> ReceiptPrompt:
        """Return the prompt of a reply, message by message, from its receipt.

        Words are looked up now: what was forgotten since, or is in another project, is not in it. `is_exact` says whether it is
        what the model got, and `missing` what is not. The receipt of a context or a search has none: `Conflict`.
        """
        return self._backend.receipt_prompt(parse_receipt_id(receipt_id))

    def exclude(self, session_id: str, item_id: str) -> Exclusion:
        """Exclude a message, a memory or an entity from what a session recalls: it is not relevant there.

        Other sessions recall it as before. What the session cannot recall is `NotFound`, whether it exists or not.
        """
        kind = kind_of(item_id)
        return self._backend.exclude(session_id, kind, parse_excluded(kind, item_id))

    def include(self, session_id: str, item_id: str) -> None:
        """Let a session recall again what it excludes."""
        kind = kind_of(item_id)
        self._backend.include(session_id, kind, parse_excluded(kind, item_id))

    def exclusions(self, session_id: str, *, limit: int = 50, cursor: str | None = None) -> Page[Exclusion]:
        """List what a session excludes, the oldest first, as far as it could recall it now."""
        return self._backend.exclusions(session_id, page_request(limit, cursor))

    def explain(
        self,
        message_id: str,
        *,
        session_id: str | None = None,
        query: str | None = None,
        receipt_id: str | None = None,
    ) -> Explanation:
        """Explain why a message is recalled, or not: in the session `session_id` for `query`, or by the receipt `receipt_id`.

        By a receipt, it is said too what the same question would recall now, if that is different.
        """
        named = checked_form(session_id, query, receipt_id)
        message = parse_message_id(message_id)
        return self._backend.explain(parse_receipt_id(named) if isinstance(named, str) else named, message)
