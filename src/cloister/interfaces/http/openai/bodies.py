"""The request bodies of OpenAI's clients. Fields of OpenAI's interface that change nothing in the answer are ignored, and all
others are refused: if `project_id` of Cloister's own interface were ignored, the request would go to the wrong project.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import ConfigDict, Field

from cloister.domain.errors import InvalidRequest
from cloister.domain.text import checked_name
from cloister.interfaces.http.fronts.refused_content import HOSTED_TOOL
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.bodies import MOST_SENT, Body, Name, Whole

MOST_INPUTS = 2_048
# Fields that affect the reply; they are passed to the model unchanged.
_PASSED_TO_MODEL = (
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
# Fields of OpenAI's interface that do not change what is answered. Caches and tiers belong to the provider's account, which all
# tenants share.
_WITHOUT_EFFECT = frozenset(
    {
        "moderation",
        "prediction",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "service_tier",
    }
)
# Fields that change what is answered and are not supported: the values that change nothing, and what is said of all others.
_REFUSED: Mapping[str, tuple[tuple[object, ...], str]] = {
    "audio": ((), "is not supported here: replies are text."),
    "modalities": ((["text"],), 'must be ["text"]: replies are text.'),
    "functions": (([],), "is not supported here: send `tools` of the type function."),
    "function_call": (("none",), "is not supported here: send `tool_choice`."),
    "web_search_options": ((), f"is not supported here: {HOSTED_TOOL}"),
    "logprobs": ((False,), "is not supported here: replies have no log probabilities."),
    "top_logprobs": ((0,), "is not supported here: replies have no log probabilities."),
}
_TEXT: schemas.Schema = {"type": "string", **schemas.CONTENT}
_PARTS: schemas.Schema = {
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
_USER: schemas.Schema = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
        "role": {"const": "user"},
        "content": {"anyOf": [_TEXT, _PARTS]},
        "name": {"anyOf": [{"type": "string", **schemas.NAME}, {"type": "null"}]},
    },
}
_ASSISTANT: schemas.Schema = {
    "type": "object",
    "required": ["role"],
    "properties": {
        "role": {"const": "assistant"},
        "content": {"anyOf": [_TEXT, _PARTS, {"type": "null"}, {"const": ""}]},
    },
}
_OTHERS: schemas.Schema = {
    "type": "object",
    "required": ["role"],
    "properties": {"role": {"enum": ["system", "developer", "tool", "function"]}},
}
_OPTIONAL_NAME: schemas.Schema = {"anyOf": [{"type": "string", **schemas.NAME}, {"type": "null"}]}
_METADATA: schemas.Schema = {
    "properties": {
        "session_id": _OPTIONAL_NAME,
        "user_id": _OPTIONAL_NAME,
        "project_id": {"anyOf": [{"type": "string", **schemas.PROJECT_ID}, {"type": "null"}]},
    }
}
_OURS = {
    "session_id": "belongs into the header X-Session-ID, or into metadata.",
    "project_id": "belongs into the header X-Project-ID, or into metadata.",
    "user_id": "is called `user` or `safety_identifier` here, or belongs into metadata.",
}


class OpenAiBody(Body):
    """A request body; its routes refuse the fields that it does not know."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    def refuse_ours(self) -> None:
        for field in self.model_extra or ():
            if field in _OURS:
                raise InvalidRequest(field, _OURS[field])

    def refuse_others(self, known: Collection[str] = ()) -> None:
        """Refuse every field that the body does not have and that is not in `known`; null is the same as no field."""
        self.refuse_ours()
        for field, value in (self.model_extra or {}).items():
            if field not in known and value is not None:
                raise InvalidRequest(field, "is not supported here: leave it out.")

    def refuse_effects(self, fields: Collection[str] = tuple(_REFUSED)) -> None:
        """Refuse what would change the answer and is not supported: to ignore it would be to answer something else."""
        for field in fields:
            harmless, why = _REFUSED[field]
            value = (self.model_extra or {}).get(field)
            if value is not None and not any(value == each and type(value) is type(each) for each in harmless):
                raise InvalidRequest(field, why)


class StreamOptions(OpenAiBody):
    include_usage: bool | None = Field(
        default=None, description="Send one more chunk at the end, with the token counts."
    )


