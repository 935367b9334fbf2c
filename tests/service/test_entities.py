"""Entities over HTTP: of one project, found there and nowhere else, and moved by nothing but a retag."""

from typing import Any

import pytest

from support.servers.http_server import Server, Tenant

ANNA = "My neighbour Anna plays the cello."


@pytest.fixture
def home(either_server: Server) -> Tenant:
    return either_server.new_tenant()


def tell(tenant: Tenant, session: str, words: str, **fields: Any) -> None:
    tenant.new_session(session, **fields)
    tenant.say(session, words)
    tenant.admin.made(f"/v1/sessions/{session}/extract", None)


def named(tenant: Tenant, project: str, user: str | None = None) -> dict[str, str]:
    """The notes of a project's entities by their names."""
    of_user = {} if user is None else {"user_id": user}
    found = tenant.admin.get("/v1/entities", params={"project_id": project, **of_user}).json()["data"]
    return {entity["name"]: entity["notes"] for entity in found}


def found(tenant: Tenant, **body: Any) -> list[tuple[str, str]]:
    hits = tenant.admin.made("/v1/search", {"query": "Who plays the cello?", **body})["data"]
    return [(hit["kind"], hit["content"]) for hit in hits]


def test_an_entity_is_exactly_this(home: Tenant) -> None:
    garden = home.new_project()
    tell(home, "s", ANNA, project_id=garden)
    (entity,) = home.admin.everything("/v1/entities", project_id=garden)
    notes = "The user's neighbour Anna plays the cello."
    assert entity == {"id": entity["id"], "name": "Anna", "type": "person", "notes": notes}
    assert entity["id"].startswith("ent_")
    (recalled,) = home.admin.made("/v1/context", {"session_id": "s", "query": "Anna"})["entities"]
    assert recalled == {**entity, "relevance": recalled["relevance"], "strength": "strong"}
    assert 0.5 <= recalled["relevance"] <= 1


def test_entities_are_of_a_project_and_there_are_none_outside(home: Tenant) -> None:
    """ISO-3, ISO-4"""
    garden, kitchen = home.new_project("Garden"), home.new_project("Kitchen")
    tell(home, "in garden", ANNA, project_id=garden)
    tell(home, "outside", ANNA, project_id=None)
    home.new_session("in kitchen", project_id=kitchen)
    assert list(named(home, garden)) == ["Anna"]
    assert named(home, kitchen) == {}
    entity = ("entity", "Anna: The user's neighbour Anna plays the cello.")
    assert found(home, project_id=garden, kinds=["entities"]) == [entity]
    assert found(home, session_id="in garden", kinds=["entities"]) == [entity]
    for nowhere in ({"project_id": kitchen}, {"project_id": None}, {"session_id": "outside"}):
        assert found(home, kinds=["entities"], **nowhere) == []
    for name in ("outside", "in kitchen"):
        assert home.admin.made("/v1/context", {"session_id": name, "query": "Anna cello"})["entities"] == []


def test_an_entity_stays_in_its_project_when_its_session_moves_until_it_is_retagged(home: Tenant) -> None:
    """ISO-6"""
    garden, kitchen = home.new_project("Garden"), home.new_project("Kitchen")
    tell(home, "s", ANNA, project_id=garden)
    assert home.admin.patch("/v1/sessions/s", {"project_id": kitchen}).status_code == 200
    assert (list(named(home, garden)), named(home, kitchen)) == (["Anna"], {})
    (entity,) = home.admin.everything("/v1/entities", project_id=garden)

    moved = home.admin.patch(f"/v1/entities/{entity['id']}", {"project_id": kitchen})

    assert moved.status_code == 200
    assert {field: moved.json()[field] for field in entity} == entity
    assert (named(home, garden), list(named(home, kitchen))) == ({}, ["Anna"])
    assert found(home, session_id="s", kinds=["entities"])


