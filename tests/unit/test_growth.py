"""Time grows with the length of a text and no faster, whatever the text: for every pattern, and for every function that reads one.

Four times the text may take six times as long, twice over; quadratic work would take sixteen times. Processor time of this thread
is compared, the least of several runs; what is too short to be measured cannot stop anything.
"""

import importlib
import pkgutil
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cloister
from cloister.domain import patterns
from cloister.domain.text import MAX_CONTENT
from support.growth.functions import FUNCTIONS, Use
from support.processor_time import LONGEST_HOLD, longest_hold
from support.samples.hostile_texts import HEADS, UNITS, attacks, repeated

TIMES = 4
MOST = 6.0
LONG = 8_192
LONGEST_REPEAT = 1.0
WORTH_MEASURING = 0.002
"""Seconds. Shorter times are ruled by caches; and what is quadratic takes longer at these lengths."""
WORTH_MEASURING_OF_A_WHOLE_TEXT = 0.01
"""The same with the longest message there is: a shorter time stops nobody."""

Shape = tuple[str, str, str]


@cache
def every_pattern() -> tuple[patterns.Made, ...]:
    for module in pkgutil.walk_packages(cloister.__path__, "cloister."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return patterns.made()


def uses(made: patterns.Made) -> Iterator[Use]:
    pattern = made.pattern
    yield pattern.fullmatch
    yield (lambda text: deque(pattern.finditer(text), 0)) if made.searched else pattern.match


def seconds(use: Use, text: str, runs: int = 1) -> float:
    least = float("inf")
    for _ in range(runs):
        began = time.thread_time()
        use(text)
        least = min(least, time.thread_time() - began)
    return least


def growth(use: Use, shape: Shape, size: int, worth: float) -> float:
    """How many times as long a text of this size takes as a quarter of it; 0 where it takes less than `worth` seconds.

    Measured again, up to thirty times or for a second, while it is too much: the least time of each length counts. A busy machine
    disturbs some runs; what is quadratic is so every time."""
    long, short = repeated(*shape, size), repeated(*shape, size // TIMES)
    taken, spent = seconds(use, long), 0.0
    if taken < worth:
        return 0
    of_short = seconds(use, short, 2)
    for _ in range(30):
        if taken < worth:
            return 0
        if taken <= MOST * of_short or spent > LONGEST_REPEAT:
            break
        again = seconds(use, long)
        taken, of_short, spent = min(taken, again), min(of_short, seconds(use, short, 2)), spent + again
    return taken / of_short


def refuse_fast_growth(use: Use, shapes: Sequence[Shape], size: int, name: str, worth: float = WORTH_MEASURING) -> None:
    """Where memory is first taken from the system, or a cache ends, there is a step: one of the two quarters of a text then takes
    much less. Quadratic work has no step: 16 times as long for four times, 256 times as long for 16 times."""
    for shape in shapes:
        found = growth(use, shape, size, worth)
        if found > MOST:
            before = growth(use, shape, size // TIMES, 0)
            assert found * before <= MOST * MOST, (
                f"{name}: {found:.1f} times as long for {TIMES} times {shape!r}, {before:.1f} times for a quarter of it"
            )


COMMON: list[Shape] = [("", unit, "") for unit in UNITS] + [
    (head, unit, "\x00") for head in HEADS[1:] for unit in (" ", "\u3000", "a", "just ", "1", "'", "\n")
]


RUNS = [*COMMON[::4], ("<", " ", "\x00"), ("I ", "just ", "\x00")]
"""Fewer for each pattern, as it is fed its own characters as well."""


@pytest.mark.parametrize("part", range(8))
def test_iso_13_no_pattern_takes_more_than_linear_time(part: int) -> None:
    for made in every_pattern()[part::8]:
        shapes = [*RUNS, *attacks(made.pattern)]
        for use in uses(made):
            refuse_fast_growth(use, shapes, LONG, made.pattern.pattern)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_iso_13_no_pattern_takes_more_than_linear_time_for_texts_nobody_thought_of(data: st.DataObject) -> None:
    """Repetitions of a few parts of the pattern, in any order."""
    made = data.draw(st.sampled_from(every_pattern()))
    own = sorted({part for shape in attacks(made.pattern) for part in shape if part}) or ["a"]
    parts = st.one_of(st.sampled_from(own), st.sampled_from(UNITS), st.characters(exclude_categories=["Cs"]))
    unit = "".join(data.draw(st.lists(parts, min_size=1, max_size=4)))
    head = "".join(data.draw(st.lists(parts, max_size=2)))
    for use in uses(made):
        refuse_fast_growth(use, [(head, unit, "\x00"), (head, unit, "")], LONG, made.pattern.pattern)


def test_the_patterns_that_are_fed_are_all_there_are() -> None:
    assert len(every_pattern()) > 250
    assert any("(?P<closes>" in made.pattern.pattern for made in every_pattern())  # the mark of recalled text


@pytest.mark.parametrize(
    ("pattern", "searched"),
    [
        (r"<\s*(/?)\s*recalled-memory\b[^>]*>", True),
        (r"(?:(?:and|just|so) )*i said\b", True),
        (r"[.!?…]+[\"')\]]*(?=\s|$)", True),
        (r"<think>.*?</think>", True),
        (r"be (?:flying|going) to [A-Z][\w-]+(?=.*\b(?:next|soon)\b)", False),
    ],
)
def test_the_hostile_texts_find_patterns_that_are_slow(pattern: str, searched: bool) -> None:
    """As they were, or as they should never be."""
    made = patterns.Made(re.compile(pattern, re.IGNORECASE), searched)
    with pytest.raises(AssertionError, match="times as long"):
        for use in uses(made):
            refuse_fast_growth(use, [*RUNS, *attacks(made.pattern)], LONG, pattern)


NESTED = ("", '{"":\n', "")
"""A value in a value in a value, one a line."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_iso_13_no_function_takes_more_than_linear_time(name: str) -> None:
    shapes = [*COMMON, NESTED] if name == "export of another assistant" else COMMON
    refuse_fast_growth(FUNCTIONS[name], shapes, MAX_CONTENT, name, WORTH_MEASURING_OF_A_WHOLE_TEXT)


LANGUAGES: list[Shape] = [
    ("", unit, "")
    for unit in (
        "und ",
        "ich",
        "ü",
        "u\u0308",
        "ß ",
        "¿",
        "que ",
        "не ",
        "中",
        "的",
        "中a ",
        "カ\u3099",
        "\u1100\u1161",
        "Ä\n",
    )
]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "terms" in name or "words" in name])
def test_iso_13_texts_in_other_languages_take_no_more_than_linear_time(name: str) -> None:
    refuse_fast_growth(FUNCTIONS[name], LANGUAGES, MAX_CONTENT, name, WORTH_MEASURING_OF_A_WHOLE_TEXT)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_iso_13_no_function_keeps_other_threads_waiting_for_long(name: str) -> None:
    """With the longest message there is. A busy machine may keep the other thread from its turn, but not every time."""
    use = FUNCTIONS[name]
    use("loads what is loaded once")
    for shape in RUNS:
        text = repeated(*shape, MAX_CONTENT)
        stored = longest_hold(use, text)
        for _ in range(4):
            if stored > LONGEST_HOLD:
                stored = min(stored, longest_hold(use, text))
        assert stored <= LONGEST_HOLD, f"{name} holds the GIL for {stored * 1000:.0f} ms with {shape!r}"
