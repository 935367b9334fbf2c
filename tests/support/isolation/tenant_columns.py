"""Reads a query and says which tenants' rows it could touch without naming the tenant (design, section 3.7).

A table is bound when a condition that every row must meet says `tenant_id = :tenant_id` of it, or makes its `tenant_id` equal
to that of a bound table. Conditions under OR or NOT, and those of outer joins, bind nothing. What is not understood is a gap.
"""

from collections.abc import Iterator, Set
from typing import cast

from sqlglot import exp, parse
from sqlglot.errors import ParseError

TENANT = "tenant_id"


class Walls:
    """The tables of a schema: those that belong to tenants, and functions or tables that belong to nobody."""

    def __init__(self, *, tenants: Set[str], nobodys: Set[str]) -> None:
        self._tenants = tenants
        self._nobodys = nobodys

    def gaps(self, text: str, dialect: str) -> list[str]:
        """What is wrong with a query, one sentence each; none where every tenant's table in it is bound."""
        try:
            statements = parse(text, dialect=dialect)
        except ParseError as error:
            return [f"cannot be parsed: {error}"]
        if len(statements) != 1 or statements[0] is None:
            return ["is not exactly one statement"]
        return _Reading(self._tenants, self._nobodys).read(statements[0])


class _Reading:
    def __init__(self, tenants: Set[str], nobodys: Set[str]) -> None:
        self._tenants = tenants
        self._nobodys = nobodys
        self._found: list[str] = []
        self._seen: set[int] = set()

    def read(self, statement: exp.Expr) -> list[str]:
        self._any(statement, frozenset())
        for table in statement.find_all(exp.Table):
            if id(table) not in self._seen:
                self._found.append(f"{table.sql()} stands where this checker does not look")
        return self._found

    def _any(self, node: exp.Expr, outer: frozenset[str]) -> None:
        match node:
            case exp.Subquery():
                self._any(node.this, outer)
            case exp.SetOperation():
                self._ctes(node, outer)
                self._any(node.left, outer)
                self._any(node.right, outer)
            case exp.Select():
                self._select(node, outer)
            case exp.Update():
                self._update(node, outer)
            case exp.Delete():
                self._delete(node, outer)
            case exp.Insert():
                self._insert(node, outer)
            case _:
                self._found.append(f"a {type(node).__name__} is not understood")

    def _select(self, node: exp.Select, outer: frozenset[str]) -> None:
        ctes = self._ctes(node, outer)
        sources = [node.args[key].this for key in ("from_", "from") if node.args.get(key)]
        conditions = list(_conjuncts(node.args.get("where")))
        for join in _list(node, "joins"):
            sources.append(join.this)
            conditions += self._join(join)
        sources += _list(node, "laterals")
        self._bind(node, sources, conditions, outer, ctes)

    def _update(self, node: exp.Update, outer: frozenset[str]) -> None:
        ctes = self._ctes(node, outer)
        for assignment in node.expressions:
            column = assignment.this
            if isinstance(column, exp.Column) and column.name == TENANT:
                self._found.append("an update sets tenant_id")
        sources = [node.this, *(node.args[key].this for key in ("from_", "from") if node.args.get(key))]
        self._bind(node, sources, list(_conjuncts(node.args.get("where"))), outer, ctes)

    def _delete(self, node: exp.Delete, outer: frozenset[str]) -> None:
        ctes = self._ctes(node, outer)
        if node.args.get("using"):
            self._found.append("DELETE … USING is not understood")
        self._bind(node, [node.this], list(_conjuncts(node.args.get("where"))), outer, ctes)

    def _insert(self, node: exp.Insert, outer: frozenset[str]) -> None:
        self._ctes(node, outer)
        schema, given = node.this, node.expression
        table = schema.this if isinstance(schema, exp.Schema) else schema
        self._seen.add(id(table))
        conflict = node.args.get("conflict")
        if conflict is not None and conflict.expressions:
            self._found.append("ON CONFLICT DO UPDATE may change a row that was not looked at")
        if isinstance(given, exp.Select):
            self._select(given, outer)
        if table.name not in self._tenants:
            self._unknown(table)
            return
        columns = [column.name for column in schema.expressions] if isinstance(schema, exp.Schema) else []
        if TENANT not in columns:
            self._found.append(f"an insert into {table.name} names no tenant_id")
            return
        place = columns.index(TENANT)
        if isinstance(given, exp.Values):
            rows = [list(row.expressions) for row in given.expressions]
        elif isinstance(given, exp.Select):
            rows = [list(given.expressions)]
        else:
            rows = []
        if not rows or not all(len(row) > place and _is_parameter(row[place]) for row in rows):
            self._found.append(f"an insert into {table.name} does not take tenant_id from :tenant_id")

    def _join(self, join: exp.Expr) -> list[exp.Expr]:
        assert isinstance(join, exp.Join)
        if join.side or join.kind.upper() not in ("", "INNER", "CROSS") or join.args.get("using"):
            self._found.append(f"a {join.side or join.kind or 'USING'} join is not understood")
            return []
        return list(_conjuncts(join.args.get("on")))

    def _ctes(self, node: exp.Expr, outer: frozenset[str]) -> frozenset[str]:
        """Each is read by itself; its name then stands for rows that are already bound."""
        names: set[str] = set()
        for clause in (node.args.get("with_"), node.args.get("with")):
            for cte in _list(clause, "expressions") if isinstance(clause, exp.Expr) else []:
                self._any(cte.this, outer)
                names.add(cte.alias)
        return frozenset(names)

    def _bind(
        self,
        node: exp.Expr,
        sources: list[exp.Expr],
        conditions: list[exp.Expr],
        outer: frozenset[str],
        ctes: frozenset[str],
    ) -> None:
        tenants: set[str] = set()
        derived: list[exp.Expr] = []
        outer = outer - {source.alias_or_name for source in sources}
        for source in sources:
            if not isinstance(source, exp.Table) or isinstance(source.this, exp.Func):
                derived.append(source)
                continue
            self._seen.add(id(source))
            if source.name in self._tenants and source.name not in ctes:
                tenants.add(source.alias_or_name)
            elif source.name not in ctes:
                self._unknown(source)
        bound = _closure(conditions, outer, only=next(iter(tenants)) if len(sources) == 1 and tenants else None)
        self._found += [f"{alias} is not bound to :tenant_id" for alias in sorted(tenants - bound)]
        inner = frozenset(bound)
        for source in derived:
            self._source(source, inner)
        for query in _queries_inside(node, skip=derived):
            self._any(query, inner)

    def _source(self, source: exp.Expr, bound: frozenset[str]) -> None:
        match source:
            case exp.Subquery():
                self._any(source.this, bound)
            case exp.Lateral():
                self._source(source.this, bound)
            case exp.Table() if isinstance(source.this, exp.Func):
                self._seen.add(id(source))
                if source.this.name.lower() not in self._nobodys:
                    self._found.append(f"the table function {source.this.name} is unknown")
            case _:
                self._found.append(f"a {type(source).__name__} is not understood as a source")

    def _unknown(self, table: exp.Table) -> None:
        if table.name not in self._nobodys:
            self._found.append(f"{table.name} is no table of the schema")


