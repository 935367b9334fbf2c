"""Where a model is, and how patiently it is asked. Nothing is opened here, and no client imported."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """An OpenAI-compatible address, usually ending in `/v1`. Without a `model`, it is the only one that the server has.

    `seconds` bound one try; `sleep` and `draw` (a number from 0 to 1) decide how the time between two tries passes.
    """

    url: str
    model: str | None = None
    key: str | None = field(default=None, repr=False)
    seconds: float = 120.0
    tries: int = 3
    sleep: Callable[[float], None] = time.sleep
    draw: Callable[[], float] = random.random


class TooLongForTheModel(Exception):
    """The request is over what the model can read at once; a shorter one may pass."""
