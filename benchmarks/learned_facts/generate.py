"""Sentences from templates: `(a|b|)` is one of the alternatives, `{H}` a value (see the files)."""

import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from learned_facts import fillers

HERE = Path(__file__).parent
FILES = ("homes_jobs.txt", "people.txt", "couples.txt", "habits.txt")
_MOST = 300
_CHOICE = re.compile(r"\(([^()]*)\)")
_SLOT = re.compile(r"\{(\w+)\}")
_LEADS = (
    "btw, ", "By the way, ", "Hey, ", "Hi! ", "Oh, ", "So ", "Well, ", "Update: ", "Small update: ", "FYI: ", "Quick note: ",
    "Long story short, ", "Good news: ", "Just so you know, ", "Heads up, ", "Actually, ", "Honestly, ", "Fun fact: ", "And ",
    "Guess what, ", "I should mention that ", "You should know that ", "Life update: ", "Oh and ", "For the record, ",
    "Funny story, ", "Turns out ", "Big news: ", "Not sure I told you, but ", "In case you wonder, ", "Correction: ",
    "News from my side: ", "Remember: ", "Please note that ",
)  # fmt: skip
_TRAILS = (
    " lol", " btw", ", by the way", ", haha", " :)", "!", "!!", ", finally", ", so happy", ", as you may know", ", thanks",
    ", just so you know", ", wish me luck", ", it's been a journey", ", I'm so excited", ". Crazy times", ". Feels good",
    ". Can you help me plan the week?", ". What a year", ". Exciting times", ", believe it or not", ". Still getting used to it",
)  # fmt: skip
_PAST = (
    "last week", "last month", "in May", "yesterday", "recently", "on Friday", "over the summer", "in spring", "a few weeks ago",
    "two months ago", "last weekend", "in January", "this week", "this month", "last year", "the other day", "this morning",
)  # fmt: skip
_NOW = (
    "now",
    "these days",
    "nowadays",
    "at the moment",
    "since March",
    "as of this week",
    "since last month",
    "again",
    "already",
)
_TWENTY = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy"]
_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Sentence(NamedTuple):
    """`values`: what was filled in, as (slot, value). `status` and `change` are the labels of the whole text, None if unknown."""

    text: str
    values: tuple[tuple[str, str], ...]
    status: str | None
    change: str | None
    group: str


def listed(text: str) -> list[str]:
    first, *others = " ".join(text.split()).split("|")
    return [*first.split(), *[other.strip() for other in others]]


TOWNS, FIRMS, PEOPLE = listed(fillers.TOWNS), listed(fillers.FIRMS), fillers.PEOPLE.split()
ROLES = [role.strip() for role in " ".join(fillers.ROLES.split()).split("|")]
WORKPLACES = [one.strip() for one in " ".join(fillers.WORKPLACES.split()).split("|")]
LIKINGS = [one.strip() for one in " ".join(fillers.LIKINGS.split()).split("|")]


def templates() -> Iterator[tuple[str, str, str]]:
    for file in FILES:
        section = "none"
        for line in (HERE / file).read_text("utf-8").splitlines():
            if line.startswith("="):
                section = line[1:] or "none"
            elif line and not line.startswith("#"):
                yield file, section, line


def generate(seed: int, each: int) -> Iterator[Sentence]:
    chance = random.Random(seed)
    for at, (file, section, template) in enumerate(templates()):
        for _ in range(min(_MOST, round(each * _combinations(template) ** 0.5))):
            yield _one(chance, file, section, template, str(at))


def _combinations(template: str) -> int:
    """In how many ways the alternatives of a template combine."""
    return math.prod(found.count("|") + 1 for found in _CHOICE.findall(template)) * (2 if "{" in template else 1)


def _one(chance: random.Random, file: str, section: str, template: str, group: str) -> Sentence:
    text = _CHOICE.sub(lambda found: _chosen(chance, found.group(1).split("|")), template)
    values: list[tuple[str, str]] = []
    chosen: dict[str, str] = {}

    def fill(found: re.Match[str]) -> str:
        slot = found.group(1)
        value = chosen.get(slot) or _value(chance, slot, chosen)
        chosen[slot] = value
        bare = re.sub(r"^an? ", "", value) if slot in ("AR", "AFR", "AOR") else value
        values.append((slot.removeprefix("A") if slot in ("AR", "AFR", "AOR") else slot, bare))
        return value

    text = (
        " ".join(_SLOT.sub(fill, text).split())
        .replace(" ,", ",")
        .replace(" !", "!")
        .replace(" .", ".")
        .replace(" ?", "?")
    )
    asks = text.endswith("?")
    if chance.random() < 0.25:
        lead = chance.choice(_LEADS)
        keeps = text.startswith(("I ", "I'")) or (values and text.startswith(values[0][1]))
        text = lead + (text if keeps else text[0].lower() + text[1:])
    if not asks and chance.random() < 0.25:
        text = text.rstrip(".!") + chance.choice(_TRAILS)
    if chance.random() < 0.12:
        text = text.lower() if chance.random() < 0.6 else text.replace("'", "")
    elif chance.random() < 0.15:
        text = text.rstrip(".")
    status = section if file == "couples.txt" else "none"
    change = section if file == "habits.txt" and "{L}" in template else "none"
    return Sentence(text, tuple(values), status, change, group)


def _chosen(chance: random.Random, options: list[str]) -> str:
    """One of the alternatives; for a time in the past, or of now, often another one."""
    chosen = chance.choice(options)
    for times in (_PAST, _NOW):
        if chosen.strip() in times and chance.random() < 0.6:
            return chance.choice(times)
    return chosen


def _value(chance: random.Random, slot: str, chosen: dict[str, str]) -> str:
    taken = set(chosen.values())
    match slot:
        case "H" | "FH" | "P":
            options = TOWNS
        case "E" | "FE" | "O":
            options = FIRMS
        case "N" | "FN" | "M" | "K":
            options = PEOPLE
        case "S":
            options = fillers.SURNAMES.split()
        case "R" | "FR" | "OR":
            options = ROLES
        case "AR" | "AFR" | "AOR":
            role = chance.choice(ROLES)
            return (
                role
                if role.startswith(("head of", "CEO", "CTO", "CFO", "COO"))
                else f"{'an' if role[0].lower() in 'aeiou' else 'a'} {role}"
            )
        case "W":
            options = WORKPLACES
        case "L":
            options = LIKINGS
        case "X":
            options = fillers.FIELDS.split("|")
        case "A" | "FA":
            return _number(chance)
        case "AO":
            number = chance.randint(18, 80)
            return f"{number}{'th' if 10 < number % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
        case _:
            raise ValueError(slot)
    return chance.choice([one for one in options if one not in taken])


def _number(chance: random.Random) -> str:
    number = chance.randint(18, 80)
    kind = chance.random()
    if kind < 0.75 or number < 20:
        return str(number)
    if number % 10 == 0 and kind < 0.85:
        return f"{number // 10}-0"
    word = _TWENTY[number // 10 - 2] if number < 80 else "eighty"
    return word if number % 10 == 0 else f"{word}-{_UNITS[number % 10 - 1]}"
