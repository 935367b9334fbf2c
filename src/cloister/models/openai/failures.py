"""What can go wrong with a call to a model: whether another try may help, and the sentence that says what to do.

A failure keeps nothing of the answer's body: servers repeat the request in it, and that is what somebody said.
"""

import time
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from typing import Literal

import httpx2

from cloister.domain.errors import ModelUnavailable
from cloister.domain.patterns import IGNORECASE, anchored
from cloister.models.openai.completions import BrokenAnswer

LONGEST_WAIT = 60.0
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
)

OptionalField = Literal["response_format", "max_tokens", "temperature", "stream_options"]


class CallFailed(Exception):
    """A call failed for good, after `tries`."""

    def __init__(self, failure: "Failure", tries: int) -> None:
        super().__init__()
        self.failure = failure
        self.tries = tries


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """`status` is none where there was no answer. `refused` is the optional field that the server does not take."""

    status: int | None = None
    slow: bool = False
    broken: bool = False
    code: str | None = None
    wait: float | None = None
    too_long: bool = False
    refused: OptionalField | None = None
    cause: Exception | None = None

    @property
    def passing(self) -> bool:
        if self.status is None:
            return True
        if self.code == "insufficient_quota" or (self.wait or 0) > LONGEST_WAIT:
            return False
        return self.status in (408, 409, 425, 429) or self.status >= 500

    def explained(self, model: str, *, tries: int, seconds: float, keyed: bool) -> ModelUnavailable:
        """The address is left out: whoever reads this need not be the one who may know it."""
        return ModelUnavailable(f"The model ({model}) {self._problem(tries, seconds, keyed)}")

    def _problem(self, tries: int, seconds: float, keyed: bool) -> str:
        often = f" ({tries} tries)" if tries > 1 else ""
        if self.slow:
            return f"did not answer within {seconds:g} s{often}: it is overloaded, or too large for its machine."
        if self.broken:
            return f"broke off in the middle of its answer{often}: look into the log of its server."
        if self.status is None:
            return f"cannot be reached{often}: start it, or check CLOISTER_MODEL_URL."
        if self.status in (401, 403):
            return f"{'refused the key: check' if keyed else 'asks for a key: set'} CLOISTER_MODEL_KEY."
        if self.status == 404:
            return (
                "is not known there: check CLOISTER_MODEL_NAME, and CLOISTER_MODEL_URL, which usually ends in /v1"
                " (HTTP 404)."
            )
        if self.status == 429 and self.code == "insufficient_quota":
            return "has no quota left: check the account that CLOISTER_MODEL_KEY belongs to."
        if self.status == 429:
            asked = f" for {self.wait:.0f} s" if self.wait else ""
            return f"takes no more requests{asked}{often}: try again later, or have its limit raised."
        if 300 <= self.status < 400:
            return "has moved: set CLOISTER_MODEL_URL to its new address; what was said is not sent after it."
        why = f"HTTP {self.status}" if self.code is None else f"HTTP {self.status}, {self.code}"
        if self.status == 503:
            return f"is not ready{often}: it is still being loaded, or overloaded; try again in a moment ({why})."
        if self.status >= 500:
            return f"failed{often}: look into the log of its server ({why})."
        return f"refused the request: check that CLOISTER_MODEL_URL is an OpenAI-compatible endpoint ({why})."


def failure_of(error: httpx2.RequestError | BrokenAnswer) -> Failure:
    """Where no answer came, or only a part of one."""
    if isinstance(error, BrokenAnswer):
        return Failure(broken=True)
    return Failure(
        slow=isinstance(error, httpx2.TimeoutException) and not isinstance(error, httpx2.ConnectTimeout), cause=error
    )


def refusal(status: int, headers: httpx2.Headers, body: str, code: str | None) -> Failure:
    """Where the server answered with an error; `body` is looked at, and not kept."""
    said = body.casefold()
    too_long = any(word in said for word in _CONTEXT_WORDS) and status in (400, 413, 422)
    return Failure(
        status=status,
        code=code if code and _ERROR_CODE.fullmatch(code) else None,
        wait=_asked_wait(headers),
        too_long=too_long or status == 413,
        refused=_refused_field(said) if status in (400, 422) and not too_long else None,
    )


def _refused_field(said: str) -> OptionalField | None:
    if "stream_options" in said:
        return "stream_options"
    if any(word in said for word in _SCHEMA_WORDS):
        return "response_format"
    if "max_tokens" in said:
        return "max_tokens"
    return "temperature" if "temperature" in said else None


def _asked_wait(headers: httpx2.Headers) -> float | None:
    """The seconds of `Retry-After`, which is a number of them or a date."""
    given = headers.get("retry-after", "")
    if _SECONDS.fullmatch(given):
        return float(given)
    date = parsedate_tz(given)
    return None if date is None else max(mktime_tz(date) - time.time(), 0.0)
