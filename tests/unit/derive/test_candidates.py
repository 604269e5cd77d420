"""The cost model: the terms of each way, and what they cost."""

import pytest

from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.candidates import CostModel
from cubekeeper.derive.sizes import estimate_sizes
from cubekeeper.lattice.choice import Version
from cubekeeper.statistics.changes import parse_changes
from cubekeeper.statistics.model import (
    PAPER_WEIGHTS,
    CostWeights,
    Statistics,
    TableStatistics,
    ViewStatistics,
)
from tests.unit.derive.shop import (
    CITY,
    ITEM,
    MONTH,
    ORDERED,
    REGION,
    SHIPPED_MONTH,
    STORE,
    TABLES,
    shop,
    view,
)

OLD, NEW, DELTA = Version.OLD, Version.NEW, Version.DELTA

SHOP = shop(
    view("fine", [STORE, ITEM, ORDERED]),
    view("by_city", [CITY, ORDERED]),
    view("by_region_day", [REGION, ORDERED]),
    view("by_region", [REGION]),
)
KNOWN = Statistics(
    tables={
        "sales": TableStatistics(rows=1_000_000),
        "stores": TableStatistics(rows=100),
        "cities": TableStatistics(rows=20),
    },
    views={
        "fine": ViewStatistics(rows=100_000),
        "by_city": ViewStatistics(rows=10_000),
        "by_region": ViewStatistics(rows=5),
    },
)
WEIGHTS = CostWeights(read=1, write=10, join_probe=0.5, join_build=2, stage=7)


def model(*changes: str, weights: CostWeights = WEIGHTS, friendly: bool = True) -> CostModel:
    lattice = build_lattice(SHOP, friendly=friendly)
    sizes = estimate_sizes(lattice, KNOWN, parse_changes(changes, TABLES))
    return CostModel(lattice, sizes, weights)


def shapes(costs: CostModel, child: str, parent: str | None) -> list:
    terms = costs.delta_way(child, parent).terms
    return [(term.source, dict(term.joins), term.rows_in) for term in terms]


def test_a_delta_from_the_base_reads_the_changes_and_never_the_fact():
    assert shapes(model("sales=+1000"), "by_region", None) == [
        (DELTA, {"store": NEW, "city": NEW}, 1_000)
    ]


def test_a_delta_from_a_parent_reads_its_delta():
    costs = model("sales=+1000")
    rows = costs.sizes.deltas["fine"].rows
    assert shapes(costs, "by_city", "fine") == [(DELTA, {"store": NEW}, rows)]


def test_a_changed_dimension_is_joined_with_the_old_parent_instead_of_the_fact():
    costs = model("stores=~2")
    assert shapes(costs, "by_city", "fine") == [(OLD, {"store": DELTA}, 100_000)]
    assert shapes(costs, "by_city", None) == [(OLD, {"store": DELTA}, 1_000_000)]


def test_terms_telescope_over_the_changed_inputs():
    """Source first, then each changed role: the roles before it old, those after it new."""
    costs = model("sales=+1000", "stores=~2", "cities=~1")
    assert shapes(costs, "by_region", None) == [
        (DELTA, {"store": NEW, "city": NEW}, 1_000),
        (OLD, {"store": DELTA, "city": NEW}, 1_000_000),
        (OLD, {"store": OLD, "city": DELTA}, 1_000_000),
    ]


def test_a_parent_that_holds_what_the_child_needs_joins_nothing_and_adds_no_term():
    costs = model("cities=~1")
    rows = costs.sizes.deltas["by_region_day"].rows
    assert shapes(costs, "by_region", "by_region_day") == [(DELTA, {}, rows)]


def test_a_parent_that_is_not_reached_has_an_empty_delta():
    costs = model("cities=~1")
    assert "by_city" not in costs.sizes.deltas
    assert shapes(costs, "by_region", "by_city") == [(OLD, {"city": DELTA}, 10_000)]


def test_new_dimension_rows_add_no_term():
    costs = model("sales=+1000", "stores=+2", "cities=+1")
    assert shapes(costs, "by_region", None) == [(DELTA, {"store": NEW, "city": NEW}, 1_000)]


def test_what_a_rebuild_costs():
    costs = model("sales=+1000")
    way = costs.rebuild("by_city", "fine")
    assert way.read_cost == 100_000
    assert way.join_cost == 0.5 * 100_000 + 2 * 100
    assert way.write_cost == 10 * 10_000
    assert way.stage_cost == 7
    assert way.cost == way.compute_cost + way.write_cost == 150_200 + 100_000 + 7


def test_what_a_delta_costs():
    costs = model("sales=+1000")
    delta_in, delta_out = (costs.sizes.deltas[name].rows for name in ("fine", "by_city"))
    way = costs.delta("by_city", "fine")
    assert way.compute_cost == delta_in + 0.5 * delta_in + 2 * 100 + 7
    assert way.write_cost == 10 * delta_out + 7


def test_what_a_dimension_term_costs():
    """The changed dimension is joined first; the others are probed by what is left."""
    costs = model("stores=~5")
    (term,) = costs.delta("by_region", None).terms
    left = 1_000_000 * 10 / 100
    assert term.read_cost == 1_000_000
    assert term.join_cost == (0.5 * 1_000_000 + 2 * 10) + (0.5 * left + 2 * 20)


def test_in_the_papers_count_joins_are_free():
    costs = model("sales=+1000", weights=PAPER_WEIGHTS)
    assert costs.delta("by_region", None).cost == 1_000 + costs.sizes.deltas["by_region"].rows


@pytest.mark.parametrize("changes", [["sales=500"], ["stores=~2"], ["sales=9", "cities=~1"]])
def test_the_compared_price_is_the_price_in_full(changes):
    costs = model(*changes)
    for child in costs.sizes.deltas:
        for parent in (None, *costs.lattice.parents(child)):
            full = costs.delta(child, parent)
            assert costs.delta_way(child, parent).cost + costs.delta_write(child) == full.cost
            anew = costs.rebuild(child, parent)
            assert costs.rebuild_way(child, parent).cost + costs.rebuild_write(child) == anew.cost


def test_rows_in_says_where_all_terms_come_from():
    rows_in = model("sales=+1000", "stores=~2").delta("by_city", None).rows_in
    assert rows_in.rows == 1_001_000
    assert rows_in.how == "1,000 + 1,000,000"


def test_two_roles_of_one_dimension_change_apart():
    lattice = build_lattice(shop(view("v", [MONTH, SHIPPED_MONTH])))
    sizes = estimate_sizes(lattice, KNOWN, parse_changes(["days=~1"], TABLES))
    costs = CostModel(lattice, sizes, WEIGHTS)
    assert [dict(term.joins) for term in costs.delta_way("v", None).terms] == [
        {"ordered": DELTA, "shipped": NEW},
        {"ordered": OLD, "shipped": DELTA},
    ]
