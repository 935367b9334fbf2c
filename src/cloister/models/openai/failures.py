"""The ways in which a call to a model can fail: whether a retry may help, and the sentence that tells the user what to do.

Of the response's body a failure stores the error's message, as far as `error_message.py` lets it be shown: servers repeat the
request in it, which contains the conversation."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from typing import Any, Literal, cast

import httpx2

from cloister.domain.errors import ModelUnavailable
from cloister.domain.patterns import IGNORECASE, anchored
from cloister.models.openai.endpoint import SettingNames
from cloister.models.openai.error_message import error_message

LONGEST_WAIT = 60.0
# Anthropic answers 529 where others answer 503.
_NOT_READY = (503, 529)
_ERROR_CODE = anchored(r"[a-z][a-z0-9_.-]{0,63}", IGNORECASE)
_SECONDS = anchored(r"\d{1,9}(\.\d{0,9})?")
_SCHEMA_WORDS = ("response_format", "json_schema", "json schema", "grammar")
_CONTEXT_WORDS = (
    "context_length",
    "context length",
    "context size",
    "context_size",
    "context window",
    "maximum context",
    "prompt is too long",
)

OptionalField = Literal["response_format", "max_tokens", "temperature", "stream_options"]


class CallFailed(Exception):
    """A call failed, after so many `tries`; it is not raised outside of this package."""

    def __init__(self, failure: "Failure", tries: int = 1) -> None:
        super().__init__()
        self.failure = failure
        self.tries = tries


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """What is known of a failed call. `status` is none where no response or only a part of one came.

    `broken` is a reply that was cut off or contains an error, `too_large` one that is larger than any that can be used, `silent`
    one that goes on for long without a word. `wait` is the pause in seconds that the server asks for, `rejected` the optional field
    of the request that it does not support.
    """

    status: int | None = None
    timed_out: bool = False
    broken: bool = False
    too_large: bool = False
    silent: bool = False
    code: str | None = None
    wait: float | None = None
    too_long: bool = False
    rejected: OptionalField | None = None
    message: str | None = None
    cause: Exception | None = None

    @property
    def connection_failed(self) -> bool:
        """Whether the connection could not be opened, or was lost before the response began."""
        began = self.timed_out or self.broken or self.too_large or self.silent
        return self.status is None and not began

    @property
    def temporary(self) -> bool:
        """Whether the same request may succeed after a pause."""
        if self.status is None:
            return not self.too_large
        if self.code == "insufficient_quota" or (self.wait or 0) > LONGEST_WAIT:
            return False
        return self.status in (408, 409, 425, 429) or self.status >= 500

    def explained(
        self, model: str, *, tries: int, seconds: float, has_key: bool, names: SettingNames
    ) -> ModelUnavailable:
        """Make the error for users. It does not contain the URL, which not every user of the service may know."""
        if self.message is not None and (self.status is None or self._is_unexplained):
            status = "" if self.status is None else f" ({self.status})"
            return ModelUnavailable(f"The model returned an error{status}: {self.message}")
        return ModelUnavailable(f"The model ({model}) {self._problem(tries, seconds, has_key, names)}")

    @property
    def _is_unexplained(self) -> bool:
        """Whether the server's own message says more than its status does."""
        return self.status is not None and self.status >= 400 and self.status not in (401, 403, 404, 429, *_NOT_READY)

    def _problem(self, tries: int, seconds: float, has_key: bool, names: SettingNames) -> str:
        often = f" ({tries} tries)" if tries > 1 else ""
        if self.timed_out:
            return f"did not answer within {seconds:g} s{often}: it is overloaded, or too large for its machine."
        if self.too_large:
            return (
                "sent more than any answer can have. The log of its server may say why; or what answers there is no "
                f"OpenAI-compatible endpoint: check {names.url}."
            )
        if self.silent:
            return "keeps answering without a word. The log of its server may say why."
        if self.broken:
            return f"broke off in the middle of its answer{often}. Try again; the log of its server may say why."
        if self.status is None:
            return f"cannot be reached{often}: start it, or check {names.url}."
        if self.status in (401, 403):
            return f"{'refused the key: check' if has_key else 'asks for a key: set'} {names.key}."
        if self.status == 404:
            return f"is not known there: check {names.model}, and {names.url}, which usually ends in /v1 (HTTP 404)."
        if self.status == 429 and self.code == "insufficient_quota":
            return f"has no quota left: check the account that {names.key} belongs to."
        if self.status == 429:
            when = f"in {self.wait:.0f} s" if self.wait else "later"
            return f"is rate limited{often}. Try again {when}."
        if 300 <= self.status < 400:
            return f"has moved: set {names.url} to its new address; what was said is not sent after it."
        why = f"HTTP {self.status}" if self.code is None else f"HTTP {self.status}, {self.code}"
        if self.status in _NOT_READY:
            return f"is not ready{often}: it is still being loaded, or overloaded; try again in a moment ({why})."
        if self.status >= 500:
            return f"returned an error{often} ({why}). The log of its server may say why."
        return f"refused the request: check that {names.url} is an OpenAI-compatible endpoint ({why})."


