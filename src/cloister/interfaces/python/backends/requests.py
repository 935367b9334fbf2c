"""The paths and the bodies of requests to a server."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from cloister.domain.conversation import Draft, SessionChoices
from cloister.domain.errors import NotFound
from cloister.domain.identifiers import (
    NO_PROJECT,
    EntityId,
    MemoryId,
    ProjectId,
    format_entity_id,
    format_memory_id,
    format_message_id,
    format_project_id,
)
from cloister.domain.sessions.expected import ExpectedSession
from cloister.domain.sessions.fields import SessionChange, SessionFilter
from cloister.domain.sessions.windows import END, MessageRange
from cloister.domain.text import MAX_NAME, checked_name, is_storable
from cloister.domain.timestamps import iso
from cloister.interfaces.python.arguments import UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.pages import GivenFilter

if TYPE_CHECKING:  # few programs store files
    from cloister.domain.files.commands import FileCommand

SESSIONS: Final = "/v1/sessions"
PROJECTS: Final = "/org/projects"


def fields_given(**fields: object) -> dict[str, object]:
    """The fields that have a value; the others are not sent."""
    return {name: value for name, value in fields.items() if value is not None}


def time_fields(asked_at: int | None, as_of: int | None) -> dict[str, object]:
    given = (("asked_at", asked_at), ("as_of", as_of))
    return {name: iso(moment) for name, moment in given if moment is not None}


def filter_field(filter: GivenFilter | None) -> dict[str, object]:
    return {} if filter is None else {"filter": filter.given}


def description_of(change: SessionChange) -> dict[str, object]:
    given = fields_given(
        title=change.title,
        tags=change.tags,
        metadata=change.metadata,
        pinned=change.pinned,
        archived=change.archived,
        system_prompt=change.system_prompt,
        model=change.model,
    )
    return dict.fromkeys(change.resets) | given


def choices_given(choices: SessionChoices) -> dict[str, object]:
    """Sent only where something was chosen: an older server does not know the fields."""
    return {name: value for name, value in choices._asdict().items() if value}


def conditions_of(wanted: SessionFilter) -> dict[str, str | None]:
    """The query parameters of a list of sessions."""
    flags = {
        name: None if value is None else str(value).lower()
        for name, value in (("pinned", wanted.pinned), ("archived", wanted.archived))
    }
    return {"user_id": wanted.user_id, "external_id": wanted.external_id, **flags}


def range_parameters(asked: MessageRange) -> dict[str, str | None]:
    """The query parameters of a window of messages that is not one after a message."""
    if asked.direction == "after":
        return {}
    return {asked.direction: END if asked.message is None else format_message_id(asked.message)}


def message_body(draft: Draft) -> dict[str, object]:
    created_at = None if draft.created_at is None else iso(draft.created_at)
    return fields_given(
        role=draft.role,
        content=draft.content,
        author=draft.author,
        categories=draft.categories or None,
        metadata=draft.metadata or None,
        created_at=created_at,
    )


def files_request(
    session_id: str, command: "FileCommand", project: ProjectChoice, user_id: str | None
) -> tuple[str, dict[str, object]]:
    """The path and the body of a command of the memory tool. To view needs less of a key, so it has a path of its own."""
    path = f"{session_path(session_id)}/files"
    fields: dict[str, object] = {**command.texts, **project_field(project), **fields_given(user_id=user_id)}
    if command.name == "view":
        return f"{path}/view", fields | fields_given(view_range=command.view_range)
    line = {"insert_line": command.insert_line} if command.name == "insert" else {}
    return path, {"command": command.name, **fields, **line}


def expected_session(project: ProjectChoice, user_id: str | None, unmoved_since: str | None = None) -> ExpectedSession:
    """What a session has to be, of the arguments `project_id`, `user_id` and `if_unmoved_since` of a call on a session."""
    named, checks_project = (None, False) if project is UNSPECIFIED else (project, True)
    return ExpectedSession(checks_project=checks_project, project=named, user=user_id, unmoved_since=unmoved_since)


def expectation(expected: ExpectedSession) -> dict[str, str]:
    """What a session has to be, as query parameters; missing where nothing is expected."""
    project = NO_PROJECT if expected.project is None else format_project_id(expected.project)
    given = {"project_id": project} if expected.checks_project else {}
    return given if expected.user is None else {**given, "user_id": expected.user}


def with_query(path: str, parameters: Mapping[str, str]) -> str:
    """The address of a request with these query parameters."""
    return f"{path}?{urlencode(parameters)}" if parameters else path


def project_field(project: ProjectChoice) -> dict[str, object]:
    """The field `project_id` of a body: missing where no project was named, null for no project."""
    if project is UNSPECIFIED:
        return {}
    return {"project_id": None if project is None else format_project_id(project)}


def duplicate_field(allowed: bool) -> dict[str, object]:
    """Sent only where it is true: an older server does not know the field."""
    return {"allow_duplicate_name": True} if allowed else {}


def session_path(session_id: str) -> str:
    """The path of a session. An id that no session can have is not found, and need not be sent."""
    if not is_storable(session_id) or not 0 < len(session_id) <= MAX_NAME:
        raise NotFound("session", session_id)
    return f"{SESSIONS}/{_segment(session_id)}"


def project_path(project: ProjectId) -> str:
    return f"{PROJECTS}/{format_project_id(project)}"


def memory_path(memory: MemoryId) -> str:
    return f"/v1/memories/{format_memory_id(memory)}"


def user_path(user_id: str) -> str:
    return f"/v1/users/{_segment(user_id)}"


def _segment(name: str) -> str:
    """A name as one segment of a path; `.` and `..` are escaped, because they would be resolved as steps in the path."""
    encoded = quote(name, safe="")
    return encoded.replace(".", "%2E") if encoded in (".", "..") else encoded


def header_of(idempotency_key: str | None) -> str | None:
    """An idempotency key as a header can carry it."""
    if idempotency_key is None or checked_name(idempotency_key, "idempotency_key").isascii():
        return idempotency_key
    return quote(idempotency_key)


def tried(path: str, dry_run: bool) -> str:
    """The address of a change, or of its dry run."""
    return f"{path}?dry_run=true" if dry_run else path


def entity_path(entity: EntityId) -> str:
    return f"/v1/entities/{format_entity_id(entity)}"
