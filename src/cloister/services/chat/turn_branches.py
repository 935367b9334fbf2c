"""Which branch of its session a turn continues: after an edited question, and with a reply that is made again.

A reply that is made again is a sibling of the one before. That one stays current until the new one is stored; if the new one
failed, it stays current then too.
"""

from dataclasses import dataclass

from cloister.domain.branches import NO_MESSAGE
from cloister.domain.conversation import Message, Session, Status
from cloister.domain.errors import Conflict, InvalidRequest, NotFound
from cloister.domain.identifiers import MessageId, format_message_id, session_of
from cloister.services.conversations.branches import Branches, check_message, parent_of
from cloister.storage.interface import Transaction
from cloister.storage.stores.branches.branches import BranchStore
from cloister.storage.stores.extraction import ExtractionStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.sessions import SessionStore

_MOST_LATER = 100
"""So many messages after a question are looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyBranch:
    """Where a reply goes that is made again: beside the reply `sibling`, behind the message `after`."""

    sibling: MessageId
    after: MessageId


def leave_for_edit(transaction: Transaction, branches: Branches, session: Session, edited: MessageId) -> Session:
    """Make the messages before a message of the user the current branch, so that the next one is its sibling. The session is
    locked; it is returned as it is then."""
    is_user = False
    if session_of(edited) == session.id:
        found = MessageStore(transaction).found(session.id, session.pool, [edited])
        is_user = bool(found) and found[0].role == "user"
        if found and not is_user:
            raise InvalidRequest("messageId", "is not a message of the user: only what the user said can be edited.")
    if not is_user:
        raise NotFound("message", format_message_id(edited))
    return branches.switch(transaction, session, parent_of(transaction, session, edited))


def asked_again(
    transaction: Transaction, branches: Branches, session: Session, message: MessageId | None
) -> tuple[Session, Message, ReplyBranch | None]:
    """The question to be answered again, and the branch of the new reply: that of the reply `message`, the question `message`, or
    the user's last message. A message of another branch makes that branch current first. The session is locked."""
    messages = MessageStore(transaction)
    if message is None:
        asked = messages.recent(session.id, session.pool, "user", 1, is_forked=session.is_forked)
        if not asked:
            raise Conflict(
                f"Nobody has said anything in the session {session.external_id!r} that could be answered again."
            )
        return session, asked[0], branch_of_reply(transaction, session, asked[0])
    if not check_message(transaction, session, message):
        session = branches.open(transaction, session, message)
    (named,) = messages.found(session.id, session.pool, [message])
    if named.role == "user":
        return session, named, branch_of_reply(transaction, session, named)
    asked = messages.recent(session.id, session.pool, "user", 1, is_forked=True, until=message)
    if named.role != "assistant" or not asked:
        raise InvalidRequest("messageId", "is neither a message of the user nor a reply to one.")
    branch = ReplyBranch(sibling=message, after=parent_of(transaction, session, message))
    return session, asked[0], branch


def branch_of_reply(transaction: Transaction, session: Session, question: Message) -> ReplyBranch | None:
    """The branch of a new reply to a question of the current branch: beside the first reply that it has. None if it has none."""
    later = MessageStore(transaction).page(session.id, session.pool, limit=_MOST_LATER, after=question.id)
    after = question.id
    for message in later:
        if message.role == "assistant":
            return ReplyBranch(sibling=message.id, after=after)
        after = message.id
    return None


def failed_replies(transaction: Transaction, session: Session, question: Message) -> tuple[MessageId, ...]:
    """The failed replies to a question, which go when another reply is stored."""
    store = BranchStore(transaction)
    return tuple(store.failed_replies(session.id, question.id, question.episode, limit=_MOST_LATER))


def make_room(
    transaction: Transaction,
    branches: Branches,
    external_id: str,
    branch: ReplyBranch | None,
    *,
    began_after: MessageId,
    status: Status,
) -> MessageId | None:
    """Prepare a session for a reply that is made again: what it follows becomes the end of the current branch. Or, if the
    reply failed while there are others, or if something was recorded on the current branch since the turn began, the branch stays
    as it is, and the reply is stored aside; returns the message that it follows then. `began_after` was the last message then."""
    if branch is None:
        return None
    session = SessionStore(transaction).lock(external_id).session
    leaf = session.leaf or NO_MESSAGE
    after = _after(transaction, session, branch)
    later = MessageStore(transaction).page(session.id, session.pool, limit=_MOST_LATER, after=after)
    has_words = any(message.status != "failed" for message in later)
    if leaf > began_after or (status == "failed" and has_words):
        return after
    branches.switch(transaction, session, after)
    return None


def _after(transaction: Transaction, session: Session, branch: ReplyBranch) -> MessageId:
    """What the new reply follows now: some of the messages may have been removed since the turn began."""
    present = ExtractionStore(transaction).present(session.id, [branch.sibling, branch.after])
    if branch.sibling in present:
        return parent_of(transaction, session, branch.sibling)
    return branch.after if branch.after in present else session.leaf or NO_MESSAGE
