"""Search one pool: the episodes and memories in it, and the entities of its project, that match a query best.

Each kind is ranked separately, by its own statistics. The kinds are merged by each hit's score relative to the best of its kind, so
that no kind crowds out another because it is longer or more numerous; a kind that has few words of the query is weighted down.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from cloister.domain.context import Item
from cloister.domain.entity import Entity
from cloister.domain.errors import Forbidden, InvalidRequest
from cloister.domain.identifiers import MessageId, ProjectId
from cloister.domain.memory import StoredMemory
from cloister.domain.recall.question import asked_part
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import checked_content, checked_limit, checked_name
from cloister.index import terms
from cloister.services.recall.additional import QueryVector
from cloister.services.recall.recall import Pick, Recall
from cloister.services.recall.snapshot import read_snapshot
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

Kind = Literal["episodes", "memories", "entities"]
KINDS: tuple[Kind, ...] = get_args(Kind)
HIGHEST_LIMIT = 200
# An exchange is rarely found by more than two of its messages.
_MESSAGES_AN_EPISODE = 3
_DIGITS = 6
# Only the beginning of a hit is compared: there may be hundreds of hits of 65,536 characters each.
_LONGEST_COMPARED = 8_192
# The weight of a kind if none of its hits has a word of the query.
_UNRELATED = 0.2


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


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryHit:
    stored: StoredMemory
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityHit:
    entity: Entity
    score: float


Hit = EpisodeHit | MemoryHit | EntityHit


class Search:
    """Searches one target. There is no search across pools, and there are no entities outside a project (ISO-3)."""

    def __init__(self, database: Database, recall: Recall) -> None:
        self._database = database
        self._recall = recall

    def search(
        self, reach: Reach, question: str, target: SearchTarget, limit: int, kinds: Sequence[str] | None = None
    ) -> list[Hit]:
        """The best hits of these kinds, or of all kinds, best first. Scores are relative to the best hit, which has 1."""
        question = asked_part(checked_content(question, "query"))
        checked_limit(limit, "limit", HIGHEST_LIMIT, lowest=1)
        wanted = checked_kinds(kinds)
        if target.session is not None and (target.project is not None or target.user_id is not None):
            raise InvalidRequest("session_id", "already says which pool: leave out project_id and user_id.")
        if target.user_id is not None:
            checked_name(target.user_id, "user_id")

        vector = self._recall.query_vector(reach, question) if "episodes" in wanted else None

        def work(transaction: Transaction) -> list[Hit]:
            scope = _scope(transaction, target)
            found = [self._best(transaction, scope, question, kind, limit, vector) for kind in wanted]
            return _merged(question, found)[:limit]

        return read_snapshot(self._database, reach, work)

    def _best(
        self,
        transaction: Transaction,
        scope: Scope,
        question: str,
        kind: Kind,
        limit: int,
        vector: QueryVector | None,
    ) -> Sequence[Hit]:
        if kind == "memories":
            memories = self._recall.memories(transaction, scope, question, limit)
            return [MemoryHit(stored=stored, score=score) for stored, score in memories]
        if kind == "entities":
            entities = self._recall.entities(transaction, scope, question, limit)
            return [EntityHit(entity=entity, score=score) for entity, score in entities]
        best: dict[MessageId, Hit] = {}
        picks = [Pick(limit=limit * _MESSAGES_AN_EPISODE)]
        for item in self._recall.messages(transaction, scope, question, picks, vector=vector):
            episode = item.message.episode
            best.setdefault(episode, EpisodeHit(episode=episode, item=item, score=item.score or 0.0))
        return list(best.values())[:limit]


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


def _merged(question: str, kinds: Sequence[Sequence[Hit]]) -> list[Hit]:
    """All hits, best first; at equal scores in the order of the kinds."""
    weights = [1.0] if len(kinds) == 1 else _weights(question, kinds)
    highest = max((weight for weight, hits in zip(weights, kinds, strict=True) if hits), default=1.0)
    found = [
        replace(hit, score=round(share * weight / highest, _DIGITS))
        for weight, hits in zip(weights, kinds, strict=True)
        for hit, share in _shares(hits)
    ]
    return sorted(found, key=lambda hit: -hit.score)


def _weights(question: str, kinds: Sequence[Sequence[Hit]]) -> list[float]:
    """The weight of each kind, by the share of the query's terms in its hits."""
    asked = set(terms.term_list(question))
    return [_UNRELATED + (1 - _UNRELATED) * max((_covered(asked, hit) for hit in hits), default=0) for hits in kinds]


def _shares(hits: Sequence[Hit]) -> list[tuple[Hit, float]]:
    """Each hit with its score relative to the best of its kind."""
    highest = max((hit.score for hit in hits), default=0.0)
    return [(hit, hit.score / highest if highest > 0 else 0.0) for hit in hits]


def _covered(asked: set[int], hit: Hit) -> float:
    """The share of the query's terms that a hit has."""
    match hit:
        case EpisodeHit(item=item):
            text = item.message.content
        case MemoryHit(stored=stored):
            text = stored.memory.content
        case EntityHit(entity=entity):
            text = f"{entity.name} {entity.notes}"
    return len(asked.intersection(terms.term_list(text[:_LONGEST_COMPARED]))) / len(asked) if asked else 0.0


def _scope(transaction: Transaction, target: SearchTarget) -> Scope:
    projects = ProjectStore(transaction)
    if target.session is not None:
        session = SessionStore(transaction).get(target.session)
        return session.scope(None if session.project is None else projects.get(session.project).member_visibility)
    reach = transaction.reach
    user = reach.user_of(target.user_id)
    project = target.project
    if project is None and reach.confined_to is not None:
        raise Forbidden("This key is confined to its project: it cannot search what is in no project.")
    if project is None:
        return Scope(tenant=reach.tenant, project=None, user=user)
    visibility = projects.get(project).member_visibility
    return Scope(tenant=reach.tenant, project=project, user=user, visibility=visibility)
