"""Coming again: behind the last event that was seen, nothing is missed and nothing comes twice; or it is said that some was."""

import pytest

import cloister.interfaces.http.events.routes as wire
from cloister.services.events.bus import BUFFER_SIZE
from support.clients.event_streams import following, inside
from support.servers.http_server import Server, Tenant
from support.servers.pairs import one_process

GARBAGE = ["0", "-1", "x", "é", "0" * 48, "f" * 48, "0" * 47, "a" * 5_000, "%00", "null", "' OR 1=1", " "]


@one_process
@pytest.mark.parametrize("way", ["header", "query"])
def test_who_comes_again_misses_nothing_and_hears_nothing_twice(tenant: Tenant, way: str) -> None:
    with following(tenant) as stream:
        for number in range(3):
            tenant.new_session(f"before {number}")
        last = stream.until_kind("session.created", "before 1")
    for number in range(3):
        tenant.new_session(f"away {number}")
    again = following(tenant, behind=last.id) if way == "header" else following(tenant, last_event_id=last.id)
    with again as stream:
        tenant.new_session("fence")
        missed = [("session.created", name) for name in ("before 2", "away 0", "away 1", "away 2")]
        assert stream.up_to("fence") == missed


@one_process
def test_the_header_wins_over_the_query_because_a_browser_repeats_its_address(tenant: Tenant) -> None:
    with following(tenant) as stream:
        tenant.new_session("first")
        tenant.new_session("second")
        stream.until_kind("session.created", "second")
        first, second = stream.events
    with following(tenant, behind=second.id, last_event_id=first.id) as stream:
        tenant.new_session("fence")
        assert stream.up_to("fence") == []


def test_from_ready_on_nothing_is_missed(tenant: Tenant) -> None:
    with following(tenant) as stream:
        ready = stream.last_id
    tenant.new_session("away")
    with following(tenant, behind=ready) as stream:
        tenant.new_session("fence")
        assert stream.up_to("fence") == [("session.created", "away")]


@pytest.mark.parametrize("behind", GARBAGE)
def test_an_id_that_nobody_gave_is_answered_with_a_reset(tenant: Tenant, behind: str) -> None:
    with following(tenant, last_event_id=behind) as stream:
        tenant.new_session("fence")
        assert stream.up_to("fence") == [("reset", "")]


def test_an_empty_id_is_none(tenant: Tenant) -> None:
    with following(tenant, behind="") as stream:
        tenant.new_session("fence")
        assert stream.up_to("fence") == [("ready", "")]


def test_iso_4_the_id_of_another_tenant_is_one_that_nobody_gave(server: Server) -> None:
    ours, theirs = server.new_tenant(), server.new_tenant()
    with following(theirs) as stream:
        theirs.new_session("theirs")
        last = stream.until_kind("session.created")
    theirs.new_session("theirs too")
    with following(ours, behind=last.id) as stream:
        ours.new_session("fence")
        assert stream.up_to("fence") == [("reset", "")]
        assert b"theirs" not in stream.raw


@one_process
def test_iso_4_an_id_of_an_unconfined_reader_opens_no_more_to_a_confined_one(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    key = tenant.new_key("read", project_id=garden, confined=True)
    with following(tenant) as stream:
        tenant.new_session("wine")
        last = stream.until_kind("session.created")
    tenant.new_session("more wine")
    tenant.new_session("roses", project_id=garden)
    with following(tenant, key, behind=last.id) as stream:
        tenant.new_session("fence", project_id=garden)
        assert stream.up_to("fence") == [("session.created", "roses")]
        assert b"wine" not in stream.raw


@one_process
def test_who_was_away_for_too_long_is_told_to_read_again_and_goes_on_from_there(server: Server, tenant: Tenant) -> None:
    tenant.new_session("roses")
    with following(tenant) as stream:
        ready = stream.last_id
    bus, roses = inside(server, tenant, "roses")
    for _ in range(BUFFER_SIZE + 1):
        bus.changed(roses)
    with following(tenant, behind=ready) as stream:
        tenant.new_session("fence")
        assert stream.up_to("fence") == [("reset", "")]
        after = stream.events[0].id
    with following(tenant, behind=after) as stream:
        tenant.new_session("second fence")
        assert stream.up_to("second fence") == [("session.created", "fence")]


@one_process
def test_a_quiet_stream_is_kept_alive_and_its_place_with_it(
    server: Server, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ISO-4: the place of a confined reader moves on however much happens where it may not look."""
    monkeypatch.setattr(wire, "HEARTBEAT_SECONDS", 0.05)
    garden = tenant.new_project("Garden")
    tenant.new_session("wine")
    key = tenant.new_key("read", project_id=garden, confined=True)
    bus, wine = inside(server, tenant, "wine")
    with following(tenant, key) as stream:
        for _ in range(BUFFER_SIZE + 1):
            bus.changed(wine)
        seen = stream.comments
        stream.until(lambda stream: stream.comments > seen + 1)
        # So much at once may be more than it was given the time to pass over.
        assert {told.kind for told in stream.events} <= {"reset"}
        last = stream.last_id
    tenant.new_session("roses", project_id=garden)
    with following(tenant, key, behind=last) as stream:
        tenant.new_session("fence", project_id=garden)
        assert stream.up_to("fence") == [("session.created", "roses")]
