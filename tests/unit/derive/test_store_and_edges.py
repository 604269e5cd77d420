"""Stored columns, extension and edges: cases that examples or property tests have taught."""

import duckdb
import pytest

from cubekeeper.declare import load_text
from cubekeeper.derive import build_edge, build_lattice
from cubekeeper.lattice.model import Lattice, Origin
from cubekeeper.lattice.text import edge_sql
from cubekeeper.scalar.nodes import ColumnRef, StoredRef
from cubekeeper.scalar.text import to_sql

SHOP = """
version: 1
name: shop
facts:
  - name: sales
    columns: {store: int, day: date not null, qty: int not null, price: "decimal(10,2)",
              weight: double, tip: int}
    joins: [{dimension: stores, on: store}]
dimensions:
  - name: stores
    key: store
    columns: {store: int, city: string, region: string, area: int}
    hierarchies: [{name: geography, levels: [store, city, region]}]
summary_tables:
"""


def lattice_of(views: str, *, friendly: bool = True) -> Lattice:
    return build_lattice(load_text(SHOP + views).warehouse, friendly=friendly)


def stored(lattice: Lattice, view: str) -> dict[str, str]:
    return {s.name: s.origin.value for s in lattice.node(view).aggregates}


def column(ref: ColumnRef | StoredRef) -> str:
    return ref.column


def query(lattice: Lattice, parent: str | None, child: str) -> str:
    return edge_sql(lattice, build_edge(lattice, parent, child))


def test_count_rows_is_added_and_named():
    lattice = lattice_of("  - {name: v, fact: sales, group_by: [day], measures: [s: SUM(qty)]}")
    assert stored(lattice, "v") == {"s": "declared", "__count": "helper"}
    assert lattice.node("v").row_count == "__count"


def test_a_declared_count_is_the_row_count():
    lattice = lattice_of("  - {name: v, fact: sales, group_by: [day], measures: [n: COUNT(*)]}")
    assert lattice.node("v").row_count == "n"


@pytest.mark.parametrize("aggregate", ["SUM(price)", "MIN(price)", "MAX(price)", "AVG(price)"])
def test_a_nullable_argument_is_counted(aggregate):
    lattice = lattice_of(
        f"  - {{name: v, fact: sales, group_by: [day], measures: [m: {aggregate}]}}"
    )
    assert stored(lattice, "v")["__count_price"] == "helper"


def test_the_count_of_something_never_null_is_the_row_count():
    lattice = lattice_of("  - {name: v, fact: sales, group_by: [day], measures: [n: COUNT(qty)]}")
    node = lattice.node("v")
    assert stored(lattice, "v") == {"__count": "helper"}
    assert [to_sql(output.expr, column) for output in node.outputs] == ["day", "__count"]


def test_expressions_that_are_null_together_share_a_count():
    lattice = lattice_of(
        "  - {name: v, fact: sales, group_by: [day],"
        " measures: [a: SUM(price * qty), b: SUM(price), c: STDDEV(tip), d: AVG(tip)]}"
    )
    counts = [name for name in stored(lattice, "v") if name.startswith("__count_")]
    assert counts == ["__count_price", "__count_tip"]


def test_the_variance_of_floating_point_numbers_is_only_rebuilt():
    lattice = lattice_of(
        "  - {name: v, fact: sales, group_by: [day], measures: [m: VAR_POP(weight)]}"
    )
    (reason,) = lattice.node("v").rebuild_reasons
    assert reason.startswith("m: sums of floating-point squares")


def test_tables_carry_aggregates_for_tables_below():
    lattice = lattice_of(
        "  - {name: fine, fact: sales, group_by: [store, day], measures: [n: COUNT(*)]}\n"
        "  - {name: coarse, fact: sales, group_by: [region], measures: [top: MAX(price)]}"
    )
    assert stored(lattice, "fine") == {
        "n": "declared",
        "__count_price": "extension",
        "__max_price": "extension",
    }
    assert lattice.derives("coarse", "fine")


def test_an_unfriendly_table_carries_nothing_and_a_lookup_takes_its_place():
    lattice = lattice_of(
        "  - {name: cities, fact: sales, group_by: [city], measures: [n: COUNT(*)],"
        " lattice_friendly: false}\n"
        "  - {name: regions, fact: sales, group_by: [region], measures: [n: COUNT(*)]}"
    )
    assert all(key.origin is Origin.DECLARED for key in lattice.node("cities").keys)
    assert "(SELECT DISTINCT city, region FROM stores)" in query(lattice, "cities", "regions")


def test_sums_over_group_by_columns_are_weighted_by_the_count():
    lattice = lattice_of(
        "  - {name: fine, fact: sales, group_by: [day, qty, tip], measures: [n: COUNT(*)]}\n"
        "  - {name: coarse, fact: sales, group_by: [day],"
        " measures: [a: SUM(qty), b: COUNT(tip), c: MIN(qty)]}"
    )
    text = query(lattice, "fine", "coarse")
    assert "SUM(fine.qty * fine.n) AS a" in text
    assert "SUM(CASE WHEN fine.tip IS NULL THEN 0 ELSE fine.n END) AS b" in text
    assert "MIN(fine.qty) AS c" in text
    assert stored(lattice, "fine") == {"n": "declared"}


