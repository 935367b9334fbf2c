"""Memory for AI assistants that stays inside its walls."""

from cloister.domain.errors import CloisterError, Conflict, InvalidRequest, NotFound, StorageError, TooLarge
from cloister.interfaces.async_library import AsyncCloister
from cloister.interfaces.library import Cloister
from cloister.interfaces.shapes import Context, ContextItem, Episode, Forgotten, Hit, Message, Project, Session

__all__ = [
    "AsyncCloister",
    "Cloister",
    "CloisterError",
    "Conflict",
    "Context",
    "ContextItem",
    "Episode",
    "Forgotten",
    "Hit",
    "InvalidRequest",
    "Message",
    "NotFound",
    "Project",
    "Session",
    "StorageError",
    "TooLarge",
]
