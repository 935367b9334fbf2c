"""The first person told in the third: verb forms, adverbs, negation, pronouns."""

import pytest

from cloister.models.rules.grammar import base_form, expanded, of_others, of_the_speaker, predicate, third_form


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("am a nurse", "is a nurse"),
        ("am not a nurse", "is not a nurse"),
        ("was born in Rome", "was born in Rome"),
        ("have a dog", "has a dog"),
        ("have got a dog", "has a dog"),
        ("have lived in Rome", "has lived in Rome"),
        ("have never smoked", "has never smoked"),
        ("already have a bike", "already has a bike"),
        ("have already a bike", "already has a bike"),
        ("have always loved tea", "has always loved tea"),
        ("do not eat pork", "does not eat pork"),
        ("really do not like calls", "does not like calls"),
        ("cannot stand noise", "cannot stand noise"),
        ("will be moving", "will be moving"),
        ("live in Rome", "lives in Rome"),
        ("never drink", "never drinks"),
        ("no longer drive", "no longer drives"),
        ("teach French", "teaches French"),
        ("study law", "studies law"),
        ("play golf", "plays golf"),
        ("go to church", "goes to church"),
        ("just moved to Rome", "moved to Rome"),
        ("quit smoking", "quit smoking"),
        ("used to sing", "used to sing"),
        ("need a car", "needs a car"),
    ],
)
def test_what_a_speaker_says_of_themselves(said: str, told: str) -> None:
    found = predicate(said, "I")
    assert found is not None
    assert found.shown == told


@pytest.mark.parametrize(
    ("said", "key", "negated"),
    [
        ("do not eat pork", "eat pork", True),
        ("no longer work here", "work here", True),
        ("am originally from Rome", "be from Rome", False),
        ("have always loved tea", "have always loved tea", False),
        ("cannot eat eggs", "cannot eat eggs", True),
    ],
)
def test_the_key_has_the_bare_verb(said: str, key: str, negated: bool) -> None:
    found = predicate(said, "I")
    assert found is not None
    assert (found.key, found.negated) == (key, negated)


@pytest.mark.parametrize(
    ("said", "key"), [("lives in Rome", "live in Rome"), ("is a vet", "be a vet"), ("studies law", "study law")]
)
def test_what_is_said_of_others_has_the_same_keys(said: str, key: str) -> None:
    found = predicate(said, "he")
    assert found is not None
    assert (found.key, found.shown) == (key, said)


@pytest.mark.parametrize("said", ["", "am", "really", "do", "have not", "no longer"])
def test_a_verb_alone_says_nothing(said: str) -> None:
    found = predicate(said, "I")
    assert found is None or found.key == ""


@pytest.mark.parametrize(
    ("written", "out"),
    [
        ("I'm", "I am"),
        ("I've", "I have"),
        ("I'll", "I will"),
        ("I'd", "I would"),
        ("I don't", "I do not"),
        ("I can't", "I cannot"),
        ("I won't", "I will not"),
        ("we're", "we are"),
        ("she's", "she is"),
        ("my sister's", "my sister's"),
    ],
)
def test_contractions_are_written_out(written: str, out: str) -> None:
    assert expanded(written) == out


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("likes my coffee with me", "likes their coffee with them"),
        ("sold a bike that I bought myself", "sold a bike that they bought themselves"),
        ("a dog I am training", "a dog they are training"),
        ("moved to the US with us", "moved to the US with them"),
        ("wakes at 6 am", "wakes at 6 am"),
    ],
)
def test_pronouns_follow_the_speaker(said: str, told: str) -> None:
    assert of_the_speaker(said) == told


def test_pronouns_beside_somebody_else_name_the_speaker() -> None:
    assert of_others("lives with me and my dog", "the user") == "lives with the user and the user's dog"


@pytest.mark.parametrize("verb", ["live", "teach", "study", "play", "go", "have", "do", "wash", "fix", "run", "enjoy"])
def test_forms_are_each_others_reverse(verb: str) -> None:
    assert base_form(third_form(verb)) == verb
