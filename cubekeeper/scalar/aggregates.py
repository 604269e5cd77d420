"""The aggregate functions, the type each gives, and how each can be maintained."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from cubekeeper.scalar.nodes import Expr
from cubekeeper.scalar.types import TypeProblem
from cubekeeper.schema import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    MAX_DECIMAL_PRECISION,
    NULL,
    DataType,
    Kind,
    decimal,
)


class AggregateClass(Enum):
    """How the value of a group follows from the values of its parts."""

    DISTRIBUTIVE = "distributive"
    ALGEBRAIC = "algebraic"
    HOLISTIC = "holistic"


class AggregateFunction(Enum):
    """The aggregates that a measure may use, by their canonical names."""

    COUNT_ROWS = "count_rows"
    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    AVG = "avg"
    VAR_POP = "var_pop"
    VAR_SAMP = "var_samp"
    STDDEV_POP = "stddev_pop"
    STDDEV_SAMP = "stddev_samp"
    COUNT_DISTINCT = "count_distinct"
    SUM_DISTINCT = "sum_distinct"
    AVG_DISTINCT = "avg_distinct"
    APPROX_COUNT_DISTINCT = "approx_count_distinct"
    MEDIAN = "median"

    @property
    def family(self) -> AggregateClass:
        """Distributive, algebraic or holistic."""
        if self in _HOLISTIC:
            return AggregateClass.HOLISTIC
        return AggregateClass.DISTRIBUTIVE if self in _DISTRIBUTIVE else AggregateClass.ALGEBRAIC

    @property
    def reason(self) -> str | None:
        """Why a holistic aggregate can only be rebuilt.

        >>> AggregateFunction.MEDIAN.reason
        'the middle of a group cannot be told from the middles of its parts'
        """
        return _HOLISTIC.get(self)

    @property
    def is_distinct(self) -> bool:
        """Whether it is written with DISTINCT."""
        return self.value.endswith("_distinct") and self is not self.APPROX_COUNT_DISTINCT


_F: Final = AggregateFunction
_DISTRIBUTIVE: Final = frozenset({_F.COUNT_ROWS, _F.COUNT, _F.SUM, _F.MIN, _F.MAX})
_DISTINCT_REASON: Final = "the distinct values of a group cannot be told from counts"
_HOLISTIC: Final = {
    _F.COUNT_DISTINCT: _DISTINCT_REASON,
    _F.SUM_DISTINCT: _DISTINCT_REASON,
    _F.AVG_DISTINCT: _DISTINCT_REASON,
    _F.APPROX_COUNT_DISTINCT: "a sketch of the distinct values cannot forget a deleted row",
    _F.MEDIAN: "the middle of a group cannot be told from the middles of its parts",
}
_VARIANCES: Final = frozenset({_F.VAR_POP, _F.VAR_SAMP, _F.STDDEV_POP, _F.STDDEV_SAMP})
_ORDERED: Final = frozenset({_F.MIN, _F.MAX})
_UNTYPED: Final = frozenset({_F.COUNT, _F.COUNT_DISTINCT, _F.APPROX_COUNT_DISTINCT})
_NEVER_NULL: Final = frozenset(
    {_F.COUNT_ROWS, _F.COUNT, _F.COUNT_DISTINCT, _F.APPROX_COUNT_DISTINCT}
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate function over the rows of a group; COUNT(*) has no argument."""

    function: AggregateFunction
    argument: Expr | None
    type: DataType
    nullable: bool

    @property
    def rebuild_reason(self) -> str | None:
        """Why it cannot be kept exact from changes, if it cannot.

        Variances come from sums of squares, in which floating-point numbers lose all digits that
        matter when the values are large and close to each other.
        """
        floating = self.argument is not None and self.argument.type.is_float
        if floating and self.function in _VARIANCES:
            return "sums of floating-point squares lose digits; CAST to DECIMAL keeps them"
        return self.function.reason


def aggregate(function: AggregateFunction, argument: Expr | None = None) -> Aggregate:
    """An aggregate with its type by Spark's rules.

    A group has at least one row, so the value is NULL only when the argument can be.

    >>> from cubekeeper.scalar.build import literal
    >>> str(aggregate(AggregateFunction.SUM, literal(1)).type)
    'bigint'
    """
    if (argument is None) != (function is _F.COUNT_ROWS):
        raise TypeProblem(f"{function.value} takes {'an' if argument is None else 'no'} argument")
    if argument is None:
        return Aggregate(function, None, BIGINT, False)
    _check(function, argument.type)
    return Aggregate(
        function, argument, _result(function, argument.type), _nullable(function, argument)
    )


def _check(function: AggregateFunction, kind: DataType) -> None:
    name = _sql_name(function)
    if function in _UNTYPED:
        return
    if kind == NULL:
        raise TypeProblem(
            f"{name} of NULL has no type", hint="convert it: CAST(NULL AS INT)", argument=0
        )
    if function in _ORDERED:
        if kind.kind is Kind.INTERVAL:
            raise TypeProblem(f"{name} needs values that can be ordered, not {kind}", argument=0)
        return
    if not kind.is_numeric:
        hint = "count them: COUNT(CASE WHEN … THEN 1 END)" if kind == BOOLEAN else None
        raise TypeProblem(f"{name} takes a number, not {kind}", hint=hint, argument=0)


def _sql_name(function: AggregateFunction) -> str:
    return (
        function.value.removesuffix("_distinct").upper()
        if function.is_distinct
        else function.value.upper()
    )


def _result(function: AggregateFunction, kind: DataType) -> DataType:
    match function:
        case _F.COUNT_ROWS | _F.COUNT | _F.COUNT_DISTINCT | _F.APPROX_COUNT_DISTINCT:
            return BIGINT
        case _F.SUM | _F.SUM_DISTINCT:
            if kind.kind is Kind.DECIMAL:
                return _bounded(kind.precision + 10, kind.scale)
            return BIGINT if kind.is_integer else DOUBLE
        case _F.AVG | _F.AVG_DISTINCT:
            if kind.kind is Kind.DECIMAL:
                return _bounded(kind.precision + 4, kind.scale + 4)
            return DOUBLE
        case _F.MIN | _F.MAX:
            return kind
        case _F.VAR_POP | _F.VAR_SAMP | _F.STDDEV_POP | _F.STDDEV_SAMP | _F.MEDIAN:
            return DOUBLE


def _bounded(precision: int, scale: int) -> DataType:
    return decimal(min(precision, MAX_DECIMAL_PRECISION), min(scale, MAX_DECIMAL_PRECISION))


def _nullable(function: AggregateFunction, argument: Expr) -> bool:
    if function in _NEVER_NULL:
        return False
    if function in (_F.VAR_SAMP, _F.STDDEV_SAMP):
        return True  # of a single value
    return argument.nullable
