"""The canary grid at mem0's door: clients of different keys side by side, every read, and nothing crosses (ISO-4). All of them use
the same words, users and agents."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from cloister.services.conversations.record import Recorder
from cloister.services.memories.memories import Memories
from support.clients.mem0_client import ClientError, memories, status_of
from support.interruptions import before
from support.servers.http_server import Server, Tenant

Connect = Callable[..., Any]
# Invented names, so that none can be in an answer by chance; each is one part's alone.
CANARIES = {
    "garden, ada": "Zorvath",
    "garden, bob": "Quimbelo",
    "garden, no user": "Yandrimo",
    "kitchen, ada": "Wextalu",
    "kitchen, no user": "Brosk",
    "other tenant, ada": "Fenwilda",
}
QUESTION = "Who keeps the safe?"
# How many of the reads are lists and searches.
LISTS = 16
LABELS = {"agent_id": "guard", "metadata": {"role": "captain"}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One part of the memories with its canary, and the client and the ids that reach it."""

    canary: str
    client: Any
    user: str | None

    @property
    def entity(self) -> dict[str, str]:
        return {"agent_id": "guard"} if self.user is None else {"user_id": self.user}

    def add(self) -> list[str]:
        named = {} if self.user is None else {"user_id": self.user}
        plain = self.client.add(f"{self.canary} keeps the safe.", infer=False, **LABELS, **named)["results"]
        inferred = self.client.add(f"My friend is called {self.canary}.", **LABELS, **named)["results"]
        return [each["id"] for each in (*plain, *inferred)]

    def seen(self, ids: list[str]) -> list[Any]:
        """Everything that any read answers; `ids` are those of all parts."""
        filters: list[dict[str, Any]] = [
            self.entity,
            {"agent_id": "guard", **self.entity},
            {"AND": [self.entity, {"metadata": {"role": "captain"}}]},
            {"OR": [self.entity, {"agent_id": "guard"}]},
            {"AND": [self.entity, {"NOT": [{"metadata": {"role": "mate"}}]}]},
            {"AND": [self.entity, {"memory_ids": ids}]},
            {"AND": [self.entity, {"keywords": {"icontains": "KEEPS"}}]},
            {"AND": [self.entity, {"created_at": {"gte": "2020-01-01"}}]},
        ]
        return [
            *(self.client.get_all(filters=each) for each in filters),
            *(self.client.search(QUESTION, filters=each, threshold=0) for each in filters),
            self.client.users(),
            *(self._read(self.client.get, id) for id in ids),
            *(self._read(self.client.history, id) for id in ids[::2]),
        ]

    def _read(self, read: Callable[[str], Any], id: str) -> Any:
        try:
            return read(id)
        except ClientError as error:
            assert status_of(error) == 404
            return str(error)


@pytest.fixture
def grid(memory_client: Connect, server: Server) -> dict[str, Part]:
    """Every part. Some clients are bound by their key, some by a header, and some name the user at each call."""
    tenant, stranger = server.new_tenant(), server.new_tenant()
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    keys: dict[str, tuple[str, dict[str, str], str | None]] = {
        "garden, ada": (tenant.new_key("read", "write", project_id=garden, confined=True, user_id="ada"), {}, "ada"),
        "garden, bob": (tenant.new_key("read", "write", user_id="bob"), {"X-Project-ID": garden}, "bob"),
        "garden, no user": (tenant.new_key("read", "write", project_id=garden), {}, None),
        "kitchen, ada": (tenant.key, {"X-Project-ID": kitchen, "X-User-ID": "ada"}, "ada"),
        "kitchen, no user": (tenant.new_key("read", "write", project_id=kitchen, confined=True), {}, None),
        "other tenant, ada": (stranger.key, {}, "ada"),
    }
    return {
        name: Part(canary=CANARIES[name], client=memory_client(server.address, key, **headers), user=user)
        for name, (key, headers, user) in keys.items()
    }


def canaries_in(answers: Any) -> set[str]:
    text = repr(answers).lower()
    return {canary for canary in CANARIES.values() if canary.lower() in text}


