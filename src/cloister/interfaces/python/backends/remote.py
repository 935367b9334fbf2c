"""The backend of a `Cloister` at an address: asks a server over HTTP."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final, TypeVar
from urllib.parse import quote

from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.conversation import Draft
from cloister.domain.errors import ProjectRequired
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
from cloister.domain.memory import MemoryStatus
from cloister.domain.scope import MemberVisibility
from cloister.domain.sessions.expected import ExpectedSession
from cloister.domain.sessions.fields import SessionChange, SessionFields, SessionFilter
from cloister.domain.sessions.windows import MessageRange
from cloister.domain.timestamps import iso
from cloister.interfaces.python import derived_shapes, preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.archives.shapes import Imported
from cloister.interfaces.python.arguments import LARGEST_PAGE, UNSPECIFIED, ProjectChoice
from cloister.interfaces.python.backends.interface import ProjectChange
from cloister.interfaces.python.backends.remote_maintenance import RemoteMaintenance
from cloister.interfaces.python.backends.requests import (
    PROJECTS,
    SESSIONS,
    choices_given,
    conditions_of,
    description_of,
    duplicate_field,
    entity_path,
    expectation,
    fields_given,
    header_of,
    memory_path,
    message_body,
    project_field,
    project_path,
    range_parameters,
    session_path,
    tried,
    user_path,
    with_query,
)
from cloister.interfaces.python.certificates.backends import RemoteRemovals
from cloister.interfaces.python.entries.backends import RemoteEntries
from cloister.interfaces.python.files.backends import RemoteFiles
from cloister.interfaces.python.items.shapes import Item
from cloister.interfaces.python.listing.backends import RemoteListings
from cloister.interfaces.python.pages import Branch, Page, PageRequest
from cloister.interfaces.python.receipts.backends import RemoteReceipts
from cloister.services.conversations.item_format import NewItem
from cloister.services.erasure.erase_project import ProjectContents
from cloister.services.memories.corrections import MemoryChange
from cloister.services.memories.entity_changes import Correction, EntitySplit
from cloister.services.memories.truth.additions import MemoryLabels
from cloister.services.tenancy.api_keys import KeyFields
from cloister.settings import Remote

T = TypeVar("T")
Id = TypeVar("Id")
_KEYS: Final = "/org/api-keys"
_SETTINGS: Final = "/org/settings"
# A small machine's model is slow, and a user may have many sessions.
_SECONDS_FOR_LONG_WORK: Final = 1_800


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ready:
    schema_version: int


class RemoteBackend(RemoteReceipts, RemoteListings, RemoteEntries, RemoteFiles, RemoteRemovals, RemoteMaintenance):
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
        given = fields_given(
            external_id=fields.external_id, user_id=fields.user_id, title=fields.title, metadata=fields.metadata
        )
        body = {**given, **choices_given(fields.choices), **project_field(project), "tags": fields.tags}
        return self.server.create(SESSIONS, body).one(shapes.Session)

    def session(self, session_id: str) -> shapes.Session:
        return self.server.get(session_path(session_id)).one(shapes.Session)

    def sessions(self, project: ProjectChoice, wanted: SessionFilter, page: PageRequest[int]) -> Page[shapes.Session]:
        filtered = None if project is UNSPECIFIED else NO_PROJECT if project is None else format_project_id(project)
        return self._page(shapes.Session, SESSIONS, page, str, project_id=filtered, **conditions_of(wanted))

    def update_session(self, session_id: str, change: SessionChange) -> shapes.Session:
        return self.server.change("PATCH", session_path(session_id), description_of(change)).one(shapes.Session)

    def move_session(self, session_id: str, project: ProjectId | None, change: SessionChange) -> shapes.Session:
        body = {**description_of(change), **project_field(project)}
        return self.server.change("PATCH", session_path(session_id), body).one(shapes.Session)

    def preview_move(self, session_id: str, project: ProjectId | None) -> preview_shapes.MovePreview:
        answer = self.server.change("PATCH", f"{session_path(session_id)}?dry_run=true", project_field(project))
        return answer.one(preview_shapes.MovePreview)

    def record(
        self, session_id: str, draft: Draft, idempotency_key: str | None, expected: ExpectedSession
    ) -> shapes.Message:
        path = with_query(f"{session_path(session_id)}/messages", expectation(expected))
        body = {**message_body(draft), **fields_given(if_unmoved_since=expected.unmoved_since)}
        return self.server.create(path, body, header_of(idempotency_key)).one(shapes.Message)

    def record_batch(
        self, session_id: str, drafts: Sequence[Draft], idempotency_key: str | None, expected: ExpectedSession
    ) -> list[shapes.Message]:
        path = with_query(f"{session_path(session_id)}/messages/batch", expectation(expected))
        messages = [message_body(draft) for draft in drafts]
        body = {"messages": messages, **fields_given(if_unmoved_since=expected.unmoved_since)}
        return self.server.create(path, body, header_of(idempotency_key)).many(shapes.Message)

    def record_episode(
        self,
        session_id: str,
        question: Draft,
        answer: Draft,
        idempotency_key: str | None,
        expected: ExpectedSession,
    ) -> shapes.Episode:
        session_path(session_id)
        said = {"session_id": session_id, "user_message": question.content, "ai_response": answer.content}
        body = {**said, **fields_given(if_unmoved_since=expected.unmoved_since)}
        path = with_query("/v1/episodes", expectation(expected))
        return self.server.create(path, body, header_of(idempotency_key)).one(shapes.Episode)

    def messages(
        self, session_id: str, page: PageRequest[MessageId], asked: MessageRange, branch: Branch
    ) -> Page[shapes.Message]:
        given = None if branch == "current" else branch
        path = f"{session_path(session_id)}/messages"
        return self._page(shapes.Message, path, page, format_message_id, branch=given, **range_parameters(asked))

    def choose_branch(self, session_id: str, message: MessageId) -> shapes.Session:
        body = {"message_id": format_message_id(message)}
        return self.server.change("POST", f"{session_path(session_id)}/branch", body).one(shapes.Session)

    def title_session(self, session_id: str, replaces: str | None) -> shapes.Session:
        return self.server.change("POST", f"{session_path(session_id)}/title", {"replaces": replaces}).one(
            shapes.Session
        )

    def items(
        self, session_id: str, page: PageRequest[int], newest_first: bool, expected: ExpectedSession
    ) -> Page[Item]:
        order, sent = "desc" if newest_first else "asc", expectation(expected)
        path, project, user = f"{session_path(session_id)}/items", sent.get("project_id"), sent.get("user_id")
        return self._page(Item, path, page, order=order, project_id=project, user_id=user)

    def add_items(self, session_id: str, items: Sequence[NewItem], expected: ExpectedSession) -> list[Item]:
        path = with_query(f"{session_path(session_id)}/items", expectation(expected))
        return self.server.create(path, {"items": [item.item for item in items]}).many(Item)

    def forget_item(self, session_id: str, item_id: str, expected: ExpectedSession) -> None:
        path = f"{session_path(session_id)}/items/{quote(item_id, safe='')}"
        self.server.change("DELETE", with_query(path, expectation(expected)))

    def memories(
        self, session_id: str, page: PageRequest[MemoryId], status: MemoryStatus | None
    ) -> Page[derived_shapes.Memory]:
        path = f"{session_path(session_id)}/memories"
        return self._page(derived_shapes.Memory, path, page, format_memory_id, status=status)

    def user_memories(
        self, user_id: str, page: PageRequest[MemoryId], status: MemoryStatus | None
    ) -> Page[derived_shapes.Memory]:
        return self._page(
            derived_shapes.Memory, f"{user_path(user_id)}/memories", page, format_memory_id, status=status
        )

    def add_memories(
        self, session_id: str, contents: Sequence[str], labels: MemoryLabels, idempotency_key: str | None
    ) -> derived_shapes.Appended:
        session_path(session_id)
        body = {"session_id": session_id, "contents": contents, **labels.given}
        return self.server.create("/v1/memories", body, header_of(idempotency_key)).one(derived_shapes.Appended)

    def get_memory(self, memory: MemoryId) -> derived_shapes.Memory:
        return self.server.get(memory_path(memory)).one(derived_shapes.Memory)

    def correct_memory(self, memory: MemoryId, change: MemoryChange) -> derived_shapes.Memory:
        body: dict[str, object] = {name: getattr(change, name) for name in sorted(change.given)}
        if change.expires_at is not None:
            body["expires_at"] = iso(change.expires_at)
        return self.server.change("PATCH", memory_path(memory), body).one(derived_shapes.Memory)

    def retract_memory(self, memory: MemoryId) -> derived_shapes.Memory:
        return self.server.change("POST", f"{memory_path(memory)}/retract").one(derived_shapes.Memory)

    def restore_memory(self, memory: MemoryId) -> derived_shapes.Memory:
        return self.server.change("POST", f"{memory_path(memory)}/restore").one(derived_shapes.Memory)

    def memory_history(self, memory: MemoryId, page: PageRequest[int]) -> Page[derived_shapes.MemoryRevision]:
        return self._page(derived_shapes.MemoryRevision, f"{memory_path(memory)}/history", page)

    def entities(
        self, project: ProjectId, user_id: str | None, page: PageRequest[EntityId]
    ) -> Page[derived_shapes.Entity]:
        filters = {"project_id": format_project_id(project), "user_id": user_id}
        return self._page(derived_shapes.Entity, "/v1/entities", page, format_entity_id, **filters)

    def entity(self, entity: EntityId) -> derived_shapes.EntityDetail:
        return self.server.get(entity_path(entity)).one(derived_shapes.EntityDetail)

    def entity_mentions(self, entity: EntityId, page: PageRequest[int]) -> Page[derived_shapes.EntityMention]:
        return self._page(derived_shapes.EntityMention, f"{entity_path(entity)}/mentions", page)

    def update_entity(self, entity: EntityId, correction: Correction) -> derived_shapes.EntityDetail:
        return self.server.change("PATCH", entity_path(entity), fields_given(**asdict(correction))).one(
            derived_shapes.EntityDetail
        )

    def merge_entity(self, entity: EntityId, into: EntityId) -> derived_shapes.EntityDetail:
        answer = self.server.change("POST", f"{entity_path(entity)}/merge", {"into": format_entity_id(into)})
        return answer.one(derived_shapes.EntityDetail)

    def split_entity(self, entity: EntityId, split: EntitySplit) -> derived_shapes.EntityDetail:
        messages = None if split.message_ids is None else [format_message_id(message) for message in split.message_ids]
        body = fields_given(aliases=split.aliases, message_ids=messages, name=split.name)
        return self.server.change("POST", f"{entity_path(entity)}/split", body).one(derived_shapes.EntityDetail)

    def restore_entity(self, entity: EntityId) -> derived_shapes.EntityDetail:
        return self.server.change("POST", f"{entity_path(entity)}/restore").one(derived_shapes.EntityDetail)

    def retag_entity(self, entity: EntityId, project: ProjectId, user_id: str | None) -> derived_shapes.Entity:
        body = fields_given(project_id=format_project_id(project), user_id=user_id)
        return self.server.change("PATCH", entity_path(entity), body).one(derived_shapes.Entity)

    def observations(self, session_id: str, page: PageRequest[ObservationId]) -> Page[derived_shapes.Observation]:
        path = f"{session_path(session_id)}/observations"
        return self._page(derived_shapes.Observation, path, page, format_observation_id)

    def preview_extraction(self, drafts: Sequence[Draft], project: ProjectChoice) -> preview_shapes.ExtractionPreview:
        body = {"messages": [message_body(draft) for draft in drafts], **project_field(project)}
        answer = self.server.change("POST", "/v1/extract/preview", body, seconds=_SECONDS_FOR_LONG_WORK)
        return answer.one(preview_shapes.ExtractionPreview)

    def extract(self, session_id: str) -> derived_shapes.Extraction:
        answer = self.server.change("POST", f"{session_path(session_id)}/extract", seconds=_SECONDS_FOR_LONG_WORK)
        return answer.one(derived_shapes.Extraction)

    def create_project(self, name: str, visibility: MemberVisibility, allow_duplicate_name: bool) -> shapes.Project:
        body = {"name": name, "member_visibility": visibility, **duplicate_field(allow_duplicate_name)}
        return self.server.create(PROJECTS, body).one(shapes.Project)

    def projects(self, name: str | None, page: PageRequest[int]) -> Page[shapes.Project]:
        return self._page(shapes.Project, PROJECTS, page, name=name)

    def project(self, project: ProjectId) -> shapes.Project:
        return self.server.get(project_path(project)).one(shapes.Project)

    def update_project(self, project: ProjectId, change: ProjectChange) -> shapes.Project:
        given = {name: value for name, value in asdict(change).items() if name != "allow_duplicate_name"}
        body = fields_given(**given) | duplicate_field(change.allow_duplicate_name)
        return self.server.change("PATCH", project_path(project), body).one(shapes.Project)

    def preview_visibility(self, project: ProjectId, visibility: MemberVisibility) -> preview_shapes.VisibilityPreview:
        path = f"{project_path(project)}?dry_run=true"
        answer = self.server.change("PATCH", path, {"member_visibility": visibility})
        return answer.one(preview_shapes.VisibilityPreview)

    def delete_project(self, project: ProjectId, contents: ProjectContents, dry_run: bool) -> shapes.DeletedProject:
        path = f"{project_path(project)}?contents={contents}{'&dry_run=true' if dry_run else ''}"
        seconds = _SECONDS_FOR_LONG_WORK if contents == "delete" else None
        return self.server.change("DELETE", path, seconds=seconds).one(shapes.DeletedProject)

    def project_profile(self, project: ProjectId, user_id: str | None, budget: int) -> derived_shapes.Profile:
        path = f"{project_path(project)}/profile"
        return self.server.get(path, user_id=user_id, budget_tokens=budget).one(derived_shapes.Profile)

    def user_profile(self, user_id: str, project: ProjectChoice, budget: int) -> derived_shapes.Profile:
        """Where no project is named, it is the key's, else the tenant's default project."""
        named = None if project is UNSPECIFIED else NO_PROJECT if project is None else format_project_id(project)
        path = f"{user_path(user_id)}/profile"
        return self.server.get(path, project_id=named, budget_tokens=budget).one(derived_shapes.Profile)

    def erase_user(self, user_id: str, dry_run: bool) -> tenant_shapes.ErasedUser:
        path = tried(user_path(user_id), dry_run)
        return self.server.change("DELETE", path, seconds=_SECONDS_FOR_LONG_WORK).one(tenant_shapes.ErasedUser)

    def tenant_settings(self) -> tenant_shapes.TenantSettings:
        return self.server.get(_SETTINGS).one(tenant_shapes.TenantSettings)

    def update_tenant_settings(self, changed: Mapping[str, int | None]) -> tenant_shapes.TenantSettings:
        answer = self.server.change("PATCH", _SETTINGS, dict(changed))
        return answer.one(tenant_shapes.TenantSettings)

    def apply_retention(
        self, project: ProjectId | None, dry_run: bool, retention_days: int | None
    ) -> tenant_shapes.Retention:
        path = "/org/retention" if project is None else f"{project_path(project)}/retention"
        tried = "" if retention_days is None else f"&retention_days={retention_days}"
        path = f"{path}?dry_run=true{tried}" if dry_run else path
        return self.server.change("POST", path, seconds=_SECONDS_FOR_LONG_WORK).one(tenant_shapes.Retention)

    def export(self, target: ArchiveTarget) -> Iterator[bytes]:
        if target.project is not None:
            return self.server.download("/v1/export", scope="project", id=format_project_id(target.project))
        if target.user is not None:
            return self.server.download("/v1/export", scope="user", id=target.user)
        return self.server.download("/v1/export", scope="tenant")

    def import_archive(self, lines: Iterator[bytes]) -> Imported:
        return self.server.upload("/v1/import", lines).one(Imported)

    def create_key(self, fields: KeyFields) -> tenant_shapes.CreatedKey:
        given = fields_given(
            project_id=None if fields.project is None else format_project_id(fields.project),
            expires_at=None if fields.expires_at is None else iso(fields.expires_at),
            user_id=fields.user_id,
        )
        body = {**given, "name": fields.name, "confined": fields.confined, "permissions": fields.permissions}
        return self.server.create(_KEYS, body).one(tenant_shapes.CreatedKey)

    def keys(self, page: PageRequest[int]) -> Page[tenant_shapes.ApiKey]:
        return self._page(tenant_shapes.ApiKey, _KEYS, page)

    def revoke_key(self, key: KeyId) -> None:
        self.server.change("DELETE", f"{_KEYS}/{format_key_id(key)}")

    def usage(self) -> tenant_shapes.Usage:
        return self.server.get("/org/usage").one(tenant_shapes.Usage)

    def schema_version(self) -> int:
        return self.server.get("/readyz").one(_Ready).schema_version

    def _page(
        self, kind: type[T], path: str, page: PageRequest[Id], id_of: Callable[[Id], str] = str, **filters: str | None
    ) -> Page[T]:
        after = None if page.after is None else id_of(page.after)
        wanted = None if page.filter is None else json.dumps(page.filter.given)
        return self.server.get(path, **filters, limit=page.limit, cursor=page.cursor, after=after, filter=wanted).page(
            kind
        )

    def _default_project_id(self) -> str:
        """The id of the tenant's default project, looked for in all pages."""
        page = self.projects(None, PageRequest(limit=LARGEST_PAGE))
        while True:
            found = next((project.project_id for project in page if project.is_default), None)
            if found is not None:
                return found
            if page.next_cursor is None:
                raise ProjectRequired
            page = self.projects(None, PageRequest(limit=LARGEST_PAGE, cursor=page.next_cursor))
