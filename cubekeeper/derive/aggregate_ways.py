"""How a stored aggregate of one table comes from the stored columns of another (5.1).

=====================  ========================================================================
the parent stores it   COUNT becomes SUM of the counts; SUM, MIN and MAX roll up as they are
the parent groups by   MIN(e), MAX(e) and COUNT(DISTINCT e) as they are; SUM(e) is SUM(e · count),
what it aggregates     COUNT(e) is SUM(count) where e is not NULL
a product, one factor  SUM(f · g) is SUM(g · SUM(f)) when the parent stores SUM(f) and groups by
of which is a key      what determines g
=====================  ========================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cubekeeper.derive.express import Reader, Step, Way
from cubekeeper.lattice.model import Node
from cubekeeper.scalar.aggregates import Aggregate, AggregateFunction, aggregate
from cubekeeper.scalar.build import call, case, literal
from cubekeeper.scalar.nodes import Call, Expr, StoredRef
from cubekeeper.schema import BIGINT, Kind

F = AggregateFunction

_ROLLED_UP_BY: Mapping[AggregateFunction, AggregateFunction] = {
    F.COUNT_ROWS: F.SUM,
    F.COUNT: F.SUM,
    F.SUM: F.SUM,
    F.MIN: F.MIN,
    F.MAX: F.MAX,
}
_SAME_OVER_GROUPS = (F.MIN, F.MAX, F.COUNT_DISTINCT, F.SUM_DISTINCT, F.APPROX_COUNT_DISTINCT)


@dataclass(frozen=True, slots=True)
class AggregateWay:
    """An aggregate over the parent's columns, and the joins it needs."""

    aggregate: Aggregate
    steps: frozenset[Step] = frozenset()


def read_aggregate(agg: Aggregate, node: Node, reader: Reader) -> AggregateWay | None:
    """The way to an aggregate from a stored table, or None if it cannot be had from there."""
    stored = _stored_aggregates(node)
    if agg in stored and agg.function in _ROLLED_UP_BY:
        return AggregateWay(aggregate(_ROLLED_UP_BY[agg.function], stored[agg]))
    if agg.argument is None or not can_aggregate_over(node):
        return None
    way = reader.read(agg.argument)
    if way is not None:
        return _over_group_by(agg.function, way, StoredRef(node.row_count, BIGINT, False))
    for factor, rest in factorings(agg):
        way = reader.read(factor)
        if way is not None and rest in stored:
            return _summed_product(way, stored[rest])
    return None


def can_aggregate_over(node: Node) -> bool:
    """Whether every row of a table stands for rows of the fact.

    The one row of a table without keys is there even when there are none: a constant summed or
    maximised over it would be counted once too often.
    """
    return bool(node.keys)


def _stored_aggregates(node: Node) -> dict[Aggregate, StoredRef]:
    return {
        stored.aggregate: StoredRef(stored.name, stored.aggregate.type, stored.aggregate.nullable)
        for stored in node.aggregates
    }


def _over_group_by(function: AggregateFunction, way: Way, count: StoredRef) -> AggregateWay | None:
    if function in _SAME_OVER_GROUPS:
        return AggregateWay(aggregate(function, way.expr), way.steps)
    if function is F.SUM:
        return _summed_product(way, count)
    if function is F.COUNT:
        counted = case(((call("is_null", way.expr), literal(0)),), count)
        return AggregateWay(aggregate(F.SUM, counted), way.steps)
    return None


def _summed_product(way: Way, weight: StoredRef) -> AggregateWay | None:
    product = call("*", way.expr, weight)
    if not is_exact_product(product):
        return None
    return AggregateWay(aggregate(F.SUM, product), way.steps)


def is_exact_product(product: Expr) -> bool:
    """Whether Spark keeps every digit of a product: beyond 38 digits it drops decimal places.

    Inexact types pass: their sums carry a warning of their own.
    """
    if not isinstance(product, Call) or product.type.kind is not Kind.DECIMAL:
        return True
    return product.type.scale == sum(factor.type.scale for factor in product.args)


def factorings(agg: Aggregate) -> Iterator[tuple[Expr, Aggregate]]:
    """The ways to see a SUM of a product as a factor times a SUM of the rest."""
    match agg:
        case Aggregate(function=F.SUM, argument=Call(function="*", args=(left, right)) as product):
            if agg.type.is_float or not is_exact_product(product):
                return
            yield left, aggregate(F.SUM, right)
            yield right, aggregate(F.SUM, left)
