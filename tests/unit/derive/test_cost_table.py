"""Table 1 of the paper from its Table 3, and the same table where the paper has none."""

from pathlib import Path

import pytest

from cubekeeper.declare import load, load_statistics
from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.cost_table import cost_table
from cubekeeper.statistics.changes import Changes, TableChange
from cubekeeper.statistics.model import (
    CostWeights,
    Statistics,
    TableStatistics,
    ViewStatistics,
)
from tests.unit.derive.shop import (
    CATEGORY,
    CITY,
    COUNT,
    DISTINCT,
    FIRST,
    ITEM,
    ORDERED,
    REGION,
    STATISTICS,
    STORE,
    TOTAL,
    shop,
    view,
)

# The paper's warehouse in the shop's words: Table 3's numbers for the four tables of Figure 1.
TABLE_3 = Statistics(
    tables={
        "sales": TableStatistics(rows=1_000_000, insertions=5_000, deletions=5_000),
        "stores": TableStatistics(rows=100),
        "items": TableStatistics(rows=1_000),
    },
    views={
        "sid_sales": ViewStatistics(rows=100_000, delta_rows=1_000),
        "scd_sales": ViewStatistics(rows=10_000, delta_rows=100),
        "sic_sales": ViewStatistics(rows=2_000, delta_rows=1_000),
        "sr_sales": ViewStatistics(rows=10, delta_rows=10),
    },
)
FIGURE_1 = shop(
    view("SID_sales", [STORE, ITEM, ORDERED]),
    view("sCD_sales", [CITY, ORDERED]),
    view("SiC_sales", [STORE, CATEGORY], COUNT, FIRST, TOTAL),
    view("sR_sales", [REGION]),
)
TABLE_1 = {
    "SID_sales": (1_100_000, 11_000, 11_000, 22_000),
    "sCD_sales": (110_000, 10_100, 1_100, 20_200),
    "SiC_sales": (102_000, 11_000, 2_000, 512_000),
    "sR_sales": (2_010, 10_010, 110, 1_010_020),
}


@pytest.fixture(scope="module")
def table_1():
    return cost_table(build_lattice(FIGURE_1), TABLE_3)


def test_every_cell_of_table_1(table_1):
    found = {
        row.view: (
            row.recomputation.cost,
            row.individual.cost,
            row.reuse.cost,
            row.counting.cost,
        )
        for row in table_1.rows
    }
    assert found == TABLE_1


def test_the_totals_of_table_1(table_1):
    totals = (table_1.recomputation, table_1.individual, table_1.reuse, table_1.counting)
    assert totals == (1_314_010, 42_110, 14_210, 1_564_220)


def test_the_parents_behind_table_1(table_1):
    """sR_sales is recomputed from SiC_sales, but its delta comes from sCD_sales."""
    rows = {row.view: row for row in table_1.rows}
    assert {name: row.recomputation.parent for name, row in rows.items()} == {
        "SID_sales": None,
        "sCD_sales": "SID_sales",
        "SiC_sales": "SID_sales",
        "sR_sales": "SiC_sales",
    }
    assert {name: row.reuse.parent for name, row in rows.items()} == {
        "SID_sales": None,
        "sCD_sales": "SID_sales",
        "SiC_sales": "SID_sales",
        "sR_sales": "sCD_sales",
    }
    assert all(row.individual.parent is None for row in rows.values())


def test_without_the_lattice_friendly_region_the_delta_still_comes_through_the_lattice():
    table = cost_table(build_lattice(FIGURE_1, friendly=False), TABLE_3)
    assert table.reuse == 14_210


def test_weights_are_what_the_columns_are_counted_in():
    twice = CostWeights(read=2, write=2, join_probe=0, join_build=0, unit="seconds")
    table = cost_table(build_lattice(FIGURE_1), TABLE_3, twice)
    assert (table.recomputation, table.counting) == (2 * 1_314_010, 2 * 1_564_220)
    assert table.unit == "seconds"


def test_a_table_that_can_only_be_rebuilt_says_so_and_counts_its_rebuild():
    lattice = build_lattice(
        shop(view("fine", [STORE, ITEM]), view("holistic", [STORE], COUNT, DISTINCT))
    )
    row = cost_table(lattice, STATISTICS).rows[1]
    assert row.reuse.cost == row.recomputation.cost
    assert row.individual.cost == 1_000_000 + row.rows.rows
    assert "distinct" in row.reuse.note


def test_a_table_that_the_changes_do_not_reach_costs_only_recomputation():
    lattice = build_lattice(shop(view("v", [STORE]), view("r", [], fact="returns")))
    changes = Changes((TableChange("returns", 5, 0),))
    row = cost_table(lattice, STATISTICS, changes=changes).rows[0]
    assert row.delta is None
    assert (row.individual.cost, row.reuse.cost, row.counting.cost) == (0, 0, 0)
    assert row.reuse.note == "the changes do not reach it"
    assert row.recomputation.cost > 1_000_000


def test_each_table_counts_the_changes_of_its_own_fact():
    store = view("r", [STORE], fact="returns")
    lattice = build_lattice(shop(view("s", [STORE]), store))
    by_view = {row.view: row for row in cost_table(lattice, STATISTICS).rows}
    deltas = {name: row.delta.rows for name, row in by_view.items() if row.delta}
    assert by_view["s"].individual.cost == 10_000 + deltas["s"]
    assert by_view["r"].individual.cost == 500 + deltas["r"]
    assert by_view["r"].recomputation.cost == 50_000 + 200


def test_counting_reads_at_most_the_whole_fact():
    lattice = build_lattice(shop(view("v", [REGION])))
    everything = Changes((TableChange("sales", 500_000, 500_000),))
    row = cost_table(lattice, STATISTICS, changes=everything).rows[0]
    assert row.counting.cost == 1_000_000 + 1_000_000 + 2 * 5


def test_table_1_from_the_files_of_the_retail_example():
    folder = Path(__file__).resolve().parents[3] / "lattice" / "retail"
    warehouse = load(folder).warehouse
    statistics = load_statistics(folder / "table3.yml", warehouse)
    table = cost_table(build_lattice(warehouse), statistics)
    assert {
        row.view: (
            row.recomputation.cost,
            row.individual.cost,
            row.reuse.cost,
            row.counting.cost,
        )
        for row in table.rows
    } == TABLE_1
