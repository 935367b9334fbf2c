"""Select the messages to recall from the evidence: the best of each pick, above the floor of relevance (CTX-6), each fact once
(CTX-7).

Texts are read only of candidates that can reach the floor. While duplicates leave places free, more candidates are read.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from cloister.domain.context import Item
from cloister.domain.conversation import ROLES, Role
from cloister.domain.history import words_key
from cloister.domain.identifiers import MemoryId, MessageId, SessionId
from cloister.domain.recall.filter import Filter, Mask
from cloister.domain.recall.past import asks_about_past
from cloister.domain.recall.ranking import Evidence, best
from cloister.domain.recall.relevance import lowest_match, matches, relevance
from cloister.domain.recall.small_talk import is_small_talk
from cloister.services.recall.embeddings.additional import QueryVector
from cloister.services.recall.repetition import AskedWords, Said

_DIGITS = 6
_MOST_READ = 4_096
_MOST_CHARACTERS = 1_000_000
# A question about the same subject comes after statements about it.
_QUESTION_SHARE = 0.96
# Messages that say nearly the same match nearly alike.
_NEAR = 0.05
# Each message is compared with so many before it, which are those of the next higher scores: the work stays linear.
_MOST_COMPARED = 16
_MOST_SAME = 10


LeftOut = Literal["weak", "known", "repeats", "duplicate", "limit"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pick:
    """How many of the best messages to take: of one role, of one session, or of all."""

    limit: int
    role: Role | None = None
    session: SessionId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is asked, and when; messages below the floor are left out. `known` are texts that need not be recalled.
    `vector` is that of an additional embedder. `now` is the time by the clock, which decides what has expired; `as_of` asks for the
    memories that were true then, and not now (MEM-12). With a `filter`, only what it lets pass is recalled (MEM-14); with
    `among`, only these memories."""

    text: str
    asked_at: int
    floor: float
    now: int
    as_of: int | None = None
    known: frozenset[str] = frozenset()
    vector: QueryVector | None = None
    filter: Filter | None = None
    message: MessageId | None = None
    """The message that asks, if the caller gave no text."""
    among: Collection[MemoryId] | None = None

    @property
    def asks_about_past(self) -> bool:
        """Whether memories that are no longer true answer it too."""
        return self.as_of is None and asks_about_past(self.text)

    @property
    def is_small_talk(self) -> bool:
        """Whether nothing is to be recalled. With a floor of 0 everything is."""
        return self.floor > 0 and is_small_talk(self.text)


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """The selected messages, best first, and how many others were left out: as weaker than the floor, as duplicates, because of the
    limit, because they only quote, and because the caller knows what they say. `stale`: how much of the pool another index
    generation wrote."""

    items: Sequence[Item] = ()
    weak: int = 0
    duplicate: int = 0
    limit: int = 0
    stale: int = 0
    quotation: int = 0
    known: int = 0


class _Statement:
    """A message that takes a place, and the others that say the same."""

    __slots__ = ("id", "match", "newest", "said", "same", "score")

    def __init__(self, item: Item, said: Said, match: float, score: float) -> None:
        self.id = item.message.id
        self.newest = item
        self.said = said
        self.match = match
        self.score = score
        self.same: list[MessageId] = [item.message.id]

    def add(self, item: Item) -> None:
        self.same.append(item.message.id)
        if (item.message.created_at, item.message.id) > (self.newest.message.created_at, self.newest.message.id):
            self.newest = item

    def shown(self, found: float) -> Item:
        message, session, source, _, user, *_ = self.newest
        times = len(self.same)
        same = () if times == 1 else tuple(id for id in self.same if id != message.id)[:_MOST_SAME]
        return Item(message, session, source, round(self.score, _DIGITS), user, round(found, _DIGITS), times, same)


