"""Answer a turn: recall the context, stream the model's reply, and store it. No transaction is open while the model answers.

Only a reply that the model finished is `completed`. One that was cut off is `partial`, one without words `failed`; neither is ever
recalled or extracted. A model is shown the partial replies of its own conversation, so that it can go on, and no failed ones.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Protocol, TypeVar

from cloister.domain.context import Context
from cloister.domain.conversation import Message, Status
from cloister.domain.errors import (
    CloisterError,
    Forbidden,
    InvalidRequest,
    ModelUnavailable,
    NotFound,
    OutcomeUnknown,
    StorageError,
    TurnMoved,
)
from cloister.domain.identifiers import MessageId
from cloister.domain.prompts.images import with_images
from cloister.domain.prompts.profile import DEFAULT_PROFILE_TOKENS
from cloister.domain.prompts.prompt import given, prompt, wants_profile
from cloister.domain.reply import ChatRequest, ProviderEvent, TextDelta, ToolCallDelta, Usage
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.models.interface import ChatModel
from cloister.models.openai.endpoint import TooLongForTheModel
from cloister.services.chat.reply_buffer import FinishedReply, ReplyBuffer
from cloister.services.chat.turns import Turn, TurnLost, Turns
from cloister.services.chat_model.quoting import quotable, quoting_request
from cloister.services.conversations.forget import Forgetting
from cloister.services.recall.build_context import ContextBuilder, ContextRequest
from cloister.services.receipts.reply import ReplyReceipt

CHECK_SECONDS = 1.5
"""How often a running turn, and the access of its followers, is checked again: a change takes effect within 2 s (ISO-12)."""
_SHORTENINGS = 5
_TRIES = 5
_FIRST_WAIT = 0.1
_LONGEST_KEY = 1_000
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnContext:
    """The context of the reply. It comes before the first words, and again if the model could not take that much."""

    context: Context


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnEnd:
    """The last event of a turn. `message` is the stored reply: None if it had only tool calls, or could not be stored. `error` is
    why it is not completed: None if it was stopped by a caller."""

    status: Status
    message: Message | None
    finish_reason: str
    usage: Usage | None = None
    error: CloisterError | None = None


TurnEvent = TurnContext | TextDelta | ToolCallDelta | ProviderEvent | TurnEnd
BuildRequest = Callable[[Context], ChatRequest]


class ThreadRunner(Protocol):
    """Runs blocking calls outside the event loop."""

    def read(self, call: Callable[[], T], /) -> Awaitable[T]: ...

    def write(self, call: Callable[[], T], /) -> Awaitable[T]: ...


class Chat:
    """Makes replies, on one event loop."""

    def __init__(
        self,
        turns: Turns,
        contexts: ContextBuilder,
        forgetting: Forgetting,
        model: ChatModel,
        *,
        context_tokens: int,
        allows_caller_keys: bool = False,
        image_models: frozenset[str] = frozenset(),
        quotes_only: bool = False,
    ) -> None:
        """`quotes_only`: the model is none, and quotes what was recalled. `image_models` names those that take images; `*` stands
        for all."""
        self._image_models = image_models
        self.quotes_only = quotes_only
        self._allows_caller_keys = allows_caller_keys
        self._turns = turns
        self._contexts = contexts
        self._forgetting = forgetting
        self._context_tokens = context_tokens
        self.model = model

    def caller_key(self, given: str | None) -> str | None:
        """The caller's own key of the model's endpoint, for one reply. `Forbidden` unless the operator allows such keys."""
        if given is None:
            return None
        if not self._allows_caller_keys:
            raise Forbidden(
                "X-Model-Key is not allowed on this server: its operator can set CLOISTER_CALLER_MODEL_KEYS=on."
            )
        if not given or len(given) > _LONGEST_KEY or not (given.isascii() and given.isprintable()):
            raise InvalidRequest("X-Model-Key", f"must be one line of at most {_LONGEST_KEY} ASCII characters.")
        return given

    def takes_images(self, name: str | None) -> bool:
        """Whether the operator says that this model takes images; None is the default model."""
        return not self.quotes_only and not self._image_models.isdisjoint(("*", name or self.model.name))

    def check_images(self, model: str | None) -> None:
        """Refuse a message with images to a model that takes none."""
        if not self.takes_images(model):
            why = (
                "no model is connected"
                if self.quotes_only
                else f"{model or self.model.name} is not a model that takes them"
            )
            raise InvalidRequest(
                "images", f"cannot be sent: {why}. The operator names those that do in CLOISTER_MODEL_IMAGES."
            )

    async def reply(
        self,
        turn: Turn,
        publish: Callable[[TurnEvent], None],
        *,
        stop: asyncio.Event,
        threads: ThreadRunner,
        build: BuildRequest | None = None,
    ) -> TurnEnd:
        """Recall, answer and store; each event is published as it occurs. When `stop` is set, the reply so far is stored. `build`
        makes the model's request if the client has a prompt of its own."""
        receipt = self._receipt(turn)

        def published(event: TurnEvent) -> None:
            receipt.token()
            publish(event)

        buffer = ReplyBuffer(published)
        contexts: list[Context] = []

        def recalled(context: Context) -> None:
            contexts.append(context)
            publish(TurnContext(context=context))

        answering = asyncio.create_task(
            self.stream_reply(
                partial(self.recall, turn), build or partial(own_request, turn), buffer, threads, recalled, receipt
            )
        )
        renewing = asyncio.create_task(self._renew_lease(turn, threads))
        stopping = asyncio.create_task(stop.wait())
        tasks = (answering, renewing, stopping)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        broke = None if answering.cancelled() else answering.exception()
        finished_reply = buffer.cut() if answering.cancelled() else buffer.ended(broke)
        if turn.is_unnamed and (finished_reply.status == "failed" or finished_reply.error is not None):
            finished = _turn_end(finished_reply)
            publish(finished)
            if not await self._forget_unnamed(turn, threads):
                await self._store(turn, finished_reply, threads, contexts, receipt)
        else:
            finished = await self._store(turn, finished_reply, threads, contexts, receipt)
            publish(finished)
        if broke is not None and not isinstance(broke, CloisterError):
            raise broke
        return finished

    async def stream_reply(
        self,
        recall: Callable[[int], Context],
        build: BuildRequest,
        buffer: ReplyBuffer,
        threads: ThreadRunner,
        recalled: Callable[[Context], object] = lambda context: None,
        receipt: ReplyReceipt | None = None,
    ) -> None:
        """Recall, and stream the reply into the buffer. If the prompt is too long for the model, retry with half of the context.
        `recalled` is called with what the model is given: as much of the context as the prompt has placeholders for."""
        budget = self._context_tokens
        for _ in range(_SHORTENINGS):
            context = await threads.read(partial(recall, budget))
            request = build(context)
            if receipt is not None:
                request = receipt.sending(request, context)
            recalled(request.context or context)
            buffer.begin(request.begun)
            try:
                async with aclosing(self.model.stream(request)) as pieces:
                    async for piece in pieces:
                        if not buffer.take(piece):
                            return
                return
            except TooLongForTheModel:
                if not context.tokens:
                    break
                budget = context.tokens // 2
        raise ModelUnavailable(f"The message is too long for the model ({self.model.name}): send a shorter one.")

    def recall(self, turn: Turn, budget: int) -> Context:
        """The context from the pool in which the turn began. Raises `TurnMoved` if the session is in another pool now, or out of
        the caller's reach (ISO-12)."""
        question = turn.question.content if turn.question.role == "user" else None
        name = turn.session.external_id
        try:
            request = ContextRequest(
                question=question,
                min_relevance=turn.min_relevance,
                budget=budget,
                budget_is_cap=True,
                known=turn.known,
                profile_tokens=min(DEFAULT_PROFILE_TOKENS, budget // 4) if wants_profile(turn.system_prompt) else 0,
                bound_to=turn.scope,
                until=None if turn.branch is None else turn.branch.after,
                with_partial=True,
            )
            asked = frozenset(message.id for message in turn.messages)
            context = self._contexts.build(turn.reach, name, self.recall_request(request, asked))
        except NotFound as gone:
            raise TurnMoved(name) from gone
        if self.quotes_only:
            return self.quoted(context)
        known = {message.id for message in turn.messages}
        related = tuple(item for item in context.relevant_history if item.message.id not in known)
        return replace(context, relevant_history=related)

    def recall_request(self, request: ContextRequest, asked: frozenset[MessageId]) -> ContextRequest:
        """The request for what the model is given; `asked` are the messages that ask."""
        return quoting_request(request, asked) if self.quotes_only else request

    def quoted(self, context: Context) -> Context:
        """What of a context the model is given: without a model, what is quoted."""
        return quotable(context) if self.quotes_only else context

    def _receipt(self, turn: Turn) -> ReplyReceipt:
        return ReplyReceipt(
            question=turn.question.id,
            template=turn.system_prompt,
            is_of_session=turn.session.system_prompt is not None,
            key=turn.key,
            known=turn.known,
            default_model=self.model.name,
            images=turn.images,
        )

    async def _renew_lease(self, turn: Turn, threads: ThreadRunner) -> None:
        """Renew the turn; returns soon after it was lost."""
        renewal = self._turns.leases.renewal_seconds
        pause = min(CHECK_SECONDS, renewal)
        for look in count(1):
            await asyncio.sleep(pause)
            # The next renewal may succeed; if the lease expires before, storing the reply fails.
            with suppress(StorageError):
                if look % max(1, round(renewal / pause)):
                    stands = await threads.read(partial(self._turns.stands, turn))
                else:
                    stands = await threads.write(partial(self._turns.renew, turn))
                if not stands:
                    return

    async def _store(
        self,
        turn: Turn,
        finished_reply: FinishedReply,
        threads: ThreadRunner,
        contexts: Sequence[Context],
        receipt: ReplyReceipt,
    ) -> TurnEnd:
        """Store the reply with its receipt, with retries: it exists nowhere else. After a commit whose outcome is not known, a turn
        that is over was ended by it."""
        finished = _turn_end(finished_reply)
        unknown: OutcomeUnknown | None = None
        given = any(context.holds_other_sessions for context in contexts)
        end = partial(
            self._turns.end,
            turn,
            finished_reply.draft,
            given_recalled_text=given,
            contexts=contexts,
            outcome=finished_reply,
            receipt=receipt.made(finished_reply.status, finished_reply.usage, now()),
        )
        for attempt in range(1, _TRIES + 1):
            try:
                message = await threads.write(end)
                if message is not None:
                    await self._forget_failed(turn, threads)
                return replace(finished, message=message)
            except TurnLost as lost:
                stored = None if unknown is None else await threads.read(partial(self._turns.stored_reply, turn))
                if stored is None:
                    return replace(finished, status="failed", error=unknown or lost)
                return replace(finished, message=stored)
            except CloisterError as failed:
                if attempt == _TRIES or not isinstance(failed, StorageError):
                    return replace(finished, status="failed", error=failed)
                unknown = failed if isinstance(failed, OutcomeUnknown) else unknown
            await asyncio.sleep(_FIRST_WAIT * 2**attempt)
        raise AssertionError

    async def _forget_unnamed(self, turn: Turn, threads: ThreadRunner) -> bool:
        """Forget a session that the failed request has made and not named: a client that asks again would leave one behind for
        each attempt. It stays if somebody recorded more in it, which a stream that named it makes possible; returns whether it is
        gone. If storage fails, it stays as one whose question was not answered."""
        reach, messages = Reach(tenant=turn.reach.tenant), len(turn.messages)
        forget = partial(self._forgetting.session_of_request, reach, turn.session, messages=messages)
        with suppress(NotFound, StorageError):
            return await threads.write(forget)
        return True

    async def _forget_failed(self, turn: Turn, threads: ThreadRunner) -> None:
        for message in turn.failed:
            with suppress(NotFound):  # somebody deleted it meanwhile
                await threads.write(partial(self._forgetting.message, Reach(tenant=turn.reach.tenant), message))


def _turn_end(finished_reply: FinishedReply) -> TurnEnd:
    """The end of a turn whose reply is not stored yet."""
    return TurnEnd(
        status=finished_reply.status,
        message=None,
        finish_reason=finished_reply.finish_reason,
        usage=finished_reply.usage,
        error=finished_reply.error,
    )


def own_request(turn: Turn, context: Context, *, key: str | None = None) -> ChatRequest:
    """The request to the model for a client that leaves the prompt to the server. `key` is the caller's own key."""
    models = () if turn.model is None else (turn.model,)
    messages = prompt(turn.system_prompt, context, turn.question)
    if turn.images:
        messages[-1] = with_images(messages[-1], turn.images)
    return ChatRequest(
        messages=messages,
        context=given(turn.system_prompt, context),
        models=models,
        key=key,
    )
