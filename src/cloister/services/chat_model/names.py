"""The names of the models that the endpoint of the chat model lists, for callers without an event loop."""

import asyncio
import time

from cloister.domain.errors import InvalidRequest
from cloister.domain.text import checked_name
from cloister.models.interface import ChatModel

_CACHED_SECONDS = 60.0
_MOST_NAMED = 20


class ModelNames:
    """Asks with connections of its own: those of the chat model belong to the event loop that answers. `is_configured` is False
    where replies only quote."""

    def __init__(self, model: ChatModel, *, is_configured: bool) -> None:
        self._model = model
        self._is_configured = is_configured
        self._names: tuple[str, ...] = ()
        self._asked_at = -_CACHED_SECONDS

    def check(self, name: str, field: str = "model") -> None:
        """Raise `InvalidRequest` unless the endpoint lists the model. May take a few seconds."""
        checked_name(name, field)
        if not self._is_configured:
            raise InvalidRequest(field, "cannot be chosen: no model is connected here (CLOISTER_MODEL_URL).")
        if name in self._names and time.monotonic() - self._asked_at < _CACHED_SECONDS:
            return
        self._names, self._asked_at = tuple(asyncio.run(self._asked())), time.monotonic()
        if name not in self._names:
            more = "" if len(self._names) <= _MOST_NAMED else f" and {len(self._names) - _MOST_NAMED:,} more"
            listed = ", ".join(self._names[:_MOST_NAMED])
            raise InvalidRequest(field, f"is {name!r}, which the model's server does not list; it has {listed}{more}.")

    async def _asked(self) -> list[str]:
        model = self._model.separate()
        try:
            return await model.names()
        finally:
            await model.close()
