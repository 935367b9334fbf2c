"""A question to Qdrant within one place: candidates of each arm, then the evidence for each of them as the exact index gives it.

Every request carries its place's own filter. A pool's is made here from the tenant and the sessions that storage names at this
moment, so a move or a removal needs no word to Qdrant; that of entities from the tenant, the project and the user's part of it.
What differs from the exact index: only candidates are compared with each other; BM25 takes a fixed average length; the session
prior leaves out dates and words that many messages hold; misspelt words are not repaired.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from qdrant_client import models

from cloister.domain.identifiers import SEQUENCE_BITS
from cloister.domain.recall.question import parse_question
from cloister.domain.recall.ranking import Evidence, no_evidence
from cloister.index import terms
from cloister.index.bm25 import dampers, idf, saturated, weigh
from cloister.index.exact.block import EmbedQuery
from cloister.index.exact.dates import Dates
from cloister.index.exact.speakers import Speakers
from cloister.index.interface import EntityReader, PoolReader
from cloister.index.qdrant.points import (
    AUTHOR,
    CREATED_AT,
    OWN_WORDS,
    PROJECT,
    ROLE,
    SESSION,
    TENANT,
    USER_PART,
    WINDOW,
    WINDOW_WORDS,
    user_part,
)

CANDIDATES = 400
_MOST_TERMS = 32
_MOST_HOLDERS = 64
_NAMED = "someone"
# Numbers only: words stay where they are.
_ANSWERED = [ROLE, AUTHOR, CREATED_AT]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A point as it came back, without its words; `author` holds the terms of a name, none for nobody in particular."""

    id: int
    score: float
    role: int
    author: Sequence[int]
    created_at: int

    @property
    def session(self) -> int:
        """By the message's id, whatever the payload says. An entity is alone in its own."""
        return self.id >> SEQUENCE_BITS


