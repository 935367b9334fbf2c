"""Routes of sessions and their messages."""

from typing import Protocol

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.conversation import Draft, SessionChoices
from cloister.domain.identifiers import NO_PROJECT, ProjectId, parse_message_id, parse_project_id
from cloister.domain.recall.filter_language import filter_identity, parse_filter_text
from cloister.domain.sessions.fields import ALL_SESSIONS, SessionChange, SessionFields, SessionFilter
from cloister.domain.sessions.windows import range_of
from cloister.domain.text import checked_content
from cloister.interfaces.http.certificates.answers import check_dry_run, removed_answer
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, NoBody, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import (
    After,
    Around,
    Before,
    Cursor,
    DryRun,
    ExpectedProject,
    ExpectedUser,
    FilterText,
    IdempotencyKey,
    IsArchived,
    IsPinned,
    Limit,
    MessageName,
    OfBranch,
    OfExternalId,
    OfProject,
    OfUser,
    SessionId,
    Wait,
    WithReceipts,
    wait_until_indexed,
)
from cloister.interfaces.http.dispatch.routes import Appending, GuardedRoute
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import MessageList, MessagePage, SessionPage, answer
from cloister.interfaces.http.resources.write_only import expected_by, may_read, message_answers, session_answer
from cloister.interfaces.http.sessions.bodies import NewSession
from cloister.interfaces.http.sessions.bodies import SessionChange as SessionBody
from cloister.interfaces.python import preview_shapes, shapes
from cloister.interfaces.python.arguments import draft_of, of_each
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.pages import branch_identity
from cloister.interfaces.python.receipts.shapes import receipt_summary_shape
from cloister.interfaces.python.sessions.message_cursors import MessageCursors
from cloister.services.conversations.record import RecordRequest, RecordResult

router = APIRouter(route_class=GuardedRoute, tags=["Sessions and messages"])


class ChosenBranch(bodies.Body):
    """A message of the branch that is wanted."""

    message_id: bodies.MessageId


@router.post(
    "/v1/sessions",
    status_code=201,
    response_model=shapes.Session,
    responses={200: {"model": shapes.Session, "description": "The session existed already, with equal fields."}},
)
@needs("write")
def create_session(
    body: NewSession, caller: Caller, idempotency_key: IdempotencyKey = None, wait: Wait = None
) -> Response:
    """Create a session. Without `project_id` it is in the project of the request; with `null` in no project. An existing
    `external_id` with equal fields is answered with that session and 200."""
    fields = SessionFields(
        external_id=body.external_id,
        project=project_of(body, caller),
        user_id=body.user_id,
        title=body.title,
        tags=tuple(body.tags),
        metadata=body.metadata,
        choices=SessionChoices(body.pinned, body.archived, body.system_prompt, body.model),
    )
    session, is_new = caller.services.sessions.create(
        caller.reach, fields, idempotency_key=idempotency_key, names_field=may_read(caller)
    )
    wait_until_indexed(caller.services, wait)
    shape = shapes.session_shape(session)
    return answer(shape, 201) if is_new else answer(session_answer(caller, shape, body))


