"""The languages of texts and queries: their stems and stop words, and that English is as it was."""

from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.index import terms
from cloister.index.terms import Language
from cloister.index.terms.languages import certain_language_of, language_of
from support.samples.english_sentences import ENGLISH_SENTENCES

LONGEST = 65_536

SENTENCES = {
    Language.GERMAN: [
        "Ich habe gestern mit meiner Schwester telefoniert.",
        "Wann ist mein Termin beim Zahnarzt?",
        "DIE KATZE SCHLÄFT NICHT IM BETT",
        "Was will er am Montag in der Schule machen?",
        "Wir sehen uns,\nund dann gehen wir essen.",
    ],
    Language.SPANISH: [
        "Mi hermana vive desde hace dos años en Sevilla.",
        "¿Dónde está la llave del coche?",
        "No me gusta nada el café con leche.",
    ],
    Language.FRENCH: ["Je suis allé chez le médecin avec mon frère.", "Où est-ce que nous avons mangé hier soir ?"],
    Language.ITALIAN: ["Non ho ancora comprato il regalo per mia sorella.", "Quando arriva il treno della mattina?"],
    Language.PORTUGUESE: ["Eu não gosto muito de café com leite.", "Onde você comprou essa bicicleta?"],
    Language.DUTCH: ["Ik heb gisteren met mijn zus gebeld.", "Waar heb je die fiets gekocht?"],
    Language.RUSSIAN: [
        "Я вчера купил новую машину для сестры и для него.",
        "Когда у меня встреча с врачом, если не завтра?",
    ],
}
OF_EACH = [(language, text) for language, texts in SENTENCES.items() for text in texts]


def stems(text: str) -> set[int]:
    return set(terms.term_list(text))


@pytest.mark.parametrize(("language", "text"), OF_EACH)
def test_a_sentence_is_in_the_language_of_its_function_words(language: Language, text: str) -> None:
    assert language_of(text.split(" ")) is language
    assert certain_language_of(text, ()) is language


@pytest.mark.parametrize("text", ENGLISH_SENTENCES)
def test_english_has_the_terms_it_always_had(text: str) -> None:
    assert crc32(terms.encode(text)) == ENGLISH_SENTENCES[text]


@pytest.mark.parametrize("text", ["", "42", "Berlin", "Zahnarzt Donnerstag", "日本語の文です", "Ελληνικά", "🎉"])
def test_a_text_without_function_words_is_treated_as_english(text: str) -> None:
    assert language_of(text.split(" ")) is Language.ENGLISH
    assert certain_language_of(text, terms.OTHERS) is None


@pytest.mark.parametrize(
    "word", ["die", "van", "son", "fin", "man", "war", "hat", "door", "car", "pour", "sin", "sea", "fast"]
)
def test_a_function_word_of_another_language_is_a_word_in_english(word: str) -> None:
    assert terms.term(word) in stems(f"They said that the {word} was there.")
    assert terms.term(word) in stems(word)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("gift", "Das Gift der Schlange ist nicht gefährlich."),
        ("other", "Ich habe das Spiel The Other Side nicht gekauft."),
        ("once", "Tengo once años y no me gusta esto."),
        ("come", "Mi hermana come muy poco en casa."),
        ("thing", "Das Thing ist nicht mein Lieblingsfilm."),
    ],
)
def test_an_english_function_word_is_a_word_in_other_languages(word: str, text: str) -> None:
    assert terms.term(word, language_of(text.split(" "))) in stems(text)


def test_function_words_of_a_language_leave_nothing_in_it() -> None:
    assert terms.encode("Ich bin es nicht, und du bist es auch nicht!") == b""
    assert terms.encode("¿Y por qué no lo ha hecho ella?") == b""
    assert terms.encode("你是谁？为什么不在") == b""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ich habe zwei Wohnungen gesehen.", "Wo ist die Wohnung?"),
        ("Meine Kinder sind nicht da.", "Das Kind ist bei mir."),
        ("Mis hermanos viven muy cerca.", "¿Dónde vive mi hermano?"),
        ("Estuve en la reunión de la empresa.", "¿Cuándo son las reuniones?"),
        ("Les maisons sont dans la rue.", "Où est la maison ?"),
        ("Ik heb twee boeken gekocht.", "Waar heb je dat boek?"),
        ("Я вижу её машины, но не дом.", "Где же моя машина?"),
    ],
)
def test_inflected_forms_share_a_term(one: str, other: str) -> None:
    language = language_of(one.split(" "))
    marks = {terms.LANGUAGE_TERMS[language]}
    assert (stems(one) & stems(other)) - marks


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ich bin morgen in München.", "Ich bin nicht in Munchen."),
        ("Ich bin morgen in München.", "Bist du in Muenchen oder nicht?"),
        ("Mañana no puedo ir.", "Eso no es para manana."),
        ("Die Straße ist nicht weit.", "Die Strasse ist es nicht."),
        ("La leçon est dans le cahier.", "Je ne suis pas dans la lecon."),
    ],
)
def test_accents_may_be_left_out_in_other_languages(one: str, other: str) -> None:
    language = language_of(one.split(" "))
    assert language is language_of(other.split(" ")) is not Language.ENGLISH
    assert (stems(one) & stems(other)) - {terms.LANGUAGE_TERMS[language]}


