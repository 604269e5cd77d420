"""Who is chosen as a parent, what is said about it, and when a table is rebuilt instead."""

from dataclasses import replace

import pytest

from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.parents import RUNNERS_UP, choose
from cubekeeper.errors import UnsupportedError
from cubekeeper.lattice.choice import Maintenance
from cubekeeper.statistics.changes import parse_changes
from cubekeeper.statistics.model import PAPER_WEIGHTS, ViewStatistics
from cubekeeper.warehouse.model import Policy
from tests.unit.derive.shop import (
    BRAND,
    CATEGORY,
    CITY,
    COUNT,
    DISTINCT,
    FIRST,
    ITEM,
    MONTH,
    ORDERED,
    REGION,
    STATISTICS,
    STORE,
    TABLES,
    TOTAL,
    YEAR,
    shop,
    view,
)


def chosen(*views, changes=("sales=10000",), statistics=STATISTICS, weights=None) -> Maintenance:
    lattice = build_lattice(shop(*views))
    return choose(lattice, statistics, parse_changes(changes, TABLES), weights=weights)


def parents(maintenance: Maintenance) -> dict[str, str | None]:
    return {name: choice.parent for name, choice in maintenance.deltas.by_view.items()}


FINE = view("fine", [STORE, ITEM, ORDERED])
BY_CITY = view("by_city", [CITY, ORDERED])
BY_REGION = view("by_region", [REGION])


def test_each_table_takes_its_delta_from_the_cheapest_above():
    assert parents(chosen(FINE, BY_CITY, BY_REGION)) == {
        "fine": None,
        "by_city": "fine",
        "by_region": "by_city",
    }


def test_a_join_can_make_the_larger_parent_the_cheaper_one():
    """by_store is smaller than by_region_item, but must be joined with stores and cities."""
    views = (view("by_store", [STORE, CATEGORY]), view("by_region_item", [REGION, ITEM]), BY_REGION)
    known = replace(
        STATISTICS,
        views={
            "by_store": ViewStatistics(delta_rows=900),
            "by_region_item": ViewStatistics(delta_rows=1_000),
        },
    )
    usual = ("sales=10000",)
    free = chosen(*views, statistics=known, changes=usual, weights=PAPER_WEIGHTS)
    paid = chosen(*views, statistics=known, changes=usual)
    assert parents(free)["by_region"] == "by_store"
    assert parents(paid)["by_region"] == "by_region_item"


def test_parents_come_before_children_whatever_the_declarations_say():
    order = list(chosen(BY_REGION, BY_CITY, FINE).deltas.by_view)
    assert order == ["fine", "by_city", "by_region"]


def test_tables_with_the_same_groups_do_not_derive_from_each_other():
    twin = view("twin", [ORDERED, ITEM, STORE])
    found = parents(chosen(FINE, twin))
    assert set(found.items()) in (
        {("fine", None), ("twin", "fine")},
        {("twin", None), ("fine", "twin")},
    )


def test_equal_costs_go_to_the_one_declared_first():
    known = replace(
        STATISTICS,
        views={n: ViewStatistics(rows=500, delta_rows=50) for n in ("one", "two")},
    )
    views = (view("one", [CITY, YEAR]), view("two", [CITY, MONTH]), view("low", [CITY]))
    changes = ("sales=10000",)
    found = chosen(*views, statistics=known, changes=changes, weights=PAPER_WEIGHTS)
    assert parents(found)["low"] == "one"
    found = chosen(*reversed(views), statistics=known, changes=changes, weights=PAPER_WEIGHTS)
    assert parents(found)["low"] == "two"


def test_runners_up_are_the_next_best_and_the_rest_is_counted():
    views = [view(f"v{at}", [REGION, key]) for at, key in enumerate((STORE, ITEM, ORDERED, BRAND))]
    views += [view(f"w{at}", [REGION, key, MONTH]) for at, key in enumerate((STORE, ITEM, BRAND))]
    choice = chosen(*views, BY_REGION).deltas.by_view["by_region"]
    costs = [candidate.cost for candidate in choice.runners_up]
    assert len(choice.runners_up) == RUNNERS_UP
    assert choice.chosen.cost <= min(costs)
    assert costs == sorted(costs)
    assert choice.more == len(views) + 1 - 1 - RUNNERS_UP
    assert choice.parent not in {candidate.parent for candidate in choice.runners_up}


def test_a_choice_carries_the_edge_to_run():
    choice = chosen(FINE, BY_CITY).deltas.by_view["by_city"]
    assert (choice.edge.parent, choice.edge.child) == ("fine", "by_city")
    assert choice.edge.label == ("store",)


def test_total_and_parts_agree():
    maintenance = chosen(FINE, BY_CITY, BY_REGION, changes=("sales=100", "stores=~1"))
    deltas = maintenance.deltas.by_view.values()
    assert maintenance.deltas.total == sum(c.chosen.cost for c in deltas)
    written = sum(c.chosen.write_cost for c in deltas)
    assert maintenance.propagate_cost == pytest.approx(maintenance.deltas.total - written)


def test_without_changes_nothing_is_done():
    maintenance = chosen(FINE, BY_CITY, changes=())
    assert maintenance.untouched == ("fine", "by_city")
    assert maintenance.deltas.by_view == {}
    assert (maintenance.propagate_cost, maintenance.window_cost) == (0, 0)


# --- dimension changes ------------------------------------------------------------------------


