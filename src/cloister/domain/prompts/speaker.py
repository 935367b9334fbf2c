"""How speakers are named in a prompt (MEM-11).

Where several users may be quoted, as in a shared project, every quoted line names its speaker. Sessions without a user count as one
unnamed user there, and as "the user" elsewhere. Names are untrusted, so a name is always quoted after a word of ours: a user who is
called "assistant" becomes `user "assistant"`. Stored text says "The user …"; names are inserted when it is read, so that nothing
has to be rewritten when a session moves.
"""

import unicodedata

from cloister.domain.conversation import Message
from cloister.domain.patterns import linear

_LONGEST = 80
_RESERVED_NAMES = frozenset(
    (
        "user",
        "users",
        "assistant",
        "system",
        "tool",
        "developer",
        "human",
        "ai",
        "bot",
        "model",
        "i",
        "you",
        "me",
        "unnamed",
    )
)
_UNNAMED = "an unnamed user"
# "The user" at the beginning of a sentence, where it means the person and not a thing such as "The user interface".
_THE_USER = linear(
    r"(?:\A|(?<=[.!?…] ))(?:The user(?=[ '’:])(?! (?:\x22|(?:interface|base|experience|guide|manual|account)s?\b))|User(?=:))"
)

# One of these is in whatever that matches. To look for them takes a tenth of the time.
_OF_THE_USER = ("The user", "User:")


def is_plain_name(name: str) -> bool:
    """Whether a name can be used in a sentence without being read as another person, or as the end of the sentence."""
    words = unicodedata.normalize("NFKC", name).casefold().split()
    return not _RESERVED_NAMES.intersection(words) and all(c.isalnum() or c in " -'’._" for c in name)


def user_named(user: str | None) -> str:
    return _UNNAMED if user is None else f"user {in_quotes(user)}"


def speaker(message: Message, user: str | None, *, named: bool) -> str:
    """The speaker of a message: its role, and its author's name if it has one. With `named` also the user of its session, which is
    `user`."""
    return speaker_of(message.role, message.author, user, named=named)


def speaker_of(role: str, author: str | None, user: str | None, *, named: bool) -> str:
    """The same, of a message with this role and author."""
    if role != "user":
        said_by = role if author is None else f"{role} {in_quotes(author)}"
        return f"{said_by} to {user_named(user)}" if named else said_by
    if author is None:
        return user_named(user) if named else "user"
    of_user = f" of {user_named(user)}" if named and user not in (None, author) else ""
    return f"user {in_quotes(author)}{of_user}"


def attributed(statement: str, user: str | None, *, named: bool) -> str:
    """A stored statement about a user, with the user's name if `named`."""
    if not named or not statement:
        return statement
    who = user_named(user)
    capitalised = f"{who[0].upper()}{who[1:]}"
    begins = _THE_USER.match(statement)
    begin, head = (0, f"{who}: ") if begins is None else (begins.end(), capitalised)
    if all(statement.find(words, begin) < 0 for words in _OF_THE_USER):
        return f"{head}{statement[begin:]}"
    return f"{head if begins is None else ''}{_THE_USER.sub(lambda _: capitalised, statement)}"


def without_user(statement: str) -> str:
    """The first part of a statement that is the same whoever it names as its user."""
    return next((part for part in _THE_USER.split(statement) if part.strip()), "")


def listener(user: str | None) -> str:
    """A sentence that names the current user, for a block that quotes several people."""
    return f"Several people may be quoted here. The one you are talking with is {user_named(user)}."


def in_quotes(name: str) -> str:
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return '"' + short.replace('"', "'") + '"'
