"""Build a session's context: its recent messages, and what is recalled from its pool for the question."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from cloister.domain.context import (
    HIGHEST_BUDGET,
    WIDE_LIMIT,
    Context,
    Derived,
    Item,
    Method,
    RecallTerms,
    Source,
    checked_limits,
    default_sources,
    with_limits,
)
from cloister.domain.conversation import Message, Project, Session
from cloister.domain.errors import TurnMoved
from cloister.domain.identifiers import MessageId, SessionId
from cloister.domain.project_settings import (
    NO_SETTINGS,
    context_sources,
    history_tokens,
    min_relevance,
    observation_scope,
    stores_receipts,
)
from cloister.domain.prompts.recalled_text import NO_POOL, shown_outside_session
from cloister.domain.recall.assembly import Room, assemble, newest_that_fit
from cloister.domain.recall.excerpt import best_passage
from cloister.domain.recall.filter import Filter
from cloister.domain.recall.question import asked_part
from cloister.domain.recall.relevance import checked_min_relevance
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import checked_content, checked_limit
from cloister.domain.timestamps import Clock
from cloister.index import terms
from cloister.services.recall.embeddings.additional import QueryVector
from cloister.services.recall.notes import recent_notes
from cloister.services.recall.profile import Profiles
from cloister.services.recall.recall import Recall
from cloister.services.recall.selection import Pick, Question, Recalled, RecallTrace
from cloister.services.recall.snapshot import read_snapshot
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.filters import FilterStore, PassingMessages
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.pools import PoolMessage, PoolStore, StoredPool
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore

_MOST_MEMORIES = 10
_MOST_ENTITIES = 10
# So many messages after an earlier context are left out when it is built again.
_MOST_LATER = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextRequest:
    """What a context is built from. Without a question, the user's last message is the question; `asked_at` is when it is asked, by
    default now. `as_of` asks for the memories that were true then, and not now (MEM-12). `sources` replace the project's own, and
    the limits replace those of the sources. A budget is filled with related history unless it is only a cap. Messages whose words
    are `known` are not recalled, and others take their place. A filter applies to all that is recalled, and not to the current
    conversation. With `profile_tokens` the context also has the profile of its user, of at most so many tokens (MEM-16). `again`
    are the terms of an earlier context, which replace its sources and limits (PRF-2)."""

    question: str | None = None
    asked_at: int | None = None
    as_of: int | None = None
    min_relevance: float | None = None
    sources: Sequence[Source] | None = None
    recent_limit: int | None = None
    semantic_limit: int | None = None
    budget: int | None = None
    budget_is_cap: bool = False
    known: frozenset[str] = frozenset()
    profile_tokens: int = 0
    filter: Filter | None = None
    bound_to: Scope | None = None
    again: RecallTerms | None = None

    @property
    def fills_budget(self) -> bool:
        return self.budget is not None and not self.budget_is_cap

    def checked_limits(self) -> dict[Method, int]:
        """Check the request, and return the limits that it sets for all its sources of a method."""
        if self.question is not None:
            checked_content(self.question, "query")
        if self.budget is not None:
            checked_limit(self.budget, "budget_tokens", HIGHEST_BUDGET)
        if self.min_relevance is not None:
            checked_min_relevance(self.min_relevance)
        return checked_limits(self.recent_limit, self.semantic_limit)


class ContextBuilder:
    """Each context is read from one snapshot."""

    def __init__(self, database: Database, recall: Recall, generation: int, clock: Clock, profiles: Profiles) -> None:
        self._database = database
        self._profiles = profiles
        self._recall = recall
        self._generation = generation
        self._clock = clock

    def build(self, reach: Reach, external_id: str, request: ContextRequest) -> Context:
        """The context of a session. Raises `TurnMoved` if the session no longer has the scope `bound_to` (ISO-12)."""
        limits = request.checked_limits()
        vector = None if request.semantic_limit == 0 else self.query_vector(reach, external_id, request.question)

        def work(transaction: Transaction) -> Context:
            session = SessionStore(transaction).get(external_id)
            return self.build_within(transaction, session, request, limits, vector)

        return read_snapshot(self._database, reach, work)

    def build_for_scope(self, reach: Reach, scope: Scope, request: ContextRequest) -> Context:
        """The context that a new session of this scope would have, without creating it. Raises `TurnMoved` if the project of the
        scope has changed its visibility."""
        limits = request.checked_limits()
        question = asked_part(request.question or "")
        vector = None if request.semantic_limit == 0 or not question else self._recall.query_vector(reach, question)

        def work(transaction: Transaction) -> Context:
            session = Session(
                id=SessionId(0),
                tenant=scope.tenant,
                external_id="",
                project=scope.project,
                pool=PoolStore(transaction, self._generation).find(scope.pool) or NO_POOL,
                user_id=scope.user,
                title=None,
                tags=(),
                metadata={},
                message_count=0,
                created_at=0,
                updated_at=0,
            )
            return self.build_within(
                transaction, session, replace(request, bound_to=replace(scope, session=session.id)), limits, vector
            )

        return read_snapshot(self._database, reach, work)

    def build_within(
        self,
        transaction: Transaction,
        session: Session,
        request: ContextRequest,
        limits: Mapping[Method, int],
        vector: QueryVector | None,
        trace: RecallTrace | None = None,
    ) -> Context:
        """The context of a session that the caller found in this transaction. `trace` is given how messages were selected."""
        project = None if session.project is None else ProjectStore(transaction).get(session.project)
        scope = _scope(session, project)
        if request.bound_to is not None and scope != request.bound_to:
            raise TurnMoved(session.external_id)
        question = self._question(transaction, session, project, request, vector)
        sources, room = _sources(project, request, limits), _room(project, request, question)
        derived, version = self._derived(transaction, session, scope, project, question)
        derived = self._with_profile(transaction, session, scope, request, derived)
        conversation, later = _conversation(transaction, session, sources, request.again)
        shown = newest_that_fit(conversation.values(), derived, room)
        # What does not fit may be recalled, but the question is not recalled for itself.
        without = {message.id for message in shown} | _asking(conversation.values(), request.question) | later
        related, recalled = self._related(transaction, session, scope, question, sources, without, trace)
        found = {item.message.id for item in related}
        context = assemble(
            session=session.external_id,
            project=session.project,
            said=shown,
            related=related,
            derived=derived,
            room=room,
            left_out={"weak": recalled.weak, "duplicate": recalled.duplicate, "limit": recalled.limit},
            user=session.user_id,
            shared=scope.shared,
            unshown=len(conversation.keys() - {message.id for message in shown} - found),
        )
        if trace is not None:
            trace.question, trace.related, trace.without = question, related, frozenset(without)
        return replace(
            context,
            terms=RecallTerms(
                pool=session.pool,
                version=version,
                project=session.project,
                user=session.user_id,
                asked_at=question.asked_at,
                floor=question.floor,
                question=request.question,
                question_id=question.message,
                sources=sources,
                budget=room.budget,
                budget_is_cap=request.budget_is_cap,
                history=room.history,
                as_of=request.as_of,
                until=max(conversation, default=None),
                is_filtered=request.filter is not None,
                is_stored=stores_receipts(_settings(project)),
            ),
            quotations=recalled.quotation,
            known=recalled.known,
            stale=recalled.stale,
        )

    def _question(
        self,
        transaction: Transaction,
        session: Session,
        project: Project | None,
        request: ContextRequest,
        vector: QueryVector | None,
    ) -> Question:
        settings, now = _settings(project), self._clock()
        last = None if request.question else _last_question(transaction, session)
        text = request.question or ("" if last is None else last.content)
        return Question(
            text=asked_part(text),
            message=None if last is None else last.id,
            asked_at=now if request.asked_at is None else request.asked_at,
            now=now,
            as_of=request.as_of,
            floor=min_relevance(settings) if request.min_relevance is None else request.min_relevance,
            known=request.known,
            vector=vector,
            filter=request.filter,
        )

    def query_vector(self, reach: Reach, external_id: str, question: str | None) -> QueryVector | None:
        """The vector of the question, or of the last one in the session, made before the snapshot."""
        if self._recall.additional is None:
            return None
        if not question:
            with self._database.read(reach) as transaction:
                session = SessionStore(transaction).get(external_id)
                last = _last_question(transaction, session)
                question = None if last is None else last.content
        return self._recall.query_vector(reach, asked_part(question)) if question else None

    def _related(
        self,
        transaction: Transaction,
        session: Session,
        scope: Scope,
        question: Question,
        sources: Sequence[Source],
        without: Set[MessageId],
        trace: RecallTrace | None,
    ) -> tuple[list[Item], Recalled]:
        """The most recent and the best messages of the pool, as the sources say, but those `without`."""
        recent = self._recent_in_pool(transaction, scope, sources, question.filter)
        related = [item for item in recent if item.message.id not in without]
        picks = [
            Pick(
                limit=source.limit,
                role=source.role,
                session=session.id if source.conversation_scope == "current" else None,
            )
            for source in sources
            if source.method == "semantic" and source.limit
        ]
        if not picks or not question.text:
            return related, Recalled()
        recalled = self._recall.messages(transaction, scope, question, picks, without=without, trace=trace)
        return [*related, *recalled.items], recalled

    def _derived(
        self, transaction: Transaction, session: Session, scope: Scope, project: Project | None, question: Question
    ) -> tuple[Derived, int]:
        """Memories and entities for the question, and notes of the session, or of its user if the project says so (TAB-7); and the
        version of the pool. One query finds out which of these exist at all; the others are not searched."""
        of_user = project is not None and observation_scope(project.settings) == "user"
        user = session.user_id if of_user else None
        there = PoolStore(transaction, self._generation).derived(session.pool, session.id, session.project, user)
        memories = entities = ()
        if there.memories:
            memories = self._recall.memories(transaction, scope, question, _MOST_MEMORIES, with_pinned=True)
        if question.text and there.entities:
            entities = self._recall.entities(transaction, scope, question, _MOST_ENTITIES)
        derived = Derived(
            memories=tuple(found.what for found in memories),
            entities=tuple(found.what for found in entities),
            observations=recent_notes(transaction, session, user, question.filter) if there.observations else (),
            memory_relevance={found.what.memory.id: found.relevance for found in memories},
            entity_relevance={found.what.id: found.relevance for found in entities},
        )
        return derived, there.version

    def _with_profile(
        self, transaction: Transaction, session: Session, scope: Scope, request: ContextRequest, derived: Derived
    ) -> Derived:
        """With the profile of the session's user, if the prompt asks for it."""
        if not request.profile_tokens:
            return derived
        profile = self._profiles.for_prompt(transaction, scope, session.id, request.profile_tokens)
        return replace(derived, profile=profile)

    def _recent_in_pool(
        self, transaction: Transaction, scope: Scope, sources: Sequence[Source], wanted: Filter | None
    ) -> list[Item]:
        recent = [source for source in sources if source.method == "recent" and source.conversation_scope == "pool"]
        rows = PoolStore(transaction, self._generation).rows(scope) if recent else None
        if rows is None:
            return []
        passing = None if wanted is None else FilterStore(transaction).pool_messages(rows.pool, wanted)
        return [
            Item(message, found.session, "pool", user=found.user)
            for source in recent
            for found in _recent(rows, source, passing)
            if (message := shown_outside_session(found.message)) is not None
        ]


