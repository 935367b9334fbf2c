"""The wire to an OpenAI-compatible endpoint: where a request goes, with which headers, and what an answer that is none means.

What is sent goes to the address that was set and to no other, with the key that was set and no other credentials: redirects are
not followed. Proxies of the environment are used.
"""

import json
from collections.abc import Mapping
from typing import Any, cast

import httpx2

from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.failures import Failure, refusal

LONGEST_ERROR = 100_000
_LONGEST_CONNECTING = 5.0
_SUCCESS = range(200, 300)


class Refused(Exception):
    """The server answered, and not with what was asked for."""

    def __init__(self, failure: Failure) -> None:
        super().__init__()
        self.failure = failure


def address(endpoint: Endpoint, path: str) -> str:
    return endpoint.url.rstrip("/") + path


def headers(endpoint: Endpoint) -> dict[str, str]:
    own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    return own if endpoint.key is None else {**own, "Authorization": f"Bearer {endpoint.key}"}


def patience(endpoint: Endpoint) -> httpx2.Timeout:
    return httpx2.Timeout(endpoint.seconds, connect=min(endpoint.seconds, _LONGEST_CONNECTING))


def encoded(body: Mapping[str, object]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def is_answer(response: httpx2.Response) -> bool:
    return response.status_code in _SUCCESS


def refused(response: httpx2.Response, body: bytes) -> Refused:
    """Why, as far as the body says so; nothing else of it is kept."""
    said = body.decode("utf-8", "replace")
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        answer = None
    return Refused(refusal(response.status_code, response.headers, said, _code(answer)))


def _code(answer: Any) -> str | None:
    """Of `{"error": {"code": …}}`, which is OpenAI's, or without the outer braces."""
    if not isinstance(answer, dict):
        return None
    fields = cast(Mapping[str, Any], answer)
    inner = fields.get("error", fields)
    code = cast(Mapping[str, Any], inner).get("code") if isinstance(inner, dict) else None
    return code if isinstance(code, str) else None
