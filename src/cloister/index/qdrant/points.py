"""Encode messages and entities as points of Qdrant (ISO-8), with the same formulas as the exact index. Pure, without the client.

The contribution of adjacent messages is computed when a point is put, not at each question: a point has to be put again when the
messages around it change.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import numpy.typing as npt

from cloister.domain.conversation import ROLES
from cloister.domain.recall.passage import date_phrase, speaker_name
from cloister.index import terms
from cloister.index.bm25 import dampers, saturated
from cloister.index.exact.columns import fill_vectors
from cloister.index.exact.windows import Windows
from cloister.index.interface import WINDOW_REACH, EntityPoint, Point

LAYOUT = 2
"""Raise it when the same message would give another point."""

TENANT = "tenantId"
SESSION = "sessionId"
CREATED_AT = "createdAt"
ROLE = "role"
AUTHOR = "author"
TENANT_KEY = "tenantKey"
PROJECT = "projectId"
USER_PART = "userPart"
NAME = "name"
TYPE = "type"
NOTES = "notes"

WINDOW = "window"
WINDOW_WORDS = "window_words"
OWN_WORDS = "own_words"

# BM25 needs the average length of a window in the pool, which is not known when a point is put: 30 words in chats between people
# (LoCoMo), 130 with long answers of assistants (LongMemEval). Measured recall is the same from 60 to 130 on both.
AVERAGE_LENGTH = 90.0

_CHUNK = 128
_DIGITS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Sparse:
    """A sparse vector: weights of distinct terms."""

    terms: list[int]
    weights: list[float]


@dataclass(frozen=True, kw_only=True, slots=True)
class EncodedPoint:
    """A point before it is given to the client. `own` has the terms of the message, its author and its date, each of weight 1;
    `window` has their BM25 weights in the window of the message; `vector` is that of the window, of unit length."""

    id: str
    vector: list[float]
    own: Sparse
    window: Sparse
    payload: dict[str, int | str | list[int]]


def episode_points(run: Sequence[Point], first: int, last: int, dimension: int) -> Iterator[EncodedPoint]:
    """Encode the points of a run from the message id `first` to `last`."""
    start = sum(point.message < first for point in run)
    stop = sum(point.message <= last for point in run)
    for begin in range(start, stop, _CHUNK):
        end = min(begin + _CHUNK, stop)
        lead = min(begin, WINDOW_REACH)
        part = run[begin - lead : end + WINDOW_REACH]
        yield from _points(part, dimension)[lead : lead + end - begin]


def entity_points(entities: Sequence[EntityPoint], dimension: int) -> Iterator[EncodedPoint]:
    """Encode entities, each like a session of one message; the payload has its words too, as ISO-8 requires."""
    for entity in entities:
        alone = Point(
            message=entity.entity,
            tenant=entity.tenant,
            session=entity.entity,
            role=ROLES[0],
            author=None,
            created_at=entity.created_at,
            vector=entity.vector,
            terms=entity.terms,
        )
        (encoded,) = _points([alone], dimension)
        yield replace(encoded, payload=_entity_payload(entity))


def point_id(tenant: int, row: int) -> str:
    """The id of a tenant's message or entity among the points of all tenants, as the text of a UUID."""
    return str(UUID(int=tenant << 64 | row))


def row_id(point: str) -> int:
    """The id of the message or entity in that of its point."""
    return UUID(point).int & (1 << 64) - 1


def user_part(user: str | None) -> int:
    """The user's part of a private project as an integer, 0 without a user. Filters compare integers only (ISO-1)."""
    if user is None:
        return 0
    return int.from_bytes(hashlib.sha256(user.encode()).digest()[:8], "big") >> 1 | 1


