"""Which boxes belong together, and how far down each one stands."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter

from cubekeeper.report.diagram.layout.graph import Arc


def parts(count: int, arcs: Sequence[Arc]) -> list[list[int]]:
    """The connected parts of a graph, each in index order.

    >>> parts(4, [Arc(0, 2), Arc(1, 3)])
    [[0, 2], [1, 3]]
    """
    leader = list(range(count))

    def find(box: int) -> int:
        while leader[box] != box:
            leader[box] = leader[leader[box]]
            box = leader[box]
        return box

    for arc in arcs:
        first, second = sorted((find(arc.tail), find(arc.head)))
        leader[second] = first
    groups: dict[int, list[int]] = {}
    for box in range(count):
        groups.setdefault(find(box), []).append(box)
    return list(groups.values())


def longest_path_ranks(count: int, arcs: Sequence[Arc]) -> list[int]:
    """The length of the longest way down to each box.

    >>> longest_path_ranks(3, [Arc(0, 1), Arc(1, 2), Arc(0, 2)])
    [0, 1, 2]
    """
    above: dict[int, set[int]] = {box: set() for box in range(count)}
    for arc in arcs:
        above[arc.head].add(arc.tail)
    ranks = [0] * count
    for box in TopologicalSorter(above).static_order():
        ranks[box] = max((ranks[tail] + 1 for tail in above[box]), default=0)
    return ranks


def spread(count: int, arcs: Sequence[Arc]) -> list[float]:
    """A first idea of left and right: leaves in the order of a walk down the heaviest lines.

    >>> spread(3, [Arc(0, 1), Arc(0, 2)])
    [0.5, 0.0, 1.0]
    """
    tree: list[list[int]] = [[] for _ in range(count)]
    owner: dict[int, Arc] = {}
    for arc in arcs:
        if arc.head not in owner or owner[arc.head].weight < arc.weight:
            owner[arc.head] = arc
    for head in sorted(owner):
        tree[owner[head].tail].append(head)
    place = [0.0] * count
    leaves = 0
    for root in (box for box in range(count) if box not in owner):
        stack = [(root, False)]
        while stack:
            box, done = stack.pop()
            if not tree[box]:
                place[box] = float(leaves)
                leaves += 1
            elif done:
                place[box] = sum(place[child] for child in tree[box]) / len(tree[box])
            else:
                stack.append((box, True))
                stack.extend((child, False) for child in reversed(tree[box]))
    return place
