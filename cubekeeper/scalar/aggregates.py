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


def _check(function: AggregateFunction, type: DataType) -> None:
    name = _sql_name(function)
    if function in _UNTYPED:
        return
    if type == NULL:
        raise TypeProblem(
            f"{name} of NULL has no type", hint="convert it: CAST(NULL AS INT)", argument=0
        )
    if function in _ORDERED:
        if type.kind is Kind.INTERVAL:
            raise TypeProblem(f"{name} needs values that can be ordered, not {type}", argument=0)
        return
    if not type.is_numeric:
        hint = "count them: COUNT(CASE WHEN … THEN 1 END)" if type == BOOLEAN else None
        raise TypeProblem(f"{name} takes a number, not {type}", hint=hint, argument=0)


def _sql_name(function: AggregateFunction) -> str:
    return (
        function.value.removesuffix("_distinct").upper()
        if function.is_distinct
        else function.value.upper()
    )


def _result(function: AggregateFunction, type: DataType) -> DataType:
    match function:
        case _F.COUNT_ROWS | _F.COUNT | _F.COUNT_DISTINCT | _F.APPROX_COUNT_DISTINCT:
            return BIGINT
        case _F.SUM | _F.SUM_DISTINCT:
            if type.kind is Kind.DECIMAL:
                return _bounded(type.precision + 10, type.scale)
            return BIGINT if type.is_integer else DOUBLE
        case _F.AVG | _F.AVG_DISTINCT:
            if type.kind is Kind.DECIMAL:
                return _bounded(type.precision + 4, type.scale + 4)
            return DOUBLE
        case _F.MIN | _F.MAX:
            return type
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
