"""What classifiers read where no pattern matches, beside what is known (MEM-12)."""

import sys
from pathlib import Path

import numpy as np
import pytest

from cloister.domain.extraction import KnownMemory, Statement
from cloister.domain.identifiers import MemoryId, MessageId
from cloister.models.rules.changes.supersession import Supersession
from cloister.models.rules.extractor import Rules
from cloister.models.rules.facts import Fact, speaker_named
from cloister.models.rules.learned.weights import CLASSES, FILE

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))  # last: `http.py` is there too
from learned_facts import train
from learned_facts.training import Example
from learned_facts.training import train as trained

_KNOWN = 7


def extracted(known: str, said: str) -> tuple[list[str], bool]:
    """The memories of a statement, and whether one of them takes the place of what is known."""
    before = KnownMemory(id=MemoryId(_KNOWN), content=known, subject=None, valid_from=1)
    statement = Statement(id=MessageId(2), role="user", content=said, author=None, created_at=2)
    found = Rules().memories([statement], [], [before])
    return [memory.content for memory in found], any(_KNOWN in memory.replaces for memory in found)


@pytest.mark.parametrize(
    ("known", "said", "content"),
    [
        ("The user lives in Rome.", "Goodbye Rome, hello Lisbon!", "The user lives in Lisbon now."),
        ("The user lives in Rome.", "Our mail goes to Halifax now.", "The user lives in Halifax now."),
        ("The user works at Nike.", "My paychecks come from Adidas these days.", "The user works at Adidas now."),
        ("The user is 41 years old.", "Yesterday I blew out 42 candles.", "The user is 42 years old."),
        (
            "The user is single.",
            "Tom popped the question and I said yes!",
            "The user is engaged now (“Tom popped the question and I said yes”).",
        ),
        (
            "The user loves spicy food.",
            "My stomach can't handle spicy food anymore.",
            "The user said of food: “My stomach cannot handle spicy food anymore”.",
        ),
    ],
)
def test_mem_12_a_wording_that_no_pattern_has_changes_a_fact(known: str, said: str, content: str) -> None:
    """MEM-12"""
    assert extracted(known, said) == ([content], True)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("The user lives in Rome.", "My sister packed up and moved to Oslo."),
        ("The user lives in Rome.", "Anna packed up and moved to Oslo."),
        ("The user lives in Rome.", "She unpacked her boxes in Oslo last week."),
        ("The user lives in Rome.", "Our holiday home in Dallas is lovely."),
        ("The user lives in Rome.", "I want to settle in Oslo one day."),
        ("The user lives in Rome.", "Is Oslo a good place to live now?"),
        ("The user lives in Rome.", "She said Oslo is home now."),
        ("The user works at Acme.", "I don't work at Acme on Fridays."),
        ("The user works at Acme.", "I applied for a job at Lidl."),
        ("The user is 38 years old.", "It was my mum's 65th birthday."),
        ("The user is 38 years old.", "I'm on page 48."),
        ("The user is married.", "My daughter and her husband have separated."),
        ("The user is a nurse.", "My daughter got promoted to manager."),
        ("The user's name is Bob.", "I'm thinking of changing my name to Alice."),
        ("The user smokes.", "I don't smoke at home."),
        ("The user goes to the gym every day.", "I didn't go to the gym today."),
    ],
)
def test_mem_12_what_is_no_change_withdraws_nothing_that_is_known(known: str, said: str) -> None:
    """MEM-12: other people, plans, questions, reports, what is partial, and other numbers."""
    assert extracted(known, said)[1] is False


@pytest.mark.parametrize("said", ["I have an error in line 12.", "My exam is on June 14th.", "I'm working on a PhD."])
def test_mem_5_without_a_known_fact_numbers_and_occupations_are_left_to_patterns(said: str) -> None:
    """MEM-5"""
    statement = Statement(id=MessageId(1), role="user", content=said, author=None, created_at=1)
    assert not any("years old" in one.content or "PhD now" in one.content for one in Rules().memories([statement], []))


def test_mem_12_a_partner_who_was_named_is_none_after_a_separation() -> None:
    """MEM-12"""
    assert extracted("The user's girlfriend is Emma.", "Emma and I broke up.")[1]
    assert not extracted("The user's girlfriend is Emma.", "Kim and I broke up.")[1]


def test_the_weights_are_small_and_complete() -> None:
    assert FILE.stat().st_size <= 200_000
    with np.load(FILE) as stored:
        assert {*CLASSES, "common", "names"} <= {*stored.files}


def test_the_weights_can_be_made_again(tmp_path: Path) -> None:
    """The script makes the file that ships, but for the last bits of floating-point sums on other processors."""
    train.store(made := tmp_path / "weights.npz", [*train.HALVES])
    with np.load(FILE) as shipped, np.load(made) as again:
        for name in shipped.files:
            assert shipped[name].shape == again[name].shape, name
        for question in CLASSES:
            assert np.mean(np.abs(shipped[question].astype(int) - again[question]) <= 1) > 0.99, question


def test_the_weights_are_not_made_of_what_measures_them() -> None:
    assert "blind" not in train.HALVES


def test_training_gives_the_same_weights_for_the_same_examples() -> None:
    given = [Example("number", [at % 5, 7 + at % 3], "age" if at % 5 else "none", "", "") for at in range(50)]
    assert np.array_equal(trained(given, "number", rounds=2).weights, trained(given, "number", rounds=2).weights)


def test_iso_13_of_all_that_somebody_likes_only_the_latest_is_compared_with_what_is_said() -> None:
    """A message may name thousands of things, and each statement after it is compared with what is known."""
    supersession, speaker = Supersession([]), speaker_named(None)
    for number in range(200):
        fact = Fact(content=f"The user loves thing{number}.", category="preference")
        supersession.add(fact, speaker, number, MessageId(number))
    known = [value.words for value, _ in supersession.known_values(speaker, 1_000)]
    assert len(known) <= 24
    assert any("thing199" in word for words in known for word in words)
