"""Entities that add up (MEM-17): aliases, merge, split, delete and undo, inside the part of a project that they are in.

Each begins with what must not happen: nothing of another project, user or tenant is joined, and nothing forgotten comes back.
"""

from collections.abc import Callable
from typing import cast

import pytest

from cloister.domain.entity import Entity
from cloister.domain.errors import Conflict, InvalidRequest, NotFound
from cloister.domain.identifiers import EntityId, ProjectId
from cloister.domain.scope import Reach
from cloister.services.memories.entities import EntityDetail
from cloister.services.memories.entity_changes import Correction, EntitySplit
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine
from support.setups.memories import HOUR, MemorySetup, settle_house

MARTA = "My friend Marta plays the cello."
FULL = "My friend Marta Silva bakes bread."
OTHER = "My friend Marta Rossi sells boats."
OF_CHANGES = "SELECT change_id FROM entity_change"
Forget = Callable[[MemorySetup, str], object]


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def known(house: MemorySetup, project: ProjectId, user: str | None = None) -> dict[str, tuple[str, ...]]:
    """The aliases of each entity."""
    return {entity.name: entity.aliases for entity in house.entities(project, user)}


def find(house: MemorySetup, project: ProjectId, name: str, user: str | None = None) -> Entity:
    return next(entity for entity in house.entities(project, user) if entity.name == name)


def merge(house: MemorySetup, entity: EntityId, into: EntityId) -> EntityDetail:
    return house.services.entity_changes.merge(house.reach, entity, into)


def restore(house: MemorySetup, entity: EntityId) -> EntityDetail:
    return house.services.entity_undo.restore(house.reach, entity)


def split(house: MemorySetup, entity: EntityId, *aliases: str) -> EntityDetail:
    return house.services.entity_changes.split(house.reach, entity, EntitySplit(aliases=aliases))


def correct(house: MemorySetup, entity: EntityId, correction: Correction) -> EntityDetail:
    return house.services.entity_changes.correct(house.reach, entity, correction)


def shown(house: MemorySetup, project: ProjectId, words: str, user: str | None = None) -> str:
    """Everything that search shows of a project's entities."""
    place = SearchTarget(project=project, user_id=user)
    return " ".join(hit for hit in house.searched(words, place) if "EntityHit" in hit)


def forget_session(house: MemorySetup, name: str) -> object:
    return house.services.forgetting.session(house.reach, name)


def forget_contents(house: MemorySetup, name: str) -> object:
    return house.services.forgetting.contents(house.reach, name)


def forget_messages(house: MemorySetup, name: str) -> None:
    _, page = house.services.sessions.messages(house.reach, name, limit=200)
    for message in page:
        house.services.forgetting.message(house.reach, message.id)


FORGETTING = [forget_session, forget_contents, forget_messages]


def two_sessions(house: MemorySetup, first: str = MARTA, second: str = FULL) -> ProjectId:
    garden = house.project()
    for name, words in (("a", first), ("b", second)):
        house.session(name, garden)
        house.tell(name, words)
    return garden


# Aliases by rule


def test_iso_4_a_first_name_is_never_joined_across_projects_users_or_tenants(house: MemorySetup) -> None:
    """MEM-17, ISO-4, ISO-10: the same names and words in every part; each adds up only what was said in it."""
    garden, cellar, diary = house.project(), house.project("Cellar"), house.project("Diary", "private")
    other, theirs = house.services.projects.create_tenant("Other")
    foreign = MemorySetup(services=house.services, reach=Reach(tenant=other), clock=house.clock)
    for setup, name, project, user, words in (
        (house, "short", garden, None, MARTA),
        (house, "full", cellar, None, FULL),
        (house, "of ann", diary, "ann", MARTA),
        (house, "of bob", diary, "bob", FULL),
        (foreign, "full", theirs, None, FULL),
    ):
        setup.session(name, project, user)
        setup.tell(name, words)
    assert known(house, garden) == known(house, diary, "ann") == {"Marta": ()}
    assert known(house, cellar) == known(house, diary, "bob") == {"Marta Silva": ()}
    assert known(foreign, theirs) == {"Marta Silva": ()}
    assert "bread" not in shown(house, garden, "Marta bread") + shown(house, diary, "Marta bread", "ann")