def test_accents_count_in_english_as_before() -> None:
    assert terms.term("café") != terms.term("cafe")


def test_only_texts_in_other_languages_are_marked() -> None:
    marks = set(terms.LANGUAGE_TERMS.values())
    for language, text in OF_EACH:
        assert stems(text) & marks == {terms.LANGUAGE_TERMS[language]}
    assert not marks & set().union(*map(stems, ENGLISH_SENTENCES))
    assert terms.LANGUAGE_TERMS[Language.GERMAN] not in stems("language german")
    assert terms.encode("Ich bin es nicht.") == b""


def test_a_word_of_a_query_is_looked_up_in_each_language_of_the_pool() -> None:
    english = terms.read_query("What did Thomas say?", ())
    assert english.terms == {"thomas": (terms.term("thomas"),)}
    assert english.is_english and not english.ambiguous
    mixed = terms.read_query("What did Thomas say?", [Language.GERMAN])
    assert mixed.terms == {"thomas": [terms.term("thomas"), terms.term("thomas", Language.GERMAN)]}
    german = terms.read_query("Wann hat Thomas das gesagt?", ())
    assert german.terms == {"thomas": [terms.term("thomas", Language.GERMAN), terms.term("thomas")]}


def test_of_the_terms_of_a_query_those_stay_that_the_pool_knows() -> None:
    read = terms.read_query("Was hat Thomas gekauft?", [Language.GERMAN])
    own, english = terms.term("thomas", Language.GERMAN), terms.term("thomas")
    assert read.limited_to({english}).terms["thomas"] == [english]
    assert read.limited_to({own, english}).terms["thomas"] == [own, english]
    assert read.limited_to(()).terms["thomas"] == [own]


def test_what_may_be_a_stop_word_counts_only_if_the_pool_knows_it() -> None:
    read = terms.read_query("die hard", [Language.FRENCH])
    assert read.terms["die"] and not read.doubtful
    read = terms.read_query("hat trick", [Language.GERMAN])
    assert list(read.doubtful) == ["hat"]
    assert "hat" not in read.limited_to(()).terms
    assert "hat" in read.limited_to({terms.term("hat")}).terms


def test_less_is_needed_to_tell_a_language_that_is_spoken_in_the_pool() -> None:
    assert certain_language_of("la edad de Ana", ()) is None
    assert certain_language_of("la edad de Ana", [Language.SPANISH]) is Language.SPANISH
    assert certain_language_of("Was hat Thomas gekauft?", ()) is None
    assert certain_language_of("Was hat Thomas gekauft?", [Language.GERMAN]) is Language.GERMAN
    assert certain_language_of("Was hat Thomas gekauft?", [Language.SPANISH]) is None
    assert certain_language_of("hat trick", [Language.GERMAN]) is None


@pytest.mark.parametrize(
    "text",
    [
        "ich" * 21_845 + "!",
        "und " * 16_384,
        "ü" * LONGEST,
        "u\u0308" * 32_768,
        "a" + "\u0301" * 65_535,
        "中" * LONGEST,
        "的" * LONGEST,
        "ich und 我和你 и не \u0e01\u0e02 que é" * 1_900,
        "ß" * LONGEST,
        "Ｆ" * LONGEST,
        "カ\u3099" * 32_768,
        "\u1100\u1161" * 32_768,
    ],
)
def test_iso_13_the_terms_of_hostile_texts_are_bounded(text: str) -> None:
    encoded = terms.encode(text)
    assert len(encoded) <= 4 * (2 * len(text) + 2)
    assert terms.encode(text) == encoded
    assert sum(map(len, terms.read_query(text[:4_096], terms.OTHERS).terms.values())) <= 8 * 2 * 4_096


PARTS = st.sampled_from(
    [word for _, text in OF_EACH for word in text.split()]
    + [word for text in ENGLISH_SENTENCES for word in text.split()]
    + ["東京", "です", "猫", "的", "สวัสดี", "한국어", "\u0301", "Ａ", "\n", ",", ""]
)
TEXTS = st.lists(st.one_of(PARTS, st.text(max_size=12)), max_size=40).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_terms_are_a_function_of_the_text_alone(text: str) -> None:
    encoded = terms.encode(text)
    listed = terms.term_list(text)
    assert [int.from_bytes(encoded[at : at + 4], "little") for at in range(0, len(encoded), 4)] == listed
    for _, other in OF_EACH:
        terms.encode(other)
    assert terms.encode(text) == encoded
    assert 0 not in listed


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.lists(st.sampled_from(terms.OTHERS), unique=True))
def test_a_message_is_found_by_its_own_words(text: str, spoken: list[Language]) -> None:
    """A query with the words of a message has all its terms, if the message's language is spoken in the pool, as it then is."""
    language = language_of(text.split(" "))
    read = terms.read_query(text, [*spoken, *([] if language is Language.ENGLISH else [language])])
    asked = {one for stems in read.terms.values() for one in stems}
    missing = stems(text) - asked - set(terms.LANGUAGE_TERMS.values())
    assert not missing or (read.certain and read.language is not language)
