"""Memories and observations: what is derived from messages."""

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.identifiers import parse_memory_id, parse_observation_id, parse_project_id
from cloister.domain.memory import StoredMemory
from cloister.domain.recall.filter_language import filter_identity, parse_filter_text
from cloister.interfaces.http.certificates.answers import check_dry_run, removed_answer
from cloister.interfaces.http.dispatch.callers import Caller, NoBody, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import (
    AfterMemory,
    AfterObservation,
    Cursor,
    DryRun,
    FilterText,
    IdempotencyKey,
    Limit,
    MemoryName,
    OfStatus,
    SessionId,
    UserId,
    Wait,
    wait_until_indexed,
)
from cloister.interfaces.http.dispatch.routes import THREADS, GuardedRoute
from cloister.interfaces.http.dispatch.tenant_limit import TenantConcurrencyLimit
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import MemoryPage, ObservationPage, answer
from cloister.interfaces.http.resources.write_only import appended_answer
from cloister.interfaces.python import derived_shapes as shapes
from cloister.interfaces.python.arguments import draft_of, of_each
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.interfaces.python.preview_shapes import ExtractionPreview, extraction_preview_shape
from cloister.services.memories.truth.additions import checked_labels

# Extraction waits for a slow model, so it may use half of the threads that answer requests, and one tenant a quarter of that half.
extracting = TenantConcurrencyLimit(of_all=THREADS // 2, of_one=THREADS // 8)

router = APIRouter(route_class=GuardedRoute, tags=["Memories"])


@router.get("/v1/sessions/{external_id}/memories", response_model=MemoryPage)
@needs("read")
def list_memories(
    external_id: SessionId,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    after: AfterMemory = None,
    filter: FilterText = None,
    status: OfStatus = None,
) -> Response:
    """List the memories of a session, oldest first, whatever their status."""
    wanted = None if filter is None else parse_filter_text(filter)
    listing = Listing("memories of a session", caller.reach.tenant, external_id, status, *filter_identity(wanted))
    after_key, behind = listing.pair(cursor), None if after is None else parse_memory_id(after)
    found = caller.services.memories.of_session(
        caller.reach,
        external_id,
        limit=limit + 1,
        after=after_key,
        behind=None if after_key else behind,
        filter=wanted,
        status=status,
    )
    return _memory_page(found, limit, listing)


@router.get("/v1/users/{user_id}/memories", response_model=MemoryPage)
@needs("admin")
def list_user_memories(
    user_id: UserId,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    after: AfterMemory = None,
    filter: FilterText = None,
    status: OfStatus = None,
) -> Response:
    """List the memories of a user, merged across sessions, oldest first, for display and audit: in the project that the header or
    the key names, else in all."""
    reach = caller.narrowed_reach()
    wanted = None if filter is None else parse_filter_text(filter)
    listing = Listing("memories of a user", reach.tenant, reach.confined_to, user_id, status, *filter_identity(wanted))
    after_key, behind = listing.pair(cursor), None if after is None else parse_memory_id(after)
    found = caller.services.memories.of_user(
        reach,
        user_id,
        limit=limit + 1,
        after=after_key,
        behind=None if after_key else behind,
        filter=wanted,
        status=status,
    )
    return _memory_page(found, limit, listing)


@router.post("/v1/memories", status_code=201, response_model=shapes.Appended)
@needs("write")
def add_memories(
    body: bodies.NewMemories, caller: Caller, idempotency_key: IdempotencyKey = None, wait: Wait = None
) -> Response:
    """Add memories by hand. One that the session has already, apart from case, spacing or punctuation, is counted and not added.
    `categories`, `metadata` and `importance` are those of each that is added."""
    labels = checked_labels(categories=body.categories, metadata=body.metadata, importance=body.importance)
    appended = caller.services.memories.add(
        caller.reach, body.session_id, body.contents, labels=labels, idempotency_key=idempotency_key
    )
    wait_until_indexed(caller.services, wait)
    return answer(appended_answer(caller, shapes.appended_shape(appended)), 201)


@router.delete("/v1/memories/{memory_id}", response_model=Removed)
@needs("write")
def forget_memory(memory_id: MemoryName, caller: Caller, dry_run: DryRun = False) -> Response:
    """Forget one memory. Its source messages stay, and memories are not extracted from them again. With `dry_run=true` nothing is
    changed; this needs the permission `read` too."""
    tried = check_dry_run(caller, dry_run)
    gone = caller.services.memories.forget(caller.reach, parse_memory_id(memory_id), dry_run=tried)
    return answer(removed_answer(caller, gone, dry_run=tried))


@router.post("/v1/sessions/{external_id}/extract", response_model=shapes.Extraction)
@needs("write")
def extract(external_id: SessionId, caller: Caller, _: NoBody, wait: Wait = None) -> Response:
    """Extract memories, entities and observations from new messages now, and answer when that is done. The server does so by itself
    after every few replies; if an extraction is running, this waits for its end, up to ten seconds."""
    with extracting.taken(caller.reach.tenant, "too many sessions are being extracted at once"):
        extracted = caller.services.extraction.extract_now(caller.reach, external_id)
    wait_until_indexed(caller.services, wait)
    return answer(shapes.extraction_shape(extracted))


@router.post("/v1/extract/preview", response_model=ExtractionPreview)
@needs("write")
def preview_extraction(body: bodies.ExtractionPreviewRequest, caller: Caller) -> Response:
    """Show what an extraction would keep of up to 1,000 messages in a project, and store nothing: with `project_id` in that
    project, with `null` in none, and without it in the project of the request, else in the default project. Needs the
    permission `read` too, since the answer shows what the project's settings keep."""
    caller.key.require("read")
    is_named = "project_id" in body.model_fields_set
    named = None if body.project_id is None else parse_project_id(body.project_id)
    project = named if is_named else caller.project(required=False)
    drafts = of_each(body.messages, lambda message: draft_of(**dict(message)))
    with extracting.taken(caller.reach.tenant, "too many sessions are being extracted at once"):
        found = caller.services.extraction_preview.preview(caller.reach, drafts, project)
    return answer(extraction_preview_shape(found))


@router.get("/v1/sessions/{external_id}/observations", response_model=ObservationPage)
@needs("read")
def list_observations(
    external_id: SessionId,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    after: AfterObservation = None,
    filter: FilterText = None,
) -> Response:
    """List the observations of a session, which summarise messages before its recent ones, in chronological order."""
    wanted = None if filter is None else parse_filter_text(filter)
    listing = Listing("observations", caller.reach.tenant, external_id, *filter_identity(wanted))
    after_key, behind = listing.pair(cursor), None if after is None else parse_observation_id(after)
    found = caller.services.observations.of_session(
        caller.reach, external_id, limit=limit + 1, after=after_key, behind=None if after_key else behind, filter=wanted
    )
    return listing.answer(
        ObservationPage,
        found,
        limit,
        shape=shapes.observation_shape,
        key=lambda stored: (stored.observation.said_at, stored.observation.id),
    )


def _memory_page(found: list[StoredMemory], limit: int, listing: Listing) -> Response:
    return listing.answer(
        MemoryPage,
        found,
        limit,
        shape=shapes.memory_shape,
        key=lambda stored: (stored.memory.created_at, stored.memory.id),
    )
