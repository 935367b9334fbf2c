"""The interfaces of models: embedder, extractor and chat model. No implementation is named here."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cloister.domain.extraction import (
    NO_GUIDANCE,
    ExtractedEntity,
    ExtractedMemory,
    FactOfMemory,
    Guidance,
    KnownMemory,
    ManualMemory,
    Statement,
)
from cloister.domain.identifiers import MessageId
from cloister.domain.recall.passage import Passage
from cloister.domain.reply import ChatRequest, Piece

Weigh = Callable[[Sequence[str]], Sequence[float]]


class Embedding(NamedTuple):
    """A passage's vector as stored (little-endian float16, unit length), and the number of tokens of its content."""

    vector: bytes
    tokens: int


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """The model and its version; vectors of embedders with different names are never compared."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def immediate(self) -> bool:
        """Whether it is fast enough to run inside the request that stores a message."""
        ...

    def embed(self, passages: Sequence[Passage]) -> list[Embedding]: ...

    def embed_query(self, text: str, weigh: Weigh) -> npt.NDArray[np.float32]:
        """The query's vector, of unit length or zero. `weigh` gives the weights of words in the pool that is searched."""
        ...


class AdditionalEmbedder(Protocol):
    """A slow model whose vectors are used besides those of the `Embedder`. Thread-safe. Raises `ModelUnavailable` if it cannot."""

    @property
    def name(self) -> str:
        """The model as it is recorded with its vectors; vectors of different names are never compared."""
        ...

    def embed(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32] | None]:
        """One vector of unit length for each text; None for a text that the model refuses, however often it is asked."""
        ...

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The vector of a question, of unit length, or an error within about a second: a person is waiting."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


class Extractor(Protocol):
    """Extracts memories from messages (MEM-5), by a model or by rules. Raises `ModelUnavailable` if it cannot."""

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """The codes of the languages that it extracts from; empty if it has no such limit (MEM-15)."""
        ...

    def memories(
        self,
        said: Sequence[Statement],
        known: Sequence[KnownMemory],
        of_user: Sequence[KnownMemory] = (),
        guidance: Guidance = NO_GUIDANCE,
    ) -> list[ExtractedMemory]:
        """The memories in what users say here, without those already `known` in this session. `of_user` are the memories of the
        user's other sessions, as background: one of them that a user states here is a memory of this session too (MEM-11). A
        memory that makes some of them untrue names their ids in `replaces` (MEM-12). An extractor follows the `guidance` as far as
        it can; the caller enforces it (MEM-15)."""
        ...

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        """The named things about which these statements say something."""
        ...

    def notes(self, said: Sequence[Statement]) -> list[tuple[str, tuple[MessageId, ...]]]:
        """A summary of the statements in a few lines, each with its source messages."""
        ...

    def close(self) -> None:
        """Close its connections."""
        ...


class FactReader(Protocol):
    """Reads memories that a person wrote, by rules: a request is waiting."""

    def read(
        self, manual: Sequence[ManualMemory], known: Sequence[KnownMemory], user: str | None, authors: Sequence[str]
    ) -> list[FactOfMemory]:
        """For each the fact that it states a value of, and which of the known ones it makes untrue (MEM-12)."""
        ...


class ChatModel(Protocol):
    """Generates the replies in conversations. Used on one event loop."""

    @property
    def name(self) -> str:
        """The name shown to users and in `/v1/models`."""
        ...

    async def names(self) -> list[str]:
        """The models that a request may name, as far as they are known; the default model is always one of them."""
        ...

    def separate(self) -> "ChatModel":
        """The same model with connections of its own, for another event loop; close it too."""
        ...

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """The tokens of a request in Anthropic's format, as the model's server counts them; None if it does not. Raises
        `ModelUnavailable`."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        """Yield the reply while it is generated, with an `End` as the last piece. Raises `TooLongForTheModel` before the first
        piece, and `ModelUnavailable`, with a message for users, at any time. Closing the generator stops the model."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...
