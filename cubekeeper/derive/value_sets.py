"""Sets of the values that an expression can have, as ranges over one kind of key.

Every value of an ordered type is encoded as a key, a tuple of integers that sorts as Spark sorts
the value: an integer or decimal by its unscaled digits, a date by its day, a string by its bytes, a
double by its bits with NaN behind infinity. Each key has a next one, so every range can be written
``[start, end)`` and sets of ranges are exact: over integers ``x > 4`` and ``x >= 5`` are one set.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Final

from cubekeeper.scalar.nodes import LiteralValue
from cubekeeper.schema import DataType, Kind

Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ValueSet:
    """Ranges ``[cuts[0], cuts[1])``, ``[cuts[2], cuts[3])`` … in order, and perhaps NULL."""

    cuts: tuple[Key, ...] = ()
    null: bool = False

    def __bool__(self) -> bool:
        return self.null or bool(self.cuts)

    def __contains__(self, key: Key | None) -> bool:
        if key is None:
            return self.null
        return bisect_right(self.cuts, key) % 2 == 1

    def __le__(self, other: ValueSet) -> bool:
        return intersection((self, other)) == self

    def isdisjoint(self, other: ValueSet) -> bool:
        """Whether nothing is in both."""
        return not intersection((self, other))

    @property
    def values(self) -> ValueSet:
        """The set without NULL."""
        return ValueSet(self.cuts)


EMPTY: Final = ValueSet()
ONLY_NULL: Final = ValueSet((), True)


def union(sets: Sequence[ValueSet]) -> ValueSet:
    """What is in any of the sets."""
    return ValueSet(_covered(sets, 1), any(part.null for part in sets))


def intersection(sets: Sequence[ValueSet]) -> ValueSet:
    """What is in all of the sets."""
    return ValueSet(_covered(sets, len(sets)), all(part.null for part in sets))


def _covered(sets: Sequence[ValueSet], wanted: int) -> tuple[Key, ...]:
    """The ranges that at least `wanted` of the sets hold."""
    steps: dict[Key, int] = {}
    for part in sets:
        for at, cut in enumerate(part.cuts):
            steps[cut] = steps.get(cut, 0) + (-1 if at % 2 else 1)
    cuts: list[Key] = []
    depth = 0
    for cut in sorted(steps):
        depth += steps[cut]
        if (depth >= wanted) != (len(cuts) % 2 == 1):
            cuts.append(cut)
    return tuple(cuts)


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of a type: the keys from `start` up to but not including `end`.

    A constant that is known only to within `blur` keys satisfies whatever it might satisfy.

    >>> from cubekeeper.schema import INT
    >>> ints = domain(INT)
    >>> ints.satisfying(">", Decimal("4.5")) == ints.satisfying(">=", 5)
    True
    """

    start: Key
    end: Key
    around: Callable[[LiteralValue], tuple[Key, Key] | None]
    blur: int = 0

    @property
    def all(self) -> ValueSet:
        """Every value, without NULL."""
        return ValueSet((self.start, self.end))

    def between(self, start: Key, end: Key) -> ValueSet:
        """The values from one key to before another, as far as the type has them."""
        start, end = max(start, self.start), min(end, self.end)
        return ValueSet((start, end)) if start < end else EMPTY

    def satisfying(self, operator: str, constant: LiteralValue) -> ValueSet | None:
        """The values for which ``value operator constant`` is TRUE; None if that is not known."""
        found = self.around(constant)
        if found is None:
            return None
        (first, first_late), (past_early, past) = (self._blurred(key) for key in found)
        match operator:
            case "<":
                return self.between(self.start, first_late)
            case "<=":
                return self.between(self.start, past)
            case ">":
                return self.between(past_early, self.end)
            case ">=":
                return self.between(first, self.end)
            case "=":
                return self.between(first, past)
            case "<>":
                less, greater = (
                    self.between(self.start, first_late),
                    self.between(past_early, self.end),
                )
                return union((less, greater))
            case _:
                raise ValueError(f"`{operator}` is no comparison")

    def _blurred(self, key: Key) -> tuple[Key, Key]:
        if not self.blur:
            return key, key
        return (key[0] - self.blur,), (key[0] + self.blur,)

    def starting_with(self, prefix: str) -> tuple[ValueSet, ValueSet]:
        """The strings that begin with a text, and those that do not."""
        low = tuple(prefix.encode())
        if not low:
            return self.all, EMPTY
        high = (*low[:-1], low[-1] + 1)
        rest = union((self.between(self.start, low), self.between(high, self.end)))
        return self.between(low, high), rest


