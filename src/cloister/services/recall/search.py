"""Search one pool: the episodes and memories in it, and the entities of its project, that match a query best.

Each kind is ranked separately, by its own statistics. The kinds are merged by each hit's score relative to the best of its kind,
times the relevance of that kind's best: so no kind crowds out another because it is longer or more numerous, and the score of the
best hit says whether anything was found.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from cloister.domain import project_settings
from cloister.domain.context import Item, RecallTerms
from cloister.domain.entity import Entity
from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.identifiers import (
    MemoryId,
    MessageId,
    ProjectId,
    format_entity_id,
    format_memory_id,
    format_message_id,
)
from cloister.domain.memory import StoredMemory
from cloister.domain.prompts.recalled_text import NO_POOL
from cloister.domain.recall.filter import Filter
from cloister.domain.recall.question import asked_part
from cloister.domain.recall.relevance import checked_min_relevance
from cloister.domain.scope import Reach, Scope
from cloister.domain.sessions.exclusions import NOTHING_EXCLUDED, Excluded, excluded_by
from cloister.domain.text import checked_content, checked_limit, checked_name
from cloister.domain.timestamps import Clock
from cloister.domain.tracing.interface import NO_TRACING, MemorySpan, TracedRecord, Tracer
from cloister.services.recall.recall import Recall
from cloister.services.recall.selection import Pick, Question, Recalled, RecallTrace
from cloister.services.recall.snapshot import read_snapshot
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.receipts.exclusions import ExclusionStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

Kind = Literal["episodes", "memories", "entities"]
KINDS: tuple[Kind, ...] = get_args(Kind)
HIGHEST_LIMIT = 200
# An exchange is rarely found by more than two of its messages.
MESSAGES_AN_EPISODE = 3
_DIGITS = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchTarget:
    """Where to search: the scope of a session, or a project's pool, or else the shared pool; for one user if given."""

    session: str | None = None
    project: ProjectId | None = None
    user_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeHit:
    """An episode, with its best message."""

    episode: MessageId
    item: Item
    score: float
    relevance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryHit:
    stored: StoredMemory
    score: float
    relevance: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityHit:
    entity: Entity
    score: float
    relevance: float


Hit = EpisodeHit | MemoryHit | EntityHit


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """The hits, best first, how they were found, and how many others were left out, for which reason."""

    hits: Sequence[Hit]
    terms: RecallTerms
    left_out: Mapping[str, int]
    stale: int
    """How much of the searched scope was indexed by another version, and not yet again."""
    names_speakers: bool = False
    """Whether an answer has to name the users of the hits, because its reader may be another one (MEM-11)."""


