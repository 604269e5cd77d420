"""The types of results, by Spark's ANSI rules.

Decimal arithmetic follows Spark's precision and scale tables with loss of scale allowed
(``spark.sql.decimalOperations.allowPrecisionLoss``), integers and floats widen as its ANSI type
promotion says. What Spark would convert silently from or to text is refused here instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cubekeeper.schema import (
    DATE,
    DOUBLE,
    MAX_DECIMAL_PRECISION,
    NULL,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    DataType,
    Kind,
    decimal,
)


class TypeProblem(ValueError):
    """A function was given arguments that it does not take."""

    def __init__(self, message: str, *, hint: str | None = None, argument: int | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.argument = argument


_WIDENING: Final = (
    Kind.TINYINT,
    Kind.SMALLINT,
    Kind.INT,
    Kind.BIGINT,
    Kind.FLOAT,
    Kind.DOUBLE,
)
_LEAST_SCALE: Final = 6  # what Spark keeps of the fraction when the digits do not suffice


def _adjusted(precision: int, scale: int) -> DataType:
    """Fit a computed decimal into 38 digits, giving up fraction digits before integer digits."""
    if precision <= MAX_DECIMAL_PRECISION:
        return decimal(precision, scale)
    integer_digits = precision - scale
    kept = max(MAX_DECIMAL_PRECISION - integer_digits, min(scale, _LEAST_SCALE))
    return decimal(MAX_DECIMAL_PRECISION, kept)


def arithmetic_type(operator: str, left: DataType, right: DataType) -> DataType:
    """The type of ``left operator right`` for numbers.

    >>> from cubekeeper.schema import INT, decimal
    >>> str(arithmetic_type("*", INT, decimal(12, 2)))
    'decimal(23,2)'
    >>> str(arithmetic_type("/", INT, INT))
    'double'
    """
    if left == NULL or right == NULL:
        left, right = (right, right) if left == NULL else (left, left)
        if left == NULL:
            return DOUBLE
    exact = not (left.is_float or right.is_float)
    if exact and Kind.DECIMAL in (left.kind, right.kind):
        return _decimal_arithmetic(operator, left.as_decimal, right.as_decimal)
    if operator == "/":
        return DOUBLE
    wider = common_type((left, right))
    assert wider is not None
    return wider


def _decimal_arithmetic(operator: str, left: DataType, right: DataType) -> DataType:
    (p1, s1), (p2, s2) = (left.precision, left.scale), (right.precision, right.scale)
    scale = max(s1, s2)
    match operator:
        case "+" | "-":
            return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)
        case "*":
            return _adjusted(p1 + p2 + 1, s1 + s2)
        case "/":
            scale = max(_LEAST_SCALE, s1 + p2 + 1)
            return _adjusted(p1 - s1 + s2 + scale, scale)
        case "%" | "pmod":
            return _adjusted(min(p1 - s1, p2 - s2) + scale, scale)
        case _:
            raise AssertionError(operator)


def common_type(types: Iterable[DataType]) -> DataType | None:
    """The least type that holds the values of all, or None when there is none.

    >>> from cubekeeper.schema import INT, STRING, decimal
    >>> str(common_type([INT, decimal(12, 2)]))
    'decimal(12,2)'
    >>> common_type([INT, STRING]) is None
    True
    """
    result = NULL
    for other in types:
        wider = _wider(result, other)
        if wider is None:
            return None
        result = wider
    return result


def _wider(left: DataType, right: DataType) -> DataType | None:
    if left == right or right == NULL:
        return left
    if left == NULL:
        return right
    if left.is_numeric and right.is_numeric:
        return _wider_number(left, right)
    if left.is_temporal and right.is_temporal:
        others = {left, right} - {DATE}
        return TIMESTAMP if TIMESTAMP in others else TIMESTAMP_NTZ
    return None


def _wider_number(left: DataType, right: DataType) -> DataType:
    if Kind.DECIMAL in (left.kind, right.kind):
        if left.is_float or right.is_float:
            return DOUBLE
        one, two = left.as_decimal, right.as_decimal
        scale = max(one.scale, two.scale)
        digits = max(one.precision - one.scale, two.precision - two.scale)
        excess = max(0, digits + scale - MAX_DECIMAL_PRECISION)
        return decimal(digits + scale - excess, max(0, scale - excess))
    kind = max(left.kind, right.kind, key=_WIDENING.index)
    return DOUBLE if kind is Kind.FLOAT else DataType(kind)  # float with an integer: no digit lost


def comparable(left: DataType, right: DataType) -> bool:
    """Whether ``left = right`` and ``left < right`` are allowed without a CAST.

    >>> from cubekeeper.schema import DATE, INT, TIMESTAMP
    >>> comparable(DATE, TIMESTAMP), comparable(DATE, INT)
    (True, False)
    """
    return common_type((left, right)) is not None
