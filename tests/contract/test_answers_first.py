"""The answer comes first, whatever else has its words (CTX-6, CTX-7, CTX-9), on both engines."""

from collections.abc import Iterable

import pytest

from cloister.domain.context import DEFAULT_HISTORY_TOKENS, Context, Source
from cloister.domain.conversation import Draft, Role
from cloister.domain.timestamps import parse_iso
from cloister.services.recall.build_context import ContextRequest
from support.databases.engines import Engine
from support.setups.memories import MemorySetup, settle_house

GATE, QUESTION = "The gate code is 4417.", "What is the gate code?"
OTHERS = (
    "We are going to paint the fence in spring.",
    "My neighbour Anna plays the cello on Sundays.",
    "The bicycle needs a new chain and two tyres.",
    "I am allergic to walnuts and to shellfish.",
)
FILLER = "We walked along the river and talked about nothing in particular that day. "
LONG = f"{FILLER * 12}{GATE} {'Then we went home by bus and had soup with bread. ' * 12}"
ASKED = (
    ("What's the gate code?", "I don't know."),
    ("Hi! What is the gate code?", "I don't have that information. Could you tell me the gate code?"),
    ("I am at the gate. What is the gate code?", "I'm sorry, but I don't have access to that."),
    ("Do you remember the gate code?", "You haven't told me."),
    ("Could you remind me of the gate code please?", "Sorry, I have no record of a gate code."),
    ("I need the gate code", "As an AI I don't have access to your gate code."),
    ("what was the code for the gate again", "I'm not sure."),
    ("Which code opens the gate?", "Unfortunately I can't help with that."),
)
WEDDING = tuple(
    f"{subject} the wedding {rest}"
    for subject, rest in (
        ("We booked the old mill for", "in June."),
        ("The budget of", "is 15,000 euros."),
        ("The cake of", "comes from the bakery."),
        ("My uncle plays the accordion at", "."),
        ("We invited 80 guests to", "."),
        ("The dress for", "is from Vienna."),
        ("The flowers of", "are peonies."),
        ("The band for", "cancelled."),
        ("The priest of", "is an old friend."),
        ("The guests of", "stay at the hotel."),
    )
)
TRIP = (
    ("2026-05-04", "On my trip I took the ferry to Stavanger."),
    ("2026-05-01", "I began my trip in Oslo."),
    ("2026-05-02", "The second stop of my trip was Bergen."),
)


@pytest.fixture
def house(engine: Engine) -> MemorySetup:
    return settle_house(engine)


def tell(house: MemorySetup, name: str, *said: tuple[Role, str]) -> None:
    house.session(name)
    house.services.record.messages(house.reach, name, [Draft(role=role, content=text) for role, text in said])


def of_user(texts: Iterable[str]) -> list[tuple[Role, str]]:
    return [("user", text) for text in texts]


def build(house: MemorySetup, question: str, **fields: object) -> Context:
    return house.services.context.build(house.reach, "asks", ContextRequest(question=question, **fields))  # pyright: ignore[reportArgumentType]


def contents(context: Context) -> list[str]:
    return [item.message.content for item in context.relevant_history]


@pytest.mark.parametrize("answer", [GATE, LONG], ids=["short", "long"])
def test_ctx_7_a_question_asked_in_fifty_sessions_in_other_words_leaves_the_first_place_to_its_answer(
    house: MemorySetup, answer: str
) -> None:
    """At any budget from 60 tokens on; also if the answer is one sentence of a long message."""
    house.session("asks")
    tell(house, "tells", ("user", answer), ("assistant", "Noted."), *of_user(OTHERS))
    before = build(house, QUESTION).relevant_history[0]
    for number in range(50):
        asked, replied = ASKED[number % len(ASKED)]
        tell(house, f"asked {number}", ("user", asked), ("assistant", replied))
    for budget in (60, 120, 500, 1_000, 4_000, None):
        context = build(house, QUESTION, budget=budget)
        assert "4417" in contents(context)[0], budget
        assert budget is None or context.tokens <= budget
        assert not {replied for _, replied in ASKED}.intersection(contents(context))
    after = build(house, QUESTION).relevant_history[0]
    assert (after.relevance or 0) >= 0.2 and (before.relevance or 0) >= 0.5
    assert build(house, QUESTION).omitted["duplicate"] >= 80


def test_ctx_7_a_statement_that_begins_like_a_question_is_recalled(house: MemorySetup) -> None:
    house.session("asks")
    said = ("Will loves sushi", "May hates oysters.", "Had surgery.", *OTHERS)
    tell(house, "tells", *of_user(said))
    for question, answer in (
        ("Who loves sushi?", "Will loves sushi"),
        ("Who hates oysters?", "May hates oysters."),
        ("When did I have surgery?", "Had surgery."),
    ):
        context = build(house, question)
        assert contents(context)[0] == answer and context.omitted["duplicate"] == 0


