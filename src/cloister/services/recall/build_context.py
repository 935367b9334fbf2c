"""Build a session's context: its recent messages, and what is recalled from its pool for the question."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

from cloister.domain.context import (
    Context,
    Derived,
    Item,
    Method,
    RecallTerms,
    Source,
)
from cloister.domain.conversation import Message, Project, Session
from cloister.domain.errors import TurnMoved
from cloister.domain.identifiers import MessageId, SessionId
from cloister.domain.project_settings import (
    observation_scope,
    stores_receipts,
)
from cloister.domain.prompts.recalled_text import NO_POOL, shown_outside_session
from cloister.domain.recall.assembly import assemble, newest_that_fit
from cloister.domain.recall.question import asked_part
from cloister.domain.recall.wording.order import asks_for_order
from cloister.domain.scope import Reach, Scope
from cloister.domain.sessions.exclusions import NOTHING_EXCLUDED, Excluded, excluded_by
from cloister.domain.sessions.unmoved import token_of
from cloister.domain.timestamps import Clock
from cloister.services.recall.context_request import (
    ContextRequest,
    floors_of,
    room_of,
    settings_of,
    sources_of,
)
from cloister.services.recall.embeddings.additional import QueryVector
from cloister.services.recall.notes import recent_notes
from cloister.services.recall.profile import Profiles
from cloister.services.recall.recall import Recall
from cloister.services.recall.selection import Pick, Question, Recalled, RecallTrace
from cloister.services.recall.snapshot import read_snapshot
from cloister.services.recall.unmoved import first_token
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.filters import FilterStore, PassingMessages
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.pools import DerivedState, PoolMessage, PoolStore, StoredPool
from cloister.storage.stores.receipts.exclusions import ExclusionStore
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore, TenantStore

_MOST_MEMORIES = 10
_MOST_ENTITIES = 10


class ContextBuilder:
    """Each context is read from one snapshot."""

    def __init__(self, database: Database, recall: Recall, generation: int, clock: Clock, profiles: Profiles) -> None:
        self._database = database
        self._profiles = profiles
        self._recall = recall
        self._generation = generation
        self._clock = clock

    def build(self, reach: Reach, external_id: str, request: ContextRequest) -> Context:
        """The context of a session. Raises `TurnMoved` if the session no longer has the scope `bound_to` (ISO-12); without one, the
        context has a token, with which a reply is only recorded if the session still has the same scope."""
        limits = request.checked_limits()
        vector = None if request.semantic_limit == 0 else self.query_vector(reach, external_id, request.question)

        def work(transaction: Transaction) -> tuple[Context, Session]:
            session = SessionStore(transaction).get(external_id)
            secret = TenantStore(transaction).secret() if request.bound_to is None else None
            return self.build_within(transaction, session, request, limits, vector, secret=secret), session

        context, session = read_snapshot(self._database, reach, work)
        if request.bound_to is not None or context.unmoved_token is not None:
            return context
        token = first_token(self._database, reach, session, shared=context.shared)
        return replace(context, unmoved_token=token)

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
        secret: bytes | None = None,
    ) -> Context:
        """The context of a session that the caller found in this transaction. `trace` is given how messages were selected. With the
        tenant's secret the context has its token."""
        project = None if session.project is None else ProjectStore(transaction).get(session.project)
        scope = _scope(session, project)
        if request.bound_to is not None and scope != request.bound_to:
            raise TurnMoved(session.external_id)
        of_user = project is not None and observation_scope(project.settings) == "user"
        notes_of = session.user_id if of_user else None
        there = PoolStore(transaction, self._generation).derived(session.pool, session.id, session.project, notes_of)
        excluded = excluded_by(ExclusionStore(transaction, session.id).all()) if there.exclusions else NOTHING_EXCLUDED
        question = self._question(transaction, session, project, request, vector, excluded)
        sources, room = sources_of(project, request, limits), room_of(project, request, question.text)
        derived = self._derived(transaction, session, scope, question, there, notes_of)
        derived = self._with_profile(transaction, session, scope, request, derived, question.excluded)
        conversation, later = _conversation(transaction, session, sources, request)
        shown = newest_that_fit(conversation.values(), derived, room)
        # What does not fit may be recalled, but the question is not recalled for itself.
        without = {message.id for message in shown} | _asking(conversation.values(), request.question) | later
        without |= request.without
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
            in_time_order=request.sources is None and asks_for_order(question.text),
        )
        if trace is not None:
            trace.question, trace.related, trace.without = question, related, frozenset(without)
            trace.excluded = question.excluded
        return replace(
            context,
            terms=RecallTerms(
                pool=session.pool,
                version=there.version,
                project=session.project,
                user=session.user_id,
                asked_at=question.asked_at,
                floor=question.floor,
                fill_floor=question.fill_floor,
                question=request.question,
                question_id=question.message,
                sources=sources,
                budget=room.budget,
                budget_is_cap=request.budget_is_cap,
                history=room.history,
                as_of=request.as_of,
                until=max(conversation, default=None),
                is_filtered=request.filter is not None,
                is_stored=stores_receipts(settings_of(project)),
                additional_model=None if vector is None else vector.model_for(question.text),
            ),
            quotations=recalled.quotation,
            known=recalled.known,
            excluded=self._recall.count_excluded(transaction, scope, question),
            stale=recalled.stale,
            project_name=None if project is None else project.name,
            unmoved_token=None if secret is None else token_of(secret, session, shared=scope.shared),
        )

    def _question(
        self,
        transaction: Transaction,
        session: Session,
        project: Project | None,
        request: ContextRequest,
        vector: QueryVector | None,
        excluded: Excluded,
    ) -> Question:
        settings, now = settings_of(project), self._clock()
        last = None if request.question else _last_question(transaction, session)
        text = request.question or ("" if last is None else last.content)
        floor = floors_of(settings, request)
        return Question(
            text=asked_part(text),
            message=None if last is None else last.id,
            asked_at=now if request.asked_at is None else request.asked_at,
            now=now,
            as_of=request.as_of,
            floor=floor.best,
            fill_floor=floor.others,
            known=request.known,
            vector=vector,
            filter=request.filter,
            excluded=excluded,
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
        recent = self._recent_in_pool(transaction, scope, sources, question)
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
        self,
        transaction: Transaction,
        session: Session,
        scope: Scope,
        question: Question,
        there: DerivedState,
        notes_of: str | None,
    ) -> Derived:
        """Memories and entities for the question, and notes of the session, or of its user if the project says so (TAB-7). One
        query has found out which of these are `there` at all; the others are not searched."""
        memories = entities = ()
        if there.memories:
            memories = self._recall.memories(transaction, scope, question, _MOST_MEMORIES, with_pinned=True)
        if question.text and there.entities:
            entities = self._recall.entities(transaction, scope, question, _MOST_ENTITIES)
        return Derived(
            memories=tuple(found.what for found in memories),
            entities=tuple(found.what for found in entities),
            observations=recent_notes(transaction, session, notes_of, question.filter) if there.observations else (),
            memory_relevance={found.what.memory.id: found.relevance for found in memories},
            entity_relevance={found.what.id: found.relevance for found in entities},
        )

    def _with_profile(
        self,
        transaction: Transaction,
        session: Session,
        scope: Scope,
        request: ContextRequest,
        derived: Derived,
        excluded: Excluded,
    ) -> Derived:
        """With the profile of the session's user, if the prompt asks for it."""
        if not request.profile_tokens:
            return derived
        profile = self._profiles.for_prompt(transaction, scope, session.id, request.profile_tokens, excluded.memories)
        return replace(derived, profile=profile)

    def _recent_in_pool(
        self, transaction: Transaction, scope: Scope, sources: Sequence[Source], question: Question
    ) -> list[Item]:
        wanted, excluded = question.filter, question.excluded.messages
        recent = [source for source in sources if source.method == "recent" and source.conversation_scope == "pool"]
        rows = PoolStore(transaction, self._generation).rows(scope) if recent else None
        if rows is None:
            return []
        passing = None if wanted is None else FilterStore(transaction).pool_messages(rows.pool, wanted)
        return [
            Item(message, found.session, "pool", user=found.user)
            for source in recent
            for found in _recent(rows, source, passing, excluded)
            if (message := shown_outside_session(found.message)) is not None
        ]