@pytest.mark.parametrize("words", [(MARTA, FULL), (FULL, MARTA)])
def test_a_first_name_and_the_only_full_name_that_begins_with_it_are_one_entity(
    house: MemorySetup, words: tuple[str, str]
) -> None:
    """MEM-17: under the id of the older, with the notes of both, and found by either."""
    garden = house.project()
    house.session("a", garden)
    house.tell("a", words[0])
    (before,) = house.entities(garden)
    house.tell("a", words[1])
    (marta,) = house.entities(garden)
    assert (marta.id, marta.name, marta.aliases) == (before.id, "Marta Silva", ("Marta",))
    assert "cello" in marta.notes and "bread" in marta.notes
    assert house.recalled_entities("a", "Marta cello") == house.recalled_entities("a", "Silva") == ["Marta Silva"]


def test_a_first_name_that_two_full_names_share_stands_alone(house: MemorySetup) -> None:
    """MEM-17: it cannot be known who was meant; once one of them is forgotten, it can."""
    garden = two_sessions(house)
    assert known(house, garden) == {"Marta Silva": ("Marta",)}
    house.session("c", garden)
    house.tell("c", OTHER)
    assert known(house, garden) == {"Marta": (), "Marta Silva": (), "Marta Rossi": ()}
    house.services.forgetting.session(house.reach, "c")
    assert known(house, garden) == {"Marta Silva": ("Marta",)}


def test_only_people_have_first_names(house: MemorySetup) -> None:
    """MEM-17: "Paris" and "Paris Marathon" are two things."""
    garden = house.project()
    house.session("a", garden)
    house.tell("a", "I live in Paris.", "I ran the Paris marathon.")
    assert known(house, garden) == {"Paris": (), "Paris marathon": ()}


@pytest.mark.parametrize("forget", FORGETTING)
def test_an_alias_goes_with_its_last_source(house: MemorySetup, engine: Engine, forget: Forget) -> None:
    """MEM-17, MEM-9: the entity keeps its id as long as its own name is mentioned, and no word of what was forgotten."""
    garden = two_sessions(house)
    (marta,) = house.entities(garden)
    forget(house, "b")
    (left,) = house.entities(garden)
    assert (left.id, left.name, left.aliases) == (marta.id, "Marta", ())
    assert "Silva" not in repr(engine.rows("SELECT name, terms FROM entity")) + shown(house, garden, "Silva bread")
    assert "bread" not in left.notes


@pytest.mark.parametrize("forget", FORGETTING)
def test_what_is_left_of_an_entity_goes_on_under_the_other_name(house: MemorySetup, forget: Forget) -> None:
    """MEM-17: its first name is forgotten, and with it the id."""
    garden = two_sessions(house)
    correct(house, house.entities(garden)[0].id, Correction(type="organisation"))
    correct(house, house.entities(garden)[0].id, Correction(type="person"))
    forget(house, "a")
    (left,) = house.entities(garden)
    assert (left.name, left.aliases, left.type) == ("Marta Silva", (), "person")
    assert "cello" not in left.notes
    assert house.recalled_entities("b", "Marta bread") == ["Marta Silva"]


def test_a_moved_session_leaves_its_aliases_where_they_were_said_and_takes_its_messages_along(
    house: MemorySetup,
) -> None:
    """MEM-17, ISO-4, ISO-6: an entity stays, but the messages of the session are not shown there any more."""
    garden, cellar = two_sessions(house), house.project("Cellar")
    house.move("b", cellar)
    (marta,) = house.entities(garden)
    assert (marta.name, marta.aliases) == ("Marta Silva", ("Marta",))
    assert house.entities(cellar) == []
    detail = house.services.entities.get(house.reach, marta.id)
    assert [mention.said.message.content for mention in detail.mentions] == [MARTA]
    house.move("b", garden)
    detail = house.services.entities.get(house.reach, marta.id)
    assert [mention.said.message.content for mention in detail.mentions] == [FULL, MARTA]


# Dividing and sharing a project


def shared_by(house: MemorySetup, *said: tuple[str, str]) -> ProjectId:
    garden = house.project("Shared")
    for user, words in said:
        house.session(f"of {user}", garden, user)
        house.tell(f"of {user}", words)
    return garden


