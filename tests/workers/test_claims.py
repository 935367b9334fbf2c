"""Claims: tenants take turns, two workers never get one session, and a lease lasts as long as its worker lives (MEM-4)."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from cloister.bootstrap import Services, wire
from cloister.domain.errors import Conflict, ModelUnavailable
from cloister.domain.extraction import NO_GUIDANCE, ExtractedEntity, ExtractedMemory, Guidance, KnownMemory, Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import Clock, now
from cloister.services.memories import extract
from cloister.services.memories.claims import Claim
from cloister.storage.queries import load_queries
from support.databases.engines import EMBEDDER, at_once, exact_index, postgres_engine
from support.servers.worker_processes import FACT, Place, converse
from support.setups.extraction import run_due
from support.waiting import eventually

MINUTE = 60 * 1_000_000
SECRET = "the amulet is under the third floorboard"


class Model:
    """An extractor that can be held up, or broken; otherwise each thing said is a memory."""

    name = "model"
    languages: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self.error: Exception | None = None

    def memories(
        self,
        said: Sequence[Statement],
        known: Sequence[KnownMemory],
        of_user: Sequence[KnownMemory] = (),
        guidance: Guidance = NO_GUIDANCE,
    ) -> list[ExtractedMemory]:
        self.asked.set()
        self.go_on.wait(30)
        if self.error is not None:
            raise self.error
        return [ExtractedMemory(content=one.content, sources=(one.id,)) for one in said if one.role == "user"]

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        return []

    def notes(self, said: Sequence[Statement]) -> list[tuple[str, tuple[MessageId, ...]]]:
        return []

    def close(self) -> None:
        self.go_on.set()


@dataclass
class Hands:
    """A clock whose hands are moved by the test."""

    moment: int

    def __call__(self) -> int:
        return self.moment


def cloister(place: Place, *, clock: Clock = now, model: Model | None = None, lease_seconds: float = 60) -> Services:
    """Another process's, as good as."""
    services = wire(
        place.engine.database(),
        index=exact_index(),
        embedder=EMBEDDER,
        clock=clock,
        extractor=model,
        lease_seconds=lease_seconds,
    )
    place.engine.closing.callback(services.index.close)
    return services


def settle(services: Services, name: str, sessions: int) -> Reach:
    reach = Reach(tenant=services.projects.create_tenant(name)[0])
    for number in range(sessions):
        converse(services, reach, f"{name}-{number}")
    return reach


def claimed(services: Services) -> Claim:
    claim = services.claims.claim_due()
    assert claim is not None
    return claim


def test_a_tenant_with_much_to_do_does_not_starve_the_others(place: Place) -> None:
    services = cloister(place)
    crowd = settle(services, "crowd", 40).tenant
    few = {settle(services, name, 3).tenant for name in ("ann", "bob")}
    for _ in range(3):
        # As many sessions of each as there are rounds: without turns, all claims of a round would be of one tenant.
        turns = {claimed(services).reach.tenant for _ in range(3)}
        assert turns == {crowd, *few}, "each has a turn before any has another one"
    assert {claimed(services).reach.tenant for _ in range(37)} == {crowd}


def test_mem_4_workers_that_claim_at_once_get_different_sessions_and_leave_none(place: Place) -> None:
    workers = [cloister(place) for _ in range(4)]
    for name in ("one", "two", "three"):
        settle(workers[0], name, 12)

    def claim_all(number: int) -> list[int]:
        found: list[int] = []
        while (claim := workers[number].claims.claim_due()) is not None:
            found.append(claim.session)
        return found

    found = at_once(claim_all, 4)
    # A worker may be told that there is nothing while another is about to claim the last ones; then that one has them.
    sessions = [session for each in found for session in each]
    assert len(sessions) == len(set(sessions)) == 36
    assert workers[0].claims.claim_due() is None


@pytest.mark.parametrize("back_seconds", [1, 59, 86_400])
def test_mem_4_a_claim_made_before_the_clock_was_set_back_ends_within_a_lease(place: Place, back_seconds: int) -> None:
    """OPS-1: the worker that had it died."""
    hands = Hands(now())
    services = cloister(place, clock=hands)
    reach = settle(services, "One", 1)
    session = services.sessions.get(reach, "One-0").id
    assert services.claims.claim(reach, session) is not None
    hands.moment -= back_seconds * 1_000_000
    assert services.claims.claim(reach, session) is None
    hands.moment += MINUTE
    assert services.claims.claim(reach, session) is None
    hands.moment += 1
    assert services.claims.claim(reach, session) is not None


