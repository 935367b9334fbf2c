"""What is selected from the evidence: above the floor (CTX-6), and each fact once (CTX-7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.domain.context import Item
from cloister.domain.conversation import Message, Role, Speaker
from cloister.domain.identifiers import MessageId, SessionId
from cloister.domain.recall.ranking import Evidence
from cloister.index import terms
from cloister.services.recall import selection
from cloister.services.recall.repetition import AskedWords, Said
from cloister.services.recall.repetition.asked_again import does_not_know, repeats
from cloister.services.recall.selection import Pick, Question, Recalled, Selection


def message(id: int, content: str, role: Role = "user", author: str | None = None) -> Message:
    made = MessageId(id)
    return Message(made, SessionId(1), role, content, author, "completed", made, False, 5, {}, created_at=id)


@dataclass
class Pool:
    """Messages with a score each; the match, in multiples of chance, is the score too unless it is given."""

    said: list[tuple[str, float]]
    match: list[float] = field(default_factory=list[float])
    users: list[str] = field(default_factory=list[str])
    read: list[int] = field(default_factory=list[int])
    own: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """The coverage and the similarity of each message's own words, if the index gives them."""
    knows_copies: bool = False

    def select(self, question: str, limit: int = 10, floor: float = 0.2, without: Sequence[int] = ()) -> Recalled:
        count = len(self.said)
        nothing = np.zeros(count, np.float32)
        # In a pool of one message the level of chance is 0.19.
        evidence = Evidence(
            size=1,
            ids=np.arange(1, count + 1),
            session_ids=np.ones(count, np.int64),
            roles=np.zeros(count, np.int8),
            lexical=nothing,
            semantic=np.array(self.match or [score for _, score in self.said], np.float32) * np.float32(0.19),
            author=nothing,
            date=nothing,
            session_prior=nothing,
            coverage=nothing,
            own_coverage=np.array([own for own, _ in self.own], np.float32) if self.own else None,
            own_semantic=np.array([own for _, own in self.own], np.float32) if self.own else None,
            copies=self._copies() if self.knows_copies else None,
        )
        scores = np.array([score for _, score in self.said], np.float32)
        asked = Question(text=question, asked_at=0, now=0, floor=floor)
        picked = Selection(evidence, scores, asked, self._items, self._speakers)
        return picked.select([Pick(limit=limit)], [MessageId(id) for id in without])

    def _copies(self) -> npt.NDArray[np.int32]:
        texts = [text for text, _ in self.said]
        return np.array([texts.index(text) if texts.count(text) > 1 else -1 for text in texts], np.int32)

    def _speakers(self, ids: Sequence[MessageId]) -> set[Speaker]:
        return {Speaker("user", None, self.users[id - 1] if self.users else None) for id in ids}

    def _items(self, ids: Sequence[MessageId]) -> Mapping[MessageId, Item | None]:
        self.read += ids
        return {
            id: Item(
                message(id, self.said[id - 1][0]),
                "s",
                "semantic",
                user=self.users[id - 1] if self.users else None,
            )
            for id in ids
        }


def is_repeated(text: str, question: str) -> bool:
    return repeats(text, frozenset(terms.term_list(text)), AskedWords(question))


def contents(found: Recalled) -> list[str]:
    return [item.message.content for item in found.items]


def test_what_is_below_the_floor_is_counted_and_its_text_is_not_read() -> None:
    pool = Pool([("The gate code is 4417.", 3.0), ("I like tea.", 0.1), ("It rains.", 0.0)])
    found = pool.select("What is the gate code?")
    assert contents(found) == ["The gate code is 4417."]
    assert (found.weak, found.duplicate, found.limit) == (2, 0, 0)
    assert pool.read == [1]


def test_prf_1_a_message_without_words_of_its_own_is_counted_as_a_quotation() -> None:
    """An index has none of these; where one names one all the same, nothing of it is shown."""

    class Quoting(Pool):
        def _items(self, ids: Sequence[MessageId]) -> Mapping[MessageId, Item | None]:
            return {id: None if id == 2 else item for id, item in super()._items(ids).items()}

    found = Quoting([("The gate code is 4417.", 3.0), ("The gate code is 5523.", 2.9)]).select("What is the gate code?")
    assert contents(found) == ["The gate code is 4417."]
    assert (found.quotation, found.weak, found.duplicate, found.limit) == (1, 0, 0, 0)


def test_where_even_the_best_is_chance_nothing_is_recalled() -> None:
    found = Pool([("I like tea.", 0.9), ("It rains.", 0.8)]).select("How do I fix a segfault?")
    assert contents(found) == []
    assert found.weak == 2


def test_a_floor_of_0_recalls_everything_in_the_same_order() -> None:
    pool = Pool([("one", 0.1), ("two", 2.0), ("three", 1.4)])
    assert contents(pool.select("x", floor=0)) == ["two", "three", "one"]