class ChatCompletionRequest(OpenAiBody):
    """A chat request of OpenAI's interface. Fields that affect the reply (`tools`, `temperature`, `max_tokens`, `response_format`
    …) are passed to the model. OpenAI's fields that change nothing in the answer are ignored; others, and unknown ones, are
    refused."""

    model: str | None = Field(
        default=None, description="A model that the server lists. For any other name the default model answers."
    )
    messages: list[dict[str, Any]] = Field(
        max_length=MOST_SENT,
        json_schema_extra={"items": {"anyOf": [_USER, _ASSISTANT, _OTHERS]}, "contains": _USER, "minItems": 1},
        description="The conversation so far. Messages that the session does not have yet are recorded.",
    )
    store: bool | None = Field(default=None, description="`false`: recall, and record nothing.")
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[Whole, Field(json_schema_extra={"const": 1})] | None = Field(
        default=None, description="Only 1: one reply is recorded for one message."
    )
    user: Name | None = Field(
        default=None, description="The user of a new session. The user of an existing session must be the same."
    )
    safety_identifier: Name | None = Field(default=None, description="The new name of `user` in OpenAI's interface.")
    metadata: Annotated[dict[str, Any], Field(json_schema_extra=_METADATA)] | None = Field(
        default=None,
        description="`session_id` names the session if there is no header X-Session-ID; `user_id` is the same as `user`, "
        "and `project_id` the same as the header X-Project-ID; null is no project.",
    )

    def check(self) -> None:
        """Refuse what is not supported, before anything is recorded."""
        self.refuse_others({*_PASSED_TO_MODEL, *_WITHOUT_EFFECT, *_REFUSED})
        self.refuse_effects()
        if self.n not in (None, 1):
            raise InvalidRequest("n", "must be 1: one reply is recorded for one message.")
        self._check_tools()

    def _check_tools(self) -> None:
        """Refuse tools of the model provider: they may name what its account stores, which all tenants share."""
        tools: object = (self.model_extra or {}).get("tools")
        if tools is None:
            return
        if not isinstance(tools, list):
            raise InvalidRequest("tools", "must be a list.")
        for index, tool in enumerate(cast(list[object], tools)):
            kind = cast(Mapping[str, object], tool).get("type") if isinstance(tool, Mapping) else None
            if kind not in ("function", "custom"):
                raise InvalidRequest(f"tools[{index}].type", f"must be function or custom: {HOSTED_TOOL}")

    @property
    def user_id(self) -> str | None:
        return user_of(self.user, self.safety_identifier, self.metadata)

    @property
    def options(self) -> dict[str, Any]:
        given = self.model_extra or {}
        return {name: given[name] for name in _PASSED_TO_MODEL if given.get(name) is not None}

    @property
    def wants_usage(self) -> bool:
        return self.stream_options is not None and bool(self.stream_options.include_usage)


def user_of(user: str | None, safety_identifier: str | None, metadata: Mapping[str, Any] | None) -> str | None:
    """The user of the session, from any of the three fields; fields that disagree are refused."""
    in_metadata = (metadata or {}).get("user_id")
    if in_metadata is not None and not isinstance(in_metadata, str):
        raise InvalidRequest("metadata.user_id", "must be text.")
    named = {"user": user, "safety_identifier": safety_identifier, "metadata.user_id": in_metadata}
    given = {field: checked_name(value, field) for field, value in named.items() if value is not None}
    first = next(iter(given), None)
    for field, value in given.items():
        if value != given[first or field]:
            raise InvalidRequest(field, f"names another user than {first}.")
    return None if first is None else given[first]


class EmbeddingsRequest(OpenAiBody):
    """Texts to embed, with the embedder that recall uses."""

    input: str | Annotated[list[Any], Field(max_length=MOST_SENT)] = Field(
        description="A text or a list of texts; lists of tokens are refused.",
        json_schema_extra={"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MOST_INPUTS}]},
    )
    model: str | None = Field(
        default=None, description="Any name: the embedder of the server is used, and the answer has its name."
    )
    encoding_format: Literal["float", "base64"] | None = Field(
        default=None, description="`float` by default; `base64`: little-endian 32-bit floats."
    )
    dimensions: Whole | None = Field(default=None, description="Only the number of dimensions of the embedder.")

    @property
    def texts(self) -> list[str]:
        given: list[Any] = [self.input] if isinstance(self.input, str) else self.input
        if not given or len(given) > MOST_INPUTS:
            raise InvalidRequest("input", f"must hold 1 to {MOST_INPUTS:,} texts, not {len(given)}.")
        for index, text in enumerate(given):
            if not isinstance(text, str):
                raise InvalidRequest(f"input[{index}]", "must be text: tokens of another model mean nothing here.")
        return given
