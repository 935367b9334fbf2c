"""Reads memories that a person or a program wrote as statements about the user, and compares them with what is known (MEM-12). What
is stored stays as it was written. A text that may be about somebody else is compared with nothing."""

from collections.abc import Iterable, Sequence

from cloister.domain.extraction import FactOfMemory, KnownMemory, ManualMemory
from cloister.domain.identifiers import MessageId
from cloister.domain.patterns import linear
from cloister.domain.prompts.speaker import is_plain_name
from cloister.models.rules.changes.canonical import USER, canonical
from cloister.models.rules.changes.supersession import NewMemory, Supersession
from cloister.models.rules.facts import Fact, Speaker, speaker_named

_SEVERAL_SENTENCES = linear(r"[.!?;] +\S")
_NO_SOURCE = MessageId(0)


def read_manual(
    manual: Sequence[ManualMemory], known: Iterable[KnownMemory], user: str | None, authors: Iterable[str]
) -> list[FactOfMemory]:
    """What each memory is a fact of, and which known ones it makes untrue; in the order in which they were written. `user` is the
    id of the session's user and `authors` are the names of its speakers: only their names stand for a person who is known here."""
    named = _speakers(user, authors)
    supersession = Supersession(known, lambda content: canonical(content, named)[0])
    found: list[NewMemory | None] = []
    for memory in manual:
        statement, speaker = canonical(memory.content, named, is_own=memory.is_own)
        if speaker is None or _SEVERAL_SENTENCES.search(statement):
            found.append(None)
            continue
        fact = Fact(category="self", content=statement)
        found.append(supersession.add(fact, speaker, memory.said_at, _NO_SOURCE, stored=memory.content))
    return [FactOfMemory() if new is None else FactOfMemory(new.subject, tuple(new.replaces)) for new in found]


def _speakers(user: str | None, authors: Iterable[str]) -> dict[str, Speaker]:
    """The names that stand for a person, in lower case. The id of the user, if it is a name, stands for the user."""
    found = {author.casefold(): speaker_named(author) for author in authors if is_plain_name(author)}
    if user is not None and len(user) > 1 and is_plain_name(user):
        found[user.casefold()] = USER
    return found
