"""The address of a model's server, and its timeout and retries. No connection is opened here, and no HTTP library imported."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from cloister.domain.tracing.interface import NO_TRACING, Tracer


@dataclass(frozen=True, kw_only=True, slots=True)
class SettingNames:
    """The settings that an error tells users to check."""

    url: str = "CLOISTER_MODEL_URL"
    key: str = "CLOISTER_MODEL_KEY"
    model: str = "CLOISTER_MODEL_NAME"


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """The base URL of an OpenAI-compatible API, usually ending in `/v1`. Without a `model`, the server's only one is used.

    `seconds` is the timeout of one attempt, and `silent_seconds` the longest time in which a reply that is being streamed may have
    no words: models think for minutes. Where the extraction is retried, `tries` is the number of attempts, and `sleep` and
    `draw` (a random number from 0 to 1) make the pause between two of them.
    """

    url: str
    model: str | None = None
    key: str | None = field(default=None, repr=False)
    seconds: float = 120.0
    silent_seconds: float = 600.0
    tries: int = 3
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    draw: Callable[[], float] = random.random
    settings: SettingNames = SettingNames()
    tracer: Tracer = NO_TRACING


class TooLongForTheModel(Exception):
    """The request is longer than the model's context; a shorter one may be accepted."""
