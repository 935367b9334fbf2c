"""The backend of a `Cloister` at an address: asks a server over HTTP."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, NoReturn, TypeVar
from urllib.parse import quote

from cloister.domain.conversation import Draft
from cloister.domain.errors import Forbidden, NotFound, ProjectRequired
from cloister.domain.identifiers import (
    NO_PROJECT,
    EntityId,
    KeyId,
    MemoryId,
    MessageId,
    ObservationId,
    ProjectId,
    format_entity_id,
    format_key_id,
    format_memory_id,
    format_message_id,
    format_observation_id,
    format_project_id,
)
from cloister.domain.scope import MemberVisibility
from cloister.domain.text import MAX_NAME, checked_name, is_storable
from cloister.domain.timestamps import iso
from cloister.interfaces.python import derived_shapes, preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.arguments import LARGEST_PAGE, UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.backends.interface import ContextQuery, ProjectChange, SearchQuery
from cloister.interfaces.python.pages import Page, PageRequest
from cloister.services.conversations.sessions import SessionChange, SessionFields
from cloister.services.health import HealthReport
from cloister.services.indexing.reindex import IndexCounts, Progress
from cloister.services.memories.entity_changes import Correction, EntitySplit
from cloister.services.tenancy.api_keys import KeyFields
from cloister.settings import Remote

T = TypeVar("T")
Id = TypeVar("Id")
_SESSIONS: Final = "/v1/sessions"
_PROJECTS: Final = "/org/projects"
_KEYS: Final = "/org/api-keys"
# A small machine's model is slow, and a user may have many sessions.
_SECONDS_FOR_LONG_WORK: Final = 1_800


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ready:
    schema_version: int


class RemoteBackend:
    """Stores nothing here. What the key may not do is `Forbidden`; a server that fails or cannot be reached is a `ServerError`.
    When the connection breaks, reads and writes with an idempotency key are sent once more."""

    def __init__(self, remote: Remote) -> None:
        # Imported here, because the HTTP client takes long to load and an embedded Cloister does not need it.
        from cloister.interfaces.python.connection import Connection

        self.server: Connection = Connection(remote)

    def close(self) -> None:
        self.server.close()

    def create_session(self, fields: SessionFields, project: ProjectChoice) -> shapes.Session:
        """Where no project is named, it is the key's, else the tenant's default project."""
        given = _given(
            external_id=fields.external_id, user_id=fields.user_id, title=fields.title, metadata=fields.metadata
        )
        body = {**given, **_project_field(project), "tags": fields.tags}
        return self.server.create(_SESSIONS, body).one(shapes.Session)

    def session(self, session_id: str) -> shapes.Session:
        return self.server.get(_session(session_id)).one(shapes.Session)

    def sessions(self, project: ProjectChoice, user_id: str | None, page: PageRequest[int]) -> Page[shapes.Session]:
        filtered = None if project is UNSPECIFIED else NO_PROJECT if project is None else format_project_id(project)
        return self._page(shapes.Session, _SESSIONS, page, project_id=filtered, user_id=user_id)

    def update_session(self, session_id: str, change: SessionChange) -> shapes.Session:
        return self.server.change("PATCH", _session(session_id), _description(change)).one(shapes.Session)

    def move_session(self, session_id: str, project: ProjectId | None, change: SessionChange) -> shapes.Session:
        body = {**_description(change), **_project_field(project)}
        return self.server.change("PATCH", _session(session_id), body).one(shapes.Session)

    def preview_move(self, session_id: str, project: ProjectId | None) -> preview_shapes.MovePreview:
        answer = self.server.change("PATCH", f"{_session(session_id)}?dry_run=true", _project_field(project))
        return answer.one(preview_shapes.MovePreview)

    def delete_session(self, session_id: str) -> shapes.Forgotten:
        return self.server.change("DELETE", _session(session_id)).one(shapes.Forgotten)

    def clear_session(self, session_id: str) -> shapes.Forgotten:
        return self.server.change("POST", f"{_session(session_id)}/clear").one(shapes.Forgotten)

    def record(self, session_id: str, draft: Draft, idempotency_key: str | None) -> shapes.Message:
        path = f"{_session(session_id)}/messages"
        return self.server.create(path, _message(draft), _header(idempotency_key)).one(shapes.Message)

    def record_batch(
        self, session_id: str, drafts: Sequence[Draft], idempotency_key: str | None
    ) -> list[shapes.Message]:
        path = f"{_session(session_id)}/messages/batch"
        body = {"messages": [_message(draft) for draft in drafts]}
        return self.server.create(path, body, _header(idempotency_key)).many(shapes.Message)

    def record_episode(
        self, session_id: str, question: Draft, answer: Draft, idempotency_key: str | None
    ) -> shapes.Episode:
        _session(session_id)
        body = {"session_id": session_id, "user_message": question.content, "ai_response": answer.content}
        return self.server.create("/v1/episodes", body, _header(idempotency_key)).one(shapes.Episode)

    def messages(self, session_id: str, page: PageRequest[MessageId]) -> Page[shapes.Message]:
        return self._page(shapes.Message, f"{_session(session_id)}/messages", page, format_message_id)

    def forget_message(self, message: MessageId) -> None:
        self.server.change("DELETE", f"/v1/messages/{format_message_id(message)}")

    def context(self, session_id: str, query: ContextQuery) -> shapes.Context:
        _session(session_id)
        body = {"session_id": session_id, **_given(**asdict(query)), **_asked_at(query.asked_at)}
        return self.server.ask("/v1/context", body).one(shapes.Context)

    def search(self, query: SearchQuery) -> list[shapes.Hit]:
        """Where neither a session nor a project is named, it is the key's project, else the tenant's default project."""
        if query.session_id is not None:
            _session(query.session_id)
        given = {
            **_given(session_id=query.session_id, user_id=query.user_id, min_relevance=query.min_relevance),
            **_asked_at(query.asked_at),
            **_project_field(query.project),
        }
        body = {**given, "query": query.query, "kinds": query.kinds, "limit": query.limit}
        try:
            return self.server.ask("/v1/search", body).many(shapes.Hit)
        except ProjectRequired:
            body["project_id"] = self._default_project()
            return self.server.ask("/v1/search", body).many(shapes.Hit)

    def memories(self, session_id: str, page: PageRequest[MemoryId]) -> Page[derived_shapes.Memory]:
        return self._page(derived_shapes.Memory, f"{_session(session_id)}/memories", page, format_memory_id)

    def user_memories(self, user_id: str, page: PageRequest[MemoryId]) -> Page[derived_shapes.Memory]:
        return self._page(derived_shapes.Memory, f"{_user(user_id)}/memories", page, format_memory_id)

    def add_memories(
        self, session_id: str, contents: Sequence[str], idempotency_key: str | None
    ) -> derived_shapes.Appended:
        _session(session_id)
        body = {"session_id": session_id, "contents": contents}
        return self.server.create("/v1/memories", body, _header(idempotency_key)).one(derived_shapes.Appended)

    def forget_memory(self, memory: MemoryId) -> None:
        self.server.change("DELETE", f"/v1/memories/{format_memory_id(memory)}")

    def entities(
        self, project: ProjectId, user_id: str | None, page: PageRequest[EntityId]
    ) -> Page[derived_shapes.Entity]:
        filters = {"project_id": format_project_id(project), "user_id": user_id}
        return self._page(derived_shapes.Entity, "/v1/entities", page, format_entity_id, **filters)

    def entity(self, entity: EntityId) -> derived_shapes.EntityDetail:
        return self.server.get(_entity(entity)).one(derived_shapes.EntityDetail)

    def entity_mentions(self, entity: EntityId, page: PageRequest[int]) -> Page[derived_shapes.EntityMention]:
        return self._page(derived_shapes.EntityMention, f"{_entity(entity)}/mentions", page)

    def update_entity(self, entity: EntityId, correction: Correction) -> derived_shapes.EntityDetail:
        return self.server.change("PATCH", _entity(entity), _given(**asdict(correction))).one(
            derived_shapes.EntityDetail
        )

    def delete_entity(self, entity: EntityId) -> None:
        self.server.change("DELETE", _entity(entity))

    def merge_entity(self, entity: EntityId, into: EntityId) -> derived_shapes.EntityDetail:
        answer = self.server.change("POST", f"{_entity(entity)}/merge", {"into": format_entity_id(into)})
        return answer.one(derived_shapes.EntityDetail)

    def split_entity(self, entity: EntityId, split: EntitySplit) -> derived_shapes.EntityDetail:
        messages = None if split.message_ids is None else [format_message_id(message) for message in split.message_ids]
        body = _given(aliases=split.aliases, message_ids=messages, name=split.name)
        return self.server.change("POST", f"{_entity(entity)}/split", body).one(derived_shapes.EntityDetail)

    def restore_entity(self, entity: EntityId) -> derived_shapes.EntityDetail:
        return self.server.change("POST", f"{_entity(entity)}/restore").one(derived_shapes.EntityDetail)

    def retag_entity(self, entity: EntityId, project: ProjectId, user_id: str | None) -> derived_shapes.Entity:
        body = _given(project_id=format_project_id(project), user_id=user_id)
        return self.server.change("PATCH", _entity(entity), body).one(derived_shapes.Entity)

    def observations(self, session_id: str, page: PageRequest[ObservationId]) -> Page[derived_shapes.Observation]:
        path = f"{_session(session_id)}/observations"
        return self._page(derived_shapes.Observation, path, page, format_observation_id)

    def extract(self, session_id: str) -> derived_shapes.Extraction:
        answer = self.server.change("POST", f"{_session(session_id)}/extract", seconds=_SECONDS_FOR_LONG_WORK)
        return answer.one(derived_shapes.Extraction)

    def create_project(self, name: str, visibility: MemberVisibility, allow_duplicate_name: bool) -> shapes.Project:
        body = {"name": name, "member_visibility": visibility, **_duplicate(allow_duplicate_name)}
        return self.server.create(_PROJECTS, body).one(shapes.Project)

    def projects(self, name: str | None, page: PageRequest[int]) -> Page[shapes.Project]:
        return self._page(shapes.Project, _PROJECTS, page, name=name)

    def project(self, project: ProjectId) -> shapes.Project:
        return self.server.get(_project(project)).one(shapes.Project)

    def update_project(self, project: ProjectId, change: ProjectChange) -> shapes.Project:
        given = {name: value for name, value in asdict(change).items() if name != "allow_duplicate_name"}
        body = _given(**given) | _duplicate(change.allow_duplicate_name)
        return self.server.change("PATCH", _project(project), body).one(shapes.Project)

    def preview_visibility(self, project: ProjectId, visibility: MemberVisibility) -> preview_shapes.VisibilityPreview:
        path = f"{_project(project)}?dry_run=true"
        answer = self.server.change("PATCH", path, {"member_visibility": visibility})
        return answer.one(preview_shapes.VisibilityPreview)

    def delete_project(self, project: ProjectId) -> shapes.DeletedProject:
        return self.server.change("DELETE", _project(project)).one(shapes.DeletedProject)

    def erase_user(self, user_id: str, dry_run: bool) -> tenant_shapes.ErasedUser:
        path = f"{_user(user_id)}{'?dry_run=true' if dry_run else ''}"
        return self.server.change("DELETE", path, seconds=_SECONDS_FOR_LONG_WORK).one(tenant_shapes.ErasedUser)

    def create_key(self, fields: KeyFields) -> shapes.CreatedKey:
        given = _given(
            project_id=None if fields.project is None else format_project_id(fields.project),
            expires_at=None if fields.expires_at is None else iso(fields.expires_at),
            user_id=fields.user_id,
        )
        body = {**given, "name": fields.name, "confined": fields.confined, "permissions": fields.permissions}
        return self.server.create(_KEYS, body).one(shapes.CreatedKey)

    def keys(self, page: PageRequest[int]) -> Page[shapes.ApiKey]:
        return self._page(shapes.ApiKey, _KEYS, page)

    def revoke_key(self, key: KeyId) -> None:
        self.server.change("DELETE", f"{_KEYS}/{format_key_id(key)}")

    def usage(self) -> tenant_shapes.Usage:
        return self.server.get("/org/usage").one(tenant_shapes.Usage)

    def reindex(self, everything: bool, progress: Progress | None) -> IndexCounts:
        _refuse_over_http("reindex")

    def backup(self, target: Path) -> None:
        _refuse_over_http("backup")

    def health(self) -> HealthReport:
        _refuse_over_http("doctor")

    def schema_version(self) -> int:
        return self.server.get("/readyz").one(_Ready).schema_version

    def _page(
        self, kind: type[T], path: str, page: PageRequest[Id], id_of: Callable[[Id], str] = str, **filters: str | None
    ) -> Page[T]:
        after = None if page.after is None else id_of(page.after)
        return self.server.get(path, **filters, limit=page.limit, cursor=page.cursor, after=after).page(kind)

    def _default_project(self) -> str:
        """The id of the tenant's default project, looked for in all pages."""
        page = self.projects(None, PageRequest(limit=LARGEST_PAGE))
        while True:
            found = next((project.project_id for project in page if project.is_default), None)
            if found is not None:
                return found
            if page.next_cursor is None:
                raise ProjectRequired
            page = self.projects(None, PageRequest(limit=LARGEST_PAGE, cursor=page.next_cursor))


