"""Estimates of rows: what is given counts, what is not follows or is assumed, and says so."""

from dataclasses import replace

import pytest

from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.distinct import Profile
from cubekeeper.derive.groups import filled, possible
from cubekeeper.derive.selectivity import selections
from cubekeeper.derive.sizes import estimate_sizes
from cubekeeper.lattice.choice import Sizes
from cubekeeper.scalar.aggregates import AggregateFunction, aggregate
from cubekeeper.scalar.build import call, case, cast, literal
from cubekeeper.schema import STRING
from cubekeeper.statistics.changes import Changes, TableChange
from cubekeeper.statistics.model import Statistics, TableStatistics, ViewStatistics
from tests.unit.derive.shop import (
    BRAND,
    CATEGORY,
    CITY,
    CLIMATE,
    COST,
    COUNT,
    ITEM,
    MONTH,
    ORDERED,
    PRICE,
    QTY,
    REGION,
    SHIPPED,
    SIZE,
    STATISTICS,
    STORE,
    YEAR,
    shop,
    view,
)

NOTHING = Statistics()


def sizes(*views, statistics=STATISTICS, changes=None) -> Sizes:
    return estimate_sizes(build_lattice(shop(*views)), statistics, changes)


def rows(keys, statistics=STATISTICS, **more) -> float:
    return sizes(view("v", keys, **more), statistics=statistics).views["v"].rows


def distinct(expr, statistics=STATISTICS) -> tuple[float, str]:
    estimate = Profile(shop(), statistics, "sales").distinct(expr)
    return estimate.rows, estimate.source


# --- Cardenas' formula ------------------------------------------------------------------------


@pytest.mark.parametrize(("groups", "n"), [(10, 3), (10, 1_000), (1e6, 10), (1e12, 1e6), (1, 5)])
def test_filled_groups_are_at_most_both(groups, n):
    assert 0 < filled(groups, n) <= min(groups, n) + 1e-9


def test_filled_is_the_expectation():
    assert filled(4, 2) == pytest.approx(4 * (1 - (3 / 4) ** 2))
    assert filled(10, 0) == 0
    assert filled(0, 10) == 0


@pytest.mark.parametrize(("groups", "n"), [(10, 30), (632, 1_000), (999, 1_000), (5, 1_000_000)])
def test_possible_is_filled_turned_round(groups, n):
    assert filled(possible(groups, n), n) == pytest.approx(groups)


def test_as_many_groups_as_rows_means_no_limit():
    assert possible(100, 100) == float("inf")
    assert filled(float("inf"), 7) == 7


# --- distinct values --------------------------------------------------------------------------


def test_a_given_count_counts():
    assert distinct(REGION) == (5, "given")
    assert distinct(SHIPPED) == (500, "given")


def test_a_foreign_key_has_a_value_per_row_of_its_dimension():
    assert distinct(STORE) == (200, "estimated")
    assert distinct(CITY) == (50, "estimated")


def test_a_count_for_the_key_of_a_dimension_counts_for_the_foreign_key():
    known = Statistics(tables={"stores": TableStatistics(rows=200, distinct={"store": 150})})
    assert distinct(STORE, known) == (150, "given")


def test_levels_without_a_count_are_the_square_root_of_the_finer_level():
    known = Statistics(tables={"items": TableStatistics(rows=10_000)})
    assert distinct(BRAND, known) == (100, "assumed")
    assert distinct(CATEGORY, known) == (10, "assumed")


def test_no_more_values_than_rows():
    known = Statistics(tables={"days": TableStatistics(rows=3)})
    assert distinct(call("*", YEAR, YEAR), known)[0] <= 3


@pytest.mark.parametrize(
    ("expr", "count"),
    [
        (call("year", ORDERED), 3),
        (call("month", ORDERED), 12),
        (call("quarter", ORDERED), 4),
        (call("date_trunc", literal("MONTH"), ORDERED), 34),
        (call("trunc", ORDERED, literal("YEAR")), 3),
        (call("date_format", ORDERED, literal("yyyy-MM")), 34),
        (call("last_day", ORDERED), 34),
        (call("weekofyear", ORDERED), 53),
        (call(">", QTY, literal(3)), 2),
        (case([(call(">", QTY, literal(3)), literal("a"))], literal("b")), 2),
        (cast(YEAR, STRING), 3),
        (literal(7), 1),
    ],
)
def test_expressions(expr, count):
    assert distinct(expr)[0] == count


# --- groups -----------------------------------------------------------------------------------


