"""Batches that other systems, or earlier forms of ours, got wrong; by every way, on DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import product
from random import Random

import pytest

from cubekeeper.declare import load_text
from cubekeeper.derive import build_lattice
from tests.oracle.batches import batches_between
from tests.oracle.data import Row, Rows
from tests.oracle.nights import Done, run_nights

DECLARED = """
facts:
  - name: sales
    columns: {store: int, day: date, qty: int, price: "decimal(8,2)"}
    joins: [{dimension: stores, on: store}]
dimensions:
  - name: stores
    key: store
    columns: {store: int, city: string, region: string, size: int}
    hierarchies: [{name: places, levels: [store, city, region]}]
summary_tables:
"""
MEASURES = "n: COUNT(*), v: COUNT(qty), s: SUM(qty), lo: MIN(qty), hi: MAX(qty), a: AVG(price)"


def views(*keys: str, measures: str = MEASURES) -> str:
    return DECLARED + "".join(
        f"  - {{name: v{at}, fact: sales, policy: incremental,"
        f" group_by: [{columns}], measures: [{measures}]}}\n"
        for at, columns in enumerate(keys)
    )


def run(declaration: str, *states: Rows, ways: Sequence[int] = (0, 1, 2)) -> Done:
    """Run the batches between the states, with parents chosen at random in each of some ways."""
    done = Done()
    warehouse = load_text(declaration).warehouse
    for way in ways:
        lattice = build_lattice(warehouse, friendly=way % 3 > 0)
        done.update(run_nights(lattice, states[0], batches_between(states), Random(way)))
    return done


ONE, TWO = date(2024, 1, 1), date(2024, 1, 2)
STORES: tuple[Row, ...] = ((1, "a", "n", 5), (2, "b", "n", 7), (3, None, None, None))


def state(*sales: Row, stores: tuple[Row, ...] = STORES) -> Rows:
    return {"sales": sales, "stores": stores}


def sale(store: int, day: date | None, qty: int | None, price: str | None = "1.00") -> Row:
    return (store, day, qty, None if price is None else Decimal(price))


FINE_TO_COARSE = views("store, day", "city, day", "region", "")


def test_the_count_of_what_can_be_null() -> None:
    """A row whose value becomes NULL stays in its group and leaves its count."""
    run(
        FINE_TO_COARSE,
        state(sale(1, ONE, 5), sale(1, ONE, None), sale(2, ONE, 3)),
        state(sale(1, ONE, None), sale(1, ONE, None), sale(2, ONE, 3)),
        state(sale(1, ONE, None), sale(2, ONE, None)),
        state(sale(1, ONE, None), sale(2, ONE, 0)),
        state(sale(1, ONE, 7), sale(2, ONE, 0)),
    )


def test_the_average_of_values_that_all_become_null() -> None:
    run(
        FINE_TO_COARSE,
        state(sale(1, ONE, 5, "2.50"), sale(1, ONE, 5, "3.50")),
        state(sale(1, ONE, 5, None), sale(1, ONE, 5, None)),
        state(sale(1, ONE, 5, None), sale(1, ONE, 5, "0.00")),
        state(sale(1, ONE, 5, None)),
    )


def test_a_group_emptied_and_refilled_in_one_batch() -> None:
    done = run(
        FINE_TO_COARSE,
        state(sale(1, ONE, 5), sale(1, ONE, 9), sale(2, ONE, 4)),
        state(sale(1, ONE, 7), sale(1, ONE, 8), sale(2, ONE, 4)),
        state(sale(1, ONE, 7), sale(2, ONE, 4), sale(2, ONE, 4)),
        state(sale(1, ONE, 7), sale(2, ONE, 6)),
        state(),
        state(sale(1, ONE, 7), sale(2, ONE, 6)),
    )
    assert done["groups: update"]
    assert done["groups: delete"]


def test_keys_that_are_null() -> None:
    """A group of NULL is one group: it is found again, updated, and deleted."""
    run(
        FINE_TO_COARSE,
        state(sale(3, None, 5), sale(1, None, 2)),
        state(sale(3, None, 5), sale(3, None, 6), sale(1, None, 2)),
        state(sale(3, None, 6), sale(3, ONE, 6)),
        state(sale(3, ONE, 6), stores=((1, None, None, 5), (2, "b", "n", 7), (3, "a", "n", 1))),
        state(),
    )


def test_what_moves_in_may_be_deleted_in_the_same_batch() -> None:
    """Store 1 moves to b, and its cheapest sale is deleted: b never sees it.

    One term brings the sale to b and another takes it away there. The same with what is dearest,
    and with nothing in b before.
    """
    moved: tuple[Row, ...] = ((1, "b", "n", 5), *STORES[1:])
    kept = [sale(1, ONE, 5), sale(1, ONE, 6)]
    there: Sequence[Sequence[Row]] = (
        [sale(2, ONE, 4)],
        [sale(2, ONE, 5)],
        [sale(2, ONE, None)],
        [],
    )
    gone = (sale(1, ONE, 1), sale(1, ONE, 9), sale(1, ONE, 5))
    states = [
        held
        for before, lost in product(there, gone)
        for held in (state(lost, *kept, *before), state(*kept, *before, stores=moved))
    ]
    run(views("store", "city"), *states, ways=(0, 2))


def test_what_moves_in_with_another_of_the_same_value() -> None:
    """The cheapest sale of the moved store goes, another as cheap is inserted: no recomputation."""
    moved: tuple[Row, ...] = ((1, "b", "n", 5), *STORES[1:])
    before = [sale(1, ONE, 1), sale(2, ONE, 1, "8.00")]
    done = run(
        views("city", measures="lo: MIN(qty)"),
        state(*before),
        state(sale(1, ONE, 1, "9.00"), sale(2, ONE, 1, "7.00"), stores=moved),
    )
    assert done["several terms"]
    assert not done["recomputed by the test: ours"]


def test_a_table_without_keys_keeps_its_row() -> None:
    run(
        views("", "store"),
        state(),
        state(sale(1, ONE, 5), sale(1, ONE, None)),
        state(),
        state(sale(1, ONE, None)),
    )


def test_a_carried_sum_whose_factor_becomes_null() -> None:
    """By store and day SUM(size * qty) is carried for others, and is NULL with the store's size."""
    measures = "n: COUNT(*), t: SUM(size * qty), m: MAX(size + qty)"
    fine = views("store, day", measures="n: COUNT(*)")
    coarse = (
        "  - {name: days, fact: sales, policy: incremental, group_by: [day],"
        f" measures: [{measures}]}}\n"
    )
    unsized: tuple[Row, ...] = ((1, "a", "n", None), *STORES[1:])
    sales = [sale(1, ONE, 5), sale(1, ONE, 2), sale(2, TWO, None)]
    run(
        fine + coarse,
        state(*sales),
        state(*sales, stores=unsized),
        state(*sales, sale(2, ONE, 1), stores=unsized),
        state(*sales),
    )