def test_a_moved_store_is_propagated_from_the_summary_table_and_the_fact_is_not_read():
    maintenance = chosen(FINE, BY_CITY, BY_REGION, changes=("stores=~1",))
    assert maintenance.untouched == ("fine",)
    assert parents(maintenance) == {"by_city": "fine", "by_region": "by_city"}
    assert maintenance.reached["by_city"] == ("stores",)


def test_a_table_that_is_not_reached_is_a_source_even_if_it_could_only_be_rebuilt():
    holistic = view("holistic", [STORE, ITEM, ORDERED], COUNT, TOTAL, DISTINCT)
    maintenance = chosen(holistic, view("by_city", [CITY]), changes=("stores=~1",))
    assert parents(maintenance) == {"by_city": "holistic"}


# --- policies ---------------------------------------------------------------------------------


def test_full_is_rebuilt_and_no_delta_comes_from_it():
    full = view("full", [STORE, CATEGORY], policy=Policy.FULL)
    below = view("by_category", [CATEGORY], policy=Policy.INCREMENTAL)
    maintenance = chosen(FINE, full, below)
    assert set(maintenance.rebuilds.by_view) == {"full"}
    assert maintenance.reasons == {"full": "its policy is `full`"}
    assert maintenance.rebuilds.by_view["full"].parent == "fine"
    assert maintenance.rebuilds.by_view["full"].instead is None
    assert parents(maintenance)["by_category"] == "fine"


def test_what_can_only_be_rebuilt_says_why():
    maintenance = chosen(FINE, view("prices", [STORE], COUNT, DISTINCT))
    assert "distinct values" in maintenance.reasons["prices"]
    assert maintenance.rebuilds.by_view["prices"].parent is None


def test_strict_is_never_rebuilt():
    huge = ("sales=5000000",)
    auto = chosen(view("v", [STORE]), changes=huge)
    assert "cheaper" in auto.reasons["v"]
    for policy in (Policy.INCREMENTAL, Policy.INCREMENTAL_STRICT):
        kept = chosen(view("v", [STORE], policy=policy), changes=huge)
        assert kept.rebuilds.by_view == {}
        assert kept.deltas.by_view["v"].instead is None
    with pytest.raises(UnsupportedError, match="incremental_strict"):
        chosen(view("v", [STORE], DISTINCT, policy=Policy.INCREMENTAL_STRICT))


def test_auto_shows_what_the_other_kind_would_cost():
    choice = chosen(FINE, BY_CITY).deltas.by_view["by_city"]
    assert choice.instead is not None
    assert choice.instead.cost > choice.chosen.cost
    rebuilt = chosen(FINE, BY_CITY, changes=("sales=5000000",)).rebuilds.by_view["by_city"]
    assert rebuilt.instead is not None
    assert rebuilt.instead.cost > rebuilt.chosen.cost


def test_the_reason_for_a_rebuild_has_both_prices():
    maintenance = chosen(view("v", [STORE]), changes=("sales=5000000",), weights=PAPER_WEIGHTS)
    assert maintenance.reasons["v"] == (
        "cheaper: 1,000,200 tuple accesses, a delta and its refresh 5,000,200"
    )


def test_a_table_whose_delta_feeds_others_is_not_rebuilt_for_a_small_gain():
    """`top` costs 1.2 million by its delta and 1.02 million anew; its children would lose more."""
    keys = (STORE, ITEM, ORDERED)
    low = [view(f"low{n}", [key], policy=Policy.INCREMENTAL) for n, key in enumerate(keys)]
    sales = replace(STATISTICS.tables["sales"], insertions=1_200_000, deletions=0)
    known = replace(
        STATISTICS,
        tables={**STATISTICS.tables, "sales": sales},
        views={"top": ViewStatistics(rows=20_000, delta_rows=25_000)},
    )
    top = view("top", [STORE, ITEM, ORDERED])
    changes = ("sales=+1200000",)
    together = chosen(top, *low, changes=changes, statistics=known, weights=PAPER_WEIGHTS)
    assert parents(together) == {"top": None, **{v.name: "top" for v in low}}
    alone = chosen(top, changes=changes, statistics=known, weights=PAPER_WEIGHTS)
    assert set(alone.rebuilds.by_view) == {"top"}


def test_a_table_below_one_that_is_rebuilt_anyway_may_be_rebuilt_from_it():
    full = view("full", [STORE, CATEGORY], policy=Policy.FULL)
    maintenance = chosen(FINE, full, view("by_category", [CATEGORY]))
    assert maintenance.rebuilds.by_view["by_category"].parent == "full"
    assert list(maintenance.rebuilds.by_view) == ["full", "by_category"]


# --- MIN and MAX ------------------------------------------------------------------------------


def test_groups_that_may_lose_their_minimum_are_expected():
    first = view("first", [STORE, CATEGORY], COUNT, FIRST)
    again = chosen(first, changes=("sales=-100",)).recomputations["first"]
    (column,) = again.columns
    assert column == "m1"
    assert again.groups == pytest.approx(100 / (1_000_000 / 4_000))
    assert again.rows_in == pytest.approx(100)
    assert chosen(first, changes=("sales=+100",)).recomputations == {}
    assert chosen(BY_CITY, changes=("sales=-100",)).recomputations == {}


def test_a_dimension_update_also_takes_rows_away_from_groups():
    first = view("first", [REGION], COUNT, FIRST)
    assert set(chosen(first, changes=("stores=~1",)).recomputations) <= {"first"}
    kept = replace(first, policy=Policy.INCREMENTAL)
    assert set(chosen(kept, changes=("stores=~1",)).recomputations) == {"first"}
