"""Writing the edge from one table to another: joins, keys, aggregates, what the filter leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cubekeeper.derive.aggregate_ways import AggregateWay, read_aggregate
from cubekeeper.derive.express import Reader, Step, Way, finer_columns, joins
from cubekeeper.derive.pairs import residual_filter
from cubekeeper.errors import InternalError
from cubekeeper.lattice.model import Edge, EdgeAggregate, Lattice, StoredAggregate
from cubekeeper.scalar.aggregates import AggregateFunction
from cubekeeper.scalar.nodes import Expr


def build_edge(lattice: Lattice, parent: str | None, child: str) -> Edge:
    """The way from a parent (None: from the base tables) to a child, ready to be run."""
    node = lattice.node(child)
    fact = node.view.fact
    upper = None if parent is None else lattice.node(parent)
    reader = Reader(lattice.warehouse, fact, upper, finer_columns(lattice.warehouse, fact))
    left = (
        node.view.filter if upper is None else residual_filter(node.view.filter, upper.view.filter)
    )
    if left is None:
        raise _no_edge(parent, child)

    def read(expr: Expr) -> Way:
        way = reader.read(expr)
        if way is None:
            raise _no_edge(parent, child)
        return way

    def read_stored(stored: StoredAggregate) -> AggregateWay:
        agg = stored.aggregate
        if upper is None:
            return AggregateWay(agg, read(agg.argument).steps if agg.argument else frozenset())
        way = read_aggregate(agg, upper, reader)
        if way is None:
            raise _no_edge(parent, child)
        return way

    keys = [(key.name, read(key.expr)) for key in node.keys]
    aggregates = [(stored, read_stored(stored)) for stored in node.aggregates]
    kept = [read(expr) for expr in left]
    steps: set[Step] = set()
    steps.update(*(way.steps for _, way in keys))
    steps.update(*(way.steps for _, way in aggregates))
    steps.update(*(way.steps for way in kept))
    edge = Edge(
        parent=parent,
        child=child,
        joins=(),
        keys=tuple((name, way.expr) for name, way in keys),
        aggregates=tuple(_edge_aggregate(s, way, keyless=not keys) for s, way in aggregates),
        residual=tuple(way.expr for way in kept),
    )
    return replace(edge, joins=joins(lattice.warehouse, fact, reader, steps, _written(edge)))


_COUNTS = (AggregateFunction.COUNT_ROWS, AggregateFunction.COUNT)


def _edge_aggregate(stored: StoredAggregate, way: AggregateWay, *, keyless: bool) -> EdgeAggregate:
    rolled_up = way.aggregate.function is AggregateFunction.SUM
    or_zero = keyless and rolled_up and stored.aggregate.function in _COUNTS
    return EdgeAggregate(stored.name, way.aggregate, stored.aggregate.type, or_zero)


def _written(edge: Edge) -> Iterator[Expr]:
    yield from (expr for _, expr in edge.keys)
    yield from edge.residual
    for column in edge.aggregates:
        if column.aggregate.argument is not None:
            yield column.aggregate.argument


def _no_edge(parent: str | None, child: str) -> InternalError:
    return InternalError("no-edge", f"`{child}` cannot be derived from `{parent or 'the base'}`")