def test_a_retagged_entity_becomes_one_with_what_is_known_there_by_its_name(home: Tenant) -> None:
    """ISO-6"""
    garden, kitchen = home.new_project("Garden"), home.new_project("Kitchen")
    tell(home, "a", ANNA, project_id=garden)
    tell(home, "b", "My neighbour Anna bakes bread.", project_id=kitchen)
    (here,) = home.admin.everything("/v1/entities", project_id=garden)
    (there,) = home.admin.everything("/v1/entities", project_id=kitchen)
    moved = home.admin.patch(f"/v1/entities/{here['id']}", {"project_id": kitchen}).json()
    assert (moved["id"], moved["name"]) == (there["id"], "Anna")
    assert "cello" in moved["notes"] and "bread" in moved["notes"]
    assert named(home, garden) == {}
    assert home.admin.patch(f"/v1/entities/{here['id']}", {"project_id": garden}).status_code == 404


def test_private_members_do_not_see_each_others_entities(home: Tenant) -> None:
    """ISO-10"""
    private = home.new_project("Private", member_visibility="private")
    tell(home, "ann", ANNA, project_id=private, user_id="ann")
    tell(home, "bob", "My neighbour Anna bakes bread.", project_id=private, user_id="bob")
    for user, own, foreign in (("ann", "cello", "bread"), ("bob", "bread", "cello")):
        notes = named(home, private, user)["Anna"]
        assert own in notes and foreign not in notes
        context = home.admin.made("/v1/context", {"session_id": user, "query": "Anna"})
        searched = found(home, project_id=private, user_id=user) + found(home, session_id=user)
        assert [entity["notes"] for entity in context["entities"]] == [notes]
        assert foreign not in str(context) + str(searched)
    assert named(home, private) == {}, "sessions without a user said nothing"
    assert found(home, project_id=private) == []


def test_an_entity_goes_when_nothing_mentions_it_any_more(home: Tenant) -> None:
    garden = home.new_project()
    tell(home, "a", ANNA, project_id=garden)
    tell(home, "b", "My neighbour Anna bakes bread.", project_id=garden)
    home.admin.delete("/v1/sessions/a")
    notes = named(home, garden)["Anna"]
    assert "bread" in notes and "cello" not in notes
    assert "cello" not in str(found(home, project_id=garden))
    home.admin.post("/v1/sessions/b/clear")
    assert named(home, garden) == {}


def test_search_merges_kinds_the_best_of_each_first(home: Tenant) -> None:
    garden = home.new_project()
    tell(home, "s", ANNA, project_id=garden)
    for words in ("The roses need water.", "It rains in May."):
        home.say("s", words)
    home.admin.made("/v1/memories", {"session_id": "s", "contents": ["Bread is in the kitchen.", "Salt too."]})
    hits = home.admin.made("/v1/search", {"query": "Who plays the cello?", "project_id": garden})["data"]
    best = {hit["kind"]: hit for hit in hits[:3]}
    assert set(best) == {"episode", "memory", "entity"}
    assert all(hit["score"] == hit["relevance"] > 0.9 and "cello" in hit["content"] for hit in hits[:3])
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    shown = {kind: (hit["session_id"], hit["role"]) for kind, hit in best.items()}
    assert shown == {"episode": ("s", "user"), "memory": ("s", None), "entity": (None, None)}
    for kind, singular in (("episodes", "episode"), ("memories", "memory"), ("entities", "entity")):
        only = home.admin.made("/v1/search", {"query": "cello", "project_id": garden, "kinds": [kind]})["data"]
        assert {hit["kind"] for hit in only} == {singular}
    assert len(found(home, project_id=garden, limit=2)) == 2


