"""Answers to keys that may write but not read: new ids and the fields of the request itself, and nothing that was stored before.

The answer of an existing session leaves out its stored user, project, title, tags, metadata, choices, counts and times, unless the
request named them; that of a new message leaves out its tags, which name the user and the project of the session, its position, and
the id of an earlier message that it answers. (The id of a message contains its position: whoever may add messages can count them.)
Whether a memory existed already is not answered, since that would be reading."""

from dataclasses import replace

from cloister.domain.project_settings import prompt_warnings
from cloister.domain.sessions.expected import ANY_SESSION, ExpectedSession
from cloister.interfaces.http.dispatch.callers import CallerInfo
from cloister.interfaces.http.sessions.bodies import NewSession, SessionChange
from cloister.interfaces.python import derived_shapes, shapes
from cloister.interfaces.python.arguments import UNSPECIFIED, checked_user, project_of
from cloister.interfaces.python.backends.requests import expected_session

_NOTHING_ADDED = derived_shapes.Appended(appended=(), duplicates=0)


def may_read(caller: CallerInfo) -> bool:
    return not {"read", "admin"}.isdisjoint(caller.key.permissions)


def expected_by(
    caller: CallerInfo, project_id: str | None, user_id: str | None, unmoved_since: str | None = None
) -> ExpectedSession:
    """What a request expects of its session. Its query says whose the session is and where: the answer says whether it is so, which
    is reading. Whoever has the token `unmoved_since` has read a context."""
    if (project_id, user_id) == (None, None):
        return ANY_SESSION if unmoved_since is None else ExpectedSession(unmoved_since=unmoved_since)
    caller.key.require("read")
    project = UNSPECIFIED if project_id is None else project_of(project_id)
    return expected_session(project, checked_user(user_id), unmoved_since)


def session_answer(caller: CallerInfo, session: shapes.Session, body: NewSession | SessionChange) -> shapes.Session:
    """A session that existed before the request; for a write-only key, with the fields of the request."""
    if may_read(caller):
        return session
    sent = body.model_fields_set
    return replace(
        session,
        project_id=session.project_id if "project_id" in sent else None,
        user_id=session.user_id if "user_id" in sent else None,
        title=body.title,
        tags=tuple(body.tags or ()),
        metadata=body.metadata or {},
        pinned=body.pinned,
        archived=body.archived,
        system_prompt=body.system_prompt,
        model=body.model,
        warnings=prompt_warnings(body.system_prompt),
        memory_count=0,
        message_count=0,
        current_leaf_id=None,
        is_forked=False,
        memory_job_pending=False,
        last_extraction_error=None,
        updated_at=session.created_at,
    )


def appended_answer(caller: CallerInfo, appended: derived_shapes.Appended) -> derived_shapes.Appended:
    return appended if may_read(caller) else _NOTHING_ADDED


def message_answers(caller: CallerInfo, messages: list[shapes.Message]) -> list[shapes.Message]:
    """New messages; for a write-only key without what the session adds to them."""
    if may_read(caller):
        return messages
    new = {each.id for each in messages}
    return [
        replace(
            each,
            seq=0,
            parent_id=each.parent_id if each.parent_id in new else None,
            tags=(),
            context=each.context if each.context.trigger_id in new else replace(each.context, trigger_id=None),
        )
        for each in messages
    ]