class Search:
    """Searches one target. There is no search across pools, and there are no entities outside a project (ISO-3)."""

    def __init__(self, database: Database, recall: Recall, clock: Clock, tracer: Tracer = NO_TRACING) -> None:
        self._tracer = tracer
        self._database = database
        self._recall = recall
        self._clock = clock

    def search(
        self,
        reach: Reach,
        question: str,
        target: SearchTarget,
        limit: int,
        kinds: Sequence[str] | None = None,
        *,
        min_relevance: float | None = None,
        asked_at: int | None = None,
        as_of: int | None = None,
        filter: Filter | None = None,
        among: Collection[MemoryId] | None = None,
    ) -> list[Hit]:
        """The best hits of these kinds, or of all kinds, that the filter lets pass, best first. Without `min_relevance` the
        project's setting counts. With `among`, of memories only these; ids of another pool are not found."""
        asked = partial(
            self.find, min_relevance=min_relevance, asked_at=asked_at, as_of=as_of, filter=filter, among=among
        )
        return list(asked(reach, question, target, limit, kinds).hits)

    def find(
        self,
        reach: Reach,
        question: str,
        target: SearchTarget,
        limit: int,
        kinds: Sequence[str] | None = None,
        *,
        min_relevance: float | None = None,
        asked_at: int | None = None,
        as_of: int | None = None,
        filter: Filter | None = None,
        among: Collection[MemoryId] | None = None,
    ) -> SearchResult:
        """The same, with what a receipt says of it (PRF-1)."""
        asked = partial(
            self._search, min_relevance=min_relevance, asked_at=asked_at, as_of=as_of, filter=filter, among=among
        )
        with self._tracer.memory("search_memory", reach.tenant, question=question) as span:
            found = asked(span, reach, question, target, limit, kinds)
            span.result(len(found.hits), records=lambda: map(_traced, found.hits))
            return found

    def _search(
        self,
        span: MemorySpan,
        reach: Reach,
        question: str,
        target: SearchTarget,
        limit: int,
        kinds: Sequence[str] | None,
        *,
        min_relevance: float | None,
        asked_at: int | None,
        as_of: int | None,
        filter: Filter | None,
        among: Collection[MemoryId] | None,
    ) -> SearchResult:
        text = asked_part(checked_content(question, "query"))
        checked_limit(limit, "limit", HIGHEST_LIMIT, lowest=1)
        wanted = checked_kinds(kinds)
        if min_relevance is not None:
            checked_min_relevance(min_relevance)
        if target.session is not None and (target.project is not None or target.user_id is not None):
            raise InvalidRequest("session_id", "already says which pool: leave out project_id and user_id.")
        if target.user_id is not None:
            checked_name(target.user_id, "user_id")

        vector = self._recall.query_vector(reach, text) if "episodes" in wanted else None

        def work(transaction: Transaction) -> SearchResult:
            scope, settings = _scope(transaction, target)
            span.store(scope.project)
            now = self._clock()
            asked = Question(
                text=text,
                asked_at=now if asked_at is None else asked_at,
                now=now,
                as_of=as_of,
                vector=vector,
                floor=project_settings.min_relevance(settings) if min_relevance is None else min_relevance,
                filter=filter,
                among=among,
                excluded=excluded_of(transaction, target.session),
            )
            merged, recalled = best_hits(self._recall, transaction, scope, asked, wanted, limit)
            return SearchResult(
                hits=merged[:limit],
                terms=self._terms(transaction, scope, settings, asked, question, wanted, limit),
                left_out={
                    "limit": recalled.limit + max(len(merged) - limit, 0),
                    "weak": recalled.weak,
                    "duplicate": recalled.duplicate + recalled.known,
                    "budget": 0,
                    "quotation": recalled.quotation,
                    "excluded": self._recall.count_excluded(transaction, scope, asked),
                },
                stale=recalled.stale,
                names_speakers=_names_speakers(scope, target, merged[:limit]),
            )

        return read_snapshot(self._database, reach, work)

    def _terms(
        self,
        transaction: Transaction,
        scope: Scope,
        settings: Mapping[str, object],
        asked: Question,
        question: str,
        kinds: Sequence[Kind],
        limit: int,
    ) -> RecallTerms:
        rows = self._recall.pool(transaction, scope)
        return RecallTerms(
            pool=NO_POOL if rows is None else rows.pool,
            version=0 if rows is None else rows.state()[0],
            project=scope.project,
            user=scope.user,
            asked_at=asked.asked_at,
            floor=asked.floor,
            question=question,
            as_of=asked.as_of,
            limit=limit,
            kinds=None if kinds == KINDS else kinds,
            is_filtered=asked.filter is not None or asked.among is not None,
            is_stored=project_settings.stores_receipts(settings),
            additional_model=None if asked.vector is None else asked.vector.model_for(asked.text),
        )


def excluded_of(transaction: Transaction, session: str | None) -> Excluded:
    """What the session that searches does not recall; a search without a session excludes nothing."""
    if session is None:
        return NOTHING_EXCLUDED
    return excluded_by(ExclusionStore(transaction, SessionStore(transaction).get(session).id).all())


def best_hits(
    recall: Recall,
    transaction: Transaction,
    scope: Scope,
    asked: Question,
    kinds: Sequence[str],
    limit: int,
    trace: RecallTrace | None = None,
) -> tuple[list[Hit], Recalled]:
    """The hits of these kinds, at most `limit` of each, best first; and how messages were found, which `trace` is given too."""
    if "episodes" in kinds:
        picks = [Pick(limit=limit * MESSAGES_AN_EPISODE)]
        recalled = recall.messages(transaction, scope, asked, picks, trace=trace)
    else:
        recalled = Recalled(stale=recall.stale(transaction, scope))
    return _merged([_best(recall, transaction, scope, asked, kind, limit, recalled) for kind in kinds]), recalled


