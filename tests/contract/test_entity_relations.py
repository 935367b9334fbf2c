"""Relations between entities of one part of a project, with the messages that state them, and never further (MEM-17)."""

from collections.abc import Callable, Sequence

import pytest

from cloister.domain.extraction import ExtractedEntity, ExtractedMemory, ExtractedRelation, Statement
from cloister.domain.identifiers import EntityId, MessageId, ProjectId
from cloister.models.rules.extractor import Rules
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

WORKS = "My friend Marta works at Contoso."
SISTER = "My friend Marta is Berta's sister."
RELATIONS = "SELECT relation FROM entity_relation"


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def named(house: MemorySetup, project: ProjectId, name: str, user: str | None = None) -> EntityId:
    return next(entity.id for entity in house.entities(project, user) if name in (entity.name, *entity.aliases))


def relations(
    house: MemorySetup, project: ProjectId, name: str, user: str | None = None
) -> list[tuple[str, str, list[MessageId]]]:
    """What an entity is to others, by their names, with the messages that say so."""
    names = {entity.id: entity.name for entity in house.entities(project, user)}
    found = house.services.entities.get(house.reach, named(house, project, name, user)).relations
    return [(relation.relation, names[relation.entity], list(relation.messages)) for relation in found]


def test_who_works_where_is_known_from_both_sides_with_its_source(house: MemorySetup) -> None:
    """MEM-17"""
    garden = house.project()
    house.session("a", garden)
    (works,) = house.tell("a", WORKS)
    (sister,) = house.tell("a", SISTER)
    assert relations(house, garden, "Marta") == [
        ("sister of", "Berta", [sister.id]),
        ("works at", "Contoso", [works.id]),
    ]
    assert relations(house, garden, "Contoso") == [("employs", "Marta", [works.id])]
    assert relations(house, garden, "Berta") == [("has sister", "Marta", [sister.id])]
    (again,) = house.tell("a", "My friend Marta still works at Contoso.")
    assert relations(house, garden, "Contoso") == [("employs", "Marta", [works.id, again.id])]


@pytest.mark.parametrize("how", ["message", "clear", "session", "user"])
def test_a_relation_goes_with_its_source(house: MemorySetup, engine: Engine, how: str) -> None:
    """MEM-17, MEM-9: also if both entities are mentioned by others."""
    garden = house.project()
    house.session("a", garden, "ann")
    house.session("b", garden, "bob")
    (works,) = house.tell("a", WORKS)
    house.tell("b", "My friend Marta sings.", "I bought it from my friend at Contoso.", "I work at Contoso.")
    assert relations(house, garden, "Marta") == [("works at", "Contoso", [works.id])]
    if how == "message":
        house.services.forgetting.message(house.reach, works.id)
    elif how == "user":
        house.services.erase_user.erase(house.reach, "ann")
    else:
        forget = house.services.forgetting
        (forget.contents if how == "clear" else forget.session)(house.reach, "a")
    assert relations(house, garden, "Marta") == relations(house, garden, "Contoso") == []
    assert engine.rows(RELATIONS) == []


def test_iso_6_a_relation_stays_when_its_session_moves_and_names_none_of_its_messages(house: MemorySetup) -> None:
    """MEM-17, ISO-4"""
    garden, cellar = house.project(), house.project("Cellar")
    house.session("a", garden)
    (works,) = house.tell("a", WORKS)
    house.move("a", cellar)
    assert relations(house, garden, "Marta") == [("works at", "Contoso", [])]
    house.move("a", garden)
    assert relations(house, garden, "Marta") == [("works at", "Contoso", [works.id])]


def test_iso_4_entities_in_two_projects_are_not_related(house: MemorySetup) -> None:
    """MEM-17: until the other one is in the same project too."""
    garden, cellar = house.project(), house.project("Cellar")
    house.session("a", garden)
    house.tell("a", WORKS)
    contoso = named(house, garden, "Contoso")
    house.services.entities.retag(house.reach, contoso, cellar)
    assert relations(house, garden, "Marta") == relations(house, cellar, "Contoso") == []
    house.services.entities.retag(house.reach, contoso, garden)
    assert [relation[:2] for relation in relations(house, garden, "Marta")] == [("works at", "Contoso")]


