"""What SQLite reads to answer: no query of a tenant scans a table, and the hot ones do not walk through all rows of their tenant.

SQLite keeps no statistics here, and then takes ten rows for the whole of a tenant: where an index on the tenant alone gives the
order that is asked for, it prefers that one. The plans are read, so the number of rows plays no part.
"""

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from cloister.storage.queries import load_queries, split_queries
from cloister.storage.sqlite.connections import connect
from support.databases.engines import TABLES, sqlite_engine
from support.samples.hot_queries import HOT_QUERIES

QUERIES, _ = split_queries(load_queries(postgres=False))
# Pages in the order of an index, which end at their limit; and rows of which a tenant has few.
IN_ORDER = {"listed_memories", "timeline_rows", "user_memories"}
# A memory that took the place of another is looked for in the sessions that a reader may list.
OF_SESSIONS = {"timeline_replaced"}
_SOURCE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+(\w+)(?:\s+AS\s+(\w+))?")
_STEP = re.compile(r"(SCAN|SEARCH) (\w+)(.*)")


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    directory = tmp_path_factory.mktemp("plans") / "data"
    sqlite_engine(directory).open().close()
    (file,) = Path(directory).glob("*.db")
    opened: Any = connect(file, create=False)
    yield opened
    opened.close()


def steps(connection: Any, query: str) -> Iterator[tuple[str, str, str]]:
    """How each table of a tenant is read: by SCAN or SEARCH, its name, and with which index."""
    text = QUERIES[query]
    names = {alias or table: table for table, alias in _SOURCE.findall(text) if table in TABLES}
    unbound = dict.fromkeys(re.findall(r":(\w+)", text))
    for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", unbound):
        step = _STEP.match(str(row[-1]))
        if step is not None and step[2] in names:
            yield step[1], names[step[2]], step[3]


def test_other_values_do_not_change_the_plan(connection: Any) -> None:
    """Else a statement would be prepared anew for every value that is bound."""
    assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1


@pytest.mark.parametrize("query", sorted(QUERIES))
def test_no_query_of_a_tenant_scans_a_table(connection: Any, query: str) -> None:
    assert [step for step in steps(connection, query) if step[0] == "SCAN"] == []


@pytest.mark.parametrize("query", sorted({*HOT_QUERIES} - IN_ORDER - OF_SESSIONS))
def test_a_hot_query_does_not_read_all_rows_of_its_tenant(connection: Any, query: str) -> None:
    """But to look whether there is any at all."""
    everything = [step for step in steps(connection, query) if "(tenant_id=?)" in step[2] and "EXISTS" not in step[2]]
    assert everything == []
