"""The whole layout: parts side by side, each ranked, cut into rows, ordered, placed and routed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Final

from cubekeeper.report.diagram.layout.graph import (
    Graph,
    Layout,
    Placed,
    Route,
    Spacing,
    Station,
)
from cubekeeper.report.diagram.layout.order import reduce_crossings
from cubekeeper.report.diagram.layout.place import Across, place_across
from cubekeeper.report.diagram.layout.ranks import longest_path_ranks, parts, spread
from cubekeeper.report.diagram.layout.sheet import Part, Sheet, build_sheet

_LANE: Final = 2.0
_LEAN: Final = 30.0
_TOO_WIDE: Final = 1.3
_WIDE_ENOUGH: Final = 1900.0
_SCREEN: Final = 1.6


def arrange(graph: Graph, spacing: Spacing | None = None) -> Layout:
    """Lay out a graph of boxes.

    >>> from cubekeeper.report.diagram.layout.graph import Arc, Box
    >>> layout = arrange(Graph((Box(80, 40), Box(80, 40)), (Arc(0, 1),)))
    >>> upper, lower = layout.boxes
    >>> upper.x == lower.x and upper.bottom < lower.y
    True
    """
    spacing = spacing or Spacing()
    pieces = []
    for members in parts(len(graph.boxes), graph.arcs):
        index = {box: place for place, box in enumerate(members)}
        inside = [number for number, arc in enumerate(graph.arcs) if arc.tail in index]
        part = Graph(
            tuple(graph.boxes[box] for box in members),
            tuple(
                replace(arc, tail=index[arc.tail], head=index[arc.head])
                for arc in (graph.arcs[number] for number in inside)
            ),
        )
        pieces.append((members, inside, _arrange_part(part, spacing)))
    return _pack(graph, pieces, spacing)


def _arrange_part(graph: Graph, spacing: Spacing) -> Layout:
    ranks = longest_path_ranks(len(graph.boxes), graph.arcs)
    hint = spread(len(graph.boxes), graph.arcs)
    sheet = reduce_crossings(build_sheet(graph, ranks, hint, lane=_LANE))
    split = _split_wide_ranks(graph, ranks, sheet, spacing)
    if split is not None:
        rows, hint = split
        sheet = reduce_crossings(build_sheet(graph, rows, hint, lane=_LANE))
    return _route(graph, sheet, place_across(sheet, spacing), spacing)


def _split_wide_ranks(
    graph: Graph, ranks: Sequence[int], sheet: Sheet, spacing: Spacing
) -> tuple[list[int], list[float]] | None:
    """Several rows for a rank that would make the picture a ribbon, its cards dealt out in turn."""
    by_rank: dict[int, list[int]] = {}
    for row in sheet.rows:
        for vertex in row:
            if sheet.vertices[vertex].part is Part.CARD:
                by_rank.setdefault(ranks[vertex], []).append(vertex)
    widths = {
        rank: sum(graph.boxes[box].width + spacing.between_cards for box in cards)
        for rank, cards in by_rank.items()
    }
    gaps = 5.5 if any(arc.label for arc in graph.arcs) else 2.5
    pitch = max(box.height for box in graph.boxes) + gaps * spacing.gap
    target = sqrt(sum(widths.values()) * pitch * spacing.aspect)
    if max(widths.values()) <= max(_TOO_WIDE * target, _WIDE_ENOUGH):
        return None
    rows = [0] * len(graph.boxes)
    hint = [0.0] * len(graph.boxes)
    first = 0
    for rank in sorted(by_rank):
        count = max(1, ceil(widths[rank] / target - (_TOO_WIDE - 1)))
        for place, box in enumerate(by_rank[rank]):
            rows[box] = first + place % count
            hint[box] = (place + 0.5) / len(by_rank[rank])
        first += count
    return rows, hint


def _route(graph: Graph, sheet: Sheet, across: Across, spacing: Spacing) -> Layout:
    tops, bottoms = _rows_down(graph, sheet, across, spacing)
    boxes = tuple(
        Placed(across.x[index], tops[sheet.vertices[index].row], box.width, box.height)
        for index, box in enumerate(graph.boxes)
    )
    card_rows = {sheet.vertices[index].row for index in range(len(graph.boxes))}
    label_rows = set(range(len(sheet.rows))) - card_rows
    routes: list[Route] = []
    number = 0
    for chain in sheet.chains:
        out, into = across.ports[number][0], across.ports[number + len(chain) - 2][1]
        number += len(chain) - 1
        tail, head = boxes[chain[0]], boxes[chain[-1]]
        row = sheet.vertices[chain[0]].row
        stations = [Station(tail.x + out, tail.bottom, bottoms[row])]
        label: tuple[float, float] | None = None
        for vertex in chain[1:-1]:
            row = sheet.vertices[vertex].row
            x = across.x[vertex]
            if row in label_rows:
                middle = (tops[row] + bottoms[row]) / 2
                lean = max(sheet.vertices[vertex].width, _LEAN) / spacing.label_height
                stations.append(Station(x, middle, middle, lean))
                if sheet.vertices[vertex].part is Part.LABEL:
                    label = (x, middle)
            else:
                stations.append(Station(x, tops[row], bottoms[row]))
        stations.append(Station(head.x + into, head.y, head.y))
        routes.append(Route(tuple(stations), label))
    return _framed(boxes, routes, sheet, across, bottoms)


def _rows_down(
    graph: Graph, sheet: Sheet, across: Across, spacing: Spacing
) -> tuple[list[float], list[float]]:
    """The upper and lower edge of every row; rows between which lines swing far stand apart."""
    heights = [
        max(
            (
                graph.boxes[vertex].height
                if sheet.vertices[vertex].part is Part.CARD
                else spacing.label_height
                if sheet.vertices[vertex].part is Part.LABEL
                else 0.0
            )
            for vertex in row
        )
        for row in sheet.rows
    ]
    swing = [0.0] * len(sheet.rows)
    for segment, (out, into) in zip(sheet.segments, across.ports, strict=True):
        row = sheet.vertices[segment.lower].row
        far = abs(across.x[segment.upper] + out - across.x[segment.lower] - into)
        swing[row] = max(swing[row], far)
    tops, bottoms = [], []
    y = 0.0
    for row, height in enumerate(heights):
        if row:
            y += min(spacing.most_gap, spacing.gap + 0.07 * swing[row])
        tops.append(y)
        y += height
        bottoms.append(y)
    return tops, bottoms


def _framed(
    boxes: Sequence[Placed],
    routes: Sequence[Route],
    sheet: Sheet,
    across: Across,
    bottoms: Sequence[float],
) -> Layout:
    """Shift everything so that the frame begins at (0, 0)."""
    half = [
        (across.x[i] - v.width / 2, across.x[i] + v.width / 2) for i, v in enumerate(sheet.vertices)
    ]
    left = min(edge for edge, _ in half)
    right = max(edge for _, edge in half)
    return Layout(
        right - left,
        max(bottoms),
        tuple(_moved_box(box, -left, 0.0) for box in boxes),
        tuple(_moved_route(route, -left, 0.0) for route in routes),
    )


def _pack(
    graph: Graph, pieces: Sequence[tuple[list[int], list[int], Layout]], spacing: Spacing
) -> Layout:
    """Parts on shelves, left to right, in their own order; as many shelves as suit a screen."""
    boxes: list[Placed | None] = [None] * len(graph.boxes)
    routes: list[Route | None] = [None] * len(graph.arcs)
    sizes = [(piece.width, piece.height) for _, _, piece in pieces]
    widths = sorted(
        {
            sum(width for width, _ in sizes[:end]) + end * spacing.between_parts
            for end in range(1, len(sizes) + 1)
        }
    )
    shelves = [_shelve(sizes, width, spacing) for width in widths] or [_Shelves((), 0.0, 0.0)]
    best = min(shelves, key=lambda made: max(made.width / _SCREEN, made.height))
    for (members, inside, piece), (x, y) in zip(pieces, best.places, strict=True):
        for box, placed in zip(members, piece.boxes, strict=True):
            boxes[box] = _moved_box(placed, x, y)
        for arc, route in zip(inside, piece.routes, strict=True):
            routes[arc] = _moved_route(route, x, y)
    return Layout(
        best.width + spacing.margin,
        best.height + spacing.margin,
        tuple(box for box in boxes if box is not None),
        tuple(route for route in routes if route is not None),
    )


@dataclass(frozen=True, slots=True)
class _Shelves:
    """The upper left corners of the parts, and how far right and down they reach."""

    places: tuple[tuple[float, float], ...]
    width: float
    height: float


def _shelve(sizes: Sequence[tuple[float, float]], shelf: float, spacing: Spacing) -> _Shelves:
    gap, margin = spacing.between_parts, spacing.margin
    x = y = margin
    widest = deepest = margin
    places: list[tuple[float, float]] = []
    for width, height in sizes:
        if x > margin and x + width > margin + shelf:
            x, y = margin, deepest + gap
        places.append((x, y))
        widest, deepest = max(widest, x + width), max(deepest, y + height)
        x += width + gap
    return _Shelves(tuple(places), widest, deepest)


def _moved_box(box: Placed, right: float, down: float) -> Placed:
    return replace(box, x=box.x + right, y=box.y + down)


def _moved_route(route: Route, right: float, down: float) -> Route:
    return Route(
        tuple(
            replace(s, x=s.x + right, top=s.top + down, bottom=s.bottom + down)
            for s in route.stations
        ),
        None if route.label is None else (route.label[0] + right, route.label[1] + down),
    )