@pytest.mark.parametrize(
    "question",
    [
        "Give me an overview of the wedding",
        "How much may the wedding cost?",
        "Tell me about the wedding",
        "What do you know about the wedding?",
        "Please summarize everything about the wedding",
    ],
)
def test_ctx_6_a_pool_about_one_subject_answers_questions_about_it(house: MemorySetup, question: str) -> None:
    """That every message has the word does not make it mean nothing; and words of the request are not the subject's."""
    house.session("asks")
    tell(house, "tells", *of_user(WEDDING))
    assert len(build(house, question).relevant_history) >= 5
    for off_topic in (
        "What is the capital of France?",
        "How do I fix a segfault?",
        "Give me an overview of the planets",
    ):
        assert contents(build(house, off_topic)) == []


def test_ctx_6_what_only_stands_near_a_match_is_weak(house: MemorySetup) -> None:
    house.session("asks")
    tell(house, "tells", ("user", GATE), *of_user(OTHERS))
    found = {
        item.message.content: item.relevance or 0.0 for item in build(house, QUESTION, min_relevance=0).relevant_history
    }
    assert found.pop(GATE) >= 0.5
    assert len(found) == len(OTHERS) and max(found.values()) < 0.5


def test_ctx_6_the_reply_to_the_same_question_is_strong(house: MemorySetup) -> None:
    house.session("asks")
    tell(house, "tells", ("user", QUESTION), ("assistant", "It is 4417."), *of_user(OTHERS))
    best = build(house, QUESTION).relevant_history[0]
    assert (best.message.content, (best.relevance or 0) >= 0.5) == ("It is 4417.", True)


@pytest.mark.parametrize("floor", [None, 0, 0.01, 0.3])
def test_ctx_7_of_the_same_words_those_that_answer_are_shown(house: MemorySetup, floor: float | None) -> None:
    """The newest only if it answers as well; and the floor never changes which is shown."""
    house.session("asks")
    tell(house, "gate", ("user", QUESTION), ("assistant", "It is 4417."))
    tell(house, "lottery", ("user", "Which number won the lottery?"), ("assistant", "It is 4417."))
    (item,) = [
        item for item in build(house, QUESTION, min_relevance=floor).relevant_history if "4417" in item.message.content
    ]
    assert (item.session, item.times) == ("gate", 2)
    (item,) = [
        item
        for item in build(house, "Which number won the lottery?", min_relevance=floor).relevant_history
        if "4417" in item.message.content
    ]
    assert (item.session, item.times) == ("lottery", 2)


def test_ctx_7_all_copies_of_the_pool_are_counted_and_the_newest_is_shown(house: MemorySetup) -> None:
    """Also those that are far behind the limit; not those that a filter or the caller leaves out, nor other people's."""
    team = house.project()
    house.session("asks", team, "ann")
    parcels = [f"The gate code of house {number} is {number}{number}{number}." for number in range(100, 140)]
    for number in range(30):
        house.session(f"s{number}", team, "ann")
        said = ["the gate code is 4417" if number == 17 else "The gate code is 4417!", parcels[number]]
        drafts = [Draft(role="user", content=text) for text in said]
        house.services.record.messages(house.reach, f"s{number}", drafts)
        house.clock.moment += 1_000_000
    house.session("of bob", team, "bob")
    house.services.record.messages(house.reach, "of bob", [Draft(role="user", content=GATE)])
    few = build(house, QUESTION, semantic_limit=3).relevant_history
    assert [item.times for item in few if item.message.content.lower().startswith("the gate code is")] == [30]
    found = build(house, QUESTION, semantic_limit=50).relevant_history
    copies = {
        item.user: (item.times, item.session)
        for item in found
        if item.message.content.lower().startswith("the gate code is")
    }
    assert copies["ann"] == (30, "s29")
    assert copies["bob"] == (1, "of bob")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'm allergic to walnuts.", "I am allergic to walnuts"),
        ("The gate code is 4417.", "Hey, the gate code is 4417, thanks!"),
        ("Remember, the gate code is 4417.", "the gate code is 4417"),
        ("門の暗証番号は4417です。", "門の暗証番号は4417だよ"),
        ("大门的密码是4417。", "大门的密码是4417啊！"),
        (
            "昨日の午後に駅前の新しい喫茶店で田中さんと会って来月の旅行の計画を立てました。",
            "昨日の午後に駅前の新しい喫茶店で田中さんと会って、来月の旅行の計画を立てましたよね。",
        ),
    ],
)
def test_ctx_7_nearly_the_same_is_recalled_once_in_any_script(house: MemorySetup, one: str, other: str) -> None:
    house.session("asks")
    tell(house, "first", ("user", one))
    tell(house, "second", ("user", other))
    (item,) = build(
        house, "allergic walnuts gate code 門の暗証番号 大门的密码 旅行の計画", min_relevance=0
    ).relevant_history
    assert item.times == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("門の暗証番号は4417です。", "門の暗証番号は4418です。"),
        ("私は明日の会議に行きます。", "私は明日の会議に行きません。"),
        ("我有两只猫和一只狗住在这里。", "我有三只猫和一只狗住在这里。"),
        (
            "田中さんは来月の初めに家族と一緒に北海道へ旅行に行きます。",
            "鈴木さんは来月の初めに家族と一緒に北海道へ旅行に行きます。",
        ),
        ("A gift for Anna is here.", "A gift of Anna is here."),
    ],
)
def test_ctx_7_another_number_name_or_negation_is_another_fact_in_any_script(
    house: MemorySetup, one: str, other: str
) -> None:
    house.session("asks")
    tell(house, "first", ("user", one))
    tell(house, "second", ("user", other))
    assert len(build(house, one, min_relevance=0).relevant_history) >= 1
    found = build(house, "暗証番号 会議 猫 旅行 gift Anna", min_relevance=0).relevant_history
    assert [item.times for item in found] == [1, 1]


