"""One OpenAI-compatible endpoint: asks, tries again where that can help, and learns what the server does not take.

Nothing is logged here. Answers are streamed, not to be read early, but because only then do servers notice that whoever asked has
gone, and stop writing.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import httpx2

from cloister.domain.errors import ModelUnavailable
from cloister.models.openai import requests
from cloister.models.openai.answers import Reply, Schema, without_lengths
from cloister.models.openai.completions import BrokenAnswer, model_names, not_an_endpoint, reply_of
from cloister.models.openai.endpoint import Endpoint, TooLongForTheModel
from cloister.models.openai.failures import CallFailed, OptionalField, failure_of

_FIRST_WAIT = 0.5
_LONGEST_BODY = 4_000_000
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Taken:
    """What the server takes, as far as it is known. Schemas go in steps: with lengths, without, and only in words."""

    lengths: bool = True
    schema: bool = True
    max_tokens: bool = True
    temperature: bool = True

    def without(self, refused: OptionalField) -> "_Taken | None":
        """What is left when a field is refused; none where it was not even sent."""
        if refused == "response_format":
            if not self.schema:
                return None
            return replace(self, lengths=False) if self.lengths else replace(self, schema=False)
        if refused == "max_tokens":
            return replace(self, max_tokens=False) if self.max_tokens else None
        if refused == "temperature":
            return replace(self, temperature=False) if self.temperature else None
        return None


class ChatEndpoint:
    """Safe to use from several threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._client = httpx2.Client(
            headers=requests.headers(endpoint),
            timeout=requests.patience(endpoint),
            follow_redirects=False,
        )
        self._endpoint = endpoint
        self._model = endpoint.model
        self._taken = _Taken()

    def close(self) -> None:
        self._client.close()

    def ask(self, instructions: str, question: str, schema: Schema, limit: int) -> Reply:
        """What the model writes, `limit` tokens at most. Raises `ModelUnavailable`, or `TooLongForTheModel`."""
        model = self._model or self._only_model()
        while True:
            taken = self._taken
            try:
                return self._persistently(partial(self._complete, model, instructions, question, schema, limit, taken))
            except CallFailed as error:
                failed = error
            failure = failed.failure
            if failure.too_long:
                raise TooLongForTheModel
            less = taken.without(failure.refused) if failure.refused else None
            if less is None:
                raise self._explained(failed) from failure.cause
            self._taken = less

    def _complete(
        self, model: str, instructions: str, question: str, schema: Schema, limit: int, taken: _Taken
    ) -> Reply:
        if not taken.schema:
            question = f"{question}\n\nThe answer must keep this JSON schema:\n{json.dumps(schema)}"
        body: dict[str, object] = {
            "model": model,
            "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": question}],
            "stream": True,
        }
        if taken.schema:
            body["response_format"] = _format(schema if taken.lengths else without_lengths(schema))
        if taken.max_tokens:
            body["max_tokens"] = limit
        if taken.temperature:
            body["temperature"] = 0
        return reply_of(self._received("POST", "/chat/completions", requests.encoded(body)))

    def _only_model(self) -> str:
        try:
            names = model_names(self._persistently(lambda: self._received("GET", "/models")))
        except CallFailed as failed:
            raise self._explained(failed) from failed.failure.cause
        if len(names) != 1:
            raise ModelUnavailable(
                f"The model's server has {len(names)} models: set CLOISTER_MODEL_NAME to one of them."
            )
        self._model = names[0]
        return self._model

    def _received(self, method: str, path: str, content: bytes | None = None) -> bytes:
        """A body that is all there in time: servers may keep a connection alive for as long as they like."""
        deadline = time.monotonic() + self._endpoint.seconds
        body = bytearray()
        with self._client.stream(method, requests.address(self._endpoint, path), content=content) as response:
            longest = _LONGEST_BODY if requests.is_answer(response) else requests.LONGEST_ERROR
            for piece in response.iter_bytes():
                body += piece
                if time.monotonic() > deadline:
                    raise httpx2.ReadTimeout("the answer was not complete in time")
                if len(body) > longest:
                    break
        if not requests.is_answer(response):
            raise requests.refused(response, bytes(body[:longest]))
        if len(body) > longest:
            raise not_an_endpoint()
        return bytes(body)

    def _persistently(self, call: Callable[[], _T]) -> _T:
        """What a call gives, after several tries where another may help. Errors are raised outside of their handlers: what
        the server said must not travel along with them."""
        attempt = 1
        while True:
            try:
                return call()
            except requests.Refused as error:
                failure = error.failure
            except (httpx2.RequestError, BrokenAnswer) as error:
                failure = failure_of(error)
            if attempt == self._endpoint.tries or not failure.passing:
                raise CallFailed(failure, attempt)
            usual = _FIRST_WAIT * 2 ** (attempt - 1) * (0.5 + self._endpoint.draw())
            self._endpoint.sleep(max(failure.wait or 0.0, usual))
            attempt += 1

    def _explained(self, failed: CallFailed) -> ModelUnavailable:
        return failed.failure.explained(
            self._model or "of CLOISTER_MODEL_URL",
            tries=failed.tries,
            seconds=self._endpoint.seconds,
            keyed=self._endpoint.key is not None,
        )


def _format(schema: Schema) -> dict[str, object]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
