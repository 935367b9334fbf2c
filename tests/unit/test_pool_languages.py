"""Messages in several languages in one pool: which of them a query finds by its words."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from cloister.domain.conversation import ROLES
from cloister.index import terms
from cloister.index.exact.columns import Rows
from cloister.index.exact.dates import Dates
from cloister.index.exact.lexical import Lexicon, Query
from cloister.index.exact.speakers import Speakers
from cloister.index.exact.windows import Windows

Texts = Sequence[str]
GERMAN = [
    "Ich habe meine beiden Wohnungen in Köln verkauft.",
    "Gestern war Thomas bei mir, und wir haben Schach gespielt.",
    "Zahnarzttermine Donnerstag",
    "Die Katze hat die ganze Nacht nicht geschlafen.",
]
ENGLISH = [
    "I sold both of my apartments in Cologne.",
    "Thomas came over and we played chess.",
    "The dentist is on Thursday.",
    "I hope the old plant will not die.",
]


class Pool:
    """The words of a pool, one message a session, so that windows do not matter."""

    def __init__(self, texts: Texts, author: str | None = None) -> None:
        self.speakers, dates, windows = Speakers(), Dates(), Windows()
        self.lexicon = Lexicon(self.speakers, dates, windows)
        count = len(texts)
        rows = Rows(
            ids=tuple(at << 21 for at in range(1, count + 1)),
            session_ids=tuple(range(1, count + 1)),
            roles=(ROLES.index("user"),) * count,
            authors=(author,) * count,
            created_at=(0,) * count,
            vectors=(None,) * count,
            terms=tuple(map(terms.encode, texts)),
        )
        extra = self.speakers.extend(rows.authors, rows.roles)
        extra += dates.extend(np.array(rows.created_at, np.int64))
        self.lexicon.extend(rows.terms, extra, np.array(rows.session_ids, np.int64))
        self.lexicon.settle()

    def ask(self, query: str) -> Query:
        return self.lexicon.ask(query)

    def found(self, query: str) -> set[int]:
        """The messages that have a term of the query."""
        asked = self.ask(query)
        rows: npt.NDArray[np.intp] = asked.located.matches(range(len(asked.terms))).rows
        return set(rows.tolist())


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Was ist mit der Wohnung?", {0}),
        ("Wo hat Thomas das gespielt?", {1}),
        ("Wer spielt denn Schach?", {1}),
        ("Wann sind meine Zahnarzttermine?", {2}),
        ("Zahnarzttermine", {2}),
        ("Was hat die Katze gemacht?", {3}),
        ("katze", {3}),
        ("Koln", {0}),
        ("Where was Thomas?", {1}),
        ("Did the Katze sleep?", {3}),
        ("Wann ist es?", set[int]()),
    ],
)
def test_messages_in_german_are_found(query: str, found: set[int]) -> None:
    assert Pool(GERMAN).found(query) == found


@pytest.mark.parametrize("query", ["What did Thomas play?", "Was hat Thomas gespielt?", "thomas", "¿Qué dijo Thomas?"])
def test_a_name_is_found_in_messages_of_all_languages(query: str) -> None:
    assert {1, 5} <= Pool([*GERMAN, *ENGLISH]).found(query)


def test_a_function_word_of_one_language_is_found_where_it_is_a_word_of_another() -> None:
    pool = Pool([*GERMAN, *ENGLISH])
    assert pool.found("Did the plants die?") == {7}
    assert pool.found("die plants") == {7}
    assert pool.found("Schläft die Katze nicht?") == {3}


@pytest.mark.parametrize("text", GERMAN + ENGLISH)
def test_every_message_is_found_by_its_own_text(text: str) -> None:
    texts = [*GERMAN, *ENGLISH, "El gato no ha dormido nada esta noche.", "我昨天捡到一只小猫"]
    assert texts.index(text) in Pool(texts).found(text)


def test_an_english_pool_is_asked_for_english_stems_only() -> None:
    for query in ("Where is Thomas?", "chess Thomas", "apartments"):
        asked = Pool(ENGLISH).ask(query)
        expected = dict.fromkeys(one for word in terms.words(query) if (one := terms.term(word)))
        assert list(asked.terms) == list(expected)


def test_a_query_in_a_language_the_pool_does_not_know_has_no_stop_words_of_it() -> None:
    asked = Pool(ENGLISH).ask("Was hat denn meine Schwester gekauft, und wo ist sie?")
    assert list(asked.stems) == ["schwester", "gekauft"]


def test_a_stop_word_weighs_little_in_its_language() -> None:
    weights = Pool(GERMAN).ask("Wo ist die Wohnung?").weigh(["Wo", "ist", "die", "Wohnung"])
    assert weights[:3] == [0.5] * 3 and weights[3] > 0.5


@pytest.mark.parametrize("query", ["Wo ist die Wonung?", "Wo sind die Wohnugen?", "Hat die Kaze nicht geschlafen?"])
def test_misspelt_words_are_repaired_by_the_stems_of_the_query(query: str) -> None:
    asked = Pool(GERMAN).ask(query)
    assert asked.text != query and asked.located.frequencies.all()


def test_a_misspelt_name_is_repaired_in_other_languages() -> None:
    pool = Pool(GERMAN, author="Jonas")
    asked = pool.ask("Was hat Jnas gesagt, und wann war das?")
    assert pool.speakers.is_name(asked.terms[0]) and "jonas" in asked.text


def test_a_name_is_a_name_under_the_stems_of_every_language() -> None:
    pool = Pool(GERMAN, author="Thomas")
    asked = pool.ask("Was hat Thomas gesagt?")
    assert len(asked.terms) == 2 and all(map(pool.speakers.is_name, asked.terms))


def test_an_ideograph_of_a_name_does_not_name_its_speaker() -> None:
    pool = Pool(["太陽がきれいだった"], author="健太")
    assert not any(map(pool.speakers.is_name, pool.ask("太陽はどうだった？").terms))
    assert any(map(pool.speakers.is_name, pool.ask("健太は何を見た？").terms))


def test_iso_13_a_query_of_many_words_in_many_languages_is_bounded() -> None:
    texts = [*GERMAN, "El gato no ha dormido nada esta noche.", "Je ne suis pas dans la maison avec vous."]
    asked = Pool(texts).ask(" ".join(f"wort{at} gatos{at} chats{at}" for at in range(300)))
    assert len(asked.terms) <= 900
