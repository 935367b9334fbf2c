"""Nobody is told what is not theirs: not in an event, not in an id, not in how long it takes (ISO-4, ORG-4)."""

import re

import pytest

from support.clients.event_streams import following
from support.samples.odd_names import NAMES
from support.servers.http_server import Server, Tenant, segment
from support.servers.pairs import one_process


def test_iso_4_two_tenants_with_the_same_names_hear_only_themselves(server: Server) -> None:
    ours, theirs = server.new_tenant(), server.new_tenant()
    with following(ours) as stream, following(theirs) as other:
        for tenant in (theirs, ours):
            tenant.new_session("kitchen")
            tenant.say("kitchen", "Salt.")
        theirs.admin.patch("/v1/sessions/kitchen", {"title": "Theirs"})
        theirs.admin.delete("/v1/sessions/kitchen")
        for tenant in (theirs, ours):
            tenant.new_session("fence")
        assert stream.up_to("fence") == [("session.created", "kitchen"), ("message.added", "kitchen")]
        assert len(other.up_to("fence")) == 4
        assert ours.default_project_id.encode() in stream.raw
        assert theirs.default_project_id.encode() not in stream.raw
        assert ours.default_project_id.encode() not in other.raw
        (said,) = [told for told in stream.events if told.kind == "message.added"]
        assert said.data["message_ids"] == [ours.admin.get("/v1/sessions/kitchen/messages").json()["data"][0]["id"]]


def test_iso_4_a_confined_key_hears_its_project_alone(tenant: Tenant) -> None:
    garden, cellar = tenant.new_project("Garden"), tenant.new_project("Cellar")
    key = tenant.new_key("read", project_id=garden, confined=True)
    with following(tenant, key) as stream:
        for name, project in (("roses", garden), ("wine", cellar), ("shared", None)):
            tenant.new_session(name, project_id=project)
            tenant.say(name, "A secret.")
            tenant.admin.patch(f"/v1/sessions/{name}", {"title": "A title"})
            tenant.admin.post(f"/v1/sessions/{name}/clear")
            tenant.admin.delete(f"/v1/sessions/{name}")
        tenant.new_session("fence", project_id=garden)
        assert stream.up_to("fence") == [
            ("session.created", "roses"),
            ("message.added", "roses"),
            ("session.changed", "roses"),
            ("session.changed", "roses"),
            ("session.deleted", "roses"),
        ]
        for hidden in (b"wine", b"shared", cellar.encode(), b"secret", b"title"):
            assert hidden not in stream.raw


def test_iso_5_a_session_that_moves_out_of_sight_is_told_as_deleted_and_into_sight_as_created(tenant: Tenant) -> None:
    """ISO-4: neither says where the session went or came from."""
    garden, cellar = tenant.new_project("Garden"), tenant.new_project("Cellar")
    key = tenant.new_key("read", project_id=garden, confined=True)
    tenant.new_session("vine", project_id=garden)
    with following(tenant, key) as stream, following(tenant) as everything:
        for project in (cellar, None, cellar, garden, None, garden):
            answer = tenant.admin.patch("/v1/sessions/vine", {"project_id": project})
            assert answer.status_code == 200
            tenant.say("vine", "Grapes.")
        tenant.new_session("fence", project_id=garden)
        assert stream.up_to("fence") == [
            ("session.deleted", "vine"),
            ("session.created", "vine"),
            ("message.added", "vine"),
            ("session.deleted", "vine"),
            ("session.created", "vine"),
            ("message.added", "vine"),
        ]
        assert {told.data["project_id"] for told in stream.events} == {garden}
        assert cellar.encode() not in stream.raw
        assert b"null" not in stream.raw.replace(b'"user_id": null', b"")
        moves = [told.data["project_id"] for told in everything.events if told.kind == "session.changed"]
        assert everything.up_to("fence").count(("message.added", "vine")) == 6
        assert moves == [cellar, None, cellar, garden, None, garden]


def test_org_3_a_pinned_key_and_the_header_narrow_what_is_told(tenant: Tenant) -> None:
    garden, cellar = tenant.new_project("Garden"), tenant.new_project("Cellar")
    pinned = tenant.new_key("read", project_id=garden)
    with following(tenant, pinned) as stream:
        tenant.new_session("wine", project_id=cellar)
        tenant.new_session("fence", project_id=garden)
        assert stream.up_to("fence") == []