def test_a_product_is_factored_when_one_factor_is_determined():
    lattice = lattice_of(
        "  - {name: fine, fact: sales, group_by: [store, day], measures: [units: SUM(qty)]}\n"
        "  - {name: coarse, fact: sales, group_by: [day], measures: [a: SUM(qty * stores.area)]}"
    )
    assert "SUM(stores.area * fine.units)" in query(lattice, "fine", "coarse")
    assert stored(lattice, "fine") == {"units": "declared", "__count": "helper"}


def test_a_product_that_would_lose_digits_is_not_weighted():
    """decimal(30,10) times a count has more than 38 digits: Spark would round it."""
    shop = SHOP.replace("decimal(10,2)", "decimal(30,10)")
    views = (
        "  - {name: fine, fact: sales, group_by: [day, price], measures: [n: COUNT(*)]}\n"
        "  - {name: coarse, fact: sales, group_by: [day], measures: [a: SUM(price)]}"
    )
    raw = build_lattice(load_text(shop + views).warehouse, friendly=False)
    assert not raw.derives("coarse", "fine")


def test_rolled_up_decimals_keep_their_declared_type():
    lattice = lattice_of(
        "  - {name: fine, fact: sales, group_by: [store], measures: [a: SUM(price)]}\n"
        "  - {name: coarse, fact: sales, group_by: [region], measures: [a: SUM(price)]}"
    )
    assert "CAST(SUM(fine.a) AS DECIMAL(20,2)) AS a" in query(lattice, "fine", "coarse")


def test_constants_are_not_aggregated_over_the_one_row_of_an_empty_table():
    """Found by the property test: SUM(1) from a keyless parent was 0 instead of NULL."""
    lattice = lattice_of(
        "  - {name: p, fact: sales, group_by: [], measures: [n: COUNT(*)]}\n"
        "  - {name: v, fact: sales, group_by: [],"
        " measures: [s: SUM(1), o: MAX('x'), n: COUNT(*)]}"
    )
    database = duckdb.connect()
    database.execute(
        "CREATE TABLE sales (store INT, day DATE, qty INT, price DECIMAL(10,2), weight DOUBLE)"
    )
    database.execute(f"CREATE TABLE p AS {query(lattice, None, 'p')}")
    from_base = database.sql(query(lattice, None, "v")).fetchall()
    assert database.sql(query(lattice, "p", "v")).fetchall() == from_base == [(None, None, 0)]


def test_tables_with_the_same_groups_derive_from_each_other():
    lattice = lattice_of(
        "  - {name: one, fact: sales, group_by: [store], measures: [n: COUNT(*)]}\n"
        "  - {name: two, fact: sales, group_by: [store, city], measures: [s: SUM(qty)]}"
    )
    assert lattice.derives("one", "two")
    assert lattice.derives("two", "one")
    assert lattice.tops == ("one",)


def test_tables_over_different_facts_are_strangers():
    text = SHOP.replace(
        "dimensions:", "  - {name: other, columns: {store: int, day: date not null}}\ndimensions:"
    )
    views = (
        "  - {name: a, fact: sales, group_by: [day], measures: [n: COUNT(*)]}\n"
        "  - {name: b, fact: other, group_by: [day], measures: [n: COUNT(*)]}"
    )
    lattice = build_lattice(load_text(text + views).warehouse)
    assert lattice.tops == ("a", "b")


def test_a_narrower_filter_is_applied_on_the_way():
    lattice = lattice_of(
        "  - {name: wide, fact: sales, group_by: [store, day], filter: qty > 0,"
        " measures: [n: COUNT(*)]}\n"
        "  - {name: narrow, fact: sales, group_by: [region],"
        " filter: [qty > 0, day >= DATE '2024-01-01'], measures: [n: COUNT(*)]}\n"
        "  - {name: other, fact: sales, group_by: [region], filter: qty > 1,"
        " measures: [n: COUNT(*)]}"
    )
    assert "WHERE wide.day >= DATE '2024-01-01'\n" in query(lattice, "wide", "narrow")
    assert not lattice.derives("other", "wide")  # qty is not among the keys of `wide`
    assert not lattice.derives("wide", "narrow")


def test_what_is_carried_is_counted_though_the_count_could_be_told_from_the_keys():
    """A carried SUM becomes NULL when the store's area does: only its count can tell."""
    lattice = lattice_of(
        "  - {name: fine, fact: sales, group_by: [store, day], measures: [n: COUNT(*)]}\n"
        "  - {name: coarse, fact: sales, group_by: [day],"
        " measures: [s: SUM(area * qty), m: MAX(area + qty)]}"
    )
    carried = {s.aggregate.function.value: s.name for s in lattice.node("fine").aggregates}
    assert carried.keys() >= {"sum", "max", "count"}
    assert lattice.derives("coarse", "fine")
