"""Memory for AI assistants that stays inside its walls."""

from cloister.domain.errors import (
    CloisterError,
    Closed,
    Conflict,
    Forbidden,
    IdempotencyMismatch,
    InvalidRequest,
    NotFound,
    StorageError,
    TooLarge,
)
from cloister.interfaces.async_library import AsyncCloister
from cloister.interfaces.library import Cloister
from cloister.interfaces.shapes import Context, ContextItem, Episode, Forgotten, Hit, Message, Project, Session

__all__ = [
    "AsyncCloister",
    "Cloister",
    "CloisterError",
    "Closed",
    "Conflict",
    "Context",
    "ContextItem",
    "Episode",
    "Forbidden",
    "Forgotten",
    "Hit",
    "IdempotencyMismatch",
    "InvalidRequest",
    "Message",
    "NotFound",
    "Project",
    "Session",
    "StorageError",
    "TooLarge",
]
