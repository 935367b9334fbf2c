"""What recall knows of a message, a memory or an entity, made alike at a write, from the queue and when rebuilding."""

from collections.abc import Sequence
from typing import cast

from cloister.domain.own_words import own_words
from cloister.domain.passage import passage
from cloister.index import terms
from cloister.models.interface import Embedder
from cloister.storage.interface import Database
from cloister.storage.messages import Indexed

Said = tuple[str, str | None, int]
# Without the embedder's own count: English text has about four characters a token.
_CHARACTERS_A_TOKEN = 4


class Indexer:
    """Terms and vectors of one generation: one tokeniser with one embedder. Rows of two generations are never ranked together."""

    def __init__(self, database: Database, embedder: Embedder, *, immediate_index: bool) -> None:
        self._embedder = embedder
        self.immediate_index = immediate_index
        self.generation = _generation(database, f"{embedder.name}+terms{terms.VERSION}")

    def prepare(self, said: Sequence[Said], now: int, *, is_a_point: bool = True) -> list[Indexed]:
        """For each (content, author, created_at); a slow embedder leaves the vector to the queue. See `embed`."""
        if self._embedder.immediate:
            return self.embed(said, now, is_a_point=is_a_point)
        return [
            Indexed(
                generation=self.generation,
                terms=terms.encode(own_words(content)),
                vector=None,
                tokens=-(-len(content) // _CHARACTERS_A_TOKEN),
                indexed_at=None,
            )
            for content, _, _ in said
        ]

    def embed(self, said: Sequence[Said], now: int, *, is_a_point: bool = True) -> list[Indexed]:
        """All of it, however slow the embedder. An index outside the database still has to be told of what is a point there:
        `indexed_at` stays empty."""
        owns = [own_words(content) for content, _, _ in said]
        passages = [passage(own, author, at) for own, (_, author, at) in zip(owns, said, strict=True)]
        return [
            Indexed(
                generation=self.generation,
                terms=terms.encode(own),
                vector=embedding.vector,
                # Whoever shows the message shows all of it.
                tokens=embedding.tokens + (len(content) - len(own)) // _CHARACTERS_A_TOKEN,
                indexed_at=now if self.immediate_index or not is_a_point else None,
            )
            for own, (content, _, _), embedding in zip(owns, said, self._embedder.embed(passages), strict=True)
        ]


def _generation(database: Database, fingerprint: str) -> int:
    """The number of this fingerprint in the database, given at its first use."""
    maintenance = database.maintenance
    while not (rows := maintenance.rows("generation", fingerprint=fingerprint)):
        maintenance.write("insert_generation", fingerprint=fingerprint)
    return cast(int, rows[0][0])
