"""The authors of one pool: their names, the terms these are found by, and which authors a query asks for.

An author without a name of their own ("user", "assistant", none) is slot 0.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cloister.domain.conversation import ROLES
from cloister.domain.recall.passage import speaker_name
from cloister.domain.recall.question import Wanted
from cloister.index import terms
from cloister.index.exact.columns import Column

_NAMELESS = 0
_ASSISTANT_SHARE = 0.2
_USER, _ASSISTANT = ROLES.index("user"), ROLES.index("assistant")


class Speakers:
    def __init__(self) -> None:
        self._slots = Column(np.int32)
        self._roles = Column(np.int8)
        self._names: list[str | None] = [None]
        self._sizes = [0]
        self._slot_of: dict[str | None, int] = {None: _NAMELESS}
        self._by_word: dict[str, set[int]] = {}
        self._by_term: dict[int, set[int]] = {}
        self._name_terms: set[int] = set()
        self._by_role: dict[Wanted, npt.NDArray[np.bool_] | None] = {}

    @property
    def roles(self) -> npt.NDArray[np.int8]:
        return self._roles.live

    @property
    def nbytes(self) -> int:
        return self._slots.nbytes + self._roles.nbytes

    def reserve(self, count: int) -> None:
        for column in (self._slots, self._roles):
            column.reserve(count)

    def extend(self, authors: Sequence[str | None], roles: Sequence[int]) -> npt.NDArray[np.float32]:
        """Add rows; returns the number of name words of each."""
        for author in set(authors):
            if author not in self._slot_of:
                self._slot_of[author] = self._add(speaker_name(author))
        slots = self._slots.extend(len(authors))
        slots[:] = list(map(self._slot_of.__getitem__, authors))
        self._roles.extend(len(roles))[:] = roles
        self._by_role.clear()
        return np.array(self._sizes, np.float32)[slots]

    def keep(self, rows: npt.NDArray[np.intp]) -> None:
        """Keep these rows, and only the names that still occur."""
        slots: list[int] = self._slots.live[rows].tolist()
        roles: list[int] = self._roles.live[rows].tolist()
        names = self._names
        self.__init__()
        self.extend([names[slot] for slot in slots], roles)

    def shares(self, begin: int) -> npt.NDArray[np.float32]:
        """The weight of each row from `begin` on in its session: nameless assistants write much and count little."""
        nameless = (self._roles.live[begin:] == _ASSISTANT) & (self._slots.live[begin:] == _NAMELESS)
        return np.where(nameless, np.float32(_ASSISTANT_SHARE), np.float32(1))

    def is_name(self, term: int) -> bool:
        """Whether a term is of a name's word, in any language: a text in German has it under its German stem."""
        return term in self._name_terms

    def with_term(self, term: int) -> npt.NDArray[np.bool_] | None:
        """The rows whose author's name has a term, or None if no name has it."""
        slots = self._by_term.get(term)
        return None if slots is None else self._of(slots)

    def frequencies(self, asked: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """The number of rows by authors whose name has each term."""
        found = np.zeros(len(asked), np.int64)
        for at in np.flatnonzero(np.isin(asked, list(self._by_term))).tolist():
            found[at] = np.count_nonzero(self._of(self._by_term[int(asked[at])]))
        return found

    def wanted(self, words: Sequence[str], wanted: Wanted) -> npt.NDArray[np.bool_] | None:
        """The rows of the authors that a query names, else of the role it asks for; None if that is all or none."""
        named = set[int]().union(*(self._by_word[word] for word in words if word in self._by_word))
        if named:
            return _some(self._of(named))
        if wanted not in self._by_role:
            self._by_role[wanted] = _some(self._of_role(wanted))
        return self._by_role[wanted]

    def _of_role(self, wanted: Wanted) -> npt.NDArray[np.bool_] | None:
        assistants = self._roles.live == _ASSISTANT
        nameless = assistants & (self._slots.live == _NAMELESS)
        if wanted is Wanted.ANYONE or 2 * int(nameless.sum()) <= int(assistants.sum()):
            return None
        return nameless if wanted is Wanted.ASSISTANT else self._roles.live == _USER

    def _of(self, slots: set[int]) -> npt.NDArray[np.bool_]:
        if len(slots) == 1:
            return self._slots.live == next(iter(slots))
        chosen = np.zeros(len(self._names), np.bool_)
        chosen[list(slots)] = True
        return chosen[self._slots.live]

    def _add(self, name: str | None) -> int:
        if name is None:
            return _NAMELESS
        slot = len(self._names)
        self._names.append(name)
        words = terms.name_words(name)
        self._sizes.append(sum(map(bool, map(terms.term, words))))
        for word in words:
            if term := terms.term(word):
                self._by_word.setdefault(word, set()).add(slot)
                self._by_term.setdefault(term, set()).add(slot)
                self._name_terms.update(terms.term(word, language) for language in terms.Language)
        return slot


def _some(rows: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_] | None:
    """The mask, or None if it selects all rows or none."""
    return rows if rows is not None and rows.any() and not rows.all() else None