def test_iso_4_no_client_sees_what_another_added(grid: dict[str, Part]) -> None:
    """ISO-4, ISO-10, ORG-4, ORG-10. A client without a user gets what its key reaches by id: all of its project."""
    ids = {name: part.add() for name, part in grid.items()}
    every = [id for added in ids.values() for id in added]
    for name, part in grid.items():
        answers = part.seen(every)
        assert all(answer["results"] for answer in answers[:LISTS])
        assert canaries_in(answers[:LISTS]) == {part.canary}
        project = name.partition(",")[0]
        within = {other for other in grid if other.startswith(project)} if part.user is None else {name}
        assert canaries_in(answers) == {CANARIES[other] for other in within}


def test_iso_4_no_client_changes_what_another_added(grid: dict[str, Part]) -> None:
    kept = grid.pop("kitchen, ada")
    ids = kept.add()
    before = kept.seen(ids)
    grid.pop("kitchen, no user")
    for part in grid.values():
        part.client.delete_all(**part.entity)
        part.client.delete_users(**part.entity)
        for id in ids:
            for act in (
                lambda id=id, client=part.client: client.update(id, text="overwritten"),
                lambda id=id, client=part.client: client.delete(id),
                lambda id=id, client=part.client: client.batch_delete([{"memory_id": id}]),
                lambda id=id, client=part.client: client.batch_update([{"memory_id": id, "text": "x"}]),
            ):
                with pytest.raises(ClientError) as raised:
                    act()
                assert status_of(raised.value) == 404
    assert kept.seen(ids) == before


def refused(call: Callable[[], Any], status: int = 403) -> None:
    with pytest.raises(ClientError) as raised:
        call()
    assert status_of(raised.value) == status


def test_a_key_that_is_bound_to_a_user_names_no_other(memory_client: Connect, server: Server, tenant: Tenant) -> None:
    """DOOR-5, ORG-10: a payload narrows, and never widens; a run of another user is as if it were not there."""
    everybody = memory_client(server.address, tenant.key)
    everybody.add("Bob keeps the safe.", user_id="bob", run_id="of-bob", infer=False)
    ada = memory_client(server.address, tenant.new_key("read", "write", user_id="ada"))
    for user in ("bob", "*"):
        refused(lambda user=user: ada.search(QUESTION, filters={"user_id": user}))
        refused(lambda user=user: ada.get_all(filters={"OR": [{"user_id": "ada"}, {"user_id": user}]}))
        refused(lambda user=user: ada.delete_all(user_id=user))
        refused(lambda user=user: ada.delete_users(user_id=user))
    refused(lambda: ada.get_all(filters={"user_id": {"in": ["ada", "bob"]}}))
    refused(lambda: ada.add("x", user_id="bob"))
    refused(lambda: ada.add("x", run_id="of-bob"), 409)
    for run in ("of-bob", "of-nobody"):
        assert ada.get_all(filters={"run_id": run})["results"] == []
        assert ada.search(QUESTION, filters={"run_id": run}, threshold=0)["results"] == []
        assert ada.delete_all(run_id=run)["deleted"] == 0
        ada.delete_users(run_id=run)
    ada.add("Ada keeps the key.", agent_id="guard", infer=False)
    assert memories(ada.get_all(filters={"agent_id": "guard"})) == ["Ada keeps the key."]
    assert [each["name"] for each in ada.users()["results"]] == ["ada", "guard"]
    assert memories(everybody.get_all(filters={"user_id": "ada"})) == ["Ada keeps the key."]
    assert memories(everybody.get_all(filters={"user_id": "bob"})) == ["Bob keeps the safe."]


