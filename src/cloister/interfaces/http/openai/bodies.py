"""What OpenAI's clients send. They send many fields that mean nothing here: those are let pass, and go no further. Our own names
are not fields of these requests, and are refused: a project that is not read would be the wrong project.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from cloister.domain.errors import InvalidRequest
from cloister.domain.text import checked_name
from cloister.interfaces.http.openapi import schemas as forms
from cloister.interfaces.http.resources.bodies import Body, Name, Whole

MOST_INPUTS = 2_048
# What shapes the reply, and goes on to the model as it came.
_PASSED_ON = (
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "stop",
    "seed",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "reasoning_effort",
    "verbosity",
)
_TEXT: forms.Form = {"type": "string", **forms.CONTENT}
_PARTS: forms.Form = {
    "type": "array",
    "minItems": 1,
    "items": {
        "anyOf": [
            {"type": "object", "required": ["type", "text"], "properties": {"type": {"const": "text"}, "text": _TEXT}},
            {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "string", "not": {"enum": ["text", "refusal"]}}},
            },
        ]
    },
}
_USER: forms.Form = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
        "role": {"const": "user"},
        "content": {"anyOf": [_TEXT, _PARTS]},
        "name": {"anyOf": [{"type": "string", **forms.NAME}, {"type": "null"}]},
    },
}
_ASSISTANT: forms.Form = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "role": {"const": "assistant"},
        "content": {"anyOf": [_TEXT, _PARTS, {"type": "null"}, {"const": ""}]},
    },
}
_OTHERS: forms.Form = {
    "type": "object",
    "required": ["role"],
    "properties": {"role": {"enum": ["system", "developer", "tool", "function"]}},
}
_OPTIONAL_NAME: forms.Form = {"anyOf": [{"type": "string", **forms.NAME}, {"type": "null"}]}
_METADATA: forms.Form = {"properties": {"session_id": _OPTIONAL_NAME, "user_id": _OPTIONAL_NAME}}
_OURS = {
    "session_id": "belongs into the header X-Session-ID, or into metadata.",
    "project_id": "belongs into the header X-Project-ID.",
    "user_id": "is called `user` or `safety_identifier` here, or belongs into metadata.",
}


class OpenAiBody(Body):
    """Unknown fields are let pass, but for those that mean something elsewhere in this interface."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    def refuse_ours(self) -> None:
        for field in self.model_extra or ():
            if field in _OURS:
                raise InvalidRequest(field, _OURS[field])


class StreamOptions(OpenAiBody):
    include_usage: bool | None = Field(default=None, description="One more chunk at the end, with the tokens.")


class ChatCompletionRequest(OpenAiBody):
    """Chat messages as OpenAI spells them. What shapes the reply (`tools`, `temperature`, `max_tokens`, `response_format` …) goes
    on to the model; other fields are let pass."""

    model: str | None = Field(default=None, description="Any: the server's own model answers, and says its name.")
    messages: list[dict[str, Any]] = Field(
        json_schema_extra={"items": {"anyOf": [_USER, _ASSISTANT, _OTHERS]}, "contains": _USER, "minItems": 1},
        description="The conversation as you hold it. What the session does not hold yet is recorded.",
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[Whole, Field(json_schema_extra={"const": 1})] | None = Field(
        default=None, description="One reply is recorded for one message."
    )
    user: Name | None = Field(
        default=None, description="The user of a new session; that of another one must be the same."
    )
    safety_identifier: Name | None = Field(default=None, description="The same as `user`, as OpenAI calls it now.")
    metadata: Annotated[dict[str, Any], Field(json_schema_extra=_METADATA)] | None = Field(
        default=None,
        description="`session_id` names the session, where the header X-Session-ID does not; `user_id` is the same as `user`.",
    )

    @property
    def user_id(self) -> str | None:
        """Whose session it is, from whichever field says it; fields that disagree are refused."""
        in_metadata = (self.metadata or {}).get("user_id")
        if in_metadata is not None and not isinstance(in_metadata, str):
            raise InvalidRequest("metadata.user_id", "must be text.")
        named = {"user": self.user, "safety_identifier": self.safety_identifier, "metadata.user_id": in_metadata}
        given = {field: checked_name(value, field) for field, value in named.items() if value is not None}
        first = next(iter(given), None)
        for field, value in given.items():
            if value != given[first or field]:
                raise InvalidRequest(field, f"names another user than {first}.")
        return None if first is None else given[first]

    @property
    def options(self) -> dict[str, Any]:
        given = self.model_extra or {}
        return {name: given[name] for name in _PASSED_ON if given.get(name) is not None}

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and bool(self.stream_options.include_usage)


class EmbeddingsRequest(OpenAiBody):
    """Texts to embed with the embedder that recall uses."""

    input: str | list[Any] = Field(
        description="A text, or a list of them; lists of tokens are refused.",
        json_schema_extra={
            "anyOf": [
                _TEXT,
                {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MOST_INPUTS},
            ]
        },
    )
    model: str | None = Field(default=None, description="Any: the server's own embedder answers, and says its name.")
    encoding_format: Literal["float", "base64"] | None = Field(
        default=None, description="`float`, unless it is `base64`: 32-bit floats, the lowest byte first."
    )
    dimensions: Whole | None = Field(default=None, description="Only ever the embedder's own.")

    @property
    def texts(self) -> list[str]:
        given: list[Any] = [self.input] if isinstance(self.input, str) else self.input
        if not given or len(given) > MOST_INPUTS:
            raise InvalidRequest("input", f"must hold 1 to {MOST_INPUTS:,} texts, not {len(given)}.")
        for index, text in enumerate(given):
            if not isinstance(text, str):
                raise InvalidRequest(f"input[{index}]", "must be text: tokens of another model mean nothing here.")
        return given