def test_iso_10_a_divided_project_joins_no_names_of_two_users(house: MemorySetup) -> None:
    """MEM-17: what one user's sessions said stays with that user, by rule and by hand; shared again, it adds up again."""
    garden = shared_by(house, ("ann", MARTA), ("bob", FULL))
    (marta,) = house.entities(garden)
    correct(house, marta.id, Correction(name="Marta of the bakery", notes="Bob's baker.", aliases=["Marta", "Tita"]))
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    assert known(house, garden, "ann") == {"Marta": ()}
    assert known(house, garden, "bob") == {"Marta Silva": ()}
    everything = repr(house.entities(garden, "ann")) + repr(house.entities(garden, "bob"))
    assert not any(word in everything for word in ("bakery", "Tita", "baker."))
    house.services.projects.change_project(house.reach, garden, member_visibility="shared")
    assert known(house, garden) == {"Marta Silva": ("Marta",)}


def test_iso_10_what_one_user_alone_mentions_keeps_its_merges_and_corrections_when_it_is_divided(
    house: MemorySetup,
) -> None:
    """MEM-17"""
    garden = shared_by(house, ("ann", "My friend Anna sings. My friend Berta sings."), ("bob", MARTA))
    merge(house, find(house, garden, "Berta").id, find(house, garden, "Anna").id)
    correct(house, find(house, garden, "Anna").id, Correction(notes="Sings in a choir.", aliases=["Berta", "Nana"]))
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    assert known(house, garden, "ann") == {"Anna": ("Berta", "Nana")}
    assert known(house, garden, "bob") == {"Marta": ()}
    assert find(house, garden, "Anna", "ann").notes == "Sings in a choir."


def test_iso_10_a_merge_of_two_users_names_is_divided_with_them(house: MemorySetup) -> None:
    """MEM-17: and undoing it afterwards reaches no other user."""
    both = "My friend Anna sings. My friend Berta sings."
    garden = shared_by(house, ("ann", both), ("bob", both))
    anna, berta = find(house, garden, "Anna"), find(house, garden, "Berta")
    merge(house, berta.id, anna.id)
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    assert known(house, garden, "ann") == known(house, garden, "bob") == {"Anna": ("Berta",)}
    restore(house, berta.id)
    assert sorted([known(house, garden, "ann"), known(house, garden, "bob")], key=len) == [
        {"Anna": ("Berta",)},
        {"Anna": (), "Berta": ()},
    ]


def test_a_deleted_entity_stays_deleted_when_its_project_is_divided_or_shared(house: MemorySetup) -> None:
    """MEM-17, ISO-10"""
    garden = shared_by(house, ("ann", MARTA), ("bob", MARTA))
    house.services.entity_changes.delete(house.reach, find(house, garden, "Marta").id)
    for visibility in ("private", "shared"):
        house.services.projects.change_project(house.reach, garden, member_visibility=visibility)
        assert [known(house, garden, user) for user in ("ann", "bob", None)] == [{}, {}, {}]


# Merge, split, delete and undo


def test_a_merge_is_undone_with_everything_as_it_was(house: MemorySetup) -> None:
    """MEM-17"""
    garden = two_sessions(house, MARTA, "My friend Tita sells boats.")
    marta, tita = house.entities(garden)
    merged = merge(house, tita.id, marta.id).entity
    assert (merged.id, merged.name, merged.aliases) == (marta.id, "Marta", ("Tita",))
    assert "cello" in merged.notes and "boats" in merged.notes
    assert house.recalled_entities("a", "boats") == ["Marta"]
    with pytest.raises(NotFound):
        house.services.entities.get(house.reach, tita.id)
    house.tell("b", "I met Tita in Rome.")
    assert set(known(house, garden)) == {"Marta", "Rome"}
    restore(house, tita.id)
    assert find(house, garden, "Marta") == marta
    assert "Rome" in find(house, garden, "Tita").notes
    with pytest.raises(Conflict):
        restore(house, marta.id)


@pytest.mark.parametrize("forget", FORGETTING)
def test_undoing_a_merge_brings_nothing_back_that_was_forgotten(
    house: MemorySetup, engine: Engine, forget: Forget
) -> None:
    """MEM-17, MEM-9"""
    garden = two_sessions(house, MARTA, "My friend Tita sells boats.")
    marta, tita = house.entities(garden)
    merge(house, tita.id, marta.id)
    forget(house, "b")
    assert known(house, garden) == {"Marta": ()}
    for entity, refusal in ((tita.id, NotFound), (marta.id, Conflict)):
        with pytest.raises(refusal):
            restore(house, entity)
    assert engine.rows(OF_CHANGES) == []
    assert "boats" not in repr(engine.dump(house.reach.tenant))


