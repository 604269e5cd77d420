"""The layered layout: nothing overlaps, lines keep their lanes, and it is the same every time."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from functools import cache
from itertools import combinations, pairwise, product

import pytest

from cubekeeper.report.diagram.layout.arrange import arrange
from cubekeeper.report.diagram.layout.graph import Arc, Box, Graph, Layout, Route
from cubekeeper.report.diagram.layout.order import crossings, reduce_crossings
from cubekeeper.report.diagram.layout.place import monotone_fit
from cubekeeper.report.diagram.layout.ranks import longest_path_ranks, spread
from cubekeeper.report.diagram.layout.sheet import build_sheet
from cubekeeper.report.diagram.layout.swing import swings


def random_graph(seed: int, count: int, density: float = 1.6, labels: bool = True) -> Graph:
    pick = random.Random(seed)
    boxes = tuple(Box(pick.uniform(60, 260), pick.uniform(30, 120)) for _ in range(count))
    pairs = {tuple(sorted(pick.sample(range(count), 2))) for _ in range(int(count * density))}
    arcs = tuple(
        Arc(tail, head, pick.choice((1, 1, 4)), pick.choice((0.0, 40.0, 110.0)) if labels else 0.0)
        for tail, head in sorted(pairs)
    )
    return Graph(boxes, arcs)


def product_lattice(*sizes: int) -> Graph:
    """The product of chains, each box below those one step finer."""
    cells = list(product(*(range(size) for size in sizes)))
    index = {cell: place for place, cell in enumerate(cells)}
    arcs = []
    for cell in cells:
        finer = [
            (*cell[:place], level - 1, *cell[place + 1 :])
            for place, level in enumerate(cell)
            if level
        ]
        for place, upper in enumerate(finer):
            arcs.append(Arc(index[upper], index[cell], 1 if place else 4, 0.0 if place else 70.0))
    return Graph(tuple(Box(180, 80) for _ in cells), tuple(arcs))


SOME = [random_graph(seed, count) for seed in range(12) for count in (2, 7, 16, 40)]
PLAIN = [random_graph(seed, 60, labels=False) for seed in range(4)]
LATTICES = [product_lattice(2, 2), product_lattice(4, 3, 2), product_lattice(4, 4, 4, 3)]
ALL = [*SOME, *PLAIN, *LATTICES]

laid_out = cache(arrange)


def curve(route: Route) -> Iterator[tuple[float, float]]:
    """Points along a line, close to each other."""
    for swing in swings(route):
        (ax, ay), (bx, by) = swing.controls()
        for step in range(13):
            t = step / 12
            u = 1 - t
            yield (
                u**3 * swing.x0 + 3 * u * u * t * ax + 3 * u * t * t * bx + t**3 * swing.x1,
                u**3 * swing.y0 + 3 * u * u * t * ay + 3 * u * t * t * by + t**3 * swing.y1,
            )
        yield swing.x1, swing.down


@pytest.mark.parametrize("graph", ALL)
def test_boxes_keep_their_size_and_do_not_overlap(graph: Graph) -> None:
    layout = laid_out(graph)
    assert [(box.width, box.height) for box in layout.boxes] == [
        (box.width, box.height) for box in graph.boxes
    ]
    for one, two in combinations(layout.boxes, 2):
        apart = max(
            two.left - one.right, one.left - two.right, two.y - one.bottom, one.y - two.bottom
        )
        assert apart > 8


@pytest.mark.parametrize("graph", ALL)
def test_everything_is_inside_the_frame(graph: Graph) -> None:
    layout = laid_out(graph)
    for box in layout.boxes:
        assert box.left >= 0 <= box.y
        assert box.right <= layout.width
        assert box.bottom <= layout.height
    for route in layout.routes:
        assert all(-1 <= x <= layout.width + 1 for x, _ in curve(route))


@pytest.mark.parametrize("graph", ALL)
def test_lines_lead_down_from_box_to_box(graph: Graph) -> None:
    layout = laid_out(graph)
    for arc, route in zip(graph.arcs, layout.routes, strict=True):
        tail, head = layout.boxes[arc.tail], layout.boxes[arc.head]
        first, last = route.stations[0], route.stations[-1]
        assert tail.left < first.x < tail.right
        assert head.left < last.x < head.right
        assert first.top == pytest.approx(tail.bottom)
        assert last.top == pytest.approx(head.y)
        heights = [y for station in route.stations for y in (station.top, station.bottom)]
        assert all(above <= below + 1e-6 for above, below in pairwise(heights))


@pytest.mark.parametrize("graph", ALL)
def test_no_line_runs_through_a_box(graph: Graph) -> None:
    layout = laid_out(graph)
    for arc, route in zip(graph.arcs, layout.routes, strict=True):
        points = list(curve(route))
        for place, box in enumerate(layout.boxes):
            if place in (arc.tail, arc.head):
                continue
            assert not any(
                box.left < x < box.right and box.y < y < box.bottom for x, y in points
            ), (arc, place)


def label_boxes(graph: Graph, layout: Layout) -> list[tuple[float, float, float, float]]:
    boxes = []
    for arc, route in zip(graph.arcs, layout.routes, strict=True):
        assert (route.label is not None) == bool(arc.label)
        if route.label is not None:
            x, y = route.label
            boxes.append((x - arc.label / 2, y - 9, x + arc.label / 2, y + 9))
    return boxes


@pytest.mark.parametrize("graph", ALL)
def test_labels_overlap_neither_each_other_nor_boxes(graph: Graph) -> None:
    layout = laid_out(graph)
    labels = label_boxes(graph, layout)
    cards = [(box.left, box.y, box.right, box.bottom) for box in layout.boxes]
    for place, label in enumerate(labels):
        for other in [*labels[place + 1 :], *cards]:
            assert (
                label[2] <= other[0]
                or other[2] <= label[0]
                or label[3] <= other[1]
                or other[3] <= label[1]
            )


def test_layout_is_deterministic() -> None:
    graph = random_graph(1, 40)
    assert arrange(graph) == arrange(graph)


def test_a_tree_has_no_crossings_and_parents_stand_over_their_children() -> None:
    graph = Graph(
        tuple(Box(100, 40) for _ in range(7)),
        (Arc(0, 1), Arc(0, 2), Arc(1, 3), Arc(2, 4), Arc(1, 5), Arc(2, 6)),
    )
    layout = arrange(graph)
    assert sheet_crossings(graph) == 0
    root, left, right = layout.boxes[:3]
    assert root.x == pytest.approx((left.x + right.x) / 2, abs=1)


def sheet_crossings(graph: Graph) -> int:
    ranks = longest_path_ranks(len(graph.boxes), graph.arcs)
    hint = spread(len(graph.boxes), graph.arcs)
    return crossings(reduce_crossings(build_sheet(graph, ranks, hint, lane=2)))


@pytest.mark.parametrize("seed", range(20))
def test_reordering_never_adds_crossings(seed: int) -> None:
    graph = random_graph(seed, 20)
    ranks = longest_path_ranks(20, graph.arcs)
    before = build_sheet(graph, ranks, spread(20, graph.arcs), lane=2)
    after = reduce_crossings(before)
    assert crossings(after) <= crossings(before)
    assert [sorted(row) for row in after.rows] == [sorted(row) for row in before.rows]


@pytest.mark.parametrize("seed", range(10))
def test_crossings_are_counted_as_by_hand(seed: int) -> None:
    graph = random_graph(seed, 12)
    sheet = build_sheet(graph, longest_path_ranks(12, graph.arcs), [0.0] * 12, lane=2)
    place = {vertex: index for row in sheet.rows for index, vertex in enumerate(row)}
    by_hand = sum(
        one.weight * two.weight
        for one, two in combinations(sheet.segments, 2)
        if sheet.vertices[one.upper].row == sheet.vertices[two.upper].row
        and (place[one.upper] - place[two.upper]) * (place[one.lower] - place[two.lower]) < 0
    )
    assert crossings(sheet) == by_hand


@pytest.mark.parametrize("seed", range(20))
def test_monotone_fit_is_monotone_and_no_shift_improves_it(seed: int) -> None:
    pick = random.Random(seed)
    wishes = [(pick.uniform(-5, 5), pick.uniform(0.1, 3)) for _ in range(8)]
    fit = monotone_fit(wishes)

    def price(values: list[float]) -> float:
        return sum(w * (v - x) ** 2 for v, (x, w) in zip(values, wishes, strict=True))

    assert all(one <= two + 1e-9 for one, two in pairwise(fit))
    for place, change in product(range(8), (-0.01, 0.01)):
        tried = [*fit]
        tried[place] += change
        if all(one <= two for one, two in pairwise(tried)):
            assert price(tried) >= price(fit) - 1e-9


def test_parts_stand_side_by_side() -> None:
    graph = Graph(tuple(Box(100, 60) for _ in range(6)), (Arc(0, 1), Arc(2, 3), Arc(4, 5)))
    layout = arrange(graph)
    assert layout.boxes[0].y == layout.boxes[2].y == layout.boxes[4].y
    assert layout.boxes[0].x < layout.boxes[2].x < layout.boxes[4].x


def test_a_rank_too_wide_for_a_screen_is_given_several_rows() -> None:
    graph = Graph(
        tuple(Box(180, 80) for _ in range(101)), tuple(Arc(0, leaf, 4) for leaf in range(1, 101))
    )
    layout = arrange(graph)
    assert len({box.y for box in layout.boxes}) > 3
    assert layout.width < 100 * 214 / 2


def test_an_empty_graph_has_a_layout() -> None:
    assert arrange(Graph((), ())).boxes == ()


def test_two_hundred_boxes_take_no_longer_than_promised() -> None:
    graph = product_lattice(4, 4, 4, 3)
    assert len(graph.boxes) == 192
    start = time.process_time()
    arrange(graph)
    assert time.process_time() - start < 1.5
