"""Make the index row of a message, memory or entity: its terms and vector. The same at a write, from the queue and in a rebuild."""

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
    """Index rows of one generation, which is one tokeniser and one embedder. Rows of two generations are never ranked together."""

    def __init__(self, database: Database, embedder: Embedder, *, has_external_index: bool) -> None:
        self._embedder = embedder
        self._has_external_index = has_external_index
        self.generation = _generation(database, f"{embedder.name}+terms{terms.VERSION}")

    def prepare(self, said: Sequence[Said], now: int, *, is_a_point: bool = True) -> list[Indexed]:
        """The rows of (content, author, created_at) tuples. With a slow embedder the vectors are left to the queue. See `embed`."""
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
        """The rows with their vectors, however slow the embedder is. With an external index a row that is a point there stays in
        the queue: its `indexed_at` is None."""
        embeddings = self._embedder.embed([passage(*each) for each in said])
        return [
            Indexed(
                generation=self.generation,
                terms=terms.encode(content),
                vector=embedding.vector,
                tokens=embedding.tokens,
                indexed_at=None if self._has_external_index and is_a_point else now,
            )
            for (content, _, _), embedding in zip(said, embeddings, strict=True)
        ]

    def prepare_messages(self, said: Sequence[Said], now: int) -> list[Indexed]:
        """The rows of messages, without the recalled text that they quote. See `prepare`."""
        return _by_own_words(self.prepare, said, now)

    def embed_messages(self, said: Sequence[Said], now: int) -> list[Indexed]:
        """The rows of messages, without the recalled text that they quote. See `embed`."""
        return _by_own_words(self.embed, said, now)


def _by_own_words(
    index: Callable[[Sequence[Said], int], list[Indexed]], said: Sequence[Said], now: int
) -> list[Indexed]:
    """Index messages by the words that are not quoted. A message without any is not indexed: its vector is empty. Its tokens are
    those of its whole content, which is shown in its own session."""
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
    """The number of this fingerprint in the database; a new fingerprint gets the next one."""
    maintenance = database.maintenance
    while not (rows := maintenance.rows("generation", fingerprint=fingerprint)):
        maintenance.write("insert_generation", fingerprint=fingerprint)
    return cast(int, rows[0][0])
