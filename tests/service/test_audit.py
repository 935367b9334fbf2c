"""The audit finds nothing on an installation whose walls stand, removes what it made, and finds every wall that is broken
(PRF-3)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cloister.bootstrap
import cloister.storage.sqlite.database as sqlite_database
from cloister import Cloister
from cloister.domain.conversation import Session
from cloister.domain.entries.entry import EntryScope
from cloister.domain.errors import Forbidden, QuotaExceeded
from cloister.domain.identifiers import parse_tenant_id
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.index.interface import PoolIndex, PoolReader
from cloister.interfaces.audit.app_client import AppAnswer, AppClient
from cloister.interfaces.audit.audit import AuditRun
from cloister.interfaces.audit.local_app import running_app
from cloister.interfaces.audit.reads.read import Read
from cloister.interfaces.audit.report import Audit
from cloister.interfaces.audit.targets import Reader
from cloister.interfaces.http.langgraph import routes as langgraph
from cloister.interfaces.http.mem0.scopes import ProjectScope
from cloister.interfaces.python.entries.operations import result_shape
from cloister.services.chat.named_session import NamedSession
from cloister.services.chat.turns import Turns
from cloister.services.tenancy.api_keys import KeyFields
from cloister.services.tenancy.tenants import Tenants
from cloister.storage.queries import load_queries
from support.clients.command_line import CommandLine
from support.databases.engines import Engine, exact_index, sqlite_engine
from support.isolation.leaky_index import LeakyIndex
from support.servers.http_server import Server, Tenant

DOORS = {"HTTP", "console", "OpenAI", "Anthropic", "LangGraph", "mem0", "MCP", "export", "events", "index"}


def stands(found: Audit) -> None:
    assert (found.crossings, found.not_seen, found.left, found.passed) == (0, (), (), True)
    assert {door.door for door in found.doors} == DOORS
    assert [skipped.door for skipped in found.not_asked] == ["library"], "it is no door of a server"
    unseen = [cell for cell in found.matrix if cell.allowed and not cell.seen]
    assert unseen == [], "what may be seen was seen: else the audit would be blind"
    assert any(not cell.allowed for cell in found.matrix)


def seen_by(found: Audit, reader: str) -> set[str]:
    return {cell.target for cell in found.matrix if cell.reader == reader and cell.seen}


def test_prf_3_an_admin_audits_the_own_tenant_at_a_server(server: Server, shared_engine: Engine) -> None:
    """ORG-7, ISO-4: nothing of another tenant is touched, and what the tenant had and used is as it was."""
    tenant, other = server.new_tenant(), server.new_tenant()
    for one in (tenant, other):
        one.new_session("mine", user_id="ada")
        one.say("mine", "My neighbour Rosa plays the cello.")
    before = shared_engine.dump(parse_tenant_id(other.tenant_id))
    usage = tenant.admin.get("/org/usage").json()
    with Cloister(tenant.address, key=tenant.key) as memory:
        found = memory.audit()
    stands(found)
    assert found.tenants == 1
    assert seen_by(found, "bound to ann") == {"no project, ann", "divided, ann", "shared, ann", "shared, bob"}
    assert seen_by(found, "browser, bound to ann") == seen_by(found, "bound to ann")
    assert seen_by(found, "both, divided and ann") == {"divided, ann"}
    assert shared_engine.dump(parse_tenant_id(other.tenant_id)) == before
    assert tenant.admin.get("/org/usage").json() == usage
    assert [project["name"] for project in tenant.admin.everything("/org/projects")] == ["Default"]
    assert [one["external_id"] for one in tenant.admin.everything("/v1/sessions")] == ["mine"]
    assert len(tenant.admin.everything("/org/api-keys")) == 1


def test_only_an_admin_of_the_whole_tenant_may_audit(tenant: Tenant) -> None:
    garden = tenant.new_project("Garden")
    confined = {"name": "k", "project_id": garden, "confined": True, "permissions": ["read", "write", "admin"]}
    for body in (confined, {"name": "k", "permissions": ["read"]}, {"name": "k", "user_id": "ada"}):
        key = tenant.admin.made("/org/api-keys", body)["key"]
        refused = tenant.caller(key).post("/v1/audit")
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert tenant.admin.post("/v1/audit", headers={"X-Project-ID": garden}).status_code == 422


def test_what_was_made_is_removed_when_the_audit_fails(engine: Engine) -> None:
    """And when it is interrupted: whatever is raised."""
    services = engine.services(limits=Limits(sessions=4))
    reach = Reach(tenant=services.projects.create_tenant("Small")[0])
    with pytest.raises(QuotaExceeded):
        AuditRun(services, never_asked(), reach).run()
    assert services.sessions.page(reach, limit=9) == []
    assert len(services.projects.projects(reach, limit=9)) == 1
    interrupted = engine.services()
    with pytest.raises(KeyboardInterrupt):
        AuditRun(interrupted, never_asked(), reach=None, progress=interrupt).run()
    assert [tenant.name for tenant in interrupted.tenants.page(limit=9)] == ["Small"]


def test_what_could_not_be_removed_makes_the_audit_exit_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PRF-3: the exit code says that the audit did not end as it should, and the report what is left."""

    def refuse(*_: object) -> None:
        raise Forbidden("not today")

    monkeypatch.setattr(Tenants, "erase", refuse)
    ask_only(monkeypatch, lambda read: read.door == "mem0")
    outcome = CommandLine(data=str(tmp_path)).run("audit", code=1)
    assert "0 crossings, 2 things left behind." in outcome.stdout
    assert outcome.stdout.count("COULD NOT BE REMOVED: tenant ten_") == 2


