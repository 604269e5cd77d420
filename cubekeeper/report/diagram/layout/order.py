"""Left and right within the rows: barycenter sweeps and swaps, the best order seen is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from cubekeeper.report.diagram.layout.sheet import Sheet

_SWEEPS: Final = 24
_PATIENCE: Final = 5
_SWAP_LIMIT: Final = 4000

_Neighbours = list[list[tuple[int, int]]]


def reduce_crossings(sheet: Sheet) -> Sheet:
    """Reorder the rows so that fewer lines cross, heavy ones least of all."""
    above, below = _neighbours(sheet)
    rows = [list(row) for row in sheet.rows]
    best, fewest = rows, _crossings(rows, below)
    waited = 0
    for sweep in range(_SWEEPS):
        if fewest == 0 or waited > _PATIENCE:
            break
        rows = [list(row) for row in rows]
        down = sweep % 2 == 0
        _sweep(rows, above if down else below, down=down, turn=sweep % 4 >= 2)
        if len(sheet.segments) <= _SWAP_LIMIT:
            _swap_neighbours(rows, above, below)
        count = _crossings(rows, below)
        waited = 0 if count < fewest else waited + 1
        if count < fewest:
            best, fewest = rows, count
    return replace(sheet, rows=tuple(tuple(row) for row in best))


def crossings(sheet: Sheet) -> int:
    """How often lines cross, each crossing counted with the weights of both."""
    return _crossings([list(row) for row in sheet.rows], _neighbours(sheet)[1])


def _neighbours(sheet: Sheet) -> tuple[_Neighbours, _Neighbours]:
    above: _Neighbours = [[] for _ in sheet.vertices]
    below: _Neighbours = [[] for _ in sheet.vertices]
    for segment in sheet.segments:
        above[segment.lower].append((segment.upper, segment.weight))
        below[segment.upper].append((segment.lower, segment.weight))
    return above, below


def _sweep(rows: list[list[int]], fixed: _Neighbours, *, down: bool, turn: bool) -> None:
    """Sort each row by where its neighbours in the row before it stand; `turn` reverses ties."""
    order = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
    position = {vertex: place for row in rows for place, vertex in enumerate(row)}
    for index in order:
        keys: dict[int, float] = {}
        for vertex in rows[index]:
            ends = fixed[vertex]
            total = sum(weight for _, weight in ends)
            keys[vertex] = (
                sum(position[end] * weight for end, weight in ends) / total
                if total
                else float(position[vertex])
            )
        row = list(reversed(rows[index])) if turn else rows[index]
        rows[index] = sorted(row, key=keys.__getitem__)
        position |= {vertex: place for place, vertex in enumerate(rows[index])}


def _swap_neighbours(rows: list[list[int]], above: _Neighbours, below: _Neighbours) -> None:
    position = {vertex: place for row in rows for place, vertex in enumerate(row)}
    for row in rows:
        for place in range(len(row) - 1):
            left, right = row[place], row[place + 1]
            now, swapped = 0, 0
            for ends in (above, below):
                kept, turned = _pair_crossings(ends[left], ends[right], position)
                now, swapped = now + kept, swapped + turned
            if swapped < now:
                row[place], row[place + 1] = right, left
                position[left], position[right] = place + 1, place


def _pair_crossings(
    left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]], position: dict[int, int]
) -> tuple[int, int]:
    """Crossings between the lines of two neighbours as they stand, and if they change places."""
    now = swapped = 0
    for one, one_weight in left:
        for other, other_weight in right:
            if position[one] > position[other]:
                now += one_weight * other_weight
            elif position[one] < position[other]:
                swapped += one_weight * other_weight
    return now, swapped


def _crossings(rows: list[list[int]], below: _Neighbours) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        position = {vertex: place for place, vertex in enumerate(lower)}
        tree = [0] * (len(lower) + 1)
        seen = 0
        for vertex in upper:
            ends = [(position[end], weight) for end, weight in below[vertex]]
            for place, weight in ends:
                total += weight * (seen - _prefix(tree, place + 1))
            for place, weight in ends:
                seen += weight
                _add(tree, place + 1, weight)
    return total


def _prefix(tree: list[int], index: int) -> int:
    total = 0
    while index > 0:
        total += tree[index]
        index &= index - 1
    return total


def _add(tree: list[int], index: int, amount: int) -> None:
    while index < len(tree):
        tree[index] += amount
        index += index & -index
