"""What is recalled is relevant (CTX-6), each fact once (CTX-7), and fills the budget (CTX-8), on both engines."""

from pathlib import Path

import pytest

from cloister.domain.context import Context, Source
from cloister.domain.conversation import Draft
from cloister.domain.errors import InvalidRequest
from cloister.domain.identifiers import ProjectId
from cloister.domain.recall.relevance import DEFAULT_MIN_RELEVANCE
from cloister.domain.timestamps import parse_iso
from cloister.services.conversations.sessions import SessionFields
from cloister.services.recall.build_context import ContextRequest
from cloister.services.recall.search import EpisodeHit, Hit, SearchTarget
from support.databases.engines import Engine, opened_engine
from support.databases.postgres_server import PostgresServer
from support.setups.memories import MemorySetup, settle_house

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"
OFF_TOPIC = "How do I translate a poem by Goethe?"
TALK = (
    GATE,
    "We are going to paint the fence in spring.",
    "My neighbour Anna plays the cello on Sundays.",
    "The bicycle needs a new chain and two tyres.",
    "I am allergic to walnuts and to shellfish.",
    "The train to Graz leaves at seven in the morning.",
    "Our cat Minka sleeps in the laundry basket.",
    "The dentist moved to another street last year.",
)
ALWAYS = ("Hello!", "Thank you so much, that helps a lot.", "Good morning Anna, how are you?")


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def told(house: MemorySetup, project: ProjectId | None = None, user: str | None = None) -> None:
    """A session that tells, and one that asks."""
    house.session("tells", project, user)
    house.session("asks", project, user)
    house.say("tells", *TALK, reply="Noted.")


def build(house: MemorySetup, question: str, name: str = "asks", **fields: object) -> Context:
    return house.services.context.build(house.reach, name, ContextRequest(question=question, **fields))  # pyright: ignore[reportArgumentType]


def contents(context: Context) -> list[str]:
    return [item.message.content for item in context.relevant_history]


def search(house: MemorySetup, question: str, floor: float | None = None, name: str = "asks") -> list[Hit]:
    return house.services.search.search(house.reach, question, SearchTarget(session=name), 50, min_relevance=floor)


def shown(context: Context) -> list[tuple[str, float | None, float | None, int]]:
    """What is recalled, without ids."""
    return [(item.message.content, item.score, item.relevance, item.times) for item in context.relevant_history]


def test_ctx_6_what_is_below_the_floor_is_left_out_and_counted(house: MemorySetup) -> None:
    told(house)
    everything = build(house, QUESTION, min_relevance=0)
    relevances = [item.relevance or 0.0 for item in everything.relevant_history]
    assert contents(everything)[0] == GATE and relevances[0] >= 0.5
    assert all(0 <= each <= 1 for each in relevances)
    assert everything.omitted["weak"] == 0
    related = build(house, QUESTION)
    assert [each[:3] for each in shown(related)] == [
        each[:3] for each in shown(everything) if (each[2] or 0) >= DEFAULT_MIN_RELEVANCE
    ]
    said = sum(item.times for item in related.relevant_history)
    assert related.omitted["weak"] == 2 * len(TALK) - said > 0


def test_ctx_6_a_question_about_something_else_recalls_nothing(house: MemorySetup) -> None:
    told(house)
    context = build(house, OFF_TOPIC)
    assert contents(context) == [] and context.tokens == 0
    assert context.omitted["weak"] > 0
    assert search(house, OFF_TOPIC) == []
    assert len(search(house, OFF_TOPIC, 0)) == len(TALK)


def test_ctx_6_the_floor_of_a_request_comes_before_that_of_its_project(house: MemorySetup) -> None:
    garden = house.project(min_relevance=1)
    told(house, garden)
    assert contents(build(house, QUESTION)) == [] and search(house, QUESTION) == []
    assert GATE in contents(build(house, QUESTION, min_relevance=0.2))
    assert len(search(house, QUESTION, 0.2)) > 0
    house.services.projects.change_project(house.reach, garden, settings={"min_relevance": 0})
    # Each of the two roles: all that was said, and the one reply that was always the same.
    assert len(contents(build(house, OFF_TOPIC))) == len(TALK) + 1
    assert len(search(house, OFF_TOPIC)) == len(TALK)
    assert contents(build(house, QUESTION, min_relevance=1)) == []


def test_ctx_6_the_floor_of_a_project_is_that_of_its_sessions_only(house: MemorySetup) -> None:
    silent = house.project(min_relevance=1)
    house.session("silent", silent)
    house.session("asks silently", silent)
    house.say("silent", *TALK)
    told(house, house.project())
    assert GATE in contents(build(house, QUESTION))
    assert contents(build(house, QUESTION, "asks silently")) == []
    house.move("asks silently", None)
    house.move("silent", None)
    assert GATE in contents(build(house, QUESTION, "asks silently"))


