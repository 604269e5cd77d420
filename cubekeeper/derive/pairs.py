"""Which stored table can be derived from which, and the dimensions each way joins.

What the tables of a fact need of each other (group-by attributes, what is left of a filter,
aggregates) is numbered, and so are the joins. A table's needs are then a bit mask, and looking at
one of a hundred thousand pairs is a few integer operations: whatever the parent has without a
join is masked away, only the rest is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Generic, TypeVar

from cubekeeper.derive.aggregate_ways import read_aggregate
from cubekeeper.derive.dependencies import Dependencies, Mask
from cubekeeper.derive.express import FinerColumns, Reader, Step, is_consistent
from cubekeeper.derive.implication import residual
from cubekeeper.lattice.model import Node
from cubekeeper.scalar.aggregates import Aggregate
from cubekeeper.scalar.nodes import Expr, Path
from cubekeeper.warehouse.model import Warehouse

T = TypeVar("T")

Label = tuple[Path, ...]

residual_filter = lru_cache(maxsize=65536)(residual)
"""`residual`, remembered: many views share few filters."""


def candidates(nodes: Mapping[str, Node], dependencies: Dependencies) -> dict[str, list[str]]:
    """For each table those whose group-by it determines and whose filter is at least as narrow.

    Necessary for deriving, and sufficient once tables carry what is missing.
    """
    keys = {name: dependencies.mask(k.expr for k in node.keys) for name, node in nodes.items()}
    below: dict[str, list[str]] = {}
    for parent, upper in nodes.items():
        outside = ~dependencies.closure(keys[parent])
        below[parent] = [
            child
            for child, mask in keys.items()
            if not mask & outside
            and child != parent
            and _can_filter(nodes[child].view.filter, upper.view.filter, dependencies, outside)
        ]
    return below


def _can_filter(
    child: tuple[Expr, ...], parent: tuple[Expr, ...], dependencies: Dependencies, outside: Mask
) -> bool:
    if child == parent:
        return True
    left = residual_filter(child, parent)
    return left is not None and not dependencies.mask(left) & outside


def labels(
    warehouse: Warehouse,
    fact: str,
    nodes: Mapping[str, Node],
    below: Mapping[str, Iterable[str]],
    finer: FinerColumns,
) -> dict[str, dict[str, Label]]:
    """For each child and each parent that it can be derived from, the dimensions to join."""
    needs = _Numbered[Expr | Aggregate]()
    steps = _Numbered[Step]()
    needed = {name: needs.mask(_needs(node)) for name, node in nodes.items()}
    found: dict[str, dict[str, Label]] = {name: {} for name in nodes}
    for parent, children in below.items():
        row = _Row(nodes[parent], Reader(warehouse, fact, nodes[parent], finer), needs, steps)
        parent_filter = nodes[parent].view.filter
        for child in children:
            mask = needed[child]
            child_filter = nodes[child].view.filter
            if child_filter != parent_filter:
                mask |= needs.mask(residual_filter(child_filter, parent_filter) or ())
            joined = row.joins(mask)
            if joined is not None and (label := _label(steps, joined)) is not None:
                found[child][parent] = label
    return found


def _needs(node: Node) -> Iterator[Expr | Aggregate]:
    yield from (key.expr for key in node.keys)
    yield from (stored.aggregate for stored in node.aggregates)


class _Numbered(Generic[T]):
    """Things numbered in the order in which they are first met."""

    def __init__(self) -> None:
        self.items: list[T] = []
        self._numbers: dict[T, int] = {}

    def mask(self, items: Iterable[T]) -> Mask:
        result = 0
        for item in items:
            number = self._numbers.setdefault(item, len(self.items))
            if number == len(self.items):
                self.items.append(item)
            result |= 1 << number
        return result

    def of(self, mask: Mask) -> Iterator[T]:
        for number in bits(mask):
            yield self.items[number]


class _Row:
    """What one parent can supply: freely, with joins, or not at all."""

    def __init__(
        self,
        node: Node,
        reader: Reader,
        needs: _Numbered[Expr | Aggregate],
        steps: _Numbered[Step],
    ) -> None:
        self._node = node
        self._reader = reader
        self._needs = needs
        self._steps = steps
        self._free: Mask = 0
        self._impossible: Mask = 0
        self._joined: dict[int, Mask] = {}

    def joins(self, needed: Mask) -> Mask | None:
        """The joins that supply what is needed, or None if something cannot be supplied."""
        rest, joined = needed & ~self._free, 0
        if rest & self._impossible:
            return None
        for number in bits(rest):
            if number not in self._joined:
                self._look_up(number)
                if self._impossible >> number & 1:
                    return None
            joined |= self._joined.get(number, 0)
        return joined

    def _look_up(self, number: int) -> None:
        need = self._needs.items[number]
        if isinstance(need, Aggregate):
            way = read_aggregate(need, self._node, self._reader)
            steps = None if way is None else way.steps
        else:
            read = self._reader.read(need)
            steps = None if read is None else read.steps
        if steps is None:
            self._impossible |= 1 << number
        elif steps:
            self._joined[number] = self._steps.mask(steps)
        else:
            self._free |= 1 << number


def _label(steps: _Numbered[Step], mask: Mask) -> Label | None:
    if not mask:
        return ()
    joined = tuple(steps.of(mask))
    return in_order(joined) if is_consistent(joined) else None


def in_order(steps: Iterable[Step]) -> Label:
    """The joined dimensions, each after those it is reached through."""
    return tuple(sorted((step.path for step in steps), key=lambda path: (len(path), path)))


def bits(mask: Mask) -> Iterator[int]:
    """The numbers in a bit mask, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
