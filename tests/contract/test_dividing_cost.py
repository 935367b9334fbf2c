"""What dividing a project by user costs (ISO-10). Operations of the engine are counted, not time: the machine may be busy."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

from cloister.domain.conversation import Project
from cloister.domain.scope import MemberVisibility
from cloister.services.tenancy.visibility import VisibilityChange
from cloister.storage.interface import Transaction
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

FEW, TIMES = 12, 4
ROWS_READ = (
    b"SELECT CAST(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) AS BIGINT) FROM pg_stat_xact_user_tables"
)


@contextmanager
def counted(connection: Any, engine: str, counts: list[int]) -> Generator[None]:
    """Count the steps of SQLite's virtual machine, or the rows that PostgreSQL reads, inside one transaction."""
    if engine == "sqlite":
        steps = 0

        def step() -> bool:
            nonlocal steps
            steps += 1
            return False

        connection.set_progress_handler(step, 20)
        try:
            yield
        finally:
            connection.set_progress_handler(None)
        counts.append(steps)
    else:
        # Tables of a test are so small that reading all of one is the cheapest plan; and plans that this connection cached
        # before, which may read a whole table, must not be used.
        connection.execute(b"SET LOCAL enable_seqscan = off")
        connection.execute(b"SET LOCAL plan_cache_mode = force_custom_plan")
        before = connection.execute(ROWS_READ).fetchone()[0]
        yield
        counts.append(connection.execute(ROWS_READ).fetchone()[0] - before)


def cost_of_dividing(setup: MemorySetup, engine: Engine, monkeypatch: pytest.MonkeyPatch, things: int) -> int:
    """Both users speak of each thing, in a session of its own."""
    project = setup.project(f"Garden of {things}", "shared")
    for number in range(things):
        for user in ("ann", "bob"):
            setup.session(f"{things} {number} {user}", project, user)
            setup.tell(f"{things} {number} {user}", f"My brother Xandor{number} likes pears.")
    if engine.name == "postgres":
        engine.rows("ANALYZE")
    counts: list[int] = []
    apply = VisibilityChange.apply

    def counting(
        self: VisibilityChange, transaction: Transaction, changed: Project, visibility: MemberVisibility
    ) -> bool:
        with counted(getattr(transaction, "_connection"), engine.name, counts):  # noqa: B009
            return apply(self, transaction, changed, visibility)

    with monkeypatch.context() as patch:
        patch.setattr(VisibilityChange, "apply", counting)
        setup.services.projects.change_project(setup.reach, project, member_visibility="private")
    for user in ("ann", "bob"):
        assert len(setup.names(project, user)) == things
    return counts[-1]


def test_iso_10_dividing_a_project_is_linear_in_what_its_users_mention(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time in a tenant of its own. A statement that reads all sessions of a user for each thing costs six times as much."""
    few, many = (cost_of_dividing(settle_house(engine), engine, monkeypatch, things) for things in (FEW, TIMES * FEW))
    assert many < 1.25 * TIMES * few, f"{few} operations for {FEW} things, {many} for {TIMES * FEW}"
