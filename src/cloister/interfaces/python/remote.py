"""`Cloister` at an address: the same methods, answered by a server over HTTP. What can be checked here is, in the same words."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn
from urllib.parse import quote

from cloister.bootstrap import Services
from cloister.domain.context import parse_sources
from cloister.domain.conversation import Role
from cloister.domain.errors import Forbidden, InvalidRequest, NotFound, ProjectRequired
from cloister.domain.identifiers import (
    parse_entity_id,
    parse_memory_id,
    parse_message_id,
    parse_observation_id,
    parse_project_id,
)
from cloister.domain.text import MAX_NAME, checked_metadata, checked_name, is_storable
from cloister.interfaces.python import derived_shapes, preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.arguments import (
    LARGEST_PAGE,
    NO_PROJECT,
    NOT_GIVEN,
    draft_of,
    drafts_of,
    page_size,
    project_of,
    tags_of,
)
from cloister.interfaces.python.library import Cloister
from cloister.interfaces.python.remote_organisation import PROJECTS, RemoteOrganisationCalls, given_fields, segment
from cloister.services.health import HealthReport
from cloister.services.indexing.reindex import IndexCounts, Progress
from cloister.services.memories.memories import checked_memories
from cloister.services.recall.search import Kind, checked_kinds
from cloister.settings import read_remote

_SESSIONS: Final = "/v1/sessions"
# A model on a small machine takes its time.
_SECONDS_TO_EXTRACT: Final = 1_800


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ready:
    schema_version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Projects:
    data: list[shapes.Project]
    next_cursor: str | None


class RemoteCloister(RemoteOrganisationCalls, Cloister, served=True):
    """A Cloister elsewhere, with nothing kept here. What its key may not do is `Forbidden`; a server that cannot be reached, or
    fails, is a `ServerError`. What may be repeated is repeated once when the connection breaks, and nothing is done twice."""

    def __init__(
        self,
        data: str | os.PathLike[str] | None = None,
        *,
        key: str | None = None,
        tenant: str | None = None,
        services: Services | None = None,
    ) -> None:
        from cloister.interfaces.python.connection import Connection

        remote = read_remote(data, key, tenant=tenant)
        if remote is None or services is not None:
            raise InvalidRequest("data", "must be the http:// address of a server, and nothing else.")
        self._server = Connection(remote)

    def close(self) -> None:
        """Let go of the connections, once what is under way was answered; the server goes on. Closing twice is fine."""
        self._server.close()

    # Sessions

    def create_session(
        self,
        external_id: str | None = None,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        title: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
    ) -> shapes.Session:
        """Where no project is given, it is the key's, else the tenant's default project."""
        checked_metadata(metadata or {})
        given = given_fields(external_id=external_id, user_id=user_id, title=title, metadata=metadata)
        body = {**given, **_of_project(project_id), "tags": tags_of(tags)}
        return self._server.create(_SESSIONS, body).one(shapes.Session)

    def session(self, session_id: str) -> shapes.Session:
        return self._server.get(_session(session_id)).one(shapes.Session)

    def sessions(
        self, *, project_id: str | None = NOT_GIVEN, user_id: str | None = None, limit: int = 50
    ) -> list[shapes.Session]:
        project = _project_parameter(project_id)
        if user_id is not None:
            checked_name(user_id, "user_id")
        answer = self._server.get(_SESSIONS, project_id=project, user_id=user_id, limit=page_size(limit))
        return answer.many(shapes.Session)

    def update_session(
        self,
        session_id: str,
        *,
        title: str | None = None,
        project_id: str | None = NOT_GIVEN,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> shapes.Session:
        if metadata is not None:
            checked_metadata(metadata)
        body = given_fields(title=title, tags=None if tags is None else tags_of(tags), metadata=metadata)
        body |= _of_project(project_id)
        return self._server.change("PATCH", _session(session_id), body).one(shapes.Session)

    def preview_move(self, session_id: str, project_id: str | None) -> preview_shapes.MovePreview:
        answer = self._server.change("PATCH", f"{_session(session_id)}?dry_run=true", _of_project(project_id))
        return answer.one(preview_shapes.MovePreview)

    def delete_session(self, session_id: str) -> shapes.Forgotten:
        return self._server.change("DELETE", _session(session_id)).one(shapes.Forgotten)

    def clear_session(self, session_id: str) -> shapes.Forgotten:
        return self._server.change("POST", f"{_session(session_id)}/clear").one(shapes.Forgotten)

    # What was said

    def record(
        self,
        session_id: str,
        role: Role,
        content: str,
        *,
        author: str | None = None,
        metadata: Mapping[str, object] | None = None,
        created_at: str | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Message:
        path = f"{_session(session_id)}/messages"
        body = given_fields(role=role, content=content, author=author, metadata=metadata, created_at=created_at)
        draft_of(role=role, content=content, author=author, metadata=metadata, created_at=created_at)
        return self._server.create(path, body, _once(idempotency_key)).one(shapes.Message)

    def record_batch(
        self, session_id: str, messages: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[shapes.Message]:
        path = f"{_session(session_id)}/messages/batch"
        drafts_of(messages)
        body = {"messages": [given_fields(**message) for message in messages]}
        return self._server.create(path, body, _once(idempotency_key)).many(shapes.Message)

    def record_episode(
        self, session_id: str, user_message: str, ai_response: str, *, idempotency_key: str | None = None
    ) -> shapes.Episode:
        _session(session_id)
        draft_of(role="user", content=user_message)
        draft_of(role="assistant", content=ai_response)
        body = {"session_id": session_id, "user_message": user_message, "ai_response": ai_response}
        return self._server.create("/v1/episodes", body, _once(idempotency_key)).one(shapes.Episode)

    def messages(self, session_id: str, *, limit: int = 50, after: str | None = None) -> list[shapes.Message]:
        if after is not None:
            parse_message_id(after)
        answer = self._server.get(f"{_session(session_id)}/messages", limit=page_size(limit), after=after)
        return answer.many(shapes.Message)

    def forget_message(self, message_id: str) -> None:
        parse_message_id(message_id)
        self._server.change("DELETE", f"/v1/messages/{message_id}")

    # Recall

    def context(
        self,
        session_id: str,
        query: str | None = None,
        *,
        recent_limit: int | None = None,
        semantic_limit: int | None = None,
        budget_tokens: int | None = None,
        sources: Sequence[Mapping[str, object]] | None = None,
    ) -> shapes.Context:
        _session(session_id)
        if sources is not None:
            parse_sources(sources, "sources")
        body = given_fields(
            session_id=session_id,
            query=query,
            recent_limit=recent_limit,
            semantic_limit=semantic_limit,
            budget_tokens=budget_tokens,
            sources=None if sources is None else [dict(source) for source in sources],
        )
        return self._server.ask("/v1/context", body).one(shapes.Context)

    def search(
        self,
        query: str,
        *,
        session_id: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        kinds: Sequence[Kind] | None = None,
        limit: int = 10,
    ) -> list[shapes.Hit]:
        """Where neither a session nor a project is given, it is the key's project, else the tenant's default project."""
        if session_id is not None:
            _session(session_id)
        given = {**given_fields(session_id=session_id, user_id=user_id), **_of_project(project_id)}
        body = {**given, "query": query, "kinds": checked_kinds(kinds), "limit": limit}
        try:
            return self._server.ask("/v1/search", body).many(shapes.Hit)
        except ProjectRequired:
            body["project_id"] = self._default_project()
            return self._server.ask("/v1/search", body).many(shapes.Hit)

    # What is kept of what was said

    def memories(self, session_id: str, *, limit: int = 50, after: str | None = None) -> list[derived_shapes.Memory]:
        path = f"{_session(session_id)}/memories"
        return self._server.get(path, limit=page_size(limit), after=_memory(after)).many(derived_shapes.Memory)

    def user_memories(self, user_id: str, *, limit: int = 50, after: str | None = None) -> list[derived_shapes.Memory]:
        path = f"/v1/users/{segment(checked_name(user_id, 'user_id'))}/memories"
        return self._server.get(path, limit=page_size(limit), after=_memory(after)).many(derived_shapes.Memory)

    def add_memories(
        self, session_id: str, contents: Sequence[str], *, idempotency_key: str | None = None
    ) -> derived_shapes.Appended:
        _session(session_id)
        body = {"session_id": session_id, "contents": checked_memories(contents)}
        return self._server.create("/v1/memories", body, _once(idempotency_key)).one(derived_shapes.Appended)

    def forget_memory(self, memory_id: str) -> None:
        self._server.change("DELETE", f"/v1/memories/{_memory(memory_id)}")

    def entities(
        self, project_id: str, *, user_id: str | None = None, limit: int = 50, after: str | None = None
    ) -> list[derived_shapes.Entity]:
        parse_project_id(project_id)
        if user_id is not None:
            checked_name(user_id, "user_id")
        if after is not None:
            parse_entity_id(after)
        answer = self._server.get(
            "/v1/entities", project_id=project_id, user_id=user_id, limit=page_size(limit), after=after
        )
        return answer.many(derived_shapes.Entity)

    def retag_entity(self, entity_id: str, project_id: str, *, user_id: str | None = None) -> derived_shapes.Entity:
        parse_entity_id(entity_id)
        parse_project_id(project_id)
        if user_id is not None:
            checked_name(user_id, "user_id")
        body = given_fields(project_id=project_id, user_id=user_id)
        answer = self._server.change("PATCH", f"/v1/entities/{entity_id}", body)
        return answer.one(derived_shapes.Entity)

    def observations(
        self, session_id: str, *, limit: int = 50, after: str | None = None
    ) -> list[derived_shapes.Observation]:
        path = f"{_session(session_id)}/observations"
        if after is not None:
            parse_observation_id(after)
        answer = self._server.get(path, limit=page_size(limit), after=after)
        return answer.many(derived_shapes.Observation)

    def extract(self, session_id: str) -> derived_shapes.Extraction:
        answer = self._server.change("POST", f"{_session(session_id)}/extract", seconds=_SECONDS_TO_EXTRACT)
        return answer.one(derived_shapes.Extraction)

    # Care

    def usage(self) -> tenant_shapes.Usage:
        return self._server.get("/org/usage").one(tenant_shapes.Usage)

    def reindex(self, *, everything: bool = False, progress: Progress | None = None) -> IndexCounts:
        _only_there("reindex")

    def backup(self, target: str | os.PathLike[str]) -> None:
        _only_there("backup")

    def health(self) -> HealthReport:
        _only_there("doctor")

    def schema_version(self) -> int:
        return self._server.get("/readyz").one(_Ready).schema_version

    def _default_project(self) -> str:
        """The id of the tenant's default project, looked for in all pages."""
        cursor: str | None = None
        while True:
            page = self._server.get(PROJECTS, limit=LARGEST_PAGE, cursor=cursor).one(_Projects)
            found = next((project.project_id for project in page.data if project.is_default), None)
            if found is not None or page.next_cursor is None:
                break
            cursor = page.next_cursor
        if found is None:
            raise ProjectRequired
        return found


