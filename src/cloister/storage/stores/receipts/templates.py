"""The texts of prompts that receipts name: each once in a project, until the last receipt that names it is removed (PRF-1)."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.identifiers import MessageId, ProjectId, SessionId, new_template_id
from cloister.storage.interface import Row, Transaction, integers

_ATTEMPTS = 5


class TemplateStore:
    """The tenant's texts of prompts. Who reads one has found a receipt that names it."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def keep(self, project: ProjectId | None, digest: str, template: str) -> int | None:
        """Store a text that a receipt of this project, or of no project, names; returns its id. Texts that are there already stay
        until the transaction ends. None if other transactions add and remove the text all the time."""
        for _ in range(_ATTEMPTS):
            row = self._transaction.row("lock_template", project_id=project, digest=digest)
            if row is None:
                row = self._transaction.row(
                    "insert_template",
                    template_id=new_template_id(),
                    project_id=project,
                    digest=digest,
                    template=template,
                )
            if row is not None:
                return cast(int, row[0])
        return None

    def text(self, project: ProjectId | None, digest: str) -> str | None:
        row = self._transaction.row("template_text", project_id=project, digest=digest)
        return None if row is None else cast(str, row[0])

    def of_session(self, session: SessionId) -> list[int]:
        """The texts that the receipts of a session name."""
        return _numbers(self._transaction.rows("templates_of_session", session_id=session))

    def of_messages(self, session: SessionId, messages: Sequence[MessageId]) -> list[int]:
        """The texts that the receipts name which are about any of these messages of a session."""
        return _numbers(
            self._transaction.rows("templates_of_messages", session_id=session, message_ids=integers(messages))
        )

    def of_expired(self, now: int) -> list[int]:
        """The texts that receipts name which have expired."""
        return _numbers(self._transaction.rows("templates_of_expired", now=now))

    def unused(self) -> list[int]:
        """The texts that no receipt names. Two transactions that remove its last receipts at once leave a text behind, because
        each sees the other's receipt."""
        return _numbers(self._transaction.rows("unused_templates"))


def remove_unused(transaction: Transaction, templates: Sequence[int]) -> None:
    """Remove those of these texts that no receipt names any more. Only they are locked, so that replies with other prompts do not
    wait; the second statement sees a receipt that was stored while the first one waited for it."""
    if not templates:
        return
    unused = _numbers(transaction.rows("lock_unused_templates", template_ids=integers(templates)))
    if unused:
        transaction.execute("delete_unused_templates", template_ids=integers(unused))


def _numbers(rows: Sequence[Row]) -> list[int]:
    return [cast(int, row[0]) for row in rows]
