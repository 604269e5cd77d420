"""Writing what one table needs in terms of what another table has.

A `Reader` stands before one stored table (or the base) and answers, for any base expression:
can it be had from here, how is it written, and which dimensions must be joined? Three ways lead to
a base column, tried in this order:

1. it is stored as a group-by column;
2. its dimension can be joined along a foreign key whose columns can be had;
3. a hierarchy of its dimension determines it from a column that is stored: the dimension, reduced
   to the distinct pairs, is joined by that column.

An expression that is not stored itself is put together from its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cubekeeper.derive.dependencies import hierarchy_steps_at, row_identity
from cubekeeper.lattice.model import Join, Node
from cubekeeper.scalar.nodes import (
    ColumnRef,
    Expr,
    Literal,
    Path,
    StoredRef,
    children,
    column_refs,
    rewrite,
)
from cubekeeper.warehouse.model import Warehouse


@dataclass(frozen=True, slots=True)
class Step:
    """A dimension joined on the way: along its foreign key, or (`by`) by a column of its own."""

    path: Path
    by: ColumnRef | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """An expression as written over a table, and the joins it needs."""

    expr: Expr
    steps: frozenset[Step]


class Reader:
    """What can be read from one stored table, remembered as it is asked for."""

    def __init__(
        self, warehouse: Warehouse, fact: str, node: Node | None, finer: FinerColumns
    ) -> None:
        self._warehouse = warehouse
        self._fact = fact
        self._finer = finer
        self._known: dict[Expr, Way | None] = {}
        if node is not None:
            for key in node.keys:
                ref = StoredRef(key.name, key.expr.type, key.expr.nullable)
                self._known[key.expr] = Way(ref, frozenset())
        self._is_base = node is None

    def read(self, expr: Expr) -> Way | None:
        """The way to an expression, or None if it cannot be had from here."""
        if expr not in self._known:
            self._known[expr] = None  # a dependency on itself is no way
            self._known[expr] = self._find(expr)
        return self._known[expr]

    def _find(self, expr: Expr) -> Way | None:
        match expr:
            case Literal():
                return Way(expr, frozenset())
            case ColumnRef(path=()):
                return Way(expr, frozenset()) if self._is_base else None
            case ColumnRef():
                return self._along_foreign_key(expr) or self._by_hierarchy(expr)
            case StoredRef():
                return None
            case _:
                return self._compose(expr)

    def _compose(self, expr: Expr) -> Way | None:
        written: dict[Expr, Expr] = {}
        steps: frozenset[Step] = frozenset()
        for part in children(expr):
            way = self.read(part)
            if way is None:
                return None
            written[part] = way.expr
            steps |= way.steps
        composed = rewrite(expr, lambda node: None if node is expr else written.get(node))
        return Way(composed, steps)

    def _along_foreign_key(self, column: ColumnRef) -> Way | None:
        steps = frozenset((Step(column.path),))
        for referring in row_identity(self._warehouse, self._fact, column.path):
            way = self.read(referring)
            if way is None:
                return None
            steps |= way.steps
        return Way(column, steps)

    def _by_hierarchy(self, column: ColumnRef) -> Way | None:
        for finer in self._finer.get(column, ()):
            way = self._known.get(finer)
            if way is not None and not way.steps:
                return Way(column, frozenset((Step(column.path, finer),)))
        return None


FinerColumns = Mapping[ColumnRef, tuple[ColumnRef, ...]]
"""For a dimension's column the columns of the same table that determine it by a hierarchy."""


def finer_columns(warehouse: Warehouse, fact: str) -> FinerColumns:
    """Which plain columns stand below which in the hierarchies of a fact's dimensions."""
    coarser: dict[ColumnRef, set[ColumnRef]] = {}
    for path in warehouse.paths(fact)[1:]:
        for hierarchy in warehouse.table_at(fact, path).hierarchies:
            for low, high in hierarchy_steps_at(warehouse, fact, path, hierarchy):
                if isinstance(low, ColumnRef) and isinstance(high, ColumnRef):
                    coarser.setdefault(low, set()).add(high)
    finer: dict[ColumnRef, list[ColumnRef]] = {}
    for low in coarser:
        for high in _reachable(coarser, low):
            if low.path == high.path:
                finer.setdefault(high, []).append(low)
    return {high: tuple(sorted(lows, key=lambda low: low.column)) for high, lows in finer.items()}


def _reachable(graph: Mapping[ColumnRef, set[ColumnRef]], start: ColumnRef) -> set[ColumnRef]:
    seen: set[ColumnRef] = set()
    frontier = [start]
    while frontier:
        for following in graph.get(frontier.pop(), ()):
            if following not in seen:
                seen.add(following)
                frontier.append(following)
    return seen


def is_consistent(steps: Iterable[Step]) -> bool:
    """Whether no dimension would have to be joined in two ways at once."""
    paths = [step.path for step in steps]
    return len(set(paths)) == len(paths)


def joins(
    warehouse: Warehouse,
    fact: str,
    reader: Reader,
    steps: Iterable[Step],
    exprs: Iterable[Expr],
) -> tuple[Join, ...]:
    """The joins of an edge query, in an order in which each finds what it joins on.

    `exprs` are what the query computes: a dimension that is reduced to distinct rows keeps the
    columns that they, or the joins behind it, read.
    """
    on = {step: tuple(_condition(warehouse, fact, reader, step)) for step in steps}
    read: dict[Path, set[str]] = {}
    for expr in (*exprs, *(left for pairs in on.values() for left, _ in pairs)):
        for ref in column_refs(expr):
            read.setdefault(ref.path, set()).add(ref.column)
    built = []
    for step in sorted(on, key=lambda step: (len(step.path), step.path)):
        lookup: tuple[str, ...] = ()
        if step.by is not None:
            others = read.get(step.path, set()) - {step.by.column}
            lookup = (step.by.column, *sorted(others))
        dimension = warehouse.table_at(fact, step.path).name
        alias = warehouse.alias(fact, step.path)
        built.append(Join(step.path, dimension, alias, on[step], lookup))
    return tuple(built)


def _condition(
    warehouse: Warehouse, fact: str, reader: Reader, step: Step
) -> Iterator[tuple[Expr, str]]:
    """What a dimension is joined on: pairs of what the query has and the dimension's columns."""
    if step.by is not None:
        yield _written(reader, step.by), step.by.column
        return
    referring = row_identity(warehouse, fact, step.path)
    key = warehouse.table_at(fact, step.path).key
    for column, name in zip(referring, key, strict=True):
        yield _written(reader, column), name


def _written(reader: Reader, expr: Expr) -> Expr:
    way = reader.read(expr)
    assert way is not None
    return way.expr