class Selection:
    """Selects for one question. `read` gives the messages of the pool by id, as other sessions may see them. With `allowed`, only
    the candidates that it selects are counted or taken."""

    def __init__(
        self,
        evidence: Evidence,
        scores: npt.NDArray[np.float32],
        question: Question,
        read: Callable[[Sequence[MessageId]], Mapping[MessageId, Item | None]],
        allowed: Mask | None = None,
    ) -> None:
        self._evidence = evidence
        self._scores = scores
        self._question = question
        self._read = read
        self._allowed = allowed
        self._asked = AskedWords(question.text)
        self._matches = matches(evidence)
        self._lowest = lowest_match(question.floor)
        self._items: dict[MessageId, Item | None] = {}
        self._characters = 0
        self._statements: Mapping[MessageId, _Statement] = {}
        self._highest = 0.0

    def select(self, picks: Sequence[Pick], without: Collection[MessageId]) -> Recalled:
        masks = [self._mask(pick, without) for pick in picks]
        first = [self._best(pick.limit, mask) for pick, mask in zip(picks, masks, strict=True)]
        self._read_items([at for _, able in first for at in able])
        chosen = [self._pick(*each) for each in zip(picks, masks, first, strict=True)]
        statements = {each.id: each for pick in chosen for each in pick.statements}
        highest = max((each.match for each in statements.values()), default=0.0)
        self._statements, self._highest = statements, highest
        items: list[Item] = []
        for each in sorted(statements.values(), key=_order):
            found = relevance(each.match, highest)
            if found >= self._question.floor:
                items.append(each.shown(found))
        return Recalled(
            items=items,
            weak=sum(pick.weak for pick in chosen) + len(statements) - len(items),
            duplicate=sum(pick.duplicate for pick in chosen),
            limit=sum(pick.beyond for pick in chosen) if items else 0,
            quotation=sum(pick.quotation for pick in chosen),
            known=sum(pick.known for pick in chosen),
        )

    def judge(self, position: int, item: Item) -> tuple[LeftOut, float]:
        """Why the candidate at this position, which was not selected, was left out; and its relevance. Call it after `select`."""
        match = float(self._matches[position])
        found = round(relevance(match, max(self._highest, match)), _DIGITS)
        said = Said(item.message, item.user)
        if match < self._lowest:
            return "weak", found
        if self._is_known(item):
            return "known", found
        if said.repeats(self._asked) or said.does_not_know(self._asked):
            return "repeats", found
        if any(item.message.id in each.same for each in self._statements.values()):
            own = self._statements.get(item.message.id)
            return ("weak" if own is not None and own.newest.message.id == own.id else "duplicate"), found
        if any(said.key == each.said.key for each in self._statements.values()):
            return "duplicate", found
        return ("weak" if found < self._question.floor else "limit"), found

    def candidates_of(self, pick: Pick, without: Collection[MessageId]) -> Mask:
        """Which candidates a pick takes from."""
        return self._mask(pick, without)

    @property
    def scores(self) -> npt.NDArray[np.float32]:
        return self._scores

    def _best(self, count: int, mask: npt.NDArray[np.bool_]) -> tuple[list[int], list[int]]:
        """The positions of the best candidates, and of those of them that can reach the floor."""
        positions = best(self._evidence, self._scores, count, where=mask)
        return positions.tolist(), positions[self._matches[positions] >= self._lowest].tolist()

    def _pick(self, pick: Pick, mask: npt.NDArray[np.bool_], found: tuple[list[int], list[int]]) -> "_Picked":
        """The statements of one pick. Reads more candidates while there are free places and candidates left; not if those that were
        read are long, because somebody may have filled the pool with copies of a long text."""
        available = int(np.count_nonzero(mask))
        count = pick.limit
        while True:
            positions, able = found
            picked = self._distinct(able)
            weak = len(positions) - len(able)
            picked.weak = max(min(weak, pick.limit - len(picked.statements)), 0)
            if len(picked.statements) + weak >= pick.limit or count >= min(available, _MOST_READ):
                break
            if self._characters > _MOST_CHARACTERS:
                break
            count = min(2 * count + 8, _MOST_READ)
            found = self._best(count, mask)
            self._read_items(found[1])
        del picked.statements[pick.limit :]
        above = int(np.count_nonzero(self._matches[mask] >= self._lowest)) if available > count else len(able)
        picked.beyond = max(above - len(able), 0)
        return picked

    def _read_items(self, positions: Sequence[int]) -> None:
        ids: list[MessageId] = self._evidence.ids[positions].tolist()
        unread = [id for id in dict.fromkeys(ids) if id not in self._items]
        if unread:
            found = self._read(unread)
            self._items.update((id, found.get(id)) for id in unread)
            self._characters += sum(len(item.message.content) for item in found.values() if item is not None)

    def _distinct(self, positions: Sequence[int]) -> "_Picked":
        picked = _Picked()
        by_key: dict[object, _Statement] = {}
        matches_of, scores = self._matches[positions].tolist(), self._scores[positions].tolist()
        ids: list[MessageId] = self._evidence.ids[positions].tolist()
        for id, match, score in zip(ids, matches_of, scores, strict=True):
            item = self._items[id]
            if item is None:
                picked.quotation += 1
                continue
            if self._is_known(item):
                picked.known += 1
                continue
            said = Said(item.message, item.user)
            if said.repeats(self._asked) or said.does_not_know(self._asked):
                picked.duplicate += 1
                continue
            same = by_key.get(said.key) or _nearly(said, match, picked.statements)
            if same is not None:
                same.add(item)
                picked.duplicate += 1
                continue
            if said.asks_about(self._asked):
                score *= _QUESTION_SHARE
            by_key[said.key] = statement = _Statement(item, said, match, score)
            picked.statements.append(statement)
        picked.statements.sort(key=_order)
        return picked

    def _is_known(self, item: Item) -> bool:
        known = self._question.known
        return bool(known) and words_key(item.message.content) in known

    def _mask(self, pick: Pick, without: Collection[MessageId]) -> npt.NDArray[np.bool_]:
        evidence = self._evidence
        mask = np.ones(len(evidence), np.bool_) if pick.role is None else evidence.roles == ROLES.index(pick.role)
        if pick.session is not None:
            mask &= evidence.session_ids == pick.session
        if self._allowed is not None:
            mask &= self._allowed
        if without:
            mask &= ~np.isin(evidence.ids, np.fromiter(without, np.int64, len(without)))
        return mask


@dataclass(kw_only=True, slots=True)
class _Picked:
    statements: list[_Statement] = field(default_factory=list[_Statement])
    weak: int = 0
    duplicate: int = 0
    beyond: int = 0
    quotation: int = 0
    known: int = 0


@dataclass(kw_only=True, slots=True)
class RecallTrace:
    """How the messages of one context were selected, for explanations (PRF-2). Without a selection nothing was searched. `related`
    was selected before the budget; `without` was not to be recalled, because it is in the conversation."""

    question: Question | None = None
    selection: Selection | None = None
    evidence: Evidence | None = None
    picks: Sequence[Pick] = ()
    related: Sequence[Item] = ()
    without: frozenset[MessageId] = frozenset()


def _order(statement: _Statement) -> tuple[float, MessageId]:
    return -round(statement.score, _DIGITS), statement.id


def _nearly(said: Said, match: float, statements: Sequence[_Statement]) -> _Statement | None:
    """The statement that says nearly the same."""
    if not said.is_long:
        return None
    for each in statements[-_MOST_COMPARED:]:
        if abs(each.match - match) <= _NEAR * match and said.is_nearly(each.said):
            return each
    return None
