"""The examples of `lattice/` are read as what they say they are."""

from dataclasses import replace
from pathlib import Path

import pytest

from cubekeeper.declare import load, load_statistics, summary_table_from_sql
from cubekeeper.scalar.nodes import ColumnRef
from cubekeeper.statistics.model import PAPER_WEIGHTS
from cubekeeper.warehouse.text import summary_table_sql

EXAMPLES = Path(__file__).parents[3] / "lattice"
NAMES = ("retail", "retail_cube", "ssb", "snowflake")
LOADED = {name: load(EXAMPLES / name) for name in NAMES}

VIEWS = [
    pytest.param(name, view.name, id=f"{name}: {view.name}")
    for name, loaded in LOADED.items()
    for view in loaded.warehouse.summary_tables
]

# Figure 1 of the paper, word for word.
FIGURE_1 = {
    "SID_sales": """
        CREATE VIEW SID_sales(storeID, itemID, date, TotalCount, TotalQuantity) AS
        SELECT storeID, itemID, date, COUNT(*) AS TotalCount, SUM(qty) AS TotalQuantity
        FROM pos
        GROUP BY storeID, itemID, date""",
    "sCD_sales": """
        CREATE VIEW sCD_sales(city, date, TotalCount, TotalQuantity) AS
        SELECT city, date, COUNT(*) AS TotalCount, SUM(qty) AS TotalQuantity
        FROM pos, stores
        WHERE pos.storeID = stores.storeID
        GROUP BY city, date""",
    "SiC_sales": """
        CREATE VIEW SiC_sales(storeID, category, TotalCount, EarliestSale, TotalQuantity) AS
        SELECT storeID, category, COUNT(*) AS TotalCount, MIN(date) AS EarliestSale,
               SUM(qty) AS TotalQuantity
        FROM pos, items
        WHERE pos.itemID = items.itemID
        GROUP BY storeID, category""",
    "sR_sales": """
        CREATE VIEW sR_sales(region, TotalCount, TotalQuantity) AS
        SELECT region, COUNT(*) AS TotalCount, SUM(qty) AS TotalQuantity
        FROM pos, stores
        WHERE pos.storeID = stores.storeID
        GROUP BY region""",
}


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_read_without_warnings(name):
    assert LOADED[name].cautions == ()
    assert LOADED[name].warehouse.name == name
    assert LOADED[name].warehouse.description
    assert LOADED[name].statistics.origin.endswith("stats.yml")
    for table in (*LOADED[name].warehouse.facts, *LOADED[name].warehouse.dimensions):
        assert LOADED[name].statistics.table(table.name).rows


@pytest.mark.parametrize(("example", "name"), VIEWS)
def test_sql_printed_from_the_model_is_the_same_model(example, name):
    warehouse = LOADED[example].warehouse
    view = warehouse.view(name)
    again = summary_table_from_sql(summary_table_sql(warehouse, view), warehouse, name)
    again = replace(again, policy=view.policy, lattice_friendly=view.lattice_friendly)
    assert replace(again, cube=view.cube) == view


@pytest.mark.parametrize("name", FIGURE_1)
def test_retail_is_figure_1(name):
    warehouse = LOADED["retail"].warehouse
    assert summary_table_from_sql(FIGURE_1[name], warehouse, name) == warehouse.view(name)
    assert len(warehouse.summary_tables) == len(FIGURE_1)


def test_table_3():
    warehouse = LOADED["retail"].warehouse
    table_3 = load_statistics(EXAMPLES / "retail" / "table3.yml", warehouse)
    assert {name: table_3.table(name).rows for name in ("pos", "stores", "items")} == {
        "pos": 1_000_000,
        "stores": 100,
        "items": 1_000,
    }
    assert table_3.table("pos").changes == 10_000
    views = {v.name: table_3.view(v.name) for v in warehouse.summary_tables}
    assert {name: (view.rows, view.delta_rows) for name, view in views.items()} == {
        "SID_sales": (100_000, 1_000),
        "sCD_sales": (10_000, 100),
        "SiC_sales": (2_000, 1_000),
        "sR_sales": (10, 10),
    }
    assert table_3.weights == PAPER_WEIGHTS


def test_retail_cube_is_figure_5():
    views = LOADED["retail_cube"].warehouse.summary_tables
    stores = ["storeID", "city", "region", None]
    items = ["itemID", "category", None]
    expected = [
        tuple(level for level in (store, item, date) if level)
        for store in stores
        for item in items
        for date in ("date", None)
    ]
    assert [tuple(key.name for key in view.keys) for view in views] == expected
    assert [view.name for view in views[:2]] == [
        "sales__storeID_itemID_date",
        "sales__storeID_itemID",
    ]
    assert views[-1].name == "sales__all"
    assert {view.cube for view in views} == {"sales"}


def test_ssb_has_its_thirteen_queries():
    names = {view.name for view in LOADED["ssb"].warehouse.summary_tables}
    queries = {
        f"q{flight}_{n}"
        for flight, count in enumerate((3, 3, 4, 3), 1)
        for n in range(1, count + 1)
    }
    assert len(queries) == 13
    assert queries <= names


def test_ssb_weeks_and_months_are_incomparable():
    warehouse = LOADED["ssb"].warehouse
    (calendar, _) = warehouse.base_table("dates").hierarchies
    assert set(calendar.steps) == {
        ("d_datekey", "d_yearweek"),
        ("d_yearweek", "d_year"),
        ("d_datekey", "d_yearmonthnum"),
        ("d_yearmonthnum", "d_year"),
    }
    keys = {tuple(key.name for key in view.keys) for view in warehouse.summary_tables if view.cube}
    levels = ("d_datekey", "d_yearweek", "d_year", "d_yearmonthnum")
    assert keys == {
        *((level,) for level in levels),
        *((level, "s_region") for level in levels),
        ("s_region",),
        (),
    }


def path(expr):
    assert isinstance(expr, ColumnRef)
    return expr.path


def test_ssb_dates_play_two_roles():
    promised = LOADED["ssb"].warehouse.view("promised_delivery")
    assert [path(key.expr) for key in promised.keys] == [("order_date",), ("commit_date",)]


def test_snowflake_reaches_through_joins():
    warehouse = LOADED["snowflake"].warehouse
    (city, _) = warehouse.view("city_month").keys
    assert path(city.expr) == ("stores", "cities")
    (geography,) = warehouse.base_table("stores").hierarchies
    assert [level.name for level in geography.levels] == [
        "storeID",
        "cityID",
        "regionID",
        "country",
    ]
    assert path(geography.level("regionID").expr) == ("cities",)
    assert path(geography.level("country").expr) == ("cities", "regions")
    assert {view.fact for view in warehouse.summary_tables} == {"sales", "returns"}
