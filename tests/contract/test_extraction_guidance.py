"""What a project wants to be extracted (MEM-15): enforced on whatever the extractor answers; and previews, which store nothing."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest

from cloister.domain.conversation import Draft
from cloister.domain.errors import Forbidden, InvalidRequest, NotFound, TooLarge
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import quoted
from cloister.models.openai.endpoint import Endpoint
from cloister.models.openai.extractor import OpenAiExtractor
from cloister.services.conversations.record import LARGEST_BATCH
from cloister.services.memories.preview import PreviewedExtraction
from cloister.services.recall.search import SearchTarget
from support.databases.engines import Engine
from support.servers.fake_endpoint import Answer, Asked, FakeEndpoint, completed, fake_endpoint
from support.setups.facts import Scripted
from support.setups.memories import MemorySetup, settle_house

FACTS = ("I live in Rome.", "I love tea.", "I'm allergic to nuts.")
ALL = ["The user lives in Rome.", "The user loves tea.", "The user is allergic to nuts."]
GERMAN = "Ich wohne in Rom und ich habe dort einen kleinen Hund."


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


@pytest.fixture
def model() -> Generator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


def preview(house: MemorySetup, project: ProjectId | None, *words: str) -> PreviewedExtraction:
    drafts = [Draft(role="user", content=content) for content in words]
    return house.services.extraction_preview.preview(house.reach, drafts, project)


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({}, ALL),
        ({"wanted_categories": ["Health"]}, ["The user is allergic to nuts."]),
        ({"unwanted_categories": ["place", "health"]}, ["The user loves tea."]),
        ({"wanted_categories": ["health"], "unwanted_categories": ["place"]}, ["The user is allergic to nuts."]),
        ({"minimum_importance": 0.8}, ["The user lives in Rome.", "The user is allergic to nuts."]),
        ({"minimum_importance": 1}, []),
        ({"extraction_languages": ["de"]}, ["The user loves tea."]),  # too short to tell
        ({"extraction_languages": ["de", "en"], "wanted_categories": ["place"]}, ["The user lives in Rome."]),
        ({"wanted_categories": [], "extraction_instructions": None, "unwanted_categories": ["x"]}, ALL),
    ],
)
def test_mem_15_only_what_the_project_wants_is_extracted(
    house: MemorySetup, settings: dict[str, Any], kept: list[str]
) -> None:
    """MEM-15, and a preview shows the same."""
    project = house.project(**settings)
    house.session("tab", project)
    house.tell("tab", *FACTS)
    assert house.memories("tab") == kept
    assert [memory.content for memory in preview(house, project, *FACTS).memories] == kept


def test_mem_15_the_settings_of_another_project_do_not_count(house: MemorySetup) -> None:
    """MEM-15: nor do those of a project that the session left."""
    strict, open_ = house.project("Strict", minimum_importance=1), house.project("Open")
    for name, project in (("a", strict), ("b", open_), ("c", None)):
        house.session(name, project)
        house.tell(name, FACTS[0])
    assert [house.memories(name) for name in ("a", "b", "c")] == [
        [],
        ["The user lives in Rome."],
        ["The user lives in Rome."],
    ]
    house.move("a", open_)
    house.tell("a", FACTS[1])
    assert house.memories("a") == ["The user loves tea."]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("extraction_instructions", ""),
        ("extraction_instructions", "x" * 2_001),
        ("extraction_instructions", 7),
        ("wanted_categories", "health"),
        ("wanted_categories", [7]),
        ("unwanted_categories", [""]),
        ("unwanted_categories", ["x"] * 1_000),
        ("minimum_importance", 1.5),
        ("minimum_importance", True),
        ("minimum_importance", "0.5"),
        ("extraction_languages", ["klingon"]),
        ("extraction_languages", [["en"]]),
    ],
)
def test_mem_15_settings_are_checked(house: MemorySetup, name: str, value: object) -> None:
    """MEM-15: the error names the setting, and nothing changes."""
    project = house.project()
    with pytest.raises((InvalidRequest, TooLarge), match=f"settings.{name}"):
        house.services.projects.change_project(house.reach, project, settings={name: value})
    assert house.services.projects.project(house.reach, project).settings == {}


def test_mem_15_a_category_cannot_be_wanted_and_unwanted(house: MemorySetup) -> None:
    """MEM-15: neither in one change nor in two; resetting one of them allows the other."""
    change = house.services.projects.change_project
    project = house.project()
    with pytest.raises(InvalidRequest, match="take it out of one"):
        change(house.reach, project, settings={"wanted_categories": ["health"], "unwanted_categories": ["Health"]})
    change(house.reach, project, settings={"wanted_categories": ["health"]})
    with pytest.raises(InvalidRequest, match="take it out of one"):
        change(house.reach, project, settings={"unwanted_categories": ["health"]})
    changed = change(house.reach, project, settings={"wanted_categories": None, "unwanted_categories": ["health"]})
    assert changed.settings == {"unwanted_categories": ["health"]}


def hostile(asked: Asked) -> Answer:
    """An answer of a model that follows nothing it was asked: other categories, no importance, foreign numbers."""
    kinds: list[str] = list(asked.body["response_format"]["json_schema"]["schema"]["properties"])
    made: list[dict[str, object]] = [
        {"content": "Wanted.", "importance": 0.9, "category": "roses", "replaces": [1, 2, 3]},
        {"content": "Unwanted.", "importance": 0.9, "category": "weather"},
        {"content": "Of no category.", "importance": 0.9, "category": ["roses"]},
        {"content": "A trifle.", "importance": 0.1, "category": "roses"},
        {"content": "Of no importance.", "importance": "high", "category": "roses"},
    ]
    found = [{**memory, "sources": [1]} for memory in made]
    return completed({kind: found if kind == "memories" else list[object]() for kind in kinds})


def test_mem_15_the_answer_of_a_model_is_not_trusted_to_keep_to_the_settings(
    engine: Engine, model: FakeEndpoint
) -> None:
    """MEM-15"""
    model.follows(hostile)
    house = settle_house(engine, extractor=OpenAiExtractor(Endpoint(url=model.url, model="m", tries=1)))
    project = house.project(
        wanted_categories=["roses"],
        unwanted_categories=["weather"],
        minimum_importance=0.5,
        extraction_instructions="Only roses.",
    )
    house.session("tab", project)
    house.tell("tab", "Hello.")
    assert house.memories("tab") == ["Wanted."]
    assert "Only roses." in model.asked[0].question


def test_mem_12_a_model_can_supersede_only_what_it_was_shown(engine: Engine, model: FakeEndpoint) -> None:
    """MEM-12: the numbers 1, 2, 3 are of this person's memories in this pool; what others said stays true."""
    house = settle_house(engine, extractor=OpenAiExtractor(Endpoint(url=model.url, model="m", tries=1)))
    project = house.project(visibility="private")
    for name, user in (("mine", "ann"), ("other", "ben")):
        house.session(name, project, user)
        house.services.memories.add(house.reach, name, ["Roses are red."])
    model.follows(hostile)
    house.tell("mine", "Hello.")
    statuses = {name: {one.memory.content: one.status for one in house.stored(name)} for name in ("mine", "other")}
    assert statuses["other"] == {"Roses are red.": "active"}
    assert statuses["mine"]["Wanted."] == "active"


