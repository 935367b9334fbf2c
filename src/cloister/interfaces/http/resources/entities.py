"""Entities: the named people and things of a project, and what people do with them (MEM-17)."""

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_entity_id, parse_message_id, parse_project_id
from cloister.domain.recall.filter_language import filter_identity, parse_filter_text
from cloister.interfaces.http.certificates.answers import check_dry_run, removed_answer
from cloister.interfaces.http.dispatch.callers import Caller, NoBody, needs
from cloister.interfaces.http.dispatch.cursors import Listing
from cloister.interfaces.http.dispatch.parameters import (
    AfterEntity,
    Cursor,
    DryRun,
    EntitiesOf,
    EntitiesOfUser,
    EntityName,
    FilterText,
    Limit,
    Wait,
    wait_until_indexed,
)
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.resources import bodies
from cloister.interfaces.http.resources.answers import EntityPage, MentionPage, answer
from cloister.interfaces.python import derived_shapes as shapes
from cloister.interfaces.python.certificates.shapes import Removed
from cloister.services.memories.entities import EntityDetail
from cloister.services.memories.entity_changes import Correction, EntitySplit

_KEPT = "leave it out to keep it as it is."
_NOT_NULL = {
    "name": _KEPT,
    "type": _KEPT,
    "notes": "leave it out to keep the notes, or give an empty text to remove them.",
    "aliases": _KEPT,
    "project_id": "an entity is always in a project.",
}

router = APIRouter(route_class=GuardedRoute, tags=["Entities"])


@router.get("/v1/entities", response_model=EntityPage)
@needs("read")
def list_entities(
    caller: Caller,
    project_id: EntitiesOf = None,
    user_id: EntitiesOfUser = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    after: AfterEntity = None,
    filter: FilterText = None,
) -> Response:
    """List the entities of the project of the request, or of the project `project_id`, oldest first. Entities exist in projects
    only."""
    project = caller.project(required=True) if project_id is None else parse_project_id(project_id)
    wanted = None if filter is None else parse_filter_text(filter)
    listing = Listing("entities", caller.reach.tenant, project, user_id, *filter_identity(wanted))
    after_key, behind = listing.pair(cursor), None if after is None else parse_entity_id(after)
    found = caller.services.entities.page(
        caller.reach,
        project,
        user_id=user_id,
        limit=limit + 1,
        after=after_key,
        behind=None if after_key else behind,
        filter=wanted,
    )
    return listing.answer(
        EntityPage, found, limit, shape=shapes.entity_shape, key=lambda entity: (entity.created_at, entity.id)
    )


@router.get("/v1/entities/{entity_id}", response_model=shapes.EntityDetail)
@needs("read")
def get_entity(entity_id: EntityName, caller: Caller) -> Response:
    """Return an entity with the other names that it is known by, its relations to other entities, and the latest messages that
    mention it."""
    return answer(shapes.entity_detail_shape(caller.services.entities.get(caller.reach, parse_entity_id(entity_id))))


@router.get("/v1/entities/{entity_id}/mentions", response_model=MentionPage)
@needs("read")
def list_mentions(
    entity_id: EntityName, caller: Caller, limit: Limit = 50, cursor: Cursor = None, filter: FilterText = None
) -> Response:
    """List the messages that mention an entity, the last extracted first. Only those that are in the entity's project now, and in a
    project with private members in the same user's part."""
    entity = parse_entity_id(entity_id)
    wanted = None if filter is None else parse_filter_text(filter)
    listing = Listing("mentions of an entity", caller.reach.tenant, entity, *filter_identity(wanted))
    found = caller.services.entities.mentions(
        caller.reach, entity, limit=limit + 1, before=listing.pair(cursor), filter=wanted
    )
    return listing.answer(MentionPage, found, limit, shape=shapes.mention_shape, key=lambda mention: mention.cursor)


