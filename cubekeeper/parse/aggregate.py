"""Measures: one aggregate over one scalar expression."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NoReturn

from sqlglot import exp

from cubekeeper.parse.binder import Binder
from cubekeeper.parse.refuse import is_aggregate_call
from cubekeeper.scalar.aggregates import Aggregate, AggregateFunction, aggregate
from cubekeeper.scalar.build import TypeProblem, case, literal
from cubekeeper.scalar.nodes import Expr
from cubekeeper.schema import BOOLEAN, NULL

_F: Final = AggregateFunction
_FUNCTIONS: Final[Mapping[str, AggregateFunction]] = MappingProxyType(
    {
        "count": _F.COUNT,
        "count_if": _F.COUNT,
        "sum": _F.SUM,
        "min": _F.MIN,
        "bool_and": _F.MIN,
        "every": _F.MIN,
        "max": _F.MAX,
        "bool_or": _F.MAX,
        "some": _F.MAX,
        "avg": _F.AVG,
        "mean": _F.AVG,
        "var_pop": _F.VAR_POP,
        "var_samp": _F.VAR_SAMP,
        "variance": _F.VAR_SAMP,
        "stddev_pop": _F.STDDEV_POP,
        "stddev_samp": _F.STDDEV_SAMP,
        "stddev": _F.STDDEV_SAMP,
        "std": _F.STDDEV_SAMP,
        "approx_count_distinct": _F.APPROX_COUNT_DISTINCT,
        "median": _F.MEDIAN,
    }
)
_DISTINCT: Final[Mapping[AggregateFunction, AggregateFunction]] = MappingProxyType(
    {
        _F.COUNT: _F.COUNT_DISTINCT,
        _F.SUM: _F.SUM_DISTINCT,
        _F.AVG: _F.AVG_DISTINCT,
        _F.MIN: _F.MIN,
        _F.MAX: _F.MAX,
    }
)
_BOOLEANS: Final = frozenset({"bool_and", "every", "bool_or", "some", "count_if"})


def contains_aggregate(node: exp.Expr) -> bool:
    """Whether an aggregate stands anywhere in a tree."""
    return any(is_aggregate_call(part) for part in node.walk())


def bind_measure(binder: Binder, node: exp.Expr) -> Aggregate:
    """The aggregate of a tree that is one aggregate call, FILTER allowed."""
    node = _unwrapped(node)
    condition: exp.Expr | None = None
    if isinstance(node, exp.Filter):
        condition = node.expression.this
        node = _unwrapped(node.this)
    if isinstance(node, exp.Window | exp.Query):
        binder.refuse(node)
    if isinstance(node, exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        _refuse_function(binder, node)
    if not is_aggregate_call(node):
        _refuse_measure(binder, node)
    return _bind_call(binder, node, condition)


def _unwrapped(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _refuse_function(binder: Binder, node: exp.Expr) -> NoReturn:
    called = node if is_aggregate_call(node) else node.find(exp.Anonymous)
    name = f"the aggregate {called.name.upper()}" if called else "this aggregate"
    binder.unsupported(
        node,
        "unsupported-aggregate",
        f"{name} is not supported",
        "aggregates: COUNT, SUM, MIN, MAX, AVG, VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP, "
        "COUNT(DISTINCT …), MEDIAN",
    )


def _refuse_measure(binder: Binder, node: exp.Expr) -> NoReturn:
    for part in node.walk():
        if isinstance(part, exp.Window | exp.Query):
            binder.refuse(part)
    if contains_aggregate(node):
        binder.unsupported(
            node,
            "aggregate-arithmetic",
            "a measure is one aggregate, without arithmetic around it",
            "declare the parts as measures of their own and combine them when the table is read",
        )
    binder.bind(node)  # what is wrong inside is said first
    binder.wrong(
        node,
        "not-an-aggregate",
        "a measure aggregates the rows of a group; this is one row's value",
        "wrap it, as in SUM(…)",
    )


def _bind_call(binder: Binder, node: exp.Expr, condition: exp.Expr | None) -> Aggregate:
    name = node.name.lower()
    function = _FUNCTIONS.get(name)
    if function is None:
        _refuse_function(binder, node)
    for part in node.walk():
        if part is not node and is_aggregate_call(part):
            binder.wrong(
                part,
                "nested-aggregate",
                "a measure cannot aggregate an aggregate",
                "aggregate the rows directly",
            )
    arguments = node.expressions
    if arguments and isinstance(arguments[0], exp.Distinct):
        function = _distinct(binder, node, function)
        arguments = arguments[0].expressions
    if name == "count" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        return _count_rows(binder, condition, function)
    if len(arguments) != 1:
        binder.wrong(
            node,
            "type-error",
            f"{name.upper()} takes 1 argument here, not {len(arguments)}",
            "write COUNT(*) to count rows" if name == "count" and not arguments else None,
        )
    argument = binder.bind(arguments[0])
    if name in _BOOLEANS:
        _check_boolean(binder, arguments[0], argument, name.upper())
    if name == "count_if":
        argument = case([(argument, literal(1))])
    argument = _filtered(binder, condition, argument)
    try:
        return aggregate(function, argument)
    except TypeProblem as problem:
        raise binder.type_error(arguments[0], problem) from None


def _distinct(binder: Binder, node: exp.Expr, function: AggregateFunction) -> AggregateFunction:
    if function not in _DISTINCT:
        binder.unsupported(
            node, "unsupported-aggregate", f"{node.name.upper()}(DISTINCT …) is not supported"
        )
    return _DISTINCT[function]


def _count_rows(
    binder: Binder, condition: exp.Expr | None, function: AggregateFunction
) -> Aggregate:
    if condition is None:
        return aggregate(_F.COUNT_ROWS)
    return aggregate(function, _filtered(binder, condition, literal(1)))


def _filtered(binder: Binder, condition: exp.Expr | None, argument: Expr) -> Expr:
    """``f(e) FILTER (WHERE c)`` as ``f(CASE WHEN c THEN e END)``: all our aggregates skip NULL."""
    if condition is None:
        return argument
    bound = binder.bind(condition)
    _check_boolean(binder, condition, bound, "FILTER")
    return case([(bound, argument)])


def _check_boolean(binder: Binder, node: exp.Expr, bound: Expr, where: str) -> None:
    if bound.type not in (BOOLEAN, NULL):
        binder.wrong(
            node,
            "type-error",
            f"{where} takes a boolean, not {bound.type}",
            "compare it with something, as in x = 1",
        )
