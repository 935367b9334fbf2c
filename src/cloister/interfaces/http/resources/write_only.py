"""Answers to keys that may write but not read: ids and the fields of the request itself, and nothing that was stored before.

The answer of an existing session leaves out its stored title, tags, metadata, counts and times; that of a new message leaves out
the tags of its session. Whether a memory existed already is not answered, since that would be reading."""

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
    """A session that existed before the request; for a write-only key, with the fields of the request."""
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
    """New messages; for a write-only key, with only those tags that the server sets, which are ids."""
    if may_read(caller):
        return messages
    return [replace(each, tags=tuple(tag for tag in each.tags if tag.startswith(RESERVED_TAGS))) for each in messages]
