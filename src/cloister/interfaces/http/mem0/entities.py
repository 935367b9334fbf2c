"""`/mem0`: users, agents, apps and runs, which mem0 calls entities: list them, and delete one with all that belongs to it."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.responses import Response

from cloister.domain.conversation import Session
from cloister.domain.errors import NotFound
from cloister.domain.sessions.fields import SessionFilter
from cloister.domain.text import checked_name
from cloister.domain.timestamps import iso
from cloister.interfaces.http.dispatch.callers import Caller, needs
from cloister.interfaces.http.mem0.dispatch import Mem0Route, as_json
from cloister.interfaces.http.mem0.errors import PREFIX, NotSupported
from cloister.interfaces.http.mem0.filters import EVERYTHING
from cloister.interfaces.http.mem0.memories import LABELS, run_of
from cloister.interfaces.http.mem0.pages import Page, PageNumber, PageSize
from cloister.interfaces.http.mem0.routes import delete_selected
from cloister.interfaces.http.mem0.scopes import ProjectScope, entity_filter, scope_of
from cloister.interfaces.http.mem0.selection import of_part

ENTITIES = f"{PREFIX}/v1/entities/"
ENTITY = "entities/{type}/{name}/"
TYPES = ("user", "agent", "app", "run")
MOST_ENTITIES = 1_000
"""The most users, and the most runs, that are listed."""
_PAGE = 200
EntityType = Annotated[str, Path()]
EntityName = Annotated[str, Path()]

router = APIRouter(route_class=Mem0Route, tags=["mem0"], include_in_schema=False)


@router.get(ENTITIES)
@needs("read")
def list_mem0_entities(caller: Caller, page: PageNumber = 1, page_size: PageSize | None = None) -> Response:
    """List the users and runs of the project that the key reaches, and the agents and apps of memories without a user. Without
    `page_size` all of them are on one page, since clients delete what is on the first."""
    found = list(_entities(scope_of(caller)))
    shown = Page(ENTITIES, page, page_size or max(1, len(found)))
    return as_json(shown.of(shown.slice(found), len(found)))


@router.delete(f"{PREFIX}/v2/{ENTITY}")
@needs("write")
def delete_mem0_entity(type: EntityType, name: EntityName, caller: Caller) -> Response:
    """Delete an entity in the project: of a user and of a run the sessions, with messages and memories; of an agent and of an app
    the memories."""
    return _deleted(scope_of(caller), type, name)


@router.delete(f"{PREFIX}/v1/{ENTITY}")
@needs("write")
def delete_mem0_entity_v1(type: EntityType, name: EntityName, caller: Caller) -> Response:
    """The same, as `deleteUser` of the TypeScript client asks for it."""
    return _deleted(scope_of(caller), type, name)


def _entities(scope: ProjectScope) -> Iterator[dict[str, Any]]:
    for user in scope.services.sessions.users(scope.reach, scope.project, limit=MOST_ENTITIES):
        yield _shape("user", user.user_id, user.memories, user.created_at, user.updated_at)
    for session in _sessions(scope, None, MOST_ENTITIES):
        if run_of(session.external_id) is not None:
            yield _shape("run", session.external_id, session.memory_count, session.created_at, session.updated_at)
    labels: dict[tuple[str, str], list[int]] = {}
    for record in of_part(scope, scope.reach.user, EVERYTHING):
        for label in LABELS:
            if isinstance(name := record.metadata.get(label), str):
                labels.setdefault((label.removesuffix("_id"), name), []).append(record.created_at)
    for (kind, name), times in sorted(labels.items()):
        yield _shape(kind, name, len(times), min(times), max(times))


def _shape(kind: str, name: str, memories: int, created_at: int, updated_at: int) -> dict[str, Any]:
    return {
        "id": f"{kind}:{name}",
        "name": name,
        "type": kind,
        "total_memories": memories,
        "created_at": iso(created_at),
        "updated_at": iso(updated_at),
    }


def _deleted(scope: ProjectScope, kind: str, name: str) -> Response:
    if kind not in TYPES:
        raise NotSupported(f"The type {kind[:64]!r}", TYPES)
    if kind in ("agent", "app"):
        memories = delete_selected(scope, entity_filter({f"{kind}_id": name}))
        return _answer(sessions=0, memories=memories)
    if kind == "run":
        return _delete_sessions(scope, [name])
    users = scope.every_user() if name == "*" else [name]
    names = [
        session.external_id
        for user in users
        if user is not None
        for session in _sessions(scope, checked_name(user, "user_id"), None)
    ]
    return _delete_sessions(scope, names)


def _delete_sessions(scope: ProjectScope, names: list[str]) -> Response:
    """Delete sessions one after another. One that is missing, out of reach, or deleted meanwhile is passed over."""
    sessions = memories = 0
    for name in names:
        try:
            memories += scope.services.forgetting.session(scope.reach, name).memories
            sessions += 1
        except NotFound:
            continue
    return _answer(sessions=sessions, memories=memories)


def _answer(*, sessions: int, memories: int) -> Response:
    message = "Entity deleted successfully!" if sessions or memories else "There was nothing of this entity here."
    return as_json({"message": message, "sessions": sessions, "memories": memories})


def _sessions(scope: ProjectScope, user: str | None, limit: int | None) -> Iterator[Session]:
    """The sessions of the project within reach, newest activity first."""
    before: tuple[int, int] | None = None
    count = 0
    while True:
        found = scope.services.sessions.page(
            scope.reach,
            limit=_PAGE,
            project=scope.project,
            any_project=False,
            wanted=SessionFilter(user_id=user),
            before=before,
        )
        for session in found:
            if limit is not None and count >= limit:
                return
            count += 1
            yield session
        if len(found) < _PAGE:
            return
        before = (found[-1].updated_at, found[-1].id)
