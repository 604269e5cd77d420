"""Whole batches by their plans on DuckDB: after each, every table is what the base tables give.

Random warehouses; a shop whose tables are related as in a cube; and a ladder of levels, on which
tables derive from each other by hierarchies. A failure names its seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cubekeeper.declare import load_text
from cubekeeper.derive import build_lattice
from cubekeeper.scalar.aggregates import AggregateFunction as F
from cubekeeper.scalar.aggregates import aggregate
from cubekeeper.scalar.nodes import Expr
from cubekeeper.warehouse.model import Policy, SummaryTable, Warehouse
from tests.oracle.batches import KINDS, random_batches
from tests.oracle.nights import Done, run_nights
from tests.oracle.warehouses import random_warehouse
from tests.unit.derive import shop as s

# --- random input ---


def mostly_by_deltas(rng: Random, warehouse: Warehouse) -> Warehouse:
    """The same tables, most of which may not be rebuilt where a delta is possible."""
    views = tuple(
        replace(view, policy=Policy.INCREMENTAL)
        if view.policy is Policy.AUTO and rng.random() < 0.7
        else view
        for view in warehouse.summary_tables
    )
    return replace(warehouse, summary_tables=views)


def check_random(seed: int, batches: int = 5) -> Done:
    rng = Random(seed)
    declaration = random_warehouse(rng)
    warehouse = mostly_by_deltas(rng, load_text(declaration).warehouse)
    try:
        return check(rng, warehouse, size=40, batches=batches)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, {error}\n\n{declaration}") from error


def check(
    rng: Random, warehouse: Warehouse, *, size: int, batches: int, kinds: Sequence[str] = KINDS
) -> Done:
    first, changes = random_batches(rng, warehouse, size, batches, kinds)
    lattice = build_lattice(warehouse, friendly=rng.random() < 0.6)
    return run_nights(lattice, first, changes, rng)


LEVELS: Sequence[Sequence[Expr]] = (
    (s.STORE, s.STORE, s.CITY, s.REGION, s.CLIMATE, s.SIZE),
    (s.ITEM, s.ITEM, s.BRAND, s.CATEGORY),
    (s.ORDERED, s.ORDERED, s.MONTH, s.YEAR),
    (s.SHIPPED, s.SHIPPED_MONTH),
)
MEASURES = (
    s.COUNT,
    s.TOTAL,
    s.PRICES,
    s.FIRST,
    s.COSTS,
    aggregate(F.COUNT, s.PRICE),
    aggregate(F.AVG, s.PRICE),
    aggregate(F.MIN, s.PRICE),
    aggregate(F.MAX, s.PRICE),
    aggregate(F.MAX, s.QTY),
    aggregate(F.MAX, s.COST),
    aggregate(F.MIN, s.CATEGORY),
)


def related_views(rng: Random) -> list[SummaryTable]:
    """Tables that group by one level or none of each dimension of the shop, as in a cube.

    The first two are fine and have many measures, so that most others derive from them.
    """
    views = []
    for number in range(rng.randint(4, 7)):
        fine = number < 2
        keys = [rng.choice(at[:3] if fine else at) for at in LEVELS if fine or rng.random() < 0.6]
        measures = rng.sample(MEASURES, 8 if fine else rng.randint(1, 4))
        where = rng.choice(s.FILTERS) if rng.random() < 0.25 and not fine else ()
        views.append(s.view(f"v{number}", keys, *measures, where=where))
    return views


def check_shop(seed: int, batches: int = 5) -> Done:
    rng = Random(f"shop {seed}")
    warehouse = mostly_by_deltas(rng, s.shop(*related_views(rng)))
    try:
        return check(rng, warehouse, size=60, batches=batches)
    except AssertionError as error:
        raise AssertionError(f"shop {seed}, {error}") from error


LADDER = """
facts:
  - name: sales
    columns: {store: int, day: date not null, qty: int, price: "decimal(8,2)"}
    joins: [{dimension: stores, on: store}]
dimensions:
  - name: stores
    key: store
    columns: {store: int, town: string, county: string, land: string, kind: string, rent: int}
    hierarchies:
      - {name: places, levels: [store, town, county, land]}
      - {name: sorts, levels: [town, kind]}
summary_tables:
"""
RUNGS = {
    "days": "store, day",
    "towns": "town, day",
    "counties": "county",
    "sorts": "county, kind",
    "lands": "land",
    "all": "",
}


def ladder(rng: Random) -> Warehouse:
    """Tables by ever coarser levels of one dimension, all with the same measures."""
    measures = ["n: COUNT(*)", "s: SUM(qty)", "lo: MIN(price)", "hi: MAX(price)", "a: AVG(price)"]
    measures += rng.sample(["first: MIN(day)", "v: COUNT(qty)", "r: SUM(qty * rent)"], 1)
    views = [
        f"  - {{name: {name}, fact: sales, group_by: [{keys}], policy: incremental,"
        f" measures: [{', '.join(measures)}]}}\n"
        for name, keys in RUNGS.items()
        if rng.random() < 0.8 or name in ("towns", "counties")
    ]
    return load_text(LADDER + "".join(views)).warehouse


MOVING = ("facts", "values", "moves", "moves", "moves", "everything", "everything", "all back")


def check_ladder(seed: int, batches: int = 5) -> Done:
    rng = Random(f"ladder {seed}")
    warehouse = ladder(rng)
    first, changes = random_batches(rng, warehouse, 60, batches, MOVING)
    try:
        return run_nights(build_lattice(warehouse, friendly=False), first, changes, rng)
    except AssertionError as error:
        raise AssertionError(f"ladder {seed}, {error}") from error


FAMILIES: dict[str, Callable[[int], Done]] = {
    "random": check_random,
    "shop": check_shop,
    "ladder": check_ladder,
}


# --- the law ---

SEEN = {
    "the base's delta rows": 100,
    "the base's old rows": 30,
    "the parent's delta rows": 50,
    "the parent's old rows": 15,
    "a changed dimension": 30,
    "a changed level": 5,
    "several terms": 20,
    "general": 100,
    "insertions only": 15,
    "rebuild": 10,
    "recomputed from the base": 10,
    "recomputed from a parent": 5,
    "groups: insert": 100,
    "groups: update": 100,
    "groups: delete": 100,
}


@pytest.mark.timeout(900)
def test_every_table_is_right_after_every_batch() -> None:
    done: Done = Done()
    for family, seeds in (("random", 12), ("shop", 8), ("ladder", 8)):
        for seed in range(seeds):
            done.update(FAMILIES[family](seed))
    print(*(f"{what}: {count}" for what, count in sorted(done.items())), sep="\n")
    rare = {what: done[what] for what, least in SEEN.items() if done[what] < least}
    assert not rare, f"hardly ever done: {rare}"


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=250, phases=[Phase.generate])
@given(seed=st.integers(min_value=1000))
def test_every_table_is_right_after_many_more_batches(family: str, seed: int) -> None:
    FAMILIES[family](seed)