def _conversation(
    transaction: Transaction, session: Session, sources: Sequence[Source], request: ContextRequest
) -> tuple[Mapping[MessageId, Message], Set[MessageId]]:
    """The recent messages of the session, as the sources say; and if an earlier context is built again, or only a part of the
    session counts, the numbers of those that were said later, which are left out."""
    messages = MessageStore(transaction)
    until = request.until if request.again is None else request.again.until
    later = set[MessageId]()
    if until is not None:
        last = SessionStore(transaction).last_message(session.id)
        later.update(map(MessageId, range(until + 1, last + 1)))
    recent = partial(messages.recent, session.id, session.pool, is_forked=session.is_forked, until=until)
    said = {
        message.id: message
        for source in sources
        if session.message_count and source.method == "recent" and source.conversation_scope == "current"
        for message in recent(source.role, source.limit, with_partial=request.with_partial)
    }
    return said, later


def _asking(conversation: Iterable[Message], question: str | None) -> set[MessageId]:
    """The messages that ask the question, or without one, the user's last message, which is then the question."""
    asked = [message for message in conversation if message.role == "user"]
    if question is None:
        return {message.id for message in sorted(asked, key=lambda message: message.id)[-1:]}
    return {message.id for message in asked if message.content == question}


def _scope(session: Session, project: Project | None) -> Scope:
    return session.scope(None if project is None else project.member_visibility)


def _recent(
    rows: StoredPool, source: Source, passing: PassingMessages | None, excluded: Set[int]
) -> Sequence[PoolMessage]:
    """The most recent messages of a source, without those that are excluded, for which older ones come."""
    limit = source.limit + len(excluded)
    if passing is None:
        newest = rows.recent(source.role, limit)
    else:
        ids = passing.newest(source.role, limit)
        found = rows.messages(ids) if ids else {}
        newest = [found[message] for message in ids if message in found]
    return [each for each in newest if each.message.id not in excluded][: source.limit] if excluded else newest


def _last_question(transaction: Transaction, session: Session) -> Message | None:
    found = MessageStore(transaction).recent(session.id, session.pool, "user", 1, is_forked=session.is_forked)
    return found[0] if found else None
