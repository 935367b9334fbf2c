"""How far the answers of a Qdrant server agree with those of the exact index on one large pool, and what both take.

    python benchmarks/qdrant.py --data FILE [--data FILE] --url URL [--messages 100000] [--questions 200] [--json]

The pool is that of `stages.py`: the conversations of the files, filled up with altered copies. It is put into Qdrant through the
queue, as a worker does it, and every question is asked of both indexes in the same snapshot. Milliseconds are wall time of one
answer, of which Qdrant's has several requests. Collections of other embedders on the server are left alone; that of this one is
deleted before and after. With the URL `:memory:` the client's local mode answers, which is for trying the benchmark only.
"""

import argparse
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# This folder has an `http.py`, which Qdrant's client must not import as that of the standard library.
sys.path.append(sys.path.pop(0))

from qdrant_client import QdrantClient

from cloister import Cloister
from cloister.bootstrap import Services, wire
from cloister.domain.identifiers import LOCAL_TENANT
from cloister.domain.recall.ranking import Evidence, best, rank
from cloister.domain.scope import Reach
from cloister.domain.timestamps import now
from cloister.index.exact.index import ExactIndex
from cloister.index.qdrant.index import collection_name, entity_collection_name, open_qdrant
from cloister.models.static.embedder import StaticEmbedder
from cloister.storage.sqlite.database import open_sqlite
from cloister.storage.stores.pools import PoolStore
from recall import read
from stages import fill
from temporary import open_engine

TOP = 10


@dataclass(kw_only=True)
class Answers:
    """What is compared, question by question."""

    shared: list[float] = field(default_factory=list[float])
    first_equal: list[bool] = field(default_factory=list[bool])
    exact: list[float] = field(default_factory=list[float])
    qdrant: list[float] = field(default_factory=list[float])

    def add(self, exact: Evidence, qdrant: Evidence) -> None:
        wanted, found = (each.ids[best(each, rank(each), TOP)].tolist() for each in (exact, qdrant))
        if wanted:
            self.shared.append(len(set(wanted) & set(found)) / len(wanted))
            self.first_equal.append(wanted[:1] == found[:1])

    def summary(self) -> dict[str, Any]:
        return {
            "questions": len(self.shared),
            f"of the exact index's best {TOP} (%)": round(100 * statistics.mean(self.shared), 2),
            f"questions with all {TOP} (%)": round(100 * statistics.mean(share == 1 for share in self.shared), 2),
            "the same first (%)": round(100 * statistics.mean(self.first_equal), 2),
            "exact, ms, median": round(statistics.median(self.exact), 1),
            "Qdrant, ms, median": round(statistics.median(self.qdrant), 1),
            "Qdrant, ms, 95th of a hundred": round(sorted(self.qdrant)[int(len(self.qdrant) * 0.95)], 1),
        }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", required=True, type=Path, action="append")
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--messages", type=int, default=100_000)
    arguments.add_argument("--questions", type=int, default=200)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    conversations = [one for path in given.data for one in read(path)["conversations"]]
    questions = [question["text"] for one in conversations for question in one["questions"]]
    chosen = random.Random(1).sample(questions, min(given.questions, len(questions)))
    embedder = StaticEmbedder()
    empty(given.url, embedder)
    with open_engine("sqlite") as location:
        index = open_qdrant(given.url, None, embedder)
        services = wire(open_sqlite(Path(location)), index=index, embedder=embedder)
        with Cloister(services=services) as memory:
            fill(memory, conversations, given.messages)
            began = time.perf_counter()
            services.queue.drain()
            seconds = time.perf_counter() - began
            answers = compared(services, chosen)
    empty(given.url, embedder)
    report = {
        "messages": given.messages,
        "put, messages a second": round(given.messages / seconds),
        **answers.summary(),
    }
    print(json.dumps(report) if given.json else "\n".join(f"{name:<44}{value:>12}" for name, value in report.items()))


def empty(url: str, embedder: StaticEmbedder) -> None:
    if url == ":memory:":
        return
    client = QdrantClient(url=url, check_compatibility=False)
    for name in (collection_name(embedder), entity_collection_name(embedder)):
        client.delete_collection(name)
    client.close()


def compared(services: Services, questions: list[str]) -> Answers:
    embedder, answers = StaticEmbedder(), Answers()
    exact = ExactIndex(embedder.embed_query, embedder.dimension, 10**11)
    reach = Reach(tenant=LOCAL_TENANT)
    scope = services.sessions.get(reach, "ask").scope("shared")
    with services.database.read(reach) as transaction:
        rows = PoolStore(transaction, services.record.generation).rows(scope)
        assert rows is not None
        exact.within(rows).evidence(questions[0], now())
        services.index.within(rows).evidence(questions[0], now())
        for question in questions:
            at, began = now(), time.perf_counter()
            wanted = exact.within(rows).evidence(question, at)
            between = time.perf_counter()
            found = services.index.within(rows).evidence(question, at)
            answers.exact.append((between - began) * 1_000)
            answers.qdrant.append((time.perf_counter() - between) * 1_000)
            answers.add(wanted, found)
    return answers


if __name__ == "__main__":
    main()
