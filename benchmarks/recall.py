"""Evidence recall through the product's own context, on conversations with questions and known evidence.

    python benchmarks/recall.py --data FILE [--engine sqlite|postgres] [--min-relevance default|0.2] [--budgets 500,1000] [--json]

FILE (.json or .json.gz) has the shape of `docs/benchmarks.md`. Each conversation becomes a project with a pool of its own; every
question is asked from an empty session of that project. R@k is the mean share of a question's evidence among the first k; questions
of the category `adversarial` are reported apart and count in no total. The floor of relevance is off unless `--min-relevance` sets
one; `default` leaves it to the product, which has a lower one where a budget is given. With `--budgets`, the share of the evidence
inside a context of so many tokens is reported too, with default limits and the same floor.
The embedder is that of the environment: see `CLOISTER_EMBEDDER`.
"""

import argparse
import gzip
import json
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cloister import Cloister
from cloister.interfaces.python.recall.shapes import ContextItem
from temporary import open_engine

DEPTH = 20
# Enough messages of each role that twenty sessions are among them.
MESSAGES_FOR_SESSIONS = 300
APART = "adversarial"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question, where in the ranking its evidence stood (from 0), and how long the answer took."""

    category: str
    evidence: int
    ranks: Sequence[int]
    milliseconds: float
    in_budgets: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True)
class Way:
    """How to ask: whether evidence names turns or sessions, the floor of relevance (`None`: the default), and the budgets of
    contexts in tokens."""

    level: str
    floor: float | None
    budgets: Sequence[int]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=Path)
    arguments.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    arguments.add_argument("--min-relevance", type=lambda text: None if text == "default" else float(text), default=0.0)
    arguments.add_argument("--budgets", type=lambda text: [int(each) for each in text.split(",")], default=[])
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    data = read(given.data)
    way = Way(level=data["level"], floor=given.min_relevance, budgets=given.budgets)
    with open_engine(given.engine) as location, Cloister(location) as memory:
        asked = [answer for conversation in data["conversations"] for answer in ask_all(memory, conversation, way)]
    report = summary(data["name"], asked, given.budgets)
    print(json.dumps(report) if given.json else readable(report, given.engine))


def read(path: Path) -> dict[str, Any]:
    packed = path.read_bytes()
    data = json.loads(gzip.decompress(packed) if path.suffix == ".gz" else packed)
    return {"name": path.name, "level": "turn", **data}


def ask_all(memory: Cloister, conversation: dict[str, Any], way: Way) -> Iterator[Asked]:
    project = memory.create_project(str(conversation["id"])).project_id
    shown: dict[str, str] = {}
    for session in conversation["sessions"]:
        name = f"{conversation['id']}/{session['id']}"
        memory.create_session(name, project_id=project)
        turns = fill(memory, name, session)
        shown |= turns if way.level == "turn" else dict.fromkeys(turns, str(session["id"]))
    memory.reindex()  # with an additional embedder, its vectors
    asker = f"{conversation['id']}/questions"
    memory.create_session(asker, project_id=project)
    for question in conversation["questions"]:
        if question["evidence"]:
            yield ask(memory, asker, question, shown, way)


def fill(memory: Cloister, name: str, session: dict[str, Any]) -> dict[str, str]:
    """Record a session's turns; gives the turn of each message id."""
    start = session.get("started_at")
    spoken = [turn for turn in session["turns"] if turn["text"].strip()]
    messages = [
        {
            "role": turn.get("role") or "user",
            "content": turn["text"][:65_536],
            "author": turn.get("speaker"),
            "created_at": start and (datetime.fromisoformat(start) + timedelta(seconds=position)).isoformat(),
        }
        for position, turn in enumerate(spoken)
    ]
    ids: dict[str, str] = {}
    for begin in range(0, len(messages), 1_000):
        recorded = memory.record_batch(name, messages[begin : begin + 1_000])
        ids |= {message.id: str(turn["id"]) for message, turn in zip(recorded, spoken[begin:], strict=False)}
    return ids


