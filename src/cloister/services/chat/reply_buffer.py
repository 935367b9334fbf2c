"""Collect the pieces of a streamed reply, and make the draft to store when it ends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cloister.domain.conversation import Draft, Status
from cloister.domain.errors import CloisterError, ModelUnavailable
from cloister.domain.reply import End, Piece, ProviderEvent, TextDelta, ToolCallDelta, ToolKind, Usage
from cloister.domain.text import MAX_CONTENT

# The finish reasons of an incomplete reply.
_CUT = ("length", "content_filter")
_STOPPED = "Stopped before the first word."
_CRASHED = "Something broke on our side before the first word."


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A tool call that is complete. `id` is None if the model gave none."""

    index: int
    id: str | None
    name: str
    arguments: str
    kind: ToolKind = "function"


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedReply:
    """How a reply ended. `draft` is what to store: None for a reply that had only tool calls."""

    status: Status
    finish_reason: str
    draft: Draft | None
    usage: Usage | None = None
    error: CloisterError | None = None
    calls: tuple[ToolCall, ...] = ()


class ReplyBuffer:
    """Collects the pieces of a reply, and publishes each as it comes."""

    def __init__(self, publish: Callable[[Any], None]) -> None:
        self._publish = publish
        self._begun = ""
        self._said: list[str] = []
        self._length = 0
        self._calls: dict[int, list[ToolCallDelta]] = {}
        self._end: End | None = None

    def begin(self, begun: str) -> None:
        """The words that the caller sent as the beginning of the reply: stored with it, and not published."""
        self._begun, self._length = begun, len(begun)

    def take(self, piece: Piece) -> bool:
        """Add a piece; returns False if the reply is at its end or at its maximum length."""
        match piece:
            case TextDelta(text=text):
                return self._say(_storable(text))
            case ToolCallDelta():
                self._calls.setdefault(piece.index, []).append(piece)
                self._publish(piece)
            case ProviderEvent():
                self._publish(piece)
            case End():
                self._end = piece
        return self._end is None

    def ended(self, broke: BaseException | None) -> FinishedReply:
        """The reply after the stream ended, or raised `broke`."""
        if broke is None and self._end is None:
            broke = ModelUnavailable(
                "The model broke off in the middle of its answer. Try again; the log of its server may say why."
            )
        if broke is not None:
            known = broke if isinstance(broke, CloisterError) else None
            return self._unfinished("error", known, str(known) if known else _CRASHED)
        end = self._end or End()
        if end.finish_reason in _CUT and self._has_words:
            return self._with_words("partial", end.finish_reason)
        if self._has_words:
            return self._with_words("completed", end.finish_reason)
        if self._calls:
            return FinishedReply(
                status="completed", finish_reason=end.finish_reason, draft=None, usage=end.usage, calls=self._tool_calls
            )
        empty = ModelUnavailable("The model answered with nothing at all: ask again, or ask in other words.")
        return self._unfinished("error", empty, str(empty))

    def cut(self) -> FinishedReply:
        """The reply after a caller, or the shutdown of the server, stopped it."""
        return self._unfinished("stopped", None, _STOPPED)

    @property
    def _has_words(self) -> bool:
        return any(not text.isspace() for text in self._said)

    def _say(self, text: str) -> bool:
        text = text[: MAX_CONTENT - self._length]
        if text:
            self._length += len(text)
            self._said.append(text)
            self._publish(TextDelta(text))
        if self._length < MAX_CONTENT:
            return True
        self._end = End(finish_reason="length")
        return False

    def _unfinished(self, reason: str, error: CloisterError | None, sentence: str) -> FinishedReply:
        if self._has_words:
            return self._with_words("partial", reason, error)
        draft = Draft(role="assistant", content=sentence, status="failed", metadata={"finish_reason": reason})
        return FinishedReply(status="failed", finish_reason=reason, draft=draft, error=error)

    def _with_words(self, status: Status, reason: str, error: CloisterError | None = None) -> FinishedReply:
        metadata: dict[str, object] = {} if status == "completed" else {"finish_reason": reason}
        if error is not None:
            metadata["error"] = str(error)
        draft = Draft(role="assistant", content="".join((self._begun, *self._said)), status=status, metadata=metadata)
        usage = None if self._end is None else self._end.usage
        calls = self._tool_calls if status == "completed" else ()
        return FinishedReply(status=status, finish_reason=reason, draft=draft, usage=usage, error=error, calls=calls)

    @property
    def _tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(_tool_call(index, self._calls[index]) for index in sorted(self._calls))


def _tool_call(index: int, parts: Sequence[ToolCallDelta]) -> ToolCall:
    return ToolCall(
        index=index,
        id=_storable(next((part.id for part in parts if part.id), "")) or None,
        name=_storable(next((part.name for part in parts if part.name), "")),
        arguments=_storable("".join(part.arguments for part in parts)),
        kind=parts[0].kind,
    )


def _storable(text: str) -> str:
    """The text without lone surrogates and NUL characters, which databases refuse."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")
