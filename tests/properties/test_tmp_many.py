"""The terms of a summary-delta add up to new − old, whatever changed (4.1.4).

Every way that the cost model offers is run on DuckDB: each derivable pair and each definition over
the base, for fact changes, dimension updates, insertions of dimension rows, and all at once. Tables
that a plan leaves untouched must not have changed.
"""

from random import Random

import pytest

from cubekeeper.derive import CostModel, build_edge, build_lattice, estimate_sizes
from cubekeeper.lattice.choice import Version
from cubekeeper.statistics.model import Statistics
from cubekeeper.warehouse.model import Warehouse
from tests.oracle.data import Rows, random_rows
from tests.properties.deltas import DeltaRun, matched, some_of, with_updates
from tests.unit.derive.shop import random_views, shop

FACTS = ("sales", "returns")
DIMENSIONS = ("cities", "stores", "items", "days")


def fact_changes(rng: Random, warehouse: Warehouse, rows: Rows) -> tuple[Rows, Rows]:
    old, new = (
        {**rows, **{fact: some_of(rng, rows[fact], 0.7) for fact in FACTS}} for _ in range(2)
    )
    return old, new


def dimension_updates(rng: Random, warehouse: Warehouse, rows: Rows) -> tuple[Rows, Rows]:
    changed = rng.sample(DIMENSIONS, rng.randint(1, 3))
    return rows, with_updates(rng, warehouse, rows, changed)


def new_dimension_rows(rng: Random, warehouse: Warehouse, rows: Rows) -> tuple[Rows, Rows]:
    fewer = {**rows, **{name: some_of(rng, rows[name], 0.7) for name in DIMENSIONS}}
    return matched(warehouse, fewer), rows


def everything(rng: Random, warehouse: Warehouse, rows: Rows) -> tuple[Rows, Rows]:
    fewer = {name: some_of(rng, rows[name], 0.8) for name in rows}
    more = {name: some_of(rng, rows[name], 0.8) for name in rows}
    updated = with_updates(rng, warehouse, more, DIMENSIONS)
    return matched(warehouse, fewer), matched(warehouse, updated)


SCENARIOS = {
    "fact changes": fact_changes,
    "dimension updates": dimension_updates,
    "new dimension rows": new_dimension_rows,
    "everything": everything,
}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("seed", range(12, 90))
def test_every_way_gives_new_minus_old(scenario, seed):
    rng = Random(f"{scenario} {seed}")
    views = random_views(rng, 5, holistic=False)
    lattice = build_lattice(shop(*views))
    rows = random_rows(rng, lattice.warehouse, 40)
    run = DeltaRun.start(lattice, *SCENARIOS[scenario](rng, lattice.warehouse, rows))
    sizes = estimate_sizes(lattice, Statistics(), run.changes())
    model = CostModel(lattice, sizes, Statistics().weights)
    for name, node in lattice.nodes.items():
        truth = run.truth(node)
        if name not in sizes.deltas:
            assert truth == {}, f"{name} is called untouched"
            continue
        for parent in (None, *lattice.parents(name)):
            terms = model.delta_way(name, parent).terms
            edge = build_edge(lattice, parent, name)
            assert run.summed(node, edge, terms) == truth, f"{name} from {parent or 'the base'}"
    run.connection.close()


def test_a_missing_term_is_found():
    """The comparison can fail: without the dimension's own term a moved store stays where it was."""
    found = 0
    for seed in range(20):
        rng = Random(seed)
        lattice = build_lattice(shop(*random_views(rng, 5, holistic=False)))
        rows = random_rows(rng, lattice.warehouse, 40)
        run = DeltaRun.start(lattice, *dimension_updates(rng, lattice.warehouse, rows))
        sizes = estimate_sizes(lattice, Statistics(), run.changes())
        model = CostModel(lattice, sizes, Statistics().weights)
        for name in sizes.deltas:
            node = lattice.node(name)
            terms = [
                term
                for term in model.delta_way(name, None).terms
                if Version.DELTA not in dict(term.joins).values()
            ]
            if run.summed(node, build_edge(lattice, None, name), terms) != run.truth(node):
                found += 1
        run.connection.close()
    assert found > 5
