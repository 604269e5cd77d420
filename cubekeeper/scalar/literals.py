"""Constants: their types, and conversions that can be done at once."""

from __future__ import annotations

import math
import re
import struct
from datetime import date, datetime
from decimal import Decimal, localcontext
from typing import Final

from cubekeeper.scalar.nodes import Literal, LiteralValue
from cubekeeper.scalar.types import TypeProblem
from cubekeeper.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    MAX_DECIMAL_PRECISION,
    NULL,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    decimal,
)

_BITS: Final = {Kind.TINYINT: 8, Kind.SMALLINT: 16, Kind.INT: 32, Kind.BIGINT: 64}


def fits(value: int, kind: Kind) -> bool:
    """Whether an integer type holds a value."""
    limit = 1 << (_BITS[kind] - 1)
    return -limit <= value < limit


def decimal_type(value: Decimal) -> DataType | None:
    """The type of a decimal as written, or None when it has too many digits.

    >>> str(decimal_type(Decimal("0.05"))), str(decimal_type(Decimal("1.50")))
    ('decimal(2,2)', 'decimal(3,2)')
    """
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return None
    precision = len(digits) + max(exponent, 0)
    scale = max(-exponent, 0)
    precision = max(precision, scale)
    return decimal(precision, scale) if precision <= MAX_DECIMAL_PRECISION else None


def literal_type(value: LiteralValue) -> DataType:
    """The type that Spark gives to a constant."""
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            if fits(value, Kind.INT):
                return INT
            if fits(value, Kind.BIGINT):
                return BIGINT
            return _decimal_or_refuse(Decimal(value))
        case float():
            if not math.isfinite(value):
                raise TypeProblem(f"{value} is not a constant that can be written")
            return DOUBLE
        case Decimal():
            return _decimal_or_refuse(value)
        case str():
            return STRING
        case datetime():
            if value.tzinfo is not None:
                raise TypeProblem("a timestamp constant carries no time zone")
            return TIMESTAMP
        case date():
            return DATE


def _decimal_or_refuse(value: Decimal) -> DataType:
    result = decimal_type(value)
    if result is None:
        raise TypeProblem(f"{value} has more than {MAX_DECIMAL_PRECISION} digits")
    return result


def negated(value: int | float | Decimal) -> int | float | Decimal:
    """A number with the other sign, all digits kept."""
    return value.copy_negate() if isinstance(value, Decimal) else -value


def one_zero(value: LiteralValue) -> LiteralValue:
    """The same value, without the sign of a zero."""
    if isinstance(value, float) and not value:
        return 0.0
    return value.copy_abs() if isinstance(value, Decimal) and not value else value


def convert(value: LiteralValue, to: DataType) -> Literal | None:
    """The constant converted to a type, where that loses nothing; None where it is not so plain.

    >>> convert("2024-02-29", DATE).value, convert("2024-02-30", DATE)
    (datetime.date(2024, 2, 29), None)
    """
    if value is None:
        return Literal(None, to)
    if isinstance(value, bool):
        return Literal(value, to) if to == BOOLEAN else None
    if isinstance(value, str):
        return _convert_text(value, to)
    if isinstance(value, int | float | Decimal):
        return _convert_number(value, to)
    return None


def _convert_text(value: str, to: DataType) -> Literal | None:
    if to == STRING:
        return Literal(value, STRING)
    if to == DATE:
        found_date = parse_date(value)
        return None if found_date is None else Literal(found_date, DATE)
    if to.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        found_time = parse_timestamp(value)
        return None if found_time is None else Literal(found_time, to)
    if to.kind is Kind.DECIMAL and _NUMBER_TEXT.fullmatch(value):
        return _convert_to_decimal(Decimal(value), to)
    return None


def _convert_number(value: int | float | Decimal, to: DataType) -> Literal | None:
    if to.is_integer:
        return Literal(value, to) if isinstance(value, int) and fits(value, to.kind) else None
    if to.is_float:
        try:
            number = float(value)
            if to.kind is Kind.FLOAT:
                (number,) = struct.unpack("f", struct.pack("f", number))
        except OverflowError:
            return None
        return Literal(one_zero(number), to) if math.isfinite(number) else None
    if to.kind is Kind.DECIMAL and not isinstance(value, float):
        return _convert_to_decimal(Decimal(value), to)
    return None


def _convert_to_decimal(value: Decimal, to: DataType) -> Literal | None:
    with localcontext() as context:
        context.prec = 2 * MAX_DECIMAL_PRECISION
        scaled = value.quantize(Decimal(1).scaleb(-to.scale))
    if scaled != value or len(scaled.as_tuple().digits) > to.precision:
        return None
    return Literal(one_zero(scaled), to)


_NUMBER_TEXT: Final = re.compile(r"-?\d{1,38}(\.\d{1,38})?", re.ASCII)
_DATE_TEXT: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME_TEXT: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(?:(:\d{2})(?:\.(\d{1,6}))?)?)?", re.ASCII
)


def parse_date(text: str) -> date | None:
    """A date written as 2024-02-29."""
    try:
        return date.fromisoformat(text) if _DATE_TEXT.fullmatch(text) else None
    except ValueError:
        return None


def parse_timestamp(text: str) -> datetime | None:
    """A timestamp written as 2024-02-29 or 2024-02-29 13:45:00.5, without a zone."""
    match = _TIME_TEXT.fullmatch(text)
    if not match:
        return None
    day, minutes, seconds, fraction = match.groups()
    full = f"{day} {minutes or '00:00'}{seconds or ':00'}.{(fraction or '').ljust(6, '0')}"
    try:
        return datetime.fromisoformat(full)
    except ValueError:
        return None
