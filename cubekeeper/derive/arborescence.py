"""The cheapest way to give every table a parent, so that nothing derives from itself.

Each table has ways in, each from another table or from outside (the base, or a table that is
there anyway). Taking the cheapest way of each is optimal unless tables that derive from each other
(the same groups) choose each other in a circle. Then the circle is contracted into one table
whose ways in are priced by what they cost more than the way they replace, and the choice goes on:
the minimum-cost arborescence of Chu, Liu and Edmonds, by Tarjan's walk with mergeable queues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple


class WayIn(NamedTuple):
    """A way into a table, from a source; None, or a source that is no table here, is outside.

    Ways compare by cost; among equals fewer joins win, then the source that was declared first.
    """

    cost: float
    joins: int
    rank: int
    source: str | None


def cheapest_parents(ways: Mapping[str, Sequence[WayIn]]) -> dict[str, WayIn]:
    """For each table one of its ways in, the total price least, without circles.

    The ways of a table come cheapest first, and one of them from outside.

    >>> a_from = [WayIn(1.0, 0, 1, "b"), WayIn(9.0, 0, 0, None)]
    >>> b_from = [WayIn(1.0, 0, 2, "a"), WayIn(5.0, 0, 0, None)]
    >>> {n: way.source for n, way in cheapest_parents({"a": a_from, "b": b_from}).items()}
    {'a': 'b', 'b': None}
    """
    best = {name: into[0] for name, into in ways.items()}
    return _Walk(ways).chosen() if _has_circle(best) else best


def _has_circle(chosen: Mapping[str, WayIn]) -> bool:
    seen: dict[str, str] = {}
    for start in chosen:
        name: str | None = start
        while name is not None and name in chosen and name not in seen:
            seen[name] = start
            name = chosen[name].source
        if name is not None and name in chosen and seen[name] == start:
            return True
    return False


Price = tuple[float, int, int]


def _plus(one: Price, two: Price) -> Price:
    return (one[0] + two[0], one[1] + two[1], one[2] + two[2])


def _minus(one: Price, two: Price) -> Price:
    return (one[0] - two[0], one[1] - two[1], one[2] - two[2])


class _Walk:
    """Follows cheapest ways back until outside; a circle on the way becomes one new table.

    Tables are numbers; those made of circles come after the given ones. Each has a queue of the
    next ways of the given tables in it. What the queue says, less the table's discount, is the
    price: contracting changes the discount, and only the smaller queue is written anew.
    """

    def __init__(self, ways: Mapping[str, Sequence[WayIn]]) -> None:
        self._names = list(ways)
        self._number = {name: at for at, name in enumerate(self._names)}
        self._ways = [ways[name] for name in self._names]
        count = len(self._names)
        self._position = [0] * count
        self._markup: list[Price] = [(0.0, 0, 0)] * count
        self._queues: list[list[tuple[Price, int]]] = [
            [(into[0][:3], at)] for at, into in enumerate(self._ways)
        ]
        self._discount: list[Price] = [(0.0, 0, 0)] * count
        self._within: dict[int, int] = {}
        self._root = list(range(count))
        self._price: dict[int, Price] = {}
        self._chosen: dict[int, tuple[int, WayIn]] = {}

    def chosen(self) -> dict[str, WayIn]:
        """One way for each table."""
        settled: set[int] = set()
        for start in range(len(self._names)):
            path: list[int] = []
            at: int | None = self._top(start)
            while at is not None and at not in settled:
                path.append(at)
                source = self._take(at)
                if source in path:
                    circle = path[path.index(source) :]
                    del path[path.index(source) :]
                    source = self._contract(circle)
                at = source
            settled.update(path)
        self._open_circles()
        return {name: self._chosen[at][1] for at, name in enumerate(self._names)}

    def _top(self, at: int) -> int:
        """The table made of circles that a table is in by now."""
        while self._root[at] != at:
            self._root[at] = self._root[self._root[at]]
            at = self._root[at]
        return at

    def _take(self, at: int) -> int | None:
        """Choose the cheapest way into a table that does not start in it; its source, or None."""
        queue = self._queues[at]
        while True:
            price, given = heappop(queue)
            way = self._ways[given][self._position[given]]
            self._position[given] += 1
            if self._position[given] < len(self._ways[given]):
                following = self._ways[given][self._position[given]]
                heappush(queue, (_plus(following[:3], self._markup[given]), given))
            number = None if way.source is None else self._number.get(way.source)
            source = None if number is None else self._top(number)
            if source != at:
                self._chosen[at] = (given, way)
                self._price[at] = _minus(price, self._discount[at])
                return source

    def _contract(self, circle: Sequence[int]) -> int:
        """Make one table of a circle; each way into it now costs what it costs more."""
        made = len(self._queues)
        for at in circle:
            self._discount[at] = _plus(self._discount[at], self._price[at])
            self._within[at] = made
            self._root[at] = made
        largest = max(circle, key=lambda at: len(self._queues[at]))
        queue = self._queues[largest]
        for at in circle:
            if at != largest:
                change = _minus(self._discount[largest], self._discount[at])
                for price, given in self._queues[at]:
                    self._markup[given] = _plus(self._markup[given], change)
                    heappush(queue, (_plus(price, change), given))
        self._queues.append(queue)
        self._discount.append(self._discount[largest])
        self._root.append(made)
        return made

    def _open_circles(self) -> None:
        """From the outermost circle inwards: the way into a circle replaces that of the table in
        which it ends."""
        for made in reversed(range(len(self._names), len(self._queues))):
            given, way = self._chosen[made]
            entered = given
            while self._within[entered] != made:
                entered = self._within[entered]
            self._chosen[entered] = (given, way)


def parents_first(parents: Mapping[str, str | None], order: Iterable[str]) -> list[str]:
    """Tables sorted so that each comes after its parent, else as in `order`.

    >>> parents_first({"a": "b", "b": None, "c": "a"}, ["a", "b", "c"])
    ['b', 'a', 'c']
    """
    done: dict[str, None] = {}
    for name in order:
        trail = []
        at: str | None = name
        while at is not None and at in parents and at not in done:
            trail.append(at)
            at = parents[at]
        done.update(dict.fromkeys(reversed(trail)))
    return list(done)
