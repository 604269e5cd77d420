"""Which groups lose their MIN or MAX in a batch, as an estimate."""

from __future__ import annotations

from collections.abc import Mapping

from cubekeeper.derive.candidates import CostModel
from cubekeeper.derive.reach import changed_roles, roles_read
from cubekeeper.lattice.choice import Recomputation
from cubekeeper.lattice.model import Node
from cubekeeper.scalar.aggregates import AggregateFunction

_EXTREMES = (AggregateFunction.MIN, AggregateFunction.MAX)


def extreme_columns(node: Node) -> tuple[str, ...]:
    """The stored columns that a deletion can leave without a value to go on from."""
    return tuple(
        stored.name for stored in node.aggregates if stored.aggregate.function in _EXTREMES
    )


def recomputations(model: CostModel) -> Mapping[str, Recomputation]:
    """For each table with MIN or MAX from which something is deleted, what must be computed again.

    A deleted row held the extreme value of its group with a chance of one in the group's rows. The
    group's rows are then read, by an index on its keys as the paper has it: one read per deleted
    row and column, whatever the size of the groups.
    """
    sizes, lattice = model.sizes, model.lattice
    changed = changed_roles(lattice, sizes.changes)
    deleted = {change.table: change.deletions for change in sizes.changes.tables}
    roles = roles_read(lattice)
    found: dict[str, Recomputation] = {}
    for name, delta in sizes.deltas.items():
        node = lattice.nodes[name]
        columns = extreme_columns(node)
        fact = node.view.fact
        rows = max(1.0, sizes.tables[fact].rows * sizes.shares[name])
        leaving = deleted.get(fact, 0.0) * sizes.shares[name]
        for path, change in changed[fact].items():
            if path in roles[name]:
                dimension = max(1.0, sizes.tables[change.table].rows)
                leaving += rows * min(1.0, change.deletions / dimension)
        if not columns or not leaving:
            continue
        size = max(1.0, rows / max(1.0, sizes.views[name].rows))
        groups = min(delta.rows, len(columns) * leaving / size)
        cost = model.weights.read * groups * size
        found[name] = Recomputation(columns, groups, groups * size, cost)
    return found
