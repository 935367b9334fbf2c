"""The HTTP contract spoken by hand, under the names of the library: what is sent and read here is JSON, and nothing of the library
but its shapes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import httpx2
from pydantic import TypeAdapter

from cloister.domain.conversation import Role
from cloister.domain.memory import MemoryStatus
from cloister.domain.scope import DEFAULT_VISIBILITY, MemberVisibility
from cloister.interfaces.python import derived_shapes, preview_shapes, shapes, tenant_shapes
from cloister.interfaces.python.arguments import NO_DAYS_GIVEN, NO_NUMBER_GIVEN, NOT_GIVEN
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.listing.shapes import Activity, TimelineEntry
from cloister.interfaces.python.pages import Branch, Page
from cloister.interfaces.python.recall import shapes as recall_shapes
from cloister.interfaces.python.receipts.exclusion_shapes import Exclusion
from cloister.interfaces.python.receipts.hits import Hits
from cloister.interfaces.python.receipts.inline import InlineReceipt
from cloister.interfaces.python.receipts.shapes import Explanation, Receipt, ReceiptPrompt
from cloister.services.erasure.erase_project import ProjectContents
from cloister.services.recall.search import Kind
from support.clients.refusals import refusal
from support.servers.http_server import Caller, segment

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Receipts:
    receipt: InlineReceipt


class OverHttp:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def create_project(
        self,
        name: str,
        *,
        member_visibility: MemberVisibility = DEFAULT_VISIBILITY,
        allow_duplicate_name: bool = False,
    ) -> shapes.Project:
        body = {"name": name, "member_visibility": member_visibility, "allow_duplicate_name": allow_duplicate_name}
        return _one(shapes.Project, self._caller.post("/org/projects", body))

    def projects(self, *, name: str | None = None, limit: int = 50, cursor: str | None = None) -> Page[shapes.Project]:
        return _many(
            shapes.Project, self._caller.get("/org/projects", params=_given(name=name, limit=limit, cursor=cursor))
        )

    def project(self, project_id: str) -> shapes.Project:
        return _one(shapes.Project, self._caller.get(f"/org/projects/{project_id}"))

    def update_project(
        self,
        project_id: str,
        *,
        name: str | None = None,
        is_default: bool | None = None,
        member_visibility: MemberVisibility | None = None,
        settings: Mapping[str, object] | None = None,
        allow_duplicate_name: bool = False,
    ) -> shapes.Project:
        body = _given(name=name, is_default=is_default, member_visibility=member_visibility, settings=settings)
        body["allow_duplicate_name"] = allow_duplicate_name
        return _one(shapes.Project, self._caller.patch(f"/org/projects/{project_id}", body))

    def preview_visibility(
        self, project_id: str, member_visibility: MemberVisibility
    ) -> preview_shapes.VisibilityPreview:
        path = f"/org/projects/{project_id}?dry_run=true"
        return _one(
            preview_shapes.VisibilityPreview, self._caller.patch(path, {"member_visibility": member_visibility})
        )

    def delete_project(
        self, project_id: str, *, contents: ProjectContents = "keep", dry_run: bool = False
    ) -> shapes.DeletedProject:
        path = f"/org/projects/{project_id}?contents={contents}{'&dry_run=true' if dry_run else ''}"
        return _one(shapes.DeletedProject, self._caller.delete(path))

    def erase_user(self, user_id: str, *, dry_run: bool = False) -> tenant_shapes.ErasedUser:
        path = f"/v1/users/{segment(user_id)}{'?dry_run=true' if dry_run else ''}"
        return _one(tenant_shapes.ErasedUser, self._caller.delete(path))

    def user_profile(
        self, user_id: str, *, project_id: str | None = NOT_GIVEN, budget_tokens: int | None = None
    ) -> derived_shapes.Profile:
        project = None if project_id is NOT_GIVEN else project_id or "none"
        params = _given(project_id=project, budget_tokens=budget_tokens)
        return _one(derived_shapes.Profile, self._caller.get(f"/v1/users/{segment(user_id)}/profile", params=params))

    def project_profile(
        self, project_id: str, *, user_id: str | None = None, budget_tokens: int | None = None
    ) -> derived_shapes.Profile:
        params = _given(user_id=user_id, budget_tokens=budget_tokens)
        return _one(derived_shapes.Profile, self._caller.get(f"/org/projects/{project_id}/profile", params=params))

    def tenant_settings(self) -> tenant_shapes.TenantSettings:
        return _one(tenant_shapes.TenantSettings, self._caller.get("/org/settings"))

    def update_tenant_settings(
        self, *, retention_days: int | None = NO_DAYS_GIVEN, receipt_days: int | None = NO_DAYS_GIVEN
    ) -> tenant_shapes.TenantSettings:
        given = {"retention_days": retention_days, "receipt_days": receipt_days}
        body = {name: days for name, days in given.items() if days is not NO_DAYS_GIVEN}
        answer = self._caller.patch("/org/settings", body)
        return _one(tenant_shapes.TenantSettings, answer)

    def apply_retention(
        self, project_id: str | None = None, *, dry_run: bool = False, retention_days: int | None = None
    ) -> tenant_shapes.Retention:
        path = "/org/retention" if project_id is None else f"/org/projects/{project_id}/retention"
        params = _given(dry_run="true" if dry_run else None, retention_days=retention_days)
        return _one(tenant_shapes.Retention, self._caller.request("POST", path, params=params))

    def create_session(
        self,
        external_id: str | None = None,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        title: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        pinned: bool = False,
        archived: bool = False,
        system_prompt: str | None = None,
        model: str | None = None,
    ) -> shapes.Session:
        own = _given(pinned=pinned or None, archived=archived or None, system_prompt=system_prompt, model=model)
        given = _given(external_id=external_id, user_id=user_id, title=title, metadata=metadata) | own
        body = {**given, **({} if project_id is NOT_GIVEN else {"project_id": project_id}), "tags": list(tags)}
        return _one(shapes.Session, self._caller.post("/v1/sessions", body))

    def session(self, session_id: str) -> shapes.Session:
        return _one(shapes.Session, self._caller.get(_session(session_id)))

    def sessions(
        self,
        *,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        external_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[shapes.Session]:
        project = None if project_id is NOT_GIVEN else project_id or "none"
        own = _given(pinned=pinned, archived=archived, external_id=external_id)
        params = _given(project_id=project, user_id=user_id, limit=limit, cursor=cursor) | own
        return _many(shapes.Session, self._caller.get("/v1/sessions", params=params))

    def preview_move(self, session_id: str, project_id: str | None) -> preview_shapes.MovePreview:
        path = f"{_session(session_id)}?dry_run=true"
        return _one(preview_shapes.MovePreview, self._caller.patch(path, {"project_id": project_id}))

    def move_session(self, session_id: str, project_id: str | None) -> shapes.Session:
        return self.update_session(session_id, project_id=project_id)

    def update_session(
        self,
        session_id: str,
        *,
        title: str | None = None,
        project_id: str | None = NOT_GIVEN,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, object] | None = None,
        pinned: bool | None = None,
        archived: bool | None = None,
        system_prompt: str | None = NOT_GIVEN,
        model: str | None = NOT_GIVEN,
    ) -> shapes.Session:
        body = _given(title=title, tags=tags, metadata=metadata, pinned=pinned, archived=archived)
        own = (("system_prompt", system_prompt), ("model", model))
        body |= {name: value for name, value in own if value is not NOT_GIVEN}
        if project_id is not NOT_GIVEN:
            body["project_id"] = project_id
        return _one(shapes.Session, self._caller.patch(_session(session_id), body))

    def delete_session(self, session_id: str, *, dry_run: bool = False) -> shapes.Forgotten:
        return _one(shapes.Forgotten, self._caller.delete(_session(session_id) + _tried(dry_run)))

    def clear_session(
        self,
        session_id: str,
        *,
        dry_run: bool = False,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> shapes.Forgotten:
        params = {**_given(dry_run=dry_run or None), **_expected(project_id, user_id)}
        return _one(shapes.Forgotten, self._caller.post(f"{_session(session_id)}/clear", params=params))

    def record(
        self,
        session_id: str,
        role: Role,
        content: str,
        *,
        author: str | None = None,
        categories: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        created_at: str | None = None,
        idempotency_key: str | None = None,
        if_unmoved_since: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> shapes.Message:
        given = _given(
            author=author,
            categories=categories or None,
            metadata=metadata,
            created_at=created_at,
            if_unmoved_since=if_unmoved_since,
        )
        body = {"role": role, "content": content, **given}
        answer = self._caller.post(
            f"{_session(session_id)}/messages",
            body,
            params=_expected(project_id, user_id),
            headers=_once(idempotency_key),
        )
        return _one(shapes.Message, answer)

    def record_batch(
        self,
        session_id: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        idempotency_key: str | None = None,
        if_unmoved_since: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> list[shapes.Message]:
        path = f"{_session(session_id)}/messages/batch"
        body = {"messages": messages, **_given(if_unmoved_since=if_unmoved_since)}
        params = _expected(project_id, user_id)
        answer = self._caller.post(path, body, params=params, headers=_once(idempotency_key))
        return _many(shapes.Message, answer)

    def record_episode(
        self,
        session_id: str,
        user_message: str,
        ai_response: str,
        *,
        idempotency_key: str | None = None,
        if_unmoved_since: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
    ) -> shapes.Episode:
        said = {"session_id": session_id, "user_message": user_message, "ai_response": ai_response}
        body = {**said, **_given(if_unmoved_since=if_unmoved_since)}
        params = _expected(project_id, user_id)
        answer = self._caller.post("/v1/episodes", body, params=params, headers=_once(idempotency_key))
        return _one(shapes.Episode, answer)

    def messages(
        self,
        session_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        before: str | None = None,
        around: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
        branch: Branch = "current",
    ) -> Page[shapes.Message]:
        window = {"after": after, "before": before, "around": around}
        answer = self._caller.get(
            f"{_session(session_id)}/messages",
            params=_given(limit=limit, cursor=cursor, filter=_text(filter), branch=branch, **window),
        )
        return _many(shapes.Message, answer)

    def choose_branch(self, session_id: str, message_id: str) -> shapes.Session:
        answer = self._caller.post(f"{_session(session_id)}/branch", {"message_id": message_id})
        return _one(shapes.Session, answer)

    def title_session(self, session_id: str, *, replaces: str | None = None) -> shapes.Session:
        answer = self._caller.post(f"{_session(session_id)}/title", {"replaces": replaces})
        return _one(shapes.Session, answer)

    def forget_message(self, message_id: str, *, dry_run: bool = False) -> Removed:
        return _one(Removed, self._caller.delete(f"/v1/messages/{message_id}{_tried(dry_run)}"))

    def context(
        self,
        session_id: str,
        query: str | None = None,
        *,
        recent_limit: int | None = None,
        semantic_limit: int | None = None,
        budget_tokens: int | None = None,
        sources: Sequence[Mapping[str, object]] | None = None,
        min_relevance: float | None = None,
        asked_at: str | None = None,
        as_of: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> recall_shapes.Context:
        body = _given(
            session_id=session_id,
            query=query,
            recent_limit=recent_limit,
            semantic_limit=semantic_limit,
            budget_tokens=budget_tokens,
            sources=sources,
            min_relevance=min_relevance,
            asked_at=asked_at,
            as_of=as_of,
            filter=filter,
        )
        return _one(recall_shapes.Context, self._caller.post("/v1/context", body))

    def search(
        self,
        query: str,
        *,
        session_id: str | None = None,
        project_id: str | None = NOT_GIVEN,
        user_id: str | None = None,
        kinds: Sequence[Kind] | None = None,
        limit: int = 10,
        min_relevance: float | None = None,
        asked_at: str | None = None,
        as_of: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Hits:
        """A project by the header, as callers of the contract name it, and no project by its null. The contract insists on a
        project here: whoever names none asks for the default one by its id."""
        body = _given(
            query=query,
            session_id=session_id,
            user_id=user_id,
            kinds=kinds,
            limit=limit,
            min_relevance=min_relevance,
            asked_at=asked_at,
            as_of=as_of,
            filter=filter,
        )
        named = project_id
        if named is NOT_GIVEN:
            named = None if session_id else next(each.project_id for each in self.projects() if each.is_default)
        elif named is None:
            body["project_id"] = None
        headers = {} if named is None else {"X-Project-ID": named}
        answered = self._caller.post("/v1/search", body, headers=headers)
        hits = _many(recall_shapes.Hit, answered)
        return Hits(hits, _one(_Receipts, answered).receipt)

    def receipt(self, receipt_id: str) -> Receipt:
        return _one(Receipt, self._caller.get(f"/v1/receipts/{segment(receipt_id)}"))

    def exclude(self, session_id: str, item_id: str) -> Exclusion:
        kinds = {"msg_": "message", "mem_": "memory", "ent_": "entity"}
        body = {"kind": kinds[item_id[:4]], "id": item_id}
        return _one(Exclusion, self._caller.post(f"/v1/sessions/{segment(session_id)}/exclusions", body))

    def include(self, session_id: str, item_id: str) -> None:
        path = f"/v1/sessions/{segment(session_id)}/exclusions/{segment(item_id)}"
        _read(self._caller.request("DELETE", path))

    def exclusions(self, session_id: str, *, limit: int = 50, cursor: str | None = None) -> Page[Exclusion]:
        path = f"/v1/sessions/{segment(session_id)}/exclusions"
        return _many(Exclusion, self._caller.get(path, params=_given(limit=limit, cursor=cursor)))

    def receipt_prompt(self, receipt_id: str) -> ReceiptPrompt:
        return _one(ReceiptPrompt, self._caller.get(f"/v1/receipts/{segment(receipt_id)}/prompt"))

    def explain(
        self,
        message_id: str,
        *,
        session_id: str | None = None,
        query: str | None = None,
        receipt_id: str | None = None,
    ) -> Explanation:
        body = _given(message_id=message_id, session_id=session_id, query=query, receipt_id=receipt_id)
        return _one(Explanation, self._caller.post("/v1/explain", body))

    def memories(
        self,
        session_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
        status: MemoryStatus | None = None,
    ) -> Page[derived_shapes.Memory]:
        answer = self._caller.get(
            f"{_session(session_id)}/memories",
            params=_given(limit=limit, after=after, cursor=cursor, filter=_text(filter), status=status),
        )
        return _many(derived_shapes.Memory, answer)

    def user_memories(
        self,
        user_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
        status: MemoryStatus | None = None,
    ) -> Page[derived_shapes.Memory]:
        path = f"/v1/users/{segment(user_id)}/memories"
        return _many(
            derived_shapes.Memory,
            self._caller.get(
                path, params=_given(limit=limit, after=after, cursor=cursor, filter=_text(filter), status=status)
            ),
        )

    def project_memories(
        self,
        project_id: str | None = NOT_GIVEN,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        status: MemoryStatus | None = None,
        pinned: bool | None = None,
        query: str | None = None,
        filter: Mapping[str, object] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[derived_shapes.Memory]:
        project = None if project_id is NOT_GIVEN else project_id or "none"
        params = _given(
            project_id=project,
            user_id=user_id,
            users=users,
            status=status,
            pinned=None if pinned is None else str(pinned).lower(),
            query=query,
            filter=_text(filter),
            limit=limit,
            cursor=cursor,
        )
        return _many(derived_shapes.Memory, self._caller.get("/v1/memories", params=params))

    def project_timeline(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[TimelineEntry]:
        params = _given(user_id=user_id, users=users, limit=limit, cursor=cursor)
        return _many(TimelineEntry, self._caller.get(f"/org/projects/{project_id}/timeline", params=params))

    def user_timeline(self, user_id: str, *, limit: int = 50, cursor: str | None = None) -> Page[TimelineEntry]:
        params = _given(limit=limit, cursor=cursor)
        return _many(TimelineEntry, self._caller.get(f"/v1/users/{segment(user_id)}/timeline", params=params))

    def project_activity(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        users: Literal["all"] | None = None,
        days: int = 30,
    ) -> Activity:
        params = _given(user_id=user_id, users=users, days=days)
        return _one(Activity, self._caller.get(f"/org/projects/{project_id}/activity", params=params))

    def user_activity(self, user_id: str, *, days: int = 30) -> Activity:
        return _one(Activity, self._caller.get(f"/v1/users/{segment(user_id)}/activity", params=_given(days=days)))

    def add_memories(
        self,
        session_id: str,
        contents: Sequence[str],
        *,
        categories: Sequence[str] = (),
        metadata: Mapping[str, object] | None = None,
        importance: float | None = None,
        idempotency_key: str | None = None,
    ) -> derived_shapes.Appended:
        given = _given(categories=list(categories) or None, metadata=metadata, importance=importance)
        body = {"session_id": session_id, "contents": contents, **given}
        answer = self._caller.post("/v1/memories", body, headers=_once(idempotency_key))
        return _one(derived_shapes.Appended, answer)

    def get_memory(self, memory_id: str) -> derived_shapes.Memory:
        return _one(derived_shapes.Memory, self._caller.get(f"/v1/memories/{memory_id}"))

    def correct_memory(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        importance: float | None = NO_NUMBER_GIVEN,
        expires_at: str | None = NOT_GIVEN,
        pinned: bool | None = None,
        categories: Sequence[str] | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> derived_shapes.Memory:
        body = _given(content=content, pinned=pinned, categories=categories, metadata=metadata)
        body |= {} if importance is NO_NUMBER_GIVEN else {"importance": importance}
        body |= {} if expires_at is NOT_GIVEN else {"expires_at": expires_at}
        return _one(derived_shapes.Memory, self._caller.patch(f"/v1/memories/{memory_id}", body))

    def retract_memory(self, memory_id: str) -> derived_shapes.Memory:
        return _one(derived_shapes.Memory, self._caller.post(f"/v1/memories/{memory_id}/retract"))

    def restore_memory(self, memory_id: str) -> derived_shapes.Memory:
        return _one(derived_shapes.Memory, self._caller.post(f"/v1/memories/{memory_id}/restore"))

    def memory_history(
        self, memory_id: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[derived_shapes.MemoryRevision]:
        answer = self._caller.get(f"/v1/memories/{memory_id}/history", params=_given(limit=limit, cursor=cursor))
        return _many(derived_shapes.MemoryRevision, answer)

    def forget_memory(self, memory_id: str, *, dry_run: bool = False) -> Removed:
        return _one(Removed, self._caller.delete(f"/v1/memories/{memory_id}{_tried(dry_run)}"))

    def entities(
        self,
        project_id: str,
        *,
        user_id: str | None = None,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[derived_shapes.Entity]:
        params = _given(user_id=user_id, limit=limit, after=after, cursor=cursor, filter=_text(filter))
        answer = self._caller.get("/v1/entities", params=params, headers={"X-Project-ID": project_id})
        return _many(derived_shapes.Entity, answer)

    def entity(self, entity_id: str) -> derived_shapes.EntityDetail:
        return _one(derived_shapes.EntityDetail, self._caller.get(f"/v1/entities/{entity_id}"))

    def entity_mentions(
        self,
        entity_id: str,
        *,
        limit: int = 50,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[derived_shapes.EntityMention]:
        params = _given(limit=limit, cursor=cursor, filter=_text(filter))
        answer = self._caller.get(f"/v1/entities/{entity_id}/mentions", params=params)
        return _many(derived_shapes.EntityMention, answer)

    def update_entity(
        self,
        entity_id: str,
        *,
        name: str | None = None,
        type: str | None = None,
        notes: str | None = None,
        aliases: Sequence[str] | None = None,
    ) -> derived_shapes.EntityDetail:
        body = _given(name=name, type=type, notes=notes, aliases=aliases)
        answer = self._caller.patch(f"/v1/entities/{entity_id}", body)
        return _one(derived_shapes.EntityDetail, answer)

    def delete_entity(self, entity_id: str, *, dry_run: bool = False) -> Removed:
        return _one(Removed, self._caller.delete(f"/v1/entities/{entity_id}{_tried(dry_run)}"))

    def merge_entity(self, entity_id: str, into: str) -> derived_shapes.EntityDetail:
        answer = self._caller.post(f"/v1/entities/{entity_id}/merge", {"into": into})
        return _one(derived_shapes.EntityDetail, answer)

    def split_entity(
        self,
        entity_id: str,
        *,
        aliases: Sequence[str] | None = None,
        message_ids: Sequence[str] | None = None,
        name: str | None = None,
    ) -> derived_shapes.EntityDetail:
        body = _given(aliases=aliases, message_ids=message_ids, name=name)
        answer = self._caller.post(f"/v1/entities/{entity_id}/split", body)
        return _one(derived_shapes.EntityDetail, answer)

    def restore_entity(self, entity_id: str) -> derived_shapes.EntityDetail:
        return _one(derived_shapes.EntityDetail, self._caller.post(f"/v1/entities/{entity_id}/restore"))

    def retag_entity(self, entity_id: str, project_id: str, *, user_id: str | None = None) -> derived_shapes.Entity:
        body = _given(project_id=project_id, user_id=user_id)
        return _one(derived_shapes.Entity, self._caller.patch(f"/v1/entities/{entity_id}", body))

    def observations(
        self,
        session_id: str,
        *,
        limit: int = 50,
        after: str | None = None,
        cursor: str | None = None,
        filter: Mapping[str, object] | None = None,
    ) -> Page[derived_shapes.Observation]:
        params = _given(limit=limit, after=after, cursor=cursor, filter=_text(filter))
        answer = self._caller.get(f"{_session(session_id)}/observations", params=params)
        return _many(derived_shapes.Observation, answer)

    def preview_extraction(
        self, messages: Sequence[Mapping[str, Any]], *, project_id: str | None = NOT_GIVEN
    ) -> preview_shapes.ExtractionPreview:
        named = {} if project_id is NOT_GIVEN else {"project_id": project_id}
        return _one(
            preview_shapes.ExtractionPreview,
            self._caller.post("/v1/extract/preview", {"messages": list(messages), **named}),
        )

    def extract(self, session_id: str) -> derived_shapes.Extraction:
        return _one(derived_shapes.Extraction, self._caller.post(f"{_session(session_id)}/extract"))


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _text(filter: Mapping[str, object] | None) -> str | None:
    return None if filter is None else json.dumps(filter)


def _once(key: str | None) -> dict[str, str]:
    return {} if key is None else {"Idempotency-Key": key}


def _session(session_id: str) -> str:
    return f"/v1/sessions/{segment(session_id)}"


def _read(answer: httpx2.Response) -> Any:
    if answer.status_code == 204:
        return None
    read = answer.json()
    if answer.is_success:
        return read
    assert answer.headers["content-type"] == "application/problem+json"
    assert read["status"] == answer.status_code
    raise refusal(read["code"], read["detail"])


def _tried(dry_run: bool) -> str:
    return "?dry_run=true" if dry_run else ""


def _one(kind: type[T], answer: httpx2.Response) -> T:
    return TypeAdapter(kind).validate_python(_read(answer))


def _many(kind: type[T], answer: httpx2.Response) -> Page[T]:
    read = _read(answer)
    return Page((TypeAdapter(kind).validate_python(entry) for entry in read["data"]), read.get("next_cursor"))


def _expected(project_id: str | None, user_id: str | None) -> dict[str, object]:
    return _given(project_id=None if project_id is NOT_GIVEN else project_id or "none", user_id=user_id)