def test_an_entity_with_all_that_mentions_it_is_exactly_this(home: Tenant) -> None:
    """MEM-17"""
    garden = home.new_project()
    tell(home, "s", "My friend Marta works at Contoso.", project_id=garden)
    marta, contoso = home.admin.everything("/v1/entities", project_id=garden)
    shown = home.admin.get(f"/v1/entities/{marta['id']}").json()
    (mention,) = shown["mentions"]
    assert shown == {
        **marta,
        "aliases": [],
        "relations": [{"relation": "works at", "entity_id": contoso["id"], "message_ids": [mention["message_id"]]}],
        "mentions": [mention],
    }
    assert mention == {
        "message_id": mention["message_id"],
        "session_id": "s",
        "user_id": None,
        "role": "user",
        "author": None,
        "content": "My friend Marta works at Contoso.",
        "created_at": mention["created_at"],
    }
    assert home.admin.get(f"/v1/entities/{marta['id']}/mentions").json() == {"data": [mention], "next_cursor": None}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("", {}, "name"),
        ("", {"type": "dragon"}, "type"),
        ("", {"notes": None}, "notes: must not be null"),
        ("", {"project_id": None}, "project_id: must not be null"),
        ("", {"name": "x" * 121}, "name"),
        ("", {"aliases": [f"a{number}" for number in range(51)]}, "aliases"),
        ("", {"colour": "red"}, "colour"),
        ("", {"user_id": "ann"}, "user_id"),
        ("", {"project_id": "proj_0000000000000001", "name": "x"}, "project_id"),
        ("/merge", {}, "into"),
        ("/split", {}, "aliases"),
        ("/split", {"aliases": []}, "aliases"),
        ("/split", {"message_ids": ["msg_0000000000200001"]}, "name"),
        ("/split", {"aliases": ["Anna"], "name": "x"}, "name"),
    ],
)
def test_what_cannot_be_done_with_an_entity_is_refused_by_field(
    home: Tenant, path: str, body: dict[str, Any], field: str
) -> None:
    """MEM-17: and changes nothing."""
    garden = home.new_project()
    tell(home, "s", ANNA, project_id=garden)
    (before,) = home.admin.everything("/v1/entities", project_id=garden)
    method = "POST" if path else "PATCH"
    answer = home.admin.request(method, f"/v1/entities/{before['id']}{path}", json=body)
    assert answer.status_code in (413, 422), answer.text
    assert field in answer.text
    assert home.admin.everything("/v1/entities", project_id=garden) == [before]


def test_the_notes_of_an_entity_can_be_emptied(home: Tenant) -> None:
    """MEM-17: what is said later is noted again."""
    garden = home.new_project()
    tell(home, "s", ANNA, project_id=garden)
    (anna,) = home.admin.everything("/v1/entities", project_id=garden)
    emptied = home.admin.patch(f"/v1/entities/{anna['id']}", {"notes": ""})
    assert (emptied.status_code, emptied.json()["notes"], named(home, garden)) == (200, "", {"Anna": ""})
    tell(home, "t", "My neighbour Anna bakes bread.", project_id=garden)
    assert "bread" in named(home, garden)["Anna"] and "cello" not in named(home, garden)["Anna"]


def test_only_an_admin_moves_an_entity_to_another_users_part(home: Tenant) -> None:
    """ISO-10: a key that reads and writes in the project cannot show one user what another said."""
    private = home.new_project("Private", member_visibility="private")
    tell(home, "ann", ANNA, project_id=private, user_id="ann")
    (anna,) = home.admin.everything("/v1/entities", project_id=private, user_id="ann")
    path, to_dov = f"/v1/entities/{anna['id']}", {"project_id": private, "user_id": "dov"}
    writer = home.with_key("read", "write", project_id=private, confined=True)
    refused = writer.patch(path, to_dov)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert writer.patch(path, {"project_id": private, "user_id": "ann"}).status_code == 200
    assert (list(named(home, private, "ann")), named(home, private, "dov")) == (["Anna"], {})
    assert home.admin.patch(path, to_dov).status_code == 200
    assert list(named(home, private, "dov")) == ["Anna"]


def test_a_bound_key_lists_the_entities_that_it_can_get(home: Tenant) -> None:
    """ORG-10: none of a shared project, though it recalls them; its own of a private one."""
    shared, private = home.new_project("Team", member_visibility="shared"), home.new_project("Private")
    tell(home, "s", ANNA, project_id=shared, user_id="bob")
    tell(home, "p", ANNA, project_id=private, user_id="bob")
    bound = home.with_key("read", "write", user_id="bob")
    assert bound.everything("/v1/entities", project_id=shared) == []
    assert bound.made("/v1/context", {"session_id": "s", "query": "Anna"})["entities"] != []
    (own,) = bound.everything("/v1/entities", project_id=private)
    assert bound.get(f"/v1/entities/{own['id']}").status_code == 200