def _points(run: Sequence[Point], dimension: int) -> list[EncodedPoint]:
    stored = [np.frombuffer(point.terms, "<u4") for point in run]
    derived = [_derived_terms(point) for point in run]
    vectors = np.empty((len(run), dimension), np.float16)
    fill_vectors(vectors, [point.vector for point in run])
    lengths = np.array([len(own) for own in stored], np.float32)
    windows = Windows()
    windows.extend(np.arange(-1, len(run) - 1, dtype=np.intp), lengths, vectors)
    semantic = np.stack([windows.semantic(column) for column in vectors.T.astype(np.float32)], axis=1)
    vocabulary = np.unique(np.concatenate([*stored, *(np.array(extra, np.uint32) for extra in derived)]))
    counts = _window_counts(windows, vocabulary, stored, derived)
    whole = lengths + windows.borrowed_lengths + np.array([len(extra) for extra in derived], np.float32)
    weights = saturated(counts, dampers(whole, AVERAGE_LENGTH), np.ones(len(vocabulary), np.float32))
    return [
        EncodedPoint(
            id=point_id(point.tenant, point.message),
            vector=_rounded(semantic[row]),
            own=_own(stored[row], derived[row]),
            window=_sparse(vocabulary, weights[:, row]),
            payload=_payload(point),
        )
        for row, point in enumerate(run)
    ]


def _window_counts(
    windows: Windows,
    vocabulary: npt.NDArray[np.uint32],
    stored: Sequence[npt.NDArray[np.uint32]],
    derived: Sequence[list[int]],
) -> npt.NDArray[np.float32]:
    """How often each term occurs in each message's window; one row per term."""
    width = len(stored) + 1
    rows = np.repeat(np.arange(len(stored)), [len(own) for own in stored])
    cells = np.searchsorted(vocabulary, np.concatenate(stored)) * width + rows
    distinct, occurrences = np.unique(cells, return_counts=True)
    grid = np.zeros(len(vocabulary) * width, np.float32)
    row = (distinct % width).astype(np.intp)
    windows.spread(grid, distinct.astype(np.intp) - row, row, occurrences.astype(np.float32))
    grid = grid.reshape(len(vocabulary), width)
    for row, extra in enumerate(derived):
        grid[np.searchsorted(vocabulary, np.unique(np.array(extra, np.uint32))), row] += 1
    return grid[:, :-1]


def _derived_terms(point: Point) -> list[int]:
    """The terms of the author's name and of the date, by which a message is found too."""
    return [*author_terms(point.author), *terms.term_list(date_phrase(point.created_at))]


def author_terms(author: str | None) -> list[int]:
    return [term for word in terms.name_words(speaker_name(author) or "") if (term := terms.term(word))]


def _own(stored: npt.NDArray[np.uint32], derived: Sequence[int]) -> Sparse:
    distinct = sorted({*stored.tolist(), *derived})
    return Sparse(terms=distinct, weights=[1.0] * len(distinct))


def _sparse(vocabulary: npt.NDArray[np.uint32], weights: npt.NDArray[np.float32]) -> Sparse:
    stored = np.flatnonzero(weights)
    return Sparse(terms=vocabulary[stored].tolist(), weights=_rounded(weights[stored]))


def _rounded(values: npt.NDArray[np.float32]) -> list[float]:
    return np.round(values.astype(np.float64), _DIGITS).tolist()


def _entity_payload(entity: EntityPoint) -> dict[str, int | str | list[int]]:
    return {
        TENANT: entity.tenant,
        PROJECT: entity.project,
        USER_PART: user_part(entity.user),
        CREATED_AT: entity.created_at // 1_000_000,
        NAME: entity.name,
        TYPE: entity.type,
        NOTES: entity.notes,
        TENANT_KEY: f"{entity.tenant:x}",
    }


def _payload(point: Point) -> dict[str, int | str | list[int]]:
    """`tenantKey` repeats the tenant as a keyword, because Qdrant groups a tenant's points on disk only by a keyword."""
    return {
        TENANT: point.tenant,
        SESSION: point.session,
        CREATED_AT: point.created_at // 1_000_000,
        ROLE: ROLES.index(point.role),
        AUTHOR: author_terms(point.author),
        TENANT_KEY: f"{point.tenant:x}",
    }
