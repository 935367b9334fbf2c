"""The authors of one pool: their names, the terms these are found by, and which authors a query asks for.

An author without a name of their own ("user", "assistant", none) is slot 0.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cloister.domain.conversation import ROLES
from cloister.domain.recall.passage import speaker_name
from cloister.domain.recall.question import Wanted
from cloister.index import terms
from cloister.index.exact.columns import Column

Key = TypeVar("Key", int, str)
_NAMELESS = 0
# The slot and role of a removed row. As an index it means the last element, so arrays indexed by slots have a spare one at the end.
_NO_SLOT = -1
_ASSISTANT_SHARE = 0.2
# The bytes of an author's name, and of its words and terms in the tables.
_NAME_BYTES = 700
_USER, _ASSISTANT = ROLES.index("user"), ROLES.index("assistant")


class Speakers:
    def __init__(self) -> None:
        self._slots = Column(np.int32)
        self._roles = Column(np.int8)
        self._names: list[str | None] = [None]
        self._sizes = [0]
        self._uses = np.zeros(1, np.int64)
        self._removed = 0
        self._slot_of: dict[str | None, int] = {None: _NAMELESS}
        self._by_word: dict[str, set[int]] = {}
        self._by_term: dict[int, set[int]] = {}
        self._name_terms: set[int] = set()
        self._by_role: dict[Wanted, npt.NDArray[np.bool_] | None] = {}
        self._nameless_assistants: npt.NDArray[np.bool_] | None = None

    @property
    def roles(self) -> npt.NDArray[np.int8]:
        return self._roles.live

    @property
    def nbytes(self) -> int:
        masks = 3 * self._roles.nbytes
        return self._slots.nbytes + self._roles.nbytes + masks + _NAME_BYTES * len(self._names)

    def reserve(self, count: int) -> None:
        for column in (self._slots, self._roles):
            column.reserve(count)

    def extend(self, authors: Sequence[str | None], roles: Sequence[int]) -> npt.NDArray[np.float32]:
        """Add rows; returns the number of name words of each."""
        for author in set(authors):
            self._slot(author)
        slots = self._slots.extend(len(authors))
        slots[:] = list(map(self._slot_of.__getitem__, authors))
        self._roles.extend(len(roles))[:] = roles
        self._by_role.clear()
        self._nameless_assistants = None
        uses = np.bincount(slots, minlength=len(self._names))
        uses[: len(self._uses)] += self._uses
        self._uses = uses
        return np.array(self._sizes, np.float32)[slots]

    def remove(self, rows: npt.NDArray[np.intp]) -> None:
        """Remove the authors and roles of rows, and the names that no longer occur. The other rows keep their numbers."""
        slots = self._slots.live[rows]
        self._uses -= np.bincount(slots, minlength=len(self._names))
        self._slots.live[rows] = _NO_SLOT
        self._roles.live[rows] = _NO_SLOT
        self._removed += len(rows)
        self._by_role.clear()
        self._nameless_assistants = None
        unused = {slot for slot in np.unique(slots).tolist() if slot != _NAMELESS and not self._uses[slot]}
        if not unused:
            return
        self._slot_of = {author: slot for author, slot in self._slot_of.items() if slot not in unused}
        for slot in unused:
            self._names[slot] = None
        self._by_word = _without(self._by_word, unused)
        self._by_term = _without(self._by_term, unused)
        self._name_terms = {terms.term(word, language) for word in self._by_word for language in terms.Language}

    def keep(self, rows: npt.NDArray[np.intp]) -> None:
        """Keep these rows, and only the names that still occur."""
        slots, roles = self._slots.live[rows], self._roles.live[rows]
        names: list[str | None] = [*self._names, None]
        self.__init__()
        used, positions = np.unique(slots, return_inverse=True)
        known: list[int] = used.tolist()
        new_slots = [_NO_SLOT if slot == _NO_SLOT else self._slot(names[slot]) for slot in known]
        self._slots.extend(len(rows))[:] = np.array(new_slots, np.int32)[positions]
        self._roles.extend(len(rows))[:] = roles
        present = self._slots.live[self._slots.live != _NO_SLOT]
        self._removed = len(rows) - len(present)
        self._uses = np.bincount(present, minlength=len(self._names))

    def shares(self, begin: int) -> npt.NDArray[np.float32]:
        """The weight of each row from `begin` on in its session: nameless assistants write much and count little."""
        return _shares((self._roles.live[begin:] == _ASSISTANT) & (self._slots.live[begin:] == _NAMELESS))

    def shares_of(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
        """The same for some rows."""
        nameless = self._nameless_assistants
        if nameless is None:
            nameless = self._nameless_assistants = (self._roles.live == _ASSISTANT) & (self._slots.live == _NAMELESS)
        return _shares(nameless.take(rows))

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
        for term in self._by_term.keys() & asked.tolist():
            found[asked == term] = np.count_nonzero(self._of(self._by_term[term]))
        return found

    def wanted(self, words: Sequence[str], wanted: Wanted) -> npt.NDArray[np.bool_] | None:
        """The rows of the authors that a query names, else of the role it asks for; None if that is all or none."""
        named = set[int]().union(*(self._by_word[word] for word in words if word in self._by_word))
        if named:
            return self._some(self._of(named))
        if wanted not in self._by_role:
            self._by_role[wanted] = self._some(self._of_role(wanted))
        return self._by_role[wanted]

    def _some(self, rows: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_] | None:
        """The mask, or None if it selects all rows or none."""
        return rows if rows is not None and 0 < np.count_nonzero(rows) < len(rows) - self._removed else None

    def _of_role(self, wanted: Wanted) -> npt.NDArray[np.bool_] | None:
        assistants = self._roles.live == _ASSISTANT
        nameless = assistants & (self._slots.live == _NAMELESS)
        if wanted is Wanted.ANYONE or 2 * np.count_nonzero(nameless) <= np.count_nonzero(assistants):
            return None
        return nameless if wanted is Wanted.ASSISTANT else self._roles.live == _USER

    def _of(self, slots: set[int]) -> npt.NDArray[np.bool_]:
        if len(slots) == 1:
            return self._slots.live == next(iter(slots))
        chosen = np.zeros(len(self._names) + 1, np.bool_)
        chosen[list(slots)] = True
        return chosen[self._slots.live]

    def _slot(self, author: str | None) -> int:
        if author not in self._slot_of:
            self._slot_of[author] = self._add(speaker_name(author))
        return self._slot_of[author]

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


def _without(named: dict[Key, set[int]], slots: set[int]) -> dict[Key, set[int]]:
    return {key: left for key, found in named.items() if (left := found - slots)}


def _shares(of_nameless_assistants: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    return np.where(of_nameless_assistants, np.float32(_ASSISTANT_SHARE), np.float32(1))
