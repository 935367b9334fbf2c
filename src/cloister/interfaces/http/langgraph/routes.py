"""`/langgraph/store`: the routes that the store of LangGraph's SDK calls, `get_client(url="…/langgraph").store`. The key and the
headers X-Project-ID and X-User-ID decide whose items they are; namespaces are data inside that."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cloister.domain.entries.entry import EntryScope
from cloister.domain.entries.operations import (
    Operation,
    delete_entry,
    get_entry,
    list_namespaces,
    put_entry,
    search_entries,
)
from cloister.domain.errors import Unauthenticated
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, Checked, needs, with_bearer
from cloister.interfaces.http.dispatch.routes import GuardedRoute
from cloister.interfaces.http.langgraph.bodies import DeleteItem, PutItem, SearchItems, SearchNamespaces
from cloister.interfaces.http.resources.answers import nothing
from cloister.interfaces.python.entries.operations import result_shape

_ITEMS = "/langgraph/store/items"


class EntryRoute(GuardedRoute):
    """Runs on threads, and not with the short reads, which run one after another: a search may read a whole part of the
    store."""

    async def _run(self, request: Request, body: bytes) -> Response:
        return await self.queued(request, lambda: self._answer(request, body))


class LangGraphRoute(EntryRoute):
    """Admits API keys only, as `Authorization: Bearer` or as `X-Api-Key`, which is how the SDK sends its `api_key`. Errors are
    problems: the SDK reads their `detail` and `code`."""

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["headers"] = with_bearer(scope["headers"])
        await super()._serve(scope, receive, send)

    def _admit(self, request: Request, checked: Checked | None) -> None:
        if "authorization" not in request.headers:
            raise Unauthenticated
        super()._admit(request, checked)


router = APIRouter(route_class=LangGraphRoute, tags=["LangGraph"], include_in_schema=False)
Key = Annotated[str | None, Query()]
Labels = Annotated[str | None, Query(description="Labels, joined by full stops.")]
RefreshTtl = Annotated[bool | None, Query()]


@router.put(_ITEMS)
@needs("write")
def put_item(body: PutItem, caller: Caller) -> Response:
    """Store an item, or replace it."""
    put = put_entry(body.namespace, body.key, body.value, ttl=body.ttl, index=body.index)
    _run(caller, put)
    return nothing()


@router.get(_ITEMS)
@needs("read")
def get_item(caller: Caller, key: Key = None, namespace: Labels = None, refresh_ttl: RefreshTtl = None) -> Response:
    """Return an item, or null if there is none, as LangGraph's server does."""
    labels = [] if namespace is None else namespace.split(".")
    return _json(_run(caller, get_entry(labels, key or "", refresh=refresh_ttl is not False)))


@router.delete(_ITEMS)
@needs("write")
def delete_item(body: DeleteItem, caller: Caller) -> Response:
    """Delete an item; it is no error if there is none."""
    _run(caller, delete_entry(body.namespace, body.key))
    return nothing()


@router.post(f"{_ITEMS}/search")
@needs("read")
def search_items(body: SearchItems, caller: Caller) -> Response:
    """Search the items of all namespaces that begin with these labels."""
    search = search_entries(
        body.namespace_prefix,
        filter=body.filter,
        limit=body.limit,
        offset=body.offset,
        query=body.query,
        refresh=body.refresh_ttl is not False,
    )
    found: list[dict[str, Any]] = _run(caller, search)
    return _json({"items": [{"score": None, **item} for item in found]})


@router.post("/langgraph/store/namespaces")
@needs("read")
def search_namespaces(body: SearchNamespaces, caller: Caller) -> Response:
    """List namespaces, in order."""
    listing = list_namespaces(
        [("prefix", body.prefix or ()), ("suffix", body.suffix or ())],
        max_depth=body.max_depth,
        limit=body.limit,
        offset=body.offset,
    )
    return _json({"namespaces": _run(caller, listing)})


def _run(caller: CallerInfo, operation: Operation) -> Any:
    scope = EntryScope(project=caller.project(required=False), user=caller.reach.user)
    (result,) = caller.services.entries.run(caller.reach, scope, [operation], may_refresh=may_write(caller))
    return result_shape(result)


def may_write(caller: CallerInfo) -> bool:
    return not {"write", "admin"}.isdisjoint(caller.key.permissions)


def _json(body: Any) -> Response:
    return Response(json.dumps(body, ensure_ascii=False), media_type="application/json")
