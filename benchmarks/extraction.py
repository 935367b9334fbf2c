"""What the rules take from sentences whose truth is known, and how much they take from real conversations.

    python benchmarks/extraction.py [--json] [--data FILE] [--seed N]

The sentences are in `extraction_sentences.json`, each with the phrases a memory of it must hold (`keys`) and those one may hold
(`also`). A memory is right when it holds one of them; a key is found when a memory holds it. Rules are tuned on the half
`tuning` alone. FILE (.json or .json.gz) has the shape of `docs/benchmarks.md`; every named speaker counts as a user, and a
sample of what is taken is printed, to be judged by eye.
"""

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloister.domain.extraction import Statement
from cloister.domain.identifiers import MessageId
from cloister.models.rules.extractor import Rules
from cloister.models.rules.facts import Fact
from cloister.models.rules.memories import facts
from recall import read

SENTENCES = Path(__file__).with_name("extraction_sentences.json")
SAMPLE = 20
ROUNDS = 5
NO_NAMES = {"user", "assistant"}


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One sentence: how many memories it gave and how many are right, how many keys it has and how many were found."""

    half: str
    category: str
    taken: int
    right: int
    keys: int
    found: int


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--data", type=Path)
    arguments.add_argument("--seed", type=int, help="which sample; without it another one each run")
    given = arguments.parse_args()
    sentences: list[dict[str, Any]] = json.loads(SENTENCES.read_text("utf-8"))
    judged = [judge(sentence) for sentence in sentences]
    report: dict[str, Any] = {
        "halves": {half: measures([j for j in judged if j.half == half]) for half in ("tuning", "held-out")},
        "categories": by_category(judged),
        "us_per_sentence": microseconds([sentence["text"] for sentence in sentences]),
    }
    if given.data:
        report["conversations"] = take_from(read(given.data), random.Random(given.seed))
    print(json.dumps(report, ensure_ascii=False) if given.json else readable(report))


def judge(sentence: dict[str, Any]) -> Judged:
    taken = [plain(content) for content in taken_from(sentence["text"])]
    keys = [plain(key) for key in sentence["keys"]]
    good = keys + [plain(key) for key in sentence["also"]]
    return Judged(
        half=sentence["half"],
        category=sentence["category"],
        taken=len(taken),
        right=sum(any(key in memory for key in good) for memory in taken),
        keys=len(keys),
        found=sum(any(key in memory for memory in taken) for key in keys),
    )


def taken_from(text: str) -> list[str]:
    """The memories of one message, by patterns and by classifiers."""
    said = Statement(id=MessageId(1), role="user", content=text, author=None, created_at=1)
    return [memory.content for memory in Rules().memories([said], [])]


def plain(text: str) -> str:
    return text.casefold().replace("’", "'")


def measures(judged: Sequence[Judged]) -> dict[str, Any]:
    taken, keys = sum(j.taken for j in judged), sum(j.keys for j in judged)
    right, found = sum(j.right for j in judged), sum(j.found for j in judged)
    return {
        "sentences": len(judged),
        "taken": taken,
        "wrong": taken - right,
        "precision": round(right / taken, 4) if taken else None,
        "keys": keys,
        "recall": round(found / keys, 4) if keys else None,
    }


def by_category(judged: Sequence[Judged]) -> dict[str, dict[str, Any]]:
    grouped: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in judged:
        grouped[one.half, one.category].append(one)
    return {f"{half} {category}": measures(group) for (half, category), group in sorted(grouped.items())}


def microseconds(texts: Sequence[str]) -> float:
    """The best of a few rounds, so that a busy machine counts less."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for text in texts:
            taken_from(text)
        rounds.append(time.perf_counter() - began)
    return round(min(rounds) / len(texts) * 1e6, 1)


def take_from(data: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    spoken = list(users(data))
    taken: list[Fact] = [fact for content, author in spoken for fact in facts(content, author)]
    return {
        "name": data["name"],
        "messages": len(spoken),
        "memories": len(taken),
        "per_100_messages": round(100 * len(taken) / max(len(spoken), 1), 2),
        "by_category": dict(Counter(fact.category for fact in taken).most_common()),
        "sample": [f"{fact.category}: {fact.content}" for fact in chance.sample(taken, min(SAMPLE, len(taken)))],
    }


def users(data: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """What users said, with their names. Where speakers are named both are people, whatever the role says."""
    for conversation in data["conversations"]:
        for session in conversation["sessions"]:
            for turn in session["turns"]:
                speaker = turn.get("speaker")
                named = speaker is not None and speaker not in NO_NAMES
                if named or turn.get("role", "user") == "user":
                    yield turn["text"], speaker if named else None


def readable(report: dict[str, Any]) -> str:
    names = ("sentences", "taken", "wrong", "precision", "keys", "recall")
    rows: list[tuple[Any, ...]] = [("", *names)]
    for label, found in (report["halves"] | report["categories"]).items():
        rows.append((label, *("–" if found[name] is None else found[name] for name in names)))
    lines = [f"{first:<26}" + "".join(f"{value:>11}" for value in rest) for first, *rest in rows]
    lines.append(f"{report['us_per_sentence']} µs a sentence")
    if taken := report.get("conversations"):
        counts = ", ".join(f"{category} {count}" for category, count in taken["by_category"].items())
        lines += ["", f"{taken['name']}: {taken['memories']} memories of {taken['messages']} messages"]
        lines += [f"{taken['per_100_messages']} per 100 messages ({counts})", *taken["sample"]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