def not_an_endpoint(names: SettingNames | None = None) -> ModelUnavailable:
    url = (names or SettingNames()).url
    return ModelUnavailable(
        f"What answers there is no OpenAI-compatible endpoint: check {url}, which usually ends in /v1."
    )


def parse_json(text: bytes | bytearray) -> Any:
    """The value of a JSON text, or none if it is invalid. The error is not raised: it would contain the text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def connection_failure(error: httpx2.RequestError, *, answering: bool) -> Failure:
    """The failure for an error of the HTTP client. `answering`: the response had begun."""
    timed_out = isinstance(error, httpx2.TimeoutException) and not isinstance(error, httpx2.ConnectTimeout)
    return Failure(timed_out=timed_out, broken=answering and not timed_out, cause=error)


def rejection(
    status: int,
    headers: httpx2.Headers,
    body: bytes,
    sent: bytes | None = None,
    secrets: Sequence[str | None] = (),
) -> Failure:
    """The failure for a response with an error status. `body` is searched for the reason, and not stored; its message is, if the
    request `sent` is given."""
    lowered = body.decode("utf-8", "replace").casefold()
    answer = parse_json(body)
    code = _error_code(answer)
    too_long = any(word in lowered for word in _CONTEXT_WORDS) and status in (400, 413, 422)
    return Failure(
        status=status,
        code=code if code and _ERROR_CODE.fullmatch(code) else None,
        wait=_retry_after(headers),
        too_long=too_long or status == 413,
        rejected=_rejected_field(lowered) if status in (400, 422) and not too_long else None,
        message=error_message(answer, sent, secrets),
    )


def _error_code(answer: Any) -> str | None:
    """The code of `{"error": {"code": …}}`, which is OpenAI's form, or of `{"code": …}`."""
    if not isinstance(answer, dict):
        return None
    fields = cast(Mapping[str, Any], answer)
    inner = fields.get("error", fields)
    code = cast(Mapping[str, Any], inner).get("code") if isinstance(inner, dict) else None
    return code if isinstance(code, str) else None


def _rejected_field(body: str) -> OptionalField | None:
    if "stream_options" in body:
        return "stream_options"
    if any(word in body for word in _SCHEMA_WORDS):
        return "response_format"
    if "max_tokens" in body:
        return "max_tokens"
    return "temperature" if "temperature" in body else None


def _retry_after(headers: httpx2.Headers) -> float | None:
    """The seconds of the `Retry-After` header, which is a number of seconds or a date."""
    given = headers.get("retry-after", "")
    if _SECONDS.fullmatch(given):
        return float(given)
    date = parsedate_tz(given)
    return None if date is None else max(mktime_tz(date) - time.time(), 0.0)
