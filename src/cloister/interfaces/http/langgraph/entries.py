"""Batches of operations on entries: what the library calls at a server, for `CloisterStore` and others."""

from fastapi import APIRouter
from starlette.responses import Response

from cloister.domain.entries.entry import EntryScope
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import parse_project_id
from cloister.interfaces.http.dispatch.callers import Caller, CallerInfo, needs
from cloister.interfaces.http.langgraph.bodies import EntryOperations
from cloister.interfaces.http.langgraph.routes import EntryRoute, may_write
from cloister.interfaces.http.resources.answers import answer
from cloister.interfaces.http.resources.write_only import may_read
from cloister.interfaces.python.entries.backends import READ_PATH, WRITE_PATH, EntryResults
from cloister.interfaces.python.entries.operations import EntryBatch, read_batch, result_shape

router = APIRouter(route_class=EntryRoute, tags=["Entries"])


@router.post(READ_PATH, response_model=EntryResults)
@needs("read")
def read_entries(body: EntryOperations, caller: Caller) -> Response:
    """Get and search entries of the key-value store, and list its namespaces. One result for each operation: an entry or null, or a
    list. An entry with a time to live is kept longer by being read, if the key may write."""
    batch = read_batch(body.operations)
    if batch.writes:
        raise InvalidRequest("operations", f"has one that writes: send it to {WRITE_PATH}.")
    return _answer(body, caller, batch)


@router.post(WRITE_PATH, response_model=EntryResults)
@needs("write")
def write_entries(body: EntryOperations, caller: Caller) -> Response:
    """Put and delete entries of the key-value store, all or none, after the reads of the same batch, which need the permission
    `read` too."""
    batch = read_batch(body.operations)
    if batch.reads:
        caller.key.require("read")
    return _answer(body, caller, batch)


def _answer(body: EntryOperations, caller: CallerInfo, batch: EntryBatch) -> Response:
    if "project_id" not in body.model_fields_set:
        project = caller.project(required=False)
    else:
        project = None if body.project_id is None else parse_project_id(body.project_id)
    scope = EntryScope(project=project, user=body.user_id)
    results = caller.services.entries.run(caller.reach, scope, batch.parsed, may_refresh=may_write(caller))
    if not may_read(caller):
        results = [None] * len(results)
    return answer(EntryResults(data=[result_shape(result) for result in results]))
