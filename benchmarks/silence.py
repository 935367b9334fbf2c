"""How often recall is silent, and how many tokens that saves, with the default floor of relevance beside none.

    python benchmarks/silence.py --data FILE [--half tuned|held-back] [--questions 40] [--json]

FILE is as in `recall.py`; each conversation is a pool of its own. Asked are the off-topic requests and the small talk of `silence/`
(the floor and the rules of small talk were made with every other line, the tuned half), what only looks like small talk, the
conversation's own questions, and those of another conversation with the names of its speakers exchanged for those of this one.
Contexts have default limits. A context is empty if nothing was recalled.
"""

import argparse
import json
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cloister import Cloister
from recall import APART, fill, read
from temporary import open_engine

LINES = Path(__file__).parent / "silence"
LISTS = {
    "off topic": "off_topic",
    "small talk": "small_talk",
    "small talk held back": "small_talk_held_back",
    "everyday small talk": "small_talk_everyday",
    "look-alikes": "look_alikes",
}
KINDS = (*LISTS, "another conversation", "own questions")


class Answer(NamedTuple):
    """The tokens of the related history, without and with the floor."""

    kind: str
    before: int
    after: int


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=Path)
    arguments.add_argument("--half", choices=("tuned", "held-back"))
    arguments.add_argument("--questions", type=int, default=40, help="how many questions of each conversation")
    arguments.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    data = read(given.data)
    with open_engine(given.engine) as location, Cloister(location) as memory:
        answers = list(ask_all(memory, data["conversations"], given.half, given.questions))
    report = {kind: measures([answer for answer in answers if answer.kind == kind]) for kind in KINDS}
    print(json.dumps(report) if given.json else readable(data["name"], report))


def ask_all(memory: Cloister, conversations: Sequence[dict[str, Any]], half: str | None, most: int) -> Iterator[Answer]:
    shared = [(kind, line) for kind, name in LISTS.items() for line in lines(name, half)]
    for at, conversation in enumerate(conversations):
        asker = fill_pool(memory, conversation)
        other = conversations[(at + 1) % len(conversations)]
        names = dict(zip(speakers(other), speakers(conversation), strict=False))
        foreign = (
            [("another conversation", exchanged(text, names)) for text in questions(other, most)]
            if other is not conversation
            else []
        )
        own = [("own questions", text) for text in questions(conversation, most)]
        for kind, text in (*shared, *foreign, *own):
            yield Answer(kind, tokens(memory, asker, text, 0), tokens(memory, asker, text, None))


def lines(name: str, half: str | None) -> list[str]:
    found = (LINES / f"{name}.txt").read_text("utf-8").splitlines()
    return found if half is None else found[half == "held-back" :: 2]


def fill_pool(memory: Cloister, conversation: dict[str, Any]) -> str:
    """Record a conversation in a project of its own; gives the empty session that asks."""
    project = memory.create_project(str(conversation["id"])).project_id
    for session in conversation["sessions"]:
        name = f"{conversation['id']}/{session['id']}"
        memory.create_session(name, project_id=project)
        fill(memory, name, session)
    asker = f"{conversation['id']}/questions"
    memory.create_session(asker, project_id=project)
    return asker


def questions(conversation: dict[str, Any], most: int) -> list[str]:
    """Questions with an answer, spread over the whole conversation."""
    found = [each["text"] for each in conversation["questions"] if each["evidence"] and each.get("category") != APART]
    return found[:: max(1, len(found) // most)][:most]


def speakers(conversation: dict[str, Any]) -> list[str]:
    return sorted({str(turn.get("speaker")) for session in conversation["sessions"] for turn in session["turns"]})


def exchanged(text: str, names: dict[str, str]) -> str:
    if not names:
        return text
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b")
    return pattern.sub(lambda found: names[found.group()], text)


def tokens(memory: Cloister, asker: str, text: str, floor: float | None) -> int:
    """The estimated tokens of what is recalled."""
    history = memory.context(asker, text, min_relevance=floor).relevant_history
    return sum(len(item.content) // 4 + 4 for item in history)


def measures(answers: Sequence[Answer]) -> dict[str, Any]:
    before, after = sum(answer.before for answer in answers), sum(answer.after for answer in answers)
    return {
        "requests": len(answers),
        "empty": round(statistics.fmean(not answer.after for answer in answers), 4) if answers else None,
        "tokens_before": round(before / max(len(answers), 1)),
        "tokens_after": round(after / max(len(answers), 1)),
        "saved": round(1 - after / before, 4) if before else None,
    }


def readable(name: str, report: dict[str, dict[str, Any]]) -> str:
    columns = ("requests", "empty", "tokens_before", "tokens_after", "saved")
    rows = [("", *columns), *((kind, *(found[column] for column in columns)) for kind, found in report.items())]
    lines = [f"{first:<24}" + "".join(f"{value!s:>15}" for value in rest) for first, *rest in rows]
    return "\n".join([f"{name}, default floor beside none", *lines])


if __name__ == "__main__":
    main()
