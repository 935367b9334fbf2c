"""Routes of sessions and their messages."""

from typing import Protocol

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.conversation import Draft
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import NO_PROJECT, MessageId, ProjectId, parse_message_id, parse_project_id
from cloister.domain.recall.filter_language import filter_identity, parse_filter_text
from cloister.domain.text import checked_content
from cloister.interfaces.http.certificates.answers import check_dry_run, removed_answer
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, NoBody, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import (
    After,
    Cursor,
    DryRun,
    FilterText,
    IdempotencyKey,
    Limit,
    MessageName,
    OfProject,
    OfUser,
    SessionId,
    Wait,
    wait_until_indexed,
)
from cloister.interfaces.http.dispatch.routes import Appending, GuardedRoute
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import MessageList, MessagePage, SessionPage, answer
from cloister.interfaces.http.resources.write_only import message_answers, session_answer
from cloister.interfaces.python import preview_shapes, shapes
from cloister.interfaces.python.arguments import draft_of, of_each
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.pages import foreign_cursor
from cloister.services.conversations.record import RecordRequest, RecordResult
from cloister.services.conversations.sessions import SessionChange, SessionFields, check_change

router = APIRouter(route_class=GuardedRoute, tags=["Sessions and messages"])


@router.post(
    "/v1/sessions",
    status_code=201,
    response_model=shapes.Session,
    responses={200: {"model": shapes.Session, "description": "The session existed already, with equal fields."}},
)
@needs("write")
def create_session(
    body: bodies.NewSession, caller: Caller, idempotency_key: IdempotencyKey = None, wait: Wait = None
) -> Response:
    """Create a session. Without `project_id` it is in the project of the request; with `null` in the shared pool. An existing
    `external_id` with equal fields is answered with that session and 200."""
    fields = SessionFields(
        external_id=body.external_id,
        project=project_of(body, caller),
        user_id=body.user_id,
        title=body.title,
        tags=tuple(body.tags),
        metadata=body.metadata,
    )
    session, is_new = caller.services.sessions.create(caller.reach, fields, idempotency_key=idempotency_key)
    wait_until_indexed(caller.services, wait)
    shape = shapes.session_shape(session)
    if is_new:
        return answer(shape, 201)
    return answer(session_answer(caller, shape, title=body.title, tags=body.tags, metadata=body.metadata))


@router.get("/v1/sessions", response_model=SessionPage)
@needs("read")
def list_sessions(
    caller: Caller, project_id: OfProject = None, user_id: OfUser = None, limit: Limit = 50, cursor: Cursor = None
) -> Response:
    """List sessions, most recent activity first: of one project, with `project_id=none` of the shared pool, or without `project_id`
    of the project that the header or the key names, else of all."""
    if project_id == NO_PROJECT:
        return session_page(caller, limit, cursor, any_project=False, user_id=user_id)
    project = caller.chosen_project() if project_id is None else parse_project_id(project_id)
    return session_page(caller, limit, cursor, project=project, any_project=project is None, user_id=user_id)


@router.get("/v1/sessions/{external_id}", response_model=shapes.Session)
@needs("read")
def get_session(external_id: SessionId, caller: Caller) -> Response:
    """Get one session."""
    return answer(shapes.session_shape(caller.services.sessions.get(caller.reach, external_id)))


@router.patch("/v1/sessions/{external_id}", response_model=shapes.Session | preview_shapes.MovePreview)
@needs("write")
def change_session(
    external_id: SessionId, body: bodies.SessionChange, caller: Caller, wait: Wait = None, dry_run: DryRun = False
) -> Response:
    """Change the given fields. `project_id: null` takes the session out of its project; its messages move along, except for what
    replies quote from the pool that it leaves. With `dry_run=true` nothing is changed: the answer is how much would move, and how
    many replies were given text of that pool; this needs the permission `read` too."""
    moving = "project_id" in body.model_fields_set
    project = parse_project_id(body.project_id) if moving and body.project_id is not None else None
    change = SessionChange(
        title=body.title,
        untitle="title" in body.model_fields_set and body.title is None,
        tags=None if body.tags is None else tuple(body.tags),
        metadata=body.metadata,
    )
    sessions = caller.services.sessions
    if dry_run:
        caller.key.require("read")
        check_change(change)
        target = project if moving else sessions.get(caller.reach, external_id).project
        preview = sessions.preview_move(caller.reach, external_id, target)
        return answer(preview_shapes.move_preview_shape(preview))
    if moving:
        changed = sessions.move(caller.reach, external_id, project, change)
    else:
        changed = sessions.change(caller.reach, external_id, change)
    wait_until_indexed(caller.services, wait)
    shape = shapes.session_shape(changed)
    return answer(session_answer(caller, shape, title=body.title, tags=body.tags, metadata=body.metadata))


@router.delete("/v1/sessions/{external_id}", response_model=shapes.Forgotten)
@needs("write")
def delete_session(external_id: SessionId, caller: Caller, dry_run: DryRun = False) -> Response:
    """Delete a session, with its messages and everything derived from them. The certificate says what went, by kind and id, and
    the checks made afterwards. With `dry_run=true` nothing is changed, and `would_remove` says what would go; this needs the
    permission `read` too."""
    tried = check_dry_run(caller, dry_run)
    gone = caller.services.forgetting.session(caller.reach, external_id, dry_run=tried)
    return answer(shapes.forgotten_shape(gone, removed_answer(caller, gone.removal, dry_run=tried)))


