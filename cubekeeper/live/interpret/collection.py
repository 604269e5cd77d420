"""Collections: tuples mapped to numbers that are not 0, with indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from cubekeeper.live.calculus.build import number
from cubekeeper.live.calculus.nodes import Number
from cubekeeper.schema import DataType, Kind

Key = tuple[Any, ...]


def to_ring(value: Any) -> Number:
    """A scalar value as a ring value: NULL counts 0.

    >>> to_ring(None), to_ring(Decimal("1.50")), to_ring(0.5)
    (0, Fraction(3, 2), Fraction(1, 2))
    """
    if value is None:
        return 0
    return value if isinstance(value, int) else number(value)


def from_ring(value: Number, type: DataType) -> Any:
    """A ring value as a scalar value of a type.

    >>> from fractions import Fraction
    >>> from cubekeeper.schema import decimal
    >>> from_ring(Fraction(3, 2), decimal(5, 2))
    Decimal('1.50')
    """
    if type.is_float:
        return float(value)
    if type.kind is Kind.DECIMAL:
        scaled = value * 10**type.scale
        whole = scaled if isinstance(scaled, int) else round(scaled)
        return Decimal(whole).scaleb(-type.scale)
    return value if isinstance(value, int) else int(value)


class Collection:
    """A function from tuples to numbers with finite support; zeros are never kept."""

    def __init__(self, rows: Mapping[Key, Number] | Iterable[tuple[Key, Number]] = ()) -> None:
        self.rows: dict[Key, Number] = {}
        self._indexes: dict[tuple[int, ...], dict[Key, dict[Key, None]]] = {}
        for key, count in rows.items() if isinstance(rows, Mapping) else rows:
            self.add(key, count)

    def add(self, key: Key, count: Number) -> None:
        """Add to the number of a tuple."""
        old = self.rows.get(key, 0)
        new = old + count
        if new:
            self.rows[key] = new
            if not old:
                for positions, index in self._indexes.items():
                    index.setdefault(tuple(key[p] for p in positions), {})[key] = None
        elif old:
            del self.rows[key]
            for positions, index in self._indexes.items():
                part = tuple(key[p] for p in positions)
                slot = index[part]
                del slot[key]
                if not slot:
                    del index[part]

    def get(self, key: Key) -> Number:
        """The number of a tuple."""
        return self.rows.get(key, 0)

    def matching(self, positions: tuple[int, ...], part: Key) -> Iterator[tuple[Key, Number]]:
        """The tuples with given values at some positions."""
        if not positions:
            yield from self.rows.items()
            return
        index = self._indexes.get(positions)
        if index is None:
            index = self._indexes[positions] = {}
            for key in self.rows:
                index.setdefault(tuple(key[p] for p in positions), {})[key] = None
        rows = self.rows
        for key in index.get(part, ()):
            yield key, rows[key]

    def replace(self, rows: Mapping[Key, Number]) -> None:
        """Take on new contents, keeping the indexes."""
        for key in [key for key in self.rows if key not in rows]:
            self.add(key, -self.rows[key])
        for key, count in rows.items():
            self.add(key, count - self.rows.get(key, 0))

    def __len__(self) -> int:
        return len(self.rows)
