"""What of a conversation is stored already: decided by the ids of its messages in the source and by their words.

The same id with other words is another conversation. A message that is missing, while a later one of the conversation is stored,
was imported once and forgotten: nothing of a forgotten message has to be remembered to know that.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from cloister.domain.archive.conversations import SpokenRecord
from cloister.domain.identifiers import ProjectId
from cloister.domain.text import MAX_NAME

_POSITION = "position "
_MOST_DIGITS = 12
_DIGEST_BYTES = 16
_SUFFIX_DIGITS = 12


def position_id(position: int) -> str:
    """The source id of a message that has none of its own: its position in the conversation."""
    return f"{_POSITION}{position}"


def words_digest(role: str, content: str) -> bytes:
    """A digest of what was said, by which messages are compared. It is never stored."""
    return hashlib.blake2b(f"{role}\n{content}".encode(), digest_size=_DIGEST_BYTES).digest()


@dataclass(kw_only=True, slots=True)
class StoredWords:
    """The imported messages of one session up to the message `seen`: digests of their words by their ids in the source."""

    digests: dict[str, bytes] = field(default_factory=dict[str, bytes])
    last_position: int = 0
    seen: int = 0

    def add(self, source_id: str, digest: bytes) -> None:
        self.digests[source_id] = digest
        self.last_position = max(self.last_position, _position_of(source_id))


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """The messages of a part of a conversation, compared with those of a session.

    `undecided` are missing at the end of the part: a later part shows whether they are new or forgotten. `other` are the messages
    from the first one on that is stored with other words. `overlaps` if a message of the part is stored, or none at all is.
    """

    new: tuple[SpokenRecord, ...]
    unchanged: int
    forgotten: int
    undecided: tuple[SpokenRecord, ...]
    other: tuple[SpokenRecord, ...]
    overlaps: bool


def compare(spoken: Sequence[SpokenRecord], stored: StoredWords, *, is_last: bool) -> Comparison:
    """Compare a part of a conversation, the last one or not, with the imported messages of a session."""
    unchanged = forgotten = found = 0
    missing: dict[str, tuple[SpokenRecord, bytes]] = {}
    other: tuple[SpokenRecord, ...] = ()
    for at, each in enumerate(spoken):
        digest = words_digest(each.role, each.content)
        is_stored = each.source_id in stored.digests
        if not is_stored and each.source_id not in missing:
            if 0 < _position_of(each.source_id) < stored.last_position:
                forgotten += 1
            else:
                missing[each.source_id] = (each, digest)
            continue
        if (stored.digests[each.source_id] if is_stored else missing[each.source_id][1]) != digest:
            other = (*(waiting for waiting, _ in missing.values()), *spoken[at:])
            missing.clear()
            break
        unchanged += 1
        if is_stored:
            found += 1
            forgotten += len(missing)
            missing.clear()
    waiting = tuple(each for each, _ in missing.values())
    is_open = not is_last and found > 0
    return Comparison(
        new=() if is_open else waiting,
        unchanged=unchanged,
        forgotten=forgotten,
        undecided=waiting if is_open else (),
        other=other,
        overlaps=found > 0 or not stored.digests,
    )


def has_positions(spoken: Sequence[SpokenRecord]) -> bool:
    """Whether messages are known by their positions, which say nothing of the conversation that they belong to."""
    return any(_position_of(each.source_id) for each in spoken)


def other_external_id(
    external_id: str, project: ProjectId | None, user: str | None, spoken: Sequence[SpokenRecord], attempt: int
) -> str:
    """The external id of a conversation whose own is that of another session: computed from the project, the user and the words up
    to the first ones of a user, so that it stays the same when the conversation grows."""
    first = next((at for at, each in enumerate(spoken) if each.role == "user"), 0)
    beginning = [[each.role, each.content] for each in spoken[: first + 1]]
    digest = hashlib.sha256(json.dumps([project, user, beginning]).encode()).hexdigest()[:_SUFFIX_DIGITS]
    suffix = f"~{digest}" if attempt == 1 else f"~{digest}-{attempt}"
    return f"{external_id[: MAX_NAME - len(suffix)]}{suffix}"


def _position_of(source_id: str) -> int:
    """The position that a source id stands for, also of a part of a long message; 0 if it is an id of the source."""
    if not source_id.startswith(_POSITION):
        return 0
    digits = source_id[len(_POSITION) :].partition("#")[0]
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS else 0