@pytest.mark.parametrize("failures", [0, 3])
def test_mem_4_what_was_due_before_the_clock_was_set_back_is_extracted(place: Place, failures: int) -> None:
    """OPS-1: within a lease, or within the longest wait for a retry; not when the clock has caught up."""
    hands, model = Hands(now()), Model()
    services = cloister(place, clock=hands, model=model)
    settle(services, "One", 1)
    model.error = ModelUnavailable("The model (x) cannot be reached: start it.") if failures else None
    for _ in range(failures):
        services.extraction.run(claimed(services))
        hands.moment += 75 * MINUTE
    hands.moment -= 30 * 24 * 60 * MINUTE
    assert services.claims.claim_due() is None, "so far back, nothing is due yet"
    hands.moment += 75 * MINUTE if failures else MINUTE
    model.error = None
    assert services.extraction.run(claimed(services)).result == "succeeded"


def test_within_a_tenant_the_session_that_waits_longest_comes_first(place: Place) -> None:
    hands = Hands(now())
    services = cloister(place, clock=hands)
    reach = Reach(tenant=services.projects.create_tenant("One")[0])
    for name in ("first", "second", "third"):
        converse(services, reach, name)
        hands.moment += MINUTE
    order = [services.sessions.get(reach, name).id for name in ("first", "second", "third")]
    assert [claimed(services).session for _ in order] == order


def test_mem_4_the_claim_of_a_dead_worker_expires_and_nothing_is_kept_twice(place: Place) -> None:
    hands = Hands(now())
    dead, alive = cloister(place, clock=hands, model=Model()), cloister(place, clock=hands, model=Model())
    settle(dead, "one", 1)
    claim = claimed(dead)
    assert alive.claims.claim_due() is None
    hands.moment += 2 * MINUTE
    successor = claimed(alive)
    assert dead.extraction.run(claim).result == "lost", "who was thought dead and comes back keeps nothing"
    assert place.number("SELECT count(*) FROM memory") == 0
    outcome = alive.extraction.run(successor)
    assert (outcome.result, outcome.counts.memories, outcome.counts.checked_messages) == ("succeeded", 2, 4)
    assert dead.extraction.run(claim).result == "lost"
    assert place.number("SELECT count(*) FROM memory") == 2
    assert alive.claims.waiting() == 0


def test_mem_4_a_lease_is_renewed_for_as_long_as_the_model_thinks(place: Place) -> None:
    model = Model()
    model.go_on.clear()
    slow, other = cloister(place, model=model, lease_seconds=0.3), cloister(place, lease_seconds=0.3)
    settle(slow, "one", 1)
    claim = claimed(slow)
    until = "SELECT claimed_until FROM session"
    first = place.number(until)
    run = threading.Thread(target=slow.extraction.run, args=(claim,))
    run.start()
    eventually(lambda: place.number(until) > first + 1_000_000)
    assert now() > first, "the first lease alone would have run out"
    assert other.claims.claim_due() is None
    model.go_on.set()
    run.join(30)
    assert slow.extraction.results == {"succeeded": 1, "failed": 0, "lost": 0}


def test_mem_4_a_claim_that_another_took_is_known_to_be_lost_at_its_next_renewal(place: Place) -> None:
    """So that no model is asked in vain: the work could not be stored."""
    services = cloister(place, lease_seconds=0.3)
    reach = settle(services, "One", 1)
    claim = services.claims.claim(reach, services.sessions.get(reach, "One-0").id)
    assert claim is not None
    with services.claims.renewing(claim):
        services.claims.release(Claim(reach=claim.reach, session=claim.session, number=claim.number))
        eventually(lambda: claim.lost)


def test_a_worker_that_stops_lets_go_of_what_it_has_and_another_may_have_it_at_once(place: Place) -> None:
    model = Model()
    model.go_on.clear()
    stopping, other = cloister(place, model=model), cloister(place, model=Model())
    settle(stopping, "one", 1)
    claim = claimed(stopping)
    run = threading.Thread(target=stopping.extraction.run, args=(claim,))
    run.start()
    assert model.asked.wait(30)
    assert stopping.claims.release_all() == 1
    assert run_due(other) == 1
    model.go_on.set()
    run.join(30)
    assert stopping.extraction.results["lost"] == 1
    assert place.number("SELECT count(*) FROM memory") == 2


