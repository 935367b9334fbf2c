"""Lists of entities, mentions and observations take a filter (MEM-14), which chooses among what the list has without one."""

from typing import Any

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.identifiers import ProjectId
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.scope import Reach
from cloister.domain.timestamps import iso, parse_iso
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

FOREIGN: list[dict[str, Any]] = [
    {"session_id": "theirs"},
    {"user_id": "bo"},
    {"role": "tool"},
    {"author": "Their Author"},
    {"category": "only theirs"},
    {"metadata": {"secret": "only theirs"}},
    {"created_after": "2030-01-01T00:00:00Z"},
    {"or": [{"session_id": "theirs"}, {"not": {"not": {"category": "only theirs"}}}]},
]
NOTHING = {"session_id": "nowhere at all"}
SAID = [f"My brother Xandor{number} works at Zentrix in Vienna." for number in range(30)]


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def lists(house: MemorySetup, project: ProjectId, user: str | None, wanted: Any, reach: Reach | None = None) -> Any:
    """What the three lists answer: the names, the messages that mention Vienna, and the observations of `ours`."""
    reach, filter = reach or house.reach, None if wanted is None else parse_filter(wanted)
    services = house.services
    (vienna,) = [
        entity
        for entity in services.entities.page(house.reach, project, user_id=user, limit=200)
        if entity.name == "Vienna"
    ]
    entities = services.entities.page(reach, project, user_id=user, limit=200, filter=filter)
    mentions = services.entities.mentions(reach, vienna.id, limit=200, filter=filter)
    observations = services.observations.of_session(reach, "ours", limit=200, filter=filter)
    return (
        [entity.name for entity in entities],
        [mention.said.message.content for mention in mentions],
        [stored.observation.id for stored in observations],
    )


def confide(house: MemorySetup, session: str) -> None:
    late = parse_iso("2031-05-05T00:00:00Z", "time")
    labels: dict[str, Any] = {"categories": ("only theirs",), "metadata": {"secret": "only theirs"}}
    drafts = [Draft(role="user", content=text, author="Their Author", created_at=late, **labels) for text in SAID]
    drafts.append(Draft(role="tool", content="Vienna is far.", created_at=late, **labels))
    house.services.record.messages(house.reach, session, drafts)
    house.services.extraction.extract_now(house.reach, session)


@pytest.mark.parametrize("outside", ["another tenant", "another project", "another user"])
def test_mem_14_a_filter_of_a_list_cannot_find_or_count_what_is_outside(
    house: MemorySetup, engine: Engine, outside: str
) -> None:
    """ISO-3, ISO-4, ISO-10: filters that only rows outside match answer as one that nothing matches; their opposites, as none."""
    garden = house.project("Garden", "private")
    house.session("ours", garden, "ada")
    house.tell("ours", *SAID)
    whose = settle_house(engine) if outside == "another tenant" else house
    there = garden if outside == "another user" else whose.project("Kitchen", "private")
    whose.session("theirs", there, "bo")
    confide(whose, "theirs")
    everything = lists(house, garden, "ada", None)
    assert all(everything)
    reaches = [
        house.reach,
        Reach(tenant=house.reach.tenant, user="ada"),
        Reach(tenant=house.reach.tenant, confined_to=garden),
    ]
    for reach in reaches:
        for wanted in (*FOREIGN, NOTHING):
            assert lists(house, garden, "ada", wanted, reach) == ([], [], [])
            assert lists(house, garden, "ada", {"not": wanted}, reach) == everything


def test_mem_14_what_moved_to_another_project_is_matched_no_more(house: MemorySetup) -> None:
    garden, kitchen = house.project("Garden"), house.project("Kitchen")
    house.session("ours", garden)
    house.session("moves", garden)
    house.tell("ours", *SAID)
    house.tell("moves", "My sister Clara lives in Vienna.")
    _, mentions, _ = lists(house, garden, None, {"session_id": "moves"})
    assert mentions == ["My sister Clara lives in Vienna."]
    house.move("moves", kitchen)
    assert lists(house, garden, None, {"session_id": "moves"}) == ([], [], [])


def test_mem_14_entities_mentions_and_observations_are_filtered_before_their_limit(house: MemorySetup) -> None:
    garden = house.project("Garden")
    house.session("ours", garden, "ada")
    house.tell("ours", *SAID)
    names, mentions, observations = lists(house, garden, None, None)
    assert lists(house, garden, None, {"kind": "entity"}) == (names, [], [])
    assert lists(house, garden, None, {"kind": "message"}) == ([], mentions, [])
    assert lists(house, garden, None, {"kind": "observation"}) == ([], [], observations)
    assert lists(house, garden, None, {"user_id": "ada"}) == ([], mentions, observations)
    assert lists(house, garden, None, {"session_id": "ours", "role": "user"}) == ([], mentions, [])
    page = house.services.entities.page
    middle = page(house.reach, garden, limit=200)[20]
    later = parse_filter({"created_after": iso(middle.created_at)})
    assert [entity.name for entity in page(house.reach, garden, limit=3, filter=later)] == names[21:24]
    after = page(house.reach, garden, limit=3, filter=later)[-1]
    assert [entity.name for entity in page(house.reach, garden, limit=2, filter=later, behind=after.id)] == names[24:26]


def test_mem_14_pages_of_filtered_mentions_go_on_where_the_last_one_ended(house: MemorySetup) -> None:
    """More messages than one read has, of which one in seven passes."""
    garden = house.project("Garden")
    house.session("ours", garden)
    drafts = [
        Draft(role="user", content=f"My aunt Berta lives in Vienna, says page {at}.", metadata={"rest": at % 7})
        for at in range(420)
    ]
    house.services.record.messages(house.reach, "ours", drafts)
    house.services.extraction.extract_now(house.reach, "ours")
    entities, wanted = house.services.entities, parse_filter({"metadata": {"rest": 3}})
    (vienna,) = [each for each in entities.page(house.reach, garden, limit=200) if each.name == "Vienna"]
    found: list[str] = []
    page = entities.mentions(house.reach, vienna.id, limit=9, filter=wanted)
    while page:
        found += [mention.said.message.content for mention in page]
        page = entities.mentions(house.reach, vienna.id, limit=9, before=page[-1].cursor, filter=wanted)
    everything = entities.mentions(house.reach, vienna.id, limit=1000)
    assert len(found) > 20
    assert found == [
        mention.said.message.content for mention in everything if mention.said.message.metadata == {"rest": 3}
    ]
