"""Making tables lattice-friendly (5.2) with everything pushed down as far as it goes (appendix B).

A table may carry, hidden from its readers, what tables below it need and cannot get otherwise:

- an attribute that its own group-by determines, so that the groups stay the same. It is carried
  only where its dimension is *essential* (the table's own definition joins it anyway): `sCD_sales`
  carries `region`. Elsewhere the join is pushed down to the edge, and the table carries at most
  the foreign key to join on.
- an aggregate that a table below computes, with the count that keeps it exact, unless it aggregates
  what this table groups by: then the edge computes it.

What a table carries, the tables above it must supply in turn; the sets only grow, so the tables
are gone over until nothing is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from cubekeeper.derive.aggregate_ways import can_aggregate_over, factorings
from cubekeeper.derive.dependencies import Dependencies, Mask, row_identity
from cubekeeper.derive.store import hidden_names
from cubekeeper.lattice.model import Node, Origin, StoredAggregate, StoredKey
from cubekeeper.scalar.aggregates import Aggregate
from cubekeeper.scalar.counting import helpers
from cubekeeper.scalar.nodes import ColumnRef, Expr, Literal, Path, children
from cubekeeper.warehouse.model import Warehouse


def extend(
    warehouse: Warehouse,
    dependencies: Dependencies,
    nodes: Mapping[str, Node],
    below: Mapping[str, Iterable[str]],
) -> dict[str, Node]:
    """The nodes of one fact with what each carries for the tables `below` it."""
    drafts = {name: _Draft.of(dependencies, node) for name, node in nodes.items()}
    coarse_first = sorted(drafts, key=lambda name: drafts[name].determined.bit_count())
    growing = True
    while growing:
        growing = False
        for name in coarse_first:
            draft = drafts[name]
            if not (draft.node.incremental and draft.node.view.lattice_friendly):
                continue
            served = [drafts[child] for child in below[name] if drafts[child].node.incremental]
            wanted_keys = set[Expr]().union(*(child.keys for child in served)) - draft.settled_keys
            wanted = set[Aggregate]().union(*(child.aggregates for child in served))
            growing |= draft.carry(warehouse, wanted_keys, wanted - draft.settled_aggregates)
    return {name: draft.extended(warehouse, drafts, below[name]) for name, draft in drafts.items()}


@dataclass
class _Draft:
    """A node while what it carries is being found."""

    node: Node
    dependencies: Dependencies
    determined: Mask
    essential: frozenset[Path]
    keys: set[Expr]
    aggregates: set[Aggregate]
    settled_keys: set[Expr] = field(default_factory=set)
    settled_aggregates: set[Aggregate] = field(default_factory=set)

    @staticmethod
    def of(dependencies: Dependencies, node: Node) -> _Draft:
        keys = {key.expr for key in node.keys}
        aggregates = _stored(node)
        essential = {
            ref.path[:length]
            for ref in node.view.columns_read
            for length in range(1, len(ref.path) + 1)
        }
        return _Draft(
            node=node,
            dependencies=dependencies,
            determined=dependencies.closure(dependencies.mask(keys)),
            essential=frozenset(essential),
            keys=keys,
            aggregates=aggregates,
            settled_keys=set(keys),
            settled_aggregates=set(aggregates),
        )

    def carry(
        self, warehouse: Warehouse, keys: Iterable[Expr], aggregates: Iterable[Aggregate]
    ) -> bool:
        """Carry what is needed for some keys and aggregates; tell whether anything was added."""
        before = len(self.keys), len(self.aggregates)
        for expr in keys:
            self.keys |= self._to_carry(warehouse, expr) or frozenset()
            self.settled_keys.add(expr)
        for agg in aggregates:
            self._carry_aggregate(warehouse, agg)
            self.settled_aggregates.add(agg)
        return before != (len(self.keys), len(self.aggregates))

    def _carry_aggregate(self, warehouse: Warehouse, agg: Aggregate) -> None:
        if agg.rebuild_reason is not None:
            return
        if agg.argument is not None and can_aggregate_over(self.node):
            attributes = self._to_carry(warehouse, agg.argument)
            if attributes is not None:
                self.keys |= attributes
                return
            for factor, rest in factorings(agg):
                attributes = self._to_carry(warehouse, factor)
                if attributes is not None and rest in self.aggregates:
                    self.keys |= attributes
                    return
        self.aggregates |= {agg, *helpers(agg)}

    def _to_carry(self, warehouse: Warehouse, expr: Expr) -> frozenset[Expr] | None:
        """The attributes to carry so that an expression can be had here; None if it cannot."""
        if expr in self.keys or isinstance(expr, Literal):
            return frozenset()
        parts: Iterable[Expr] = children(expr)
        if isinstance(expr, ColumnRef):
            if not self._is_determined(expr):
                return None
            if not expr.path or expr.path in self.essential:
                return frozenset((expr,))
            parts = row_identity(warehouse, self.node.view.fact, expr.path)
        carried: frozenset[Expr] = frozenset()
        for part in parts:
            more = self._to_carry(warehouse, part)
            if more is None:
                return frozenset((expr,)) if self._is_determined(expr) else None
            carried |= more
        return carried

    def _is_determined(self, expr: Expr) -> bool:
        number = self.dependencies.index.get(expr)
        return number is not None and bool(self.determined >> number & 1)

    def extended(
        self, warehouse: Warehouse, drafts: Mapping[str, _Draft], below: Iterable[str]
    ) -> Node:
        """The node with what it carries, named, and for whom."""
        node, fact = self.node, self.node.view.fact
        if self.keys <= {key.expr for key in node.keys} and self.aggregates <= _stored(node):
            return node
        taken = {output.name.lower() for output in node.outputs}
        taken |= {stored.name.lower() for stored in node.aggregates}
        names = hidden_names(
            warehouse,
            fact,
            self.keys - {key.expr for key in node.keys},
            self.aggregates - _stored(node),
            taken,
        )
        keys = [
            StoredKey(name, need, Origin.EXTENSION)
            for name, need in names.items()
            if not isinstance(need, Aggregate)
        ]
        aggregates = [
            StoredAggregate(name, need, Origin.EXTENSION, _users(need, drafts, below))
            for name, need in names.items()
            if isinstance(need, Aggregate)
        ]
        return replace(node, keys=(*node.keys, *keys), aggregates=(*node.aggregates, *aggregates))


def _stored(node: Node) -> set[Aggregate]:
    return {stored.aggregate for stored in node.aggregates}


def _users(agg: Aggregate, drafts: Mapping[str, _Draft], below: Iterable[str]) -> str:
    users = [child for child in below if agg in drafts[child].aggregates]
    return f"for {', '.join(users[:3])}" + (f" and {len(users) - 3} more" if users[3:] else "")
