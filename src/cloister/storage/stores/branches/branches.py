"""The branches of sessions: which message follows which, and which of them are on the current branch."""

from collections.abc import Iterable, Sequence
from typing import cast

from cloister.domain.branches import NO_MESSAGE, BranchTree, Fork, IdRange
from cloister.domain.conversation import Session
from cloister.domain.identifiers import MessageId, SessionId, session_of
from cloister.storage.interface import Row, Transaction, integers
from cloister.storage.stores.messages import MessageStore, span


class BranchStore:
    """The branches of sessions that the caller found through `SessionStore`; those that are changed are locked."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def tree(self, session: SessionId) -> BranchTree:
        first, last = span(session)
        rows = cast(list[tuple[int, int]], self._transaction.rows("forks", first=first, last=last))
        return BranchTree(session, [Fork(MessageId(message), MessageId(parent)) for message, parent in rows])

    def parents(self, session: SessionId, messages: Sequence[MessageId]) -> dict[MessageId, MessageId]:
        """The message that each of these messages of the session follows, or `NO_MESSAGE`; other ids are left out."""
        if not messages:
            return {}
        first, last = span(session)
        rows = self._transaction.rows("message_parents", first=first, last=last, message_ids=integers(messages))
        return {MessageId(message): MessageId(parent) for message, parent in cast(list[tuple[int, int]], rows)}

    def set_parent(self, message: MessageId, parent: MessageId) -> None:
        """Make a message a fork."""
        self._transaction.execute("set_parent", message_id=message, parent_id=parent)

    def behind(self, session: SessionId, message: MessageId) -> MessageId:
        """The next message of the session, on whatever branch; `NO_MESSAGE` if there is none."""
        first, last = span(session)
        row = self._transaction.row("message_behind", message_id=max(message, first), last=last)
        return NO_MESSAGE if row is None else MessageId(cast(int, row[0]))

    def last_in(self, ranges: Sequence[IdRange]) -> MessageId:
        """The last message in ranges of ids, which are in order; `NO_MESSAGE` if there is none."""
        for each in reversed(ranges):
            row = self._transaction.row("last_message", first=each.low - 1, last=each.high)
            if row is not None and row[0] is not None:
                return MessageId(cast(int, row[0]))
        return NO_MESSAGE

    def current_in(self, ranges: Iterable[IdRange]) -> list[MessageId]:
        """The messages in these ranges that are on the current branch."""
        return [
            message
            for each in ranges
            for message in _ids(self._transaction.rows("current_in_range", low=each.low, high=each.high))
        ]

    def others_in(self, ranges: Iterable[IdRange]) -> list[MessageId]:
        """The messages in these ranges that are not on the current branch."""
        return [
            message
            for each in ranges
            for message in _ids(self._transaction.rows("others_in_range", low=each.low, high=each.high))
        ]

    def move(self, session: SessionId, tree: BranchTree, path: Sequence[IdRange]) -> None:
        """Put the messages of a path on the current branch, and take all others off it. Those that come back are to be extracted
        again, unless they are settled."""
        for each in tree.outside(path):
            self._transaction.execute("take_off_branch", low=each.low, high=each.high)
        for each in path:
            self._transaction.execute("put_on_branch", session_id=session, low=each.low, high=each.high)

    def set_leaf(self, session: SessionId, leaf: MessageId, *, is_forked: bool) -> None:
        """Record the last message of the current branch, where nothing else changed."""
        self._transaction.execute("set_leaf", session_id=session, leaf_id=leaf or None, is_forked=int(is_forked))

    def note_change(
        self, session: SessionId, leaf: MessageId, *, is_forked: bool, version: int, is_due: bool, now: int
    ) -> None:
        """Record another current branch. A worker's lease is lost; with `is_due` the session is due for extraction."""
        self._transaction.execute(
            "set_branch",
            session_id=session,
            leaf_id=leaf or None,
            is_forked=int(is_forked),
            version=version,
            is_due=int(is_due),
            now=now,
        )

    def has_others(self, session: SessionId) -> bool:
        """Whether any message is not on the current branch."""
        first, last = span(session)
        return self._transaction.row("has_other_branches", first=first, last=last) is not None

    def remove(self, session: Session, messages: Sequence[MessageId]) -> int:
        """Remove messages of a session; returns how many there were. What followed them follows their parents; if the last message
        of the current branch is removed, its parent is that. No other branch becomes current."""
        messages = [message for message in messages if session_of(message) == session.id]
        store, leaf = MessageStore(self._transaction), session.leaf or NO_MESSAGE
        if not session.is_forked:
            removed = store.remove(session.id, messages)
            if leaf in messages:
                first, _ = span(session.id)
                self.set_leaf(session.id, self.last_in([IdRange(MessageId(first + 1), leaf)]), is_forked=False)
            return removed
        removed = 0
        for message in messages:
            parent = self._detach(session.id, message)
            leaf = parent if leaf == message else leaf
            removed += store.remove(session.id, [message])
        is_forked = self.has_others(session.id)
        if not is_forked:
            self._unite(session.id)
        self.set_leaf(session.id, leaf, is_forked=is_forked)
        return removed

    def _detach(self, session: SessionId, message: MessageId) -> MessageId:
        """Have the messages that follow one follow its parent instead, before it is removed; returns that parent."""
        _, last = span(session)
        parent = self.parents(session, [message]).get(message, NO_MESSAGE)
        self._transaction.execute("give_children", message_id=message, last=last, parent_id=parent)
        behind = self.behind(session, message)
        if behind != NO_MESSAGE and self._is_fork(message) and not self._is_fork(behind):
            self.set_parent(behind, parent)
        return parent

    def _is_fork(self, message: MessageId) -> bool:
        return bool(self._transaction.rows("forks", first=message - 1, last=message))

    def _unite(self, session: SessionId) -> None:
        """Forget the forks of a session whose messages are all on the current branch: each follows the one before it."""
        first, last = span(session)
        self._transaction.execute("forget_forks", first=first, last=last)

    def uncheck(self, session: SessionId, messages: Sequence[MessageId]) -> None:
        """Have messages read again by an extraction, unless they are settled."""
        self._transaction.execute("uncheck_messages", session_id=session, message_ids=integers(messages))

    def failed_replies(
        self, session: SessionId, question: MessageId, episode: MessageId, *, limit: int
    ) -> list[MessageId]:
        """The failed replies to a question, on any branch."""
        first, last = span(session)
        rows = self._transaction.rows(
            "failed_replies", message_id=max(question, first), last=last, episode_id=episode, limit=limit
        )
        return _ids(rows)


def _ids(rows: Sequence[Row]) -> list[MessageId]:
    return [MessageId(cast(int, row[0])) for row in rows]