Ask = Callable[[Sequence[models.QueryRequest]], list[list[Hit]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """A question's words; how telling its terms are in the pool; the messages that hold a term, unless they are too many."""

    words: Sequence[str]
    idf: Mapping[int, float]
    known: Sequence[int]
    holders: Mapping[int, Sequence[Hit]]


class QdrantPool:
    """One pool at one moment."""

    def __init__(self, ask: Ask, pool: PoolReader, embed_query: EmbedQuery) -> None:
        self._ask = ask
        self._pool = pool
        self._embed_query = embed_query

    def evidence(self, question: str) -> Evidence:
        members = self._pool.members()
        if not members:
            return no_evidence()
        scope = _Scope(_is(TENANT, self._pool.tenant), _is_any(SESSION, members))
        asking = _Asking(self._ask, scope, self._embed_query, size=self._pool.size(), sessions=len(members))
        return asking.evidence(question)


class QdrantProject:
    """The entities of one project, or of one user's part of it, at one moment."""

    def __init__(self, ask: Ask, place: EntityReader, embed_query: EmbedQuery) -> None:
        self._ask = ask
        self._place = place
        self._embed_query = embed_query

    def evidence(self, question: str) -> Evidence:
        size = 0 if self._place.version() is None else self._place.size()
        if not size:
            return no_evidence()
        scope = _Scope(
            _is(TENANT, self._place.tenant),
            _is(PROJECT, self._place.project),
            _is(USER_PART, user_part(self._place.user)),
        )
        return _Asking(self._ask, scope, self._embed_query, size=size, sessions=size).evidence(question)


class _Asking:
    """What is asked within one scope; `size` rows are in it, of so many `sessions`."""

    def __init__(self, ask: Ask, scope: "_Scope", embed_query: EmbedQuery, *, size: int, sessions: int) -> None:
        self._ask = ask
        self._scope = scope
        self._embed_query = embed_query
        self._size = size
        self._sessions = sessions

    def evidence(self, question: str) -> Evidence:
        asked = self._weigh(question)
        vector = self._embed_query(question, lambda words: weigh(words, asked.idf))
        found, lexical, semantic = self._candidates(asked, vector)
        parsed = parse_question(question)
        speakers = _speakers(found, asked.words)
        wanted = speakers.wanted(asked.words, parsed.wanted)
        dates = Dates()
        dates.extend(np.array([hit.created_at for hit in found], np.int64) * 1_000_000)
        session_ids = np.array([hit.session for hit in found], np.int64)
        nothing = np.zeros(len(found), np.float32)
        return Evidence(
            ids=np.array([hit.id for hit in found], np.int64),
            session_ids=session_ids,
            roles=speakers.roles,
            lexical=lexical,
            semantic=semantic,
            author=nothing if wanted is None else wanted.astype(np.float32),
            date=dates.nearness(parsed.dates) if parsed.dates else nothing,
            session_prior=_session_prior(session_ids, asked, self._sessions),
        )

    def _weigh(self, question: str) -> _Asked:
        """Asks for each term alone: own words weigh 1, so the score of whatever holds a term is the term's idf in the scope."""
        words = list(dict.fromkeys(terms.words(question)))
        telling = sorted((word for word in words if terms.term(word)), key=len, reverse=True)
        wanted = list(dict.fromkeys(terms.term(word) for word in telling))[:_MOST_TERMS]
        holders = dict(zip(wanted, self._answers([self._scope.holders_of(term) for term in wanted]), strict=True))
        unheard = float(idf(np.zeros(1, np.int64), self._size)[0])
        return _Asked(
            words=words,
            idf={term: hits[0].score if hits else unheard for term, hits in holders.items()},
            known=[term for term, hits in holders.items() if hits],
            holders={term: hits for term, hits in holders.items() if 0 < len(hits) < _MOST_HOLDERS},
        )

    def _candidates(
        self, asked: _Asked, vector: npt.NDArray[np.float32]
    ) -> tuple[list[Hit], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The best of each arm, with the lexical and the semantic score of all of them."""
        words = models.SparseVector(indices=list(asked.known), values=[asked.idf[term] for term in asked.known])
        arms = (((words if asked.known else None), WINDOW_WORDS), (vector.tolist(), WINDOW))
        best = self._answers([self._scope.nearest(query, using) for query, using in arms])
        found = {hit.id: hit for hits in best for hit in hits}
        scores = [{hit.id: hit.score for hit in hits} for hits in best]
        missing = [[id for id in found if id not in known] for known in scores]
        rest = self._answers([self._scope.scores(*arm, among) for arm, among in zip(arms, missing, strict=True)])
        for known, hits in zip(scores, rest, strict=True):
            known.update((hit.id, hit.score) for hit in hits)
        lexical, semantic = (np.array([known.get(id, 0.0) for id in found], np.float32) for known in scores)
        return list(found.values()), lexical, semantic

    def _answers(self, requests: Sequence[models.QueryRequest | None]) -> list[list[Hit]]:
        """One answer a request, in one round trip; an empty one where there is nothing to ask."""
        asked = [request for request in requests if request is not None]
        answers = iter(self._ask(asked) if asked else [])
        return [[] if request is None else next(answers) for request in requests]


class _Scope:
    """The requests that can be made within some walls: a tenant, and what bounds a place inside it."""

    def __init__(self, tenant: models.Condition, *inner: models.Condition) -> None:
        if not inner:
            raise ValueError("a scope as wide as its tenant")
        self._walls = [tenant, *inner]

    def holders_of(self, term: int) -> models.QueryRequest:
        walls = models.Filter(must=self._walls)
        return models.QueryRequest(
            query=models.SparseVector(indices=[term], values=[1.0]),
            using=OWN_WORDS,
            filter=walls,
            params=models.SearchParams(idf=models.IdfCorpusParams(corpus=walls)),
            limit=_MOST_HOLDERS,
            with_payload=_ANSWERED,
        )

    def nearest(self, query: list[float] | models.SparseVector | None, using: str) -> models.QueryRequest | None:
        if query is None:
            return None
        walls = models.Filter(must=self._walls)
        return models.QueryRequest(query=query, using=using, filter=walls, limit=CANDIDATES, with_payload=_ANSWERED)

    def scores(
        self, query: list[float] | models.SparseVector | None, using: str, among: Sequence[int]
    ) -> models.QueryRequest | None:
        """The scores of points of the scope that were found otherwise."""
        if query is None or not among:
            return None
        named = models.Filter(must=[*self._walls, models.HasIdCondition(has_id=list(among))])
        return models.QueryRequest(query=query, using=using, filter=named, limit=len(among))


def _is(key: str, value: int) -> models.Condition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _is_any(key: str, values: Sequence[int]) -> models.Condition:
    """Of none of them there is no such condition: it would let everything through."""
    if not values:
        raise ValueError(f"no {key} to look for")
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def _speakers(hits: Iterable[Hit], words: Sequence[str]) -> Speakers:
    """Who spoke, as far as the question's words can tell: a name is known by those of its words that the question holds."""
    spoken = [(terms.term(word), word) for word in words if terms.term(word)]
    listed = list(hits)
    speakers = Speakers()
    speakers.extend(
        [
            " ".join([_NAMED, *(word for term, word in spoken if term in hit.author)]) if hit.author else None
            for hit in listed
        ],
        [hit.role for hit in listed],
    )
    return speakers


def _session_prior(session_ids: npt.NDArray[np.int64], asked: _Asked, total: int) -> npt.NDArray[np.float32]:
    """BM25 of the question on whole sessions, all taken as of one length; without names, dates, and words that many hold."""
    sessions, positions = np.unique(session_ids, return_inverse=True)
    prior = np.zeros(len(sessions), np.float32)
    dates = Dates()
    for term, hits in asked.holders.items():
        speakers = _speakers(hits, asked.words)
        if speakers.is_name(term) or dates.with_term(term) is not None:
            continue
        holding, stored = np.unique(np.array([hit.session for hit in hits], np.int64), return_inverse=True)
        counts = np.bincount(stored, speakers.shares(0)).astype(np.float32)
        gain = saturated(counts[None], dampers(counts, 0.0), idf(np.array([len(holding)]), total))[0]
        prior[np.isin(sessions, holding)] += gain[np.isin(holding, sessions)]
    return prior[positions]
