"""The request bodies of `/v1/responses` and `/v1/conversations`, as OpenAI's clients send them. Fields that have no effect here are
accepted; what would change the answer and is not supported is refused, and so are unknown fields.
"""

from typing import Annotated, Any

from pydantic import Field

from cloister.domain.errors import InvalidRequest
from cloister.domain.text import checked_name
from cloister.interfaces.http.openai.bodies import OpenAiBody, user_of
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.http.resources.bodies import MOST_SENT, Metadata, Name, Whole

MOST_INPUT_ITEMS = 1_000
# Fields of OpenAI's interface that change nothing here. `max_tool_calls` counts calls of hosted tools, which are refused.
_WITHOUT_EFFECT = frozenset(
    {
        "include",
        "service_tier",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "stream_options",
        "truncation",
        "max_tool_calls",
    }
)
_LOGPROBS = "message.output_text.logprobs"
_PASSED_TO_MODEL = ("temperature", "top_p", "parallel_tool_calls")
_ITEM: schemas.Schema = {"type": "object", "properties": {"type": {"type": "string"}, "role": {"type": "string"}}}


class ConversationName(OpenAiBody):
    id: Name


class ResponseRequest(OpenAiBody):
    """A request for a response. `tools` of the type `function`, `temperature`, `max_output_tokens`, `text`, `reasoning` and the
    like are passed to the model. Hosted tools, stored prompts and background responses are refused."""

    model: str | None = Field(
        default=None,
        description="A model that the server's endpoint lists; for any other name the default model answers.",
    )
    input: str | Annotated[list[Any], Field(max_length=MOST_SENT)] = Field(
        description="A text, or a list of items: messages, `function_call`, `function_call_output`, `reasoning`.",
        json_schema_extra={
            "anyOf": [{"type": "string", **schemas.CONTENT}, {"type": "array", "items": _ITEM, "minItems": 1}]
        },
    )
    instructions: str | None = None
    previous_response_id: str | None = Field(default=None, description="Go on in the session of that response.")
    conversation: Annotated[str, Field(json_schema_extra=schemas.NAME)] | ConversationName | None = Field(
        default=None, description="The conversation: the `external_id` of a session that exists."
    )
    store: bool | None = Field(default=None, description="`false`: recall, and record nothing.")
    stream: bool | None = None
    background: bool | None = None
    tools: Annotated[list[Any], Field(max_length=MOST_INPUT_ITEMS)] | None = None
    tool_choice: Any = None
    max_output_tokens: Whole | None = None
    text: dict[str, Any] | None = None
    reasoning: dict[str, Any] | None = None
    user: Name | None = Field(
        default=None, description="The user of a new session. The user of an existing session must be the same."
    )
    safety_identifier: Name | None = Field(default=None, description="The new name of `user` in OpenAI's interface.")
    metadata: Metadata | None = None

    @property
    def conversation_id(self) -> str | None:
        given = self.conversation
        return given.id if isinstance(given, ConversationName) else given

    @property
    def user_id(self) -> str | None:
        return user_of(self.user, self.safety_identifier, self.metadata)

    @property
    def items(self) -> list[Any]:
        given = [{"role": "user", "content": self.input}] if isinstance(self.input, str) else self.input
        if not given or len(given) > MOST_INPUT_ITEMS:
            raise InvalidRequest("input", f"must have 1 to {MOST_INPUT_ITEMS:,} items, not {len(given)}.")
        return given

    def check(self) -> None:
        """Refuse what is not supported, before anything is recorded."""
        self.refuse_others({*_WITHOUT_EFFECT, *_PASSED_TO_MODEL, "top_logprobs"})
        self.refuse_effects(["top_logprobs"])
        included: object = (self.model_extra or {}).get("include")
        if isinstance(included, list) and _LOGPROBS in included:
            raise InvalidRequest("include", "must not name log probabilities, which replies do not have.")
        if self.background:
            raise InvalidRequest("background", "is not supported here: ask for a stream, or wait for the answer.")
        if self.previous_response_id is not None and self.conversation is not None:
            raise InvalidRequest("conversation", "and previous_response_id exclude each other: send one of them.")
        if isinstance(self.conversation, ConversationName):
            self.conversation.refuse_others()
        if self.conversation_id is not None:
            checked_name(self.conversation_id, "conversation")

    @property
    def passed_to_model(self) -> dict[str, Any]:
        given = self.model_extra or {}
        return {name: given[name] for name in _PASSED_TO_MODEL if given.get(name) is not None}


class NewConversation(OpenAiBody):
    """A new conversation. `metadata` names its user (`user_id`), its project (`project_id`) and its id (`session_id`)."""

    items: Annotated[list[Any], Field(max_length=MOST_SENT)] | None = Field(
        default=None, json_schema_extra={"anyOf": [{"items": _ITEM}, {"type": "null"}]}
    )
    metadata: Metadata | None = None


class ChangedConversation(OpenAiBody):
    metadata: Metadata | None = Field(description="The metadata that replaces what there is; null removes it.")


class NewConversationItems(OpenAiBody):
    items: list[Any] = Field(
        max_length=MOST_SENT,
        json_schema_extra={"items": _ITEM, "minItems": 1},
        description="Items, in order: messages, tool calls and others.",
    )
