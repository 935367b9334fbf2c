"""What routes share: headers, and the parameters of lists and writes."""

from typing import Annotated, Literal

from fastapi import Header, Path, Query

Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Cursor = Annotated[str | None, Query(description="Where the last page ended: its `next_cursor`.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="The same request under the same key is done once, and answered alike for 24 hours.",
    ),
]
Wait = Annotated[
    Literal["indexed"] | None, Query(description="`indexed`: answer only when recall can find what was written.")
]
SessionId = Annotated[str, Path(description="The session's `external_id`.")]
ProjectId = Annotated[str, Path(description="`proj_` and 16 hexadecimal digits.")]
