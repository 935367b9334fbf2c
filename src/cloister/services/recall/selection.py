"""Select the messages to recall from the evidence: the best of each pick, above the floor of relevance (CTX-6), each fact once
(CTX-7).

Texts are read only of candidates that can reach the floor. While duplicates leave places free, more candidates are read.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from cloister.domain.context import Item
from cloister.domain.conversation import ROLES, Role, Speaker
from cloister.domain.history import words_key
from cloister.domain.identifiers import MemoryId, MessageId, SessionId
from cloister.domain.recall.filter import Filter, Mask
from cloister.domain.recall.past import asks_about_past
from cloister.domain.recall.ranking import Evidence, best
from cloister.domain.recall.relevance import lowest_match, matches, own_matches, relevance
from cloister.domain.recall.small_talk import is_small_talk
from cloister.domain.sessions.exclusions import NOTHING_EXCLUDED, Excluded
from cloister.index import terms
from cloister.services.recall.embeddings.additional import QueryVector
from cloister.services.recall.repetition import AskedWords, Said
from cloister.services.recall.repetition.asked_again import asks_about, does_not_know, is_unspaced, may_ask, repeats
from cloister.services.recall.repetition.copies import Representatives, representatives
from cloister.services.recall.repetition.statements import Statement, in_order, nearly_same

_DIGITS = 6
_MOST_READ = 4_096
_MOST_CHARACTERS = 1_000_000
# A question about the same subject comes after statements about it; more so one that asks the same in other words.
_QUESTION_SHARE = {"subject": 0.96, "same": 0.001}
# A message that repeats the question, or asks about the same subject, has at least this share of its words.
_LEAST_REPEATED = 0.25


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
    fill_floor: float | None = None
    """The floor of all but the best while a budget is to be filled: if the best reaches `floor`, the pool has something on the
    subject. None if it is the same."""
    known: frozenset[str] = frozenset()
    vector: QueryVector | None = None
    filter: Filter | None = None
    message: MessageId | None = None
    """The message that asks, if the caller gave no text."""
    among: Collection[MemoryId] | None = None
    excluded: Excluded = NOTHING_EXCLUDED
    """What the session that asks does not recall."""

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


class Selection:
    """Selects for one question. `read` gives the messages of the pool by id, as other sessions may see them, and `speakers` who
    said them. With `allowed`, only the candidates that it selects are counted or taken."""

    def __init__(
        self,
        evidence: Evidence,
        scores: npt.NDArray[np.float32],
        question: Question,
        read: Callable[[Sequence[MessageId]], Mapping[MessageId, Item | None]],
        speakers: Callable[[Sequence[MessageId]], Set[Speaker]],
        allowed: Mask | None = None,
    ) -> None:
        self._evidence = evidence
        self._scores = scores
        self._question = question
        self._read = read
        self._speakers = speakers
        self._allowed = allowed
        self._asked = AskedWords(question.text)
        self._matches = matches(evidence)
        self._own = own_matches(evidence)
        self._floor = question.floor if question.fill_floor is None else min(question.fill_floor, question.floor)
        self._lowest = lowest_match(self._floor)
        self._able = self._matches >= self._lowest
        self._items: dict[MessageId, Item | None] = {}
        self._characters = 0
        self._statements: Mapping[MessageId, Statement] = {}
        self._highest = 0.0

    def select(self, picks: Sequence[Pick], without: Collection[MessageId]) -> Recalled:
        masks = [self._mask(pick, without) for pick in picks]
        pools = [representatives(self._evidence, self._scores, self._matches, mask) for mask in masks]
        first = [self._best(pick.limit, pool) for pick, pool in zip(picks, pools, strict=True)]
        self._read_items([at for pool, (_, able) in zip(pools, first, strict=True) for at in _together(pool, able)])
        chosen = [self._pick(*each) for each in zip(picks, pools, first, strict=True)]
        statements = {each.id: each for pick in chosen for each in pick.statements}
        replies = {MessageId(asked + 1) for pick in chosen for asked in pick.asked}
        highest = max((each.match for each in statements.values()), default=0.0)
        self._statements, self._highest = statements, highest
        items: list[Item] = []
        ordered = sorted(statements.values(), key=in_order)
        for each in ordered if relevance(highest, highest) >= self._question.floor else ():
            # The reply to the same question is about it, whatever its own words are.
            own = math.inf if replies and not replies.isdisjoint(each.messages) else each.own
            found = relevance(each.match, highest, own)
            if found >= self._floor:
                items.append(each.shown(found))
        return Recalled(
            items=items,
            weak=sum(pick.weak for pick in chosen) + len(statements) - len(items),
            duplicate=sum(pick.duplicate for pick in chosen),
            limit=sum(pick.beyond for pick in chosen) if items else 0,
            quotation=sum(pick.quotation for pick in chosen),
            known=sum(pick.known for pick in chosen),
        )

    def nothing(self, picks: Sequence[Pick], without: Collection[MessageId]) -> Recalled:
        """No message, though there are candidates: all that the picks would take are weak."""
        counts = [int(np.count_nonzero(self._mask(pick, without))) for pick in picks]
        return Recalled(weak=sum(min(count, pick.limit) for count, pick in zip(counts, picks, strict=True)))

    def judge(self, position: int, item: Item) -> tuple[LeftOut, float]:
        """Why the candidate at this position, which was not selected, was left out; and its relevance. Call it after `select`."""
        match = float(self._matches[position])
        found = round(relevance(match, max(self._highest, match), self._own_match(position)), _DIGITS)
        if any(item.message.id in each.messages for each in self._statements.values()):
            own = self._statements.get(item.message.id)
            return ("weak" if own is not None and own.newest.message.id == own.id else "duplicate"), found
        if match < self._lowest:
            return "weak", found
        if self._is_known(item):
            return "known", found
        if not self._share(position, item):
            return "repeats", found
        said = Said(item.message, item.user)
        if any(said.key == each.said.key for each in self._statements.values()):
            return "duplicate", found
        return ("weak" if found < self._floor or not self._statements else "limit"), found

    def candidates_of(self, pick: Pick, without: Collection[MessageId]) -> Mask:
        """Which candidates a pick takes from."""
        return self._mask(pick, without)

    @property
    def scores(self) -> npt.NDArray[np.float32]:
        return self._scores

    def _best(self, count: int, pool: Representatives) -> tuple[list[int], list[int]]:
        """The positions of the best candidates, and of those of them that can reach the floor."""
        positions = best(self._evidence, self._scores, count, where=pool.mask)
        return positions.tolist(), positions[pool.matches[positions] >= self._lowest].tolist()

    def _pick(self, pick: Pick, pool: Representatives, found: tuple[list[int], list[int]]) -> "_Picked":
        """The statements of one pick. Reads more candidates while there are free places and candidates left; not if those that were
        read are long, because somebody may have filled the pool with copies of a long text."""
        available = int(np.count_nonzero(pool.mask))
        count = pick.limit
        while True:
            positions, able = found
            picked = self._distinct(pool, able)
            weak = len(positions) - len(able)
            picked.weak = max(min(weak, pick.limit - len(picked.statements)), 0)
            if len(picked.statements) + weak >= pick.limit or count >= min(available, _MOST_READ):
                break
            if self._characters > _MOST_CHARACTERS:
                break
            count = min(2 * count + 8, _MOST_READ)
            found = self._best(count, pool)
            self._read_items(_together(pool, found[1]))
        picked.beyond = max(len(picked.statements) - pick.limit, 0)
        del picked.statements[pick.limit :]
        if available > count:
            able_with_copies = sum(map(pool.count_with, able)) if pool.members else len(able)
            above = int(np.count_nonzero(self._able & pool.whole))
            picked.beyond += max(above - able_with_copies, 0)
        return picked

    def _read_items(self, positions: Sequence[int]) -> None:
        ids: list[MessageId] = self._evidence.ids[positions].tolist()
        unread = [id for id in dict.fromkeys(ids) if id not in self._items]
        if unread:
            found = self._read(unread)
            self._items.update((id, found.get(id)) for id in unread)
            self._characters += sum(len(item.message.content) for item in found.values() if item is not None)

    def _distinct(self, pool: Representatives, positions: Sequence[int]) -> "_Picked":
        picked = _Picked()
        by_key: dict[object, Statement] = {}
        members = pool.members
        for position in positions:
            if position not in members:
                self._add(picked, by_key, position, alone=True)
                continue
            together = pool.read_with(position)
            said_by = {self._add(picked, by_key, at, alone=len(together) == 1) for at in together}
            if unread := pool.unread_with(position):
                self._add_unread(picked, by_key, said_by, unread)
        picked.statements.sort(key=in_order)
        return picked

    def _add(self, picked: "_Picked", by_key: dict[object, Statement], at: int, *, alone: bool) -> Statement | None:
        """Add a candidate to what is picked: the statement that it makes, or that says the same; None if it says nothing. One
        that is `alone` has no copy in the pool, if the index knows copies."""
        evidence = self._evidence
        item = self._items[MessageId(evidence.ids.item(at))]
        if item is None:
            picked.quotation += 1
            return None
        if self._is_known(item):
            picked.known += 1
            return None
        share = self._share(at, item)
        if not share:
            picked.duplicate += 1
            picked.asked.append(item.message.id)
            return None
        match: float = self._matches.item(at)
        made = Statement(item, match, self._own_match(at), share * self._scores.item(at))
        # In scripts without spaces the terms of nearly the same words differ.
        copies = evidence.copies
        compared = not alone or copies is None or copies.item(at) != -1 or is_unspaced(item.message.content)
        same = by_key.get(made.said.key) if compared else None
        same = same or nearly_same(picked.statements, made)
        if same is not None:
            same.add(item, match, made.score)
            picked.duplicate += 1
            return same
        if compared:
            by_key[made.said.key] = made
        picked.statements.append(made)
        return made

    def _add_unread(
        self,
        picked: "_Picked",
        by_key: dict[object, Statement],
        said_by: Collection[Statement | None],
        unread: Sequence[int],
    ) -> None:
        """Count further copies. If they are of several people, or those that were read say different things, they are read too."""
        (same,) = said_by if len(said_by) == 1 else (None,)
        if len(said_by) == 1 and (same is None or self._are_said_by(same.speaker, unread[:_MOST_READ])):
            picked.duplicate += len(unread)
            if same is not None:
                same.add_unread(len(unread))
        elif self._characters <= _MOST_CHARACTERS:
            some = unread[:_MOST_READ]
            self._read_items(some)
            for at in some:
                self._add(picked, by_key, at, alone=False)

    def _are_said_by(self, speaker: Speaker, positions: Sequence[int]) -> bool:
        """Whether the candidates at these positions are all of one speaker."""
        return self._speakers(self._evidence.ids[positions].tolist()) <= {speaker}

    def _own_match(self, at: int) -> float:
        return math.inf if self._own is None else self._own.item(at)

    def _share(self, at: int, item: Item) -> float:
        """What the score of a candidate is multiplied by: nothing if it only asks the question again or does not know its
        answer, and less than one if it is a question about the same subject."""
        text, own = item.message.content, self._evidence.own_coverage
        if (own is None or own.item(at) >= _LEAST_REPEATED) and may_ask(text):
            found = frozenset(terms.term_list(text))
            if repeats(text, found, self._asked):
                return 0.0
            if about := asks_about(text, found, self._asked):
                return _QUESTION_SHARE[about]
        return 0.0 if item.message.role == "assistant" and does_not_know(text, self._asked) else 1.0

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
    statements: list[Statement] = field(default_factory=list[Statement])
    asked: list[MessageId] = field(default_factory=list[MessageId])
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
    excluded: Excluded = NOTHING_EXCLUDED


def _together(pool: Representatives, positions: Sequence[int]) -> list[int]:
    """The positions, and those of the copies that are read with them."""
    return [at for position in positions for at in pool.read_with(position)] if pool.members else list(positions)
