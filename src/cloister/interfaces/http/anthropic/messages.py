"""The messages of an Anthropic client: which of them are recorded, and how memory is added to them.

They are passed to the model in their order and unchanged, except that control tokens of chat templates are removed from what users,
assistants and tools said. Memory is added as the last block of the system prompt: what comes before it stays the same from request
to request, so that the model's server can cache it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cloister.domain.context import Context
from cloister.domain.conversation import Draft
from cloister.domain.errors import InvalidRequest
from cloister.domain.prompts.outside_text import without_control_words
from cloister.domain.scope import refuse_scope
from cloister.interfaces.http.fronts.refused_content import refuse_stored_files
from cloister.interfaces.http.openai.messages import Conversation, memory_part, parts_without_control_words
from cloister.interfaces.python.arguments import of_each

Block = Mapping[str, Any]

_ROLES = ("user", "assistant", "system")
# How a block that is not text is recorded.
_RECORDED = {"image": "[image]", "document": "[file]", "container_upload": "[file]", "search_result": "[file]"}
_TOOL_RESULT = "tool_result"


def read_conversation(messages: Sequence[Mapping[str, Any]]) -> Conversation:
    """Check the messages, and select those to record: texts of the user and of the assistant, not what tools answered. A message of
    the user that has only results of tools continues the turn before."""
    if not messages:
        raise InvalidRequest("messages", "must not be empty.")
    spoken = [pair for pair in zip(messages, of_each(messages, _draft), strict=True) if pair[0]["role"] != "system"]
    begun = ""
    if spoken and (last := spoken[-1])[1] is not None and _begins_reply(last[0]):
        begun = last[1].content
        spoken.pop()
    drafts = tuple(draft for _, draft in spoken if draft is not None)
    if not any(draft.role == "user" for draft in drafts):
        raise InvalidRequest("messages", "must hold a message of the user.")
    asked = spoken[-1][0]
    continues = asked["role"] != "user" or not _words(asked["content"], "\n")
    return Conversation(messages=messages, drafts=drafts, continues=continues, begun=begun)


def without_control_tokens(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The messages for the model. The client's own instructions, with the role `system`, are left as they are."""
    return [
        message if message["role"] == "system" else {**message, "content": _clean(message["content"])}
        for message in messages
    ]


def system_with_memory(
    system: str | Sequence[Block] | None, known: frozenset[str], context: Context, template: str | None
) -> str | list[Block] | None:
    """The client's system prompt with what is recalled as its last block."""
    memory = memory_part(known, context, template)
    if not memory:
        return system if system is None or isinstance(system, str) else list(system)
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else list(system or ())
    own = [block for block in blocks if block.get("text") != ""]  # Anthropic refuses empty blocks
    return [*own, {"type": "text", "text": memory}]


def check_system(system: str | Sequence[Block] | None) -> None:
    """Refuse a system prompt that is not text or blocks of text."""
    for index, block in enumerate(() if system is None or isinstance(system, str) else system):
        if block.get("type") != "text" or not isinstance(block.get("text"), str):
            raise InvalidRequest(f"system[{index}]", "must be a block of text.")


def _draft(message: Mapping[str, Any]) -> Draft | None:
    """The draft of a message, or none if the message is not recorded."""
    role: Any = message.get("role")
    content: Any = message.get("content")
    if role not in _ROLES:
        raise InvalidRequest("role", f"must be one of {', '.join(_ROLES)}.")
    refuse_scope(message)
    _check_content(content)
    if role == "system":
        return None
    # The blocks of a reply are parts of one text; what a user sends in several blocks are texts of their own.
    words = _words(content, "\n" if role == "user" else "")
    if not words.strip():
        if role == "user" and not _has_results(content):
            raise InvalidRequest("content", _nothing_to_record(content))
        return None
    return Draft(role=role, content=words)


def _begins_reply(message: Mapping[str, Any]) -> bool:
    """Whether the last message has the first words of the reply, which the model goes on with."""
    content: Any = message["content"]
    return message["role"] == "assistant" and (
        isinstance(content, str) or all(block["type"] == "text" for block in content)
    )


def _check_content(content: object) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise InvalidRequest("content", "must be text or a list of blocks.")
    for index, block in enumerate(cast(list[object], content)):
        if not isinstance(block, Mapping) or not isinstance(cast(Block, block).get("type"), str):
            raise InvalidRequest(f"content[{index}]", "must be an object with a `type`.")
        given = cast(Block, block)
        refuse_stored_files(given, f"content[{index}]", has_tool_inputs=True)
        if given["type"] == "text" and not isinstance(given.get("text"), str):
            raise InvalidRequest(f"content[{index}].text", "must be text.")


def _words(content: str | Sequence[Block], separator: str) -> str:
    if isinstance(content, str):
        return content
    found = (block["text"] if block["type"] == "text" else _RECORDED.get(block["type"], "") for block in content)
    return separator.join(words for words in found if words)


def _nothing_to_record(content: str | Sequence[Block]) -> str:
    others = [] if isinstance(content, str) else sorted({block["type"] for block in content} - {"text"})
    if not others:
        return "must not be empty."
    known = ", ".join(("text", *_RECORDED))
    return f"has nothing to record: send text with {', '.join(map(repr, others))}. Recorded are blocks of the types {known}."


def _has_results(content: str | Sequence[Block]) -> bool:
    return not isinstance(content, str) and any(block["type"].endswith(_TOOL_RESULT) for block in content)


def _clean(content: str | Sequence[Block]) -> str | list[Any]:
    if isinstance(content, str):
        return without_control_words(content)
    return parts_without_control_words([_joined(block) for block in content])


def _joined(block: Block) -> Block:
    """A block with the texts inside it, such as those of a tool's result, sanitised together: a token may be spread over them."""
    inner: Any = block.get("content")
    return (
        {**block, "content": parts_without_control_words(cast(list[Any], inner))} if isinstance(inner, list) else block
    )
