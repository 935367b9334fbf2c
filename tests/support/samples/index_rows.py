"""Messages as an index reads them from storage, made up: with vectors by their ids, and words of a small vocabulary."""

import random
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from cloister.domain.conversation import ROLES
from cloister.domain.recall.ranking import Evidence
from cloister.index import terms
from cloister.index.exact.columns import Rows

DIMENSION = 16
DAY = 86_400_000_000
MAY_8_2023 = 19_485 * DAY
StoredRow = tuple[int, int, int, str | None, int, bytes | None, bytes]
WORDS = ["garden", "violin", "mountain", "recipe", "doctor", "puppy", "sunrise", "painting", "lantern", "train"]


def embed_query(text: str, weigh: object) -> npt.NDArray[np.float32]:
    vector = np.random.default_rng(len(text)).normal(size=DIMENSION).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def message(
    session: int,
    sequence: int,
    text: str,
    author: str | None = None,
    *,
    role: str = "user",
    created_at: int = MAY_8_2023,
    embedded: bool = True,
) -> StoredRow:
    number = session << 21 | sequence
    vector = np.random.default_rng(number).normal(size=DIMENSION)
    stored = (vector / np.linalg.norm(vector)).astype(np.float16).tobytes() if embedded else None
    return number, session, ROLES.index(role), author, created_at, stored, terms.encode(text)


def rows_of(stored: Sequence[StoredRow]) -> Rows:
    ids, session_ids, roles, authors, created_at, vectors, texts = list(zip(*stored, strict=True)) or [()] * 7
    return Rows(
        ids=ids,
        session_ids=session_ids,
        roles=roles,
        authors=authors,
        created_at=created_at,
        vectors=vectors,
        terms=texts,
    )


def ids_by(evidence: Evidence, column: npt.NDArray[np.float32]) -> dict[int, float]:
    return dict(zip(evidence.ids.tolist(), cast(list[float], column.tolist()), strict=True))


def conversation(session: int, count: int, seed: int) -> list[StoredRow]:
    rng = random.Random(seed)
    return [
        message(
            session,
            at,
            " ".join(rng.choices(WORDS, k=rng.choice([0, 3, 8, 30]))),
            rng.choice(["Ana", "Bo"]),
            embedded=rng.random() > 0.1,
        )
        for at in range(count)
    ]


def vectors_of(stored: Sequence[StoredRow], ids: Sequence[int]) -> Mapping[int, bytes]:
    """The stored vectors of these ids."""
    known = {row[0]: row[5] for row in stored}
    return {id: vector for id in ids if (vector := known.get(id))}