@pytest.mark.parametrize("given", [-0.1, 1.1, float("nan"), True, "0.5"])
def test_ctx_6_a_floor_out_of_range_is_refused(house: MemorySetup, given: object) -> None:
    told(house)
    with pytest.raises(InvalidRequest, match="min_relevance"):
        build(house, QUESTION, min_relevance=given)
    with pytest.raises(InvalidRequest, match="min_relevance"):
        search(house, QUESTION, given)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidRequest, match="min_relevance"):
        house.project(min_relevance=given)


@pytest.mark.parametrize("question", ALWAYS)
def test_ctx_6_small_talk_recalls_no_messages_memories_or_entities(house: MemorySetup, question: str) -> None:
    garden = house.project()
    house.session("tells", garden)
    house.session("asks", garden)
    house.tell("tells", *TALK, question, "Good morning! My friend Anna works at Siemens.")
    asked = build(house, question)
    assert (contents(asked), asked.derived.memories, asked.derived.entities) == ([], (), ())
    assert search(house, question) == []
    everything = build(house, question, min_relevance=0)
    assert everything.relevant_history and everything.derived.memories and everything.derived.entities


@pytest.mark.parametrize("budget", [60, 200, 1_000, None])
def test_ctx_7_a_question_asked_in_fifty_sessions_leaves_the_first_place_to_its_answer(
    house: MemorySetup, budget: int | None
) -> None:
    told(house)
    for number in range(50):
        house.session(f"asked {number}")
        house.say(f"asked {number}", QUESTION, reply="I do not know that.")
    for name in ("asks", "asked 7"):
        context = build(house, QUESTION, name, budget=budget, recent_limit=0)
        assert contents(context)[0] == GATE, name
        assert QUESTION not in contents(context)
        assert context.omitted["duplicate"] >= 50
        assert budget is None or context.tokens <= budget
    assert isinstance(best := search(house, QUESTION)[0], EpisodeHit) and best.item.message.content == GATE


def test_ctx_7_what_was_said_again_is_recalled_once_as_it_was_said_last(house: MemorySetup) -> None:
    told(house)
    house.session("says again")
    (again,) = house.say("says again", "the gate code is 4417")
    (item,) = [item for item in build(house, QUESTION).relevant_history if "4417" in item.message.content]
    assert (item.message.id, item.times) == (again.id, 2)
    house.services.forgetting.message(house.reach, again.id)
    (item,) = [item for item in build(house, QUESTION).relevant_history if "4417" in item.message.content]
    assert (item.message.content, item.times) == (GATE, 1)


def test_ctx_7_what_two_users_of_a_shared_project_say_alike_is_recalled_of_each(house: MemorySetup) -> None:
    team = house.project()
    for user in ("ann", "bob"):
        house.session(f"of {user}", team, user)
        house.say(f"of {user}", "I am allergic to walnuts.", reply="Noted.")
    house.session("asks", team, "carol")
    found = [
        item for item in build(house, "Who is allergic to walnuts?").relevant_history if item.message.role == "user"
    ]
    assert sorted((item.user, item.times) for item in found) == [("ann", 1), ("bob", 1)]


def test_ctx_8_a_small_budget_shows_a_long_message_as_an_excerpt_with_the_id_of_the_whole(house: MemorySetup) -> None:
    told(house)
    filler = "We walked along the river and talked about nothing in particular that day. " * 8
    (long,) = house.say("tells", f"{filler}The cellar key hangs behind the barometer. {filler}")
    question = "Where does the cellar key hang?"
    small = build(house, question, budget=300, min_relevance=0)
    (item,) = [item for item in small.relevant_history if item.excerpt]
    assert item.message.id == long.id
    assert "The cellar key hangs behind the barometer." in item.message.content
    assert len(item.message.content) < len(long.content) / 2
    assert small.tokens <= 300
    whole = build(house, question, budget=10_000, min_relevance=0)
    (item,) = [item for item in whole.relevant_history if item.message.id == long.id]
    assert (item.excerpt, item.message.content) == (False, long.content)


def test_ctx_8_a_budget_widens_the_limit_and_omitted_counts_what_is_beyond(house: MemorySetup) -> None:
    house.session("tells")
    house.session("asks")
    parcels = [Draft(role="user", content=f"The parcel number {number} is in the cellar.") for number in range(120)]
    house.services.record.messages(house.reach, "tells", parcels)
    question = "Which parcels are in the cellar?"
    narrow = build(house, question)
    assert (len(narrow.relevant_history), narrow.omitted["limit"]) == (10, 110)
    wide = build(house, question, budget=100_000)
    assert (len(wide.relevant_history), wide.omitted["limit"]) == (100, 20)
    tight = build(house, question, budget=200)
    assert tight.omitted["budget"] == tight.omitted["relevant_history"] == 100 - len(tight.relevant_history) > 0
    assert tight.tokens <= 200


