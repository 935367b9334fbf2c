"""Routes that read and change one memory (MEM-13): get, correct, retract, restore, and its history."""

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.identifiers import format_key_id, parse_memory_id
from cloister.domain.timestamps import parse_iso
from cloister.interfaces.http.dispatch.callers import Caller, NoBody, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import Cursor, Limit, MemoryName, Wait, wait_until_indexed
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import RevisionPage, answer
from cloister.interfaces.python import derived_shapes as shapes
from cloister.services.memories.corrections import MemoryChange

router = APIRouter(route_class=GuardedRoute, tags=["Memories"])


@router.get("/v1/memories/{memory_id}", response_model=shapes.Memory)
@needs("read")
def get_memory(memory_id: MemoryName, caller: Caller) -> Response:
    """Return one memory, whatever its status."""
    return answer(shapes.memory_shape(caller.services.corrections.get(caller.reach, parse_memory_id(memory_id))))


@router.patch("/v1/memories/{memory_id}", response_model=shapes.Memory)
@needs("write")
def correct_memory(memory_id: MemoryName, body: bodies.MemoryChange, caller: Caller, wait: Wait = None) -> Response:
    """Correct a memory, pin it, or let it expire. No extraction overwrites or supersedes a memory that was corrected or pinned.
    Needs the permission `read` too, since the answer contains the memory."""
    caller.key.require("read")
    expires_at = None if body.expires_at is None else parse_iso(body.expires_at, "expires_at")
    change = MemoryChange(
        given=frozenset(body.model_fields_set - ({"content"} if body.content is None else set())),
        content=body.content,
        importance=body.importance,
        expires_at=expires_at,
        pinned=body.pinned,
        categories=body.categories,
        metadata=body.metadata,
    )
    changed = caller.services.corrections.correct(
        caller.reach, parse_memory_id(memory_id), change, by=format_key_id(caller.key.id)
    )
    wait_until_indexed(caller.services, wait)
    return answer(shapes.memory_shape(changed))


@router.post("/v1/memories/{memory_id}/retract", response_model=shapes.Memory)
@needs("write")
def retract_memory(memory_id: MemoryName, caller: Caller, _: NoBody) -> Response:
    """Retract a memory that was never true. It is no longer recalled, no extraction brings it back, and what it superseded is true
    again. It stays in lists, with its status, until it is deleted. Needs the permission `read` too."""
    caller.key.require("read")
    retracted = caller.services.corrections.retract(
        caller.reach, parse_memory_id(memory_id), by=format_key_id(caller.key.id)
    )
    return answer(shapes.memory_shape(retracted))


@router.post("/v1/memories/{memory_id}/restore", response_model=shapes.Memory)
@needs("write")
def restore_memory(memory_id: MemoryName, caller: Caller, _: NoBody) -> Response:
    """Undo the last correction or retraction of a memory, within a day of it. Needs the permission `read` too."""
    caller.key.require("read")
    restored = caller.services.corrections.restore(
        caller.reach, parse_memory_id(memory_id), by=format_key_id(caller.key.id)
    )
    return answer(shapes.memory_shape(restored))


@router.get("/v1/memories/{memory_id}/history", response_model=RevisionPage)
@needs("read")
def memory_history(memory_id: MemoryName, caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Response:
    """List the changes of a memory, oldest first: who made each, when, and what was before. The first is its creation."""
    listing = Listing("history of a memory", caller.reach.tenant, memory_id)
    found = caller.services.corrections.history(
        caller.reach, parse_memory_id(memory_id), limit=limit + 1, after=listing.pair(cursor)
    )
    return listing.answer(
        RevisionPage, found, limit, shape=shapes.revision_shape, key=lambda revision: (revision.changed_at, revision.id)
    )