def _only_there(command: str) -> NoReturn:
    raise Forbidden(f"This runs where the data is, and not over HTTP: use `cloister {command}` beside the server.")


def _project_parameter(project_id: str | None) -> str | None:
    """What a query says of the project: nothing where it was not given, `none` for no project."""
    if project_id is NOT_GIVEN:
        return None
    project_of(project_id)
    return NO_PROJECT if project_id is None else project_id


def _of_project(project_id: str | None) -> dict[str, object]:
    """What a body says of the project: nothing where it was not given, `null` for no project."""
    if project_id is NOT_GIVEN:
        return {}
    project_of(project_id)
    return {"project_id": None if project_id == NO_PROJECT else project_id}


def _session(session_id: str) -> str:
    """The path of a session. Under a name that cannot be stored there is none, and some of those fit into no path."""
    if not is_storable(session_id) or not 0 < len(session_id) <= MAX_NAME:
        raise NotFound("session", session_id)
    return f"{_SESSIONS}/{segment(session_id)}"


def _memory(memory_id: str | None) -> str | None:
    if memory_id is not None:
        parse_memory_id(memory_id)
    return memory_id


def _once(key: str | None) -> str | None:
    """An idempotency key as a header can carry it."""
    if key is None or checked_name(key, "idempotency_key").isascii():
        return key
    return quote(key)
