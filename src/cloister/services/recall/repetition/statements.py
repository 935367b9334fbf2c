"""What is recalled: statements, each with all messages that say it (CTX-7)."""

from collections.abc import Sequence

from cloister.domain.context import Item
from cloister.domain.conversation import Speaker
from cloister.domain.identifiers import MessageId
from cloister.services.recall.repetition.said import Said

_DIGITS = 6
_MOST_SAME = 10
# Of messages that say the same the newest is shown, if it matches the question nearly as well as the best: the same words may
# answer another question in another conversation.
_AS_GOOD = 0.9
# Messages that say nearly the same match nearly alike.
_NEAR = 0.05
_NEAR_OWN = 0.25
_NEAR_LENGTH = 0.2
_SHORTEST_LONG = 20
# Wider than `_NEAR`: what is outside of this is not compared exactly.
_BELOW, _ABOVE = 0.94, 1.06
# Each message is compared with so many before it, which are those of the next higher scores: the work stays linear.
_MOST_COMPARED = 16


class Statement:
    """A message, and the others that say the same. It has the best score and the best match of them."""

    __slots__ = ("_item", "_members", "_said", "_unread", "id", "length", "match", "own", "score")

    def __init__(self, item: Item, match: float, own: float, score: float) -> None:
        message = item.message
        self.id = message.id
        self.match = match
        self.own = own
        self.score = score
        self._item = item
        self.length = len(message.content)
        self._members = [(item, match)]
        self._said: Said | None = None
        self._unread = 0

    @property
    def said(self) -> Said:
        if self._said is None:
            self._said = Said(self._item.message, self._item.user)
        return self._said

    def add(self, item: Item, match: float, score: float) -> None:
        self._members.append((item, match))
        self.match = max(self.match, match)
        self.score = max(self.score, score)

    def add_unread(self, count: int) -> None:
        """Count copies that were not read."""
        self._unread += count

    @property
    def messages(self) -> list[MessageId]:
        """The messages that say it."""
        return [item.message.id for item, _ in self._members]

    @property
    def speaker(self) -> Speaker:
        message = self._item.message
        return Speaker(message.role, message.author, self._item.user)

    @property
    def newest(self) -> Item:
        """The newest message that matches as well as the best."""
        if len(self._members) == 1:
            return self._item
        good = [item for item, match in self._members if match >= _AS_GOOD * self.match]
        return max(good, key=lambda item: (item.message.created_at, item.message.id), default=self._item)

    def is_nearly(self, other: "Statement") -> bool:
        """Whether two long messages say nearly the same. Texts are compared only where their lengths and the matches are alike."""
        one, two = self.length, other.length
        shorter, longer = (one, two) if one < two else (two, one)
        return (
            shorter >= _SHORTEST_LONG
            and longer - shorter <= _NEAR_LENGTH * longer
            and abs(self.match - other.match) <= _NEAR * max(self.match, other.match)
            and (self.own == other.own or abs(self.own - other.own) <= _NEAR_OWN * max(abs(self.own), abs(other.own)))
            and self.said.is_nearly(other.said)
        )

    def shown(self, found: float) -> Item:
        message, session, source, _, user, *_ = self.newest
        times = len(self._members) + self._unread
        same = () if times == 1 else tuple(other for other in self.messages if other != message.id)[:_MOST_SAME]
        return Item(message, session, source, round(self.score, _DIGITS), user, round(found, _DIGITS), times, same)


def nearly_same(statements: Sequence[Statement], made: Statement) -> Statement | None:
    """The first of the last statements that says nearly the same as the one that was made. Most differ in length or match."""
    match, length = made.match, made.length
    if match < 0 or length < _SHORTEST_LONG:
        return None
    low, high = _BELOW * match, _ABOVE * match
    shortest, longest = length * (1 - _NEAR_LENGTH) - 1, length / (1 - _NEAR_LENGTH) + 1
    for each in statements[-_MOST_COMPARED:]:
        if shortest < each.length < longest and low <= each.match <= high and each.is_nearly(made):
            return each
    return None


def in_order(statement: Statement) -> tuple[float, MessageId]:
    """The key by which statements are sorted, best first."""
    return -round(statement.score, _DIGITS), statement.id