@given(
    st.lists(st.floats(0, 4, width=32), min_size=1, max_size=12),
    st.lists(st.floats(0, 4, width=32), min_size=12, max_size=12),
)
def test_the_floor_never_changes_the_order(scores: list[float], match: list[float]) -> None:
    words = [
        "alpha",
        "bravo",
        "charlie",
        "delta",
        "echo",
        "foxtrot",
        "golf",
        "hotel",
        "india",
        "juliet",
        "kilo",
        "lima",
    ]
    pool = Pool(list(zip(words, scores, strict=False)), match=match[: len(scores)])
    everything = contents(pool.select("zulu", floor=0))
    kept = contents(pool.select("zulu", floor=0.2))
    assert kept == [content for content in everything if content in kept]


SAYINGS = [
    "The ferry leaves at ten",
    "Roses want water",
    "When does the ferry leave?",
    "I like figs",
    "Noted.",
    "Thanks!",
]


@given(
    said=st.lists(
        st.tuples(st.sampled_from(SAYINGS), st.floats(0, 1.5), st.floats(0, 4), st.floats(0, 1), st.floats(-1, 1)),
        min_size=1,
        max_size=40,
    ),
    floor=st.sampled_from([0.05, 0.2, 0.5, 0.9]),
    has_own=st.booleans(),
)
def test_the_floor_never_changes_the_order_of_copies_and_of_own_words_either(
    said: list[tuple[str, float, float, float, float]], floor: float, has_own: bool
) -> None:
    """CTX-6, CTX-7: what is above the floor is shown as it is without one, by an index that knows copies, with own words or not."""

    def shown(least: float) -> list[tuple[str, float]]:
        pool = Pool(
            [(text, score) for text, score, *_ in said],
            match=[match for _, _, match, *_ in said],
            own=[(coverage, semantic) for *_, coverage, semantic in said] if has_own else [],
            knows_copies=True,
        )
        found = pool.select("When does the ferry leave?", limit=100, floor=least)
        return [(item.message.content, item.relevance or 0) for item in found.items]

    everything, above = [content for content, _ in shown(0)], shown(floor)
    assert all(relevance >= floor for _, relevance in above)
    kept = [content for content, _ in above]
    assert kept == [content for content in everything if content in kept]


def test_copies_that_are_not_read_count_for_those_who_said_them() -> None:
    """MEM-11: of many copies the best and the last are read; one of another person may be among the others."""
    said = [("The gate code is 4417.", 3.0 - at / 100) for at in range(30)]
    users = ["bob" if at == 15 else "ann" for at in range(30)]
    found = Pool(said, users=users, knows_copies=True).select("What is the gate code?", limit=2)
    assert {(item.user, item.times) for item in found.items} == {("ann", 29), ("bob", 1)}


def test_copies_of_one_person_are_counted_without_reading_all() -> None:
    pool = Pool([("The gate code is 4417.", 3.0)] * 100, users=["ann"] * 100, knows_copies=True)
    (item,) = pool.select("What is the gate code?", limit=2).items
    assert (item.times, len(pool.read)) == (100, 24)


def test_the_same_words_take_one_place_the_newest_with_how_often_they_were_said() -> None:
    said = [("I like  Tea!", 3.0), ("Well, I like the tea.", 2.9), ("I like tea", 2.8), ("I like coffee", 2.0)]
    found = Pool(said).select("What do I drink?", limit=2)
    assert [(item.message.id, item.times) for item in found.items] == [(3, 3), (4, 1)]
    assert found.items[0].score == pytest.approx(3.0)
    assert found.duplicate == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like fish.", "I don't like fish."),
        ("I told her", "she told me"),
        ("The code is 4417.", "The code is 4418."),
        ("Ana loves Ben.", "Ben loves Ana."),
        ("I have 2 cats.", "I have 3 cats."),
        ("Team A won.", "Team B won."),
        ("I write C.", "I write C++."),
        ("我有2只猫。", "我有3只猫。"),
    ],
)
def test_other_statements_in_similar_words_are_kept(one: str, other: str) -> None:
    assert len(Pool([(one, 3.0), (other, 2.9)]).select("What?").items) == 2


def test_long_messages_that_differ_in_a_word_are_the_same_unless_it_is_a_number_a_name_or_a_negation() -> None:
    text = "On the way home we bought bread milk eggs cheese apples pears plums grapes onions garlic rice and {} at the market"
    said = [(text.format(last), 3.0) for last in ("beans", "peas", "12", "not", "Anna", "7", "don't")]
    assert [item.times for item in Pool(said).select("What did we buy?").items] == [2, 1, 1, 1, 1, 1]


def test_two_people_who_say_the_same_say_two_things() -> None:
    pool = Pool([("I am allergic to nuts.", 3.0), ("I am allergic to nuts.", 2.9)], users=["ana", "ben"])
    assert [item.times for item in pool.select("Who is allergic?").items] == [1, 1]


