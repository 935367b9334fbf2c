"""A worker whose index is Qdrant, in a process of its own. It says when it is about to put points there, or has just done so, and
then waits to be killed."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from qdrant_client import QdrantClient

from cloister.bootstrap import wire
from cloister.index.interface import EntityPoint, Point
from cloister.index.qdrant.index import QdrantIndex
from cloister.models.static.embedder import StaticEmbedder
from cloister.storage.postgres.database import open_postgres
from cloister.storage.sqlite.database import open_sqlite
from cloister.worker import Worker


class Hesitant(QdrantIndex):
    def __init__(self, client: QdrantClient, embedder: StaticEmbedder, moment: str) -> None:
        super().__init__(client, embedder)
        self._moment = moment

    def put(self, run: Sequence[Point], first: int, last: int) -> None:
        self._wait_at("before")
        super().put(run, first, last)
        self._wait_at("after")

    def put_entities(self, entities: Sequence[EntityPoint]) -> None:
        self._wait_at("before entities")
        super().put_entities(entities)
        self._wait_at("after entities")

    def _wait_at(self, moment: Literal["before", "after", "before entities", "after entities"]) -> None:
        if moment == self._moment:
            print(moment, flush=True)
            time.sleep(3_600)


def main(engine: str, url: str, points: str, moment: str) -> None:
    embedder = StaticEmbedder()
    database = open_postgres(url) if engine == "postgres" else open_sqlite(Path(url).parent)
    index = Hesitant(QdrantClient(path=points), embedder, moment)
    Worker(wire(database, index=index, embedder=embedder)).drain()


if __name__ == "__main__":
    main(*sys.argv[1:])