def _conversation(
    transaction: Transaction, session: Session, sources: Sequence[Source], again: RecallTerms | None
) -> tuple[Mapping[MessageId, Message], Set[MessageId]]:
    """The recent messages of the session, as the sources say; and if an earlier context is built again, those that were said
    later, which are left out."""
    messages, until = MessageStore(transaction), None if again is None else again.until
    later = [] if until is None else messages.page(session.id, session.pool, limit=_MOST_LATER, after=until)
    said = {
        message.id: message
        for source in sources
        if session.message_count and source.method == "recent" and source.conversation_scope == "current"
        for message in messages.recent(session.id, session.pool, source.role, source.limit + len(later))
    }
    if until is None:
        return said, frozenset()
    return {id: message for id, message in said.items() if id <= until}, {message.id for message in later}


def _asking(conversation: Iterable[Message], question: str | None) -> set[MessageId]:
    """The messages that ask the question, or without one, the user's last message, which is then the question."""
    asked = [message for message in conversation if message.role == "user"]
    if question is None:
        return {message.id for message in sorted(asked, key=lambda message: message.id)[-1:]}
    return {message.id for message in asked if message.content == question}


def _scope(session: Session, project: Project | None) -> Scope:
    return session.scope(None if project is None else project.member_visibility)


def _recent(rows: StoredPool, source: Source, passing: PassingMessages | None) -> Sequence[PoolMessage]:
    if passing is None:
        return rows.recent(source.role, source.limit)
    newest = passing.newest(source.role, source.limit)
    found = rows.messages(newest) if newest else {}
    return [found[message] for message in newest if message in found]