def test_groups_are_bounded_by_the_values_and_by_the_rows():
    assert rows([REGION]) == 5
    assert rows([STORE, ITEM, ORDERED, SHIPPED]) == pytest.approx(1_000_000, rel=0.001)


def test_keys_that_others_determine_make_no_groups():
    assert rows([STORE, CITY, REGION, SIZE]) == rows([STORE])
    assert rows([ITEM, CATEGORY]) == rows([CATEGORY, ITEM]) == rows([ITEM])
    assert rows([ORDERED, MONTH, call("year", ORDERED)]) == rows([ORDERED])


def test_keys_of_one_dimension_make_no_more_groups_than_it_has_rows():
    few = Statistics(
        tables={
            "sales": TableStatistics(rows=10**9),
            "stores": TableStatistics(rows=30, distinct={"size": 20}),
            "cities": TableStatistics(rows=20, distinct={"climate": 15}),
        }
    )
    assert rows([SIZE, CLIMATE], few) <= 30
    assert rows([CLIMATE, REGION], few) <= 20


def test_no_keys_no_groups_but_one_row():
    assert sizes(view("v", [])).views["v"].rows == 1
    assert sizes(view("v", [])).deltas["v"].rows == 1


def test_a_filter_leaves_fewer_rows():
    fixed = call("=", REGION, literal("north"))
    assert rows([REGION], where=(fixed,)) == 1
    fine = [STORE, ITEM, ORDERED, SHIPPED]
    assert rows(fine, where=(fixed,)) == pytest.approx(1_000_000 / 5, rel=0.01)
    assert rows(fine, where=(call(">", QTY, literal(1)),)) == pytest.approx(1e6 / 3, rel=0.01)


@pytest.mark.parametrize(
    ("conditions", "share", "why"),
    [
        ([call("=", REGION, literal("r"))], 1 / 5, "region 1 of 5 values"),
        ([call("<>", REGION, literal("r"))], 4 / 5, "region all but 1 of 5 values"),
        ([call("in", REGION, literal("r"), literal("s"))], 2 / 5, "region 2 of 5 values"),
        ([call(">", QTY, literal(1))], 1 / 3, "qty a range, a third assumed"),
        (
            [call(">", QTY, literal(1)), call("<", QTY, literal(9))],
            1 / 4,
            "qty between bounds, a quarter assumed",
        ),
        ([call("is_null", PRICE)], 1 / 10, "price a tenth assumed"),
        ([call("not", call("is_null", PRICE))], 9 / 10, "price not: a tenth assumed"),
        (
            [call("or", call("=", REGION, literal("r")), call("=", SIZE, literal("s")))],
            1 - 4 / 5 * 3 / 4,
            "region and size any of several",
        ),
    ],
)
def test_what_a_filter_lets_through(conditions, share, why):
    (selection,) = selections(Profile(shop(), STATISTICS, "sales"), conditions)
    assert selection.share == pytest.approx(share)
    assert str(selection) == why


def test_what_is_given_for_a_table_counts():
    known = replace(STATISTICS, views={"v": ViewStatistics(rows=77, delta_rows=5)})
    found = sizes(view("v", [REGION]), statistics=known)
    assert (found.views["v"].rows, found.views["v"].source) == (77, "given")
    assert (found.deltas["v"].rows, found.deltas["v"].source) == (5, "given")


def test_a_table_is_not_larger_than_one_it_derives_from():
    known = replace(STATISTICS, views={"fine": ViewStatistics(rows=3)})
    found = sizes(view("fine", [STORE, ITEM]), view("coarse", [CATEGORY]), statistics=known)
    assert found.views["coarse"].rows == 3
    assert "`fine`" in found.views["coarse"].how


def test_a_table_is_not_smaller_than_what_is_given_below_it():
    known = replace(STATISTICS, views={"coarse": ViewStatistics(rows=900)})
    found = sizes(view("fine", [REGION, BRAND]), view("coarse", [REGION]), statistics=known)
    assert found.views["fine"].rows >= 900
    assert found.views["coarse"].rows == 900


# --- deltas -----------------------------------------------------------------------------------


def sold(n: float, deleted: float = 0) -> Changes:
    return Changes((TableChange("sales", n, deleted),))


def test_a_delta_has_at_most_the_changed_rows_and_the_groups():
    found = sizes(view("fine", [STORE, ITEM, ORDERED]), view("r", [REGION]), changes=sold(100))
    assert 95 <= found.deltas["fine"].rows <= 100
    assert found.deltas["r"].rows == 5