@router.post("/v1/sessions/{external_id}/clear", response_model=shapes.Forgotten)
@needs("write")
def clear_session(external_id: SessionId, caller: Caller, _: NoBody, dry_run: DryRun = False) -> Response:
    """Delete the messages of a session and everything derived from them; the session stays. `certificate`, `dry_run` and
    `would_remove` are as when a session is deleted."""
    tried = check_dry_run(caller, dry_run)
    gone = caller.services.forgetting.contents(caller.reach, external_id, dry_run=tried)
    return answer(shapes.forgotten_shape(gone, removed_answer(caller, gone.removal, dry_run=tried)))


@router.post("/v1/sessions/{external_id}/messages", status_code=201, response_model=shapes.Message)
@needs("write")
def record_message(
    external_id: SessionId,
    body: bodies.NewMessage,
    caller: Caller,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = None,
) -> Response | Appending:
    """Append a message to a session. It is durable when this answers."""
    drafts = [_draft(body)]

    def done(recorded: RecordResult) -> Response:
        wait_until_indexed(caller.services, wait)
        (made,) = message_answers(caller, [shapes.message_shape(recorded.messages[0], recorded.session)])
        return answer(made, 201)

    if idempotency_key is None:
        return Appending(append=RecordRequest(reach=caller.reach, session=external_id, drafts=drafts), answer=done)
    return done(caller.services.record.messages(caller.reach, external_id, drafts, idempotency_key=idempotency_key))


@router.post("/v1/sessions/{external_id}/messages/batch", status_code=201, response_model=MessageList)
@needs("write")
def record_messages(
    external_id: SessionId,
    body: bodies.NewMessages,
    caller: Caller,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = None,
) -> Response:
    """Append up to 1,000 messages in one transaction: all or none."""
    drafts = of_each(body.messages, _draft)
    recorded = caller.services.record.messages(caller.reach, external_id, drafts, idempotency_key=idempotency_key)
    wait_until_indexed(caller.services, wait)
    data = message_answers(caller, shapes.message_shapes(recorded.messages, recorded.session))
    return answer(MessageList.model_construct(data=data), 201)


@router.get("/v1/sessions/{external_id}/messages", response_model=MessagePage)
@needs("read")
def list_messages(
    external_id: SessionId,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    after: After = None,
    filter: FilterText = None,
) -> Response:
    """List the messages of a session, in chronological order. With a `cursor`, `after` is ignored."""
    wanted = None if filter is None else parse_filter_text(filter)
    listing = Listing("messages", caller.reach.tenant, external_id, *filter_identity(wanted))
    after_key = listing.number(cursor)
    behind = MessageId(after_key) if after_key is not None else None if after is None else parse_message_id(after)
    try:
        session, found = caller.services.sessions.messages(
            caller.reach, external_id, limit=limit + 1, after=behind, filter=wanted
        )
    except NotFound as error:
        # The cursor is of a deleted session that had the same external id.
        if after_key is not None and error.kind == "message":
            raise foreign_cursor() from None
        raise
    return listing.answer(
        MessagePage,
        found,
        limit,
        shape=lambda message: shapes.message_shape(message, session),
        key=lambda message: (message.id,),
    )


@router.delete("/v1/messages/{message_id}", response_model=Removed)
@needs("write")
def forget_message(message_id: MessageName, caller: Caller, dry_run: DryRun = False) -> Response:
    """Delete one message, with the memories and observations derived from it. With `dry_run=true` nothing is changed; this needs
    the permission `read` too."""
    tried = check_dry_run(caller, dry_run)
    gone = caller.services.forgetting.message(caller.reach, parse_message_id(message_id), dry_run=tried)
    return answer(removed_answer(caller, gone, dry_run=tried))


@router.post("/v1/episodes", status_code=201, response_model=shapes.Episode)
@needs("write")
def record_episode(
    body: bodies.NewEpisode, caller: Caller, idempotency_key: IdempotencyKey = None, wait: Wait = None
) -> Response:
    """Append a message of the user and its reply, which together are an episode."""
    episode = caller.services.record.episode(
        caller.reach,
        body.session_id,
        Draft(role="user", content=checked_content(body.user_message, "user_message")),
        Draft(role="assistant", content=checked_content(body.ai_response, "ai_response")),
        idempotency_key=idempotency_key,
    )
    wait_until_indexed(caller.services, wait)
    return answer(shapes.episode_shape(episode, body.session_id), 201)


def session_page(
    caller: CallerInfo,
    limit: int,
    cursor: str | None,
    *,
    project: ProjectId | None = None,
    any_project: bool,
    user_id: str | None = None,
) -> Response:
    listing = Listing("sessions", caller.reach.tenant, project, any_project, user_id)
    found = caller.services.sessions.page(
        caller.reach,
        limit=limit + 1,
        project=project,
        any_project=any_project,
        user_id=user_id,
        before=listing.pair(cursor),
    )
    return listing.answer(
        SessionPage, found, limit, shape=shapes.session_shape, key=lambda session: (session.updated_at, session.id)
    )


class OfAProject(Protocol):
    """A body that may name the project of a new session."""

    @property
    def project_id(self) -> str | None: ...

    @property
    def model_fields_set(self) -> set[str]: ...


def project_of(body: OfAProject, caller: CallerInfo) -> ProjectId | None:
    """The project of a new session: that of the body, if it names one or is `null`, else that of the request."""
    if "project_id" not in body.model_fields_set:
        return caller.project(required=False)
    return None if body.project_id is None else parse_project_id(body.project_id)


def _draft(body: bodies.NewMessage) -> Draft:
    return draft_of(**dict(body))
