"""Memories of a mem0 export: a list of memories, or pages of them. Each user's are put into one session of that user."""

from collections.abc import Iterator

from cloister.domain.archive.conversations import ConversationRecord, FactRecord
from cloister.domain.errors import CloisterError
from cloister.domain.memory import MAX_MEMORY, normalised
from cloister.domain.text import checked_categories, checked_metadata
from cloister.interfaces.formats.conversation import (
    UNREADABLE,
    Conversation,
    Skipped,
    Value,
    items,
    mapping,
    named,
    text,
    titled,
)
from cloister.interfaces.formats.times import readable

SOURCE = "mem0"
_PAGES = ("results", "memories", "data")


def is_mem0(value: Value) -> bool:
    return any(isinstance(each.get("memory"), str) for each in memories_of(value))


def memories_of(value: Value) -> Iterator[Value]:
    """The memory itself, or the memories of a page."""
    if "memory" in value:
        yield value
    for name in _PAGES:
        yield from map(mapping, items(value.get(name)))


def read_mem0(memory: Value) -> Conversation:
    """A session for each user and run; the agent and the app are metadata."""
    content = normalised(text(memory.get("memory"))[: 2 * MAX_MEMORY])
    if not content or len(content) > MAX_MEMORY:
        raise Skipped("it is not a memory of mem0, or too long")
    given = [memory.get(name) for name in ("created_at", "createdAt", "updated_at", "updatedAt")]
    created_at = readable(given)
    if created_at is None:
        raise Skipped(UNREADABLE if any(given) else "it does not say when it was")
    user, run = titled(memory.get("user_id")), titled(memory.get("run_id"))
    metadata = {**mapping(memory.get("metadata"))}
    metadata |= {name: memory[name] for name in ("agent_id", "app_id") if isinstance(memory.get(name), str)}
    try:
        categories = checked_categories([text(each) for each in items(memory.get("categories"))])
        checked_metadata(metadata)
    except CloisterError:
        raise Skipped("its categories or metadata cannot be stored") from None
    record = ConversationRecord(
        external_id=named(":".join(part for part in (SOURCE, user or "memories", run) if part)),
        user_id=user,
        title="Memories of mem0",
        created_at=created_at,
        updated_at=created_at,
    )
    fact = FactRecord(content=content, categories=categories, metadata=metadata, created_at=created_at)
    return Conversation(record=record, facts=(fact,))