def test_a_key_that_is_confined_to_a_project_reaches_no_other(
    memory_client: Connect, server: Server, tenant: Tenant
) -> None:
    """DOOR-5, ORG-4."""
    garden, kitchen = tenant.new_project("Garden"), tenant.new_project("Kitchen")
    cook = memory_client(server.address, tenant.key, **{"X-Project-ID": kitchen})
    cook.add("Ada keeps the safe.", user_id="ada", run_id="in-kitchen", infer=False)
    key = tenant.new_key("read", "write", project_id=garden, confined=True)
    for project in (kitchen, "proj_0000000000000001"):
        with pytest.raises(ValueError, match="confined to its project"):
            memory_client(server.address, key, **{"X-Project-ID": project})
    gardener = memory_client(server.address, key)
    assert gardener.get_all(filters={"user_id": "ada"})["results"] == []
    assert gardener.get_all(filters={"run_id": "in-kitchen"})["results"] == []
    assert gardener.users()["results"] == []
    refused(lambda: gardener.add("x", run_id="in-kitchen", user_id="ada"), 409)
    refused(lambda: gardener.search("x", filters={"user_id": "ada"}, project_id=kitchen), 501)
    refused(lambda: gardener.add("x", user_id="ada", org_id="ten_0000000000000001"), 501)
    gardener.delete_users(user_id="ada")
    assert memories(cook.get_all(filters={"user_id": "ada"})) == ["Ada keeps the safe."]


def test_a_key_does_what_its_permissions_say(memory_client: Connect, server: Server, tenant: Tenant) -> None:
    """DOOR-5, ORG-8: a key that may only write is shown nothing that was stored."""
    owner = memory_client(server.address, tenant.key)
    (added,) = owner.add("Ada keeps the safe.", user_id="ada", infer=False)["results"]
    id = added["id"]
    reader = memory_client(server.address, tenant.new_key("read"))
    writer = memory_client(server.address, tenant.new_key("write"))
    assert reader.get(id)["memory"] == "Ada keeps the safe." and len(reader.history(id)) == 1
    for call in (
        lambda: reader.add("x", user_id="ada"),
        lambda: reader.update(id, text="x"),
        lambda: reader.delete(id),
        lambda: reader.delete_all(user_id="ada"),
        lambda: reader.delete_users(user_id="ada"),
        lambda: reader.batch_update([{"memory_id": id, "text": "x"}]),
        lambda: reader.batch_delete([{"memory_id": id}]),
        lambda: writer.get(id),
        lambda: writer.history(id),
        lambda: writer.users(),
        lambda: writer.search(QUESTION, filters={"user_id": "ada"}),
        lambda: writer.get_all(filters={"user_id": "ada"}),
        lambda: writer.update(id, text="x"),
        lambda: writer.batch_update([{"memory_id": id, "text": "x"}]),
    ):
        refused(call)
    for infer in (True, False):
        assert writer.add("I live in Lisbon.", user_id="ada", infer=infer)["results"] == []
    assert reader.get_all(filters={"user_id": "ada"})["count"] == 3
    writer.delete(id)
    refused(lambda: reader.get(id), 404)


def test_all_users_at_once_need_an_admin(memory_client: Connect, server: Server, tenant: Tenant) -> None:
    """DOOR-5: `user_id="*"` reads and deletes across users, within the project of the request."""
    admin = memory_client(server.address, tenant.key)
    garden = memory_client(server.address, tenant.key, **{"X-Project-ID": tenant.new_project("Garden")})
    for user in ("ada", "bob"):
        admin.add(f"The safe of {user} is red.", user_id=user, infer=False)
    garden.add("The safe of cleo is red.", user_id="cleo", infer=False)
    narrowed = memory_client(server.address, tenant.key, **{"X-User-ID": "ada"})
    for client in (memory_client(server.address, tenant.new_key("read", "write")), narrowed):
        refused(lambda client=client: client.get_all(filters={"user_id": "*"}))
        refused(lambda client=client: client.search(QUESTION, filters={"AND": [{"user_id": "*"}]}))
        refused(lambda client=client: client.delete_all(user_id="*"))
        refused(lambda client=client: client.delete_users(user_id="*"))
    assert sorted(memories(admin.get_all(filters={"user_id": "*"}))) == [
        "The safe of ada is red.",
        "The safe of bob is red.",
    ]
    assert len(admin.search("Which safe is red?", filters={"user_id": "*"}, threshold=0)["results"]) == 2
    assert admin.delete_all(user_id="*")["deleted"] == 2
    assert admin.get_all(filters={"user_id": "*"})["count"] == 0
    assert garden.get_all(filters={"user_id": "cleo"})["count"] == 1