def test_undoing_a_deletion_brings_back_only_what_is_still_remembered(house: MemorySetup, engine: Engine) -> None:
    """MEM-17: of two sources one was forgotten meanwhile."""
    garden = two_sessions(house)
    (marta,) = house.entities(garden)
    house.services.entity_changes.delete(house.reach, marta.id)
    assert house.entities(garden) == [] and shown(house, garden, "Marta cello bread") == ""
    assert house.recalled_entities("a", "Marta") == []
    house.services.forgetting.session(house.reach, "b")
    left = restore(house, marta.id).entity
    assert (left.name, left.aliases) == ("Marta", ())
    assert "bread" not in left.notes + repr(engine.rows("SELECT name, terms FROM entity"))
    assert house.recalled_entities("a", "Marta cello") == ["Marta"]


def test_an_erased_user_takes_a_deleted_entity_along(house: MemorySetup, engine: Engine) -> None:
    """MEM-17, ORG-9: and a merged one; there is nothing to undo."""
    garden = shared_by(house, ("ann", "My friend Anna sings. My friend Berta sings."), ("bob", "My friend Carl sings."))
    anna, berta = find(house, garden, "Anna"), find(house, garden, "Berta")
    carl = find(house, garden, "Carl")
    house.services.entity_changes.delete(house.reach, anna.id)
    merge(house, berta.id, carl.id)
    house.services.erase_user.erase(house.reach, "ann")
    for entity in (anna.id, berta.id):
        with pytest.raises(NotFound):
            restore(house, entity)
    assert known(house, garden) == {"Carl": ()}
    assert engine.rows(OF_CHANGES) == []


def test_a_mention_after_a_deletion_makes_a_new_entity_and_a_restored_one_takes_it_in(house: MemorySetup) -> None:
    """MEM-17"""
    garden = two_sessions(house, MARTA, "It rains.")
    (marta,) = house.entities(garden)
    house.services.entity_changes.delete(house.reach, marta.id)
    house.tell("b", "My friend Marta bakes bread.")
    (new,) = house.entities(garden)
    assert new.id != marta.id and "cello" not in new.notes
    back = restore(house, marta.id).entity
    assert back.id == marta.id and "cello" in back.notes and "bread" in back.notes
    assert known(house, garden) == {"Marta": ()}


def test_after_a_day_nothing_can_be_undone_and_what_was_deleted_is_gone(house: MemorySetup, engine: Engine) -> None:
    """MEM-17: the messages stay."""
    garden = two_sessions(house, MARTA, "My friend Tita sells boats.")
    marta, tita = house.entities(garden)
    house.services.entity_changes.delete(house.reach, marta.id)
    house.clock.moment += 25 * HOUR
    with pytest.raises(NotFound):
        restore(house, marta.id)
    assert house.services.entity_undo.expire() >= 1
    assert engine.rows("SELECT name FROM entity") == [("Tita",)]
    assert engine.rows(OF_CHANGES) == []
    assert "cello" in repr(engine.rows("SELECT content FROM message"))
    with pytest.raises(Conflict):
        restore(house, tita.id)


def test_an_alias_is_split_off_and_no_rule_joins_it_again(house: MemorySetup) -> None:
    """MEM-17: until it is undone."""
    garden = two_sessions(house)
    (marta,) = house.entities(garden)
    new = split(house, marta.id, "Marta Silva").entity
    assert known(house, garden) == {"Marta": (), "Marta Silva": ()}
    assert "cello" not in new.notes and "bread" in new.notes
    house.tell("b", "I met Marta and Marta Silva.")
    assert known(house, garden) == {"Marta": (), "Marta Silva": ()}
    with pytest.raises(Conflict, match="first known by"):
        split(house, marta.id, "Marta")
    restore(house, marta.id)
    assert known(house, garden) == {"Marta Silva": ("Marta",)}