def test_copies_in_a_bag() -> None:
    """Of equal rows some go and some come; deleting one of three leaves two."""
    one = sale(1, ONE, 5, "0.10")
    run(FINE_TO_COARSE, state(one, one, one), state(one, one), state(*[one] * 6), state(one))


@pytest.mark.parametrize(
    "kind", ["decimal(27,9)", "decimal(28,9)", "decimal(33,2)", "decimal(38,10)"]
)
def test_decimals_too_wide_for_a_weight_keep_their_digits(kind: str) -> None:
    declaration = f"""
facts: [{{name: f, columns: {{k: int, x: "{kind}"}}}}]
summary_tables:
  - {{name: by_k, fact: f, group_by: [k], policy: incremental, measures: [s: SUM(x), a: AVG(x)]}}
  - {{name: total, fact: f, policy: incremental, measures: [s: SUM(x), hi: MAX(x)]}}
"""
    scale = int(kind.rstrip(")").split(",")[1])
    tiny, large = Decimal(1).scaleb(-scale), Decimal(123456789012345678)
    one, two = large + tiny, -large - 3 * tiny
    rows: list[tuple[Row, ...]] = [
        ((1, one), (1, two), (2, None)),
        ((1, one), (1, one), (1, one), (2, two)),
        ((1, one), (2, two), (2, two), (2, tiny)),
        ((2, two),),
    ]
    run(declaration, *({"f": held} for held in rows), ways=(0,))


def test_a_role_named_as_a_hidden_column() -> None:
    """The hidden columns of a delta make way for stored columns that have their names."""
    declaration = """
facts:
  - {name: f, columns: {s: int, q: int}, joins: [{dimension: d, on: s, name: inserted}]}
dimensions:
  - {name: d, key: s, columns: {s: int, lo: int, up: int}}
summary_tables:
  - {name: fine, fact: f, group_by: [s, up], policy: incremental, measures: [lo: MIN(q)]}
  - {name: coarse, fact: f, group_by: [inserted.lo], policy: incremental, measures: [x: MIN(q)]}
"""
    held = ((1, 4, 4), (2, 5, 5))
    run(
        declaration,
        {"f": ((1, 3), (2, 4)), "d": held},
        {"f": ((1, 4), (2, 4), (2, 1)), "d": held},
        {"f": ((1, 4), (2, 1)), "d": ((1, 5, 4), (2, 4, 5))},
    )
