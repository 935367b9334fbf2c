"""The request body of Anthropic's clients. What is not a field of it is refused, as Anthropic does. Fields that affect the reply
are passed to the model's server unchanged. Fields that name something in the account of the server's own key (containers, user
profiles, workspaces, the earlier message of `diagnostics`) are none of them: all tenants share that account. Nor is `fallbacks`,
which names models that the server may not list."""

from typing import Annotated, Any, cast

from pydantic import Field, model_validator

from cloister.domain.errors import InvalidRequest
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.bodies import MOST_SENT, Body, Whole

_TEXT: schemas.Schema = {"type": "string", **schemas.CONTENT}
_BLOCKS: schemas.Schema = {
    "type": "array",
    "minItems": 1,
    "items": {
        "anyOf": [
            {"type": "object", "required": ["type", "text"], "properties": {"type": {"const": "text"}, "text": _TEXT}},
            {"type": "object", "required": ["type"], "properties": {"type": {"enum": ["image", "document"]}}},
        ]
    },
}
_USER: schemas.Schema = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {"role": {"const": "user"}, "content": {"anyOf": [_TEXT, _BLOCKS]}},
}
_OTHERS: schemas.Schema = {
    "type": "object",
    "required": ["role", "content"],
    "properties": {"role": {"enum": ["assistant", "system"]}, "content": {"anyOf": [_TEXT, _BLOCKS]}},
}
SystemBlocks = Annotated[list[dict[str, Any]], Field(max_length=MOST_SENT)]
Setting = Annotated[Any, Field(default=None)]
_REFUSED: dict[str, str] = {
    "container": "names a container in the account of this server's key, which all its users share: leave it out.",
    "diagnostics": "names an earlier message in the account of this server's key, which all its users share: leave it out.",
    "fallbacks": "names models that this server may not offer: name one model, in `model`.",
    "user_profile_id": "names a profile in the account of this server's key, which all its users share: leave it out.",
}
"""Fields of Anthropic's interface that are refused, with the reason."""


class Metadata(Body):
    user_id: str | None = Field(
        default=None,
        description="The user of a new session; the user of an existing session must be the same. With a key that is bound to a "
        "user, it is not read.",
    )


class AnthropicBody(Body):
    """A request that is passed to the model's server in Anthropic's format."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_shared(cls, given: Any) -> Any:
        """Refuse what would reach over the walls of a tenant with its reason, and not as a field that does not exist."""
        if isinstance(given, dict):
            for name, reason in _REFUSED.items():
                if name in given:
                    raise InvalidRequest(name, reason)
        return cast(Any, given)

    @property
    def options(self) -> dict[str, Any]:
        """The fields for the model, except for the messages, the system prompt and the name of the model."""
        ours = {"model", "messages", "system", "stream", "metadata"}
        given = self.model_fields_set - ours
        return {name: getattr(self, name) for name in type(self).model_fields if name in given}


class CountTokensRequest(AnthropicBody):
    """A request whose tokens are counted. The fields without a description are passed to the model's server unchanged."""

    model: str = Field(description="A model that the server lists. For any other name it is the default model.")
    messages: list[dict[str, Any]] = Field(
        max_length=MOST_SENT,
        json_schema_extra={"items": {"anyOf": [_USER, _OTHERS]}, "contains": _USER, "minItems": 1},
        description="The conversation.",
    )
    system: str | SystemBlocks | None = Field(
        default=None,
        json_schema_extra={"anyOf": [{"type": "string"}, {"type": "array", "items": _BLOCKS["items"]["anyOf"][0]}]},
        description="Your system prompt.",
    )
    cache_control: Setting
    context_management: Setting
    mcp_servers: Setting
    output_config: Setting
    output_format: Setting
    speed: Setting
    thinking: Setting
    tool_choice: Setting
    tools: Setting


class MessagesRequest(AnthropicBody):
    """A request of Anthropic's interface. The fields without a description are passed to the model's server unchanged."""

    model: str = Field(description="A model that the server lists. For any other name the default model answers.")
    messages: list[dict[str, Any]] = Field(
        max_length=MOST_SENT,
        json_schema_extra={"items": {"anyOf": [_USER, _OTHERS]}, "contains": _USER, "minItems": 1},
        description="The conversation so far. Messages that the session does not have yet are recorded.",
    )
    max_tokens: Whole = Field(ge=1)
    system: str | SystemBlocks | None = Field(
        default=None,
        json_schema_extra={"anyOf": [{"type": "string"}, {"type": "array", "items": _BLOCKS["items"]["anyOf"][0]}]},
        description="Your system prompt. What is recalled is added as its last block.",
    )
    stream: bool | None = None
    metadata: Metadata | None = None
    cache_control: Setting
    context_management: Setting
    inference_geo: Setting
    mcp_servers: Setting
    output_config: Setting
    output_format: Setting
    service_tier: Setting
    speed: Setting
    stop_sequences: Setting
    temperature: Setting
    thinking: Setting
    thread: Setting
    tool_choice: Setting
    tools: Setting
    top_k: Setting
    top_p: Setting

    def refuse_thread(self) -> None:
        """Refuse a conversation that the model's server would store: it is stored here. Anthropic's clients then send the whole
        history, as the format of this error asks them to."""
        if self.thread is not None:
            raise InvalidRequest("thread", "is not supported here: send the whole conversation in `messages`.")
