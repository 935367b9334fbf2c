"""Conversations of a ChatGPT export: `conversations.json`, an array of trees, of which the current branch is read."""

from cloister.interfaces.formats.branch import current_branch
from cloister.interfaces.formats.conversation import (
    Conversation,
    Said,
    Skipped,
    Value,
    conversation,
    items,
    mapping,
    read_each,
    role_of,
    text,
)
from cloister.interfaces.formats.times import moment, readable

SOURCE = "chatgpt"
_KINDS = ("text", "multimodal_text")


def is_chatgpt(value: Value) -> bool:
    return isinstance(value.get("mapping"), dict)


def read_chatgpt(value: Value) -> Conversation:
    """What the user and the assistant said to each other. System messages, tools, reasoning and hidden messages are left out, and
    conversations that are marked not to be remembered."""
    identity = text(value.get("conversation_id")) or text(value.get("id"))
    if not identity or not is_chatgpt(value):
        raise Skipped("it is not a conversation of ChatGPT")
    if value.get("is_do_not_remember") is True:
        raise Skipped("it is marked not to be remembered")
    nodes = {key: mapping(node) for key, node in mapping(value["mapping"]).items()}
    branch = current_branch(
        nodes, text(value.get("current_node")) or None, lambda node: text(node.get("parent")) or None
    )
    return conversation(
        SOURCE,
        identity,
        read_each(branch, lambda node: _said(mapping(node.get("message")))),
        title=value.get("title"),
        created_at=readable((value.get("create_time"),)),
        updated_at=readable((value.get("update_time"),)),
    )


def _said(message: Value) -> Said | None:
    content = mapping(message.get("content"))
    role = role_of(mapping(message.get("author")).get("role"))
    is_hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    if role not in ("user", "assistant") or message.get("recipient", "all") != "all" or message.get("weight") == 0:
        return None
    if is_hidden or content.get("content_type") not in _KINDS:
        return None
    words = "\n".join(part for part in items(content.get("parts")) if isinstance(part, str) and part.strip())
    identity = text(message.get("id"))
    if not words or not identity:
        return None
    return Said(id=identity, role=role, content=words, at=moment(message.get("create_time")))