def _best(
    recall: Recall,
    transaction: Transaction,
    scope: Scope,
    question: Question,
    kind: str,
    limit: int,
    recalled: Recalled,
) -> Sequence[Hit]:
    """The best hits of one kind."""
    if kind == "memories":
        memories = recall.memories(transaction, scope, question, limit)
        return [MemoryHit(stored=what, score=score, relevance=found) for what, score, found in memories]
    if kind == "entities":
        entities = recall.entities(transaction, scope, question, limit)
        return [EntityHit(entity=what, score=score, relevance=found) for what, score, found in entities]
    return [
        EpisodeHit(episode=item.message.episode, item=item, score=item.score or 0.0, relevance=item.relevance or 0.0)
        for item in first_of_episodes(recalled.items)[:limit]
    ]


def first_of_episodes(items: Sequence[Item]) -> list[Item]:
    """The best message of each episode, best first."""
    best: dict[MessageId, Item] = {}
    for item in items:
        best.setdefault(item.message.episode, item)
    return list(best.values())


def checked_kinds(given: Sequence[str] | None) -> tuple[Kind, ...]:
    """The kinds without duplicates and in a fixed order, so that hits of equal scores are always merged alike."""
    if given is None:
        return KINDS
    if isinstance(given, str) or not given:
        raise InvalidRequest("kinds", f"must be a list of at least one of {', '.join(KINDS)}.")
    for kind in given:
        if kind not in KINDS:
            raise InvalidRequest("kinds", f"{kind!r} is not one of {', '.join(KINDS)}.")
    return tuple(kind for kind in KINDS if kind in given)


def _merged(kinds: Sequence[Sequence[Hit]]) -> list[Hit]:
    """All hits, best first; at equal scores in the order of the kinds."""
    found = [
        replace(hit, score=round(hit.score * scale, _DIGITS))
        for hits, scale in zip(kinds, map(_scale, kinds), strict=True)
        for hit in hits
    ]
    return sorted(found, key=lambda hit: -hit.score)


def _names_speakers(scope: Scope, target: SearchTarget, hits: Sequence[Hit]) -> bool:
    """In a shared project, unless a session without a user asks, and only such sessions answer: they count as one user."""
    users = (
        hit.item.user if isinstance(hit, EpisodeHit) else hit.stored.user
        for hit in hits
        if not isinstance(hit, EntityHit)
    )
    return scope.shared and (target.session is None or any(user is not None for user in (scope.user, *users)))


def _traced(hit: Hit) -> TracedRecord:
    if isinstance(hit, MemoryHit):
        memory = hit.stored.memory
        return TracedRecord(format_memory_id(memory.id), memory.content, hit.score)
    if isinstance(hit, EntityHit):
        return TracedRecord(format_entity_id(hit.entity.id), f"{hit.entity.name}: {hit.entity.notes}", hit.score)
    return TracedRecord(format_message_id(hit.item.message.id), hit.item.message.content, hit.score)


def _scale(hits: Sequence[Hit]) -> float:
    """What the scores of a kind are multiplied by, so that its best hit has the relevance of the most relevant one as its score."""
    highest = max((hit.score for hit in hits), default=0.0)
    return max(hit.relevance for hit in hits) / highest if highest > 0 else 0.0


def _scope(transaction: Transaction, target: SearchTarget) -> tuple[Scope, Mapping[str, object]]:
    """The scope to search, and the settings of its project."""
    projects = ProjectStore(transaction)
    if target.session is not None:
        session = SessionStore(transaction).get(target.session)
        if session.project is None:
            return session.scope(None), project_settings.NO_SETTINGS
        project = projects.get(session.project)
        return session.scope(project.member_visibility), project.settings
    reach = transaction.reach
    user = reach.user_of(target.user_id)
    if target.project is None and reach.confined_to is not None:
        raise Forbidden("This key is confined to its project: it cannot search what is in no project.")
    if target.project is None:
        return Scope(tenant=reach.tenant, project=None, user=user), project_settings.NO_SETTINGS
    project = projects.get(target.project)
    scope = Scope(tenant=reach.tenant, project=project.id, user=user, visibility=project.member_visibility)
    return scope, project.settings