def test_ctx_6_small_talk_counts_what_it_leaves_out_as_weak(house: MemorySetup) -> None:
    house.session("asks")
    tell(house, "tells", *of_user(OTHERS), ("assistant", "Hello, how are you?"))
    context = build(house, "Hello!")
    assert (contents(context), context.omitted["weak"]) == ([], 5)
    assert build(house, "Hello!", semantic_limit=2).omitted["weak"] == 3


def test_ctx_9_a_question_of_order_gets_its_items_in_the_order_of_time(house: MemorySetup) -> None:
    """Unless the request names its sources: then the best come first."""
    for day, said in TRIP:
        house.clock.moment = parse_iso(f"{day}T12:00:00Z", "day")
        tell(house, day, ("user", said))
    house.session("asks")
    in_time = [said for _, said in sorted(TRIP)]
    for question in ("What did I do first on my trip?", "In which order did I visit the cities of my trip?"):
        assert contents(build(house, question)) == in_time
        assert contents(build(house, question, budget=500)) == in_time
    best_first = build(house, "Where did I take the ferry on my trip?")
    assert contents(best_first)[0] == TRIP[0][1]
    scores = [item.score or 0.0 for item in best_first.relevant_history]
    assert scores == sorted(scores, reverse=True)
    sources = (Source(role="user", method="semantic", limit=9, conversation_scope="pool"),)
    ranked = build(house, "What did I do first on my trip?", sources=sources).relevant_history
    assert [item.score for item in ranked] == sorted((item.score for item in ranked), key=lambda score: -(score or 0))


def test_ctx_8_a_budget_is_filled_with_what_is_below_the_floor_if_the_best_reaches_it(house: MemorySetup) -> None:
    """Not if the request or the project sets a floor; and a question about something else still recalls nothing."""
    project = house.project()
    for name in ("tells", "asks"):
        house.session(name, project)
    drafts = [Draft(role="user", content=text) for text in (GATE, *OTHERS)]
    house.services.record.messages(house.reach, "tells", drafts)
    usual, filled = build(house, QUESTION), build(house, QUESTION, budget=1_000)
    assert contents(filled)[: len(contents(usual))] == contents(usual)
    assert len(contents(filled)) >= len(contents(usual))
    assert contents(build(house, "What is the capital of France?", budget=1_000)) == []
    assert contents(build(house, QUESTION, budget=1_000, min_relevance=0.9)) == [GATE]
    house.services.projects.change_project(house.reach, project, settings={"min_relevance": 0.9})
    assert contents(build(house, QUESTION, budget=1_000)) == [GATE]


def test_ctx_8_without_a_budget_or_a_setting_a_context_has_at_most_2000_tokens_of_related_history(
    house: MemorySetup,
) -> None:
    """What does not fit is counted as left out by the budget. A setting of the project allows more."""
    texts = [f"The gate code of house {number} is {number}{number}. {FILLER * 8}" for number in range(10, 50)]
    found: list[Context] = []
    for project in (house.project(), house.project(history_tokens=10_000)):
        house.session("tells", project)
        house.session("asks", project)
        roles: tuple[Role, Role] = ("user", "assistant")
        drafts = [Draft(role=roles[at % 2], content=text) for at, text in enumerate(texts)]
        house.services.record.messages(house.reach, "tells", drafts)
        found.append(build(house, QUESTION))
        for name in ("tells", "asks"):
            house.services.forgetting.session(house.reach, name)
    usual, wide = found
    assert len(wide.relevant_history) == 20 and wide.tokens > 2_500 and wide.omitted["budget"] == 0
    assert 1_700 < usual.tokens <= DEFAULT_HISTORY_TOKENS == 2_000
    assert usual.omitted["budget"] == 20 - len(usual.relevant_history)
