"""Named queries in one transaction of an SQLite connection, bound to a reach."""

# APSW's stubs name a buffer type that Python 3.11 does not have.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import apsw

from cloister.domain.errors import DamagedRow
from cloister.domain.scope import Reach
from cloister.storage.interface import Row, Value, bound_parameters
from cloister.storage.queries import positional


class Statement:
    """A query with numbered parameters, and the function that puts named parameters into that order."""

    __slots__ = ("picked", "text")

    def __init__(self, query: str) -> None:
        self.text, names = positional(query)
        self.picked: Callable[[Mapping[str, Value]], Any] = itemgetter(*names)
        if len(names) == 1:
            self.picked = lambda parameters: (parameters[names[0]],)


class SqliteTransaction:
    __slots__ = ("_bound", "_connection", "_statements", "reach")

    def __init__(self, connection: apsw.Connection, statements: Mapping[str, Statement], reach: Reach) -> None:
        self._connection = connection
        self._statements = statements
        self._bound = bound_parameters(reach)
        self.reach = reach

    def rows(self, query: str, **parameters: Value) -> list[Row]:
        try:
            return self._cursor(query, parameters).fetchall()
        except UnicodeDecodeError as error:
            raise DamagedRow from error

    def row(self, query: str, **parameters: Value) -> Row | None:
        try:
            return next(self._cursor(query, parameters), None)
        except UnicodeDecodeError as error:
            raise DamagedRow from error

    def stream(self, query: str, **parameters: Value) -> Iterator[Row]:
        return self._cursor(query, parameters)

    def execute(self, query: str, **parameters: Value) -> int:
        self._cursor(query, parameters)
        return self._connection.changes()

    def execute_each(self, query: str, parameters: Sequence[dict[str, Value]]) -> None:
        for each in parameters:
            each.update(self._bound)
        statement = self._statements[query]
        self._connection.executemany(statement.text, map(statement.picked, parameters))

    def _cursor(self, query: str, parameters: dict[str, Value]) -> Any:
        parameters.update(self._bound)
        statement = self._statements[query]
        return self._connection.execute(statement.text, statement.picked(parameters))
