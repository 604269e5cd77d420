"""Taking bends out of lines, where the neighbours leave room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cubekeeper.report.diagram.layout.sheet import Sheet

SLANT: Final = 9.0
"""A slant this small looks like a mistake."""


def straighten_chains(
    sheet: Sheet,
    offsets: Sequence[Sequence[float]],
    ports: Sequence[tuple[float, float]],
    x: list[float],
) -> None:
    """Make long lines upright between their ends, the longest first.

    A line that can go straight down from where it begins, or straight down to where it ends, has
    one turn; otherwise it has two.
    """
    room = _Room(sheet, offsets, x)
    first = 0
    ends: list[tuple[int, int, float, float]] = []
    for number, chain in enumerate(sheet.chains):
        last = first + len(chain) - 2
        if len(chain) > 3:
            begin, end = x[chain[0]] + ports[first][0], x[chain[-1]] + ports[last][1]
            ends.append((-len(chain), number, begin, end))
        first = last + 1
    for _, number, begin, end in sorted(ends):
        for run in _runs(sheet.chains[number][1:-1], room):
            least = max(room.least(vertex) for vertex in run)
            most = min(room.most(vertex) for vertex in run)
            middle = sorted(x[vertex] for vertex in run)[len(run) // 2]
            straight = [wish for wish in (begin, end) if least <= wish <= most]
            goal = min(straight, key=lambda wish: abs(wish - middle)) if straight else middle
            for vertex in run:
                x[vertex] = min(max(goal, least), most)


def _runs(chain: Sequence[int], room: _Room) -> Iterator[list[int]]:
    """The pieces of a chain that can each be upright, as long as they come."""
    run: list[int] = []
    least, most = float("-inf"), float("inf")
    for vertex in chain:
        left, right = max(least, room.least(vertex)), min(most, room.most(vertex))
        if run and left > right:
            yield run
            run, left, right = [], room.least(vertex), room.most(vertex)
        run.append(vertex)
        least, most = left, right
    yield run


def straighten_segments(
    sheet: Sheet,
    offsets: Sequence[Sequence[float]],
    ports: Sequence[tuple[float, float]],
    x: list[float],
) -> None:
    """Take out the last small slants, along the heaviest line into each vertex."""
    room = _Room(sheet, offsets, x)
    heaviest: dict[int, tuple[int, int]] = {}
    for index, segment in enumerate(sheet.segments):
        if segment.weight > heaviest.get(segment.lower, (0, 0))[0]:
            heaviest[segment.lower] = (segment.weight, index)
    for row in sheet.rows:
        for vertex in row:
            if vertex not in heaviest:
                continue
            index = heaviest[vertex][1]
            out, into = ports[index]
            wish = x[sheet.segments[index].upper] + out - into
            small = 0 < abs(wish - x[vertex]) < SLANT
            if small and room.least(vertex) <= wish <= room.most(vertex):
                x[vertex] = wish


class _Room:
    """How far each vertex may move while all others stay where they are now."""

    def __init__(self, sheet: Sheet, offsets: Sequence[Sequence[float]], x: list[float]) -> None:
        self._x = x
        self._left: dict[int, tuple[int, float]] = {}
        self._right: dict[int, tuple[int, float]] = {}
        for row, offset in zip(sheet.rows, offsets, strict=True):
            for place in range(1, len(row)):
                apart = offset[place] - offset[place - 1]
                self._left[row[place]] = (row[place - 1], apart)
                self._right[row[place - 1]] = (row[place], apart)

    def least(self, vertex: int) -> float:
        """The leftmost place that is free."""
        if vertex not in self._left:
            return float("-inf")
        other, apart = self._left[vertex]
        return self._x[other] + apart

    def most(self, vertex: int) -> float:
        """The rightmost place that is free."""
        if vertex not in self._right:
            return float("inf")
        other, apart = self._right[vertex]
        return self._x[other] - apart