@router.get("/v1/sessions", response_model=SessionPage)
@needs("read")
def list_sessions(
    caller: Caller,
    project_id: OfProject = None,
    user_id: OfUser = None,
    pinned: IsPinned = None,
    archived: IsArchived = None,
    external_id: OfExternalId = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List sessions, most recent activity first: of one project, with `project_id=none` of no project, or without `project_id`
    of the project that the header or the key names, else of all."""
    wanted = SessionFilter(user_id=user_id, pinned=pinned, archived=archived, external_id=external_id)
    if project_id == NO_PROJECT:
        return session_page(caller, limit, cursor, any_project=False, wanted=wanted)
    project = caller.chosen_project() if project_id is None else parse_project_id(project_id)
    return session_page(caller, limit, cursor, project=project, any_project=project is None, wanted=wanted)


@router.get("/v1/sessions/{external_id}", response_model=shapes.Session)
@needs("read")
def get_session(external_id: SessionId, caller: Caller) -> Response:
    """Get one session."""
    return answer(shapes.session_shape(caller.services.sessions.get(caller.reach, external_id)))


@router.patch("/v1/sessions/{external_id}", response_model=shapes.Session | preview_shapes.MovePreview)
@needs("write")
def change_session(
    external_id: SessionId, body: SessionBody, caller: Caller, wait: Wait = None, dry_run: DryRun = False
) -> Response:
    """Change the given fields. `project_id: null` takes the session out of its project; its messages move along, except for what
    replies quote from the pool that it leaves. With `dry_run=true` nothing is changed: the answer is how much would move, how
    many replies were given text of that pool, and who would recall it then; this needs the permission `read` too. `pinned`,
    `archived`, `system_prompt` and `model` are no activity: `updated_at` stays. A system prompt without placeholders is stored
    with a warning."""
    given = frozenset(body.model_fields_set)
    moving = "project_id" in given
    project = parse_project_id(body.project_id) if moving and body.project_id is not None else None
    change = SessionChange(
        title=body.title,
        untitle="title" in given and body.title is None,
        tags=None if body.tags is None else tuple(body.tags),
        metadata=body.metadata,
        pinned=body.pinned if "pinned" in given else None,
        archived=body.archived if "archived" in given else None,
        system_prompt=body.system_prompt,
        model=body.model,
        resets=given & {"system_prompt", "model"},
    )
    sessions = caller.services.sessions
    if dry_run:
        caller.key.require("read")
        sessions.check_change(change)
        target = project if moving else sessions.get(caller.reach, external_id).project
        is_admin = "admin" in caller.key.permissions
        preview = sessions.preview_move(caller.reach, external_id, target, names_users=is_admin)
        return answer(preview_shapes.move_preview_shape(preview))
    if moving:
        changed = sessions.move(caller.reach, external_id, project, change)
    else:
        changed = sessions.change(caller.reach, external_id, change)
    wait_until_indexed(caller.services, wait)
    return answer(session_answer(caller, shapes.session_shape(changed), body))


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
def clear_session(
    external_id: SessionId,
    caller: Caller,
    _: NoBody,
    dry_run: DryRun = False,
    project_id: ExpectedProject = None,
    user_id: ExpectedUser = None,
) -> Response:
    """Delete the messages of a session and everything derived from them; the session stays. `certificate`, `dry_run` and
    `would_remove` are as when a session is deleted. `project_id` and `user_id` need the permission `read` too."""
    expected = expected_by(caller, project_id, user_id)
    tried = check_dry_run(caller, dry_run)
    gone = caller.services.forgetting.contents(caller.reach, external_id, dry_run=tried, expected=expected)
    return answer(shapes.forgotten_shape(gone, removed_answer(caller, gone.removal, dry_run=tried)))


@router.post("/v1/sessions/{external_id}/messages", status_code=201, response_model=shapes.Message)
@needs("write")
def record_message(
    external_id: SessionId,
    body: bodies.MessageToRecord,
    caller: Caller,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = None,
    project_id: ExpectedProject = None,
    user_id: ExpectedUser = None,
) -> Response | Appending:
    """Append a message to a session. It is durable when this answers. `project_id` and `user_id` need the permission `read`
    too."""
    drafts, expected = [_draft(body)], expected_by(caller, project_id, user_id, body.if_unmoved_since)

    def done(recorded: RecordResult) -> Response:
        wait_until_indexed(caller.services, wait)
        (made,) = message_answers(caller, [shapes.message_shape(recorded.messages[0], recorded.session)])
        return answer(made, 201)

    if idempotency_key is None:
        append = RecordRequest(reach=caller.reach, session=external_id, drafts=drafts, expected=expected)
        return Appending(append=append, answer=done)
    record = caller.services.record
    return done(record.messages(caller.reach, external_id, drafts, idempotency_key=idempotency_key, expected=expected))


@router.post("/v1/sessions/{external_id}/messages/batch", status_code=201, response_model=MessageList)
@needs("write")
def record_messages(
    external_id: SessionId,
    body: bodies.NewMessages,
    caller: Caller,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = None,
    project_id: ExpectedProject = None,
    user_id: ExpectedUser = None,
) -> Response:
    """Append up to 1,000 messages in one transaction: all or none. `project_id` and `user_id` need the permission `read` too."""
    drafts = of_each(body.messages, _draft)
    recorded = caller.services.record.messages(
        caller.reach,
        external_id,
        drafts,
        idempotency_key=idempotency_key,
        expected=expected_by(caller, project_id, user_id, body.if_unmoved_since),
    )
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
    before: Before = None,
    around: Around = None,
    receipts: WithReceipts = False,
    filter: FilterText = None,
    branch: OfBranch = "current",
) -> Response:
    """List the messages of a session's current branch, in chronological order: from its beginning, or after, before or around a
    message; with `before=end` the last ones. With `branch=all` those of all branches, by their ids. With a `cursor`, `after`,
    `before` and `around` are ignored."""
    wanted = None if filter is None else parse_filter_text(filter)
    cursors = MessageCursors(caller.reach.tenant, external_id, *branch_identity(branch), *filter_identity(wanted))
    with cursors.reading(cursor):
        session, window, summaries = caller.services.message_windows.page(
            caller.reach,
            external_id,
            cursors.asked(cursor) or range_of(after, before, around),
            limit=limit,
            filter=wanted,
            with_receipts=receipts,
            all_branches=branch == "all",
        )
    following, previous = cursors.of(window)
    page = MessagePage.model_construct(
        data=shapes.message_shapes(window.messages, session),
        next_cursor=following,
        previous_cursor=previous,
        receipts=list(map(receipt_summary_shape, summaries)),
    )
    return answer(page)


@router.post("/v1/sessions/{external_id}/branch", response_model=shapes.Session)
@needs("write")
def choose_branch(external_id: SessionId, body: ChosenBranch, caller: Caller, wait: Wait = None) -> Response:
    """Make the branch that contains a message the current one, down to the newest message below it. The messages of other branches
    are kept, but not recalled. If the message is on the current branch, nothing changes. Refused with `turn_in_progress` while a
    reply is being made. Needs the permission `read` too."""
    caller.key.require("read")
    message = parse_message_id(body.message_id)
    session = caller.services.branches.choose(caller.reach, external_id, message)
    wait_until_indexed(caller.services, wait)
    return answer(shapes.session_shape(session))


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
    body: bodies.NewEpisode,
    caller: Caller,
    idempotency_key: IdempotencyKey = None,
    wait: Wait = None,
    project_id: ExpectedProject = None,
    user_id: ExpectedUser = None,
) -> Response:
    """Append a message of the user and its reply, which together are an episode. `project_id` and `user_id` need the permission
    `read` too."""
    episode = caller.services.record.episode(
        caller.reach,
        body.session_id,
        Draft(role="user", content=checked_content(body.user_message, "user_message")),
        Draft(role="assistant", content=checked_content(body.ai_response, "ai_response")),
        idempotency_key=idempotency_key,
        expected=expected_by(caller, project_id, user_id, body.if_unmoved_since),
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
    wanted: SessionFilter = ALL_SESSIONS,
) -> Response:
    listing = Listing("sessions", caller.reach.tenant, project, any_project, *wanted.identity)
    found = caller.services.sessions.page(
        caller.reach,
        limit=limit + 1,
        project=project,
        any_project=any_project,
        wanted=wanted,
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
    return draft_of(**{name: value for name, value in body if name != "if_unmoved_since"})
