"""The graph cut into rows: every line becomes a chain of one vertex per row that it passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from cubekeeper.report.diagram.layout.graph import Graph


class Part(Enum):
    """What a vertex stands for."""

    CARD = "card"
    LABEL = "label"
    BEND = "bend"


@dataclass(frozen=True, slots=True)
class Vertex:
    """A card (of a box), or the place where a line (an arc) passes a row."""

    part: Part
    of: int
    row: int
    width: float


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a line between two neighbouring rows."""

    upper: int
    lower: int
    weight: int


@dataclass(frozen=True)
class Sheet:
    """Rows of vertices, left to right, joined by segments; `chains` lead along each line."""

    vertices: tuple[Vertex, ...]
    segments: tuple[Segment, ...]
    rows: tuple[tuple[int, ...], ...]
    chains: tuple[tuple[int, ...], ...]


def build_sheet(
    graph: Graph, card_rows: Sequence[int], hint: Sequence[float], *, lane: float
) -> Sheet:
    """Cut a graph whose boxes have been given rows; `hint` is each box's first left-to-right idea.

    Rows of cards take turns with rows of labels if any line has a label, so that no label is
    crossed by another line.
    """
    step = 2 if any(arc.label for arc in graph.arcs) else 1
    vertices = [
        Vertex(Part.CARD, index, step * card_rows[index], box.width)
        for index, box in enumerate(graph.boxes)
    ]
    wish = list(hint)
    segments: list[Segment] = []
    chains: list[tuple[int, ...]] = []
    for index, arc in enumerate(graph.arcs):
        first, last = step * card_rows[arc.tail], step * card_rows[arc.head]
        chain = [arc.tail]
        for row in range(first + 1, last):
            labelled = bool(arc.label) and row == last - 1
            part = Part.LABEL if labelled else Part.BEND
            vertices.append(Vertex(part, index, row, arc.label if labelled else lane))
            share = (row - first) / (last - first)
            wish.append(hint[arc.tail] * (1 - share) + hint[arc.head] * share)
            chain.append(len(vertices) - 1)
        chain.append(arc.head)
        chains.append(tuple(chain))
        segments += [Segment(upper, lower, arc.weight) for upper, lower in pairwise(chain)]
    count = 1 + max((vertex.row for vertex in vertices), default=-1)
    rows: list[list[int]] = [[] for _ in range(count)]
    for index, vertex in enumerate(vertices):
        rows[vertex.row].append(index)
    ordered = tuple(tuple(sorted(row, key=lambda vertex: wish[vertex])) for row in rows)
    return Sheet(tuple(vertices), tuple(segments), ordered, tuple(chains))
