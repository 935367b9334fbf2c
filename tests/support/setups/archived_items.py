"""What a tenant may have besides what `archives` sets up: entities with several names and relations, items and responses."""

import json
from typing import Any

from cloister.domain.entity import Entity
from cloister.domain.identifiers import EntityId, ProjectId
from cloister.services.conversations.item_format import encoded, read_item
from cloister.services.conversations.items import ItemWriter
from cloister.services.conversations.sessions import SessionFields
from cloister.services.memories.entity_changes import Correction, EntitySplit
from cloister.storage.interface import Transaction
from cloister.storage.stores.items import ResponseRow, ResponseStore
from cloister.storage.stores.messages import MessageStore
from cloister.storage.stores.sessions import SessionStore
from support.setups.memories import MemorySetup

RESPONSE = 77_777
DEVELOPER: Any = {"type": "message", "role": "developer", "content": "Be kind."}
ASKED: Any = {
    "type": "message",
    "role": "user",
    "content": [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_text", "text": "A böat?"},
    ],
}
CALL: Any = {"type": "function_call", "call_id": "call_7", "name": "weather", "arguments": '{"town":"Secretgrad"}'}
OUTPUT: Any = {"type": "function_call_output", "call_id": "call_7", "output": "\u0000sünny", "n": [1.0, 1, None]}
REPLY: Any = {
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [
        {"type": "output_text", "text": "A boat.", "annotations": [{"type": "url_citation", "url": "https://x"}]}
    ],
}


def named(house: MemorySetup, project: ProjectId, name: str, user: str | None = None) -> Entity:
    return next(each for each in house.entities(project, user) if name in (each.name, *each.aliases))


def furnish_entities(house: MemorySetup) -> tuple[ProjectId, ProjectId]:
    """In a shared and in a private project: names joined by the rule and by hand, one split off, one added, one corrected, one
    deleted; relations; and in the shared one an entity of two users."""
    orchard, attic = house.project("Orchard", "shared"), house.project("Attic", "private")
    changes, reach = house.services.entity_changes, house.reach
    for project, name in ((orchard, "orchard"), (attic, "attic")):
        user = None if project == orchard else "ann"
        house.session(f"ann in {name}", project, "ann")
        house.tell(f"ann in {name}", "My friend Marta plays the cello.")
        house.tell(
            f"ann in {name}", "My friend Marta Silva works at Contoso.", "My colleague Orla Finch lives in Graz."
        )
        house.tell(
            f"ann in {name}", "My friend Pim sells boats.", "My cousin Tilda paints doors.", "My aunt Vesna sings."
        )
        changes.delete(reach, named(house, project, "Vesna", user).id)
        changes.merge(reach, named(house, project, "Pim", user).id, named(house, project, "Tilda", user).id)
        orla = named(house, project, "Orla Finch", user).id
        changes.correct(
            reach, orla, Correction(name="Orla O'Brien", type="person", notes="Ann's boss.", aliases=["OF"])
        )
    marta = named(house, attic, "Marta Silva", "ann").id
    changes.split(reach, marta, EntitySplit(aliases=["Marta Silva"]))
    house.session("bob in orchard", orchard, "bob")
    house.tell("bob in orchard", "My friend Marta Silva keeps bees.", "My neighbour Orla Finch hides gold.")
    boss = named(house, orchard, "Orla O'Brien").id
    changes.correct(reach, boss, Correction(notes="She hides gold.", aliases=["OF", "Goldie", "Orla Finch"]))
    return orchard, attic


def furnish_items(house: MemorySetup, name: str, project: ProjectId | None, response: int = RESPONSE) -> None:
    """A conversation of Ann's with items before, of and after its messages, and a response."""
    items = [read_item(item) for item in (DEVELOPER, ASKED, CALL, OUTPUT, REPLY)]
    fields = SessionFields(external_id=name, project=project, user_id="ann")
    house.services.items.create(house.reach, fields, items)

    def work(transaction: Transaction) -> None:
        session = SessionStore(transaction).get(name)
        asked, reply = MessageStore(transaction).page(session.id, session.pool, limit=9)
        writer = ItemWriter(transaction, session)
        writer.other(encoded({**CALL, "call_id": "call_8"}), id=response + 1, response=response)
        writer.write()
        body: dict[str, Any] = {
            "echo": {"instructions": "Be brief.", "tools": [], "temperature": 0.5, "user": None},
            "created_at": 1_700_000_000,
            "model": "m",
            "status": "completed",
            "finish_reason": "stop",
            "usage": [3, 4],
            "output": [f"fc_{response + 1:016x}"],
            "messages": [asked.id],
        }
        row = ResponseRow(session=name, question=asked.id, reply=reply.id, owns_messages=True, body=json.dumps(body))
        ResponseStore(transaction).add(response, session.id, row)

    house.services.database.write(house.reach, work)


def shown_items(house: MemorySetup, name: str) -> list[tuple[str, Any]]:
    found = house.services.items.page(house.reach, name, limit=50)
    return [(item.id, item.item) for item in found]


def shown_entities(house: MemorySetup, project: ProjectId, user: str | None = None) -> list[tuple[object, ...]]:
    """Everything that is shown of the entities of one part of a project, without ids."""
    found = house.entities(project, user)
    names: dict[EntityId, str] = {each.id: each.name for each in found}
    return [
        (
            each.name,
            each.type,
            each.notes,
            each.aliases,
            [
                (relation.relation, names[relation.entity])
                for relation in house.services.entities.get(house.reach, each.id).relations
            ],
        )
        for each in found
    ]