def _list(node: exp.Expr, key: str) -> list[exp.Expr]:
    return cast(list[exp.Expr], node.args.get(key) or [])


def _conjuncts(clause: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that must all hold."""
    match clause:
        case None:
            return
        case exp.Where() | exp.Paren():
            yield from _conjuncts(clause.this)
        case exp.And():
            yield from _conjuncts(clause.left)
            yield from _conjuncts(clause.right)
        case _:
            yield clause


def _closure(conditions: list[exp.Expr], outer: frozenset[str], only: str | None) -> set[str]:
    """The aliases whose tenant is :tenant_id, directly or by way of others. A bare column is of the only table there is."""
    bound = set(outer)
    equal: list[tuple[str, str]] = []
    for condition in conditions:
        if not isinstance(condition, exp.EQ):
            continue
        sides = [condition.left, condition.right]
        owners = [_tenant_column(side, only) for side in sides]
        if owners[0] and owners[1]:
            equal.append((owners[0], owners[1]))
        elif owners[0] and _is_parameter(sides[1]):
            bound.add(owners[0])
        elif owners[1] and _is_parameter(sides[0]):
            bound.add(owners[1])
    growing = True
    while growing:
        before = len(bound)
        for one, other in equal:
            if one in bound or other in bound:
                bound |= {one, other}
        growing = len(bound) > before
    return bound


def _tenant_column(node: exp.Expr, only: str | None) -> str | None:
    if not isinstance(node, exp.Column) or node.name != TENANT:
        return None
    return node.table or only


def _is_parameter(node: exp.Expr) -> bool:
    return isinstance(node, exp.Placeholder) and node.name == TENANT


def _queries_inside(node: exp.Expr, skip: list[exp.Expr]) -> Iterator[exp.Expr]:
    """The outermost queries nested in expressions of this one: in IN, EXISTS, a value, a projection."""
    skipped = {id(source) for source in skip}
    for key, value in node.args.items():
        if key in ("with", "with_"):
            continue
        for child in _list(node, key) if isinstance(value, list) else [cast(object, value)]:
            if isinstance(child, exp.Expr):
                yield from _outermost(child, skipped)


def _outermost(node: exp.Expr, skipped: set[int]) -> Iterator[exp.Expr]:
    if id(node) in skipped:
        return
    if isinstance(node, exp.Select | exp.SetOperation):
        yield node
        return
    for child in node.iter_expressions():
        yield from _outermost(child, skipped)
