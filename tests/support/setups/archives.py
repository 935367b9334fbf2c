"""Archives in tests: a tenant with something of every kind, its archive, and lines to change."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cloister.domain.archive.imported import Imported
from cloister.domain.archive.lines import Tally, encoded
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.conversation import Draft, SessionChoices
from cloister.domain.extraction import ExtractedMemory
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import Memory
from cloister.services.conversations.sessions import SessionFields
from cloister.services.memories.corrections import MemoryChange
from support.setups.branches import answer_again, choose, edit
from support.setups.memories import MemorySetup, long_talk

ANNS = ("My brother Quillfeather works at Brambleworks.", "I live in Rome.", "I moved to Oslo last week.")
BOBS = ("My sister Thistlewick lives in Ploverdale.", "My neighbour Rosa keeps bees.")
WHOLE_TENANT = ArchiveTarget()


def furnish(house: MemorySetup) -> tuple[ProjectId, ProjectId]:
    """Ann, Bob and sessions without a user in a shared project, in a private one and in none; with memories by hand, observations,
    a moved session, a deleted message, branches, and labels."""
    garden = house.project("Garden", "shared", system_prompt="Be kind. {MEMORIES}", pending_message_count=9)
    cellar = house.project("Cellar", "private")
    for user, words in (("ann", ANNS), ("bob", BOBS), (None, ("My cousin Wren paints boats.",))):
        for name, project in (("garden", garden), ("cellar", cellar), ("outside", None)):
            house.session(f"{user} in {name}", project, user)
            house.tell(f"{user} in {name}", *words)
    services, reach = house.services, house.reach
    services.sessions.create(
        reach,
        SessionFields(
            external_id="labelled",
            project=garden,
            user_id="ann",
            title="A title",
            tags=("blue", "größe"),
            metadata={"b": 1.5, "a": ["x", None, {"deep": True}]},
            choices=SessionChoices(pinned=True, archived=True, system_prompt="Be brief. {PROFILE}"),
        ),
    )
    old = Draft(
        role="user",
        content="In 2019 I had a dog called Bello.\nHe was small.",
        author="Ann Müller",
        created_at=1_546_300_800_000_001,
        metadata={"channel": "mail"},
        categories=("pets",),
    )
    services.record.messages(reach, "labelled", [old, Draft(role="assistant", content="I see.", status="partial")])
    services.memories.add(reach, "labelled", ["Ann prefers tea.", "Ann sings."])
    change_minds(house)
    gone = house.say("labelled", "This will be forgotten.")[0]
    services.forgetting.message(reach, gone.id)
    house.session("long", cellar, "ann")
    house.tell("long", *long_talk(30))
    house.session("moved", garden, "bob")
    house.say("moved", "My friend Lark lives in Dunmore.")
    house.move("moved", cellar)
    branch_out(house, garden)
    return garden, cellar


def branch_out(house: MemorySetup, project: ProjectId) -> None:
    """A session with an edited message, a reply that was made again, a deleted message on another branch, a memory that was deleted
    by hand, and the older of two branches current."""
    services, reach = house.services, house.reach
    house.session("branched", project, "ann")
    (first, _) = house.tell("branched", "My cousin Finch lives in Tarvin.", "He has a boat.")
    edit(services, reach, "branched", first.id, "My cousin Finch lives in Norbury.", "Does he?")
    gone = house.say("branched", "He moved there in May.")[0]
    answer_again(services, reach, "branched", "In May?")
    house.say("branched", "Yes.")
    services.forgetting.message(reach, gone.id)
    services.extraction.extract_now(reach, "branched")
    services.memories.forget(reach, house.stored("branched")[0].memory.id)
    choose(services, reach, "branched", first.id)
    services.extraction.extract_now(reach, "branched")


def change_minds(house: MemorySetup) -> None:
    """Facts that supersede each other, in one session and across two, by their subject and by a pair; one of them said again; and
    memories that people corrected, pinned, let expire and retracted, superseded ones too."""
    year = 365 * 24 * 3_600_000_000
    house.session("facts", None, "ann")
    house.session("more facts", None, "ann")
    homes = [
        ExtractedMemory(content=f"Ann lives in {home}.", sources=(), subject="home", valid_from=at * year)
        for at, home in enumerate(("Rome", "Oslo", "Rome"), 40)
    ]
    for fact in homes:
        remember(house, "facts", fact)
    remember(house, "more facts", replace(homes[0], content="Ann lives in Lisbon.", valid_from=44 * year))
    work = [
        ExtractedMemory(content=f"Ann works at {firm}.", sources=(), subject="employer", valid_from=at * year)
        for firm, at in (("Corvo", 42), ("Brio", 41), ("Apex", 40))
    ]
    _, brio, apex = [memory for fact in work for memory in remember(house, "facts", fact)]
    (dog,) = remember(house, "facts", ExtractedMemory(content="Ann has a dog.", sources=(), valid_from=40 * year))
    remember(
        house,
        "more facts",
        ExtractedMemory(content="Ann has no dog now.", sources=(), valid_from=41 * year, replaces=(dog.id,)),
    )
    corrections, reach = house.services.corrections, house.reach
    for superseded, change in (
        (apex, MemoryChange(pinned=True, given=frozenset({"pinned"}))),
        (brio, MemoryChange(content="Ann works at Bruma.", given=frozenset({"content"}))),
    ):
        corrections.correct(reach, superseded.id, change, by=None)
    tea, sings = (stored.memory.id for stored in house.stored("labelled"))
    corrections.correct(
        reach, tea, MemoryChange(content="Ann prefers green tea.", given=frozenset({"content"})), by="key_1"
    )
    corrections.correct(
        reach,
        tea,
        MemoryChange(
            pinned=True, expires_at=year * 100, metadata={"a": 1}, given=frozenset({"pinned", "expires_at", "metadata"})
        ),
        by=None,
    )
    corrections.retract(reach, sings, by="key_1")


def remember(house: MemorySetup, session: str, *extracted: ExtractedMemory) -> list[Memory]:
    """Memories as an extraction adds them."""
    memories, number = house.services.memories, house.find(session).id
    prepared = memories.prepare(extracted)
    return house.services.database.write(
        house.reach, lambda transaction: memories.add_prepared(transaction, number, prepared, "extracted")
    )


def archive_of(house: MemorySetup, target: ArchiveTarget = WHOLE_TENANT) -> list[bytes]:
    return list(house.services.export.lines(house.reach, target))


def import_into(house: MemorySetup, lines: Sequence[bytes]) -> Imported:
    return house.services.import_lines.run(house.reach, lines)


def changed(lines: Sequence[bytes], change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> list[bytes]:
    """The archive with lines changed, or left out where `change` gives none, and with the counts and hashes that fit."""
    tally, made = Tally(), list[bytes]()
    for line in lines[:-1]:
        fields = change(json.loads(line))
        if fields is not None:
            text = encoded(fields)
            tally.add(fields["kind"], text)
            made.append(text)
    return [*made, encoded(tally.last_line())]


def kinds_of(lines: Sequence[bytes]) -> set[str]:
    return {json.loads(line)["kind"] for line in lines}
