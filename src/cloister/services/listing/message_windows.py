"""List the messages of a session by windows: a conversation opens at its end, or at one message, without reading all of it."""

from bisect import bisect_left
from collections.abc import Sequence

from cloister.domain.conversation import Message, Session
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import MessageId, format_message_id, session_of
from cloister.domain.recall.filter import Filter
from cloister.domain.receipts.receipt import ReceiptSummary
from cloister.domain.scope import Reach
from cloister.domain.sessions.windows import MessageRange, Window, halves
from cloister.domain.timestamps import Clock
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.filters import FilterStore, SessionNames
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.receipts.receipts import ReceiptStore
from cloister.storage.stores.sessions import SessionStore


class MessageWindows:
    """Each call reads one snapshot."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def page(
        self,
        reach: Reach,
        external_id: str,
        asked: MessageRange,
        *,
        limit: int,
        filter: Filter | None = None,
        with_receipts: bool = False,
        all_branches: bool = False,
    ) -> tuple[Session, Window, list[ReceiptSummary]]:
        """The session, at most `limit` of the messages of its current branch, or of all its branches, each with its parent, with a
        filter of those that it lets pass, and the receipts of the replies among them, if asked for. `NotFound` for a message that
        is not of this session, whether it exists or not."""
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            _check(transaction, session, asked)
            if filter is None:
                window = _window(_Reader(transaction, session, all_branches), asked, limit)
            else:
                window = _filtered(transaction, session, asked, limit, filter, all_branches)
            parents = BranchStore(transaction).parents(session.id, [message.id for message in window.messages])
            shown = [message._replace(parent=parents.get(message.id) or None) for message in window.messages]
            window = window._replace(messages=shown)
            receipts: list[ReceiptSummary] = []
            if with_receipts:
                replies = [message.id for message in window.messages if message.role == "assistant"]
                receipts = ReceiptStore(transaction).summaries(session.id, replies, self._clock())
            return session, window, receipts


def _check(transaction: Transaction, session: Session, asked: MessageRange) -> None:
    message = asked.message
    if message is None:
        return
    is_there = session_of(message) == session.id
    if is_there and asked.is_named:
        is_there = bool(ExtractionStore(transaction).present(session.id, [message], all_branches=True))
    if not is_there:
        raise NotFound("message", format_message_id(message))


class _Reader:
    """Reads the messages of one session: those of its current branch, or those of all."""

    def __init__(self, transaction: Transaction, session: Session, all_branches: bool) -> None:
        self._messages = MessageStore(transaction)
        self._session = session
        self._all_branches = all_branches

    def after(self, message: MessageId | None, limit: int) -> list[Message]:
        return self._messages.page(
            self._session.id, self._session.pool, limit=limit, after=message, all_branches=self._all_branches
        )

    def before(self, message: MessageId | None, limit: int) -> list[Message]:
        return self._messages.before(
            self._session.id, self._session.pool, message, limit=limit, all_branches=self._all_branches
        )


def _window(messages: _Reader, asked: MessageRange, limit: int) -> Window:
    if asked.direction == "after":
        found = messages.after(asked.message, limit + 1)
        is_first = asked.message is None or not messages.before(_next(asked), 1)
        return Window(found[:limit], not is_first, len(found) > limit)
    if asked.direction == "before":
        found = messages.before(asked.message, limit + 1)
        behind = asked.message is not None and messages.after(MessageId(asked.message - 1), 1)
        return Window(found[-limit:], len(found) > limit, bool(behind))
    message = asked.message
    assert message is not None
    earlier = messages.before(message, limit + 1)
    later = messages.after(MessageId(message - 1), limit + 1)
    before, after = halves(len(earlier), len(later), limit)
    shown = [*earlier[len(earlier) - before :], *later[:after]]
    return Window(shown, len(earlier) > before, len(later) > after)


def _filtered(
    transaction: Transaction, session: Session, asked: MessageRange, limit: int, wanted: Filter, all_branches: bool
) -> Window:
    """The same among the messages that the filter lets pass, which are all looked at."""
    names = SessionNames(session.external_id, session.user_id)
    passing = FilterStore(transaction).session_messages(session.id, names, wanted, after=0, all_branches=all_branches)
    begin, end = _span(passing, asked, limit)
    shown = MessageStore(transaction).found(session.id, session.pool, passing[begin:end])
    return Window(shown, begin > 0, end < len(passing))


def _span(passing: Sequence[MessageId], asked: MessageRange, limit: int) -> tuple[int, int]:
    """The positions of the first message of a window, and of the one behind its last."""
    if asked.direction == "after":
        begin = 0 if asked.message is None else bisect_left(passing, _next(asked))
        return begin, min(begin + limit, len(passing))
    middle = len(passing) if asked.message is None else bisect_left(passing, asked.message)
    if asked.direction == "before":
        return max(0, middle - limit), middle
    before, after = halves(middle, len(passing) - middle, limit)
    return middle - before, middle + after


def _next(asked: MessageRange) -> MessageId:
    """The smallest id behind the message."""
    return MessageId((asked.message or 0) + 1)