def test_in_a_shared_project_a_filter_still_names_the_user(
    memory_client: Connect, server: Server, tenant: Tenant
) -> None:
    """ISO-10, ORG-10: members see each other there, but who asks for one user gets that user's memories only, and who names no user
    gets those that were added without one, whatever the key may."""
    shared = tenant.new_project("Shared", member_visibility="shared")
    both = memory_client(server.address, tenant.new_key("read", "write", project_id=shared))
    admin = memory_client(server.address, tenant.key, **{"X-Project-ID": shared})
    ada = memory_client(server.address, tenant.new_key("read", "write", project_id=shared, user_id="ada"))
    for user in ("ada", "bob", None):
        both.add(f"{user} keeps the safe.", **of_user(user), agent_id="guard", infer=False)
    for client, filters, found in (
        (both, {"user_id": "ada"}, ["ada"]),
        (both, {"agent_id": "guard"}, [None]),
        (both, {"agent_id": "*"}, [None]),
        (both, {"run_id": "*"}, []),
        (both, {"OR": [{"user_id": "ada"}, {"agent_id": "guard"}]}, [None, "ada"]),
        (admin, {"agent_id": "guard"}, [None]),
        (admin, {"OR": [{"user_id": "*"}, {"agent_id": "guard"}]}, [None, "ada", "bob"]),
        (ada, {"user_id": "ada"}, ["ada"]),
        (ada, {"agent_id": "guard"}, ["ada"]),
    ):
        # MEM-11: where several people meet, each memory names whose it is.
        names = ["an unnamed user" if user is None else f'user "{user}"' for user in found]
        expected = [f"{name}: {user} keeps the safe." for name, user in zip(names, found, strict=True)]
        assert sorted(memories(client.get_all(filters=filters))) == expected
        assert sorted(memories(client.search(QUESTION, filters=filters, threshold=0))) == expected


def test_in_a_shared_project_nothing_of_a_user_is_deleted_who_was_not_named(
    memory_client: Connect, server: Server, tenant: Tenant
) -> None:
    """ISO-10: the name of an agent, or `*` for any, is no way around the admin that `user_id="*"` needs."""
    shared = tenant.new_project("Shared", member_visibility="shared")
    client = memory_client(server.address, tenant.new_key("read", "write", project_id=shared))
    deletions: list[Callable[[], Any]] = [
        *(lambda name=name: client.delete_all(**{name: "*"}) for name in ("agent_id", "app_id", "run_id")),
        lambda: client.delete_all(agent_id="guard"),
        lambda: client.delete_users(agent_id="guard"),
        lambda: client.delete_users(app_id="gate"),
    ]
    for user in ("ada", "bob"):
        client.add(f"{user} keeps the safe.", user_id=user, agent_id="guard", app_id="gate", run_id=user, infer=False)
    for delete in deletions:
        client.add("Nobody keeps the safe.", agent_id="guard", app_id="gate", run_id="nobody", infer=False)
        delete()
        assert [client.get_all(filters={"user_id": user})["count"] for user in ("ada", "bob")] == [1, 1]
        assert client.get_all(filters={"agent_id": "guard"})["count"] == 0


def of_user(user: str | None) -> dict[str, str]:
    return {} if user is None else {"user_id": user}


def test_mem_11_a_memory_names_its_user_in_a_shared_project_only(
    memory_client: Connect, server: Server, tenant: Tenant
) -> None:
    """MEM-11: in lists and searches, which become prompts. One memory by its id is as it is stored, and as it is changed."""
    for name, expected in (("shared", 'User "ann" is allergic to nuts.'), ("private", "The user is allergic to nuts.")):
        project = tenant.new_project(name, member_visibility=name)
        client = memory_client(server.address, tenant.new_key("read", "write", project_id=project))
        (added,) = client.add("I am allergic to nuts.", user_id="ann", run_id=name)["results"]
        ann = {"user_id": "ann"}
        assert memories(client.get_all(filters=ann)) == [expected]
        assert memories(client.search("nuts", filters=ann, threshold=0)) == [expected]
        assert client.get(added["id"])["memory"] == "The user is allergic to nuts."


