"""The branches of a session: which messages follow which. A new message follows the last one of the current branch, or any other.

A message follows the one before it in its session, unless it is a fork: a message that has another parent, which is stored with
it. So the messages from one fork to the next are a line, and a branch is a few ranges of ids, however many messages it has.
Parents have smaller ids than their children. Nothing is read or stored here.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from cloister.domain.identifiers import MAX_SEQUENCE, SEQUENCE_BITS, MessageId, SessionId

NO_MESSAGE = MessageId(0)
"""The parent of a message that begins a conversation."""


class Fork(NamedTuple):
    """A message that does not follow the one before it, but `parent`, or with `NO_MESSAGE` none."""

    message: MessageId
    parent: MessageId


class IdRange(NamedTuple):
    """The ids from `low` to `high`, both included."""

    low: MessageId
    high: MessageId


class BranchTree:
    """The branches of one session, from its forks in the order of their ids."""

    def __init__(self, session: SessionId, forks: Sequence[Fork]) -> None:
        self._low = MessageId((session << SEQUENCE_BITS) + 1)
        self._high = MessageId((session << SEQUENCE_BITS) + MAX_SEQUENCE)
        self._forks = forks
        self._begins = [fork.message for fork in forks]

    def path(self, leaf: MessageId) -> list[IdRange]:
        """The ids of the branch that ends with a message, in order; none with `NO_MESSAGE`."""
        ranges: list[IdRange] = []
        end = leaf
        while end != NO_MESSAGE:
            fork = self._fork_of(end)
            ranges.append(IdRange(self._low if fork is None else fork.message, end))
            end = NO_MESSAGE if fork is None else fork.parent
        return ranges[::-1]

    def below(self, message: MessageId) -> list[IdRange]:
        """The ids of a message and of all that follow it, on any branch, in order. The last message in them ends a branch."""
        ranges = [IdRange(message, self._end_of_line(message))]
        for fork in self._forks[bisect_right(self._begins, message) :]:
            if is_within(ranges, fork.parent):
                ranges.append(IdRange(fork.message, self._end_of_line(fork.message)))
        return ranges

    def outside(self, ranges: Sequence[IdRange]) -> list[IdRange]:
        """All other ids of the session, in order."""
        gaps: list[IdRange] = []
        low = self._low
        for each in ranges:
            if low < each.low:
                gaps.append(IdRange(low, MessageId(each.low - 1)))
            low = MessageId(each.high + 1)
        return [*gaps, IdRange(low, self._high)] if low <= self._high else gaps

    def _fork_of(self, message: MessageId) -> Fork | None:
        """The fork that begins the line of a message; None in the first line of the session."""
        position = bisect_right(self._begins, message)
        return self._forks[position - 1] if position else None

    def _end_of_line(self, message: MessageId) -> MessageId:
        position = bisect_right(self._begins, message)
        return MessageId(self._begins[position] - 1) if position < len(self._begins) else self._high


def is_within(ranges: Sequence[IdRange], message: MessageId) -> bool:
    """Whether an id is in one of the ranges, which are in order."""
    position = bisect_right(ranges, message, key=lambda each: each.low)
    return position > 0 and message <= ranges[position - 1].high