def test_messages_about_another_of_the_same_name_are_split_off_and_given_back(house: MemorySetup) -> None:
    """MEM-17"""
    garden = two_sessions(house, MARTA, "My friend Marta sells boats.")
    (marta,) = house.entities(garden)
    boats, cello = (mention.said.message.id for mention in house.services.entities.get(house.reach, marta.id).mentions)
    changes = house.services.entity_changes
    new = changes.split(house.reach, marta.id, EntitySplit(message_ids=[boats], name="Marta the sailor")).entity
    assert new.name == "Marta the sailor" and "boats" in new.notes and "cello" not in new.notes
    assert "boats" not in find(house, garden, "Marta").notes
    with pytest.raises(Conflict, match="all messages"):
        changes.split(house.reach, marta.id, EntitySplit(message_ids=[cello], name="Nobody"))
    with pytest.raises(NotFound):
        changes.split(house.reach, marta.id, EntitySplit(message_ids=[boats], name="Nobody"))
    restore(house, new.id)
    assert known(house, garden) == {"Marta": ()}
    assert "boats" in house.entities(garden)[0].notes
    changes.split(house.reach, marta.id, EntitySplit(message_ids=[boats], name="Marta the sailor"))
    house.services.forgetting.session(house.reach, "b")
    assert known(house, garden) == {"Marta": ()}
    with pytest.raises(Conflict):
        restore(house, marta.id)


def test_changes_are_undone_from_the_last_to_the_first(house: MemorySetup) -> None:
    """MEM-17"""
    garden = house.project()
    house.session("a", garden)
    for name in ("Anna", "Berta", "Clara"):
        house.tell("a", f"My friend {name} sings.")
    anna, berta, clara = (entity.id for entity in house.entities(garden))
    merge(house, clara, berta)
    merge(house, berta, anna)
    assert known(house, garden) == {"Anna": ("Berta", "Clara")}
    restore(house, anna)
    assert known(house, garden) == {"Anna": (), "Berta": ("Clara",)}
    restore(house, berta)
    assert known(house, garden) == {"Anna": (), "Berta": (), "Clara": ()}


def test_iso_10_undoing_changes_nothing_in_a_part_that_the_caller_does_not_reach(house: MemorySetup) -> None:
    """MEM-17, ORG-10: what an admin moved to another user's part stays there as that user has it. Ann merged and split."""
    diary = house.project("Diary", "private")
    for user, words in (("ann", "My friend Anna sings. My friend Berta sings."), ("bob", "My friend Clara sings.")):
        house.session(f"of {user}", diary, user)
        house.tell(f"of {user}", words)
    of_ann, of_bob = (
        MemorySetup(services=house.services, reach=Reach(tenant=house.reach.tenant, user=user), clock=house.clock)
        for user in ("ann", "bob")
    )
    anna, berta = (find(house, diary, name, "ann").id for name in ("Anna", "Berta"))
    merge(of_ann, berta, anna)
    split(of_ann, anna, "Berta")
    house.services.entities.retag(house.reach, berta, diary, user_id="bob", is_admin=True)
    merge(of_bob, berta, find(house, diary, "Clara", "bob").id)
    for _ in range(2):
        assert restore(of_ann, anna).entity.aliases == ()
        assert known(house, diary, "ann") == {"Anna": ()}
        assert known(house, diary, "bob") == {"Clara": ("Berta",)}
    restore(of_bob, berta)
    assert known(house, diary, "bob") == {"Clara": (), "Berta": ()}


def test_iso_10_a_deletion_is_undone_only_as_far_as_the_caller_reaches(house: MemorySetup, engine: Engine) -> None:
    """MEM-17, ORG-10: an entity of two users was deleted, and divided. The rest can still be restored."""
    garden = shared_by(house, ("ann", MARTA), ("bob", FULL))
    (marta,) = house.entities(garden)
    house.services.entity_changes.delete(house.reach, marta.id)
    house.services.projects.change_project(house.reach, garden, member_visibility="private")
    of_ann = MemorySetup(services=house.services, reach=Reach(tenant=house.reach.tenant, user="ann"), clock=house.clock)
    restore(of_ann, marta.id)
    assert (known(house, garden, "ann"), known(house, garden, "bob")) == ({"Marta": ()}, {})
    (silva,) = engine.rows("SELECT entity_id FROM entity WHERE deleted_at IS NOT NULL")
    restore(house, cast(EntityId, silva[0]))
    assert (known(house, garden, "ann"), known(house, garden, "bob")) == ({"Marta": ()}, {"Marta Silva": ()})


# Corrections