def test_mem_15_a_preview_stores_nothing(engine: Engine, house: MemorySetup) -> None:
    """MEM-15: no row of any table changes: no version, no count of usage, no session."""
    project = house.project()
    house.session("tab", project, "ann")
    house.tell("tab", *FACTS)
    before = engine.dump()
    found = preview(house, project, "I moved to Oslo.", "My brother Piet works at Zentrix.")
    assert [memory.subject for memory in found.memories][:1] == ["home"]
    assert "Zentrix" in {entity.name for entity in found.entities}
    assert engine.dump() == before


def test_mem_15_a_preview_knows_nothing_of_what_is_stored(house: MemorySetup) -> None:
    """MEM-15: the same messages give the same preview, whatever anybody said before in the project."""
    project = house.project()
    empty = preview(house, project, *FACTS)
    house.session("tab", project, "ann")
    house.tell("tab", *FACTS, "I moved to Oslo.")
    again = preview(house, project, *FACTS)
    assert [replace(memory, valid_from=0) for memory in again.memories] == [
        replace(memory, valid_from=0) for memory in empty.memories
    ]
    assert again.entities == empty.entities


def test_mem_15_equal_statements_are_previewed_once_as_they_are_stored(engine: Engine) -> None:
    """MEM-15, MEM-2: a model may state the same of two messages."""
    house = settle_house(engine, extractor=Scripted())
    shown = preview(house, None, "Ann likes tea.", "ann LIKES  tea", "Ann has a dog.").memories
    house.session("a")
    house.tell("a", "Ann likes tea.", "ann LIKES  tea", "Ann has a dog.")
    assert [memory.content for memory in shown] == house.memories("a") == ["Ann likes tea.", "Ann has a dog."]


