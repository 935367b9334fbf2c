"""Moments: whole microseconds inside, ISO 8601 in UTC outside, and nothing that could not be written again."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.errors import InvalidRequest
from cloister.domain.timestamps import as_datetime, checked_time, from_datetime, iso, now, parse_iso

EARLIEST = from_datetime(datetime.min.replace(tzinfo=UTC))
LATEST = from_datetime(datetime.max.replace(tzinfo=UTC))
MOMENTS = st.integers(EARLIEST, LATEST)


@given(MOMENTS)
def test_a_moment_written_and_read_is_the_same_moment(moment: int) -> None:
    assert parse_iso(iso(moment), "created_at") == moment
    assert from_datetime(as_datetime(moment)) == moment
    assert iso(moment).endswith("Z")


@given(MOMENTS, MOMENTS)
def test_written_moments_keep_their_order(one: int, other: int) -> None:
    assert (one < other) == (as_datetime(one) < as_datetime(other))


@pytest.mark.parametrize(
    ("given_time", "moment"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01", 0),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1969-12-31T19:00:00-05:00", 0),
        ("1970-01-01 00:00:01", 1_000_000),
        ("19700101T000000Z", 0),
    ],
)
def test_a_time_is_read_as_utc_unless_it_says_otherwise(given_time: str, moment: int) -> None:
    assert parse_iso(given_time, "created_at") == moment


def test_a_datetime_without_a_zone_is_taken_as_utc() -> None:
    plain = datetime(2026, 1, 31, 9, 30)
    assert from_datetime(plain) == from_datetime(plain.replace(tzinfo=UTC))
    east = plain.replace(tzinfo=timezone(timedelta(hours=2)))
    assert from_datetime(plain) - from_datetime(east) == 2 * 3600 * 1_000_000


@pytest.mark.parametrize(
    "given_time",
    [
        "",
        " ",
        "yesterday",
        "2026-13-01T00:00:00Z",
        "2026-02-30",
        "2026-01-31T25:00:00Z",
        "10000-01-01T00:00:00Z",
        "-0001-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-01-31T09:30:00Q",
        "2026-01-31T09:30:00+99:00",
        "1700000000",
        "2026-01-31T09:30:00Z\x00",
        "\ud800",
        "٢٠٢٦-٠١-٣١",
        "9" * 10_000,
    ],
)
def test_what_is_no_time_is_refused_by_its_fields_name(given_time: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_iso(given_time, "created_at")
    assert caught.value.field == "created_at"


@given(st.text())
def test_no_text_at_all_breaks_the_parser(text: str) -> None:
    try:
        moment = parse_iso(text, "created_at")
    except InvalidRequest:
        return
    assert isinstance(moment, int)


@pytest.mark.parametrize("given_time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_zone_that_leads_out_of_the_calendar_is_refused_before_it_is_stored(given_time: str) -> None:
    with pytest.raises(InvalidRequest):
        checked_time(parse_iso(given_time, "created_at"), "created_at")


@pytest.mark.parametrize("moment", [EARLIEST, -1, 0, LATEST])
def test_every_moment_of_the_calendar_can_be_stored(moment: int) -> None:
    assert checked_time(moment, "created_at") == moment


@pytest.mark.parametrize("moment", [EARLIEST - 1, LATEST + 1, -(1 << 63), 1 << 63, 10**30])
def test_no_moment_outside_the_calendar_can_be_stored(moment: int) -> None:
    with pytest.raises(InvalidRequest):
        checked_time(moment, "created_at")


def test_now_is_a_moment_of_the_calendar() -> None:
    assert checked_time(now(), "now") > from_datetime(datetime(2020, 1, 1, tzinfo=UTC))
