"""A worker with an additional embedder, in a process of its own. It says when it has the vectors of a batch, and then waits to be
killed before it stores them."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from cloister.bootstrap import wire
from cloister.index.exact.index import ExactIndex
from cloister.models.openai.embeddings import OpenAiEmbedder
from cloister.models.openai.endpoint import Endpoint
from cloister.models.static.embedder import StaticEmbedder
from cloister.models.unit_vectors import UnitVector
from cloister.storage.postgres.database import open_postgres
from cloister.storage.sqlite.database import open_sqlite
from cloister.worker import Worker


class Hesitant(OpenAiEmbedder):
    def embed(self, texts: Sequence[str]) -> list[UnitVector | None]:
        super().embed(texts)
        print("embedded", flush=True)
        time.sleep(3_600)
        return []


def main(engine: str, url: str, address: str) -> None:
    database = open_postgres(url) if engine == "postgres" else open_sqlite(Path(url).parent)
    table = StaticEmbedder()
    index = ExactIndex(table.embed_query, table.dimension, 1_000_000)
    embedder = Hesitant(Endpoint(url=address, model="minilm"))
    Worker(wire(database, index=index, embedder=table, additional_embedder=embedder)).drain()


if __name__ == "__main__":
    main(*sys.argv[1:])
