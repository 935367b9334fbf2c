"""What routes share: headers, and the parameters of paths, lists and writes."""

from typing import Annotated, Literal

from fastapi import Header, Path, Query

from cloister.bootstrap import Services
from cloister.interfaces.http.openapi import schemas as forms

Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Cursor = Annotated[
    str | None,
    Query(description="Where the last page ended: its `next_cursor`, as it was given.", json_schema_extra=forms.CURSOR),
]
After = Annotated[
    str | None,
    Query(description="Begin behind the message of this `id`.", json_schema_extra=forms.MESSAGE_ID),
]
AfterMemory = Annotated[
    str | None,
    Query(description="Begin behind the memory of this `id`.", json_schema_extra=forms.MEMORY_ID),
]
AfterEntity = Annotated[
    str | None,
    Query(description="Begin behind the entity of this `id`.", json_schema_extra=forms.ENTITY_ID),
]
AfterObservation = Annotated[
    str | None,
    Query(description="Begin behind the note of this `id`.", json_schema_extra=forms.OBSERVATION_ID),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="The same request under the same key is done once, and answered alike for 24 hours.",
        json_schema_extra=forms.NAME,
    ),
]
Wait = Annotated[
    Literal["indexed"] | None, Query(description="`indexed`: answer only when recall can find what was written.")
]
DryRun = Annotated[bool, Query(description="`true`: answer what would happen, and change nothing.")]
SessionId = Annotated[str, Path(description="The session's `external_id`.", json_schema_extra=forms.NAME)]
TenantName = Annotated[str, Path(description="`ten_` and 16 hexadecimal digits.", json_schema_extra=forms.TENANT_ID)]
ProjectId = Annotated[str, Path(description="`proj_` and 16 hexadecimal digits.", json_schema_extra=forms.PROJECT_ID)]
MessageName = Annotated[str, Path(description="The message's `id`.", json_schema_extra=forms.MESSAGE_ID)]
KeyName = Annotated[str, Path(description="The key's `key_id`, which is not the key.", json_schema_extra=forms.KEY_ID)]
MemoryName = Annotated[str, Path(description="The memory's `id`.", json_schema_extra=forms.MEMORY_ID)]
EntityName = Annotated[str, Path(description="The entity's `id`.", json_schema_extra=forms.ENTITY_ID)]
UserId = Annotated[str, Path(description="The user of the sessions.", json_schema_extra=forms.NAME)]
EntitiesOf = Annotated[
    str | None,
    Query(description="Left out: the project of the request.", json_schema_extra=forms.PROJECT_ID),
]
EntitiesOfUser = Annotated[
    str | None,
    Query(
        description="In a project with private members: the part of this user; left out, that of sessions without one.",
        json_schema_extra=forms.NAME,
    ),
]
OfName = Annotated[
    str | None,
    Query(
        description="Only projects of this name, whatever the case, the Unicode form and the spaces around it.",
        json_schema_extra=forms.NAME,
    ),
]
OfProject = Annotated[
    str | None,
    Query(
        description="Only the sessions of this project, or with `none` those of the shared pool.",
        json_schema_extra=forms.PROJECT_OR_NONE,
    ),
]
OfUser = Annotated[str | None, Query(description="Only the sessions of this user.", json_schema_extra=forms.NAME)]


def wait_until_indexed(services: Services, wait: str | None) -> None:
    """With the static embedder and the exact index nothing is left to wait for."""
    if wait is not None and not services.immediate:
        services.queue.drain()