def ask_only(patch: pytest.MonkeyPatch, is_wanted: Callable[[Read], bool]) -> None:
    """A whole audit asks thousands of times. It is asked for less where one read path, or one door, decides the outcome."""
    reads, chats = AuditRun._reads, AuditRun._chats  # pyright: ignore[reportPrivateUsage]

    def fewer(of: Callable[[AuditRun, Reader], list[Read]]) -> Callable[[AuditRun, Reader], list[Read]]:
        return lambda self, reader: [read for read in of(self, reader) if is_wanted(read)]

    patch.setattr(AuditRun, "_reads", fewer(reads))
    patch.setattr(AuditRun, "_chats", fewer(chats))


BROKEN_READS: dict[str, tuple[str, str]] = {
    "fails": ("/v1/receipts/", "answered with 500"),
    "shows nothing": ("/v1/chat/completions", "without"),
    "is refused": ("/v1/export?scope=user", "answered with 403"),
}


@pytest.mark.parametrize("way", BROKEN_READS)
def test_prf_3_a_read_path_that_does_not_work_makes_the_audit_exit_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """It would show nothing to anybody, and so prove nothing."""
    broken, said = BROKEN_READS[way]
    answers = {"fails": 500, "shows nothing": 200, "is refused": 403}
    ask = AppClient.ask

    def answer(self: AppClient, method: str, path: str, headers: Mapping[str, str], body: object = None) -> AppAnswer:
        if path.startswith(broken):
            return AppAnswer(status=answers[way], text="{}")
        return ask(self, method, path, headers, body)

    monkeypatch.setattr(AppClient, "ask", answer)
    ask_only(monkeypatch, lambda read: read.path.startswith(broken))
    outcome = CommandLine(data=str(tmp_path)).run("audit", code=1)
    printed = " ".join(outcome.stdout.split())
    assert "DID NOT WORK, so that it proves nothing: tenant 1: admin key:" in printed
    assert said in printed
    assert "that did not work." in printed