def test_an_extraction_on_demand_does_not_wait_for_ever_and_disturbs_nobody(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MEM-4."""
    monkeypatch.setattr(extract, "PATIENCE_SECONDS", 0.1)
    model = Model()
    services = cloister(place, model=model)
    reach = settle(services, "one", 1)
    claim = claimed(services)
    with pytest.raises(Conflict):
        services.extraction.extract_now(reach, "one-0")
    services.claims.release(claim)
    assert services.extraction.extract_now(reach, "one-0").checked_messages == 4


def test_a_session_that_moves_while_it_is_extracted_keeps_nothing_of_it(place: Place) -> None:
    """ISO-4: what was known in the old pool does not come into the new one."""
    model = Model()
    model.go_on.clear()
    services = cloister(place, model=model)
    reach = settle(services, "one", 1)
    garden = services.projects.create_project(reach, "Garden").id
    claim = claimed(services)
    run = threading.Thread(target=services.extraction.run, args=(claim,))
    run.start()
    assert model.asked.wait(30)
    services.sessions.move(reach, "one-0", garden)
    model.go_on.set()
    run.join(30)
    assert services.extraction.results["lost"] == 1
    assert place.number("SELECT count(*) FROM memory") == 0
    assert run_due(services) == 1, "it is extracted in its new place"
    assert place.number("SELECT count(*) FROM memory") == 2


def test_mem_6_a_failure_changes_nothing_and_is_tried_again_later_and_later(place: Place) -> None:
    hands, model = Hands(now()), Model()
    services = cloister(place, clock=hands, model=model)
    reach = settle(services, "one", 1)
    model.error = ModelUnavailable("The model (x) cannot be reached: start it.")
    waits: list[int] = []
    for failures in range(1, 14):
        outcome = services.extraction.run(claimed(services))
        assert (outcome.result, outcome.error) == ("failed", model.error)
        assert services.claims.claim_due() is None, "not at once"
        waits.append(place.number("SELECT due_at FROM session") - hands.moment)
        hands.moment += waits[-1]
        assert services.claims.failing() == 1
        assert place.number("SELECT failures FROM session") == failures
    for at, wait in enumerate(waits):
        usual = min(5_000_000 << at, 3_600_000_000)
        assert usual <= wait < usual * 1.25
    shown = services.sessions.get(reach, "one-0")
    assert shown.memory_job_pending
    assert shown.last_extraction_error == "The model (x) cannot be reached: start it."
    health = services.health.health()
    assert (health.failing, health.failing_because) == (1, shown.last_extraction_error)
    assert place.number("SELECT count(*) FROM message WHERE is_memory_checked = 1") == 0
    model.error = None
    assert services.extraction.run(claimed(services)).result == "succeeded"
    shown = services.sessions.get(reach, "one-0")
    assert (shown.memory_job_pending, shown.last_extraction_error) == (False, None)
    assert services.claims.failing() == 0
    assert services.extraction.results == {"succeeded": 1, "failed": 13, "lost": 0}


def test_iso_4_an_error_that_quotes_what_was_said_is_shown_nowhere(place: Place) -> None:
    """Not on the session, not to whoever looks after all tenants."""
    model = Model()
    services = cloister(place, model=model)
    reach = settle(services, "one", 1)
    model.error = ValueError(f"cannot read {SECRET}")
    assert run_due(services) == 1
    assert services.sessions.get(reach, "one-0").last_extraction_error == "The extractor failed (ValueError)."
    assert SECRET not in repr(services.health.health())


def test_work_that_cannot_be_stored_leaves_nothing_half_done(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """MEM-6: the answer was there, and the transaction that would have kept it was not."""
    services = cloister(place, model=Model())
    reach = settle(services, "one", 1)
    claim = claimed(services)
    keep = services.memories.add_prepared

    def broken(_: object, *given: Any) -> None:
        keep(*given)
        raise RuntimeError("in the middle")

    with monkeypatch.context() as patch:
        patch.setattr(type(services.memories), "add_prepared", broken)
        assert services.extraction.run(claim).result == "failed"
    assert place.number("SELECT count(*) FROM memory") == 0
    assert place.number("SELECT count(*) FROM message WHERE is_memory_checked = 1") == 0
    assert services.sessions.get(reach, "one-0").last_extraction_error == "The extractor failed (RuntimeError)."
    place.make_due()
    assert run_due(services) == 1
    assert place.rows("SELECT content FROM memory ORDER BY content") == [
        (f"{FACT} one-0-0.",),
        (f"{FACT} one-0-1.",),
    ]


CROWD = """
INSERT INTO session (
    session_id, tenant_id, external_id, project_id, pool_id, tags, metadata, next_sequence, message_count, changed_version,
    rebuilt_version, created_at, updated_at, due_at
) SELECT
    session_id % 1000000000 + n, tenant_id, 'other ' || n, project_id, pool_id, '[]', '{}', 1, 0, 1, 1, 1, n,
    CASE WHEN n % 3 = 0 THEN n END
FROM session, generate_series(1, 6000) AS n
"""


@pytest.mark.parametrize("query", ["due_session", "claim_due"])
def test_looking_for_work_reads_no_session_that_is_not_due(migrated_postgres: str, query: str) -> None:
    """Whatever the planner believes of how many are due."""
    engine = postgres_engine(migrated_postgres)
    with engine.closing:
        settle(engine.services(), "one", 1)
        engine.rows(CROWD)
        engine.rows("ANALYZE")
    with psycopg.connect(migrated_postgres) as connection:
        text = f"EXPLAIN {load_queries(postgres=True)[query]}"
        parameters = {"now": now(), "after": 0, "tenant": 1, "claim": 1, "until": 1}
        plan = "\n".join(line for (line,) in connection.execute(text.encode(), parameters))
    assert "using session_due" in plan
    assert "Seq Scan" not in plan
