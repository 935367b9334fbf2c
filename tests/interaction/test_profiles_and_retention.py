"""Profiles and retention through every way in (MEM-16, MEM-18)."""

import pytest

from cloister import Cloister, InvalidRequest, NotFound
from support.clients.command_line import CommandLine
from support.clients.entry_points import EMBEDDED, HTTP, REMOTE, every_way, only

OLD = "2019-05-02T09:30:00Z"


def talk(memory: Cloister, project_id: str | None) -> None:
    memory.create_session("s", project_id=project_id, user_id="ada")
    memory.record("s", "user", "My neighbour Rosa plays the cello.", created_at=OLD)
    memory.record("s", "user", "Hello again.")


def counts(memory: Cloister, project_id: str | None = None, days: int | None = None) -> tuple[int, ...]:
    found = memory.apply_retention(project_id, dry_run=True, retention_days=days)
    return found.sessions, found.messages


@only([*EMBEDDED, *HTTP, *REMOTE])
def test_mem_18_retention_is_set_tried_and_applied(memory: Cloister) -> None:
    garden = memory.create_project("Garden").project_id
    talk(memory, garden)
    assert memory.tenant_settings().retention_days is None
    assert counts(memory) == counts(memory, garden) == (0, 0)
    assert counts(memory, garden, 30) == counts(memory, None, 30) == (1, 1)
    memory.update_project(garden, settings={"retention_days": 30})
    assert counts(memory) == counts(memory, garden) == (1, 1)
    assert memory.update_tenant_settings(retention_days=365).retention_days == 365
    assert memory.tenant_settings().retention_days == 365
    done = memory.apply_retention(garden)
    assert (done.sessions, done.messages, done.complete) == (1, 1, True)
    assert [message.content for message in memory.messages("s")] == ["Hello again."]
    assert memory.apply_retention().messages == 0
    assert memory.update_tenant_settings(retention_days=0).retention_days is None
    with pytest.raises(InvalidRequest, match="retention_days"):
        memory.update_tenant_settings(retention_days=-1)
    assert memory.update_tenant_settings(retention_days=400, receipt_days=90).receipt_days == 90
    settings = memory.update_tenant_settings(receipt_days=None)
    assert (settings.retention_days, settings.receipt_days) == (400, None)
    with pytest.raises(InvalidRequest, match="receipt_days"):
        memory.update_tenant_settings(receipt_days=0)
    memory.update_tenant_settings(retention_days=None)
    with pytest.raises(InvalidRequest, match="retention_days"):
        memory.apply_retention(retention_days=3)
    with pytest.raises(NotFound):
        memory.apply_retention("proj_00000000000000aa", dry_run=True)


@every_way
def test_mem_16_the_profile_of_a_user_and_of_a_project(memory: Cloister) -> None:
    garden = memory.create_project("Garden", member_visibility="shared").project_id
    for session, project in (("in the garden", garden), ("in none", None)):
        memory.create_session(session, project_id=project, user_id="ada")
        memory.add_memories(session, [f"Ada was {session}."])
    found = memory.user_profile("ada", project_id=garden)
    assert [fact.content for fact in found.facts] == ['user "ada": Ada was in the garden.'], "the project is shared"
    assert [len(fact.memory_ids) for fact in found.facts] == [1]
    assert found.tokens == -(-len(found.text) // 4) and "Ada was in the garden." in found.text
    assert [fact.content for fact in memory.user_profile("ada", project_id=None).facts] == ["Ada was in none."]
    assert memory.user_profile("ada").facts == ()
    assert memory.user_profile("ada", project_id=garden, budget_tokens=5).text == ""
    memory.record("in the garden", "user", "My brother Quill works at Brambleworks.")
    memory.extract("in the garden")
    assert "Quill" in memory.project_profile(garden).text
    with pytest.raises(InvalidRequest, match="budget_tokens"):
        memory.user_profile("ada", budget_tokens=-1)
    with pytest.raises(NotFound):
        memory.project_profile("proj_00000000000000aa")


def test_mem_18_the_command_counts_sets_and_forgets(tmp_path: object) -> None:
    data = f"{tmp_path}/data"
    with Cloister(data) as memory:
        talk(memory, None)
    line = CommandLine(data=data)
    assert "1 message" in line.run("retention", "--days", "30", "--dry-run").stdout
    assert "older than 30 days" in line.run("retention", "--days", "30", "--yes").stdout
    assert "Forgot 1 message" in line.run("retention", "--yes").stdout
    assert "Forgot 0 messages" in line.run("retention").stdout
    assert "keeps what was said" in line.run("retention", "--days", "0").stdout
    assert "receipts after 90 days" in line.run("retention", "--receipt-days", "90").stdout
    assert "as without" in line.run("retention", "--receipt-days", "0").stdout