def test_fifty_times_the_question_leave_the_place_to_its_answer() -> None:
    """CTX-7: as a user saw it."""
    said = [("What is the gate code?", 3.0)] * 50 + [("The gate code is 4417.", 2.0)]
    found = Pool(said).select("What's the gate code?", limit=1)
    assert contents(found) == ["The gate code is 4417."]
    assert found.duplicate == 50


@pytest.mark.parametrize(
    ("text", "question", "unknown"),
    [
        ("I don't know the gate code.", "What is the gate code?", True),
        ("I'm sorry, I don't have any information about your gate code.", "What is the gate code?", True),
        ("I cannot tell you the gate code, sorry!", "What is the gate code?", True),
        ("The gate code is 4417.", "What is the gate code?", False),
        ("I don't know the gate code, but the door code is 4417.", "What is the gate code?", False),
        ("I don't like fish.", "Do I like fish?", False),
        ("I don't know German.", "Do I know German?", False),
        ("I don't know. Clara is allergic to nuts.", "Is Clara allergic to nuts?", False),
        ("I am allergic to peanuts, I don't know why.", "Who is allergic to peanuts?", False),
        ("Clara does not live in Turin. I don't know.", "Does Clara live in Turin?", False),
        ("I ordered pizza. Not sure.", "Who ordered pizza?", False),
    ],
)
def test_who_does_not_know_says_nothing(text: str, question: str, unknown: bool) -> None:
    assert does_not_know(text, AskedWords(question)) is unknown


def test_a_query_that_is_no_question_finds_the_questions_with_its_words() -> None:
    """Who looks for "ladder" looks for what was asked about it, too."""
    said = [("And the ladder?", 3.0), ("Where is the ladder?", 2.9)]
    assert contents(Pool(said).select("ladder")) == [content for content, _ in said]
    assert contents(Pool(said).select("Where's the ladder?")) == []


def test_copies_of_a_long_text_are_not_all_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """ISO-13: whoever fills a pool with them must not make every question read megabytes."""
    monkeypatch.setattr(selection, "_MOST_CHARACTERS", 10_000)
    pool = Pool([("It is said again. " * 60, 3.0)] * 500)
    assert len(pool.select("What is said?", limit=5).items) == 1
    assert len(pool.read) < 60


def test_a_question_about_the_same_comes_after_a_statement_about_it() -> None:
    said = [("Does the gate code ever change on Sundays?", 3.0), ("The gate code is 4417.", 2.9)]
    assert contents(Pool(said).select("What is the gate code?"))[0] == "The gate code is 4417."


def test_messages_left_out_by_the_caller_decide_nothing() -> None:
    pool = Pool([("the question itself", 9.0), ("I like tea.", 0.9)])
    assert contents(pool.select("the question itself", without=[1])) == []


def test_what_the_limit_cuts_off_is_counted() -> None:
    words = ["alpha", "bravo", "charlie", "delta", "echo"]
    found = Pool([(word, 3.0 - at / 10) for at, word in enumerate(words)]).select("zulu", limit=2)
    assert contents(found) == ["alpha", "bravo"]
    assert found.limit == 3


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What is it?", True),
        ("tell me the gate code", True),
        ("and the code", False),
        ("I wonder. What is it?", False),
        ("Is it 4417? It is.", False),
        ("暗証番号は何ですか？", True),
        ("What a day it was! We went home.", False),
    ],
)
def test_a_question_is_one_sentence_that_asks(text: str, asks: bool) -> None:
    assert Said(message(1, text), None).is_question is asks


def test_what_a_user_does_not_know_is_kept() -> None:
    said = "I don't know the gate code."
    assert contents(Pool([(said, 3.0)]).select("What is the gate code?")) == [said]


def test_a_question_and_a_statement_in_the_same_words_are_two() -> None:
    said = [("Clara is coming on Sunday?", 3.0), ("Clara is coming on Sunday.", 2.9)]
    assert contents(Pool(said).select("When is Clara coming?"))[0] == "Clara is coming on Sunday."


def test_a_negated_question_is_another_question() -> None:
    assert not is_repeated("I can not eat gluten?", "Can I eat gluten?")


def test_no_count_is_negative_and_what_is_weak_is_not_beyond_a_limit() -> None:
    said = [("My shoe size is 43.", 3.0), ("My shoe size is 43!", 2.9), ("I like tea.", 1.6), ("Fine weather.", 1.5)]
    found = Pool(said).select("What is my shoe size?", limit=2)
    assert (len(found.items), found.weak, found.duplicate) == (2, 0, 1)
    assert Pool([("one", 0.9), ("two", 0.8), ("three", 0.7)]).select("zulu", limit=1).limit == 0


def test_a_question_that_says_more_than_the_question_is_no_repetition() -> None:
    asked = "What is the gate code?"
    assert is_repeated("Please, what is the gate code", asked)
    assert not is_repeated("What is the gate code of the cabin in Bergen?", asked)
    assert not is_repeated("The gate code!", asked)
