"""Conversations of a Claude export: `conversations.json`, an array of conversations with their messages."""

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

SOURCE = "claude"


def is_claude(value: Value) -> bool:
    return isinstance(value.get("chat_messages"), list)


def read_claude(value: Value) -> Conversation:
    """What was said, in its order. If the messages name their parents they are a tree, and the current branch is read."""
    identity = text(value.get("uuid"))
    if not identity or not is_claude(value):
        raise Skipped("it is not a conversation of Claude")
    messages = {text(each.get("uuid")): each for each in map(mapping, items(value["chat_messages"]))}
    messages.pop("", None)
    branch = list(messages.values())
    if any(text(each.get("parent_message_uuid")) in messages for each in branch):
        tip = text(value.get("current_leaf_message_uuid")) or None
        branch = current_branch(messages, tip, lambda each: text(each.get("parent_message_uuid")) or None)
    return conversation(
        SOURCE,
        identity,
        read_each(branch, _said),
        title=value.get("name"),
        created_at=readable((value.get("created_at"),)),
        updated_at=readable((value.get("updated_at"),)),
    )


def _said(message: Value) -> Said | None:
    """The text blocks, else the text; a long paste may be in an attachment only."""
    blocks = [mapping(block) for block in items(message.get("content"))]
    words = "\n".join(text(block.get("text")) for block in blocks if block.get("type") == "text").strip()
    words = words or text(message.get("text")).strip()
    if not words:
        pasted = [text(mapping(each).get("extracted_content")) for each in items(message.get("attachments"))]
        words = "\n".join(each for each in pasted if each.strip())
    role = role_of(message.get("sender"))
    if not words or role is None:
        return None
    return Said(id=text(message.get("uuid")), role=role, content=words, at=moment(message.get("created_at")))
