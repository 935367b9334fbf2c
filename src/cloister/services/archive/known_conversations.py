"""Finds the session that a conversation of another assistant is stored in, or is to be stored in, by its id and by its words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cloister.domain.archive.conversations import ConversationRecord, SpokenRecord
from cloister.domain.archive.matching import Comparison, StoredWords, compare, has_positions, other_external_id
from cloister.domain.conversation import Session
from cloister.domain.identifiers import SEQUENCE_BITS, ProjectId
from cloister.storage.interface import Transaction
from cloister.storage.stores.imported_rows import ImportedRows
from cloister.storage.stores.sessions import SessionStore

SOURCE_ID = "source_id"
"""The name, in the metadata of an imported message, of its id in the source."""
_MOST_MESSAGES = 200_000
_MOST_NAMES = 100_000
_ATTEMPTS = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The external id that a part of a conversation is stored under, what of the part is new there, and the last message of the
    session that was compared. `session` is None if it is to be created."""

    external_id: str
    session: Session | None
    comparison: Comparison
    seen: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of a conversation that is to be stored for a user in a project. `is_last` if no more of the conversation follows
    directly; `is_rest` if it is what differs from the session in which the beginning of the conversation is stored."""

    record: ConversationRecord
    project: ProjectId | None
    user: str | None
    spoken: Sequence[SpokenRecord]
    is_last: bool
    is_rest: bool = False


class KnownConversations:
    """What one import knows of the sessions that its conversations are stored in, so that each message is read once. Of sessions
    that were not met for long it forgets what it read."""

    def __init__(self) -> None:
        self._words: dict[str, StoredWords] = {}
        self._messages = 0
        self._names: dict[str, str] = {}

    def find(self, transaction: Transaction, part: Part, excluded: set[str]) -> Plan | None:
        """The plan for the beginning of a conversation: the session of the project and user that has most of it and nothing that
        differs, else the first external id that is free and not excluded. None if there is none."""
        free: str | None = None
        best: Plan | None = None
        must_overlap = part.is_rest or has_positions(part.spoken)
        for external_id in _external_ids(part):
            session = SessionStore(transaction).find(external_id)
            if session is None:
                free = free or (external_id if external_id not in excluded else None)
                if free is not None and external_id != part.record.external_id:
                    break
                continue
            plan = self.compared(transaction, part, session)
            if plan is None or plan.comparison.other or (must_overlap and not plan.comparison.overlaps):
                continue
            if best is None or plan.comparison.unchanged > best.comparison.unchanged:
                best = plan
            if plan.comparison.unchanged == len(part.spoken):
                break
        if best is not None or free is None:
            return best
        return Plan(
            external_id=free, session=None, comparison=compare(part.spoken, StoredWords(), is_last=part.is_last), seen=0
        )

    def compared(self, transaction: Transaction, part: Part, session: Session) -> Plan | None:
        """The plan for a part in a session. None if the session is of another project or user, or has messages and none of them was
        imported."""
        if (session.project, session.user_id) != (part.project, part.user):
            return None
        words = self._words_of(transaction, session)
        if part.spoken and session.message_count and not words.digests:
            return None
        return Plan(
            external_id=session.external_id,
            session=session,
            comparison=compare(part.spoken, words, is_last=part.is_last),
            seen=words.seen,
        )

    def name(self, external_id: str) -> str:
        """The external id under which the conversation of this stream that has this one is stored."""
        return self._names.get(external_id, external_id)

    def set_name(self, given: str, external_id: str) -> None:
        self._names.pop(given, None)
        if given != external_id:
            self._names[given] = external_id
            if len(self._names) > _MOST_NAMES:
                del self._names[next(iter(self._names))]

    def forget(self, external_id: str) -> bool:
        """Forget what is known of a session that was deleted; false if nothing was."""
        words = self._words.pop(external_id, None)
        self._messages -= 0 if words is None else len(words.digests)
        return words is not None

    def note(self, external_id: str, more: StoredWords) -> StoredWords:
        """Add what was read of a session, or stored in it."""
        words = self._words.pop(external_id, None) or StoredWords()
        before = len(words.digests)
        for source, digest in more.digests.items():
            words.add(source, digest)
        words.seen = max(words.seen, more.seen)
        self._words[external_id] = words
        self._messages += len(words.digests) - before
        while self._messages > _MOST_MESSAGES and len(self._words) > 1:
            self.forget(next(iter(self._words)))
        return words

    def _words_of(self, transaction: Transaction, session: Session) -> StoredWords:
        known = self._words.get(session.external_id)
        if known is not None and known.seen >> SEQUENCE_BITS != session.id:
            self.forget(session.external_id)
            known = None
        after = 0 if known is None else known.seen
        return self.note(session.external_id, ImportedRows(transaction).imported_words(session.id, SOURCE_ID, after))


def _external_ids(part: Part) -> Iterator[str]:
    """The external ids that a conversation may be stored under, in the order in which they are tried."""
    yield part.record.external_id
    for attempt in range(1, _ATTEMPTS):
        yield other_external_id(part.record.external_id, part.project, part.user, part.spoken, attempt)
