"""What a chat model is asked, and the pieces in which its reply comes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cloister.domain.context import Context

ChatMessage = Mapping[str, object]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """Chat messages and options as OpenAI spells them. `context` is what was recalled for this reply: a model reads it in the
    messages; whoever only quotes what is remembered takes it from here."""

    messages: Sequence[ChatMessage]
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    context: Context | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens, as the model's server counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next words; never empty."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallDelta:
    """A part of a call that the model wants made. `id` and `name` come with the first part of the call at this `index`."""

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """The last piece of a reply that came to its end; without it, the reply was cut."""

    finish_reason: str = "stop"
    usage: Usage | None = None


Piece = TextDelta | ToolCallDelta | End
