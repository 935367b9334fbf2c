"""What becomes of what was extracted from messages that leave the current branch, and of branches when messages are recorded or
forgotten."""

from typing import Any

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.identifiers import MemoryId, MessageId, format_message_id
from cloister.services.conversations.retention import DAY_MICROSECONDS
from cloister.services.memories.corrections import MemoryChange
from cloister.services.memories.entity_changes import Correction
from cloister.services.memories.extract import Extraction
from support.databases.engines import Engine
from support.setups.archives import branch_out
from support.setups.branches import answer_again, choose, contents, edit
from support.setups.memories import EVERYTHING, MemorySetup, settle_house

SAID = "My brother Xandor works at Zentrix."
MEMORY = "The user's brother Xandor works at Zentrix."


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def left(house: MemorySetup, *words: str) -> MessageId:
    """A session whose words were said and extracted, and whose last words were then replaced by others; gives the old ones."""
    said = house.tell("talk", *words)[-1].id
    edit(house.services, house.reach, "talk", said, "Never mind.", "Fine.")
    return said


def memory_of(house: MemorySetup, content: str) -> MemoryId:
    return next(stored.memory.id for stored in house.stored("talk") if stored.memory.content == content)


def extract(house: MemorySetup) -> None:
    house.services.extraction.extract_now(house.reach, "talk")


def correct(house: MemorySetup, memory: MemoryId, **fields: Any) -> None:
    house.services.corrections.correct(
        house.reach, memory, MemoryChange(given=frozenset(fields), **fields), by="a person"
    )


# What was extracted


def test_memories_leave_with_their_messages_and_come_back_with_them(house: MemorySetup) -> None:
    house.session("talk")
    said = left(house, "Hello.", SAID)
    assert house.memories("talk") == []
    assert not house.is_pending("talk")
    choose(house.services, house.reach, "talk", said)
    assert house.memories("talk") == []
    assert house.is_pending("talk")
    extract(house)
    assert house.memories("talk") == [MEMORY]


def test_what_was_read_together_with_what_left_is_read_again_and_once(house: MemorySetup) -> None:
    """Entities that one extraction found in several messages lose their notes, and get them back from those that stay."""
    project = house.project()
    house.session("talk", project)
    said = house.tell("talk", SAID, "My sister Yelda works at Zentrix.")[-1].id
    before = {entity.name for entity in house.entities(project)}
    edit(house.services, house.reach, "talk", said, "My sister lives in Graz.", "Does she?")
    assert house.is_pending("talk")
    extract(house)
    assert "Yelda" in before and "Yelda" not in house.names(project)
    (firm,) = [entity for entity in house.entities(project) if entity.name == "Zentrix"]
    assert "Xandor" in firm.notes and "Yelda" not in firm.notes
    assert house.memories("talk").count(MEMORY) == 1


@pytest.mark.parametrize("how", ["pin", "correct", "expire", "retract"])
def test_what_a_person_did_to_a_memory_stays_though_its_message_leaves(house: MemorySetup, how: str) -> None:
    """MEM-13: and nothing brings back what was corrected or retracted when the message comes back."""
    house.session("talk")
    said = house.tell("talk", SAID)[0].id
    memory = memory_of(house, MEMORY)
    if how == "retract":
        house.services.corrections.retract(house.reach, memory, by="a person")
    else:
        fields = {
            "pin": {"pinned": True},
            "correct": {"content": "Xandor is retired."},
            "expire": {"expires_at": house.clock.moment + DAY_MICROSECONDS},
        }
        correct(house, memory, **fields[how])
    kept = house.stored("talk")
    edit(house.services, house.reach, "talk", said, "Never mind.", "Fine.")
    assert house.stored("talk") == kept
    choose(house.services, house.reach, "talk", said)
    extract(house)
    assert house.stored("talk") == kept


def test_a_memory_that_a_person_wrote_stays(house: MemorySetup) -> None:
    house.session("talk")
    said = house.tell("talk", SAID)[0].id
    house.services.memories.add(house.reach, "talk", ["Written by hand."])
    edit(house.services, house.reach, "talk", said, "Never mind.", "Fine.")
    assert house.memories("talk") == ["Written by hand."]


def test_a_memory_that_a_person_deleted_does_not_come_back_with_its_branch(house: MemorySetup) -> None:
    """Neither from its own message, nor from another one that says the same; what is said later is extracted."""
    house.session("talk")
    said = house.tell("talk", SAID, "Indeed: my brother Xandor works at Zentrix.")[0].id
    house.services.memories.forget(house.reach, memory_of(house, MEMORY))
    new, _ = edit(house.services, house.reach, "talk", said, "My sister Yelda lives in Graz.", "Does she?")
    extract(house)
    assert house.memories("talk") == ["The user's sister Yelda lives in Graz."]
    choose(house.services, house.reach, "talk", said)
    extract(house)
    assert house.memories("talk") == []
    choose(house.services, house.reach, "talk", new.id)
    extract(house)
    assert house.memories("talk") == ["The user's sister Yelda lives in Graz."]


def test_an_entity_that_a_person_deleted_does_not_come_back_with_its_branch(house: MemorySetup) -> None:
    project = house.project()
    house.session("talk", project)
    said = house.tell("talk", SAID)[0].id
    (xandor,) = [entity for entity in house.entities(project) if entity.name == "Xandor"]
    house.services.entity_changes.delete(house.reach, xandor.id)
    edit(house.services, house.reach, "talk", said, "Never mind.", "Fine.")
    choose(house.services, house.reach, "talk", said)
    extract(house)
    assert "Xandor" not in house.names(project)


