"""The terms of a summary-delta add up to new − old, whatever changed (4.1.4).

Every way that the cost model offers is run on DuckDB: each derivable pair and each definition over
the base, for fact changes, dimension updates, insertions of dimension rows, and all at once. Tables
that a plan leaves untouched must not have changed.
"""

from collections.abc import Iterable
from random import Random

import pytest

from cubekeeper.declare import load_text
from cubekeeper.derive import CostModel, build_edge, build_lattice, estimate_sizes
from cubekeeper.lattice.choice import Version
from cubekeeper.lattice.model import Lattice
from cubekeeper.statistics.model import Statistics
from cubekeeper.warehouse.model import Warehouse
from tests.oracle.data import Rows, random_rows
from tests.oracle.warehouses import random_warehouse
from tests.properties.deltas import DeltaRun, matched, some_of, with_updates
from tests.unit.derive.shop import random_views, shop

SCENARIOS = ("facts", "dimension updates", "new dimension rows", "everything")


def two_states(scenario: str, rng: Random, warehouse: Warehouse) -> tuple[Rows, Rows]:
    """The rows before and after a batch; every foreign key finds its row in both."""
    facts = [fact.name for fact in warehouse.facts]
    rows = random_rows(rng, warehouse, 60)
    while rng.random() < 0.95 and not all(rows[fact] for fact in facts):
        rows = random_rows(rng, warehouse, 60)
    dimensions = [dimension.name for dimension in warehouse.dimensions]

    def fewer(names: Iterable[str], share: float = 0.75) -> Rows:
        return {**rows, **{name: some_of(rng, rows[name], share) for name in names}}

    match scenario:
        case "facts":
            return fewer(facts), fewer(facts)
        case "dimension updates":
            changed = rng.sample(dimensions, rng.randint(len(dimensions) // 2, len(dimensions)))
            return rows, with_updates(rng, warehouse, rows, changed)
        case "new dimension rows":
            return matched(warehouse, fewer(dimensions)), rows
        case _:
            after = with_updates(rng, warehouse, fewer(rows), dimensions)
            return matched(warehouse, fewer(rows)), matched(warehouse, after)


def check_every_way(lattice: Lattice, states: tuple[Rows, Rows]) -> int:
    run = DeltaRun.start(lattice, *states)
    sizes = estimate_sizes(lattice, Statistics(), run.changes())
    model = CostModel(lattice, sizes, Statistics().weights)
    checked = 0
    for name, node in lattice.nodes.items():
        truth = run.truth(node)
        if name not in sizes.deltas:
            assert truth == {}, f"{name} is called untouched"
        if name not in sizes.deltas or not node.incremental:
            continue
        for parent in (None, *lattice.parents(name)):
            if parent is None or lattice.node(parent).incremental:
                terms = model.delta_way(name, parent).terms
                summed = run.summed(node, build_edge(lattice, parent, name), terms)
                assert summed == truth, f"{name} from {parent or 'the base'}"
                checked += bool(truth)
    run.connection.close()
    return checked


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_way_of_the_shop_gives_new_minus_old(scenario):
    checked = 0
    for seed in range(6):
        rng = Random(f"{scenario} {seed}")
        lattice = build_lattice(shop(*random_views(rng, 8, holistic=False)))
        checked += check_every_way(lattice, two_states(scenario, rng, lattice.warehouse))
    assert checked > 10, "hardly anything was compared"


def check_declared(seed: int) -> None:
    rng = Random(seed)
    declaration = random_warehouse(rng)
    lattice = build_lattice(load_text(declaration).warehouse)
    try:
        check_every_way(lattice, two_states(SCENARIOS[seed % 4], rng, lattice.warehouse))
    except AssertionError as error:
        raise AssertionError(f"seed {seed}\n{error}\n\n{declaration}") from error


@pytest.mark.parametrize("first", range(0, 20, 5))
def test_every_way_of_random_warehouses_gives_new_minus_old(first):
    for seed in range(first, first + 5):
        check_declared(seed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_way_of_many_random_warehouses_gives_new_minus_old():
    for seed in range(10_000, 10_500):
        check_declared(seed)


def test_a_missing_term_is_found():
    """The comparison can fail: without a term of its own a moved store stays where it was."""
    found = 0
    for seed in range(12):
        rng = Random(seed)
        lattice = build_lattice(shop(*random_views(rng, 8, holistic=False)))
        states = two_states("dimension updates", rng, lattice.warehouse)
        run = DeltaRun.start(lattice, *states)
        sizes = estimate_sizes(lattice, Statistics(), run.changes())
        model = CostModel(lattice, sizes, Statistics().weights)
        for name in sizes.deltas:
            node = lattice.node(name)
            terms = [
                term
                for term in model.delta_way(name, None).terms
                if Version.DELTA not in dict(term.joins).values()
            ]
            found += run.summed(node, build_edge(lattice, None, name), terms) != run.truth(node)
        run.connection.close()
    assert found > 3
