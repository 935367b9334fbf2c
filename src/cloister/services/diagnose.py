"""Diagnose: what is stored, whether it is whole, and whether recall keeps up with it. Counts only, never what was said."""

from dataclasses import dataclass
from typing import cast

from cloister.services.index_queue import IndexQueue
from cloister.services.reindex import Reindexer
from cloister.storage.interface import Database


@dataclass(frozen=True, kw_only=True, slots=True)
class Health:
    """`waiting` messages are in no index yet; `stale` ones were indexed by another embedder or tokeniser."""

    engine: str
    embedder: str
    schema_version: int
    problems: tuple[str, ...]
    tenants: int
    projects: int
    sessions: int
    messages: int
    waiting: int
    stale: int


class Diagnoser:
    """Looks, and changes nothing."""

    def __init__(self, database: Database, queue: IndexQueue, reindexer: Reindexer, *, embedder: str) -> None:
        self._database = database
        self._queue = queue
        self._reindexer = reindexer
        self._embedder = embedder

    def schema_version(self) -> int:
        return self._database.maintenance.schema_version()

    def health(self) -> Health:
        """Reads every page of the database to find damage: seconds for a large one."""
        maintenance = self._database.maintenance
        tenants, projects, sessions, messages = cast(tuple[int, int, int, int], maintenance.rows("totals")[0])
        return Health(
            engine=cast(str, maintenance.rows("engine")[0][0]),
            embedder=self._embedder,
            schema_version=self.schema_version(),
            problems=tuple(maintenance.check()),
            tenants=tenants,
            projects=projects,
            sessions=sessions,
            messages=messages,
            waiting=self._queue.waiting(),
            stale=self._reindexer.stale_messages(),
        )
