"""The bodies of requests of LangGraph's clients to its store, and of Cloister's own route for batches. Values are checked by the
domain, for every interface alike."""

from typing import Annotated, Any, Literal

from pydantic import Field

from cloister.domain.entries.operations import MOST_OPERATIONS
from cloister.interfaces.http.resources.bodies import Body, Name, ProjectId, Whole

_MOST_LABELS = 1_000
Labels = Annotated[
    list[str],
    Field(
        max_length=_MOST_LABELS, description="Labels from the outermost inward: not empty, without full stop and NUL."
    ),
]


class PutItem(Body):
    namespace: Labels
    key: str
    value: dict[str, Any]
    index: Annotated[list[str], Field(max_length=_MOST_LABELS)] | Literal[False] | None = None
    ttl: float | None = None


class DeleteItem(Body):
    namespace: Labels
    key: str


class SearchItems(Body):
    namespace_prefix: Labels
    filter: dict[str, Any] | None = None
    limit: Whole = 10
    offset: Whole = 0
    query: str | None = None
    refresh_ttl: bool | None = None


class SearchNamespaces(Body):
    prefix: Labels | None = None
    suffix: Labels | None = None
    max_depth: Whole | None = None
    limit: Whole = 100
    offset: Whole = 0


class EntryOperations(Body):
    project_id: ProjectId | None = Field(
        default=None,
        description="Without it: the project of the request, else the default project. `null`: no project.",
    )
    user_id: Name | None = Field(default=None, description="Whose entries. Without it: those of no user.")
    operations: list[dict[str, Any]] = Field(
        description="Each has an `op`: `get`, `put`, `delete` (`namespace`, `key`), `search` (`namespace_prefix`), "
        "`list` (`namespace`; in order of keys, on from `after`), `list_namespaces`, `delete_expired`, or `expect` (`namespace`, "
        "`key`, `value`): unless the entry has this value, or is missing for `null`, nothing is written, and the answer is 409.",
        max_length=MOST_OPERATIONS,
    )
