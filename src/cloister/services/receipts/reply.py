"""Make the receipt of a chat reply from the request that was sent to the model (PRF-1). No word of the request is in it."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from cloister.domain.context import Context
from cloister.domain.history import words_key
from cloister.domain.identifiers import KeyId, MessageId
from cloister.domain.prompts.images import Image
from cloister.domain.prompts.prompt import placeholders
from cloister.domain.receipts.receipt import Answered, Receipt, Sent, SentImage, SentPart, given_items
from cloister.domain.reply import ChatMessage, ChatRequest, Usage

MOST_PARTS = 40
"""How many of the messages to the model a receipt lists: the first, and the last of the others."""
_CHARACTERS_COUNTED = 10_000
_LONGEST_TYPE = 40
_SYSTEM = ("system", "developer")


@dataclass(kw_only=True, slots=True)
class ReplyReceipt:
    """Collects what is known of a reply while it is made; `made` is its receipt. Times are from the creation of this object."""

    question: MessageId
    template: str | None
    is_of_session: bool = False
    key: KeyId | None
    known: frozenset[str]
    default_model: str
    images: Sequence[Image] = ()
    _began: float = 0.0
    _recalled: float = 0.0
    _first: float | None = None
    _model: str | None = None
    _sent: tuple[ChatRequest, Context] | None = None

    def __post_init__(self) -> None:
        self._began = time.monotonic()

    def sending(self, request: ChatRequest, context: Context) -> ChatRequest:
        """Note the request that is about to be sent, and what was recalled for it. A later one, after the model could not take that
        much, replaces it. Returns the request, which reports the model that answers."""
        self._sent = (request, request.context or context)
        self._recalled = time.monotonic()
        return replace(request, chosen=self._choose(request))

    def token(self) -> None:
        """Note that a piece of the reply came."""
        if self._first is None:
            self._first = time.monotonic()

    def made(self, status: str, usage: Usage | None, now: int) -> Receipt | None:
        """The receipt; None if nothing was sent to a model."""
        if self._sent is None:
            return None
        request, context = self._sent
        if context.terms is None:
            return None
        return Receipt(
            kind="reply",
            created_at=now,
            terms=replace(context.terms, question=None, question_id=self.question),
            items=tuple(given_items(context)),
            left_out=context.left_out,
            tokens=context.tokens,
            key=self.key,
            sent=self._parts(request, context),
            answered=Answered(
                model=self._model or self.default_model,
                status=status,
                prompt_tokens=None if usage is None else usage.prompt_tokens,
                completion_tokens=None if usage is None else usage.completion_tokens,
                recall_ms=_milliseconds(self._recalled - self._began),
                first_token_ms=None if self._first is None else _milliseconds(self._first - self._began),
                total_ms=_milliseconds(time.monotonic() - self._began),
            ),
        )

    def _choose(self, request: ChatRequest) -> Any:
        def chosen(name: str) -> None:
            self._model = name
            request.chosen(name)

        return chosen

    def _parts(self, request: ChatRequest, context: Context) -> Sent:
        system = request.options.get("system")
        head: list[SentPart] = []
        if system is not None:
            head.append(SentPart(role="system", kind="system_prompt", characters=_length(system)))
        parts, more = listed_parts(request.messages)
        tools = request.options.get("tools")
        return Sent(
            prompt="default" if self.template is None else "session" if self.is_of_session else "project",
            template=None if self.template is None else hashlib.sha256(self.template.encode()).hexdigest(),
            placeholders=placeholders(self.template),
            parts=(*head, *parts),
            more=more,
            conversation=tuple(
                item.message.id
                for item in context.current_conversation
                if not self.known or words_key(item.message.content) not in self.known
            ),
            tools=len(cast(Sequence[object], tools)) if isinstance(tools, list) else 0,
            is_of_client=bool(self.known),
            images=tuple(SentImage(each.name, each.media_type, each.size) for each in self.images)
            or sent_images(request.messages),
        )


def sent_images(messages: Sequence[ChatMessage]) -> tuple[SentImage, ...]:
    """The images in messages that a client sent, in the forms of OpenAI and Anthropic: as many as parts are listed."""
    found: list[SentImage] = []
    for message in messages:
        content = message.get("content")
        for part in cast(Sequence[object], content) if isinstance(content, list) else ():
            image = _sent_image(cast(Mapping[str, Any], part)) if isinstance(part, Mapping) else None
            if image is not None and len(found) < MOST_PARTS:
                found.append(image)
    return tuple(found)


def _sent_image(part: Mapping[str, Any]) -> SentImage | None:
    source = part.get("source") if part.get("type") == "image" else part.get("image_url")
    if isinstance(source, str):
        source = {"url": source}
    if not isinstance(source, Mapping):
        return None
    given = cast(Mapping[str, object], source)
    url = given.get("url") or f"data:{given.get('media_type')};base64,{given.get('data') or ''}"
    head, _, body = str(url).partition(",")
    return SentImage(None, head[5:].removesuffix(";base64")[:_LONGEST_TYPE], len(body) * 3 // 4 - body[-2:].count("="))


def listed_parts(messages: Sequence[ChatMessage]) -> tuple[list[SentPart], int]:
    """The parts of a receipt for these messages, and how many others are not listed."""
    listed = messages if len(messages) <= MOST_PARTS else [messages[0], *messages[1 - MOST_PARTS :]]
    return [_part(message, message is messages[-1]) for message in listed], len(messages) - len(listed)


def _part(message: ChatMessage, is_last: bool) -> SentPart:
    role = str(message.get("role"))
    kind = "system_prompt" if role in _SYSTEM else "question" if is_last and role == "user" else "conversation"
    if role in ("tool", "function"):
        kind = "tool_result"
    return SentPart(role=role, kind=kind, characters=_length(message.get("content")))


def _length(content: object) -> int:
    """The characters of a text, or of the texts among the parts of a message."""
    if isinstance(content, str):
        return len(content)
    if not isinstance(content, list):
        return 0
    parts = cast(Sequence[object], content)[:_CHARACTERS_COUNTED]
    texts = [cast(Mapping[str, object], part).get("text") for part in parts if isinstance(part, Mapping)]
    return sum(len(text) for text in texts if isinstance(text, str))


def _milliseconds(seconds: float) -> float:
    return round(1_000 * seconds, 3)
