"""Who said it: how speakers are named in a prompt (MEM-11).

Where one user's words can meet another's, as in a shared project, every quoted line names its speaker. Sessions without a user are
one unnamed user there, and simply "the user" where no other is in sight. A name is somebody's choice,
so it always stands in quotation marks behind a word of ours: the user who calls themselves "assistant" is `user "assistant"`.
Stored text stays neutral ("The user …"); it is named when it is read, so nothing has to be rewritten when a session moves.
"""

import unicodedata

from cloister.domain.conversation import Message
from cloister.domain.patterns import linear

_LONGEST = 80
_NOBODYS_NAME = frozenset(
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
# "The user" at the beginning of a sentence, where it is the person and not the first word of a thing ("The user interface").
_THE_USER = linear(
    r"(?:\A|(?<=[.!?…] ))(?:The user(?=[ '’:])(?! (?:\x22|(?:interface|base|experience|guide|manual|account)s?\b))|User(?=:))"
)


def is_plain_name(name: str) -> bool:
    """Whether a name can stand in a sentence without being read as somebody else, or as the end of the sentence."""
    words = unicodedata.normalize("NFKC", name).casefold().split()
    return not _NOBODYS_NAME.intersection(words) and all(c.isalnum() or c in " -'’._" for c in name)


def user_named(user: str | None) -> str:
    return _UNNAMED if user is None else f"user {in_quotes(user)}"


def speaker(message: Message, user: str | None, *, named: bool) -> str:
    """Who said a message, `user` being the user of its session: its role, and its author's name where it has one. With `named` also
    whose session it was said in."""
    name = message.author
    if message.role != "user":
        said_by = message.role if name is None else f"{message.role} {in_quotes(name)}"
        return f"{said_by} to {user_named(user)}" if named else said_by
    if name is None:
        return user_named(user) if named else "user"
    of_user = f" of {user_named(user)}" if named and user not in (None, name) else ""
    return f"user {in_quotes(name)}{of_user}"


def attributed(statement: str, user: str | None, *, named: bool) -> str:
    """What was kept of a user's words: with the user's name, or as it is stored."""
    if not named or not statement:
        return statement
    who = user_named(user)
    return with_user(statement, user) if _THE_USER.match(statement) else f"{who}: {with_user(statement, user)}"


def with_user(statement: str, user: str | None) -> str:
    """With the user's name in the place of "The user" at the beginning of a sentence."""
    who = user_named(user)
    return _THE_USER.sub(lambda _: f"{who[0].upper()}{who[1:]}", statement)


def without_user(statement: str) -> str:
    """The first part of a statement that is the same whoever it names as its user."""
    return next((part for part in _THE_USER.split(statement) if part.strip()), "")


def listener(user: str | None) -> str:
    """Who is talking now, for a block in which several people are quoted."""
    return f"Several people may be quoted here. The one you are talking with is {user_named(user)}."


def in_quotes(name: str) -> str:
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return '"' + short.replace('"', "'") + '"'
