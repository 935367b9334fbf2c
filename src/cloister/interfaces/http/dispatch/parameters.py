"""Parameters that several routes share: of paths, queries and headers."""

from typing import Annotated, Literal

from fastapi import Header, Path, Query

from cloister.bootstrap import Services
from cloister.interfaces.http.openapi import schemas

Limit = Annotated[int, Query(ge=1, le=200, description="The largest number of items on a page.")]
Cursor = Annotated[
    str | None,
    Query(description="The `next_cursor` of the previous page.", json_schema_extra=schemas.CURSOR),
]
After = Annotated[
    str | None,
    Query(description="Start after the message with this `id`.", json_schema_extra=schemas.MESSAGE_ID),
]
AfterMemory = Annotated[
    str | None,
    Query(description="Start after the memory with this `id`.", json_schema_extra=schemas.MEMORY_ID),
]
AfterEntity = Annotated[
    str | None,
    Query(description="Start after the entity with this `id`.", json_schema_extra=schemas.ENTITY_ID),
]
AfterObservation = Annotated[
    str | None,
    Query(description="Start after the observation with this `id`.", json_schema_extra=schemas.OBSERVATION_ID),
]
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
DryRun = Annotated[bool, Query(description="`true`: change nothing, and answer what would happen.")]
SessionId = Annotated[str, Path(description="The session's `external_id`.", json_schema_extra=schemas.NAME)]
TenantName = Annotated[str, Path(description="`ten_` and 16 hexadecimal digits.", json_schema_extra=schemas.TENANT_ID)]
ProjectId = Annotated[str, Path(description="`proj_` and 16 hexadecimal digits.", json_schema_extra=schemas.PROJECT_ID)]
MessageName = Annotated[str, Path(description="The message's `id`.", json_schema_extra=schemas.MESSAGE_ID)]
KeyName = Annotated[
    str, Path(description="The `key_id` of the key, which is not the key itself.", json_schema_extra=schemas.KEY_ID)
]
MemoryName = Annotated[str, Path(description="The memory's `id`.", json_schema_extra=schemas.MEMORY_ID)]
EntityName = Annotated[str, Path(description="The entity's `id`.", json_schema_extra=schemas.ENTITY_ID)]
UserId = Annotated[str, Path(description="The user of the sessions.", json_schema_extra=schemas.NAME)]
EntitiesOf = Annotated[
    str | None,
    Query(description="Without it: the project of the request.", json_schema_extra=schemas.PROJECT_ID),
]
EntitiesOfUser = Annotated[
    str | None,
    Query(
        description="In a project with private members: whose entities. Without it: those of sessions without a user.",
        json_schema_extra=schemas.NAME,
    ),
]
OfName = Annotated[
    str | None,
    Query(
        description="Only projects with this name; case, Unicode form and surrounding spaces are ignored.",
        json_schema_extra=schemas.NAME,
    ),
]
OfProject = Annotated[
    str | None,
    Query(
        description="Only sessions of this project; `none`: only those of the shared pool.",
        json_schema_extra=schemas.PROJECT_OR_NONE,
    ),
]
OfUser = Annotated[str | None, Query(description="Only the sessions of this user.", json_schema_extra=schemas.NAME)]


def wait_until_indexed(services: Services, wait: str | None) -> None:
    """With `wait`, return only when everything is indexed. With the static embedder and the exact index, it always is."""
    if wait is not None and not services.immediate:
        services.queue.drain()
