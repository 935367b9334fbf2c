"""What recall knows of a message, a memory or an entity, made alike at a write, from the queue and when rebuilding."""

from collections.abc import Callable, Sequence
from typing import cast

from cloister.domain.prompts.recalled_text import own_words, quoted_tokens
from cloister.domain.recall.passage import passage
from cloister.domain.text import CHARACTERS_A_TOKEN
from cloister.index import terms
from cloister.models.interface import Embedder
from cloister.storage.interface import Database
from cloister.storage.stores.messages import Indexed

Said = tuple[str, str | None, int]


class Indexer:
    """Terms and vectors of one generation: one tokeniser with one embedder. Rows of two generations are never ranked together."""

    def __init__(self, database: Database, embedder: Embedder, *, immediate_index: bool) -> None:
        self._embedder = embedder
        self._immediate_index = immediate_index
        self.generation = _generation(database, f"{embedder.name}+terms{terms.VERSION}")

    def prepare(self, said: Sequence[Said], now: int, *, is_a_point: bool = True) -> list[Indexed]:
        """For each (content, author, created_at); a slow embedder leaves the vector to the queue. See `embed`."""
        if self._embedder.immediate:
            return self.embed(said, now, is_a_point=is_a_point)
        return [
            Indexed(
                generation=self.generation,
                terms=terms.encode(content),
                vector=None,
                tokens=-(-len(content) // CHARACTERS_A_TOKEN),
                indexed_at=None,
            )
            for content, _, _ in said
        ]

    def embed(self, said: Sequence[Said], now: int, *, is_a_point: bool = True) -> list[Indexed]:
        """All of it, however slow the embedder. An index outside the database still has to be told of what is a point there:
        `indexed_at` stays empty."""
        embeddings = self._embedder.embed([passage(*each) for each in said])
        return [
            Indexed(
                generation=self.generation,
                terms=terms.encode(content),
                vector=embedding.vector,
                tokens=embedding.tokens,
                indexed_at=now if self._immediate_index or not is_a_point else None,
            )
            for (content, _, _), embedding in zip(said, embeddings, strict=True)
        ]

    def prepare_messages(self, said: Sequence[Said], now: int) -> list[Indexed]:
        """By their own words; they may quote what was recalled into them. See `prepare`."""
        return _by_own_words(self.prepare, said, now)

    def embed_messages(self, said: Sequence[Said], now: int) -> list[Indexed]:
        """By their own words. See `embed`."""
        return _by_own_words(self.embed, said, now)


def _by_own_words(
    index: Callable[[Sequence[Said], int], list[Indexed]], said: Sequence[Said], now: int
) -> list[Indexed]:
    """A message that has none is in no index: its vector is empty. Its tokens are those of all it says, as it is shown where it was
    said."""
    owns = [own_words(content) for content, _, _ in said]
    indexed = index([(own, author, at) for own, (_, author, at) in zip(owns, said, strict=True)], now)
    return [
        made
        if own == content
        else made._replace(
            vector=made.vector if own else b"", tokens=made.tokens + quoted_tokens(content, own), quotes=True
        )
        for made, own, (content, _, _) in zip(indexed, owns, said, strict=True)
    ]


def _generation(database: Database, fingerprint: str) -> int:
    """The number of this fingerprint in the database, given at its first use."""
    maintenance = database.maintenance
    while not (rows := maintenance.rows("generation", fingerprint=fingerprint)):
        maintenance.write("insert_generation", fingerprint=fingerprint)
    return cast(int, rows[0][0])
