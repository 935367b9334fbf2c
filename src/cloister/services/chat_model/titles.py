"""Name a conversation by its beginning: the chat model is asked for a title. No transaction is open while it answers."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from cloister.domain.conversation import Message, Session
from cloister.domain.errors import Conflict, ModelUnavailable, TurnMoved
from cloister.domain.identifiers import MessageId
from cloister.domain.prompts.recalled_text import own_words
from cloister.domain.prompts.title import title_of, title_prompt
from cloister.domain.reply import ChatRequest, TextDelta
from cloister.domain.scope import Reach, Scope
from cloister.domain.text import checked_metadata, checked_name
from cloister.models.interface import ChatModel
from cloister.services.chat.turn_scope import model_of, project_of, scope_of
from cloister.services.events.bus import EventBus
from cloister.storage.interface import Database, Transaction
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.sessions import Description, SessionStore

_SECONDS = 30.0
_MOST_READ = 20
"""So many messages from the beginning are looked at: attached files are messages of the user too."""
_LONGEST_ANSWER = 4_000
_NO_MODEL = "No model is connected, so no title can be made: set CLOISTER_MODEL_URL, and start the server again."


def _still_allowed() -> None:
    """The caller of the library is the owner of the data."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Exchange:
    """What a title is made of: the first words of the user and the first finished reply, and the ids of all these messages."""

    question: str
    reply: str
    messages: tuple[MessageId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Untitled:
    """A session as it was when the model was asked for its title."""

    session: Session
    scope: Scope
    exchange: _Exchange
    model: str | None


class Titles:
    """Asks with connections of its own: those of the chat model belong to the event loop that answers."""

    def __init__(self, database: Database, model: ChatModel, events: EventBus, *, is_configured: bool) -> None:
        self._database = database
        self._model = model
        self._events = events
        self._is_configured = is_configured

    def give(
        self,
        reach: Reach,
        external_id: str,
        *,
        replaces: str | None = None,
        check_caller: Callable[[], None] = _still_allowed,
    ) -> Session:
        """Give a session a title that the model makes of its first exchange. A session that has a title keeps it, unless that is
        `replaces`. `check_caller` raises if the caller may not store the title any more; it is called after the model's answer. If
        the session was given a title, or its beginning was changed, while the model answered, nothing is stored. Raises `Conflict`
        without a finished reply, `TurnMoved` if the session recalls from another pool now, and `ModelUnavailable`. A title is no
        activity: `updated_at` stays."""
        if replaces is not None:
            checked_name(replaces, "replaces")
        with self._database.read(reach) as transaction:
            session = SessionStore(transaction).get(external_id)
            if not _is_replaceable(session, replaces):
                return session
            untitled = _untitled(transaction, session)
        title = self._asked(untitled)
        check_caller()
        named, is_new = self._database.write(reach, lambda now: _store(now, untitled, replaces, title))
        if is_new:
            self._events.changed(named)
        return named

    def _asked(self, untitled: _Untitled) -> str:
        if not self._is_configured:
            raise ModelUnavailable(_NO_MODEL)
        exchange = untitled.exchange
        request = ChatRequest(
            messages=title_prompt(exchange.question, exchange.reply),
            models=() if untitled.model is None else (untitled.model,),
        )
        title = title_of(asyncio.run(_answer(self._model.separate(), request)))
        if not title:
            raise ModelUnavailable("The model answered without a title.")
        return title


async def _answer(model: ChatModel, request: ChatRequest) -> str:
    """What the model answers, up to a length; it is closed afterwards."""
    answer = ""
    try:
        async with asyncio.timeout(_SECONDS), aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextDelta):
                    answer += piece.text
                if len(answer) > _LONGEST_ANSWER:
                    break
    except TimeoutError as slow:
        raise ModelUnavailable(f"The model gave no title within {_SECONDS:.0f} s.") from slow
    finally:
        await model.close()
    return answer


def _store(transaction: Transaction, untitled: _Untitled, replaces: str | None, title: str) -> tuple[Session, bool]:
    """The session, and whether it has the new title."""
    name = untitled.session.external_id
    session = SessionStore(transaction).lock(name).session
    if session.id != untitled.session.id:
        raise TurnMoved(name)
    if not _is_replaceable(session, replaces) or title == session.title:
        return session, False
    if scope_of(session, project_of(transaction, session)) != untitled.scope:
        raise TurnMoved(name)
    exchange = _first_exchange(_beginning(transaction, session))
    if exchange is None or exchange.messages != untitled.exchange.messages:
        return session, False
    words = Description(title=title, tags=session.tags, metadata=checked_metadata(session.metadata))
    SessionStore(transaction).describe(session.id, words, session.updated_at, title_through=max(exchange.messages))
    return session._replace(title=title), True


def _untitled(transaction: Transaction, session: Session) -> _Untitled:
    exchange = _first_exchange(_beginning(transaction, session))
    if exchange is None:
        raise Conflict(
            f"The session {session.external_id!r} has no finished reply yet, so there is nothing to name it by."
        )
    project = project_of(transaction, session)
    return _Untitled(
        session=session, scope=scope_of(session, project), exchange=exchange, model=model_of(session, project)
    )


def _is_replaceable(session: Session, replaces: str | None) -> bool:
    return session.title is None or session.title == replaces


def _beginning(transaction: Transaction, session: Session) -> list[Message]:
    return MessageStore(transaction).page(session.id, session.pool, limit=_MOST_READ)


def _first_exchange(messages: Sequence[Message]) -> _Exchange | None:
    """The messages of the user up to the first finished reply, and that. Only what each says in its own words is used: what it
    quotes belongs to another conversation."""
    asked: list[Message] = []
    for message in messages:
        if message.role == "user":
            asked.append(message)
        elif message.role == "assistant" and message.status == "completed" and asked:
            return _Exchange(
                question="\n".join(own_words(each.content) for each in asked),
                reply=own_words(message.content),
                messages=(*(each.id for each in asked), message.id),
            )
    return None
