"""Answer a question without recording anything: recall, ask the model, store nothing."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from cloister.domain.context import Context
from cloister.domain.conversation import Project, Session
from cloister.domain.errors import CloisterError, NotFound, TurnMoved
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach, Scope
from cloister.services.chat.converse import BuildRequest, Chat, ThreadRunner, TurnEnd, TurnEvent
from cloister.services.chat.named_session import NamedSession, checked_session
from cloister.services.chat.reply_buffer import ReplyBuffer
from cloister.services.chat.response_history import ChainEnd, history_of, up_to
from cloister.services.chat.turn_scope import model_of, prompt_of
from cloister.services.conversations.stored.items import StoredItem
from cloister.services.recall.build_context import ContextBuilder, ContextRequest
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.sessions import SessionStore
from cloister.storage.stores.tenants import ProjectStore


@dataclass(frozen=True, kw_only=True, slots=True)
class UnrecordedQuestion:
    """A question that is answered from `scope`, the scope of a session, or of a new session if `session` is None. `history` are the
    items of the session."""

    reach: Reach
    scope: Scope
    session: Session | None
    text: str | None
    known: frozenset[str]
    system_prompt: str | None
    model: str | None
    history: tuple[StoredItem, ...]


class UnrecordedChat:
    """Answers on one event loop. Nothing is stored, no turn is taken, and no event is published."""

    def __init__(self, database: Database, contexts: ContextBuilder, chat: Chat) -> None:
        self._database = database
        self._contexts = contexts
        self._chat = chat

    def ask(
        self,
        reach: Reach,
        named: NamedSession,
        text: str | None,
        *,
        known: frozenset[str],
        until: ChainEnd | None = None,
    ) -> UnrecordedQuestion:
        """Begin to answer a question in a session, if it exists, after the same checks as for a turn. `until` is the end of the
        history."""
        user = reach.user_of(named.user_id)
        with self._database.read(reach) as transaction:
            session = None if named.session is None else SessionStore(transaction).find(named.session)
            named.require(session)
            if session is not None:
                checked_session(session, named)
            project = _project(transaction, named.project if session is None else session.project)
            scope = _scope(reach, session, project, user)
            history: Sequence[StoredItem] = () if session is None else history_of(transaction, session)
            return UnrecordedQuestion(
                reach=reach,
                scope=scope,
                session=session,
                text=text,
                known=known,
                system_prompt=prompt_of(session, project),
                model=model_of(session, project),
                history=tuple(up_to(history, until)),
            )

    def admits(self, reach: Reach, asked: UnrecordedQuestion) -> bool:
        """Whether a caller with this reach may still read the reply: the scope it is answered from is the same (ISO-12)."""
        if not reach.covers(asked.scope):
            return False
        with self._database.read(reach) as transaction:
            session = None
            if asked.session is not None:
                session = SessionStore(transaction).find(asked.session.external_id)
                if session is None or session.id != asked.session.id:
                    return False
            try:
                project = _project(transaction, asked.scope.project if session is None else session.project)
            except NotFound:
                return False
            return _scope(reach, session, project, asked.scope.user) == asked.scope

    async def reply(
        self,
        asked: UnrecordedQuestion,
        publish: Callable[[TurnEvent], None],
        *,
        stop: asyncio.Event,
        threads: ThreadRunner,
        build: BuildRequest,
    ) -> None:
        """Recall and answer; each event is published as it occurs. When `stop` is set, the reply ends."""
        buffer = ReplyBuffer(publish)
        answering = asyncio.create_task(self._chat.stream_reply(partial(self._recall, asked), build, buffer, threads))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((answering, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            answering.cancel()
            stopping.cancel()
            await asyncio.gather(answering, stopping, return_exceptions=True)
        broke = None if answering.cancelled() else answering.exception()
        ended = buffer.cut() if answering.cancelled() else buffer.ended(broke)
        publish(
            TurnEnd(
                status=ended.status,
                message=None,
                finish_reason=ended.finish_reason,
                usage=ended.usage,
                error=ended.error,
            )
        )
        if broke is not None and not isinstance(broke, CloisterError):
            raise broke

    def _recall(self, asked: UnrecordedQuestion, budget: int) -> Context:
        request = ContextRequest(
            question=asked.text, budget=budget, budget_is_cap=True, known=asked.known, bound_to=asked.scope
        )
        request = self._chat.recall_request(request, frozenset())
        if asked.session is None:
            return self._chat.quoted(self._contexts.build_for_scope(asked.reach, asked.scope, request))
        try:
            return self._chat.quoted(self._contexts.build(asked.reach, asked.session.external_id, request))
        except NotFound as gone:
            raise TurnMoved(asked.session.external_id) from gone


def _project(transaction: Transaction, project: ProjectId | None) -> Project | None:
    return None if project is None else ProjectStore(transaction).get(project)


def _scope(reach: Reach, session: Session | None, project: Project | None, user: str | None) -> Scope:
    visibility = None if project is None else project.member_visibility
    if session is not None:
        return session.scope(visibility)
    if project is None:
        return Scope(tenant=reach.tenant, project=None, user=user)
    return Scope(tenant=reach.tenant, project=project.id, user=user, visibility=project.member_visibility)
