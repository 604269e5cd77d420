"""Aggregates over the rows of a group, as lifted sums of the calculus."""

from __future__ import annotations

from dataclasses import dataclass

from cubekeeper.errors import InputError, UnsupportedError
from cubekeeper.live.calculus.build import (
    add,
    cond,
    exists,
    extreme,
    let,
    lift,
    mul,
    neg,
    sum_over,
    value,
)
from cubekeeper.live.calculus.nodes import Query
from cubekeeper.live.calculus.variables import free
from cubekeeper.live.frontend.scopes import Names
from cubekeeper.parse.query import AggregateHole
from cubekeeper.scalar.aggregates import AggregateFunction, aggregate
from cubekeeper.scalar.build import TypeProblem, call, case, cast, literal
from cubekeeper.scalar.nodes import Expr
from cubekeeper.schema import BIGINT, DOUBLE, DataType, Kind

F = AggregateFunction
_PLAIN = {
    "count": F.COUNT,
    "sum": F.SUM,
    "avg": F.AVG,
    "mean": F.AVG,
    "min": F.MIN,
    "max": F.MAX,
    "var_pop": F.VAR_POP,
    "var_samp": F.VAR_SAMP,
    "variance": F.VAR_SAMP,
    "stddev_pop": F.STDDEV_POP,
    "stddev_samp": F.STDDEV_SAMP,
    "stddev": F.STDDEV_SAMP,
    "std": F.STDDEV_SAMP,
    "bool_and": F.MIN,
    "every": F.MIN,
    "bool_or": F.MAX,
    "some": F.MAX,
    "count_if": F.COUNT,
}
_SPREADS = (F.VAR_POP, F.VAR_SAMP, F.STDDEV_POP, F.STDDEV_SAMP)


@dataclass(frozen=True)
class Group:
    """The rows of a group: a query over rows, and the variables that name the group."""

    rows: Query
    keys: frozenset[str]
    names: Names
    never_empty: bool

    def total(self, *factors: Query) -> Query:
        """The sum of a product over the rows of the group."""
        body = mul(self.rows, *factors)
        return sum_over(sorted(free(body) - self.keys), body)

    def lifted(self, stem: str, type: DataType, body: Query) -> tuple[Expr, Query]:
        """A variable for the number of a query."""
        variable = self.names.new(stem, type, nullable=False)
        return variable, lift(variable, body)


def aggregated(
    hole: AggregateHole, argument: Expr | None, group: Group
) -> tuple[Expr, list[Query]]:
    """The value of an aggregate over a group, and what must hold for it."""
    if argument is None:
        count, bound = group.lifted("count", BIGINT, group.total())
        return count, [bound]
    function = _PLAIN.get(hole.function)
    if function is None:
        raise UnsupportedError(
            "unsupported-aggregate",
            f"the aggregate {hole.function.upper()} is not supported in live views",
            span=hole.span,
            hint="aggregates: COUNT, SUM, AVG, MIN, MAX, VAR_POP, VAR_SAMP, STDDEV_…",
        )
    if hole.function == "count_if":
        argument = case([(argument, literal(1))])
    try:
        result = aggregate(function, argument).type
    except TypeProblem as problem:
        raise InputError("type-error", problem.message, span=hole.span, hint=problem.hint) from None
    if function in (F.MIN, F.MAX):
        return _extreme(function, argument, result, group)
    if function in _SPREADS:
        if hole.distinct:
            raise UnsupportedError(
                "unsupported-aggregate", "DISTINCT in a variance is not supported", span=hole.span
            )
        return _spread(function, argument, group)
    rows = _distinct_rows(argument, group) if hole.distinct else _rows(argument, group)
    return _summed(function, argument, result, rows, group)


def known(expr: Expr) -> Query:
    """1 where an expression is not NULL."""
    return cond(call("not", call("is_null", expr)))


def _rows(argument: Expr, group: Group) -> tuple[Query, Query]:
    """Counts and sums the rows whose argument is not NULL."""
    return group.total(known(argument)), group.total(value_of(argument))


def value_of(argument: Expr) -> Query:
    """The number of an argument; booleans and texts have none."""
    return value(argument) if argument.type.is_numeric else mul()


def _distinct_rows(argument: Expr, group: Group) -> tuple[Query, Query]:
    one = group.names.like(argument, "distinct")
    keys = group.keys | {one.column}
    body = mul(group.rows, let(one, argument))
    seen = mul(exists(sum_over(sorted(free(body) - keys), body)), known(one))
    number = value_of(one)
    return sum_over([one.column], seen), sum_over([one.column], mul(seen, number))


def _summed(
    function: AggregateFunction,
    argument: Expr,
    result: DataType,
    rows: tuple[Query, Query],
    group: Group,
) -> tuple[Expr, list[Query]]:
    counted, summed = rows
    count, count_bound = group.lifted("count", BIGINT, counted)
    if function is F.COUNT:
        return count, [count_bound]
    kind = result if function is F.SUM else aggregate(F.SUM, argument).type
    total, total_bound = group.lifted("sum", kind, summed)
    if function is F.SUM:
        if not argument.nullable and group.never_empty:
            return total, [total_bound]
        return _unless_empty(count, total), [count_bound, total_bound]
    return _unless_empty(count, _quotient(total, count, result)), [count_bound, total_bound]


def _unless_empty(count: Expr, result: Expr) -> Expr:
    return case([(call("<>", count, literal(0)), result)])


def _quotient(total: Expr, count: Expr, result: DataType) -> Expr:
    if result.kind is Kind.DECIMAL:
        return cast(call("/", total, cast(count, count.type.as_decimal)), result)
    return call("/", cast(total, DOUBLE), cast(count, DOUBLE))


def _extreme(
    function: AggregateFunction, argument: Expr, result: DataType, group: Group
) -> tuple[Expr, list[Query]]:
    key = group.names.like(argument, "key")
    body = mul(group.rows, let(key, argument), known(key))
    keys = group.keys | {key.column}
    picked = group.names.new(function.value, result, nullable=True)
    inner = sum_over(sorted(free(body) - keys), body)
    return picked, [extreme(picked, key, inner, least=function is F.MIN)]


def _spread(function: AggregateFunction, argument: Expr, group: Group) -> tuple[Expr, list[Query]]:
    """(n·Σe² - (Σe)²) / n² or / n(n - 1); the difference is exact in the ring."""
    number = group.total(known(argument))
    total, squares = group.total(value(argument)), group.total(value(argument), value(argument))
    spread, spread_bound = group.lifted(
        "spread", DOUBLE, add(mul(number, squares), neg(mul(total, total)))
    )
    count, count_bound = group.lifted("count", BIGINT, number)
    size, one = cast(count, DOUBLE), cast(literal(1), DOUBLE)
    sample = function in (F.VAR_SAMP, F.STDDEV_SAMP)
    pairs = call("*", size, call("-", size, one) if sample else size)
    variance = call("/", spread, pairs)
    root = function in (F.STDDEV_POP, F.STDDEV_SAMP)
    result = call("sqrt", variance) if root else variance
    least = literal(1 if sample else 0)
    return case([(call(">", count, least), result)]), [spread_bound, count_bound]