@cache
def domain(type_: DataType) -> Domain:
    """The domain of a type; where values are not told apart it is a single one."""
    match type_.kind:
        case Kind.BOOLEAN:
            return Domain((0,), (2,), _on_grid(0))
        case Kind.TINYINT | Kind.SMALLINT | Kind.INT | Kind.BIGINT:
            limit = 1 << (_INTEGER_BITS[type_.kind] - 1)
            return Domain((-limit,), (limit,), _on_grid(0))
        case Kind.DECIMAL:
            limit = int(10**type_.precision)
            return Domain((1 - limit,), (limit,), _on_grid(type_.scale))
        case Kind.FLOAT | Kind.DOUBLE:
            return Domain(double_key(-math.inf), (NAN_KEY + 1,), _double)
        case Kind.STRING:
            return Domain((), (256,), _string)
        case Kind.DATE:
            return Domain((-(1 << 31),), (1 << 31,), _day)
        case Kind.TIMESTAMP_NTZ:
            return Domain((-(1 << 63),), (1 << 63,), _moment)
        case Kind.TIMESTAMP:
            return Domain((-(1 << 63),), (1 << 63,), _moment, blur=_ZONES_APART)
        case Kind.BINARY | Kind.INTERVAL | Kind.NULL:
            return Domain((0,), (1,), lambda _: None)


_INTEGER_BITS: Final = {Kind.TINYINT: 8, Kind.SMALLINT: 16, Kind.INT: 32, Kind.BIGINT: 64}


def _on_grid(scale: int) -> Callable[[LiteralValue], tuple[Key, Key] | None]:
    def around(constant: LiteralValue) -> tuple[Key, Key] | None:
        if isinstance(constant, float) and not math.isfinite(constant):
            return None
        if not isinstance(constant, bool | int | float | Decimal):
            return None
        exact = Fraction(constant) * 10**scale
        return (math.ceil(exact),), (math.floor(exact) + 1,)

    return around


NAN_KEY: Final = 0x7FF0_0000_0000_0001  # next to infinity


NAN: Final = ValueSet(((NAN_KEY,), (NAN_KEY + 1,)))


def double_key(value: float) -> Key:
    """The key of a double; both zeros have the same."""
    if math.isnan(value):
        return (NAN_KEY,)
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(value)))
    return (bits if value > 0 else -bits,)


def _double(constant: LiteralValue) -> tuple[Key, Key] | None:
    if isinstance(constant, bool) or not isinstance(constant, int | float | Decimal):
        return None
    try:
        key = double_key(float(constant))
    except OverflowError:
        return None
    return key, (key[0] + 1,)


def _string(constant: LiteralValue) -> tuple[Key, Key] | None:
    if not isinstance(constant, str):
        return None
    key = tuple(constant.encode())
    return key, (*key, 0)


_EPOCH: Final = datetime(1970, 1, 1)
MICROSECONDS_PER_DAY: Final = 86_400_000_000
_ZONES_APART: Final = 13 * MICROSECONDS_PER_DAY // 24
"""How far the instant of a local time may lie from where one zone usually puts it.

A zone's clock has never been more than a day and two hours apart from itself (the date line
moved across it, summer time); half of that to either side.
"""


def day_key(day: date) -> Key:
    """The key of a date."""
    return (day.toordinal() - _EPOCH.toordinal(),)


def key_day(key: Key) -> date:
    """The date of a key."""
    return date.fromordinal(key[0] + _EPOCH.toordinal())


def _day(constant: LiteralValue) -> tuple[Key, Key] | None:
    if isinstance(constant, datetime) or not isinstance(constant, date):
        return None
    (key,) = day_key(constant)
    return (key,), (key + 1,)


def _moment(constant: LiteralValue) -> tuple[Key, Key] | None:
    if not isinstance(constant, date):
        return None
    if not isinstance(constant, datetime):
        constant = datetime(constant.year, constant.month, constant.day)
    key = (constant - _EPOCH) // timedelta(microseconds=1)
    return (key,), (key + 1,)