def test_iso_12_a_moved_session_and_a_revoked_key_count_at_the_next_request(
    memory_client: Connect, server: Server, tenant: Tenant
) -> None:
    """ISO-5, ISO-12."""
    garden = tenant.new_project("Garden")
    home = memory_client(server.address, tenant.key)
    moved = memory_client(server.address, tenant.key, **{"X-Project-ID": garden})
    (added,) = home.add("Ada keeps the safe.", user_id="ada", run_id="r", infer=False)["results"]
    ada = {"user_id": "ada"}
    assert home.get_all(filters=ada)["count"] == 1 and moved.get_all(filters=ada)["count"] == 0
    assert tenant.admin.patch("/v1/sessions/r", {"project_id": garden}).status_code == 200
    assert home.get_all(filters=ada)["count"] == 0 and moved.get_all(filters=ada)["count"] == 1
    assert home.search(QUESTION, filters=ada, threshold=0)["results"] == []
    refused(lambda: home.get(added["id"]), 404)
    refused(lambda: home.add("x", user_id="ada", run_id="r"), 409)
    made = tenant.admin.made("/org/api-keys", {"name": "short", "permissions": ["read"]})
    short = memory_client(server.address, made["key"])
    tenant.admin.delete(f"/org/api-keys/{made['key_id']}")
    refused(lambda: short.get_all(filters=ada), 401)


@pytest.mark.parametrize(("infer", "service", "method"), [(False, Memories, "add"), (True, Recorder, "messages")])
def test_iso_10_a_run_that_becomes_another_users_before_it_is_added_to_is_refused(
    memory_client: Connect,
    server: Server,
    tenant: Tenant,
    monkeypatch: pytest.MonkeyPatch,
    infer: bool,
    service: type,
    method: str,
) -> None:
    """ISO-10, ISO-12: what is added goes to the user that the run had, or to nobody."""
    client = memory_client(server.address, tenant.key)
    for run, named in (("ada's", {"user_id": "ada"}), ("nobody's", {})):
        client.add("Hello.", run_id=run, infer=False, **named)

        def create_anew(run: str = run) -> None:
            tenant.admin.delete(f"/v1/sessions/{run}")
            tenant.new_session(run, user_id="bob")

        before(monkeypatch, service, method, create_anew)
        refused(lambda run=run: client.add("I keep the key.", run_id=run, infer=infer), 409)
        assert client.get_all(filters={"user_id": "bob"})["count"] == 0
        assert tenant.admin.get(f"/v1/sessions/{run}").json()["message_count"] == 0


def test_a_missing_id_and_a_foreign_one_are_answered_alike(
    memory_client: Connect, server: Server, tenant: Tenant
) -> None:
    """ISO-4."""
    stranger = memory_client(server.address, server.new_tenant().key)
    own = memory_client(server.address, tenant.key)
    (added,) = stranger.add("Ada keeps the safe.", user_id="ada", infer=False)["results"]
    foreign, missing = added["id"], "mem_0123456789abcdef"
    calls: list[Callable[[str], Any]] = [own.get, own.history, own.delete, lambda id: own.update(id, text="x")]
    for read in calls:
        answers: set[str] = set()
        for id in (foreign, missing):
            with pytest.raises(ClientError) as raised:
                read(id)
            answers.add(str(raised.value).replace(id, "ID"))
        assert answers == {"There is no memory 'ID' here."}


def test_only_one_api_key_is_accepted_and_no_cookie(sqlite_service: Server) -> None:
    tenant = sqlite_service.new_tenant()
    for headers, status in (
        ({"Authorization": f"Token {tenant.key}"}, 200),
        ({"Authorization": f"token {tenant.key}"}, 200),
        ({"Authorization": f"Bearer {tenant.key}"}, 200),
        ({"Authorization": f"Basic {tenant.key}"}, 401),
        ({"X-Api-Key": tenant.key}, 401),
        ({"Mem0-User-ID": "ada"}, 401),
    ):
        answer = sqlite_service.nobody.request("GET", "/mem0/v1/ping/", headers=headers)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/json"
