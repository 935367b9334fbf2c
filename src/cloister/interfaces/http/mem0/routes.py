"""`/mem0`: the routes for memories that mem0's `MemoryClient` calls, in Python and in TypeScript. Its paths end with a slash."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from cloister.domain.errors import InvalidRequest, TooLarge
from cloister.domain.identifiers import (
    MemoryId,
    format_key_id,
    format_project_id,
    format_tenant_id,
    parse_memory_id,
)
from cloister.domain.text import checked_limit
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.dispatch.parameters import MemoryName
from cloister.interfaces.http.mem0 import additions
from cloister.interfaces.http.mem0.bodies import (
    MOST_IN_BATCH,
    AddRequest,
    BatchDelete,
    BatchUpdate,
    ListRequest,
    SearchRequest,
    UpdateRequest,
    refuse_value,
)
from cloister.interfaces.http.mem0.dispatch import Mem0Route, PingRoute, as_json
from cloister.interfaces.http.mem0.errors import PREFIX, NotSupported
from cloister.interfaces.http.mem0.filters import Condition, Filter, all_of, day, moment, parse_filters
from cloister.interfaces.http.mem0.memories import LABELS, SHOWN, history_shape, labelled
from cloister.interfaces.http.mem0.pages import Page, PageNumber, PageSize
from cloister.interfaces.http.mem0.scopes import ProjectScope, entity_filter, scope_of
from cloister.interfaces.http.mem0.selection import best, record_of, selected
from cloister.services.memories.corrections import MemoryChange
from cloister.services.recall.search import HIGHEST_LIMIT

MEMORIES = f"{PREFIX}/v1/memories/"
MEMORY = f"{MEMORIES}{{memory_id}}/"
BATCH = f"{PREFIX}/v1/batch/"
LIST = f"{PREFIX}/v3/memories/"
_TOP_K = 10
_MOST_CHANGES = 1_000
_DAY = 24 * 3_600 * 1_000_000
Entity = Annotated[str | None, Query()]

router = APIRouter(route_class=Mem0Route, tags=["mem0"], include_in_schema=False)
ping_router = APIRouter(route_class=PingRoute, tags=["mem0"], include_in_schema=False)


@ping_router.get(f"{PREFIX}/v1/ping/")
@needs("read")
def ping(caller: Caller) -> Response:
    """Say that the key is valid, and which project it works in."""
    return as_json(
        {
            "status": "ok",
            "org_id": format_tenant_id(caller.reach.tenant),
            "project_id": format_project_id(caller.project(required=False)),
            "user_email": None,
        }
    )


@router.post(f"{LIST}add/")
@needs("write")
def add_messages(body: AddRequest, caller: Caller) -> Response:
    """Add memories: extracted from messages, or with `infer: false` the messages as they are."""
    body.refuse_unsupported()
    return as_json(additions.add(scope_of(caller), body))


@router.post(f"{LIST}search/")
@needs("read")
def search_memories(body: SearchRequest, caller: Caller) -> Response:
    """Find the memories that match a query best, among those that the filters let pass."""
    body.refuse_unsupported()
    refuse_value("rerank", body.rerank, only=False)
    refuse_value("keyword_search", body.keyword_search, only=True)
    _refuse_past(body)
    if body.output_format not in (None, "v1.1"):
        raise NotSupported("This output_format", "v1.1")
    for name in body.fields or ():
        if name not in SHOWN:
            raise NotSupported(f"The field {name[:64]!r}", SHOWN)
    if body.threshold is not None and not 0 <= body.threshold <= 1:
        raise InvalidRequest("threshold", "must be between 0 and 1.")
    found = best(
        scope_of(caller),
        _wanted(body),
        body.query,
        limit=_TOP_K if body.top_k is None else checked_limit(body.top_k, "top_k", HIGHEST_LIMIT, lowest=1),
        min_relevance=body.threshold,
        asked_at=None if body.reference_date is None else moment(body.reference_date, "reference_date"),
    )
    return as_json({"results": [record.shape(round(score, 4), body.fields) for record, score in found]})


@router.post(LIST)
@needs("read")
def get_all_memories(body: ListRequest, caller: Caller, page: PageNumber = 1, page_size: PageSize = 100) -> Response:
    """List the memories that the filters let pass, newest first."""
    body.refuse_unsupported()
    _refuse_past(body)
    shown = Page(LIST, page, page_size)
    found = selected(scope_of(caller), _wanted(body))
    return as_json(shown.of([record.shape() for record in shown.slice(found)], len(found)))


@router.delete(MEMORIES)
@needs("write")
def delete_all_memories(
    caller: Caller, user_id: Entity = None, agent_id: Entity = None, app_id: Entity = None, run_id: Entity = None
) -> Response:
    """Delete all memories of these entities, whatever their status. Messages stay."""
    named = {"user_id": user_id, "agent_id": agent_id, "app_id": app_id, "run_id": run_id}
    count = delete_selected(scope_of(caller), entity_filter(named), "user_id")
    return as_json({"message": "Memories deleted successfully!", "deleted": count})


@router.get(MEMORY)
@needs("read")
def get_one_memory(memory_id: MemoryName, caller: Caller) -> Response:
    """Return one memory, whatever its status."""
    return as_json(record_of(scope_of(caller), parse_memory_id(memory_id)).shape())


@router.put(MEMORY)
@needs("write")
def update_memory(memory_id: MemoryName, body: UpdateRequest, caller: Caller) -> Response:
    """Change the text, the metadata or the day of expiry of a memory. Needs the permission `read` too, since the answer contains
    the memory."""
    body.refuse_unsupported()
    caller.key.require("read")
    scope, memory = scope_of(caller), parse_memory_id(memory_id)
    _update(scope, memory, body)
    return as_json(record_of(scope, memory).shape())


@router.delete(MEMORY)
@needs("write")
def delete_memory(memory_id: MemoryName, caller: Caller, delete_linked: bool = False) -> Response:
    """Delete one memory. Its messages stay; an older memory that it superseded is true again."""
    refuse_value("delete_linked", delete_linked, only=False)
    caller.services.memories.forget(scope_of(caller).reach, parse_memory_id(memory_id))
    return as_json({"message": "Memory deleted successfully!"})


@router.get(f"{MEMORY}history/")
@needs("read")
def list_memory_changes(memory_id: MemoryName, caller: Caller) -> Response:
    """List the changes of a memory, oldest first. The first is its creation."""
    scope, memory = scope_of(caller), parse_memory_id(memory_id)
    revisions = caller.services.corrections.history(scope.reach, memory, limit=_MOST_CHANGES)
    return as_json(history_shape(revisions, caller.services.corrections.get(scope.reach, memory)))


@router.put(BATCH)
@needs("write")
def update_memories(body: BatchUpdate, caller: Caller) -> Response:
    """Change several memories, one after another. If one of them is missing, or a change cannot be made, the first that fails is
    the error; all ids are looked up before anything is changed. Needs the permission `read` too."""
    body.refuse_unsupported()
    caller.key.require("read")
    scope = scope_of(caller)
    changes = [(_named(entry), _change_of(entry)) for entry in _batch(body.memories)]
    for memory, _ in changes:
        caller.services.corrections.get(scope.reach, memory)
    for memory, change in changes:
        _update(scope, memory, change)
    return as_json({"message": f"Successfully updated {len(changes)} memories"})


@router.delete(BATCH)
@needs("write")
def delete_memories(body: BatchDelete, caller: Caller) -> Response:
    """Delete several memories in one transaction. If one of them is missing, none is deleted."""
    body.refuse_unsupported()
    scope = scope_of(caller)
    memories = [_named(entry) for entry in _batch(body.memories)]
    for entry in body.memories:
        if unknown := entry.keys() - {"memory_id"}:
            raise NotSupported(f"The field {min(unknown)[:64]!r}", ["memory_id"])
    for memory in memories:
        caller.services.corrections.get(scope.reach, memory)
    caller.services.memories.forget_each(scope.reach, memories)
    return as_json({"message": f"Successfully deleted {len(memories)} memories"})


def delete_selected(scope: ProjectScope, wanted: Filter, field: str = "filters") -> int:
    """Delete the memories that a filter lets pass, a hundred in a transaction; returns how many there were."""
    found = [record.id for record in selected(scope, wanted, with_past=True, field=field)]
    for begin in range(0, len(found), MOST_IN_BATCH):
        scope.services.memories.forget_each(scope.reach, found[begin : begin + MOST_IN_BATCH])
    return len(found)


def _wanted(body: SearchRequest | ListRequest) -> Filter:
    """The filters of a request, with the conditions that clients send as options."""
    named = None if body.filters is None else parse_filters(body.filters)
    categories = (
        None if body.categories is None else parse_filters({"categories": {"in": body.categories}}, "categories")
    )
    dates: list[Condition] = []
    if isinstance(body, ListRequest):
        for name, operator, given in (("start_date", "gte", body.start_date), ("end_date", "lte", body.end_date)):
            if given is not None:
                dates.append(Condition("created_at", None, operator, moment(given, name)))
    return all_of(named, categories, *dates)


def _refuse_past(body: SearchRequest | ListRequest) -> None:
    refuse_value("latest_only", body.latest_only, only=True)
    refuse_value("show_expired", body.show_expired, only=False)


def _update(scope: ProjectScope, memory: MemoryId, body: UpdateRequest) -> None:
    """The agent and the app of a memory stay, since they are not part of what a client calls its metadata."""
    given: dict[str, Any] = {}
    if body.text is not None:
        given["content"] = body.text
    if body.metadata is not None:
        now = scope.services.corrections.get(scope.reach, memory).memory.metadata
        kept = {name: value for name in LABELS if isinstance(value := now.get(name), str)}
        given["metadata"] = labelled(body.metadata, kept.get("agent_id"), kept.get("app_id"))
    if "expiration_date" in body.model_fields_set:
        # The memory is true until the end of that day, as in mem0.
        date = body.expiration_date
        given["expires_at"] = None if date is None else day(date, "expiration_date") + _DAY
    if not given:
        raise InvalidRequest("text", "is missing, as are metadata and expiration_date: give at least one of them.")
    change = MemoryChange(given=frozenset(given), **given)
    scope.services.corrections.correct(scope.reach, memory, change, by=format_key_id(scope.caller.key.id))


def _batch(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not given:
        raise InvalidRequest("memories", "must not be empty.")
    if len(given) > MOST_IN_BATCH:
        raise TooLarge("memories", len(given), MOST_IN_BATCH, "memories")
    return given


def _named(entry: dict[str, Any]) -> MemoryId:
    name = entry.get("memory_id")
    if not isinstance(name, str):
        raise InvalidRequest("memories", "must be a list of objects, each with a memory_id.")
    return parse_memory_id(name)


def _change_of(entry: dict[str, Any]) -> UpdateRequest:
    rest = {name: value for name, value in entry.items() if name != "memory_id"}
    for name, kind in (("text", str), ("metadata", dict), ("expiration_date", str)):
        if rest.get(name) is not None and not isinstance(rest[name], kind):
            raise InvalidRequest(f"memories.{name}", "has a wrong type.")
    change = UpdateRequest.model_validate(rest)
    change.refuse_unsupported()
    return change