def ask(
    memory: Cloister,
    asker: str,
    question: dict[str, Any],
    shown: dict[str, str],
    way: Way,
) -> Asked:
    """Turns are ranked themselves; a session stands where its best message does. `shown` has the turn or session of a message."""
    limit = DEPTH if way.level == "turn" else MESSAGES_FOR_SESSIONS
    sources = [{"role": role, "method": "semantic", "limit": limit} for role in ("user", "assistant")]
    began = time.perf_counter()
    history = memory.context(asker, question["text"], sources=sources, min_relevance=way.floor).relevant_history
    milliseconds = (time.perf_counter() - began) * 1_000

    def names(items: Sequence[ContextItem]) -> list[str]:
        """What the items show; one that stands for several messages that say the same shows all of them."""
        return [shown[id] for item in items for id in (item.id, *item.same_as)]

    positions = ranks([names([item]) for item in history])
    evidence = {str(name) for name in question["evidence"]}
    filled = [
        memory.context(asker, question["text"], budget_tokens=budget, min_relevance=way.floor) for budget in way.budgets
    ]
    return Asked(
        category=str(question.get("category", "all")),
        evidence=len(evidence),
        ranks=sorted(positions[name] for name in evidence if name in positions),
        milliseconds=milliseconds,
        in_budgets=[len(evidence.intersection(names(found.relevant_history))) / len(evidence) for found in filled],
    )


def ranks(shown: Sequence[Sequence[str]]) -> dict[str, int]:
    """The rank of each turn or session by what each item shows. An item has one rank, however many copies it stands for; an item
    that shows nothing new has none."""
    found: dict[str, int] = {}
    rank = 0
    for names in shown:
        new = [name for name in names if name not in found]
        found.update(dict.fromkeys(new, rank))
        rank += bool(new)
    return found


def summary(name: str, asked: Sequence[Asked], budgets: Sequence[int]) -> dict[str, Any]:
    by_category: dict[str, list[Asked]] = defaultdict(list)
    for answer in asked:
        by_category[answer.category].append(answer)
    counted = [answer for answer in asked if answer.category != APART]
    return {
        "name": name,
        **measures(counted),
        "ms_p50": round(statistics.median(answer.milliseconds for answer in asked), 3),
        "in_budgets": {
            str(budget): round(statistics.fmean(answer.in_budgets[at] for answer in counted), 4)
            for at, budget in enumerate(budgets)
        },
        "by_category": {category: measures(answers) for category, answers in sorted(by_category.items())},
    }


def measures(asked: Sequence[Asked]) -> dict[str, Any]:
    count = max(len(asked), 1)

    def share(depth: int) -> float:
        return round(sum(sum(rank < depth for rank in a.ranks) / a.evidence for a in asked) / count, 4)

    return {
        "questions": len(asked),
        "R@5": share(5),
        "R@10": share(10),
        "R@20": share(20),
        "NDCG@10": round(sum(map(ndcg, asked)) / count, 4),
        "MRR": round(sum(1 / (a.ranks[0] + 1) for a in asked if a.ranks) / count, 4),
    }


def ndcg(answer: Asked) -> float:
    gained = sum(1 / math.log2(rank + 2) for rank in answer.ranks if rank < 10)
    possible = sum(1 / math.log2(rank + 2) for rank in range(min(10, answer.evidence)))
    return gained / possible


def readable(report: dict[str, Any], engine: str) -> str:
    names = ("questions", "R@5", "R@10", "R@20", "NDCG@10", "MRR")
    rows = [("", *names), (f"all but {APART}", *(report[name] for name in names))]
    rows += [(category, *(found[name] for name in names)) for category, found in report["by_category"].items()]
    lines = [f"{first:<28}" + "".join(f"{value:>10}" for value in rest) for first, *rest in rows]
    lines += [f"evidence within {budget} tokens: {share:.4f}" for budget, share in report["in_budgets"].items()]
    return "\n".join([f"{report['name']} on {engine}, {report['ms_p50']} ms a question (p50)", *lines])


if __name__ == "__main__":
    main()
