"""Timestamps: microseconds since 1970 in UTC in storage, ISO 8601 with `Z` in the API."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from cloister.domain.errors import InvalidRequest

Clock = Callable[[], int]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_EARLIEST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LATEST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def now() -> int:
    return time.time_ns() // 1000


def as_datetime(moment: int) -> datetime:
    return _EPOCH + timedelta(microseconds=moment)


def from_datetime(moment: datetime) -> int:
    """The timestamp of a datetime; one without a time zone is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def iso(moment: int) -> str:
    seconds, microseconds = divmod(moment, 1_000_000)
    minutes, second = divmod(seconds, 60)
    whole = f"{_iso_minute(minutes)}{second:02}"
    return f"{whole}.{microseconds:06}Z" if microseconds else f"{whole}Z"


@lru_cache(maxsize=1_024)
def _iso_minute(minutes: int) -> str:
    """The text up to the minute, cached because messages that are shown together are mostly from the same minute."""
    return (_NAIVE_EPOCH + timedelta(minutes=minutes)).isoformat()[:-2]


def parse_iso(given: str, field: str) -> int:
    try:
        # Some versions of Python ignore what follows a NUL.
        return from_datetime(datetime.fromisoformat(given.replace("\x00", "?")))
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise InvalidRequest(field, f"{given!r} is not a time in ISO 8601, such as 2026-01-31T09:30:00Z.") from None


def checked_time(moment: int, field: str) -> int:
    """Check that a timestamp can be formatted as ISO 8601."""
    if not is_valid_time(moment):
        raise InvalidRequest(field, "must be between the years 1 and 9999.")
    return moment


def is_valid_time(moment: int) -> bool:
    """Whether a timestamp can be formatted as ISO 8601."""
    return _EARLIEST <= moment <= _LATEST
