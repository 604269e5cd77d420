"""The type of the number that a query gives."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

from cubekeeper.live.calculus.nodes import Add, Const, Mul, Query, Sum, Value
from cubekeeper.schema import BIGINT, DOUBLE, MAX_DECIMAL_PRECISION, DataType, Kind, decimal


def ring_type(query: Query) -> DataType:
    """A big integer, an exact decimal of some scale, or a double.

    >>> from cubekeeper.live.calculus.build import const
    >>> from decimal import Decimal
    >>> str(ring_type(const(3))), str(ring_type(const(Decimal("0.25"))))
    ('bigint', 'decimal(38,2)')
    """
    match query:
        case Const(value):
            return BIGINT if isinstance(value, int) else _fraction_type(value)
        case Value(expr):
            return number_type(expr.type)
        case Mul(factors):
            return reduce(_times, map(ring_type, factors))
        case Add(terms):
            return widest(map(ring_type, terms))
        case Sum(_, body):
            return ring_type(body)
        case _:
            return BIGINT


def number_type(type: DataType) -> DataType:
    """The ring's type for numbers of a scalar type."""
    if type.kind is Kind.DECIMAL:
        return _scaled(type.scale)
    return DOUBLE if type.is_float else BIGINT


def widest(types: Iterable[DataType]) -> DataType:
    """The type that holds numbers of all."""
    found = list(types)
    if DOUBLE in found:
        return DOUBLE
    return _scaled(max(one.scale for one in found))


def _times(left: DataType, right: DataType) -> DataType:
    if DOUBLE in (left, right):
        return DOUBLE
    return _scaled(left.scale + right.scale)


def _scaled(scale: int) -> DataType:
    if scale == 0:
        return BIGINT
    return decimal(MAX_DECIMAL_PRECISION, min(scale, MAX_DECIMAL_PRECISION))


def _fraction_type(value: Fraction) -> DataType:
    for scale in range(1, MAX_DECIMAL_PRECISION + 1):
        if 10**scale % value.denominator == 0:
            return _scaled(scale)
    return DOUBLE