@router.patch("/v1/entities/{entity_id}", response_model=shapes.EntityDetail)
@needs("write")
def change_entity(entity_id: EntityName, body: bodies.EntityChange, caller: Caller, wait: Wait = None) -> Response:
    """Correct the name, type, notes or aliases of an entity, which no extraction changes back; or, in a request of its own, move it
    to another project with `project_id`. If that project has an entity of the same name, the two are merged under the id of that
    one. Needs the permission `read` too, since the answer contains the entity, and `admin` if the entity is moved to another user's
    part of a project."""
    caller.key.require("read")
    entity, given = parse_entity_id(entity_id), body.model_fields_set
    correction = Correction(name=body.name, type=body.type, notes=body.notes, aliases=body.aliases)
    for field, hint in _NOT_NULL.items():
        if field in given and getattr(body, field) is None:
            raise InvalidRequest(field, f"must not be null: {hint}")
    if body.project_id is None:
        if "user_id" in given and body.user_id is not None:
            raise InvalidRequest(
                "user_id", "goes with project_id: it says to whose part of a project the entity is moved."
            )
        changed = caller.services.entity_changes.correct(caller.reach, entity, correction)
    elif correction != Correction():
        raise InvalidRequest(
            "project_id", "cannot be changed together with other fields: move the entity in another request."
        )
    else:
        project = parse_project_id(body.project_id)
        is_admin = "admin" in caller.key.permissions
        changed = caller.services.entities.retag(caller.reach, entity, project, user_id=body.user_id, is_admin=is_admin)
    return _answer(caller, changed, wait)


@router.delete("/v1/entities/{entity_id}", response_model=Removed)
@needs("write")
def delete_entity(entity_id: EntityName, caller: Caller, dry_run: DryRun = False) -> Response:
    """Delete an entity. The messages that mention it stay. It can be restored for a day; then it is removed. A message that
    mentions it later makes a new entity. With `dry_run=true` nothing is changed; this needs the permission `read` too."""
    tried = check_dry_run(caller, dry_run)
    gone = caller.services.entity_changes.delete(caller.reach, parse_entity_id(entity_id), dry_run=tried)
    return answer(removed_answer(caller, gone, dry_run=tried))


@router.post("/v1/entities/{entity_id}/merge", response_model=shapes.EntityDetail)
@needs("write")
def merge_entity(entity_id: EntityName, body: bodies.EntityMerge, caller: Caller, wait: Wait = None) -> Response:
    """Make an entity part of another one of the same project, `into`, whose id and name stay. Needs the permission `read` too."""
    caller.key.require("read")
    merged = caller.services.entity_changes.merge(caller.reach, parse_entity_id(entity_id), parse_entity_id(body.into))
    return _answer(caller, merged, wait)


@router.post("/v1/entities/{entity_id}/split", response_model=shapes.EntityDetail)
@needs("write")
def split_entity(entity_id: EntityName, body: bodies.EntitySplit, caller: Caller, wait: Wait = None) -> Response:
    """Split off aliases, or the mentions in some messages under a new name, as an entity of their own, which is the answer. Needs
    the permission `read` too."""
    caller.key.require("read")
    messages = None if body.message_ids is None else tuple(map(parse_message_id, body.message_ids))
    split = EntitySplit(aliases=body.aliases, message_ids=messages, name=body.name)
    return _answer(caller, caller.services.entity_changes.split(caller.reach, parse_entity_id(entity_id), split), wait)


@router.post("/v1/entities/{entity_id}/restore", response_model=shapes.EntityDetail)
@needs("write")
def restore_entity(entity_id: EntityName, caller: Caller, _: NoBody, wait: Wait = None) -> Response:
    """Undo the last merge, split or deletion of an entity, or with it, of the last day. What was forgotten since then stays
    forgotten. Needs the permission `read` too."""
    caller.key.require("read")
    return _answer(caller, caller.services.entity_undo.restore(caller.reach, parse_entity_id(entity_id)), wait)


def _answer(caller: Caller, detail: EntityDetail, wait: str | None) -> Response:
    wait_until_indexed(caller.services, wait)
    return answer(shapes.entity_detail_shape(detail))
