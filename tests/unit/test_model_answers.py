"""Reading a model's answers: lenient in form, strict in shape, and never able to point at a message that was not asked about."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.domain.extraction import ExtractedEntity, ExtractedMemory
from cloister.domain.identifiers import MemoryId
from cloister.models.openai.answers import (
    ENTITIES,
    LONGEST_TEXT,
    NOTES,
    Asked,
    OtherItems,
    Reply,
    Schema,
    UnusableAnswer,
    memories_schema,
    read_entities,
    read_memories,
    read_notes,
    without_lengths,
)
from cloister.models.openai.merging import merged_entities, merged_memories, merged_notes, most_alike_first
from cloister.models.openai.quotations import KnownLine
from support.samples.statements import ids

ASKED = ids(1, 2, 3)
BY_USERS = Asked(ASKED, all_by_users=True)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def read(text: str) -> list[ExtractedMemory]:
    return read_memories(Reply(text=text), BY_USERS)


def read_one(**fields: object) -> ExtractedMemory:
    (memory,) = read(json.dumps({"memories": [{"content": "Anna lives in Graz.", **fields}]}))
    return memory


@pytest.mark.parametrize(
    "text",
    [
        '{"memories": [{"content": "Anna lives in Graz."}]}',
        '[{"content": "Anna lives in Graz."}]',
        '```json\n{"memories": [{"content": "Anna lives in Graz."}]}\n```',
        '```json\n[{"content": "Anna lives in Graz."}]\n```',
        'Sure! [{"content": "Anna lives in Graz."}] Anything else?',
        'Here are all [1]: {"memories": [{"content": "Anna lives in Graz."}]}',
        'Of course! {"memories": [{"content": "Anna lives in Graz."}]} Anything else?',
        '<think>Is {this} one?</think>\n{"memories": [{"content": "Anna lives in Graz."}]}',
        '{"memories": [{"content": "  Anna\\n lives in\\u0000 Graz.\\ud800 "}]}',
    ],
)
def test_the_json_is_found_in_what_models_write_around_it(text: str) -> None:
    assert [memory.content for memory in read(text)] == ["Anna lives in Graz."]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([2], ids(2)),
        ([3, 1, 3], ids(1, 3)),
        (["2", 3], ids(2, 3)),
        (2, ids(2)),
        ([2, 4, 0, -1, 10**30], ids(2)),
        ([], ASKED),
        (None, ASKED),
    ],
)
def test_sources_are_messages_that_were_asked_about_and_all_of_them_where_none_is_named(
    given: object, expected: object
) -> None:
    assert read_one(sources=given).sources == expected


@pytest.mark.parametrize("given", [[4], [0], [-1], [True, 1.0, "one", None, [1]], {"1": 1}])
def test_mem_11_numbers_that_name_no_message_make_an_item_unusable(given: object) -> None:
    """Taken for all messages, they would make the assistant's words the user's."""
    with pytest.raises(UnusableAnswer, match="numbered 1 to 3"):
        read_one(sources=given)


def test_mem_11_missing_sources_are_refused_where_the_assistant_was_quoted_too() -> None:
    text = json.dumps({"memories": [{"content": "The user owns a yacht."}]})
    with pytest.raises(UnusableAnswer, match="numbered 1 to 3"):
        read_memories(Reply(text=text), Asked(ASKED, all_by_users=False))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0, 0.0),
        (7, 0.7),
        (10, 1.0),
        (0.8, 0.8),
        (1, 1.0),
        (1.0, 1.0),
        (2, 0.2),
        (-3, 0.0),
        (85, 0.85),
        (100, 1.0),
        (10**400, 1.0),
        (-(10**400), 0.0),
        (None, None),
    ],
)
def test_importance_is_a_share(given: object, expected: float | None) -> None:
    assert read_one(importance=given).importance == expected


@pytest.mark.parametrize("importance", ["high", True, [5]])
def test_importance_that_is_no_number_is_no_opinion(importance: object) -> None:
    assert read_one(importance=importance).importance is None


LACKING = [
    {"name": "Anna"},
    {"content": 7},
    {"content": None},
    {"content": " "},
    {"content": "x" * 401},
    "text",
    None,
    [1],
]


@pytest.mark.parametrize("lacking", LACKING)
def test_mem_5_an_item_that_lacks_what_it_needs_is_passed_over(lacking: object) -> None:
    answer = json.dumps([lacking, {"content": "Anna lives in Graz."}, lacking])
    assert [memory.content for memory in read(answer)] == ["Anna lives in Graz."]


@pytest.mark.parametrize("lacking", LACKING)
def test_mem_6_an_answer_of_nothing_else_is_unusable(lacking: object) -> None:
    with pytest.raises(UnusableAnswer):
        read(json.dumps([lacking, lacking]))


@pytest.mark.parametrize(
    "text",
    [
        '[{"content": "User enjoys chess", "importance": 0.8}]',
        '{"memories": [{"content": "User enjoys chess"}]}',
        '{"memories": []}',
        '{"entities": [{"content": "User enjoys chess"}, {}]}',
    ],
)
def test_items_of_another_kind_are_told_from_broken_answers(text: str) -> None:
    with pytest.raises(OtherItems):
        read_entities(Reply(text=text), BY_USERS)


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "Anna", "aliases": []}, {"na',
        '{"memories": [{"content": "User enjoys chess"}], "entities": [{"na',
        '{"memories": ["User enjoys chess"]}',
        '["Anna"]',
        '{"error": "overloaded"}',
        "{}",
        '{"entities": null}',
        '{"entities": [{"name": " "}, {}]}',
        "I found none.",
    ],
)
def test_mem_6_a_broken_answer_is_not_one_of_another_kind(text: str) -> None:
    with pytest.raises(UnusableAnswer) as caught:
        read_entities(Reply(text=text), BY_USERS)
    assert not isinstance(caught.value, OtherItems)


def test_an_entity_needs_a_name_alone() -> None:
    found = read_entities(Reply(text='[{"name": "Graz"}, {"type": "place", "notes": "A town."}]'), BY_USERS)
    assert found == [ExtractedEntity(name="Graz", type="other", notes="", sources=ASKED)]


@given(ANYTHING)
@settings(max_examples=60)
def test_whatever_is_answered_gives_usable_memories_or_is_refused(value: object) -> None:
    """Also as a memory, and as any of its fields."""
    for answer in (value, {"memories": value}, {"memories": [value]}, {"memories": [{"content": value}]}):
        try:
            found = read(json.dumps(answer))
        except UnusableAnswer:
            continue
        for memory in found:
            memory.content.encode()
            assert 0 < len(memory.content) <= LONGEST_TEXT
            assert set(memory.sources) <= set(ASKED)
            assert memory.importance is None or math.isfinite(memory.importance)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read(text)
    except UnusableAnswer as error:
        assert len(text) < 12 or text not in str(error)


@pytest.mark.parametrize(
    ("written", "expected"),
    [("person", "person"), ("Organization", "organisation"), ("PLACE", "place"), ("spaceship", "other")],
)
def test_types_of_entities_are_ours(written: str, expected: str) -> None:
    item = {"name": "Graz", "type": written, "notes": "It is named.", "sources": [1]}
    (entity,) = read_entities(Reply(text=json.dumps({"entities": [item]})), BY_USERS)
    assert entity.type == expected


def test_notes_are_lines_with_their_sources() -> None:
    reply = Reply(text='{"notes": [{"content": "Anna moved.", "sources": [3]}, {"content": "To Graz."}]}')
    assert read_notes(reply, BY_USERS) == [("Anna moved.", ids(3)), ("To Graz.", ASKED)]


def test_an_answer_that_was_cut_off_is_not_read_even_where_it_could_be() -> None:
    with pytest.raises(UnusableAnswer, match="cut off"):
        read_memories(Reply(text='{"memories": []}', complete=False), BY_USERS)


@pytest.mark.parametrize("schema", [memories_schema(["work"]), ENTITIES, NOTES])
def test_schemas_are_what_strict_servers_take(schema: Schema) -> None:
    """Every field is required, no others are allowed, and the root is an object."""

    def walk(part: object) -> None:
        if isinstance(part, dict):
            if part.get("type") == "object":  # pyright: ignore[reportUnknownMemberType]
                assert part["required"] == list(part["properties"])  # pyright: ignore[reportUnknownArgumentType]
                assert part["additionalProperties"] is False
            for inner in part.values():  # pyright: ignore[reportUnknownVariableType]
                walk(inner)  # pyright: ignore[reportUnknownArgumentType]

    walk(schema)
    assert schema["type"] == "object"
    assert "Length" in json.dumps(schema)
    assert "Length" not in json.dumps(without_lengths(schema))


def memory(content: str, *numbers: int, importance: float | None = None) -> ExtractedMemory:
    return ExtractedMemory(content=content, sources=ids(*numbers), importance=importance)


def test_memories_that_say_the_same_are_one() -> None:
    found = [memory("Anna lives in Graz.", 1, importance=0.2), memory("anna  lives in Graz", 2, importance=0.6)]
    assert merged_memories([*found, memory("Anna climbs.", 3)], ["ANNA CLIMBS!"]) == [
        memory("Anna lives in Graz.", 1, 2, importance=0.6)
    ]


def test_entities_of_one_name_are_one() -> None:
    def entity(**fields: object) -> ExtractedEntity:
        return ExtractedEntity(**{"type": "other", "sources": ids(1), **fields})  # pyright: ignore[reportArgumentType]

    found = [
        entity(name="Graz", notes="A town."),
        entity(name="GRAZ", type="place", notes="Anna lives there.", sources=ids(2)),
        entity(name="Graz", type="event", notes="A town.", sources=ids(2, 3)),
    ]
    assert merged_entities(found) == [
        entity(name="Graz", type="place", notes="A town. Anna lives there.", sources=ids(1, 2, 3))
    ]


def test_notes_that_say_the_same_are_one() -> None:
    found = [("Anna moved.", ids(1)), ("Berta did not.", ids(2)), ("anna moved", ids(3))]
    assert merged_notes(found) == [("Anna moved.", ids(1, 3)), ("Berta did not.", ids(2))]


def test_what_is_known_of_the_same_things_is_shown_first() -> None:
    texts = ["Anna likes tea.", "Berta climbs mountains.", "Carl sails."]
    known = [KnownLine(MemoryId(number), text) for number, text in enumerate(texts)]
    assert most_alike_first(known, "Which mountains did Berta see?") == [known[1], known[2], known[0]]
