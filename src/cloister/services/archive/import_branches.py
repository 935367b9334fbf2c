"""Import messages of a session with branches. What is stored already keeps its parent, and stays on its branch."""

from collections.abc import Sequence

from cloister.domain.branches import NO_MESSAGE
from cloister.domain.conversation import Message, Session
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import MessageId
from cloister.storage.interface import Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.messages import Indexed


class BranchImport:
    """Places messages that are not stored yet, in order, in the branches of a locked session: `placed` before they are stored, and
    `finish` after that.

    A message is on the current branch if it was in the archive, and continues the current branch here. Where neither the session
    nor the archive is forked nothing has to be done: each message follows the one before it."""

    def __init__(self, transaction: Transaction, session: Session, *, is_archive_forked: bool) -> None:
        self._transaction = transaction
        self._branches = BranchStore(transaction)
        self._session = session
        self._new: list[Message] = []
        self._leaf = session.leaf or NO_MESSAGE
        self._is_needed = session.is_forked or is_archive_forked
        self._stored: dict[MessageId, MessageId] = {}

    def placed(self, new: Sequence[tuple[Message, Indexed]]) -> Sequence[tuple[Message, Indexed]]:
        """The messages as they are to be stored. Notes the parents of stored messages that come directly behind them."""
        if not self._is_needed:
            return new
        self._new = [message for message, _ in new]
        behind = {self._branches.behind(self._session.id, message.id) for message in self._new}
        known = [message for message in behind if message != NO_MESSAGE]
        self._stored = self._branches.parents(self._session.id, known)
        return [(self._placed(message), indexed) for message, indexed in new]

    def _placed(self, message: Message) -> Message:
        is_current = message.is_current and (message.parent or NO_MESSAGE) == self._leaf
        if is_current:
            self._leaf = message.id
        return message._replace(is_current=is_current, is_memory_checked=is_current and message.is_memory_checked)

    def finish(self) -> None:
        """Store the parents, and the last message of the current branch. Raises if a parent is not in the archive."""
        if not self._is_needed:
            return
        named = [message.parent for message in self._new if message.parent is not None]
        if set(named) - ExtractionStore(self._transaction).present(self._session.id, named, all_branches=True):
            raise InvalidRequest("message.parent_id", "must be a message before it.")
        wanted = {message.id: message.parent or NO_MESSAGE for message in self._new} | self._stored
        follows = self._branches.parents(self._session.id, sorted(wanted))
        for message, parent in sorted(wanted.items()):
            if follows.get(message) != parent:
                self._branches.set_parent(message, parent)
        is_forked = self._branches.has_others(self._session.id)
        self._branches.set_leaf(self._session.id, self._leaf, is_forked=is_forked)
