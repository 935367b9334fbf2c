"""How far the answers of a large pool, found in two stages, agree with those of a full scan.

    python benchmarks/stages.py --data FILE [--data FILE] [--messages 100000] [--questions 200] [--json]

The files are those of `recall.py`. All their conversations go into one pool, which is filled up to the number of messages with
altered copies: a third of the longer words are exchanged for others of the files, by their frequency; speakers have other names;
dates are moved by weeks; and a message is cut to 60 words. The questions are the files' own. Each is asked of both indexes in the
same snapshot, and their best messages are compared: of all roles, and of each role as a context picks them. With --directory the
data stays there for another run.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from cloister import Cloister
from cloister.bootstrap import wire
from cloister.domain.identifiers import SessionId
from cloister.domain.recall.ranking import Evidence, best, rank
from cloister.index.exact.index import ExactIndex
from cloister.index.interface import DEPTH, DerivedReader, EntityReader, Ids, PoolIndex, PoolReader
from cloister.models.static.embedder import StaticEmbedder
from cloister.storage.sqlite.database import DATABASE_FILE, open_sqlite
from recall import read
from temporary import open_engine

TOP = 20
LONGEST_COPY = 60
EXCHANGED = 0.33
Turn = tuple[str, str, str | None]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=Path, action="append")
    arguments.add_argument("--messages", type=int, default=100_000)
    arguments.add_argument("--questions", type=int, default=200)
    arguments.add_argument("--directory", type=Path)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    conversations = [one for path in given.data for one in read(path)["conversations"]]
    embedder = StaticEmbedder()
    both = BothIndexes(embedder)
    with nullcontext(given.directory) if given.directory else open_engine("sqlite") as location:
        filled = (Path(location) / DATABASE_FILE).exists()
        services = wire(open_sqlite(Path(location)), index=both, embedder=embedder)
        with Cloister(services=services) as memory:
            if not filled:
                fill(memory, conversations, given.messages)
            questions = [question["text"] for one in conversations for question in one["questions"]]
            chosen = random.Random(1).sample(questions, min(given.questions, len(questions)))
            sources = [{"role": role, "method": "semantic", "limit": TOP} for role in ("user", "assistant")]
            for question in chosen:
                memory.context("ask", question, sources=sources)
    report = {"messages": given.messages, **both.agreement.summary()}
    print(json.dumps(report) if given.json else "\n".join(f"{name:<44}{value:>12}" for name, value in report.items()))


def fill(memory: Cloister, conversations: Sequence[dict[str, Any]], messages: int) -> None:
    """One project with the conversations, and as many altered copies of their sessions as are needed."""
    project = memory.create_project("all").project_id
    memory.create_session("ask", project_id=project)
    stored = 0
    for number, (started, turns) in enumerate(sessions(conversations)):
        turns = turns[: messages - stored]
        memory.create_session(f"session/{number}", project_id=project)
        batch = [
            {
                "role": role,
                "content": text,
                "author": speaker,
                "created_at": started and (started + timedelta(seconds=position)).isoformat(),
            }
            for position, (role, text, speaker) in enumerate(turns)
        ]
        for begin in range(0, len(batch), 1_000):
            memory.record_batch(f"session/{number}", batch[begin : begin + 1_000])
        stored += len(batch)
        if stored >= messages:
            return


def sessions(conversations: Sequence[dict[str, Any]]) -> Iterator[tuple[datetime | None, list[Turn]]]:
    """All sessions as they are, then altered, again and again."""
    words = [word for _, turns in originals(conversations) for _, text, _ in turns for word in text.split()]
    copy = 0
    while True:
        for started, turns in originals(conversations):
            moved = started and started - timedelta(weeks=copy)
            yield moved, (altered(turns, words, random.Random(f"{copy} {turns}")) if copy else turns)
        copy += 1


def originals(conversations: Sequence[dict[str, Any]]) -> Iterator[tuple[datetime | None, list[Turn]]]:
    for conversation in conversations:
        for session in conversation["sessions"]:
            start = session.get("started_at")
            yield (
                datetime.fromisoformat(start) if start else None,
                [
                    (turn.get("role") or "user", turn["text"][:65_536], turn.get("speaker"))
                    for turn in session["turns"]
                    if turn["text"].strip()
                ],
            )


def altered(turns: Sequence[Turn], words: Sequence[str], rng: random.Random) -> list[Turn]:
    speakers = {speaker for _, _, speaker in turns if speaker and speaker not in ("user", "assistant")}
    names = {speaker: "".join(rng.choices("bdfgklmnprst", k=1) + rng.choices("aeiou", k=1) * 2).title() + speaker[-3:]
             for speaker in sorted(speakers)}  # fmt: skip

    def exchanged(word: str) -> str:
        if word.strip(".,!?'s") in names:
            return names[word.strip(".,!?'s")]
        return rng.choice(words) if len(word) > 3 and rng.random() < EXCHANGED else word

    return [
        (role, " ".join(map(exchanged, text.split()[:LONGEST_COPY])), names.get(speaker or "", speaker))
        for role, text, speaker in turns
    ]


@dataclass(kw_only=True)
class Agreement:
    """What is compared, question by question."""

    shared: list[float] = field(default_factory=list[float])
    shared_by_role: list[float] = field(default_factory=list[float])
    first_equal: list[bool] = field(default_factory=list[bool])
    apart: list[float] = field(default_factory=list[float])
    candidates: list[int] = field(default_factory=list[int])
    milliseconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    def add(self, full: Evidence, staged: Evidence) -> None:
        scores = rank(full), rank(staged)
        tops = [
            evidence.ids[best(evidence, by, TOP)].tolist() for evidence, by in zip((full, staged), scores, strict=True)
        ]
        self.shared.append(len(set(tops[0]) & set(tops[1])) / len(tops[0]))
        self.first_equal.append(tops[0][0] == tops[1][0])
        for role in (0, 1):
            of_role = [
                set(evidence.ids[best(evidence, by, TOP // 2, where=evidence.roles == role)].tolist())
                for evidence, by in zip((full, staged), scores, strict=True)
            ]
            if of_role[0]:
                self.shared_by_role.append(len(of_role[0] & of_role[1]) / len(of_role[0]))
        order = np.argsort(full.ids)
        at = order[np.searchsorted(full.ids, staged.ids, sorter=order)]
        self.apart.append(float(np.abs(scores[0][at] - scores[1]).max()))
        self.candidates.append(len(staged))

    def summary(self) -> dict[str, Any]:
        full, staged = self.milliseconds
        return {
            "questions": len(self.shared),
            f"of the full scan's best {TOP} (%)": round(100 * statistics.mean(self.shared), 3),
            f"questions with all {TOP} (%)": round(100 * statistics.mean(share == 1 for share in self.shared), 2),
            f"of its best {TOP // 2} of each role (%)": round(100 * statistics.mean(self.shared_by_role), 3),
            "the same first (%)": round(100 * statistics.mean(self.first_equal), 2),
            "scores apart, at most, median": round(statistics.median(self.apart), 6),
            "scores apart, at most, highest": round(max(self.apart), 6),
            "candidates, median": statistics.median(self.candidates),
            "full scan, ms, median": round(statistics.median(full), 1),
            "two stages, ms, median": round(statistics.median(staged), 1),
        }


class BothIndexes:
    """Asks an index that scans every pool in full and one that answers every pool in two stages, and gives the latter's answer."""

    def __init__(self, embedder: StaticEmbedder) -> None:
        self.full = ExactIndex(embedder.embed_query, embedder.dimension, 10**11, large=10**9)
        self.staged = ExactIndex(embedder.embed_query, embedder.dimension, 10**11, large=1)
        self.agreement = Agreement()
        self.cache = self.full.cache

    def within(self, pool: PoolReader) -> PoolIndex:
        return _BothPools(self, pool)

    def memories_within(self, pool: DerivedReader) -> PoolIndex:
        return self.full.memories_within(pool)

    def entities_within(self, entities: EntityReader) -> PoolIndex:
        return self.full.entities_within(entities)

    def close(self) -> None:
        self.full.close()
        self.staged.close()


class _BothPools:
    def __init__(self, indexes: BothIndexes, pool: PoolReader) -> None:
        self._indexes = indexes
        self._pool = pool

    def evidence(
        self,
        question: str,
        asked_at: int,
        depth: int = DEPTH,
        session: SessionId | None = None,
        allowed: Ids | None = None,
    ) -> Evidence:
        found: list[Evidence] = []
        indexes = (self._indexes.full, self._indexes.staged)
        for index, taken in zip(indexes, self._indexes.agreement.milliseconds, strict=True):
            began = time.perf_counter()
            found.append(index.within(self._pool).evidence(question, asked_at, depth, session, allowed))
            taken.append((time.perf_counter() - began) * 1_000)
        self._indexes.agreement.add(*found)
        return found[1]


if __name__ == "__main__":
    main()
