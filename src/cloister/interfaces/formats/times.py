"""Times of foreign formats: numbers since 1970, ISO 8601, and dates as e-mail writes them (RFC 2822). A time that can be read in
two ways, such as 05/01/2019, is not read."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

from cloister.domain.errors import InvalidRequest
from cloister.domain.patterns import anchored
from cloister.domain.timestamps import checked_time, from_datetime, parse_iso
from cloister.interfaces.formats.conversation import UNREADABLE, Skipped, Value

TIMES = (
    "createdat",
    "timestamp",
    "createtime",
    "createdtime",
    "creationtime",
    "creationdate",
    "createddate",
    "datecreated",
    "createdon",
    "created",
    "sentat",
    "senttime",
    "datetime",
    "time",
    "date",
    "ts",
)
"""Names of the field that says when something was said, in lower case without `_`, `-` and spaces."""
_SECOND = 1_000_000
_LONGEST = 64
_LONGEST_NAME = 32
# From these numbers on, one is no longer in seconds, milliseconds or microseconds: it would be after the year 5000.
_UNITS = ((1e11, 1), (1e14, 1e3), (1e17, 1e6), (1e20, 1e9))
# Eight digits or fewer are a date in ISO 8601, or nothing.
_NUMBER = anchored(r"[0-9]{9,19}(\.[0-9]{1,9})?")
_DATE = anchored(
    r"([A-Za-z]{3,9}, )?([0-9]{1,2}) ([A-Za-z]{3,9}) ([0-9]{4})"
    r"( ([0-9]{2}):([0-9]{2})(:([0-9]{2}))?( ([A-Z]{1,3}|[+-][0-9]{4}))?)?"
)
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH_NUMBERS = {name: at for at, month in enumerate(_MONTHS, 1) for name in (month, month[:3])}
_AMERICAN_ZONES = {"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}
_ZONES = {"UT": 0, "UTC": 0, "GMT": 0, "Z": 0, **_AMERICAN_ZONES}


def moment(given: object) -> int | None:
    """A time; None if none is given. One that cannot be read raises `Skipped`."""
    if given is None or given == "":
        return None
    try:
        if isinstance(given, str):
            return checked_time(_of_text(given.strip()), "time")
        if isinstance(given, int | float) and not isinstance(given, bool):
            return checked_time(_of_number(given), "time")
    except (InvalidRequest, ValueError, OverflowError):
        pass
    raise Skipped(UNREADABLE)


def first_time(value: Value) -> int | None:
    """The first field with a name of a time that can be read. None if there is no such field; if none of them can be read, raises
    `Skipped`."""
    given: dict[str, object] = {}
    for name, each in value.items():
        if len(name) <= _LONGEST_NAME:
            given.setdefault(name.lower().replace("_", "").replace("-", "").replace(" ", ""), each)
    unreadable: Skipped | None = None
    for name in TIMES:
        try:
            if (at := moment(given.get(name))) is not None:
                return at
        except Skipped as reason:
            unreadable = reason
    if unreadable is not None:
        raise unreadable
    return None


def readable(times: Sequence[object]) -> int | None:
    """The first of several times that can be read; None if none can."""
    for given in times:
        try:
            if (at := moment(given)) is not None:
                return at
        except Skipped:
            continue
    return None


def _of_number(given: float) -> int:
    for largest, unit in _UNITS:
        if abs(given) <= largest:
            return round(given * _SECOND / unit)
    raise ValueError("a number that is no time")


def _of_text(given: str) -> int:
    if len(given) > _LONGEST:
        raise ValueError("too long")
    if _NUMBER.fullmatch(given):
        return _of_number(float(given))
    found = _DATE.fullmatch(given)
    if found is None:
        return parse_iso(_iso_spelling(given), "time")
    day, month, year, hour, minute, second, zone = found.group(2, 3, 4, 6, 7, 9, 11)
    at = datetime(
        int(year),
        _MONTH_NUMBERS.get(month.lower(), 0),
        int(day),
        int(hour or 0),
        int(minute or 0),
        int(second or 0),
        tzinfo=_zone(zone),
    )
    return from_datetime(at)


def _zone(given: str | None) -> timezone:
    if given is None:
        return UTC
    if given[0] not in "+-":
        if given not in _ZONES:
            raise ValueError("an unknown time zone")
        return timezone(timedelta(hours=_ZONES[given]))
    sign = -1 if given[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(given[1:3]), minutes=int(given[3:5])))


def _iso_spelling(given: str) -> str:
    """A time zone behind a space, as many programs print it, without the space."""
    words = given.rsplit(" ", 1)
    if len(words) == 2 and words[1] in ("UTC", "GMT", "Z"):
        return f"{words[0]}+00:00"
    if len(words) == 2 and words[1][:1] in ("+", "-"):
        return "".join(words)
    return given
