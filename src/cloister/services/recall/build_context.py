"""Build a session's context: its recent messages, and what is recalled from its pool for the question."""

from collections.abc import Sequence
from dataclasses import replace

from cloister.domain.context import (
    HIGHEST_BUDGET,
    Context,
    Derived,
    Item,
    Source,
    assemble,
    checked_limits,
    default_sources,
    with_limits,
)
from cloister.domain.conversation import Message, Project, Session
from cloister.domain.errors import TurnMoved
from cloister.domain.history import words_key
from cloister.domain.identifiers import MessageId
from cloister.domain.observation import StoredObservation
from cloister.domain.project_settings import context_sources, observation_scope
from cloister.domain.prompts.recalled_text import shown_outside_session
from cloister.domain.recall.question import asked_part
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import checked_content, checked_limit
from cloister.services.recall.additional import QueryVector
from cloister.services.recall.recall import Pick, Recall
from cloister.services.recall.snapshot import read_snapshot
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.observations import ObservationStore
from cloister.storage.stores.pools import PoolStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

_MOST_MEMORIES = 10
_MOST_ENTITIES = 10
_MOST_OBSERVATIONS = 20
_MOST_KNOWN = 100


class ContextBuilder:
    """Each context is read from one snapshot."""

    def __init__(self, database: Database, recall: Recall, generation: int) -> None:
        self._database = database
        self._recall = recall
        self._generation = generation

    def build(
        self,
        reach: Reach,
        external_id: str,
        *,
        question: str | None = None,
        sources: Sequence[Source] | None = None,
        recent_limit: int | None = None,
        semantic_limit: int | None = None,
        budget: int | None = None,
        known: frozenset[str] = frozenset(),
        bound_to: Scope | None = None,
    ) -> Context:
        """Without a question, the user's last message is the question. `sources` replace the project's own, and the limits replace
        those of the sources. Messages whose words are `known` are not recalled, and others take their place. Raises `TurnMoved` if
        the session no longer has the scope `bound_to` (ISO-12)."""
        if question is not None:
            checked_content(question, "query")
        if budget is not None:
            checked_limit(budget, "budget_tokens", HIGHEST_BUDGET)
        limits = checked_limits(recent_limit, semantic_limit)
        vector = None if semantic_limit == 0 else self._query_vector(reach, external_id, question)

        def work(transaction: Transaction) -> Context:
            session = SessionStore(transaction).get(external_id)
            project = None if session.project is None else ProjectStore(transaction).get(session.project)
            if bound_to is not None and _scope(session, project) != bound_to:
                raise TurnMoved(external_id)
            chosen = with_limits(_sources_of(project) if sources is None else sources, limits)
            asked = asked_part(question or _last_question(MessageStore(transaction), session) or "")
            said, related = self._gather(transaction, session, project, asked, chosen, known, vector)
            return assemble(
                session=session.external_id,
                project=session.project,
                said=said,
                related=related,
                derived=self._derived(transaction, session, project, asked),
                budget=budget,
                user=session.user_id,
                shared=session.scope(None if project is None else project.member_visibility).shared,
            )

        return read_snapshot(self._database, reach, work)

    def _query_vector(self, reach: Reach, external_id: str, question: str | None) -> QueryVector | None:
        """The vector of the question, or of the last one in the session, made before the snapshot."""
        if self._recall.additional is None:
            return None
        if not question:
            with self._database.read(reach) as transaction:
                session = SessionStore(transaction).get(external_id)
                question = _last_question(MessageStore(transaction), session)
        return self._recall.query_vector(reach, asked_part(question)) if question else None

    def _gather(
        self,
        transaction: Transaction,
        session: Session,
        project: Project | None,
        question: str | None,
        sources: Sequence[Source],
        known: frozenset[str],
        vector: QueryVector | None,
    ) -> tuple[list[Message], list[Item]]:
        messages = MessageStore(transaction)
        said = [
            message
            for source in sources
            if session.message_count and source.method == "recent" and source.conversation_scope == "current"
            for message in messages.recent(session.id, session.pool, source.role, source.limit)
        ]
        scope = _scope(session, project)
        related = self._recent_in_pool(transaction, scope, sources)
        picks = [
            Pick(
                limit=source.limit,
                role=source.role,
                session=session.id if source.conversation_scope == "current" else None,
            )
            for source in sources
            if source.method == "semantic" and source.limit
        ]
        if picks and question:
            stored: set[MessageId] = {message.id for message in said}
            found = self._recall.messages(
                transaction, scope, question, _wider(picks, known), without=stored, vector=vector
            )
            related += _unknown(found, picks, known) if known else found
        return said, related

    def _derived(
        self, transaction: Transaction, session: Session, project: Project | None, question: str | None
    ) -> Derived:
        """Memories and entities for the question, and notes of the session, or of its user if the project says so (TAB-7). One
        query finds out which of these exist at all; the others are not searched."""
        scope = _scope(session, project)
        of_user = project is not None and observation_scope(project.settings) == "user"
        user = session.user_id if of_user else None
        there = PoolStore(transaction, self._generation).derived(session.pool, session.id, session.project, user)
        memories = entities = ()
        if question and there.memories:
            memories = self._recall.memories(transaction, scope, question, _MOST_MEMORIES)
        if question and there.entities:
            entities = self._recall.entities(transaction, scope, question, _MOST_ENTITIES)
        return Derived(
            memories=tuple(stored for stored, _ in memories),
            entities=tuple(entity for entity, _ in entities),
            observations=_notes(transaction, session, user) if there.observations else (),
        )

    def _recent_in_pool(self, transaction: Transaction, scope: Scope, sources: Sequence[Source]) -> list[Item]:
        wanted = [source for source in sources if source.method == "recent" and source.conversation_scope == "pool"]
        rows = PoolStore(transaction, self._generation).rows(scope) if wanted else None
        if rows is None:
            return []
        return [
            Item(message, found.session, "pool", user=found.user)
            for source in wanted
            for found in rows.recent(source.role, source.limit)
            if (message := shown_outside_session(found.message)) is not None
        ]


def _scope(session: Session, project: Project | None) -> Scope:
    return session.scope(None if project is None else project.member_visibility)


def _notes(transaction: Transaction, session: Session, user: str | None) -> tuple[StoredObservation, ...]:
    observations = ObservationStore(transaction)
    if user is None:
        return tuple(observations.recent(session.id, session.pool, limit=_MOST_OBSERVATIONS))
    return tuple(observations.recent_of_user(user, session.pool, limit=_MOST_OBSERVATIONS))


def _wider(picks: Sequence[Pick], known: frozenset[str]) -> Sequence[Pick]:
    """The picks with higher limits, because all known messages may be among the best."""
    more = min(len(known), _MOST_KNOWN)
    return [replace(pick, limit=pick.limit + more) for pick in picks] if more else picks


def _unknown(found: Sequence[Item], picks: Sequence[Pick], known: frozenset[str]) -> list[Item]:
    """The items whose words are not known; for each pick at most its limit."""
    new = [item for item in found if words_key(item.message.content) not in known]
    kept: set[MessageId] = set()
    for pick in picks:
        kept.update([item.message.id for item in new if pick.takes(item.message)][: pick.limit])
    return [item for item in new if item.message.id in kept]


def _last_question(messages: MessageStore, session: Session) -> str | None:
    return next((message.content for message in messages.recent(session.id, session.pool, "user", 1)), None)


def _sources_of(project: Project | None) -> Sequence[Source]:
    own = None if project is None else context_sources(project.settings)
    return default_sources() if own is None else own
