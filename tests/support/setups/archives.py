"""Archives in tests: a tenant with something of every kind, its archive, and lines to change."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from cloister.domain.archive.imported import Imported
from cloister.domain.archive.lines import Tally, encoded
from cloister.domain.archive.target import ArchiveTarget
from cloister.domain.conversation import Draft
from cloister.domain.identifiers import ProjectId
from cloister.services.conversations.sessions import SessionFields
from support.setups.memories import MemorySetup, long_talk

ANNS = ("My brother Quillfeather works at Brambleworks.", "I live in Rome.", "I moved to Oslo last week.")
BOBS = ("My sister Thistlewick lives in Ploverdale.", "My neighbour Rosa keeps bees.")
WHOLE_TENANT = ArchiveTarget()


def furnish(house: MemorySetup) -> tuple[ProjectId, ProjectId]:
    """Ann, Bob and sessions without a user in a shared project, in a private one and in none; with memories by hand, observations,
    a moved session, a deleted message, and labels."""
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
    gone = house.say("labelled", "This will be forgotten.")[0]
    services.forgetting.message(reach, gone.id)
    house.session("long", cellar, "ann")
    house.tell("long", *long_talk(30))
    house.session("moved", garden, "bob")
    house.say("moved", "My friend Lark lives in Dunmore.")
    house.move("moved", cellar)
    return garden, cellar


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