def test_mem_10_recalled_text_in_a_preview_is_no_evidence(house: MemorySetup) -> None:
    """MEM-10"""
    assert preview(house, house.project(), quoted(["The user lives in Rome."]) + " I love tea.").memories[
        0
    ].content == ("The user loves tea.")


def test_mem_15_a_preview_is_bounded(house: MemorySetup) -> None:
    """MEM-15: as a batch of messages is."""
    project = house.project()
    with pytest.raises(InvalidRequest, match="messages"):
        preview(house, project)
    with pytest.raises(TooLarge, match="messages"):
        preview(house, project, *(["Hello."] * (LARGEST_BATCH + 1)))


def test_iso_1_a_preview_in_a_foreign_project_is_as_in_one_that_does_not_exist(
    engine: Engine, house: MemorySetup
) -> None:
    """ISO-1"""
    theirs = settle_house(engine)
    foreign = theirs.project("Secret", extraction_instructions="Look for the amulet.")
    with pytest.raises(NotFound) as caught:
        preview(house, foreign, "Hello.")
    with pytest.raises(NotFound) as missing:
        preview(house, ProjectId(foreign + 1), "Hello.")
    assert str(caught.value).replace(str(caught.value.given), "") == str(missing.value).replace(
        str(missing.value.given), ""
    )
    own = house.project()
    confined = replace(house, reach=replace(house.reach, confined_to=own))
    with pytest.raises(Forbidden):
        preview(confined, None, "Hello.")
    with pytest.raises(NotFound):
        preview(confined, house.project("Kitchen"), "Hello.")


def test_mem_15_rules_say_that_they_read_english(house: MemorySetup) -> None:
    """MEM-15: other languages give a notice, and are recalled by their messages."""
    project = house.project()
    assert preview(house, project, *FACTS).notice is None
    found = preview(house, project, *FACTS, GERMAN)
    assert found.notice is not None
    assert "English only" in found.notice
    assert len(found.memories) == 3
    house.session("tab", project)
    house.tell("tab", GERMAN)
    assert house.memories("tab") == []
    house.session("asks", project)
    assert GERMAN in [item.message.content for item in house.context("asks", "Wo wohne ich?").relevant_history]


def test_mem_15_what_a_model_extracts_in_japanese_is_stored_found_and_superseded(
    engine: Engine, model: FakeEndpoint
) -> None:
    """MEM-12, MEM-15: a model answers in the language spoken; a search in it finds the memory, and the newer fact replaces it."""
    house = settle_house(engine, extractor=OpenAiExtractor(Endpoint(url=model.url, model="m", tries=1)))
    facts = {
        "私はローマに住んでいます。": "利用者はローマに住んでいる。",
        "先週、大阪に引っ越しました。": "利用者は大阪に引っ越した。",
    }

    def script(asked: Asked) -> Answer:
        (kind,) = asked.body["response_format"]["json_schema"]["schema"]["properties"]
        if kind != "memories":
            return completed({kind: list[object]()})
        number, said = next(iter(asked.statements.items()))
        replaced = [1] if "<known" in asked.question else []
        item = {
            "content": facts[said],
            "importance": 0.7,
            "category": "home",
            "replaces": replaced,
            "sources": [number],
        }
        return completed({kind: [item]})

    model.follows(script)
    house.session("a", house.project(), "ann")
    for said, memory in facts.items():
        house.tell("a", said)
        assert memory in house.memories("a")
        assert house.recalled("a", "どこに住んでいますか。") == [memory]
    newer, older = sorted(house.stored("a"), key=lambda one: one.memory.valid_from, reverse=True)
    assert [newer.status, older.status] == ["active", "superseded"]
    assert older.memory.superseded_by == newer.memory.id
    assert newer.memory.content == facts["先週、大阪に引っ越しました。"]
    hits = house.searched("大阪", SearchTarget(project=house.find("a").project, user_id="ann"))
    assert any(newer.memory.content in hit for hit in hits)
    assert not any(older.memory.content in hit for hit in hits)
