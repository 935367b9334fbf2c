"""A large pool in memory: two bits a dimension instead of vectors, and evidence for candidates instead of all messages.

A query is answered in three steps. Words are scored exactly, wherever they occur. Vectors are estimated from the signs of all rows,
then from both bits for the best rows by the estimated score. For the best of these the stored vectors are read, and their evidence
is exact. A pool of moderate size keeps its vectors, and needs no second estimate. Statistics are of all live rows of the pool; a
removed session is only marked, and the rows are compacted later.
All methods need exclusive access. Row 0 is no message (see `chains.py`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from cloister.domain.recall.question import parse_question
from cloister.domain.recall.ranking import Evidence, no_evidence
from cloister.index.cache import bytes_of
from cloister.index.exact.background import start_in_thread
from cloister.index.exact.block import EmbedQuery
from cloister.index.exact.columns import Column, Rows, distinct, fill_vectors
from cloister.index.exact.copies import Copies
from cloister.index.exact.dates import Dates
from cloister.index.exact.large.candidates import Candidates, chunks
from cloister.index.exact.large.chains import NONE, Chains, Floats, Pointers
from cloister.index.exact.large.codes import CodedQuery, Codes
from cloister.index.exact.large.lexicon import LargeLexicon
from cloister.index.exact.speakers import Speakers
from cloister.index.exact.windows import SEMANTIC_REACH, preceding_rows, row_products

FetchVectors = Callable[[Sequence[int]], Mapping[int, bytes]]

# New terms are sorted into a segment of the postings whenever there are so many.
_SETTLED_AT = 6_000_000
# Rows are compacted when so many times the removed rows, or the broken links, exceed the live ones.
_COMPACTED_AT = 4

KEPT_VECTORS = 131_072
"""Up to so many rows the vectors are kept in memory too: reading them would take longer than everything else."""
# So many messages with the same words as candidates are looked at, the newest ones.
_MOST_COPIES = 1_024
# From so many rows on, words are scored while another thread scans the codes.
_THREADED = 65_536


class LargeBlock:
    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._ids = Column(np.int64)
        self._alive = Column(np.bool_)
        self._codes = Codes(dimension)
        self._vectors: Column[np.float16] | None = Column(np.float16, dimension)
        self._speakers = Speakers()
        self._dates = Dates()
        self._chains = Chains()
        self._lexicon = LargeLexicon(self._speakers, self._dates, self._chains)
        self._copies = Copies()
        self._last_rows: dict[int, int] = {}
        self._live = 0
        self._add_row_zero()

    def _add_row_zero(self) -> None:
        self._ids.extend(1)[:] = 0
        self._alive.extend(1)[:] = False
        self._extend_vectors(np.zeros((1, self._dimension), np.float16))
        self._speakers.extend([None], [0])
        self._speakers.remove(np.zeros(1, np.intp))
        self._dates.extend(np.zeros(1, np.int64))
        self._copies.extend([b""])

    def __len__(self) -> int:
        return self._live

    @property
    def sessions(self) -> set[int]:
        return set(self._last_rows)

    def last_message(self, session: int) -> int:
        """The id of the last message of a session in the block, or 0."""
        return int(self._ids.live[self._last_rows.get(session, NONE)])

    @property
    def nbytes(self) -> int:
        return bytes_of(self._last_rows) + sum(part.nbytes for part in self._parts)

    @property
    def _parts(
        self,
    ) -> Sequence[
        Column[np.int64]
        | Column[np.bool_]
        | Column[np.float16]
        | Codes
        | Speakers
        | Dates
        | Chains
        | LargeLexicon
        | Copies
    ]:
        vectors = () if self._vectors is None else (self._vectors,)
        columns = (self._ids, self._alive, self._codes, *vectors, self._speakers, self._dates)
        return (*columns, self._chains, self._lexicon, self._copies)

    def reserve(self, count: int) -> None:
        """Allocate for `count` messages in total, so that a block filled in batches is not copied as it grows."""
        if count > KEPT_VECTORS:
            self._vectors = None
        for part in self._parts:
            part.reserve(count + 1)

    def append(self, batches: Iterable[Rows], fetch: FetchVectors) -> None:
        """Add messages. Those of one session come in the order of their ids, and after those already in the block; `fetch` reads
        the stored vectors of the latter."""
        waiting, last = 0, _Batch(0, np.empty((0, self._dimension), np.float16))
        sorting: Callable[[], None] | None = None
        for rows in batches:
            if not len(rows):
                continue
            last = self._add(rows, last, fetch)
            waiting += sum(map(len, rows.terms)) // 4
            if waiting >= _SETTLED_AT:
                if sorting is not None:
                    sorting()
                sorting, waiting = start_in_thread(self._lexicon.settle), 0
        if sorting is not None:
            sorting()
        self._lexicon.settle()
        self._copies.settle()
        self._compact_if_worthwhile()

    def _add(self, rows: Rows, last: "_Batch", fetch: FetchVectors) -> "_Batch":
        begin = len(self._ids.live)
        session_ids = np.asarray(rows.session_ids, np.int64)
        previous = preceding_rows(self._last_rows, session_ids, begin, NONE).astype(np.int32)
        tails = self._chains.tails(previous[previous < begin])
        vectors = np.zeros((len(tails) + len(rows), self._dimension), np.float16)
        fill_vectors(vectors[len(tails) :], rows.vectors)
        if self._vectors is None:
            last.copy_into(vectors[: len(tails)], tails, self._ids.live[tails], fetch)
        else:
            vectors[: len(tails)] = self._vectors.live[tails]
        self._ids.extend(len(rows))[:] = rows.ids
        self._alive.extend(len(rows))[:] = True
        self._extend_vectors(vectors[len(tails) :])
        extra = self._speakers.extend(rows.authors, rows.roles)
        extra += self._dates.extend(np.array(rows.created_at, np.int64))
        sizes = np.fromiter(map(len, rows.terms), np.int64, len(rows)) // 4
        self._lexicon.extend(rows.terms, sizes, extra, session_ids)
        self._copies.extend(rows.terms)
        changing = self._chains.changed_by(previous, begin)
        self._lexicon.count(changing, -1)
        self._chains.extend(previous, tails, sizes.astype(np.float32), vectors)
        self._lexicon.count(changing)
        self._lexicon.count(slice(begin, None))
        self._live += len(rows)
        return _Batch(begin, vectors[len(tails) :])

    def _extend_vectors(self, vectors: npt.NDArray[np.float16]) -> None:
        self._codes.extend(vectors)
        if self._vectors is not None:
            self._vectors.extend(len(vectors))[:] = vectors
            if len(self._vectors.live) > KEPT_VECTORS:
                self._vectors = None

    def drop(self, session_ids: Iterable[int]) -> None:
        """Remove whole sessions from every statistic. Their rows are marked, and compacted when they are many."""
        gone = [session for session in session_ids if session in self._last_rows]
        if not gone:
            return
        slots = np.array([self._lexicon.slot_of(session) for session in gone], np.int32)
        rows = np.flatnonzero(np.isin(self._lexicon.slots, slots) & self._alive.live)
        self._alive.live[rows] = False
        self._speakers.remove(rows)
        self._copies.remove(rows)
        self._lexicon.remove(rows, gone)
        self._live -= len(rows)
        for session in gone:
            del self._last_rows[session]
        self._compact_if_worthwhile()

    def _compact_if_worthwhile(self) -> None:
        removed = len(self._ids.live) - 1 - self._live
        if max(removed, self._chains.broken) * _COMPACTED_AT > self._live:
            self._compact()

    def _compact(self) -> None:
        """Renumber the live rows by session and order, which also makes sessions adjacent again."""
        live = np.flatnonzero(self._alive.live)
        kept = live[np.argsort(self._ids.live[live], kind="stable")]
        new_rows = np.full(len(self._ids.live), -1, np.int32)
        new_rows[kept] = np.arange(1, len(kept) + 1, dtype=np.int32)
        new_rows[NONE] = NONE
        kept = np.concatenate(([NONE], kept))
        for part in (self._ids, self._alive, self._codes, self._speakers, self._dates, self._copies):
            part.keep(kept)
        if self._vectors is not None:
            self._vectors.keep(kept)
        self._chains.keep(kept, new_rows)
        self._lexicon.keep(kept, new_rows)
        self._last_rows = {session: int(new_rows[row]) for session, row in self._last_rows.items()}

    def evidence(
        self,
        query: str,
        embed_query: EmbedQuery,
        fetch: FetchVectors,
        depth: int,
        session: int | None = None,
        asked_at: int = 0,
        allowed: npt.NDArray[np.int64] | None = None,
    ) -> Evidence:
        """The evidence for the best messages of each role and of a session, with the bounds of the whole pool; with `allowed`, for
        the best of these ids, and some others. `asked_at` matters for relative dates only."""
        if not self._live:
            return no_evidence()
        removed = len(self._ids.live) - 1 - self._live
        asked = self._lexicon.ask(query, self._alive.live if removed else None)
        question = parse_question(asked.text, asked_at)
        vector = embed_query(asked.text, asked.weigh)
        coded = CodedQuery(vector)
        semantic = np.empty(len(self._ids.live), np.float32)
        # Two threads take parts from one list iterator, which is atomic: this one after it has scored the words.
        scan = partial(self._scan, coded, iter(list(chunks(len(semantic)))), semantic)
        scanned = start_in_thread(scan) if self._live >= _THREADED else scan
        candidates = Candidates(
            size=self._live - self._copies.surplus,
            ids=self._ids.live,
            alive=self._alive.live,
            roles=self._speakers.roles if allowed is None else self._roles_of(allowed),
            slots=self._lexicon.slots,
            words=self._lexicon.score(asked),
            author=self._speakers.wanted(asked.words, question.wanted),
            date=self._dates.nearness(question) if question.has_dates else None,
            session=None if session is None else self._lexicon.slot_of(session),
        )
        scan()
        scanned()
        self._mend(coded, semantic)
        selected, extremes = candidates.select(semantic, depth, narrowed=self._vectors is None)
        rows = distinct(selected, extremes)
        if self._vectors is None:
            _, estimated = self._scores_of(rows, partial(self._codes.fine_products, coded))
            rows = candidates.narrow(rows, extremes, estimated, depth, self._codes.doubt)
        rows = self._with_copies(rows)
        own, exact = self._scores_of(rows, partial(self._stored_products, vector.astype(np.float16), fetch))
        bounds = (float(exact.min()), float(exact.max()))
        return candidates.exact_evidence(rows, exact, own, bounds, self._copies.groups_of(rows))

    def _with_copies(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """These rows, and others that have the same words as one of them: they are shown as one message."""
        groups = self._copies.groups_of(rows)
        if groups.max() < 0:
            return rows
        return distinct(rows, self._copies.rows_of(groups, _MOST_COPIES))

    def _roles_of(self, allowed: npt.NDArray[np.int64]) -> npt.NDArray[np.int8]:
        """The roles of these messages; all others have none, so that they are not selected."""
        return np.where(np.isin(self._ids.live, allowed), self._speakers.roles, np.int8(-1))

    def _scan(self, query: CodedQuery, parts: Iterator[tuple[int, int]], into: Floats) -> None:
        """Estimate the scores of the windows of the parts that are left."""
        for begin, end in parts:
            first = max(begin - SEMANTIC_REACH, 0)
            products = self._codes.coarse_products(query, slice(first, end + SEMANTIC_REACH))
            into[begin:end] = self._chains.windowed(products, begin, end, first)

    def _mend(self, query: CodedQuery, scores: Floats) -> None:
        """Estimate the scores of windows that extend across rows which are not adjacent."""
        ragged = self._chains.ragged_rows()
        if len(ragged):
            _, scores[ragged] = self._scores_of(ragged, partial(self._codes.coarse_products, query))

    def _scores_of(
        self, rows: npt.NDArray[np.intp], products_of: Callable[[npt.NDArray[np.intp]], Floats]
    ) -> tuple[Floats, Floats]:
        """The scores of some rows, and of their windows, given how to get the products of rows."""
        window_rows = self._chains.window_rows(rows)
        wanted = np.concatenate(window_rows)
        is_needed = np.zeros(len(self._ids.live), np.bool_)
        is_needed[wanted] = True
        is_needed[NONE] = False
        needed = np.flatnonzero(is_needed)
        # Only the cells of needed rows are read; that of no row is the first, which is zero.
        at = np.empty(len(is_needed), np.int32)
        at[needed] = np.arange(1, len(needed) + 1, dtype=np.int32)
        at[NONE] = 0
        products = np.zeros(len(needed) + 1, np.float32)
        products[1:] = products_of(needed)
        of_windows = products.take(at.take(wanted)).reshape(len(window_rows), len(rows))
        return of_windows[0], self._chains.scores(window_rows, of_windows)

    def _stored_products(
        self, vector: npt.NDArray[np.float16], fetch: FetchVectors, rows: npt.NDArray[np.intp]
    ) -> Floats:
        if self._vectors is not None:
            return row_products(self._vectors.live.take(rows, axis=0), vector)
        return row_products(_fetched(self._ids.live[rows], self._dimension, fetch), vector)


class _Batch:
    """The vectors of the rows added last, from row `begin` on."""

    def __init__(self, begin: int, vectors: npt.NDArray[np.float16]) -> None:
        self._begin = begin
        self._vectors = vectors

    def copy_into(
        self, vectors: npt.NDArray[np.float16], rows: Pointers, ids: npt.NDArray[np.int64], fetch: FetchVectors
    ) -> None:
        """The vectors of rows: from this batch where they are in it, else from storage."""
        here = (rows >= self._begin) & (self._begin != NONE)
        vectors[here] = self._vectors[rows[here] - self._begin]
        if not here.all():
            vectors[~here] = _fetched(ids[~here], vectors.shape[1], fetch)


def _fetched(ids: npt.NDArray[np.int64], dimension: int, fetch: FetchVectors) -> npt.NDArray[np.float16]:
    """The stored vectors of messages; zeros for a message without one."""
    wanted: list[int] = ids.tolist()
    found = fetch(wanted)
    if len(found) == len(wanted):
        return np.frombuffer(b"".join(map(found.__getitem__, wanted)), "<f2").reshape(-1, dimension)
    vectors = np.zeros((len(wanted), dimension), np.float16)
    fill_vectors(vectors, [found.get(id) for id in wanted])
    return vectors
