"""Find the messages in a client's whole history that its session does not have yet (see `domain/history.py`)."""

from collections.abc import Sequence

from cloister.domain.conversation import Draft, Message, Role, Session
from cloister.domain.history import NewMessages, compare, last_said
from cloister.storage.interface import Transaction
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.sessions import SessionStore

_MOST_COMPARED = 1_000
_MOST_REPLIES = 100
_SPOKEN: tuple[Role, ...] = ("user", "assistant")


def compared(
    transaction: Transaction, session: Session | None, sent: Sequence[Draft], *, continues: bool
) -> NewMessages:
    """The new messages of a client's history. A session of None has no messages. If a session was cleared, only what was said since
    the last reply is new: what was forgotten stays so, though the client sends it again."""
    if (
        session is not None
        and not session.message_count
        and SessionStore(transaction).had_messages(session.external_id)
    ):
        sent = last_said(sent)
    stored = [] if session is None or not session.message_count else _stored(transaction, session, len(sent))
    return compare(sent, stored, continues=continues)


def _stored(transaction: Transaction, session: Session, sent: int) -> list[Message]:
    """The last messages of a session, as many as were sent, and all replies to the user's last message, also partial ones."""
    messages = MessageStore(transaction)
    limit = min(sent + 1, _MOST_COMPARED)
    found = [
        message
        for role in _SPOKEN
        for message in messages.recent(session.id, session.pool, role, limit, is_forked=session.is_forked)
    ]
    asked = max((message.id for message in found if message.role == "user"), default=None)
    if asked is not None:
        found += messages.page(session.id, session.pool, limit=_MOST_REPLIES, after=asked)
    spoken = {message.id: message for message in found if message.role in _SPOKEN}
    return [spoken[id] for id in sorted(spoken)]
