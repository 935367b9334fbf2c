"""What is the same conversation when it is imported again (ORG-12): decided by the words, and nothing is dropped in silence."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from cloister.domain.archive.conversations import (
    ConversationRecord,
    FactRecord,
    Spoken,
    SpokenRecord,
    conversation_lines,
)
from cloister.domain.archive.imported import Imported
from cloister.domain.archive.matching import position_id
from cloister.domain.conversation import Draft
from cloister.domain.identifiers import ProjectId
from cloister.domain.scope import Reach
from cloister.domain.timestamps import parse_iso
from cloister.services.archive.import_conversations import FORGOTTEN, OTHER_ID
from cloister.services.conversations.record import PreparedMessage, Recorder
from cloister.services.memories.corrections import MemoryChange
from support.databases.engines import Engine
from support.setups.archives import import_into
from support.setups.memories import MemorySetup, settle_house


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def records(words: Sequence[str], first: int = 1, name: str = "log:c1", *, continues: bool = False) -> list[Spoken]:
    """A conversation without ids: each message is known by its position."""
    spoken = [
        SpokenRecord(source_id=position_id(at), role="user", author=None, content=content, created_at=at)
        for at, content in enumerate(words, first)
    ]
    return [
        ConversationRecord(external_id=name, user_id=None, title=None, created_at=1, updated_at=1, continues=continues),
        *spoken,
    ]


def lines(given: list[Spoken], project: ProjectId | None = None, user: str = "zoe") -> list[bytes]:
    return list(conversation_lines(given, project=project, user=user, created_by="test"))


def import_words(house: MemorySetup, *words: str, project: ProjectId | None = None, user: str = "zoe") -> Imported:
    return import_into(house, lines(records(words), project, user))


def stored(house: MemorySetup) -> list[tuple[str | None, list[str]]]:
    """The words of every session, with its user."""
    found = [
        (session, house.services.sessions.messages(house.reach, session.external_id, limit=200)[1])
        for session in house.services.sessions.page(house.reach, limit=50)
    ]
    return sorted((session.user_id, [message.content for message in messages]) for session, messages in found)


def test_iso_4_a_confined_import_does_not_say_that_an_id_is_taken_outside(house: MemorySetup) -> None:
    """ORG-12: what it adds, and all that it answers, is the same whether the id is taken in another project or not."""
    taken, free = house.project("Taken"), house.project("Free")
    import_words(house, "Hello.", "I have a cat.", project=house.project("Outside"))
    answers = [
        house.services.import_lines.run(
            replace(house.reach, confined_to=project), lines(records(["Hi.", "I have a dog."], name=name), project)
        )
        for project, name in ((taken, "log:c1"), (free, "log:c2"))
    ]
    assert answers[0] == answers[1] and answers[0].remarks == {}


def test_org_12_another_conversation_with_the_same_id_is_stored_too(engine: Engine, house: MemorySetup) -> None:
    """ORG-12: under an id of its own, which the result says; a repeated import changes nothing, and a longer one adds the rest."""
    assert import_words(house, "Hello.", "I have a cat.").remarks == {}
    second = import_words(house, "Hello.", "I have a dog.")
    assert (second.added.sessions, second.added.messages, second.unchanged.messages) == (1, 2, 0)
    assert second.remarks == {OTHER_ID: 1} and second.skipped == {}
    before = engine.dump()
    for words in (("Hello.", "I have a cat."), ("Hello.", "I have a dog."), ("Hello.",)):
        again = import_words(house, *words)
        assert (again.added.messages, again.unchanged.messages, again.remarks) == (0, len(words), {})
    assert engine.dump() == before
    assert import_words(house, "Hello.", "I have a dog.", "It barks.").added.messages == 1
    assert import_words(house, "Hello.", "I have a cat.", "It purrs.").added.messages == 1
    assert import_words(house, "Hello.", "I have a fish.").added.messages == 2
    assert stored(house) == [
        ("zoe", ["Hello.", "I have a cat.", "It purrs."]),
        ("zoe", ["Hello.", "I have a dog.", "It barks."]),
        ("zoe", ["Hello.", "I have a fish."]),
    ]


def test_org_12_the_same_conversation_is_stored_for_every_user_and_project(house: MemorySetup) -> None:
    """ORG-12: and once for each; a caller who is confined to a project, where the id is taken outside it, too."""
    garden = house.project("Garden")
    confined = Reach(tenant=house.reach.tenant, confined_to=garden)
    assert import_words(house, "I have a cat.").added.messages == 1
    for _ in range(2):
        import_words(house, "I have a cat.", user="ann")
        import_words(house, "I have a cat.", project=garden)
        house.services.import_lines.run(confined, lines(records(["I have a cat."]), garden, "bob"))
    assert stored(house) == [(user, ["I have a cat."]) for user in ("ann", "bob", "zoe", "zoe")]


def test_org_12_a_difference_behind_many_equal_messages_is_stored(engine: Engine, house: MemorySetup) -> None:
    """ORG-12: also in a later batch than the first, in parts that alternate, and twice in one stream."""
    same = [f"Message {number}." for number in range(250)]
    import_words(house, *same, "I have a cat.")
    longer = import_words(house, *same, "I have a dog.", "It barks.")
    assert (longer.added.messages, longer.unchanged.messages, longer.remarks) == (2, 250, {OTHER_ID: 1})
    assert import_words(house, *same, "I have a dog.", "It barks.", "Loudly.").added.messages == 1
    parts = [
        *records(["Hello."], name="log:a"),
        *records(["Good morning."], name="log:b"),
        *records(["I am A."], 2, "log:a", continues=True),
        *records(["Hello.", "I am not A."], name="log:a"),
        *records(["I am B."], 2, "log:b", continues=True),
        *records(["Really."], 3, "log:a", continues=True),
    ]
    assert import_into(house, lines(parts)).added.messages == 7
    before = engine.dump()
    assert import_into(house, lines(parts)).added.messages == 0
    assert engine.dump() == before
    assert stored(house)[:3] == [
        ("zoe", ["Good morning.", "I am B."]),
        ("zoe", ["Hello.", "I am A."]),
        ("zoe", ["Hello.", "I am not A.", "Really."]),
    ]


def test_org_12_a_session_that_was_not_imported_gets_no_conversation(house: MemorySetup) -> None:
    """ORG-12: an application's own session of that id stays as it is."""
    house.session("log:c1", user="zoe")
    house.say("log:c1", "Said here.")
    import_words(house, "I have a cat.")
    assert ("zoe", ["I have a cat."]) in stored(house) and len(stored(house)) == 2


