"""How far to the right: each row as close to its neighbours' wishes as its order allows.

A row's places minimise the weighted squares of the distances to where each vertex would like to
be, under the least distances between neighbours: a monotone regression, solved exactly by pooling.
Sweeps over the rows let the wishes settle; chains of bends wish hardest, so long lines are upright.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cubekeeper.report.diagram.layout.graph import Spacing
from cubekeeper.report.diagram.layout.sheet import Part, Sheet
from cubekeeper.report.diagram.layout.straighten import (
    SLANT,
    straighten_chains,
    straighten_segments,
)

_SETTLE: Final = 6
_POLISH: Final = 14
_LARGE: Final = 8000
_UPRIGHT: Final = 6.0
_LOOSE: Final = 0.01
_CORNER: Final = 22.0
_PORT: Final = 4.0

_Pulls = list[list[tuple[int, float, float]]]


@dataclass(frozen=True, slots=True)
class Across:
    """The x of every vertex, and for every segment the offsets of its ports at both ends."""

    x: tuple[float, ...]
    ports: tuple[tuple[float, float], ...]


def place_across(sheet: Sheet, spacing: Spacing) -> Across:
    """Give every vertex its x; rows keep their order and no two vertices come too close."""
    ports = _ports(sheet, spacing)
    above, below = _pulls(sheet, ports)
    offsets = [_offsets(sheet, row, spacing) for row in sheet.rows]
    x = [0.0] * len(sheet.vertices)
    for row, offset in zip(sheet.rows, offsets, strict=True):
        middle = offset[-1] / 2 if offset else 0.0
        for vertex, place in zip(row, offset, strict=True):
            x[vertex] = place - middle
    last = len(sheet.rows) - 1
    polish = _POLISH if len(sheet.vertices) <= _LARGE else _POLISH // 4
    for step in range(_SETTLE + polish):
        down = step % 2 == 0
        both = step >= _SETTLE
        for index in range(last + 1) if down else range(last, -1, -1):
            sides = (above, below) if both else ((above,) if down else (below,))
            _settle_row(sheet.rows[index], offsets[index], x, sides)
    straighten_chains(sheet, offsets, ports, x)
    straighten_segments(sheet, offsets, ports, x)
    return Across(tuple(x), _shifted_ports(sheet, ports, x))


def _settle_row(
    row: Sequence[int], offset: Sequence[float], x: list[float], sides: Sequence[_Pulls]
) -> None:
    wishes: list[tuple[float, float]] = []
    for vertex, place in zip(row, offset, strict=True):
        total, pull = _LOOSE, _LOOSE * x[vertex]
        for side in sides:
            for end, shift, weight in side[vertex]:
                total += weight
                pull += weight * (x[end] + shift)
        wishes.append((pull / total - place, total))
    for vertex, place, level in zip(row, offset, monotone_fit(wishes), strict=True):
        x[vertex] = level + place


def monotone_fit(wishes: Sequence[tuple[float, float]]) -> list[float]:
    """The non-decreasing numbers nearest to weighted wishes (pool adjacent violators).

    >>> monotone_fit([(1.0, 1.0), (4.0, 1.0), (2.0, 3.0), (9.0, 1.0)])
    [1.0, 2.5, 2.5, 9.0]
    """
    pools: list[tuple[float, float, int]] = []
    for value, weight in wishes:
        size = 1
        while pools and pools[-1][0] > value:
            before, before_weight, before_size = pools.pop()
            value = (value * weight + before * before_weight) / (weight + before_weight)
            weight += before_weight
            size += before_size
        pools.append((value, weight, size))
    return [value for value, _, size in pools for _ in range(size)]


def _offsets(sheet: Sheet, row: Sequence[int], spacing: Spacing) -> list[float]:
    """The place of each vertex in a row packed as tightly as it may be."""
    places: list[float] = []
    for index, vertex in enumerate(row):
        if index == 0:
            places.append(0.0)
            continue
        left, right = sheet.vertices[row[index - 1]], sheet.vertices[vertex]
        cards = (left.part is Part.CARD) + (right.part is Part.CARD)
        gap = (spacing.between_lanes, spacing.beside_card, spacing.between_cards)[cards]
        places.append(places[-1] + (left.width + right.width) / 2 + gap)
    return places


def _ports(sheet: Sheet, spacing: Spacing) -> list[tuple[float, float]]:
    """Where on a card's edge each line ends: side by side, in the order of their other ends."""
    position = {vertex: place for row in sheet.rows for place, vertex in enumerate(row)}
    out = [0.0] * len(sheet.segments)
    into = [0.0] * len(sheet.segments)
    for card, leaving, arriving in _sides(sheet):
        room = max(sheet.vertices[card].width - 2 * _CORNER, 0.0)
        leaving.sort(key=lambda index: position[sheet.segments[index].lower])
        arriving.sort(key=lambda index: position[sheet.segments[index].upper])
        for ends, offsets in ((leaving, out), (arriving, into)):
            step = min(spacing.port, room / (len(ends) - 1)) if len(ends) > 1 else 0.0
            for place, index in enumerate(ends):
                offsets[index] = (place - (len(ends) - 1) / 2) * step
    return list(zip(out, into, strict=True))


def _shifted_ports(
    sheet: Sheet, ports: Sequence[tuple[float, float]], x: Sequence[float]
) -> tuple[tuple[float, float], ...]:
    """Ports moved a little where that makes a line upright and crowds no other."""
    moved = [list(pair) for pair in ports]
    for card, *sides in _sides(sheet):
        edge = sheet.vertices[card].width / 2 - _CORNER
        for side, ends in enumerate(sides):
            ends.sort(key=lambda index, side=side: ports[index][side])  # type: ignore[misc]
            for place, index in enumerate(ends):
                segment = sheet.segments[index]
                other = segment.upper if side else segment.lower
                wish = x[other] + moved[index][1 - side] - x[card]
                least = moved[ends[place - 1]][side] + _PORT if place else -edge
                most = moved[ends[place + 1]][side] - _PORT if place + 1 < len(ends) else edge
                if abs(wish - moved[index][side]) < SLANT and least <= wish <= most:
                    moved[index][side] = wish
    return tuple((out, into) for out, into in moved)


def _sides(sheet: Sheet) -> Iterator[tuple[int, list[int], list[int]]]:
    """Every card with the segments that leave it and those that arrive."""
    leaving: list[list[int]] = [[] for _ in sheet.vertices]
    arriving: list[list[int]] = [[] for _ in sheet.vertices]
    for index, segment in enumerate(sheet.segments):
        leaving[segment.upper].append(index)
        arriving[segment.lower].append(index)
    for index, vertex in enumerate(sheet.vertices):
        if vertex.part is Part.CARD:
            yield index, leaving[index], arriving[index]


def _pulls(sheet: Sheet, ports: Sequence[tuple[float, float]]) -> tuple[_Pulls, _Pulls]:
    above: _Pulls = [[] for _ in sheet.vertices]
    below: _Pulls = [[] for _ in sheet.vertices]
    for segment, (out, into) in zip(sheet.segments, ports, strict=True):
        bends = sum(
            sheet.vertices[end].part is not Part.CARD for end in (segment.upper, segment.lower)
        )
        weight = segment.weight * (1.0, 2.0, _UPRIGHT)[bends]
        above[segment.lower].append((segment.upper, out - into, weight))
        below[segment.upper].append((segment.lower, into - out, weight))
    return above, below
