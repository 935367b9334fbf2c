"""A filter is applied before ranking and inside the pool (MEM-14), on both engines, in small and in large pools."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloister.domain.context import Context, Source
from cloister.domain.conversation import Draft, Message
from cloister.domain.identifiers import ProjectId
from cloister.domain.memory import StoredMemory
from cloister.domain.recall.filter import FilteredRow, matches
from cloister.domain.recall.filter_language import parse_filter
from cloister.domain.scope import Reach
from cloister.domain.timestamps import iso, parse_iso
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EntityHit, EpisodeHit, Hit, MemoryHit, SearchTarget
from cloister.storage.stores.filters import FilterStore, SessionNames
from support.databases.engines import Engine, exact_index
from support.isolation.leaky_index import LeakyIndex
from support.samples.filters import AUTHORS, CATEGORIES, FILTERS, KEYS, TIMES, VALUES
from support.setups.memories import MemorySetup, settle_house

DAY = 86_400_000_000
QUESTION = "Which lamp does the kitchen need?"


@pytest.fixture(params=[1, 1 << 15], ids=["large", "small"])
def house(request: pytest.FixtureRequest, engine: Engine) -> MemorySetup:
    """Pools are answered in two stages, or by a full scan."""
    return settle_house(engine, index=exact_index(large=request.param))


@pytest.fixture
def home(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def say(
    house: MemorySetup,
    session: str,
    *contents: str,
    role: Any = "user",
    author: str | None = None,
    at: int | None = None,
    categories: Sequence[str] = (),
    metadata: dict[str, object] | None = None,
) -> list[Message]:
    drafts = [
        Draft(
            role=role,
            content=content,
            author=author,
            created_at=at,
            categories=tuple(categories),
            metadata=metadata or {},
        )
        for content in contents
    ]
    return list(house.services.record.messages(house.reach, session, drafts).messages)


def build(house: MemorySetup, name: str, wanted: Any, question: str = QUESTION, **fields: Any) -> Context:
    fields = {"min_relevance": 0, **fields}
    request = ContextRequest(question=question, filter=None if wanted is None else parse_filter(wanted), **fields)
    return house.services.context.build(house.reach, name, request)


def recalled(house: MemorySetup, name: str, wanted: Any, **fields: Any) -> list[str]:
    return [item.message.content for item in build(house, name, wanted, **fields).relevant_history]


def search(
    house: MemorySetup, wanted: Any, target: SearchTarget, *, limit: int = 50, reach: Reach | None = None
) -> list[Hit]:
    parsed = None if wanted is None else parse_filter(wanted)
    return house.services.search.search(reach or house.reach, QUESTION, target, limit, min_relevance=0, filter=parsed)


def words(hits: Sequence[Hit]) -> list[str]:
    found: list[str] = []
    for hit in hits:
        match hit:
            case EpisodeHit(item=item):
                found.append(item.message.content)
            case MemoryHit(stored=stored):
                found.append(stored.memory.content)
            case EntityHit(entity=entity):
                found.append(entity.name)
    return found


# Isolation: what is outside cannot be matched, nor counted.

FOREIGN: list[dict[str, Any]] = [
    {"session_id": "theirs"},
    {"user_id": "bo"},
    {"metadata": {"secret": "only theirs"}},
    {"category": "only theirs"},
    {"author": "Their Author"},
    {"role": "tool"},
    {"created_after": "2030-01-01T00:00:00Z"},
    {"and": [{"kind": "message"}, {"or": [{"session_id": "theirs"}, {"category": "only theirs"}]}]},
    {"not": {"not": {"metadata": {"secret": "only theirs"}}}},
]
NOTHING = {"session_id": "nowhere at all"}


def confide(house: MemorySetup, session: str) -> None:
    """Much that only a filter for it would find, said outside the pool of who asks."""
    labels: dict[str, Any] = {"categories": ["only theirs"], "metadata": {"secret": "only theirs"}}
    late = parse_iso("2031-05-05T00:00:00Z", "time")
    say(house, session, *(f"The kitchen needs lamp {number}." for number in range(30)), role="tool", at=late, **labels)
    say(house, session, "The lamp of the kitchen is blue.", author="Their Author", at=late, **labels)


@pytest.mark.parametrize("outside", ["another tenant", "another project", "no project", "another user"])
def test_mem_14_a_filter_that_only_rows_outside_match_answers_as_one_that_nothing_matches(
    house: MemorySetup, engine: Engine, outside: str
) -> None:
    """Byte for byte, with the counts of what was left out: a filter cannot count what is outside (ISO-3, ISO-4, ISO-10)."""
    garden = house.project("Garden", "private")
    house.session("ours", garden, "ada")
    house.session("asks", garden, "ada")
    say(house, "ours", "The lamp of our kitchen is green.", "Nothing else is known of any lamp.")
    match outside:
        case "another tenant":
            other = settle_house(engine)
            other.session("theirs", None, "bo")
            confide(other, "theirs")
        case "another project":
            house.session("theirs", house.project("Kitchen", "private"), "bo")
            confide(house, "theirs")
        case "no project":
            house.session("theirs", None, "bo")
            confide(house, "theirs")
        case _:
            house.session("theirs", garden, "bo")
            confide(house, "theirs")
    nothing = build(house, "asks", NOTHING)
    assert nothing.relevant_history == () and set(nothing.omitted.values()) == {0}
    target = SearchTarget(session="asks")
    pages = house.services.sessions.messages
    for wanted in FOREIGN:
        assert repr(build(house, "asks", wanted)) == repr(nothing)
        assert search(house, wanted, target) == search(house, NOTHING, target) == []
        _, listed = pages(house.reach, "ours", limit=9, filter=parse_filter(wanted))
        assert listed == []
        # The opposite matches all that is inside, and nothing of what is outside.
        assert words(search(house, {"not": wanted}, target)) == words(search(house, None, target))


def test_mem_14_a_filter_by_another_user_matches_in_a_pool_that_users_share(house: MemorySetup) -> None:
    """The pool is the boundary: whose messages may be recalled may be filtered by their user."""
    shared = house.project("Shared", "shared")
    house.session("ours", shared, "ada")
    house.session("theirs", shared, "bo")
    house.session("asks", shared, "ada")
    say(house, "ours", "Ada's kitchen needs a lamp.")
    say(house, "theirs", "Bo's kitchen needs a lamp.")
    assert recalled(house, "asks", {"user_id": "bo"}) == ["Bo's kitchen needs a lamp."]
    assert recalled(house, "asks", {"not": {"user_id": "bo"}}) == ["Ada's kitchen needs a lamp."]
    assert recalled(house, "asks", {"session_id": "theirs"}) == ["Bo's kitchen needs a lamp."]


def test_mem_14_a_key_bound_to_a_user_or_a_project_filters_within_its_own(house: MemorySetup) -> None:
    """ORG-10: with the reach of such a key, what another user or project has is not matched."""
    garden, kitchen = house.project("Garden", "private"), house.project("Kitchen", "private")
    for name, project, user in (("ours", garden, "ada"), ("theirs", garden, "bo"), ("far", kitchen, "ada")):
        house.session(name, project, user)
        say(house, name, f"The lamp that {name} needs.", categories=["lamps"])
    bound = Reach(tenant=house.reach.tenant, user="ada")
    confined = Reach(tenant=house.reach.tenant, confined_to=garden)
    for reach, user in ((bound, None), (confined, "ada")):
        target = SearchTarget(project=garden, user_id=user)
        assert words(search(house, {"category": "lamps"}, target, reach=reach)) == ["The lamp that ours needs."]
        for name in ("theirs", "far"):
            assert search(house, {"session_id": name}, target, reach=reach) == []


def test_mem_14_an_index_that_lies_shows_nothing_through_a_filter(engine: Engine) -> None:
    """ISO-8: an id of another pool is neither allowed by a filter nor read back."""
    leaky = LeakyIndex()
    house = settle_house(engine, index=leaky)
    house.session("ours", house.project("Garden"))
    house.session("theirs", house.project("Kitchen"))
    say(house, "ours", "The kitchen needs a green lamp.", categories=["lamps"])
    (foreign,) = say(house, "theirs", "The kitchen needs a lamp of gold.", categories=["lamps"])
    leaky.lies.append(foreign.id)
    assert words(search(house, {"category": "lamps"}, SearchTarget(session="ours"))) == [
        "The kitchen needs a green lamp."
    ]


def test_mem_14_what_moved_away_or_was_deleted_is_not_matched_any_more(house: MemorySetup) -> None:
    """ISO-5, ISO-6: from the next question on, in both pools."""
    garden, kitchen = house.project("Garden"), house.project("Kitchen")
    for name, project in (("moves", garden), ("stays", garden), ("asks", garden), ("asks there", kitchen)):
        house.session(name, project)
    say(house, "moves", "The lamp that moves.", categories=["lamps"])
    kept, gone = say(house, "stays", "The lamp that stays.", "The lamp that goes.", categories=["lamps"])
    wanted = {"category": "lamps"}
    assert len(recalled(house, "asks", wanted)) == 3
    house.move("moves", kitchen)
    house.services.forgetting.message(house.reach, gone.id)
    assert recalled(house, "asks", wanted) == [kept.content]
    assert recalled(house, "asks", {"session_id": "moves"}) == []
    assert recalled(house, "asks there", wanted) == ["The lamp that moves."]
    house.services.forgetting.session(house.reach, "moves")
    assert recalled(house, "asks there", wanted) == []


# Before ranking.


def test_mem_14_a_filtered_question_gets_its_full_number_of_hits(house: MemorySetup) -> None:
    """What matches the question better, and not the filter, takes no place."""
    house.session("loud")
    house.session("quiet")
    house.session("asks")
    say(house, "loud", *(f"The kitchen needs a lamp, and lamp {number} is the best lamp." for number in range(300)))
    for number in range(40):
        say(house, "quiet", f"On page {number} somebody mentions a kitchen.", categories=["notes"])
    for wanted in ({"category": "notes"}, {"session_id": "quiet"}, {"not": {"session_id": "loud"}}):
        hits = search(house, wanted, SearchTarget(session="asks"), limit=30)
        assert len(hits) == 30 and all("On page" in content for content in words(hits))
        context = build(house, "asks", wanted, semantic_limit=25)
        assert len(context.relevant_history) == 25
        assert context.omitted["limit"] == 15
    assert all("best lamp" in content for content in words(search(house, None, SearchTarget(session="asks"), limit=30)))


def test_mem_14_a_filter_changes_no_score(home: MemorySetup) -> None:
    """The statistics are of the whole pool, so that a hit is as good with a filter as without one."""
    home.session("talk")
    home.session("asks")
    for number in range(30):
        category = ["lamps"] if number % 3 == 0 else []
        say(home, "talk", f"Room {number} needs a lamp of colour {number * 7}.", categories=category)
    everything = {
        hit.item.message.id: hit
        for hit in search(home, None, SearchTarget(session="asks"))
        if isinstance(hit, EpisodeHit)
    }
    chosen = [
        hit for hit in search(home, {"category": "lamps"}, SearchTarget(session="asks")) if isinstance(hit, EpisodeHit)
    ]
    assert len(chosen) == 10
    unscaled = [everything[hit.item.message.id].item.score for hit in chosen]
    assert [hit.item.score for hit in chosen] == unscaled


def test_mem_14_the_floor_and_duplicates_count_only_what_the_filter_lets_pass(house: MemorySetup) -> None:
    """CTX-6, CTX-7."""
    house.session("talk")
    house.session("asks")
    say(house, "talk", *["The kitchen needs a green lamp."] * 3, categories=["lamps"])
    house.session("music")
    say(house, "music", "Anna plays the cello on Sundays.", categories=["lamps"])
    say(house, "music", "The train to Graz leaves at seven.")
    say(house, "talk", *["The kitchen needs a green lamp."] * 5)
    context = build(house, "asks", {"category": "lamps"}, min_relevance=0.2)
    (item,) = context.relevant_history
    assert (item.message.content, item.times) == ("The kitchen needs a green lamp.", 3)
    assert (context.omitted["weak"], context.omitted["duplicate"]) == (1, 2)


def test_mem_14_the_current_conversation_is_not_filtered(house: MemorySetup) -> None:
    house.session("talk")
    house.session("asks")
    say(house, "talk", "The kitchen needs a lamp.")
    say(house, "asks", "Something about lamps.")
    context = build(house, "asks", NOTHING)
    assert [item.message.content for item in context.current_conversation] == ["Something about lamps."]
    assert context.relevant_history == ()


def test_mem_14_recent_messages_of_the_pool_are_filtered_before_the_limit(house: MemorySetup) -> None:
    house.session("talk")
    house.session("asks")
    for number in range(6):
        say(house, "talk", f"Said on day {number}.", at=DAY * (number + 1), categories=["odd"] if number % 2 else [])
    sources = [Source(role="user", method="recent", limit=2, conversation_scope="pool")]
    assert recalled(house, "asks", {"category": "odd"}, sources=sources) == ["Said on day 5.", "Said on day 3."]
    assert recalled(house, "asks", NOTHING, sources=sources) == []


# Memories, entities and observations.


def test_mem_14_memories_and_entities_are_filtered_by_their_session_user_and_kind(home: MemorySetup) -> None:
    garden = home.project("Garden")
    home.session("first", garden, "ada")
    home.session("second", garden, "bo")
    home.tell("first", "My neighbour Anna plays the cello.")
    home.tell("second", "My neighbour Boris plays the cello.")
    target = SearchTarget(session="first")
    kinds = {kind: words(search(home, {"kind": kind}, target)) for kind in ("episode", "message", "memory", "entity")}
    assert (
        kinds["episode"] == kinds["message"]
        and len(kinds["memory"]) == 2
        and sorted(kinds["entity"]) == ["Anna", "Boris"]
    )
    of_bo = search(home, {"user_id": "bo", "kind": "memory"}, target)
    assert len(of_bo) == 1 and "Boris" in words(of_bo)[0]
    assert words(search(home, {"session_id": "second", "kind": "memory"}, target)) == words(of_bo)
    # A memory and an entity have no role; an entity has no session.
    assert all(isinstance(hit, EpisodeHit) for hit in search(home, {"role": "user"}, target))
    assert not [hit for hit in search(home, {"session_id": "second"}, target) if isinstance(hit, EntityHit)]
    context = build(home, "first", {"kind": "memory"}, "Who plays the cello?")
    assert len(context.derived.memories) == 2 and not context.derived.entities and not context.relevant_history


def test_mem_14_of_equal_memories_the_one_that_the_filter_lets_pass_is_found(home: MemorySetup) -> None:
    """The newest of equal memories stands for all of them, but not where a filter leaves it out."""
    for name in ("older", "newer", "asks"):
        home.session(name)
    fact = "The kitchen needs a green lamp."
    older, newer = (home.services.memories.add(home.reach, name, [fact]).memories[0] for name in ("older", "newer"))

    def found(wanted: Any) -> list[StoredMemory]:
        return [hit.stored for hit in search(home, wanted, SearchTarget(session="asks")) if isinstance(hit, MemoryHit)]

    assert [stored.memory.id for stored in found(None)] == [newer.memory.id]
    assert [stored.memory.id for stored in found({"session_id": "older"})] == [older.memory.id]
    assert [stored.memory.id for stored in found({"kind": "memory"})] == [newer.memory.id]


def test_mem_14_the_time_of_a_memory_is_when_it_was_said_not_when_it_was_extracted(home: MemorySetup) -> None:
    """MEM-12: what was said in 2019 and recorded today is of 2019 in searches, contexts and lists alike."""
    home.session("old", None, "ada")
    home.session("asks", None, "ada")
    said = parse_iso("2019-06-01T00:00:00Z", "time")
    say(home, "old", "My neighbour Anna plays the cello.", at=said)
    home.services.extraction.extract_now(home.reach, "old")
    (memory,) = home.stored("old")
    assert memory.memory.valid_from == said < memory.memory.created_at
    before, after = ({word: "2020-01-01T00:00:00Z"} for word in ("created_before", "created_after"))
    for wanted, expected in ((before, ["Anna"]), (after, [])):
        found = [hit for hit in search(home, wanted, SearchTarget(session="asks")) if isinstance(hit, MemoryHit)]
        context = build(home, "asks", wanted, "Who plays the cello?").derived.memories
        parsed = parse_filter(wanted)
        lists = [
            [hit.stored for hit in found],
            list(context),
            home.services.memories.of_session(home.reach, "old", limit=9, filter=parsed),
            home.services.memories.of_user(home.reach, "ada", limit=9, filter=parsed),
        ]
        for listed in lists:
            assert len(listed) == len(expected) and all("Anna" in stored.memory.content for stored in listed)


def test_mem_14_observations_of_a_context_are_filtered(home: MemorySetup) -> None:
    home.session("long")
    home.tell("long", *(f"My brother Xandor{number} works at Zentrix{number} in Vienna." for number in range(30)))
    everything = build(home, "long", {"kind": "observation"}).derived
    assert everything.observations and not everything.memories
    assert build(home, "long", {"kind": "memory"}).derived.observations == ()
    assert build(home, "long", NOTHING).derived.observations == ()


# Lists.


def test_mem_14_lists_are_filtered_before_their_limit(home: MemorySetup) -> None:
    home.session("talk", None, "ada")
    for number in range(30):
        say(
            home,
            "talk",
            f"Message {number}.",
            metadata={"even": number % 2 == 0},
            role="tool" if number > 20 else "user",
        )
        home.services.memories.add(home.reach, "talk", [f"Memory {number}."])
    wanted = parse_filter({"metadata": {"even": True}, "not": {"role": "tool"}})
    _, first = home.services.sessions.messages(home.reach, "talk", limit=4, filter=wanted)
    _, rest = home.services.sessions.messages(home.reach, "talk", limit=50, after=first[-1].id, filter=wanted)
    assert [message.content for message in [*first, *rest]] == [f"Message {number}." for number in range(0, 21, 2)]
    middle = home.stored("talk")[14].memory
    times = parse_filter({"or": [{"created_before": iso(middle.created_at)}, {"kind": "message"}]})
    for page in (
        home.services.memories.of_session(home.reach, "talk", limit=200, filter=times),
        home.services.memories.of_user(home.reach, "ada", limit=200, filter=times),
    ):
        assert [stored.memory.content for stored in page] == [f"Memory {number}." for number in range(14)]
    few = home.services.memories.of_session(home.reach, "talk", limit=3, filter=times)
    assert len(few) == 3


# The same meaning as the evaluator of single rows.


def label(house: MemorySetup, project: ProjectId | None) -> list[tuple[Message, str, str | None]]:
    """Messages with every mix of what filters ask for, in two sessions of one pool."""
    said: list[tuple[Message, str, str | None]] = []
    times = [parse_iso(time, "time") + shift for time in TIMES for shift in (-1, 0, 1)]
    number = 0
    for name, user in (("roses", "ada"), ("tulips", None)):
        house.session(name, project, user)
        for at in times:
            number += 1
            metadata = {} if number % 3 == 0 else {KEYS[number % len(KEYS)]: VALUES[number % len(VALUES)]}
            (message,) = say(
                house,
                name,
                f"Message {number} of the garden.",
                role=("user", "assistant")[number % 2],
                author=(None, *AUTHORS)[number % 3],
                at=at,
                categories=() if number % 4 == 0 else (CATEGORIES[number % 4],),
                metadata=metadata,
            )
            said.append((message, name, user))
    return said


def test_mem_14_the_rows_that_storage_lets_pass_are_those_that_match(home: MemorySetup) -> None:
    """Random filters: on messages of a pool, of a session, and on memories. The same rows in another pool count nowhere."""
    twin = home.project("Twin")
    home.session("elsewhere", twin)
    say(home, "elsewhere", "Message of the twin.", at=parse_iso(TIMES[0], "time"), categories=CATEGORIES[:1])
    said = label(home, home.project("Garden"))
    for name in ("roses", "tulips"):
        home.services.memories.add(home.reach, name, [f"Fact {number}." for number in range(3)])
    pool = home.find("roses").pool
    memories = [*home.stored("roses"), *home.stored("tulips")]

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(FILTERS, st.sampled_from(said))
    def agrees(given: dict[str, Any], after: tuple[Message, str, str | None]) -> None:
        wanted = parse_filter(given)
        passing = [message.id for message, name, user in said if matches(wanted, row_of(message, name, user))]
        with home.services.database.read(home.reach) as transaction:
            store = FilterStore(transaction)
            found = store.pool_messages(pool, wanted)
            assert found.ids.tolist() == sorted(passing)
            message, name, user = after
            listed = store.session_messages(message.session, SessionNames(name, user), wanted, after=message.id)
            assert listed == [id for id in sorted(passing) if id >> 21 == message.session and id > message.id]
            kept = store.pool_memories(pool, wanted)
        assert set(kept) == {stored.memory.id for stored in memories if matches(wanted, memory_row(stored))}

    agrees()


def row_of(message: Message, session: str, user: str | None) -> FilteredRow:
    return FilteredRow(
        kind="message",
        created_at=message.created_at,
        session=session,
        user=user,
        role=message.role,
        author=message.author,
        categories=message.categories,
        metadata=json.loads(json.dumps(message.metadata)),
    )


def memory_row(stored: StoredMemory) -> FilteredRow:
    return FilteredRow(kind="memory", created_at=stored.memory.valid_from, session=stored.session, user=stored.user)


def test_mem_14_categories_and_metadata_of_messages_are_kept_as_they_were_given(home: MemorySetup) -> None:
    home.session("talk")
    metadata: dict[str, object] = {"deep": {"list": [1, 1.5, None, "größe"]}, "nul": "\x00"}
    (message,) = say(home, "talk", "Labelled.", categories=CATEGORIES, metadata=metadata)
    _, (stored,) = home.services.sessions.messages(home.reach, "talk", limit=9)
    assert (stored.id, stored.categories, stored.metadata) == (message.id, CATEGORIES, metadata)
    wanted = parse_filter({"metadata": {"nul": "\x00", "deep": {"list": [1, 1.5, None, "größe"]}}})
    assert [each.id for each in home.services.sessions.messages(home.reach, "talk", limit=9, filter=wanted)[1]] == [
        message.id
    ]
