"""The audit finds nothing on an installation whose walls stand, removes what it made, and finds every wall that is broken
(PRF-3)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import cloister.bootstrap
import cloister.storage.sqlite.database as sqlite_database
from cloister import Cloister
from cloister.domain.entries.entry import EntryScope
from cloister.domain.errors import Forbidden, QuotaExceeded
from cloister.domain.identifiers import parse_tenant_id
from cloister.domain.scope import Reach
from cloister.domain.usage import Limits
from cloister.index.interface import PoolIndex, PoolReader
from cloister.interfaces.audit.audit import AuditRun
from cloister.interfaces.audit.report import Audit
from cloister.interfaces.http.langgraph import routes as langgraph
from cloister.interfaces.python.entries.operations import result_shape
from cloister.storage.queries import load_queries
from support.clients.command_line import CommandLine
from support.databases.engines import Engine, exact_index, sqlite_engine
from support.isolation.leaky_index import LeakyIndex
from support.servers.http_server import Server, Tenant

DOORS = {"HTTP", "OpenAI", "Anthropic", "LangGraph", "MCP", "export", "events", "index"}


def stands(found: Audit) -> None:
    assert (found.crossings, found.blind, found.left) == (0, 0, ())
    assert {door.door for door in found.doors} == DOORS
    assert [skipped.door for skipped in found.not_asked] == ["library"], "it is no door of a server"
    unseen = [cell for cell in found.matrix if cell.allowed and not cell.seen]
    assert unseen == [], "what may be seen was seen: else the audit would be blind"
    assert any(not cell.allowed for cell in found.matrix)


def seen_by(found: Audit, reader: str) -> set[str]:
    return {cell.target for cell in found.matrix if cell.reader == reader and cell.seen}


def test_prf_3_an_audit_of_a_directory_prints_who_saw_what_and_leaves_no_row(tmp_path: Path) -> None:
    """Only the bare ids stay of erased tenants and sessions, as after every erasure."""
    shell = CommandLine(data=str(tmp_path))
    shell.run("record", "mine", "My neighbour Rosa plays the cello.", "--create")
    before = rows_with_content(tmp_path)
    outcome = shell.run("audit")
    assert "0 crossings." in outcome.stdout
    assert "tenant 1: admin key" in outcome.stdout
    assert "prove nothing" not in outcome.stdout
    assert rows_with_content(tmp_path) == before
    assert [one["name"] for one in shell.json("tenants", "list")] == ["local"]


def rows_with_content(data: Path) -> dict[str, Any]:
    """Every row of every table, but for the blank rows of erased tenants and sessions."""
    engine = sqlite_engine(data)
    with engine.closing:
        return {table: rows for table, rows in engine.dump().items() if table not in ("tenant", "session")}


def test_prf_3_the_walls_stand_with_qdrant(tmp_path: Path) -> None:
    """In Qdrant's local mode."""
    shell = CommandLine(data=str(tmp_path))
    outcome = shell.run("audit", "--json", CLOISTER_INDEX="qdrant", CLOISTER_QDRANT_URL=":memory:")
    assert '"crossings": 0' in outcome.stdout
    assert '"blind": 0' in outcome.stdout


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
    assert seen_by(found, "both, divided and ann") == {"divided, ann"}
    assert shared_engine.dump(parse_tenant_id(other.tenant_id)) == before
    assert tenant.admin.get("/org/usage").json() == usage
    assert [project["name"] for project in tenant.admin.everything("/org/projects")] == ["Default"]
    assert [one["external_id"] for one in tenant.admin.everything("/v1/sessions")] == ["mine"]
    assert len(tenant.admin.everything("/org/api-keys")) == 1


@pytest.mark.parametrize("either_engine", ["postgres"], indirect=True)
def test_prf_3_the_operator_audits_postgresql_with_tenants_of_the_audits_own(either_server: Server) -> None:
    answer = either_server.operator.post("/operator/audit", timeout=120)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["crossings"], found["blind"], found["tenants"], found["left"]) == (0, 0, 2, [])
    assert all("audit" not in one["name"] for one in either_server.operator.everything("/operator/tenants"))


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


def test_what_could_not_be_removed_is_named(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    services = engine.services()

    def refuse(*_: object) -> None:
        raise Forbidden("not today")

    monkeypatch.setattr(type(services.tenants), "erase", refuse)
    with pytest.raises(KeyboardInterrupt) as caught:
        AuditRun(services, never_asked(), None, progress=interrupt).run()
    assert len(caught.value.__notes__) == 2
    assert "could not remove tenant ten_" in caught.value.__notes__[0]


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


MUTANTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "index": (leaky_index, "index"),
    "query": (without_pool("memory_pool_rows", "pool_memories", "memory_validity_rows"), "HTTP"),
    "door": (unchecked_door, "LangGraph"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_prf_3_a_broken_wall_makes_the_audit_exit_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mutant: str
) -> None:
    break_wall, door = MUTANTS[mutant]
    break_wall(monkeypatch)
    outcome = CommandLine(data=str(tmp_path)).run("audit", code=1)
    printed = " ".join(outcome.stdout.split())
    assert "CROSSING:" in printed
    assert f"through {door}:" in printed
    assert "0 crossings." not in printed
