"""Functions that never decrease, read backwards: from a set of results to the set of arguments.

``year(date) = 2024`` says as much as ``date >= '2024-01-01' AND date <= '2024-12-31'``, and
``x + 1 > 3`` as much as ``x > 2``. Conversions that lose nothing are of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Final

from cubekeeper.derive.value_sets import (
    MICROSECONDS_PER_DAY,
    Domain,
    Key,
    ValueSet,
    day_key,
    domain,
    double_key,
    key_day,
    union,
)
from cubekeeper.scalar.nodes import Call, Cast, Expr, Literal
from cubekeeper.schema import DataType, Kind

Least = Callable[[int], int]
"""From the key of a result to that of the least argument whose result is not below it."""


def preimage(expr: Expr, allowed: ValueSet) -> tuple[Expr, ValueSet] | None:
    """The argument of a monotone function, and its values for which the result is in a set.

    The function must be NULL exactly when the argument is. None for all other expressions.
    """
    found = _inverse(expr)
    if found is None:
        return None
    operand, least = found
    results, arguments = domain(expr.type), domain(operand.type)
    keys = [_argument(cut, least, results, arguments) for cut in allowed.cuts]
    ranges = [
        arguments.between(start, end) for start, end in zip(keys[::2], keys[1::2], strict=True)
    ]
    return operand, ValueSet(union(ranges).cuts, allowed.null)


def _argument(cut: Key, least: Least, results: Domain, arguments: Domain) -> Key:
    if cut <= results.start:
        return arguments.start
    if cut >= results.end:
        return arguments.end
    return (least(cut[0]),)


def _inverse(expr: Expr) -> tuple[Expr, Least] | None:
    match expr:
        case Cast(operand, type_):
            conversion = _conversion(operand.type, type_)
            return None if conversion is None else (operand, conversion)
        case Call("+", (operand, Literal(int(amount)))) if expr.type.is_integer:
            return operand, _shift(amount)
        case Call("+", (Literal(int(amount)), operand)) if expr.type.is_integer:
            return operand, _shift(amount)
        case Call("-", (operand, Literal(int(amount)))) if expr.type.is_integer:
            return operand, _shift(-amount)
        case Call("date_add", (operand, Literal(int(amount)))) if operand.type.kind is Kind.DATE:
            return operand, _shift(amount)
        case Call("year", (operand,)) if operand.type.kind is Kind.DATE:
            return operand, _first_day_of_year
        case Call("trunc", (operand, Literal(str(unit)))) if operand.type.kind is Kind.DATE:
            return operand, _first_day(unit)
        case _:
            return None


def _shift(amount: int) -> Least:
    return lambda result: result - amount


def _conversion(source: DataType, target: DataType) -> Least | None:
    """How to read a conversion backwards, when values stay in order and none is refused."""
    if _is_exact(source) and _is_exact(target):
        if source.scale > target.scale:
            return None
        factor = 10 ** (target.scale - source.scale)
        fits = domain(source).start[0] * factor >= domain(target).start[0]
        return (lambda result: -(-result // factor)) if fits else None
    if target.kind is Kind.DOUBLE and _is_exact(source):
        return _least_rounding_to(source)
    if target.kind is Kind.DOUBLE and source.kind is Kind.FLOAT:
        return lambda result: result
    if target.kind is Kind.TIMESTAMP_NTZ and source.kind is Kind.DATE:
        return lambda result: -(-result // MICROSECONDS_PER_DAY)
    return None


def _is_exact(type_: DataType) -> bool:
    return type_.is_integer or type_.kind is Kind.DECIMAL


def _least_rounding_to(source: DataType) -> Least:
    """Numbers become the nearest double, so that several may become the same."""
    numbers, unit = domain(source), 10**source.scale

    def least(double: int) -> int:
        low, high = numbers.start[0], numbers.end[0]
        while low < high:
            middle = (low + high) // 2
            if double_key(middle / unit)[0] < double:
                low = middle + 1
            else:
                high = middle
        return low

    return least


_YEARS, _DAYS = 400, 146_097  # after which the calendar repeats, to the day of the week


def _first_day_of_year(year: int) -> int:
    cycles, within = divmod(year - 1, _YEARS)
    return cycles * _DAYS + day_key(date(within + 1, 1, 1))[0]


_MONTHS: Final = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}


def _first_day(unit: str) -> Least:
    """The first day of the first period that does not begin before a day."""
    if unit == "WEEK":
        return lambda day: day + (-day - 3) % 7  # day 0 was a Thursday

    def least(day: int) -> int:
        cycles, within = divmod(day, _DAYS)
        found = key_day((within,))
        months = found.year * 12 + found.month - 1 + (found.day > 1)
        start = -(-months // _MONTHS[unit]) * _MONTHS[unit]
        return cycles * _DAYS + day_key(date(start // 12, start % 12 + 1, 1))[0]

    return least
