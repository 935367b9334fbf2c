"""Search in Qdrant within one scope: lexical and semantic candidates, then the same evidence for them as the exact index gives.

Every request has the filter of its scope. For a pool that is the tenant and the sessions that storage has in the pool at this
snapshot, so Qdrant need not be updated when a session moves or is removed; for entities it is the tenant, the project and the
user's part of it. Differences to the exact index: only candidates are compared; BM25 uses a fixed average length; the session
prior omits dates and words that many messages have; misspelt words are not repaired; the words of a query that is certainly in
English are looked up under their English stems only; copies of a message are found among the candidates only; the similarity of a
message without those around it is not known, and that of its window stands for it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from qdrant_client import models

from cloister.domain.identifiers import SEQUENCE_BITS, SessionId
from cloister.domain.recall.question import Question, parse_question
from cloister.domain.recall.ranking import Evidence, no_evidence
from cloister.index import terms
from cloister.index.bm25 import HIGHEST, dampers, idf, rescaled, saturated, weigh
from cloister.index.exact.block import EmbedQuery
from cloister.index.exact.dates import Dates
from cloister.index.exact.speakers import Speakers
from cloister.index.interface import DEPTH, EntityReader, Ids, PoolReader
from cloister.index.outside import OutsideQuestion, evidence_for
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
    point_id,
    user_part,
)
from cloister.index.subject import subject_of

CANDIDATES = 400
_MOST_TERMS = 32
_MOST_MATCHES = 64
_NAMED = "someone"
# Only numbers are returned: Qdrant never sends words back.
_ANSWERED = [ROLE, AUTHOR, CREATED_AT]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A point that Qdrant returned, without its words; `author` has the terms of the author's name, or none."""

    id: int
    score: float
    role: int
    author: Sequence[int]
    created_at: int

    @property
    def session(self) -> int:
        """Taken from the message's id, not from the payload. Each entity has one of its own."""
        return self.id >> SEQUENCE_BITS


