"""Finds the new messages of clients that send their whole history with every turn.

Stored messages are never changed. A client may send all of its history again, a part of it, or an edited copy: only what comes
after the last message that is already stored is new. Replies were made by the server, so an edited copy of a reply is not new.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cloister.domain.conversation import Draft, Message, Role


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMessages:
    """The messages to append, in order. If there are none, `answering` is the stored message that waits for a reply."""

    new: tuple[Draft, ...]
    answering: Message | None = None


def compare(sent: Sequence[Draft], stored: Sequence[Message], *, continues: bool) -> NewMessages:
    """Which of the messages a client sent are new. `stored` is the end of the session, in order. `continues` says that only tool
    results follow the last reply; otherwise the last of `sent` is the question, and new unless it is stored and unanswered."""
    history = sent if continues else sent[:-1]
    new = _after_the_last_known(history, stored)
    if continues:
        asked = _last_asked(stored)
        if asked is None and not _asks(new):
            new = tuple(draft for draft in sent if draft.role == "user")[-1:]
        return NewMessages(new=new, answering=None if new else asked)
    waiting = _unanswered(stored)
    if not new and waiting is not None and _key(sent[-1]) == _key(waiting):
        return NewMessages(new=(), answering=waiting)
    return NewMessages(new=(*new, sent[-1]))


def last_said(sent: Sequence[Draft]) -> tuple[Draft, ...]:
    """The user's messages since the last reply."""
    end = max((index for index, draft in enumerate(sent) if draft.role == "user"), default=-1) + 1
    start = end
    while start and sent[start - 1].role == "user":
        start -= 1
    return tuple(sent[start:end])


def words_key(content: str) -> str:
    """A key that is equal for texts that differ only in whitespace, because clients trim."""
    return " ".join(content.split())


def _after_the_last_known(history: Sequence[Draft], stored: Sequence[Message]) -> tuple[Draft, ...]:
    positions = {_key(message): position for position, message in enumerate(stored)}
    for last in range(len(history) - 1, -1, -1):
        position = positions.get(_key(history[last]))
        if position is None:
            continue
        new = history[last + 1 :]
        if position + 1 < len(stored) and stored[position + 1].role == "assistant":
            while new and new[0].role == "assistant":
                new = new[1:]
        return tuple(new)
    return tuple(history)


def _unanswered(stored: Sequence[Message]) -> Message | None:
    """The user's last message, if it has no completed reply."""
    for message in reversed(stored):
        if message.role == "user":
            return message
        if message.role == "assistant" and message.status == "completed":
            return None
    return None


def _last_asked(stored: Sequence[Message]) -> Message | None:
    return next((message for message in reversed(stored) if message.role == "user"), None)


def _asks(drafts: Sequence[Draft]) -> bool:
    return any(draft.role == "user" for draft in drafts)


def _key(said: Draft | Message) -> tuple[Role, str]:
    return said.role, words_key(said.content)
