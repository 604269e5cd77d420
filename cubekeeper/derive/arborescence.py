"""The cheapest way to give every table a parent, so that nothing derives from itself.

Each table has ways in, each from another table or from outside (the base, or a table that is
there anyway). Taking the cheapest way of each is optimal unless tables that derive from each other
(the same groups) choose each other in a circle. Then the circle is contracted into one table
whose ways in are priced by what they cost more than the way they replace, and the rest is chosen
again: the minimum-cost arborescence of Chu, Liu and Edmonds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    circles = _circles(best)
    return _opened(ways, best, circles) if circles else best


def _price(way: WayIn) -> tuple[float, int, int]:
    return way[:3]


def _circles(chosen: Mapping[str, WayIn]) -> list[tuple[str, ...]]:
    """The circles in which one ends who follows the chosen ways back."""
    seen: dict[str, str] = {}
    circles = []
    for start in chosen:
        trail: list[str] = []
        name: str | None = start
        while name is not None and name in chosen and name not in seen:
            seen[name] = start
            trail.append(name)
            name = chosen[name].source
        if name is not None and seen.get(name) == start:
            circles.append(tuple(trail[trail.index(name) :]))
    return circles


def _opened(
    ways: Mapping[str, Sequence[WayIn]],
    best: Mapping[str, WayIn],
    circles: Sequence[tuple[str, ...]],
) -> dict[str, WayIn]:
    """Contract the circles, choose again, and open each circle where its chosen way comes in."""
    home = {name: circle[0] for circle in circles for name in circle}
    contracted: dict[str, dict[WayIn, tuple[str, WayIn]]] = {}
    for name, into in ways.items():
        target = home.get(name, name)
        entries = contracted.setdefault(target, {})
        for way in into:
            source = None if way.source is None else home.get(way.source, way.source)
            if source == target:
                continue
            over = best[name] if name in home else _FREE
            outer = WayIn(
                way.cost - over.cost, way.joins - over.joins, way.rank - over.rank, source
            )
            entries.setdefault(outer, (name, way))
    chosen = {name: way for name, way in best.items() if name in home}
    again = cheapest_parents(
        {target: sorted(entries, key=_price) for target, entries in contracted.items()}
    )
    for target, outer in again.items():
        name, way = contracted[target][outer]
        chosen[name] = way
    return {name: chosen[name] for name in ways}


_FREE = WayIn(0.0, 0, 0, None)


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