SendQueries = Callable[[Sequence[models.QueryRequest]], list[list[Hit]]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _WeightedQuestion:
    """A question's words, the idf of its terms in the scope, and the points that match a term, unless they are too many."""

    words: Sequence[str]
    stems: Mapping[str, Sequence[int]]
    idf: Mapping[int, float]
    known: Sequence[int]
    matches: Mapping[int, Sequence[Hit]]


class QdrantPool:
    """The index of one pool at one snapshot."""

    def __init__(self, query: SendQueries, pool: PoolReader, embed_query: EmbedQuery) -> None:
        self._query = query
        self._pool = pool
        self._embed_query = embed_query

    def evidence(
        self,
        question: str,
        asked_at: int,
        depth: int = DEPTH,
        session: SessionId | None = None,
        allowed: Ids | None = None,
    ) -> Evidence:
        members, tenant = self._pool.members(), self._pool.tenant
        if not members:
            return no_evidence()
        scope = _Scope(tenant, _is_any(SESSION, members))
        search = _QuestionSearch(self._query, scope, self._embed_query, size=self._pool.size(), sessions=len(members))
        asked, key = parse_question(question, asked_at), (SESSION, tenant, self._pool.pool)
        return evidence_for(
            OutsideQuestion(
                key=(*key, question, asked),
                sessions=frozenset(members),
                allowed=allowed,
                ask=lambda: search.evidence(question, asked, allowed),
            )
        )


class QdrantProject:
    """The index of the entities of one project, or of one user's part of it, at one snapshot."""

    def __init__(self, query: SendQueries, entities: EntityReader, embed_query: EmbedQuery) -> None:
        self._query = query
        self._entities = entities
        self._embed_query = embed_query

    def evidence(
        self,
        question: str,
        asked_at: int,
        depth: int = DEPTH,
        session: SessionId | None = None,
        allowed: Ids | None = None,
    ) -> Evidence:
        size = 0 if self._entities.version() is None else self._entities.size()
        if not size:
            return no_evidence()
        tenant, project, user = self._entities.tenant, self._entities.project, user_part(self._entities.user)
        scope = _Scope(tenant, _is(PROJECT, project), _is(USER_PART, user))
        search = _QuestionSearch(self._query, scope, self._embed_query, size=size, sessions=size)
        asked = parse_question(question, asked_at)
        return evidence_for(
            OutsideQuestion(
                key=(PROJECT, tenant, project, user, question, asked),
                sessions=frozenset(),
                allowed=allowed,
                ask=lambda: search.evidence(question, asked, allowed),
            )
        )


class _QuestionSearch:
    """A search within one scope, which has `size` rows in `sessions` sessions."""

    def __init__(
        self, query: SendQueries, scope: "_Scope", embed_query: EmbedQuery, *, size: int, sessions: int
    ) -> None:
        self._query = query
        self._scope = scope
        self._embed_query = embed_query
        self._size = size
        self._sessions = sessions

    def evidence(self, question: str, parsed: Question, allowed: Ids | None) -> Evidence:
        asked = self._weigh(question)
        vector = self._embed_query(question, lambda words: weigh(words, asked.stems, asked.idf))
        found, lexical, semantic = self._candidates(asked, vector, allowed)
        speakers = _speakers(found, asked.words)
        ids = [hit.id for hit in found]
        covered, own = self._coverage(question, asked, ids, frozenset(filter(speakers.is_name, asked.idf)))
        wanted = speakers.wanted(asked.words, parsed.wanted)
        dates = Dates()
        dates.extend(np.array([hit.created_at for hit in found], np.int64) * 1_000_000)
        session_ids = np.array([hit.session for hit in found], np.int64)
        nothing = np.zeros(len(found), np.float32)
        return Evidence(
            size=self._size,
            ids=np.array(ids, np.int64),
            session_ids=session_ids,
            roles=speakers.roles,
            lexical=lexical,
            semantic=semantic,
            author=nothing if wanted is None else wanted.astype(np.float32),
            date=dates.nearness(parsed) if parsed.has_dates else nothing,
            session_prior=_session_prior(session_ids, asked, self._sessions),
            coverage=covered,
            own_coverage=own,
            own_semantic=semantic,
        )

    def _coverage(
        self, question: str, asked: _WeightedQuestion, ids: Sequence[int], names: frozenset[int]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The share of the question's subject that the windows of points have, and that they have themselves; as the exact index
        computes it, but for the length of windows, of which that of the pool's average is estimated."""
        kept = {term: asked.idf[term] for stems in asked.stems.values() for term in stems if term in asked.idf}
        derived = {term for term in kept if Dates().with_term(term) is not None}
        subject = subject_of(question, asked.stems, kept, size=self._size, names=names, derived=derived)
        weights = zip(kept, subject.weights.tolist(), strict=True)
        counted = {term: weight for term, weight in weights if weight and term in asked.known}
        shares = {term: weight / kept[term] for term, weight in counted.items()}
        answers = self._answers([self._scope.scores(_sparse(counted), WINDOW_WORDS, ids), self._scope.own(shares, ids)])
        windowed, own = (
            np.array([known.get(id, 0.0) for id in ids], np.float32)
            for known in ({hit.id: hit.score for hit in hits} for hits in answers)
        )
        return windowed * _by_average(windowed, own) * (subject.unit / np.float32(HIGHEST)), own * subject.unit

    def _weigh(self, question: str) -> _WeightedQuestion:
        """Queries each term alone: a point's own terms have weight 1, so the score of a match is the term's idf in the scope."""
        read = terms.read_query(question, ())
        if not read.is_english:
            read = terms.read_query(question, self._languages())
        by_length = sorted(read.terms, key=len, reverse=True)
        wanted = list(dict.fromkeys(stem for word in by_length for stem in read.terms[word]))[:_MOST_TERMS]
        matches = dict(zip(wanted, self._answers([self._scope.with_term(term) for term in wanted]), strict=True))
        unheard = float(idf(np.zeros(1, np.int64), self._size)[0])
        return _WeightedQuestion(
            words=read.words,
            stems=read.limited_to({term for term, hits in matches.items() if hits}).terms,
            idf={term: hits[0].score if hits else unheard for term, hits in matches.items()},
            known=[term for term, hits in matches.items() if hits],
            matches={term: hits for term, hits in matches.items() if 0 < len(hits) < _MOST_MATCHES},
        )

    def _languages(self) -> list[terms.Language]:
        """The languages of the scope's texts besides English."""
        answers = self._answers([self._scope.with_term(mark, 1) for mark in terms.LANGUAGE_TERMS.values()])
        return [language for language, hits in zip(terms.LANGUAGE_TERMS, answers, strict=True) if hits]

    def _candidates(
        self, asked: _WeightedQuestion, vector: npt.NDArray[np.float32], allowed: Ids | None
    ) -> tuple[list[Hit], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """The best lexical and the best semantic candidates among the allowed ones, with both scores of each."""
        words = _sparse({term: asked.idf[term] for term in asked.known})
        arms = ((words, WINDOW_WORDS), (vector.tolist(), WINDOW))
        best = self._answers([self._scope.nearest(query, using, allowed) for query, using in arms])
        found = {hit.id: hit for hits in best for hit in hits}
        scores = [{hit.id: hit.score for hit in hits} for hits in best]
        missing = [[id for id in found if id not in known] for known in scores]
        rest = self._answers([self._scope.scores(*arm, among) for arm, among in zip(arms, missing, strict=True)])
        for known, hits in zip(scores, rest, strict=True):
            known.update((hit.id, hit.score) for hit in hits)
        lexical, semantic = (np.array([known.get(id, 0.0) for id in found], np.float32) for known in scores)
        return list(found.values()), lexical, semantic

    def _answers(self, requests: Sequence[models.QueryRequest | None]) -> list[list[Hit]]:
        """Send requests in one round trip; an answer is empty where the request is None."""
        asked = [request for request in requests if request is not None]
        answers = iter(self._query(asked) if asked else [])
        return [[] if request is None else next(answers) for request in requests]


class _Scope:
    """Makes requests that are filtered by a tenant and by at least one more condition inside it."""

    def __init__(self, tenant: int, *inner: models.Condition) -> None:
        if not inner:
            raise ValueError("a scope as wide as its tenant")
        self._tenant = tenant
        self._walls = [_is(TENANT, tenant), *inner]

    def with_term(self, term: int, limit: int = _MOST_MATCHES) -> models.QueryRequest:
        walls = models.Filter(must=self._walls)
        return models.QueryRequest(
            query=models.SparseVector(indices=[term], values=[1.0]),
            using=OWN_WORDS,
            filter=walls,
            params=models.SearchParams(idf=models.IdfCorpusParams(corpus=walls)),
            limit=limit,
            with_payload=_ANSWERED,
        )

    def nearest(
        self, query: list[float] | models.SparseVector | None, using: str, allowed: Ids | None
    ) -> models.QueryRequest | None:
        if query is None or (allowed is not None and not len(allowed)):
            return None
        among = [] if allowed is None else [self._is_one_of(allowed.tolist())]
        walls = models.Filter(must=[*self._walls, *among])
        return models.QueryRequest(query=query, using=using, filter=walls, limit=CANDIDATES, with_payload=_ANSWERED)

    def scores(
        self, query: list[float] | models.SparseVector | None, using: str, among: Sequence[int]
    ) -> models.QueryRequest | None:
        """The scores of points of the scope that another query found."""
        if query is None or not among:
            return None
        named = models.Filter(must=[*self._walls, self._is_one_of(among)])
        return models.QueryRequest(query=query, using=using, filter=named, limit=len(among))

    def _is_one_of(self, rows: Sequence[int]) -> models.HasIdCondition:
        return models.HasIdCondition(has_id=[point_id(self._tenant, row) for row in rows])

    def own(self, weights: Mapping[int, float], among: Sequence[int]) -> models.QueryRequest | None:
        """For some points of the scope the sum of weights times idf in the scope, of the terms that a point has itself."""
        query = _sparse(weights)
        if query is None or not among:
            return None
        walls = models.Filter(must=self._walls)
        return models.QueryRequest(
            query=query,
            using=OWN_WORDS,
            filter=models.Filter(must=[*self._walls, self._is_one_of(among)]),
            params=models.SearchParams(idf=models.IdfCorpusParams(corpus=walls)),
            limit=len(among),
        )


def _sparse(weights: Mapping[int, float]) -> models.SparseVector | None:
    return models.SparseVector(indices=list(weights), values=list(weights.values())) if weights else None


def _by_average(windowed: npt.NDArray[np.float32], own: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """What the BM25 of windows, which was computed with a fixed average length, is multiplied by to be that with the average length
    of these windows. How long a window is shows by how much less a word counts there that the message itself has."""
    matched = own > 0
    if not matched.any():
        return np.ones(len(own), np.float32)
    share = np.clip(windowed[matched] / (np.float32(HIGHEST) * own[matched]), 0.05, 0.95)
    damped = np.full(len(own), np.mean((1 - share) / share), np.float32)
    damped[matched] = (1 - share) / share
    return rescaled(damped) * (1 + damped)


def _is(key: str, value: int) -> models.Condition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _is_any(key: str, values: Sequence[int]) -> models.Condition:
    """Refuses an empty list, because Qdrant would match everything."""
    if not values:
        raise ValueError(f"no {key} to look for")
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def _speakers(hits: Iterable[Hit], words: Sequence[str]) -> Speakers:
    """The authors of hits. Only the words of a name that occur in the question can be restored from its terms."""
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


def _session_prior(session_ids: npt.NDArray[np.int64], asked: _WeightedQuestion, total: int) -> npt.NDArray[np.float32]:
    """BM25 of the question on whole sessions, all of one length; without names, dates, and words that many messages have."""
    sessions, positions = np.unique(session_ids, return_inverse=True)
    prior = np.zeros(len(sessions), np.float32)
    dates = Dates()
    for term, hits in asked.matches.items():
        speakers = _speakers(hits, asked.words)
        if speakers.is_name(term) or dates.with_term(term) is not None:
            continue
        matched, positions_of = np.unique(np.array([hit.session for hit in hits], np.int64), return_inverse=True)
        counts = np.bincount(positions_of, speakers.shares(0)).astype(np.float32)
        gain = saturated(counts[None], dampers(counts, 0.0), idf(np.array([len(matched)]), total))[0]
        prior[np.isin(sessions, matched)] += gain[np.isin(matched, sessions)]
    return prior[positions]
