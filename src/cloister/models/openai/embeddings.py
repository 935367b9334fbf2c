"""Embeddings from any OpenAI-compatible endpoint, such as Ollama, llama.cpp, vLLM or OpenAI.

What is embedded is sent to the configured URL. A text that the server refuses is sent again in shorter and shorter parts, and given
up in the end; whether the server refuses everything is found out first, so that no text is given up for a server that is broken.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from cloister.models.openai.client import ModelClient
from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.failures import CallFailed, Failure, not_an_endpoint
from cloister.models.unit_vectors import UnitVector, model_name, parsed_vectors

QUERY_SECONDS = 0.9
LONGEST_TEXT = 8_000
"""In characters: more than most models read, and a longer text has no better vector."""
_LONGEST_QUESTION = 2_000
_SHORTEST_PART = 200
_MOST_TEXTS = 32
_MOST_CHARACTERS = 16_000
_PROBE = "memory"
# The server understood the request and refused this content. Some, such as llama.cpp, answer 500 to a text that is too long.
_REFUSALS = (400, 413, 422, 500)


class OpenAiEmbedder:
    """Requests run on an event loop in a thread of its own, which starts with the first of them. `prefix` and `query_prefix` are
    put before texts and questions, for models that were trained with them."""

    def __init__(self, endpoint: Endpoint, *, prefix: str = "", query_prefix: str = "") -> None:
        self.name = model_name(f"openai:{endpoint.model}", prefix)
        self._endpoint = endpoint
        self._prefix = prefix
        self._query_prefix = query_prefix
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._running: tuple[BlockingPortal, ModelClient] | None = None

    def embed(self, texts: Sequence[str]) -> list[UnitVector | None]:
        found: list[UnitVector | None] = []
        for batch in _batches([self._prefix + text[:LONGEST_TEXT] for text in texts]):
            found += self._embed(batch)
        return found

    def embed_query(self, text: str) -> UnitVector:
        portal, client = self._open()
        asked = [self._query_prefix + text[:_LONGEST_QUESTION]]
        try:
            answer = portal.call(_within, client, asked)
        except CallFailed as failed:
            raise client.explained(failed, QUERY_SECONDS) from failed.failure.cause
        vectors = parsed_vectors(answer, 1)
        if vectors is None or vectors[0] is None:
            raise not_an_endpoint(self._endpoint.settings)
        return vectors[0]

    def close(self) -> None:
        """Requests that other threads are still waiting for fail."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            portal, client = running
            portal.call(client.close)
            portal.call(portal.stop, True)
        self._stack.close()

    def _open(self) -> tuple[BlockingPortal, ModelClient]:
        with self._lock:
            if self._running is None:
                portal = self._stack.enter_context(start_blocking_portal())
                self._running = portal, portal.call(ModelClient, self._endpoint)
            return self._running

    def _embed(self, texts: Sequence[str]) -> list[UnitVector | None]:
        """Embed one batch; if it is refused, its halves, and then each text in shorter parts."""
        found = self._asked(texts)
        if found is not None and all(vector is not None for vector in found):
            return found
        self._probe()
        if found is not None and len(texts) == 1:
            return found
        if len(texts) > 1:
            middle = len(texts) // 2
            return [*self._embed(texts[:middle]), *self._embed(texts[middle:])]
        return [self._shortened(texts[0])]

    def _shortened(self, text: str) -> UnitVector | None:
        """The vector of the longest beginning that is accepted, halved each time; None if even a short one is refused."""
        while len(text) > _SHORTEST_PART:
            text = text[: len(text) // 2]
            found = self._asked([text])
            if found is not None:
                return found[0]
        return None

    def _probe(self) -> None:
        """Raise unless the server embeds a plain word."""
        found = self._asked([_PROBE], reject=True)
        if found is None or found[0] is None:
            raise not_an_endpoint(self._endpoint.settings)

    def _asked(self, texts: Sequence[str], *, reject: bool = False) -> list[UnitVector | None] | None:
        """The vectors; None if the server refuses these texts, unless `reject`. Other failures are raised."""
        portal, client = self._open()
        try:
            answer = portal.call(client.embed, texts)
        except CallFailed as failed:
            failure = failed.failure
            if not reject and (failure.too_long or failure.timed_out or failure.status in _REFUSALS):
                return None
            raise client.explained(failed) from failure.cause
        return parsed_vectors(answer, len(texts))


async def _within(client: ModelClient, texts: Sequence[str]) -> Any:
    try:
        async with asyncio.timeout(QUERY_SECONDS):
            return await client.embed(texts)
    except TimeoutError:
        raise CallFailed(Failure(timed_out=True)) from None


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    begin = characters = 0
    for at, text in enumerate(texts):
        characters += len(text)
        if at > begin and (at - begin == _MOST_TEXTS or characters > _MOST_CHARACTERS):
            yield texts[begin:at]
            begin, characters = at, len(text)
    if texts:
        yield texts[begin:]
