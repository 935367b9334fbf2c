"""OPS-1: a part of the database is away, as a server of a distributed one may be: what is asked of all tenants fails, and the rest
goes on. The failing statements are real ones; no package carries a distributed database."""

from collections.abc import Generator
from pathlib import Path

import pytest

from cloister.domain.errors import StorageError
from cloister.domain.scope import Reach
from cloister.services import due_tenants
from cloister.services.memories.claims import Claim
from support.databases.engines import Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.servers.http_server import Server, Tenant, serving
from support.servers.worker_processes import converse

# Counting the entities of all tenants fails, and so does all that needs their table.
NO_COUNTS = {
    "sqlite": "ALTER TABLE entity RENAME TO away",
    "postgres": "REVOKE SELECT ON entity FROM cloister_maintenance",
}
# What a coordinator answers that cannot reach the node of this tenant's rows.
LOST = """
CREATE FUNCTION lost() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'connection to the remote node failed' USING ERRCODE = '08006'; END $$
"""
# Which sessions are due cannot be asked: the rows of one tenant raise an error. Its function may run as any role.
NO_DISCOVERY = (
    "CREATE FUNCTION away(tenant BIGINT) RETURNS BOOLEAN LANGUAGE plpgsql AS "
    "$$ BEGIN IF tenant = {tenant} THEN RAISE EXCEPTION 'away' USING ERRCODE = '08006'; END IF; RETURN true; END $$",
    "CREATE POLICY a_part_is_away ON session AS RESTRICTIVE TO cloister_maintenance USING (away(tenant_id))",
)


@pytest.fixture
def postgres(postgres_server: PostgresServer, tmp_path: Path) -> Generator[Engine]:
    with opened_engine("postgres", tmp_path, lambda: postgres_server) as made:
        yield made


def metrics(server: Server) -> str:
    return server.nobody.get("/metrics").text


def said(tenant: Tenant) -> int:
    answer = tenant.admin.post("/v1/sessions/s/messages", json={"role": "user", "content": "I live in Graz."})
    return int(answer.status_code)


def break_writes(engine: Engine, tenant: int) -> None:
    """Every change of a session of this tenant fails."""
    if engine.name == "sqlite":
        engine.rows(
            f"CREATE TRIGGER lost BEFORE UPDATE ON session WHEN NEW.tenant_id = {tenant} "
            "BEGIN SELECT RAISE(ABORT, 'connection to the remote node failed'); END"
        )
    else:
        engine.rows(LOST)
        condition = f"FOR EACH ROW WHEN (NEW.tenant_id = {tenant}) EXECUTE FUNCTION lost()"
        engine.rows(f"CREATE TRIGGER lost BEFORE UPDATE ON session {condition}")


def test_a_server_whose_counts_fail_is_ready_and_says_that_they_are_unknown(engine: Engine) -> None:
    with serving(engine.services()) as server:
        assert server.nobody.get("/readyz").json()["waiting"] == 0
        engine.rows(NO_COUNTS[engine.name])
        answer = server.nobody.get("/readyz")
        assert (answer.status_code, answer.json()["status"], answer.json()["waiting"]) == (200, "ready", "unknown")
        assert answer.json()["schema_version"] > 0
        text = metrics(server)
        assert "cloister_storage_up 1.0" in text
        assert "cloister_index_waiting" not in text
        assert "cloister_extraction_waiting 0.0" in text, "what can be counted is"


def test_a_node_that_is_away_makes_the_server_ready_for_all_others(postgres: Engine) -> None:
    with serving(postgres.services()) as server:
        one, other = server.new_tenant("One"), server.new_tenant("Other")
        one.new_session("s")
        other.new_session("s")
        break_writes(postgres, number(postgres, "One"))
        assert (said(one), said(other), said(one)) == (503, 201, 503)
        assert server.nobody.get("/readyz").status_code == 200
        assert "cloister_storage_write_failures_total 2.0" in metrics(server)
        assert "cloister_storage_writes_failing 0.0" in metrics(server)


def number(engine: Engine, name: str) -> int:
    ((found,),) = engine.rows(f"SELECT tenant_id FROM tenant WHERE name = '{name}'")
    assert isinstance(found, int)
    return found


def test_the_sessions_of_other_tenants_are_claimed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tenant whose claim failed is tried again after a while."""
    services = engine.services()
    reaches = [Reach(tenant=services.projects.create_tenant(name)[0]) for name in ("One", "Two", "Three")]
    for reach in reaches:
        for session in ("a", "b"):
            converse(services, reach, session)
    away = reaches[1].tenant
    break_writes(engine, away)
    claims: list[Claim] = []
    for _ in range(4):
        claim = services.claims.claim_due()
        assert claim is not None
        claims.append(claim)
    assert {claim.reach.tenant for claim in claims} == {reaches[0].tenant, reaches[2].tenant}
    assert len({claim.session for claim in claims}) == 4
    assert services.claims.claim_due() is None, "nothing else can be claimed, and this one is left out"
    engine.rows("DROP TRIGGER lost" if engine.name == "sqlite" else "DROP TRIGGER lost ON session")
    assert services.claims.claim_due() is None
    monkeypatch.setattr(due_tenants.time, "monotonic", lambda: due_tenants.time.time() + 1e9)
    claim = services.claims.claim_due()
    assert claim is not None and claim.reach.tenant == away


def test_the_error_is_raised_where_nothing_else_is_due(engine: Engine) -> None:
    """A worker logs it, and pauses."""
    services = engine.services()
    reach = Reach(tenant=services.projects.create_tenant("One")[0])
    converse(services, reach, "a")
    break_writes(engine, reach.tenant)
    with pytest.raises(StorageError):
        services.claims.claim_due()


def test_tenants_that_were_due_before_are_served_while_it_cannot_be_asked_which_are(postgres: Engine) -> None:
    services = postgres.services()
    # The rows of the first are read first.
    two, one = (Reach(tenant=id) for id in sorted(services.projects.create_tenant(name)[0] for name in ("One", "Two")))
    for reach in (one, two):
        converse(services, reach, "a")
    seen = [services.claims.claim_due(), services.claims.claim_due()]
    assert {claim.reach.tenant for claim in seen if claim} == {one.tenant, two.tenant}
    for reach in (one, two):
        converse(services, reach, "b")
    for statement in NO_DISCOVERY:
        postgres.rows(statement.format(tenant=two.tenant))
    with pytest.raises(StorageError):
        services.claims.is_any_due()
    claim = services.claims.claim_due()
    assert claim is not None and claim.reach.tenant == one.tenant
    own = services.claims.claim(one, services.sessions.get(one, "b").id)
    assert own is None, "claimed already, and not refused because of the other tenant"
    with pytest.raises(StorageError):
        services.claims.claim_due()
