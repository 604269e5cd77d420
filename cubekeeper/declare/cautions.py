"""What is accepted with a warning: types that may overflow, sums that depend on an order."""

from __future__ import annotations

from typing import Final

from cubekeeper.errors import Problems
from cubekeeper.scalar.aggregates import AggregateFunction
from cubekeeper.scalar.nodes import Call, Expr, walk
from cubekeeper.schema import MAX_DECIMAL_PRECISION, Kind
from cubekeeper.warehouse.model import Measure, SummaryTable

_F: Final = AggregateFunction
_SUMS: Final = frozenset({_F.SUM, _F.SUM_DISTINCT})
_ORDERED_SUMS: Final = frozenset(
    {_F.SUM, _F.SUM_DISTINCT, _F.AVG, _F.AVG_DISTINCT}
    | {_F.VAR_POP, _F.VAR_SAMP, _F.STDDEV_POP, _F.STDDEV_SAMP}
)
_SUM_DIGITS: Final = 10  # what Spark adds to the precision of a summed decimal


def warn_about(view: SummaryTable, problems: Problems) -> None:
    """Keep a caution for everything in a view that is right and yet may surprise."""
    for key in view.keys:
        if key.expr.type.is_float:
            problems.warn(
                "float-key",
                f"`{view.name}` groups by `{key.name}`, a {key.expr.type}: values that print"
                " alike may form different groups",
                span=key.span,
                hint="round or convert it: CAST(… AS DECIMAL(18,2))",
            )
    for measure in view.measures:
        _warn_about_measure(view, measure, problems)
    for expr in view.expressions():
        _warn_about_products(view, expr, problems)


def _warn_about_measure(view: SummaryTable, measure: Measure, problems: Problems) -> None:
    function, argument = measure.aggregate.function, measure.aggregate.argument
    if argument is None:
        return
    type, what = argument.type, f"`{measure.name}` of `{view.name}`"
    if type.is_float and function in _ORDERED_SUMS:
        problems.warn(
            "float-sum",
            f"{what} adds up values of type {type}: the last digits depend on the order",
            span=measure.span,
            hint="convert them for exact results: CAST(… AS DECIMAL(18,2))",
        )
    if function in _SUMS and type.kind is Kind.BIGINT:
        problems.warn(
            "overflow",
            f"{what} sums bigint values into a bigint, which may overflow",
            span=measure.span,
            hint="if it can, sum them as CAST(… AS DECIMAL(28,0))",
        )
    if (
        function in _SUMS
        and type.kind is Kind.DECIMAL
        and type.precision + _SUM_DIGITS > MAX_DECIMAL_PRECISION
    ):
        problems.warn(
            "overflow",
            f"{what} sums {type} values into a {measure.aggregate.type}, which may overflow",
            span=measure.span,
            hint="declare the column with the digits it needs",
        )


def _warn_about_products(view: SummaryTable, expr: Expr, problems: Problems) -> None:
    for node in walk(expr):
        if not (isinstance(node, Call) and node.function == "*" and node.type.kind is Kind.DECIMAL):
            continue
        exact = sum(arg.type.as_decimal.scale for arg in node.args)
        if node.type.scale < exact:
            span = next((m.span for m in view.measures if m.aggregate.argument == expr), view.span)
            problems.warn(
                "lost-digits",
                f"a product in `{view.name}` has {exact} digits behind the point, of which"
                f" {node.type} keeps {node.type.scale}",
                span=span,
                hint="convert the factors to decimals with the digits they need",
            )