def test_what_a_person_corrected_is_not_changed_back_by_an_extraction(house: MemorySetup) -> None:
    """MEM-17: later notes are added to corrected ones; a new alias collects its mentions."""
    garden = two_sessions(house, MARTA, "It rains.")
    (marta,) = house.entities(garden)
    wanted = Correction(name="Marta Costa", type="organisation", notes="Plays in a quartet.", aliases=["Tita"])
    corrected = correct(house, marta.id, wanted).entity
    assert (corrected.id, corrected.name, corrected.type) == (marta.id, "Marta Costa", "organisation")
    assert (corrected.notes, corrected.aliases) == ("Plays in a quartet.", ("Marta", "Tita"))
    house.tell("b", "My friend Marta bakes bread.", "My friend Tita sells boats.", "I met Marta Costa.")
    (after,) = house.entities(garden)
    assert (after.name, after.type) == ("Marta Costa", "organisation")
    assert after.notes.startswith("Plays in a quartet. ") and "bread" in after.notes and "boats" in after.notes
    assert "cello" not in after.notes
    assert house.recalled_entities("a", "quartet") == ["Marta Costa"]
    house.services.forgetting.session(house.reach, "a")
    house.services.forgetting.session(house.reach, "b")
    assert house.entities(garden) == []


def test_a_name_that_another_entity_has_is_refused_and_so_is_dropping_one_that_messages_use(house: MemorySetup) -> None:
    """MEM-17"""
    garden = two_sessions(house, MARTA, "My friend Tita sells boats.")
    marta, tita = house.entities(garden)
    before = [*house.entities(garden)]
    for wanted in (Correction(name="TITA"), Correction(aliases=["tita"])):
        with pytest.raises(Conflict, match="merge the two"):
            correct(house, marta.id, wanted)
    with pytest.raises(InvalidRequest):
        correct(house, marta.id, Correction())
    with pytest.raises(InvalidRequest):
        correct(house, marta.id, Correction(type="dragon"))
    assert house.entities(garden) == before
    merge(house, tita.id, marta.id)
    with pytest.raises(Conflict, match="split it off"):
        correct(house, marta.id, Correction(aliases=["Tia"]))
    correct(house, marta.id, Correction(aliases=["Tita", "Tia"]))
    assert correct(house, marta.id, Correction(aliases=["Tita"])).entity.aliases == ("Tita",)


def test_iso_4_what_people_do_with_entities_reaches_no_foreign_one(house: MemorySetup) -> None:
    """MEM-17, ISO-4, ORG-4, ORG-10: of another tenant, project or user."""
    garden, cellar, diary = house.project(), house.project("Cellar"), house.project("Diary", "private")
    for name, project, user in (("a", garden, None), ("b", cellar, None), ("c", diary, "ann"), ("d", diary, "bob")):
        house.session(name, project, user)
        house.tell(name, "My friend Anna sings. My friend Berta sings.")
    here, there = find(house, garden, "Anna").id, find(house, cellar, "Anna").id
    of_ann, of_bob = find(house, diary, "Anna", "ann").id, find(house, diary, "Berta", "bob").id
    other, _ = house.services.projects.create_tenant("Other")
    tenant = house.reach.tenant
    changes, undo, entities = house.services.entity_changes, house.services.entity_undo, house.services.entities
    changes.delete(house.reach, find(house, garden, "Berta").id)
    for reach, entity in (
        (Reach(tenant=other), here),
        (Reach(tenant=tenant, confined_to=cellar), here),
        (Reach(tenant=tenant, user="bob"), of_ann),
        (Reach(tenant=tenant, user="bob"), here),
    ):
        acts: list[Callable[[Reach, EntityId], object]] = [
            entities.get,
            changes.delete,
            undo.restore,
            lambda reach, entity: entities.mentions(reach, entity, limit=9),
            lambda reach, entity: changes.correct(reach, entity, Correction(name="Mine")),
            lambda reach, entity: changes.merge(reach, entity, of_bob),
            lambda reach, entity: changes.split(reach, entity, EntitySplit(aliases=["Berta"])),
        ]
        for act in acts:
            with pytest.raises(NotFound):
                act(reach, entity)
    for into in (there, of_ann):
        with pytest.raises(Conflict):
            changes.merge(house.reach, here, into)
    with pytest.raises(NotFound):
        changes.merge(Reach(tenant=tenant, confined_to=garden), here, there)
    with pytest.raises(NotFound):
        changes.merge(Reach(tenant=tenant, user="bob"), of_bob, of_ann)
    with pytest.raises(Conflict):
        changes.merge(house.reach, of_ann, of_bob)
