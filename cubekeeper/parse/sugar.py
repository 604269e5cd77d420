"""Spark's many spellings of one meaning, brought to the canonical functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from cubekeeper.scalar.build import TypeProblem, call, case, cast, literal
from cubekeeper.scalar.functions import ALIASES, FUNCTIONS
from cubekeeper.scalar.nodes import Expr, Literal
from cubekeeper.schema import DATE, TIMESTAMP, Kind, parse_type

Sugar = Callable[[Sequence[Expr]], Expr]


def _arity(args: Sequence[Expr], name: str, least: int, most: int | None = None) -> None:
    most = least if most is None else most
    if not least <= len(args) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        plural = "" if most == 1 else "s"
        raise TypeProblem(f"{name} takes {wanted} argument{plural}, not {len(args)}")


def _if(args: Sequence[Expr]) -> Expr:
    _arity(args, "if", 3)
    condition, then, other = args
    return case([(condition, then)], other)


def _nvl2(args: Sequence[Expr]) -> Expr:
    _arity(args, "nvl2", 3)
    tested, then, other = args
    return case([(call("not", call("is_null", tested)), then)], other)


def _isnotnull(args: Sequence[Expr]) -> Expr:
    return call("not", call("is_null", *args))


def _zeroifnull(args: Sequence[Expr]) -> Expr:
    return call("coalesce", *args, literal(0))


def _nullifzero(args: Sequence[Expr]) -> Expr:
    return call("nullif", *args, literal(0))


def _instr(args: Sequence[Expr]) -> Expr:
    _arity(args, "instr", 2)
    return call("locate", args[1], args[0])


def _charindex(args: Sequence[Expr]) -> Expr:
    return call("locate", *args)


def _padded(name: str) -> Sugar:
    def sugar(args: Sequence[Expr]) -> Expr:
        return call(name, *args, literal(" ")) if len(args) == 2 else call(name, *args)

    return sugar


def _trimmed(name: str) -> Sugar:
    def sugar(args: Sequence[Expr]) -> Expr:
        return call(name, *reversed(args))  # Spark: ltrim(characters, text)

    return sugar


def _converted(name: str) -> Sugar:
    to = parse_type(name)

    def sugar(args: Sequence[Expr]) -> Expr:
        _arity(args, name, 1)
        return cast(args[0], to)

    return sugar


def _to_date(args: Sequence[Expr]) -> Expr:
    return cast(args[0], DATE) if len(args) == 1 else call("to_date", *args)


def _to_timestamp(args: Sequence[Expr]) -> Expr:
    _arity(args, "to_timestamp", 1)
    return cast(args[0], TIMESTAMP)


_PARTS: Final = MappingProxyType(
    {
        **dict.fromkeys(("YEAR", "Y", "YEARS", "YR", "YRS"), "year"),
        **dict.fromkeys(("QUARTER", "QTR"), "quarter"),
        **dict.fromkeys(("MONTH", "MON", "MONS", "MONTHS"), "month"),
        **dict.fromkeys(("WEEK", "W", "WEEKS"), "weekofyear"),
        **dict.fromkeys(("DAY", "D", "DAYS"), "day"),
        **dict.fromkeys(("DAYOFWEEK", "DOW"), "dayofweek"),
        "DOY": "dayofyear",
        **dict.fromkeys(("HOUR", "H", "HOURS", "HR", "HRS"), "hour"),
        **dict.fromkeys(("MINUTE", "M", "MIN", "MINS", "MINUTES"), "minute"),
    }
)


def extract(part: str, source: Expr) -> Expr:
    """EXTRACT(part FROM source) as the function of that part.

    >>> from datetime import date
    >>> extract("week", literal(date(2024, 1, 1))).function
    'weekofyear'
    """
    name = _PARTS.get(part.upper())
    if name is None:
        hint = "write second(x) for whole seconds" if part.upper().startswith("S") else None
        raise TypeProblem(
            f"EXTRACT knows no part `{part}`",
            hint=hint or "parts: " + ", ".join(dict.fromkeys(_PARTS.values())),
        )
    return call(name, source)


def _date_part(args: Sequence[Expr]) -> Expr:
    _arity(args, "date_part", 2)
    part, source = args
    if not isinstance(part, Literal) or not isinstance(part.value, str):
        raise TypeProblem("date_part takes the part as a string literal", argument=0)
    return extract(part.value, source)


SUGAR: Final[Mapping[str, Sugar]] = MappingProxyType(
    {
        "if": _if,
        "iff": _if,
        "nvl2": _nvl2,
        "isnotnull": _isnotnull,
        "zeroifnull": _zeroifnull,
        "nullifzero": _nullifzero,
        "instr": _instr,
        "charindex": _charindex,
        "position": _charindex,
        "lpad": _padded("lpad"),
        "rpad": _padded("rpad"),
        "ltrim": _trimmed("ltrim"),
        "rtrim": _trimmed("rtrim"),
        "to_date": _to_date,
        "to_timestamp": _to_timestamp,
        "date_part": _date_part,
        "datepart": _date_part,
        **{
            kind.value: _converted(kind.value)
            for kind in Kind
            if kind not in (Kind.NULL, Kind.INTERVAL, Kind.TIMESTAMP_NTZ)
        },
    }
)

_CALLABLE: Final = re.compile(r"[a-z_][a-z0-9_]*")
_OPERATORS: Final = frozenset({"and", "or", "not", "in", "is_null", "negate"})

NAMES: Final[frozenset[str]] = frozenset(
    name
    for name in (*FUNCTIONS, *ALIASES, *SUGAR)
    if _CALLABLE.fullmatch(name) and name not in _OPERATORS
)
"""Every function name that may be written in SQL."""


def apply(name: str, args: Sequence[Expr]) -> Expr:
    """Call a function by one of `NAMES`.

    >>> apply("nvl", [literal(None), literal(1)]).function
    'coalesce'
    """
    sugar = SUGAR.get(name)
    return sugar(args) if sugar else call(ALIASES.get(name, name), *args)


_DAYS: Final = MappingProxyType({"DAY": 1, "DAYS": 1, "WEEK": 7, "WEEKS": 7})
_MONTHS: Final = MappingProxyType({"MONTH": 1, "MONTHS": 1, "YEAR": 12, "YEARS": 12})


def shifted(start: Expr, amount: int, unit: str) -> Expr:
    """A date moved by an interval of whole days or months.

    >>> from datetime import date
    >>> shifted(literal(date(2024, 1, 31)), 2, "YEARS").args[1].value
    24
    """
    unit = unit.upper()
    if unit not in _DAYS and unit not in _MONTHS:
        raise TypeProblem(
            f"intervals of {unit.lower()} are not supported",
            hint="intervals: days, weeks, months, years",
        )
    if start.type.kind is not Kind.DATE:
        raise TypeProblem(
            f"an interval is added to a date, not to {start.type}",
            hint="convert it: CAST(… AS DATE)",
        )
    if unit in _DAYS:
        return call("date_add", start, literal(amount * _DAYS[unit]))
    return call("add_months", start, literal(amount * _MONTHS[unit]))
