"""Two results compared as bags: exactly, with a tolerance only where numbers are inexact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import zip_longest

Value = object
Row = tuple[Value, ...]

RELATIVE = 1e-9
ABSOLUTE = 1e-6


@dataclass(frozen=True)
class Difference:
    """The rows that only one of two results has; falsy when there are none."""

    only_left: tuple[Row, ...]
    only_right: tuple[Row, ...]

    def __bool__(self) -> bool:
        return bool(self.only_left or self.only_right)

    def describe(self, columns: Sequence[str], left: str, right: str, most: int = 5) -> str:
        """A few of the rows, under the names of their columns."""
        lines = [f"columns: {', '.join(columns)}"]
        for name, rows in ((left, self.only_left), (right, self.only_right)):
            lines.append(f"only in {name}: {len(rows)} rows")
            lines += [f"  {', '.join(map(repr, row))}" for row in rows[:most]]
        return "\n".join(lines)


def bag_difference(
    left: Iterable[Row], right: Iterable[Row], inexact: Sequence[bool] = ()
) -> Difference:
    """What two bags of rows do not share; columns marked `inexact` may differ a little.

    >>> bool(bag_difference([(1, None), (1, None)], [(1, None)]))
    True
    >>> bool(bag_difference([("a", 0.1 + 0.2)], [("a", 0.3)], [False, True]))
    False
    """
    ours, theirs = _grouped(left, inexact), _grouped(right, inexact)
    only_left: list[Row] = []
    only_right: list[Row] = []
    for exact in ours.keys() | theirs.keys():
        pairs = zip_longest(
            sorted(ours.get(exact, ()), key=_order), sorted(theirs.get(exact, ()), key=_order)
        )
        for one, two in pairs:
            if one is not None and two is not None and all(map(_close, one, two)):
                continue
            if one is not None:
                only_left.append(exact + one)
            if two is not None:
                only_right.append(exact + two)
    return Difference(tuple(only_left), tuple(only_right))


def _grouped(rows: Iterable[Row], inexact: Sequence[bool]) -> dict[Row, list[Row]]:
    """The inexact parts of the rows by their exact parts."""
    groups: dict[Row, list[Row]] = {}
    for row in rows:
        marks = inexact or [False] * len(row)
        exact = tuple(_plain(value) for value, loose in zip(row, marks, strict=True) if not loose)
        rest = tuple(_plain(value) for value, loose in zip(row, marks, strict=True) if loose)
        groups.setdefault(exact, []).append(rest)
    return groups


def _plain(value: Value) -> Value:
    """Values that are equal in SQL are equal in Python: NaN, and times in any zone."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _order(row: Row) -> list[tuple[bool, float]]:
    return [(value is None, float(str(value)) if value is not None else 0.0) for value in row]


def _close(one: Value, two: Value) -> bool:
    if isinstance(one, int | float | Decimal) and isinstance(two, int | float | Decimal):
        return math.isclose(float(one), float(two), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return one == two