def test_iso_10_relations_are_divided_and_shared_with_the_sessions_that_state_them(house: MemorySetup) -> None:
    """MEM-17"""
    garden = house.project()
    for user, words in (("ann", WORKS), ("bob", "My friend Marta lives in Oslo. I work at Contoso.")):
        house.session(f"of {user}", garden, user)
        house.tell(f"of {user}", words)
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    assert [relation[:2] for relation in relations(house, garden, "Marta", "ann")] == [("works at", "Contoso")]
    assert [relation[:2] for relation in relations(house, garden, "Marta", "bob")] == [("lives in", "Oslo")]
    assert relations(house, garden, "Contoso", "bob") == []
    house.services.projects.change_project(house.reach, garden, member_visibility="shared")
    assert sorted(relation[:2] for relation in relations(house, garden, "Marta")) == [
        ("lives in", "Oslo"),
        ("works at", "Contoso"),
    ]


def test_relations_of_merged_names_are_those_of_the_entity_and_go_back_with_an_undo(house: MemorySetup) -> None:
    """MEM-17: an entity has no relation to itself, and none to one that is deleted."""
    garden = house.project()
    house.session("a", garden)
    house.tell("a", SISTER, "My friend Tita works at Contoso.")
    marta, berta, tita = (named(house, garden, name) for name in ("Marta", "Berta", "Tita"))
    house.services.entity_changes.merge(house.reach, tita, marta)
    assert {relation[:2] for relation in relations(house, garden, "Marta")} == {
        ("sister of", "Berta"),
        ("works at", "Contoso"),
    }
    assert [relation[:2] for relation in relations(house, garden, "Contoso")] == [("employs", "Marta")]
    house.services.entity_undo.restore(house.reach, tita)
    assert [relation[:2] for relation in relations(house, garden, "Contoso")] == [("employs", "Tita")]
    house.services.entity_changes.merge(house.reach, berta, marta)
    assert relations(house, garden, "Marta") == []
    house.services.entity_undo.restore(house.reach, berta)
    house.services.entity_changes.delete(house.reach, berta)
    assert relations(house, garden, "Marta") == []
    house.services.entity_undo.restore(house.reach, berta)
    assert [relation[:2] for relation in relations(house, garden, "Marta")] == [("sister of", "Berta")]


class Hostile(Rules):
    """A model whose answers name sources and entities that are not theirs to name."""

    def __init__(self, answer: Callable[[Sequence[Statement]], list[ExtractedEntity]]) -> None:
        self._answer = answer

    def memories(self, said: Sequence[Statement], *_: object, **__: object) -> list[ExtractedMemory]:
        return []

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        return self._answer(said)


def test_a_models_relations_are_bounded_and_of_users_messages_and_of_the_same_answer(engine: Engine) -> None:
    """MEM-17, MEM-11: what names a reply, a message of another session, or an entity that the answer does not list is dropped."""
    foreign: list[MessageId] = []

    def answer(said: Sequence[Statement]) -> list[ExtractedEntity]:
        user, reply = said[0].id, said[1].id
        sources = [(user,), (reply,), tuple(foreign), (MessageId(1),)]
        stated = [
            *(ExtractedRelation(relation=f"r{at}", other="Ann", sources=named) for at, named in enumerate(sources)),
            ExtractedRelation(relation="knows", other="Nobody", sources=(user,)),
            ExtractedRelation(relation="is", other="MARTA", sources=(user,)),
            ExtractedRelation(relation=" ", other="Ann", sources=(user,)),
            ExtractedRelation(relation="x" * 10_000, other="Ann", sources=(user,)),
            *(ExtractedRelation(relation=f"many {at}", other="Ann", sources=(user,)) for at in range(500)),
        ]
        return [
            ExtractedEntity(name="Marta", type="person", notes="", sources=(user, reply), relations=tuple(stated)),
            ExtractedEntity(name="Ann", type="person", notes="", sources=(user,)),
        ]

    house = settle_house(engine, extractor=Hostile(answer))
    garden = house.project()
    house.session("a", garden)
    house.session("b", garden)
    foreign += [message.id for message in house.say("b", "Words of another session.")]
    (said,) = house.tell("a", "Hello.")
    found = relations(house, garden, "Marta")
    assert len(found) <= 20
    assert {name for _, name, _ in found} == {"Ann"}
    assert {source for *_, sources in found for source in sources} == {said.id}
    assert {"r1", "r2", "r3", "knows", "is"}.isdisjoint(relation for relation, *_ in found)
    assert all(len(relation) <= 40 for relation, *_ in found)