def test_an_entity_that_a_person_corrected_stays_without_what_left(house: MemorySetup) -> None:
    project = house.project()
    house.session("talk", project)
    said = house.tell("talk", SAID)[0].id
    (xandor,) = [entity for entity in house.entities(project) if entity.name == "Xandor"]
    correction = Correction(name="Xandor the Great")
    house.services.entity_changes.correct(house.reach, xandor.id, correction)
    edit(house.services, house.reach, "talk", said, "Never mind.", "Fine.")
    (left,) = house.entities(project)
    assert (left.name, left.notes) == ("Xandor the Great", "")
    choose(house.services, house.reach, "talk", said)
    extract(house)
    (back,) = [entity for entity in house.entities(project) if entity.id == xandor.id]
    assert back.name == "Xandor the Great" and "Zentrix" in back.notes


def test_the_older_fact_is_true_again_when_the_newer_one_leaves(house: MemorySetup) -> None:
    """MEM-12."""
    house.session("talk", user="ann")
    (rome,) = house.tell("talk", "I live in Rome.")
    (oslo,) = house.tell("talk", "I live in Oslo.")

    def true_now() -> list[str]:
        return [stored.memory.content for stored in house.stored("talk") if stored.status == "active"]

    assert true_now() == ["The user lives in Oslo."]
    edit(house.services, house.reach, "talk", oslo.id, "It rains.", "Does it?")
    assert true_now() == ["The user lives in Rome."]
    choose(house.services, house.reach, "talk", oslo.id)
    extract(house)
    assert true_now() == ["The user lives in Oslo."]
    assert sorted(house.memories("talk")) == ["The user lives in Oslo.", "The user lives in Rome."]
    assert rome.id < oslo.id


def test_an_extraction_that_runs_while_a_branch_is_left_stores_nothing_of_it(
    house: MemorySetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It loses its lease; the next one reads the branch that is current then."""
    house.session("talk")
    said = house.say("talk", SAID)[0].id
    read = Extraction._read  # pyright: ignore[reportPrivateUsage]
    pending = [lambda: edit(house.services, house.reach, "talk", said, "My sister Yelda lives in Graz.", "Does she?")]

    def read_then_edit(self: Extraction, claim: Any) -> Any:
        work = read(self, claim)
        if pending:
            pending.pop()()
        return work

    monkeypatch.setattr(Extraction, "_read", read_then_edit)
    claim = house.services.claims.claim(house.reach, house.find("talk").id)
    assert claim is not None
    assert house.services.extraction.run(claim).result == "lost"
    assert house.memories("talk") == []
    assert house.is_pending("talk")
    extract(house)
    assert house.memories("talk") == ["The user's sister Yelda lives in Graz."]


# Recording, forgetting, retention


def test_what_is_recorded_follows_the_last_message_of_the_current_branch(house: MemorySetup) -> None:
    house.session("talk")
    first = house.say("talk", "One.")[0]
    new, reply = edit(house.services, house.reach, "talk", first.id, "Uno.", "Si.")
    choose(house.services, house.reach, "talk", first.id)
    drafts = [Draft(role="user", content="Two."), Draft(role="assistant", content="Yes.")]
    recorded = house.services.record.messages(house.reach, "talk", drafts, idempotency_key="once")
    again = house.services.record.messages(house.reach, "talk", drafts, idempotency_key="once")
    assert again.messages == recorded.messages
    assert [message.parent for message in recorded.messages] == [first.id + 1, recorded.messages[0].id]
    assert recorded.messages[1].episode == recorded.messages[0].id
    assert house.find("talk").leaf == recorded.messages[1].id
    _, every = house.services.sessions.messages(house.reach, "talk", limit=EVERYTHING, all_branches=True)
    assert [message.parent for message in every if not message.is_current] == [None, new.id]
    assert reply.parent == new.id


def test_a_certificate_names_the_messages_of_all_branches(house: MemorySetup) -> None:
    """PRF-4, PRF-5: deleting and clearing take them all, and say so before."""
    house.session("talk", house.project())
    branch_out(house, house.project("Other"))
    _, every = house.services.sessions.messages(house.reach, "branched", limit=EVERYTHING, all_branches=True)
    ids = [format_message_id(message.id) for message in every]
    assert not all(message.is_current for message in every)
    tried = house.services.forgetting.contents(house.reach, "branched", dry_run=True)
    assert tried.removal.named["messages"] == ids
    gone = house.services.forgetting.contents(house.reach, "branched")
    assert (gone.messages, gone.removal.named["messages"]) == (len(ids), ids)
    session = house.find("branched")
    assert (session.leaf, session.is_forked, session.message_count) == (None, False, 0)
    house.say("branched", "A new beginning.")
    assert contents(house.services, house.reach, "branched", all_branches=True) == ["A new beginning.", "I see."]


def test_retention_forgets_old_messages_of_all_branches(house: MemorySetup) -> None:
    """MEM-18: what is left follows what is left."""
    project = house.project()
    house.session("talk", project)
    old = house.say("talk", "Long ago.")[0]
    edit(house.services, house.reach, "talk", old.id, "Long ago, too.", "Yes.")
    answer_again(house.services, house.reach, "talk", "No.")
    house.clock.moment += 40 * DAY_MICROSECONDS
    house.say("talk", "Today.")
    house.services.projects.change_project(house.reach, project, settings={"retention_days": 30})
    assert house.services.retention.preview(house.reach, project).messages == 5
    assert house.services.retention.apply(house.reach, project).counts.messages == 5
    session = house.find("talk")
    assert (session.is_forked, session.message_count) == (False, 2)
    _, every = house.services.sessions.messages(house.reach, "talk", limit=EVERYTHING, all_branches=True)
    assert [(message.content, message.parent) for message in every] == [("Today.", None), ("I see.", every[0].id)]
