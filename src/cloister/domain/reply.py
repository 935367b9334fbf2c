"""A request to a chat model, and the pieces of its streamed reply."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cloister.domain.context import Context

ChatMessage = Mapping[str, object]
ToolKind = Literal["function", "custom"]
QUOTING_MODEL = "recall-only"
"""The name of the model of replies that are made without one, by quoting."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """Chat messages and options in OpenAI's format, or with the interface "messages" in Anthropic's, then with the `headers` that
    select its version. `context` is what was recalled for this reply: a model reads it in the
    messages; the recall-only reply, which quotes without a model, takes it from here. `models` are the names that the request and
    then the project ask for: the first that the endpoint lists answers, else the default model; `chosen` is called with its name.
    `key` is the caller's own key of the endpoint, used for this reply and never stored. `begun` is the beginning of the reply,
    which the caller sent and the model goes on with."""

    messages: Sequence[ChatMessage]
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    context: Context | None = None
    models: tuple[str, ...] = ()
    chosen: Callable[[str], object] = field(default=lambda name: None, compare=False, repr=False)
    key: str | None = field(default=None, repr=False)
    interface: Literal["chat", "messages"] = "chat"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    begun: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The tokens of one reply, as the model's server counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next part of the reply's text; never empty."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallDelta:
    """A part of a tool call. `id`, `name` and `kind` come with the first part of the call at this `index`. The `arguments` of a
    custom tool are any text."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""
    kind: ToolKind = "function"


@dataclass(frozen=True, slots=True)
class ProviderEvent:
    """An event of the reply as the model's server sent it, for a client of the same interface. The texts and tool calls in it come
    as pieces of their own too."""

    data: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """The last piece of a complete reply; a reply without it was cut off."""

    finish_reason: str = "stop"
    usage: Usage | None = None


Piece = TextDelta | ToolCallDelta | ProviderEvent | End