def test_mem_9_a_forgotten_message_is_not_imported_again(house: MemorySetup) -> None:
    """MEM-9: as long as a later one of its conversation is stored; it is counted, and what is new is added behind the rest."""
    words = ["I have a cat.", "I have a secret.", "I have a dog."]
    import_words(house, *words)
    _, messages = house.services.sessions.messages(house.reach, "log:c1", limit=9)
    house.services.forgetting.message(house.reach, messages[1].id)
    again = import_words(house, *words, "I have a fish.")
    assert (again.added.messages, again.unchanged.messages, again.skipped) == (1, 2, {FORGOTTEN: 1})
    assert stored(house) == [("zoe", ["I have a cat.", "I have a dog.", "I have a fish."])]


def test_mem_9_a_forgotten_message_with_an_id_is_not_imported_again(house: MemorySetup) -> None:
    """MEM-9: also at the end of a batch."""
    given = records([f"Message {number}." for number in range(1, 251)])
    for at, each in enumerate(given):
        if isinstance(each, SpokenRecord):
            given[at] = SpokenRecord(
                source_id=f"m{at}", role="user", author=None, content=each.content, created_at=each.created_at
            )
    import_into(house, lines(given[:-1]))
    _, messages = house.services.sessions.messages(house.reach, "log:c1", limit=200)
    for message in messages[-3:]:
        house.services.forgetting.message(house.reach, message.id)
    again = import_into(house, lines(given))
    assert (again.added.messages, again.unchanged.messages, again.skipped) == (1, 246, {FORGOTTEN: 3})


def test_org_12_what_differs_later_is_not_mixed_into_a_third_conversation(house: MemorySetup) -> None:
    """ORG-12: the rest of a conversation does not fill the positions that a shorter one with the same id does not have."""
    same = [f"Message {number}." for number in range(250)]
    import_words(house, "Hello.")
    import_words(house, *same, "I have a cat.")
    assert import_words(house, *same, "I have a dog.").added.messages == 1
    assert [words for _, words in stored(house) if len(words) == 1] == [["Hello."], ["I have a dog."]]


