"""Parameters that several routes share: of paths, queries and headers."""

from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query

from cloister.bootstrap import Services
from cloister.domain.context import HIGHEST_BUDGET
from cloister.domain.memory import MemoryStatus
from cloister.domain.project_settings import MOST_RETENTION_DAYS
from cloister.interfaces.http.openapi import schemas
from cloister.interfaces.python.pages import Branch


def _query(description: str, schema: schemas.Schema) -> Any:
    return Query(description=description, json_schema_extra=schema)


def _path(description: str, schema: schemas.Schema) -> Any:
    return Path(description=description, json_schema_extra=schema)


def _after(item: str, schema: schemas.Schema) -> Any:
    return _query(f"Start after the {item} with this `id`.", schema)


Limit = Annotated[int, Query(ge=1, le=200, description="The largest number of items on a page.")]
Cursor = Annotated[str | None, _query("The `next_cursor` of the previous page.", schemas.CURSOR)]
After = Annotated[str | None, _after("message", schemas.MESSAGE_ID)]
Before = Annotated[
    str | None,
    _query("The page before the message with this `id`; `end`: the last page.", schemas.MESSAGE_OR_END),
]
Around = Annotated[str | None, _query("The page around the message with this `id`.", schemas.MESSAGE_ID)]
WithReceipts = Annotated[bool, Query(description="Whether `receipts` says how much each reply on the page was given.")]
AfterMemory = Annotated[str | None, _after("memory", schemas.MEMORY_ID)]
AfterEntity = Annotated[str | None, _after("entity", schemas.ENTITY_ID)]
AfterObservation = Annotated[str | None, _after("observation", schemas.OBSERVATION_ID)]
FilterText = Annotated[
    str | None,
    _query('Only items that this filter lets pass, as JSON such as `{"role": "user"}`.', schemas.FILTER_TEXT_MARK),
]
OfBranch = Annotated[
    Branch, Query(description="`all`: the messages of all branches of the session, and not only of its current one.")
]
OfStatus = Annotated[MemoryStatus | None, Query(description="Only memories with this status. Without it: all.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="A request that is repeated with the same key within 24 hours is executed once, and answered alike.",
        json_schema_extra=schemas.NAME,
    ),
]
Wait = Annotated[
    Literal["indexed"] | None, Query(description="`indexed`: answer only when recall can find what was stored.")
]
Contents = Annotated[
    Literal["keep", "delete"],
    Query(description="`keep`: what is in the project stays, in no project. `delete`: it is deleted too."),
]
DryRun = Annotated[bool, Query(description="`true`: change nothing, and answer what would happen.")]
RetentionDays = Annotated[
    int | None,
    Query(
        ge=0,
        le=MOST_RETENTION_DAYS,
        description="Only with `dry_run=true`: as if the setting were this number of days. A stricter one still applies.",
    ),
]
ProfileBudget = Annotated[
    int, Query(ge=0, le=HIGHEST_BUDGET, description="The largest size of `text`, in tokens of four characters.")
]
ProfileOf = Annotated[
    str | None,
    _query("Without it: the project of the request. `none`: no project.", schemas.PROJECT_OR_NONE),
]
SessionId = Annotated[str, _path("The session's `external_id`.", schemas.NAME)]
TenantName = Annotated[str, _path("`ten_` and 16 hexadecimal digits.", schemas.TENANT_ID)]
ProjectId = Annotated[str, _path("`proj_` and 16 hexadecimal digits.", schemas.PROJECT_ID)]
MessageName = Annotated[str, _path("The message's `id`.", schemas.MESSAGE_ID)]
KeyName = Annotated[str, _path("The `key_id` of the key, which is not the key itself.", schemas.KEY_ID)]
MemoryName = Annotated[str, _path("The memory's `id`.", schemas.MEMORY_ID)]
EntityName = Annotated[str, _path("The entity's `id`.", schemas.ENTITY_ID)]
ItemName = Annotated[str, _path("The item's `id`.", schemas.ITEM_ID)]
ResponseName = Annotated[str, _path("The response's `id`.", schemas.RESPONSE_ID)]
UserId = Annotated[str, _path("The user of the sessions.", schemas.NAME)]
EntitiesOf = Annotated[str | None, _query("Without it: the project of the request.", schemas.PROJECT_ID)]
EntitiesOfUser = Annotated[
    str | None,
    _query(
        "In a project with private members: whose entities. Without it: those of sessions without a user.", schemas.NAME
    ),
]
OfName = Annotated[
    str | None,
    _query("Only projects with this name; case, Unicode form and surrounding spaces are ignored.", schemas.NAME),
]
OfProject = Annotated[
    str | None, _query("Only sessions of this project; `none`: only those in no project.", schemas.PROJECT_OR_NONE)
]
IsPinned = Annotated[bool | None, Query(description="Only what is pinned, or what is not. Without it: all.")]
IsArchived = Annotated[bool | None, Query(description="Only sessions that are archived, or are not. Without it: all.")]
OfExternalId = Annotated[
    str | None,
    _query("Only the session with this `external_id`: an empty list, and no error, if there is none.", schemas.NAME),
]
OfUser = Annotated[str | None, _query("Only the sessions of this user.", schemas.NAME)]


ExpectedProject = Annotated[
    str | None,
    _query(
        "The session must be in this project, `none`: in none; otherwise nothing is done, and the answer is a conflict.",
        schemas.PROJECT_OR_NONE,
    ),
]
ExpectedUser = Annotated[
    str | None,
    _query("The session must be this user's; otherwise nothing is done, and the answer is a conflict.", schemas.NAME),
]


def wait_until_indexed(services: Services, wait: str | None) -> None:
    """With `wait`, return only when everything is indexed. With the static embedder and the exact index, it always is."""
    if wait is not None and not services.immediate:
        services.queue.drain()
