"""Memory for AI assistants that stays inside its walls."""

from cloister.domain.errors import (
    CloisterError,
    Closed,
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    NotFound,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StorageError,
    TooLarge,
    Unauthenticated,
)
from cloister.interfaces.async_library import AsyncCloister
from cloister.interfaces.library import Cloister
from cloister.interfaces.remote import RemoteCloister
from cloister.interfaces.shapes import (
    ApiKey,
    Context,
    ContextItem,
    CreatedKey,
    Episode,
    Forgotten,
    Hit,
    Message,
    Project,
    Session,
    Usage,
)

__all__ = [
    "ApiKey",
    "AsyncCloister",
    "Cloister",
    "CloisterError",
    "Closed",
    "Conflict",
    "Context",
    "ContextItem",
    "CreatedKey",
    "Episode",
    "Forbidden",
    "Forgotten",
    "Hit",
    "IdempotencyMismatch",
    "InvalidRequest",
    "Message",
    "NotFound",
    "Project",
    "QuotaExceeded",
    "RateLimited",
    "RemoteCloister",
    "ServerError",
    "Session",
    "StorageError",
    "TooLarge",
    "Unauthenticated",
    "Usage",
]
