"""Answers to a key that may write and not read: ids, and what the request itself said. Nothing that was stored before comes back.

A session that was there already keeps its title, tags, metadata, counts and times to itself, and a new message does not show its
session's tags. Whether a memory was known already is not told, since asking that is reading."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cloister.domain.text import RESERVED_TAGS
from cloister.interfaces.http.dispatch.callers import CallerInfo
from cloister.interfaces.python import derived_shapes, shapes

_NOTHING_ADDED = derived_shapes.Appended(appended=(), duplicates=0)


def may_read(caller: CallerInfo) -> bool:
    return not {"read", "admin"}.isdisjoint(caller.key.permissions)


def session_answer(
    caller: CallerInfo,
    session: shapes.Session,
    *,
    title: str | None = None,
    tags: Sequence[str] | None = None,
    metadata: Mapping[str, object] | None = None,
) -> shapes.Session:
    """A session that was there before the request, with what the request said of it."""
    if may_read(caller):
        return session
    return replace(
        session,
        title=title,
        tags=tuple(tags or ()),
        metadata=metadata or {},
        message_count=0,
        memory_job_pending=False,
        last_extraction_error=None,
        updated_at=session.created_at,
    )


def appended_answer(caller: CallerInfo, appended: derived_shapes.Appended) -> derived_shapes.Appended:
    return appended if may_read(caller) else _NOTHING_ADDED


def message_answers(caller: CallerInfo, messages: list[shapes.Message]) -> list[shapes.Message]:
    """New messages, whose tags are those of their session; what the server itself stamps are ids."""
    if may_read(caller):
        return messages
    return [replace(each, tags=tuple(tag for tag in each.tags if tag.startswith(RESERVED_TAGS))) for each in messages]