def test_org_12_two_imports_at_once_lose_nothing(house: MemorySetup, monkeypatch: pytest.MonkeyPatch) -> None:
    """ORG-12: another import stores its conversation under the same id between the look at the session and the write."""
    prepare = Recorder.prepare
    others: list[tuple[str, ...]] = [("Hello.", "I have a dog."), ("I have a fish.",)]

    def interrupted(recorder: Recorder, drafts: Sequence[Draft]) -> list[PreparedMessage]:
        if others:
            import_words(house, *others.pop())
        return prepare(recorder, drafts)

    monkeypatch.setattr(Recorder, "prepare", interrupted)
    import_words(house, "Hello.", "I have a cat.")
    others.append(("Hello.", "I have a cat.", "It sleeps."))
    import_words(house, "Hello.", "I have a cat.", "It purrs.")
    assert sorted(words for _, words in stored(house)) == [
        ["Hello.", "I have a cat.", "It purrs."],
        ["Hello.", "I have a cat.", "It sleeps."],
        ["Hello.", "I have a dog."],
        ["I have a fish."],
    ]


# Memories of other products.


def facts(*given: tuple[str, str], name: str = "mem0:zoe") -> list[Spoken]:
    """A conversation of memories, each with the year in which it was stored."""
    times = [parse_iso(f"{year}-05-01T00:00:00Z", "time") for _, year in given]
    return [
        ConversationRecord(external_id=name, user_id=None, title=None, created_at=1, updated_at=1),
        *(
            FactRecord(content=content, categories=(), metadata={}, created_at=time)
            for (content, _), time in zip(given, times, strict=True)
        ),
    ]


def true_now(house: MemorySetup, user: str = "zoe") -> list[str]:
    found = house.services.memories.of_user(house.reach, user, limit=50)
    return sorted(one.memory.content for one in found if one.status == "active")


MEM0 = facts(("Lives in Oslo", "2024"), ("Lives in Rome", "2023"), ("Likes tea", "2022"))


def test_mem_12_an_imported_memory_supersedes_an_older_one_whatever_their_order(
    engine: Engine, house: MemorySetup
) -> None:
    """A file of mem0 lists memories in any order; importing it again changes nothing."""
    assert import_into(house, lines(MEM0)).added.memories == 3
    assert true_now(house) == ["Likes tea", "Lives in Oslo"]
    before = engine.dump()
    assert import_into(house, lines(MEM0)).added.memories == 0
    assert engine.dump() == before


def test_mem_12_imported_memories_are_compared_with_what_the_same_user_said_here(house: MemorySetup) -> None:
    """And with nothing of another user or project."""
    private = house.project("Garden", "private")
    for name, project, user in (("here", None, "zoe"), ("theirs", None, "bo"), ("far", private, "zoe")):
        house.session(name, project, user)
    for name in ("here", "theirs", "far"):
        drafts = [Draft(role="user", content="I live in Graz.", created_at=parse_iso("2021-01-01T00:00:00Z", "time"))]
        house.services.record.messages(house.reach, name, drafts)
        house.services.extraction.extract_now(house.reach, name)
    import_into(house, lines(MEM0))
    statuses = {name: [one.status for one in house.stored(name)] for name in ("here", "theirs", "far")}
    assert statuses == {"here": ["superseded"], "theirs": ["active"], "far": ["active"]}


def test_mem_13_what_a_person_corrected_or_retracted_is_not_imported_again(house: MemorySetup) -> None:
    import_into(house, lines(MEM0))
    stored = {one.memory.content: one.memory.id for one in house.stored("mem0:zoe")}
    change = MemoryChange(given=frozenset({"content"}), content="Lives in Bergen")
    house.services.corrections.correct(house.reach, stored["Lives in Oslo"], change, by=None)
    house.services.corrections.retract(house.reach, stored["Likes tea"], by=None)
    assert import_into(house, lines(MEM0)).added.memories == 0
    assert import_into(house, lines(facts(("Likes tea", "2025"), name="mem0:zoe-2"))).added.memories == 0
    assert true_now(house) == ["Lives in Bergen"]
