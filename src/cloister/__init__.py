"""Memory for AI assistants that stays inside its walls."""

from cloister.domain.errors import (
    CloisterError,
    Closed,
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    ModelUnavailable,
    NotFound,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StorageError,
    TooLarge,
    Unauthenticated,
)
from cloister.interfaces.async_library import AsyncCloister
from cloister.interfaces.derived_shapes import Appended, Entity, Extraction, Memory, Observation
from cloister.interfaces.library import Cloister
from cloister.interfaces.remote import RemoteCloister
from cloister.interfaces.shapes import (
    ApiKey,
    Context,
    ContextItem,
    CreatedKey,
    DeletedProject,
    Episode,
    Forgotten,
    Hit,
    Message,
    Project,
    Session,
)
from cloister.interfaces.tenant_shapes import Usage

__all__ = [
    "ApiKey",
    "Appended",
    "AsyncCloister",
    "Cloister",
    "CloisterError",
    "Closed",
    "Conflict",
    "Context",
    "ContextItem",
    "CreatedKey",
    "DeletedProject",
    "Entity",
    "Episode",
    "Extraction",
    "Forbidden",
    "Forgotten",
    "Hit",
    "IdempotencyMismatch",
    "InvalidRequest",
    "Memory",
    "Message",
    "ModelUnavailable",
    "NotFound",
    "Observation",
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
