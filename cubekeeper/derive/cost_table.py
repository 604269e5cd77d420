"""Table 1: the cost of four ways to maintain the summary tables of a lattice (appendix A)."""

from __future__ import annotations

from collections.abc import Mapping

from cubekeeper.derive.arborescence import WayIn, cheapest_parents
from cubekeeper.derive.candidates import CostModel
from cubekeeper.derive.reach import reached
from cubekeeper.derive.sizes import estimate_sizes
from cubekeeper.lattice.cost import CostCell, CostRow, CostTable
from cubekeeper.lattice.model import Lattice
from cubekeeper.statistics.changes import Changes
from cubekeeper.statistics.model import PAPER_WEIGHTS, CostWeights, Statistics


def cost_table(
    lattice: Lattice,
    statistics: Statistics,
    weights: CostWeights = PAPER_WEIGHTS,
    changes: Changes | None = None,
) -> CostTable:
    """What recomputation, individual deltas, reused deltas and counting cost for some changes.

    The methods are compared as they are: no table is rebuilt because that is cheaper. One that is
    only ever rebuilt is so in every column, from the base where each table stands by itself.
    """
    sizes = estimate_sizes(lattice, statistics, changes)
    model = CostModel(lattice, sizes, weights)
    incremental = [name for name in sizes.deltas if lattice.nodes[name].incremental]
    rebuilds = cheapest_parents(model.rebuild_ways(lattice.nodes))
    deltas = cheapest_parents(model.delta_ways(incremental))
    changed = reached(lattice, sizes.changes)
    return CostTable(
        warehouse=lattice.warehouse.name,
        changes=sizes.changes,
        unit=weights.unit,
        rows=tuple(
            _row(model, name, rebuilds[name], deltas, changed.get(name, ()))
            for name in lattice.nodes
        ),
        weights=weights,
    )


def _row(
    model: CostModel,
    name: str,
    rebuild: WayIn,
    deltas: Mapping[str, WayIn],
    tables: tuple[str, ...],
) -> CostRow:
    recomputation = CostCell(rebuild.cost + model.rebuild_write(name), rebuild.source)
    if not tables:
        untouched = CostCell(0.0, note="the changes do not reach it")
        individual = reuse = counting = untouched
    elif name not in deltas:
        note = "; ".join(model.lattice.nodes[name].rebuild_reasons)
        alone = model.rebuild_way(name, None).cost + model.rebuild_write(name)
        reuse = CostCell(recomputation.cost, recomputation.parent, note)
        individual = counting = CostCell(alone, None, note)
    else:
        write = model.delta_write(name)
        individual = CostCell(model.delta_way(name, None).cost + write)
        reuse = CostCell(deltas[name].cost + write, deltas[name].source)
        counting = CostCell(_counting(model, name, tables))
    return CostRow(
        view=name,
        rows=model.sizes.views[name],
        delta=model.sizes.deltas.get(name),
        recomputation=recomputation,
        individual=individual,
        reuse=reuse,
        counting=counting,
    )


def _counting(model: CostModel, name: str, tables: tuple[str, ...]) -> float:
    """The counting algorithm: read the changes, delete the groups they touch, read all base tuples
    of those groups, and insert the groups anew."""
    sizes, weights = model.sizes, model.weights
    changed = sum(sizes.changes.rows(table) for table in tables)
    touched = sizes.deltas[name].rows
    rows = sizes.tables[model.lattice.nodes[name].view.fact].rows * sizes.shares[name]
    per_group = rows / max(1.0, sizes.views[name].rows)
    read = changed + min(rows, touched * per_group)
    return weights.read * read + weights.write * 2 * touched + weights.stage
