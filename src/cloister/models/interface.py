"""What models are to the rest of Cloister. No model is named here."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cloister.domain.extraction import ExtractedEntity, ExtractedMemory, Statement
from cloister.domain.identifiers import MessageId
from cloister.domain.recall.passage import Passage
from cloister.domain.reply import ChatRequest, Piece

Weigh = Callable[[Sequence[str]], Sequence[float]]


class Embedding(NamedTuple):
    """A passage's vector as stored (little-endian float16, unit length) and the tokens of its content."""

    vector: bytes
    tokens: int


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Fingerprint of model and version; vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def immediate(self) -> bool:
        """Whether it is fast enough to run inside a write."""
        ...

    def embed(self, passages: Sequence[Passage]) -> list[Embedding]: ...

    def embed_query(self, text: str, weigh: Weigh) -> npt.NDArray[np.float32]:
        """The query's vector, unit length or zero. `weigh` says how telling words are in the pool asked."""
        ...


class Extractor(Protocol):
    """The hidden memory assistant (MEM-5), a model or the rules. It raises `ModelUnavailable` when it cannot do its work."""

    @property
    def name(self) -> str: ...

    def memories(
        self, said: Sequence[Statement], known: Sequence[str], of_user: Sequence[str] = ()
    ) -> list[ExtractedMemory]:
        """What is worth keeping of what users state here, and is not `known` in this session. `of_user` is what is remembered of
        the user's other sessions: it helps to understand, and is kept here too where a user states it here (MEM-11)."""
        ...

    def entities(self, said: Sequence[Statement]) -> list[ExtractedEntity]:
        """The named things that these statements say something of."""
        ...

    def notes(self, said: Sequence[Statement]) -> list[tuple[str, tuple[MessageId, ...]]]:
        """A stretch of conversation, compressed into a few lines, each with the messages it came from."""
        ...

    def close(self) -> None:
        """Let go of what it holds open."""
        ...


class ChatModel(Protocol):
    """Whoever answers in a conversation. Used on one event loop."""

    @property
    def name(self) -> str:
        """What it goes by, for people and for `/v1/models`."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[Piece]:
        """The reply as it comes, with an `End` as its last piece. Raises `ModelUnavailable`, with a sentence for people, before the
        first piece or between two, and `TooLongForTheModel` before the first. Closing it stops the model."""
        ...

    async def close(self) -> None:
        """Let go of what it holds open."""
        ...