def test_what_could_not_be_removed_is_named(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    services = engine.services()

    def refuse(*_: object) -> None:
        raise Forbidden("not today")

    monkeypatch.setattr(type(services.tenants), "erase", refuse)
    with pytest.raises(KeyboardInterrupt) as caught:
        AuditRun(services, never_asked(), None, progress=interrupt).run()
    assert len(caught.value.__notes__) == 2
    assert "could not remove tenant ten_" in caught.value.__notes__[0]


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), RuntimeError("a mistake")])
def test_what_is_left_when_the_removal_breaks_off_is_named(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    """Also if the audit itself was interrupted before."""
    services = engine.services()

    def break_off(*_: object) -> None:
        raise stop

    monkeypatch.setattr(type(services.tenants), "erase", break_off)
    with pytest.raises(KeyboardInterrupt) as caught:
        AuditRun(services, never_asked(), None, progress=interrupt).run()
    notes = caught.value.__notes__
    assert [note.count("remove tenant ten_") for note in notes] == [1, 1]


def interrupt(done: int, of: int) -> None:
    raise KeyboardInterrupt


def never_asked() -> Any:
    return None


# Broken walls, one at a time. Each is found by the command itself, with exit code 1.


class Gossip(LeakyIndex):
    """Names in every pool what it ever saw in any."""

    def within(self, pool: PoolReader) -> PoolIndex:
        self.lies += [int(str(row[0])) for row in pool.all_rows()]
        return super().within(pool)


def leaky_index(patch: pytest.MonkeyPatch) -> None:
    def opened(*_: object) -> Gossip:
        return Gossip(honest=exact_index())

    patch.setattr(cloister.bootstrap, "open_index", opened)


def without_pool(*names: str) -> Callable[[pytest.MonkeyPatch], None]:
    def broken(*, postgres: bool) -> Mapping[str, str]:
        queries = dict(load_queries(postgres=postgres))
        for name in names:
            assert "s.pool_id = :pool_id" in queries[name]
            queries[name] = queries[name].replace("s.pool_id = :pool_id", ":pool_id > 0")
        return queries

    return lambda patch: patch.setattr(sqlite_database, "load_queries", broken)


def unchecked_door(patch: pytest.MonkeyPatch) -> None:
    """LangGraph's store, with the user of the header but whatever the key says."""

    def run(caller: Any, operation: Any) -> Any:
        whole = Reach(tenant=caller.reach.tenant)
        scope = EntryScope(project=caller.project(required=False), user=f"{caller.reach.user or ''}"[:-3] + "bob")
        (result,) = caller.services.entries.run(whole, scope, [operation])
        return result_shape(result)

    patch.setattr(langgraph, "_run", run)


def unchecked_user(patch: pytest.MonkeyPatch) -> None:
    """mem0's interface, which takes any user of the project that a filter names."""

    def reach_of(self: ProjectScope, user: str | None) -> Reach:
        return replace(self.reach, user=user)

    patch.setattr(ProjectScope, "reach_of", reach_of)


def unchecked_project(patch: pytest.MonkeyPatch) -> None:
    """mem0's interface, where an id of another project is found too."""
    patch.setattr(ProjectScope, "reach", property(lambda self: self.caller.reach))


def unchecked_follower(patch: pytest.MonkeyPatch) -> None:
    """The running reply of a session, for every key of the tenant: there is none, but that is not told either."""

    def find(self: Turns, reach: Reach, named: NamedSession) -> Session:
        return honest(self, Reach(tenant=reach.tenant), named)

    honest = Turns.find
    patch.setattr(Turns, "find", find)


MUTANTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "index": (leaky_index, "index"),
    "query": (without_pool("memory_pool_rows", "pool_memories", "memory_validity_rows"), "HTTP"),
    "door": (unchecked_door, "LangGraph"),
}
# Each of them alone is seen by some reader, through this door.
QUERIES = {
    "pool_recent_messages": "HTTP",
    "pool_messages": "HTTP",
    "pool_memories": "HTTP",
    "pool_memory_page": "mem0",
    "profile_memories": "HTTP",
    "project_decisions": "HTTP",
    "pool_observations": "HTTP",
    "recent_observations_of_user": "MCP",
    "pool_rows": "index",
}
CHECKS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "mem0's user": (unchecked_user, "mem0"),
    "mem0's project": (unchecked_project, "mem0"),
    "running reply": (unchecked_follower, "HTTP"),
} | {name: (without_pool(name), door) for name, door in QUERIES.items()}


class OneDoor(AuditRun):
    """Asks through one door only, and for no replies."""

    door = ""

    def _reads(self, reader: Reader) -> list[Read]:
        return [read for read in super()._reads(reader) if read.door == self.door]

    def _chats(self, reader: Reader) -> list[Read]:
        return []


@pytest.mark.parametrize("check", CHECKS)
def test_prf_3_every_single_check_that_is_removed_is_a_crossing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    """ISO-4: within one tenant, through the door that shows it."""
    break_wall, door = CHECKS[check]
    break_wall(monkeypatch)
    monkeypatch.setattr(OneDoor, "door", door)
    engine = sqlite_engine(tmp_path)
    with engine.closing:
        services = engine.services()
        reach = Reach(tenant=services.projects.create_tenant("Household")[0])
        services.api_keys.create(reach, KeyFields(name="kept", permissions=("read", "write", "admin")))
        with running_app(services) as client:
            found = OneDoor(services, client, reach).run()
    assert door in {crossing.door for crossing in found.found}
    assert not found.passed
    assert found.left == ()


@pytest.mark.parametrize("mutant", MUTANTS)
def test_prf_3_a_broken_wall_makes_the_audit_exit_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    break_wall, door = MUTANTS[mutant]
    break_wall(monkeypatch)
    ask_only(monkeypatch, lambda read: read.door == door)
    outcome = CommandLine(data=str(tmp_path)).run("audit", code=1)
    printed = " ".join(outcome.stdout.split())
    assert "CROSSING:" in printed
    assert f"through {door}:" in printed
    assert " 0 crossings." not in printed