def test_a_stream_can_be_kept_to_the_sessions_of_one_user(tenant: Tenant) -> None:
    with following(tenant, user_id="ada") as stream:
        for name, user in (("hers", "ada"), ("his", "bob"), ("nobody's", None)):
            tenant.new_session(name, user_id=user)
        tenant.new_session("fence", user_id="ada")
        assert stream.up_to("fence") == [("session.created", "hers")]
        assert b"bob" not in stream.raw


def test_org_5_the_sessions_of_a_deleted_project_are_told_where_they_can_be_seen(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    confined = tenant.new_key("read", project_id=garden, confined=True)
    for name in ("roses", "beans"):
        tenant.new_session(name, project_id=garden)
    with following(tenant, confined) as inside, following(tenant) as outside:
        assert tenant.admin.delete(f"/org/projects/{garden}").status_code == 200
        tenant.new_session("fence")
        told = sorted(outside.up_to("fence"))
        assert told == [("session.changed", "beans"), ("session.changed", "roses")]
        inside.until_ended()
        assert {told.kind for told in inside.events} <= {"session.deleted"}
        assert {told.session for told in inside.events} <= {"roses", "beans"}
        assert {told.data["project_id"] for told in inside.events} <= {garden}


def test_a_deleted_project_with_very_many_sessions_is_told_as_one_reset(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    for number in range(101):
        tenant.new_session(f"rose {number}", project_id=garden)
    with following(tenant) as stream:
        assert tenant.admin.delete(f"/org/projects/{garden}").status_code == 200
        tenant.new_session("fence")
        assert {kind for kind, _ in stream.up_to("fence")} == {"reset"}


@pytest.mark.parametrize("name", NAMES)
def test_no_name_can_end_its_line(tenant: Tenant, name: str) -> None:
    with following(tenant) as stream:
        made = tenant.admin.post("/v1/sessions", {"external_id": name, "user_id": name})
        assert made.status_code == 201
        tenant.say(name, "Salt.")
        assert tenant.admin.delete(f"/v1/sessions/{segment(name)}").status_code == 200
        stream.until_kind("session.deleted", name)
        assert [told.data["session_id"] for told in stream.events] == [name] * 3
        assert [told.data["user_id"] for told in stream.events] == [name] * 3
        assert stream.raw.isascii()


@pytest.mark.parametrize("name", ["a\nb", "a\r\ndata: x", "a\u2028b", "a\u0085b", "a\x00b"])
def test_a_name_with_a_line_break_does_not_come_in(tenant: Tenant, name: str) -> None:
    assert tenant.admin.post("/v1/sessions", {"external_id": name}).status_code == 422


@one_process
def test_iso_4_ids_tell_nothing(tenant: Tenant) -> None:
    """An event has one id for all who see it with the same reach, whatever happened in between and whenever they came, and another
    for everybody else: nobody can count what they may not see."""
    garden = tenant.new_project("Garden")
    key = tenant.new_key("read", project_id=garden, confined=True)
    with following(tenant, key) as stream, following(tenant, key) as same, following(tenant) as wide:
        for number in range(5):
            tenant.new_session(f"rose {number}", project_id=garden)
            tenant.new_session(f"wine {number}")
        with following(tenant, key) as late:
            tenant.new_session("fence", project_id=garden)
            streams = (stream, same, wide, late)
            for each in streams:
                each.up_to("fence")
            first, second, whole, last = ([told.id for told in each.events] for each in streams)
        assert len(set(first)) == len(first) == 6
        assert first == second
        assert last == first[-1:]
        assert set(first).isdisjoint(whole)
        assert len(set(whole)) == len(whole) == 11
        assert {len(each) for each in (*first, *whole)} == {48}


def test_iso_4_where_a_stream_begins_has_an_id_of_its_own_each_time(tenant: Tenant) -> None:
    """Equal ones would say that nothing happened between two connections."""
    with following(tenant) as one, following(tenant) as other:
        tenant.new_session("fence")
        one.up_to("fence")
        other.up_to("fence")
        first_ids = [re.findall(rb"^id: (\w+)$", each.raw, re.MULTILINE)[0] for each in (one, other)]
        assert first_ids[0] != first_ids[1]
