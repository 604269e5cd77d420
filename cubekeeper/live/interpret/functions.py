"""Scalar functions on values that are not NULL; one row for each name of `scalar.FUNCTIONS`."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from cubekeeper.scalar.literals import parse_date, parse_timestamp
from cubekeeper.schema import DataType, Kind

Plain = Callable[..., Any]


@lru_cache(maxsize=4096)
def like_pattern(pattern: str, escape: str, ignore_case: bool) -> re.Pattern[str]:
    """A LIKE pattern as a regular expression.

    >>> bool(like_pattern("a!%%", "!", False).fullmatch("a%b"))
    True
    """
    out, index = "", 0
    while index < len(pattern):
        char = pattern[index]
        if char == escape and index + 1 < len(pattern):
            index += 1
            out += re.escape(pattern[index])
        else:
            out += {"%": ".*", "_": "."}.get(char, re.escape(char))
        index += 1
    return re.compile(out, re.DOTALL | (re.IGNORECASE if ignore_case else 0))


def _like(text: str, pattern: str, escape: str = "\\") -> bool:
    return like_pattern(pattern, escape, False).fullmatch(text) is not None


def _ilike(text: str, pattern: str, escape: str = "\\") -> bool:
    return like_pattern(pattern, escape, True).fullmatch(text) is not None


def _substring(text: str, start: int, length: int | None = None) -> str:
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    end = len(text) if length is None else begin + length
    return text[max(begin, 0) : max(end, 0)] if end > begin else ""


def _locate(part: str, text: str, start: int = 1) -> int:
    return text.find(part, start - 1) + 1 if start > 0 else 0


def _split_part(text: str, separator: str, index: int) -> str:
    parts = text.split(separator)
    at = index - 1 if index > 0 else len(parts) + index
    return parts[at] if 0 <= at < len(parts) else ""


def _initcap(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in text.split(" "))


def _pad(left: bool) -> Plain:
    def pad(text: str, length: int, fill: str) -> str:
        if length <= len(text) or not fill:
            return text[: max(length, 0)]
        filler = (fill * length)[: length - len(text)]
        return filler + text if left else text + filler

    return pad


def as_date(value: date) -> date:
    """The day of a date or timestamp."""
    return value.date() if isinstance(value, datetime) else value


def _date_add(day: date, days: int) -> date:
    return as_date(day) + timedelta(days=days)


def _add_months(day: date, months: int) -> date:
    day = as_date(day)
    count = day.year * 12 + day.month - 1 + months
    year, month = divmod(count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _last_day(day: date) -> date:
    return date(day.year, day.month, monthrange(day.year, day.month)[1])


def _trunc_date(day: date, unit: str) -> date:
    day = as_date(day)
    match unit:
        case "YEAR":
            return date(day.year, 1, 1)
        case "QUARTER":
            return date(day.year, 3 * ((day.month - 1) // 3) + 1, 1)
        case "MONTH":
            return day.replace(day=1)
        case _:
            return day - timedelta(days=day.weekday())


def _date_trunc(unit: str, moment: date) -> datetime:
    full = moment if isinstance(moment, datetime) else datetime(*moment.timetuple()[:3])
    zeros = {"DAY": ("hour",), "HOUR": (), "MINUTE": (), "SECOND": ()}
    if unit not in zeros:
        day = _trunc_date(full, unit)
        return datetime(day.year, day.month, day.day)
    cut = {"microsecond": 0}
    if unit in ("MINUTE", "HOUR", "DAY"):
        cut["second"] = 0
    if unit in ("HOUR", "DAY"):
        cut["minute"] = 0
    if unit == "DAY":
        cut["hour"] = 0
    return full.replace(**cut)  # type: ignore[arg-type]


def rounded(value: Any, digits: int, type: DataType, mode: str) -> Any:
    """A number rounded to some digits, in its type."""
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    result = exact.quantize(Decimal(1).scaleb(-digits), rounding=mode)
    return to_type(result, type)


def to_type(value: Any, type: DataType) -> Any:
    """A number in another numeric type."""
    if type.is_float:
        return float(value)
    if type.kind is Kind.DECIMAL:
        return Decimal(value)
    return int(value)


def _datediff(end: date, start: date) -> int:
    return (as_date(end) - as_date(start)).days


def _root(value: Any) -> float | None:
    return math.sqrt(value) if value >= 0 else None


def _log(function: Callable[[float], float]) -> Plain:
    return lambda value: function(value) if value > 0 else None


FUNCTIONS: Final[Mapping[str, Plain]] = MappingProxyType(
    {
        "negate": lambda a: -a,
        "abs": abs,
        "ceil": math.ceil,
        "floor": math.floor,
        "sign": lambda a: float((a > 0) - (a < 0)),
        "sqrt": _root,
        "exp": lambda a: math.exp(a),
        "ln": _log(math.log),
        "log10": _log(math.log10),
        "log2": _log(math.log2),
        "pow": lambda a, b: math.pow(a, b),
        "isnan": lambda a: isinstance(a, float) and math.isnan(a),
        "like": _like,
        "ilike": _ilike,
        "rlike": lambda text, pattern: re.search(pattern, text) is not None,
        "concat": lambda *parts: "".join(parts),
        "upper": str.upper,
        "lower": str.lower,
        "initcap": _initcap,
        "reverse": lambda text: text[::-1],
        "trim": lambda text, chars=" ": text.strip(chars),
        "ltrim": lambda text, chars=" ": text.lstrip(chars),
        "rtrim": lambda text, chars=" ": text.rstrip(chars),
        "length": len,
        "ascii": lambda text: ord(text[0]) if text else 0,
        "substring": _substring,
        "left": lambda text, count: text[: max(count, 0)],
        "right": lambda text, count: text[-count:] if count > 0 else "",
        "repeat": lambda text, count: text * max(count, 0),
        "replace": lambda text, old, new: text.replace(old, new) if old else text,
        "lpad": _pad(True),
        "rpad": _pad(False),
        "locate": _locate,
        "startswith": str.startswith,
        "endswith": str.endswith,
        "contains": lambda text, part: part in text,
        "split_part": _split_part,
        "trunc": _trunc_date,
        "date_trunc": _date_trunc,
        "year": lambda d: d.year,
        "quarter": lambda d: (d.month - 1) // 3 + 1,
        "month": lambda d: d.month,
        "weekofyear": lambda d: d.isocalendar()[1],
        "day": lambda d: d.day,
        "dayofweek": lambda d: (d.weekday() + 1) % 7 + 1,
        "weekday": lambda d: d.weekday(),
        "dayofyear": lambda d: d.timetuple().tm_yday,
        "hour": lambda d: d.hour if isinstance(d, datetime) else 0,
        "minute": lambda d: d.minute if isinstance(d, datetime) else 0,
        "second": lambda d: d.second if isinstance(d, datetime) else 0,
        "last_day": _last_day,
        "date_add": _date_add,
        "date_sub": lambda d, n: _date_add(d, -n),
        "add_months": _add_months,
        "datediff": _datediff,
        "unix_date": lambda d: _datediff(d, date(1970, 1, 1)),
    }
)

ROUNDINGS: Final = MappingProxyType({"round": ROUND_HALF_UP, "bround": ROUND_HALF_EVEN})


def converted(value: Any, source: DataType, target: DataType) -> Any:
    """CAST of a value that is not NULL; raises `ValueError` where it has no meaning."""
    kind = target.kind
    if kind is Kind.STRING:
        return _text(value)
    if kind is Kind.BOOLEAN:
        return value != 0 if source.is_numeric else _boolean(value)
    if target.is_numeric:
        return _number(value, target)
    if kind is Kind.DATE:
        found = parse_date(value[:10]) if isinstance(value, str) else as_date(value)
    elif isinstance(value, str):
        found = parse_timestamp(value)
    else:
        found = value if isinstance(value, datetime) else datetime(*value.timetuple()[:3])
    if found is None:
        raise ValueError(f"{value!r} is not a {target}")
    return found


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat(" ")
        case Decimal():
            return f"{value:f}"
        case _:
            return str(value)


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in ("t", "true", "y", "yes", "1"):
        return True
    if word in ("f", "false", "n", "no", "0"):
        return False
    raise ValueError(f"{text!r} is not a boolean")


_INTEGER_BITS: Final = {Kind.TINYINT: 7, Kind.SMALLINT: 15, Kind.INT: 31, Kind.BIGINT: 63}


def _number(value: Any, target: DataType) -> Any:
    if isinstance(value, str):
        try:
            value = Decimal(value.strip())
        except ArithmeticError:
            raise ValueError(f"{value!r} is not a number") from None
    if target.is_float:
        return float(value)
    if target.kind is Kind.DECIMAL:
        exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        result = exact.quantize(Decimal(1).scaleb(-target.scale), rounding=ROUND_HALF_UP)
        if abs(result) >= Decimal(10) ** (target.precision - target.scale):
            raise ValueError(f"{value} does not fit into {target}")
        return result
    whole = int(value)
    if not -(1 << _INTEGER_BITS[target.kind]) <= whole < 1 << _INTEGER_BITS[target.kind]:
        raise ValueError(f"{value} does not fit into {target}")
    return whole