def test_ctx_8_a_project_says_how_long_the_related_history_may_be(house: MemorySetup) -> None:
    told(house, house.project(history_tokens=30))
    few = build(house, QUESTION, min_relevance=0)
    assert 0 < few.tokens <= 30 and contents(few)[0] == GATE
    assert few.omitted["budget"] > 0
    assert build(house, QUESTION, min_relevance=0, semantic_limit=10).tokens > 30


def test_ctx_9_a_relative_date_is_relative_to_when_it_is_asked(house: MemorySetup) -> None:
    question = "Whom did we meet for lunch yesterday?"
    days = {
        "2026-03-02": "We met Peter for lunch.",
        "2026-05-11": "We met Maria for lunch.",
        "2026-08-20": "We met Ivan for lunch.",
    }
    for day, met in days.items():
        house.clock.moment = parse_iso(f"{day}T12:00:00Z", "day")
        house.session(day)
        house.services.record.messages(house.reach, day, [Draft(role="user", content=met)])
    house.session("asks")

    def scores(day: str) -> dict[str, float]:
        """The score of each message for one who asks on the next day."""
        asked_at = parse_iso(f"{day}T12:00:00Z", "day") + 86_400_000_000
        found = build(house, question, asked_at=asked_at, min_relevance=0).relevant_history
        return {item.message.content: item.score or 0.0 for item in found}

    asked = {day: scores(day) for day in days}
    for day, met in days.items():
        assert max(asked, key=lambda other: asked[other][met]) == day, met
    assert len({tuple(each.items()) for each in asked.values()}) == len(days)
    # Without it, the question is asked now, on the last of these days.
    now = {item.message.content: item.score for item in build(house, question, min_relevance=0).relevant_history}
    assert now["We met Peter for lunch."] != asked["2026-03-02"]["We met Peter for lunch."]


def test_iso_4_what_other_pools_hold_changes_neither_items_nor_relevance(house: MemorySetup) -> None:
    """The same words in another project, another user's part and another tenant; in the pool itself they do change it."""
    garden = house.project("Garden", "private")
    told(house, garden, "ann")

    def answers() -> list[object]:
        return [
            [
                (shown(found), found.omitted, found.tokens)
                for found in (build(house, asked), build(house, asked, budget=200))
            ]
            + [
                [(type(hit).__name__, hit.score, hit.relevance) for hit in search(house, asked, floor)]
                for floor in (None, 0)
            ]
            for asked in (QUESTION, OFF_TOPIC, "Who plays the cello?")
        ]

    before = answers()
    other = house.services.projects.create_tenant("Other")[0]
    homes = [(house.reach, None, "ann"), (house.reach, garden, "bob"), (house.reach, house.project("Kitchen"), "ann")]
    texts = [*TALK, QUESTION, OFF_TOPIC, *(f"The gate code {number} of Goethe and the cello." for number in range(40))]
    for number, (reach, project, user) in enumerate([*homes, (type(house.reach)(tenant=other), None, "ann")]):
        name = f"other {number}"
        house.services.sessions.create(reach, SessionFields(external_id=name, project=project, user_id=user))
        house.services.record.messages(reach, name, [Draft(role="user", content=text) for text in texts])
    assert answers() == before
    house.session("same pool", garden, "ann")
    house.say("same pool", *texts)
    assert answers() != before


def test_both_engines_give_the_same_answers(tmp_path: Path, postgres_server: PostgresServer) -> None:
    """CTX-6: texts, order, scores, relevances and counts."""
    answers: list[object] = []
    for name in ("sqlite", "postgres"):
        with opened_engine(name, tmp_path / name, lambda: postgres_server) as engine:
            house = settle_house(engine)
            told(house)
            house.tell("tells", "My brother Xandor works at Zentrix in Vienna.")
            answers.append(
                [
                    (shown(found), found.omitted, found.tokens, sorted(found.derived.memory_relevance.values()))
                    for asked in (QUESTION, OFF_TOPIC, "Who plays the cello?", "Where does Xandor work?", *ALWAYS)
                    for found in (
                        build(house, asked),
                        build(house, asked, budget=100),
                        build(house, asked, min_relevance=0.01),
                    )
                ]
            )
    assert answers[0] == answers[1]


def test_ctx_2_recent_messages_of_the_pool_have_no_relevance_and_no_floor(house: MemorySetup) -> None:
    told(house)
    latest = (Source(role="user", method="recent", limit=3, conversation_scope="pool"),)
    found = build(house, OFF_TOPIC, sources=latest, min_relevance=1)
    assert sorted(contents(found)) == sorted(TALK[-3:])
    assert [item.relevance for item in found.relevant_history] == [None] * 3
