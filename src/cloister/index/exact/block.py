"""One pool in memory: its messages as columns, and the evidence that they give for a query.

Every statistic is of this pool alone. A block returns ids and numbers, never content, and reads only the rows it was given.
`evidence` may run on several threads at once: all it writes is a cache of values that do not depend on the query. `append` and
`drop` need exclusive access.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from cloister.domain.recall.question import parse_question
from cloister.domain.recall.ranking import Evidence
from cloister.index.cache import bytes_of
from cloister.index.exact.background import start_in_thread
from cloister.index.exact.columns import Column, Rows, fill_vectors
from cloister.index.exact.copies import Copies
from cloister.index.exact.dates import Dates
from cloister.index.exact.lexical import Lexicon
from cloister.index.exact.speakers import Speakers
from cloister.index.exact.windows import NONE, Windows, preceding_rows, row_products

# The bytes of the objects of a block besides their columns and tables.
_OBJECT_BYTES = 2_000
# The number of rows from which a second thread saves more time than it costs.
_LARGE = 20_000

EmbedQuery = Callable[[str, Callable[[Sequence[str]], Sequence[float]]], npt.NDArray[np.float32]]


class PoolBlock:
    def __init__(self, dimension: int) -> None:
        self._ids = Column(np.int64)
        self._session_ids = Column(np.int64)
        self._vectors = Column(np.float16, dimension)
        self._speakers = Speakers()
        self._dates = Dates()
        self._windows = Windows()
        self._lexicon = Lexicon(self._speakers, self._dates, self._windows)
        self._copies = Copies()
        self._last_rows: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._ids.live)

    @property
    def sessions(self) -> set[int]:
        return set(self._last_rows)

    def last_message(self, session: int) -> int:
        """The id of the last message of a session in the block, or 0."""
        row = self._last_rows.get(session)
        return 0 if row is None else int(self._ids.live[row])

    @property
    def nbytes(self) -> int:
        return _OBJECT_BYTES + bytes_of(self._last_rows) + sum(part.nbytes for part in self._parts)

    @property
    def _parts(
        self,
    ) -> "tuple[Column[np.int64] | Column[np.float16] | Speakers | Dates | Windows | Lexicon | Copies, ...]":
        columns = (self._ids, self._session_ids, self._vectors)
        return (*columns, self._speakers, self._dates, self._windows, self._lexicon, self._copies)

    def reserve(self, count: int) -> None:
        """Allocate for `count` messages in total, so that a block filled in batches is not copied as it grows."""
        for part in self._parts:
            part.reserve(count)

    def append(self, batches: Iterable[Rows]) -> None:
        """Add messages. Those of one session come in the order of their ids, and after those already in the block."""
        previous = [self._add_columns(rows) for rows in batches if len(rows)]
        if not previous:
            return
        link = partial(self._link, previous)
        linked = start_in_thread(link) if sum(map(len, previous)) >= _LARGE else link
        self._lexicon.settle()
        self._copies.settle()
        linked()
        self._lexicon.measure()

    def _link(self, previous: Sequence[npt.NDArray[np.intp]]) -> None:
        """Link new rows with those near them in their session; batch by batch, so that the numbers stay in the CPU cache."""
        end = len(self) - sum(map(len, previous))
        for batch in previous:
            end += len(batch)
            self._windows.extend(batch, self._lexicon.lengths[:end], self._vectors.live[:end])

    def _add_columns(self, rows: Rows) -> npt.NDArray[np.intp]:
        """Add the columns of a batch; returns the preceding row of the same session for each row."""
        begin = len(self)
        self._ids.extend(len(rows))[:] = rows.ids
        self._session_ids.extend(len(rows))[:] = rows.session_ids
        fill_vectors(self._vectors.extend(len(rows)), rows.vectors)
        extra = self._speakers.extend(rows.authors, rows.roles)
        extra += self._dates.extend(np.array(rows.created_at, np.int64))
        previous = preceding_rows(self._last_rows, self._session_ids.live[begin:], begin)
        self._lexicon.extend(rows.terms, extra, self._session_ids.live[begin:])
        self._copies.extend(rows.terms)
        return previous

    def drop(self, session_ids: Iterable[int]) -> None:
        """Remove whole sessions, and every statistic derived from them."""
        gone = [session for session in session_ids if session in self._last_rows]
        if not gone:
            return
        kept = np.flatnonzero(~np.isin(self._session_ids.live, gone))
        new_rows = np.full(len(self), NONE, np.intp)
        new_rows[kept] = np.arange(len(kept))
        for part in (self._ids, self._session_ids, self._vectors, self._speakers, self._dates, self._copies):
            part.keep(kept)
        self._windows.keep(kept, new_rows)
        self._lexicon.keep(kept, new_rows, self._session_ids.live)
        for session in gone:
            del self._last_rows[session]
        self._last_rows = {session: int(new_rows[row]) for session, row in self._last_rows.items()}

    def evidence(self, query: str, embed_query: EmbedQuery, asked_at: int = 0) -> Evidence:
        """The evidence for each message of the pool. The arrays do not change when the block does. `asked_at` matters for relative
        dates only."""
        asked = self._lexicon.ask(query)
        question = parse_question(asked.text, asked_at)
        vector = embed_query(asked.text, asked.weigh).astype(np.float16)
        products = self._products(vector)
        words = self._lexicon.score(asked)
        own = products()
        semantic = self._windows.semantic(own)
        wanted = self._speakers.wanted(asked.words, question.wanted)
        nothing = np.zeros(len(self), np.float32)
        return Evidence(
            size=len(self) - self._copies.surplus,
            ids=self._ids.live,
            session_ids=self._session_ids.live,
            roles=self._speakers.roles,
            lexical=words.lexical,
            semantic=semantic,
            author=nothing if wanted is None else wanted.astype(np.float32),
            date=self._dates.nearness(question) if question.has_dates else nothing,
            session_prior=words.session_prior,
            coverage=words.coverage,
            own_coverage=words.own_coverage,
            own_semantic=own,
            copies=self._copies.groups,
        )

    def _products(self, vector: npt.NDArray[np.float16]) -> Callable[[], npt.NDArray[np.float32]]:
        """The scan of all vectors; in a large pool it runs on another thread while the words are scored."""
        scan = partial(row_products, self._vectors.live, vector)
        return start_in_thread(scan) if len(self) >= _LARGE else scan