def _refuse_over_http(command: str) -> NoReturn:
    raise Forbidden(
        f"This needs the database itself, and is not possible over HTTP: run `cloister {command}` on the server."
    )


def _given(**fields: object) -> dict[str, object]:
    """The fields that have a value; the others are not sent."""
    return {name: value for name, value in fields.items() if value is not None}


def _asked_at(moment: int | None) -> dict[str, object]:
    return {} if moment is None else {"asked_at": iso(moment)}


def _description(change: SessionChange) -> dict[str, object]:
    return _given(title=change.title, tags=change.tags, metadata=change.metadata)


def _message(draft: Draft) -> dict[str, object]:
    created_at = None if draft.created_at is None else iso(draft.created_at)
    return _given(
        role=draft.role,
        content=draft.content,
        author=draft.author,
        metadata=draft.metadata or None,
        created_at=created_at,
    )


def _project_field(project: ProjectChoice) -> dict[str, object]:
    """The field `project_id` of a body: missing where no project was named, null for no project."""
    if project is UNSPECIFIED:
        return {}
    return {"project_id": None if project is None else format_project_id(project)}


def _duplicate(allowed: bool) -> dict[str, object]:
    """Sent only where it is true: an older server does not know the field."""
    return {"allow_duplicate_name": True} if allowed else {}


def _session(session_id: str) -> str:
    """The path of a session. An id that no session can have is not found, and need not be sent."""
    if not is_storable(session_id) or not 0 < len(session_id) <= MAX_NAME:
        raise NotFound("session", session_id)
    return f"{_SESSIONS}/{_segment(session_id)}"


def _project(project: ProjectId) -> str:
    return f"{_PROJECTS}/{format_project_id(project)}"


def _entity(entity: EntityId) -> str:
    return f"/v1/entities/{format_entity_id(entity)}"


def _user(user_id: str) -> str:
    return f"/v1/users/{_segment(user_id)}"


def _segment(name: str) -> str:
    """A name as one segment of a path; `.` and `..` are escaped, because they would be resolved as steps in the path."""
    encoded = quote(name, safe="")
    return encoded.replace(".", "%2E") if encoded in (".", "..") else encoded


def _header(idempotency_key: str | None) -> str | None:
    """An idempotency key as a header can carry it."""
    if idempotency_key is None or checked_name(idempotency_key, "idempotency_key").isascii():
        return idempotency_key
    return quote(idempotency_key)
