"""Questions to an index outside of the database, which are never asked inside of a transaction: it could take seconds, and occupy a
connection that long.

Where a piece of work needs an answer, it is stopped; its transaction ends; the index is asked; and the work begins again in a new
transaction, with the answer. An answer is used only if everything that was asked about is still there.
"""

from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from cloister.domain.recall.ranking import Evidence
from cloister.index.interface import Ids


@dataclass(frozen=True, kw_only=True, slots=True)
class OutsideQuestion:
    """A question about one pool, or the entities of one project, as a snapshot has it. `key` names which, and what is asked;
    `sessions` are those of the pool; `ask` reads nothing from the database."""

    key: Hashable
    sessions: frozenset[int]
    allowed: Ids | None
    ask: Callable[[], Evidence]

    def is_within(self, later: "OutsideQuestion") -> bool:
        """Whether a later snapshot still has all sessions and rows of this question. What came since is only not found yet."""
        if (self.allowed is None) != (later.allowed is None) or not self.sessions <= later.sessions:
            return False
        return self.allowed is None or later.allowed is None or bool(np.isin(self.allowed, later.allowed).all())


class NotAnswered(Exception):
    """The work needs the answer to this question: end its transaction, ask, and begin again."""

    def __init__(self, question: OutsideQuestion) -> None:
        super().__init__("an index outside of the database has to be asked first")
        self.question = question


class Answers:
    """What an external index has answered for one piece of work, by the question's key."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[OutsideQuestion, Evidence]] = {}

    def ask(self, question: OutsideQuestion) -> None:
        """Ask the index. Call it outside of every transaction."""
        self._known[question.key] = question, question.ask()

    def find(self, question: OutsideQuestion) -> Evidence | None:
        asked, evidence = self._known.get(question.key, (None, None))
        return evidence if asked is not None and asked.is_within(question) else None


_ANSWERS: ContextVar[Answers | None] = ContextVar("answers", default=None)


@contextmanager
def answers_for_work() -> Generator[Answers]:
    """What needs an external index in here raises `NotAnswered`, until its question was asked."""
    answers = Answers()
    before = _ANSWERS.set(answers)
    try:
        yield answers
    finally:
        _ANSWERS.reset(before)


def evidence_for(question: OutsideQuestion) -> Evidence:
    """The answer that is known; asked at once where there is no work that could begin again."""
    answers = _ANSWERS.get()
    if answers is None:
        return question.ask()
    known = answers.find(question)
    if known is None:
        raise NotAnswered(question)
    return known