def _last_question(transaction: Transaction, session: Session) -> Message | None:
    return next(iter(MessageStore(transaction).recent(session.id, session.pool, "user", 1)), None)


def _sources(project: Project | None, request: ContextRequest, limits: Mapping[Method, int]) -> Sequence[Source]:
    """The sources of the request, else of the project, else the defaults, which are wider where a budget is to be filled."""
    if request.again is not None and request.again.sources is not None:
        return request.again.sources
    own = None if project is None else context_sources(project.settings)
    if request.sources is not None or own is not None:
        return with_limits(own or () if request.sources is None else request.sources, limits)
    wide: dict[Method, int] = {"semantic": WIDE_LIMIT} if request.fills_budget else {}
    return with_limits(default_sources(), {**wide, **limits})


def _settings(project: Project | None) -> Mapping[str, object]:
    return NO_SETTINGS if project is None else project.settings


def _room(project: Project | None, request: ContextRequest, question: Question) -> Room:
    """Without a budget to fill and without limits of its own, a request gets as much related history as the project's setting."""
    shorten = partial(_excerpt, question.text)
    if request.again is not None:
        return Room(budget=request.again.budget, history=request.again.history, shorten=shorten)
    if request.fills_budget:
        return Room(budget=request.budget, shorten=shorten)
    chooses = request.sources is not None or request.semantic_limit is not None
    return Room(budget=request.budget, history=None if chooses else history_tokens(_settings(project)), shorten=shorten)


def _excerpt(question: str, message: Message, tokens: int) -> Message:
    """The best passage of a message in at most so many tokens, if they are spread evenly over its text."""
    longest = tokens * len(message.content) // message.tokens
    passage = best_passage(message.content, terms.term_list(question), terms.term_list, longest)
    return message._replace(content=passage, tokens=tokens)