def test_insertions_reach_groups_that_are_not_there_yet():
    found = sizes(view("fine", [STORE, ITEM, ORDERED]), changes=sold(2_000_000))
    assert found.deltas["fine"].rows > found.views["fine"].rows


def test_given_delta_rows_hold_for_the_usual_changes_and_are_scaled_for_others():
    known = replace(STATISTICS, views={"v": ViewStatistics(rows=10_000, delta_rows=600)})
    asked = {
        n: sizes(view("v", [STORE, BRAND]), statistics=known, changes=sold(n)).deltas["v"]
        for n in (10_000, 1_000, 20_000, 100)
    }
    assert (asked[10_000].rows, asked[10_000].source) == (600, "given")
    assert 400 < asked[1_000].rows < 600
    assert asked[20_000].rows == 1_200
    assert 90 < asked[100].rows <= 100
    assert asked[100].source == "estimated"


def test_dimension_changes_reach_only_the_tables_that_read_them():
    changes = Changes((TableChange("cities", 2, 2),))
    found = sizes(
        view("by_store", [STORE]),
        view("by_city", [CITY]),
        view("by_region", [REGION]),
        view("by_brand", [BRAND]),
        changes=changes,
    )
    assert set(found.deltas) == {"by_region"}


def test_a_dimension_behind_another_is_read_through_it():
    """A store that moves to another city is in another region."""
    changes = Changes((TableChange("stores", 1, 1),))
    found = sizes(view("by_region", [REGION]), view("by_item", [ITEM]), changes=changes)
    assert set(found.deltas) == {"by_region"}


def test_dimension_insertions_alone_reach_nothing():
    changes = Changes((TableChange("stores", 5, 0),))
    assert sizes(view("by_region", [REGION]), changes=changes).deltas == {}


def test_an_aggregate_or_filter_over_a_dimension_is_reached_too():
    costs = aggregate(AggregateFunction.SUM, COST)
    changes = Changes((TableChange("items", 1, 1),))
    found = sizes(
        view("costs", [STORE], costs),
        view("one", [STORE], COUNT, where=(call("=", BRAND, literal("b")),)),
        view("plain", [CITY]),
        changes=changes,
    )
    assert set(found.deltas) == {"costs", "one"}


def test_few_changed_rows_of_a_dimension_touch_few_groups():
    changes = Changes((TableChange("stores", 1, 1),))
    found = sizes(view("by_city_and_day", [CITY, ORDERED]), changes=changes)
    assert 500 < found.deltas["by_city_and_day"].rows <= 2 * 1_000  # two cities, every day


def test_other_facts_do_not_matter():
    changes = Changes((TableChange("returns", 10, 0),))
    found = sizes(view("v", [STORE]), changes=changes)
    assert found.deltas == {}


# --- where it comes from ----------------------------------------------------------------------


def test_without_statistics_everything_is_assumed_and_says_so():
    found = sizes(view("v", [REGION, PRICE]), statistics=NOTHING)
    assert found.tables["sales"].rows == 1_000_000
    assert found.tables["sales"].source == "assumed"
    assert "no statistics" in found.tables["sales"].how
    assert found.views["v"].source == "assumed"
    assert found.deltas["v"].source == "assumed"


def test_an_estimate_says_how_in_words():
    how = sizes(view("v", [REGION, SIZE])).views["v"].how
    assert how == "region 5 × size 4: at most 20 groups, hit by 1,000,000 rows"
    fixed = (call("=", REGION, literal("north")),)
    how = sizes(view("v", [SIZE], where=fixed)).views["v"].how
    assert how.endswith("200,000 rows (20.00% pass the filter: region 1 of 5 values)")


def test_an_empty_fact_is_no_trouble():
    empty = Statistics(tables={"sales": TableStatistics(rows=0, insertions=5)})
    found = sizes(view("v", [REGION]), view("all", []), statistics=empty)
    assert found.views["v"].rows <= 1
    assert found.deltas["v"].rows >= 1


def test_a_filter_leaves_the_part_of_a_key_that_it_leaves_of_the_rows():
    """A brand has one category: of 300 brands in 20 categories 15 are in one."""
    one = (call("=", CATEGORY, literal("c")),)
    assert rows([BRAND], where=one) == 15
    assert rows([BRAND, REGION], where=one) == 15 * 5
    assert rows([REGION], where=one) == 5


def test_a_given_count_is_not_made_smaller_by_chance():
    known = Statistics(
        tables={
            "sales": TableStatistics(rows=10**7),
            "items": TableStatistics(rows=100, distinct={"brand": 90}),
        }
    )
    assert rows([BRAND], known) == 90
