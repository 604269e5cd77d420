"""Placing summary tables into the V-lattice (5.1).

A table can be derived from another over the same fact when the other's group-by determines its
own, its filter is at least as narrow and what is left of the filter can be applied, and each of
its aggregates can be had. `build_lattice` finds all such pairs, before (`friendly=False`) or after
the tables are made lattice-friendly.
"""

from __future__ import annotations

from cubekeeper.derive.dependencies import dependencies_of
from cubekeeper.derive.express import Reader, Step, finer_columns
from cubekeeper.derive.extend import extend
from cubekeeper.derive.pairs import Label, candidates, in_order, labels
from cubekeeper.derive.store import store
from cubekeeper.errors import InternalError
from cubekeeper.lattice.model import Lattice, Node
from cubekeeper.warehouse.model import Warehouse


def build_lattice(warehouse: Warehouse, *, friendly: bool = True) -> Lattice:
    """The lattice of all summary tables of a warehouse, one part for each fact."""
    nodes: dict[str, Node] = {}
    by_child: dict[str, dict[str, Label]] = {}
    base: dict[str, Label] = {}
    for fact in (fact.name for fact in warehouse.facts):
        views = [view for view in warehouse.summary_tables if view.fact == fact]
        stored = {view.name: store(warehouse, view) for view in views}
        dependencies = dependencies_of(warehouse, fact, views)
        finer = finer_columns(warehouse, fact)
        below = candidates(stored, dependencies)
        if friendly:
            stored = extend(warehouse, dependencies, stored, below)
        nodes |= stored
        by_child |= labels(warehouse, fact, stored, below, finer)
        reader = Reader(warehouse, fact, None, finer)
        base |= {name: _base_label(reader, node) for name, node in stored.items()}
    declared = [view.name for view in warehouse.summary_tables]
    return Lattice(
        warehouse=warehouse,
        nodes={name: nodes[name] for name in declared},
        labels={name: by_child[name] for name in declared},
        base_labels={name: base[name] for name in declared},
    )


def _base_label(reader: Reader, node: Node) -> Label:
    exprs = [key.expr for key in node.keys] + [*node.view.filter]
    exprs += [s.aggregate.argument for s in node.aggregates if s.aggregate.argument is not None]
    steps: set[Step] = set()
    for expr in exprs:
        way = reader.read(expr)
        if way is None:
            raise InternalError("unreachable", f"`{node.name}` cannot be computed from its base")
        steps |= way.steps
    return in_order(steps)
