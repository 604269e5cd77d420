"""The stages of a batch: which, in what order, waiting for what."""

from dataclasses import FrozenInstanceError, replace

import pytest

from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.cost_table import cost_table
from cubekeeper.derive.parents import choose
from cubekeeper.plan.stages import (
    Apply,
    Plan,
    Propagate,
    Publish,
    Rebuild,
    Recompute,
    Refresh,
    RefreshPath,
    Seal,
)
from cubekeeper.schedule import build_plan
from cubekeeper.statistics.changes import parse_changes
from cubekeeper.statistics.model import PAPER_WEIGHTS
from cubekeeper.warehouse.model import Policy
from tests.unit.derive.shop import (
    BRAND,
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
    TABLES,
    TOTAL,
    shop,
    view,
)

KNOWN = replace(STATISTICS, weights=PAPER_WEIGHTS)
FINE = view("fine", [STORE, ITEM, ORDERED])
BY_CITY = view("by_city", [CITY, ORDERED])
BY_REGION = view("by_region", [REGION], policy=Policy.INCREMENTAL)
FIRST_SALE = view("first_sale", [STORE, BRAND], COUNT, FIRST, TOTAL, policy=Policy.INCREMENTAL)
HOLISTIC = view("holistic", [CATEGORY], COUNT, DISTINCT)


def plan(*views, changes=("sales=10000",)) -> Plan:
    lattice = build_lattice(shop(*views))
    return build_plan(lattice, choose(lattice, KNOWN, parse_changes(changes, TABLES)))


def waits(made: Plan) -> dict[str, tuple[str, ...]]:
    return {stage.id: stage.after for stage in made.stages}


def action(made: Plan, stage: str):
    return next(s.action for s in made.stages if s.id == stage)


def test_the_order_of_a_night():
    made = plan(FINE, BY_CITY, BY_REGION, FIRST_SALE, HOLISTIC)
    kinds = [type(stage.action) for stage in made.stages]
    order = [Seal, Propagate, Apply, Refresh, Recompute, Rebuild, Publish]
    assert sorted(kinds, key=order.index) == kinds
    assert set(kinds) == set(order)
    assert made.untouched == ()


def test_what_waits_for_what():
    made = plan(FINE, BY_CITY, BY_REGION, FIRST_SALE, HOLISTIC)
    assert waits(made) == {
        "seal": (),
        "propagate:fine": ("seal",),
        "propagate:by_city": ("propagate:fine",),
        "propagate:by_region": ("propagate:by_city",),
        "propagate:first_sale": ("propagate:fine",),
        "apply:sales": ("propagate:by_region", "propagate:first_sale"),
        "refresh:fine": ("propagate:fine", "apply:sales"),
        "refresh:by_city": ("propagate:by_city", "apply:sales"),
        "refresh:by_region": ("propagate:by_region", "apply:sales"),
        "refresh:first_sale": ("propagate:first_sale", "apply:sales"),
        "recompute": ("refresh:first_sale",),
        "rebuild:holistic": ("apply:sales",),
        "publish": (
            "refresh:fine",
            "refresh:by_city",
            "refresh:by_region",
            "recompute",
            "rebuild:holistic",
        ),
    }


def test_a_rebuild_waits_for_its_parent_to_be_right():
    full = view("full", [CATEGORY], policy=Policy.FULL)
    assert waits(plan(FINE, full))["rebuild:full"] == ("refresh:fine", "apply:sales")
    assert waits(plan(FIRST_SALE, full))["rebuild:full"] == ("recompute", "apply:sales")
    finer = view("finer", [STORE, CATEGORY], policy=Policy.FULL)
    assert waits(plan(finer, full))["rebuild:full"] == ("rebuild:finer", "apply:sales")
    untouched = plan(FINE, view("costly", [CATEGORY], policy=Policy.FULL), changes=("items=~1",))
    assert waits(untouched)["rebuild:costly"] == ("apply:items",)


def test_insertions_only():
    made = plan(FINE, FIRST_SALE, changes=("sales=+100",))
    refresh = action(made, "refresh:first_sale")
    assert refresh.path is RefreshPath.INSERTIONS_ONLY
    assert refresh.reason == "`sales` only gains rows: no group can vanish (4.3)"
    assert refresh.recompute == ()
    assert not any(isinstance(stage.action, Recompute) for stage in made.stages)


def test_deletions_need_the_general_refresh_and_the_check_of_minima():
    refresh = action(plan(FINE, FIRST_SALE, changes=("sales=-100",)), "refresh:first_sale")
    assert refresh.path is RefreshPath.GENERAL
    assert refresh.recompute == ("m1",)


def test_each_table_looks_at_the_changes_that_reach_it():
    """Deleted returns do not matter to the sales, nor does a moved store to the items."""
    made = plan(
        FINE,
        BY_CITY,
        view("returned", [STORE], fact="returns", policy=Policy.INCREMENTAL),
        changes=("sales=+100", "stores=~1", "returns=-5"),
    )
    assert action(made, "refresh:fine").path is RefreshPath.INSERTIONS_ONLY
    assert action(made, "refresh:returned").path is RefreshPath.GENERAL
    assert [s.action.table for s in made.stages if isinstance(s.action, Apply)] == [
        "sales",
        "returns",
        "stores",
    ]


def test_tables_that_the_changes_do_not_reach_are_listed():
    made = plan(FINE, BY_CITY, view("returned", [STORE], fact="returns"), changes=("stores=~1",))
    assert made.untouched == ("fine", "returned")
    assert "apply:stores" in waits(made)
    assert action(made, "publish").views == ("by_city",)


def test_new_dimension_rows_are_applied_and_nothing_else():
    assert list(waits(plan(FINE, BY_REGION, changes=("stores=+3",)))) == [
        "seal",
        "apply:stores",
        "publish",
    ]


def test_propagate_reads_the_fact_only_if_nothing_else_can_answer():
    moved = plan(FINE, BY_CITY, BY_REGION, changes=("sales=+10", "stores=~1"))
    assert not any(
        stage.action.reads_fact for stage in moved.stages if isinstance(stage.action, Propagate)
    )
    alone = plan(BY_REGION, changes=("sales=+10", "stores=~1"))
    assert action(alone, "propagate:by_region").reads_fact
    assert not action(plan(BY_REGION), "propagate:by_region").reads_fact


def test_without_changes_there_is_nothing_to_do():
    made = plan(FINE, changes=())
    assert made.stages == ()
    assert made.untouched == ("fine",)


def test_the_costs_of_the_stages_are_those_of_the_choices():
    views = (FINE, BY_CITY, BY_REGION, FIRST_SALE, HOLISTIC)
    lattice = build_lattice(shop(*views))
    maintenance = choose(lattice, KNOWN, parse_changes(["sales=500", "stores=~2"], TABLES))
    made = build_plan(lattice, maintenance)
    assert made.propagate_cost == pytest.approx(maintenance.propagate_cost)
    assert made.window_cost == pytest.approx(maintenance.window_cost)


def test_in_the_papers_count_propagate_and_refresh_add_up_to_the_reuse_column():
    incremental = [replace(v, policy=Policy.INCREMENTAL) for v in (FINE, BY_CITY, BY_REGION)]
    lattice = build_lattice(shop(*incremental))
    changes = parse_changes(["sales=10000"], TABLES)
    made = build_plan(lattice, choose(lattice, KNOWN, changes))
    spent = sum(
        stage.action.cost for stage in made.stages if isinstance(stage.action, Propagate | Refresh)
    )
    assert spent == cost_table(lattice, KNOWN, changes=changes).reuse


def test_a_plan_is_frozen_and_always_the_same():
    one, two = plan(FINE, BY_CITY, HOLISTIC), plan(FINE, BY_CITY, HOLISTIC)
    assert one == two
    with pytest.raises(FrozenInstanceError):
        one.stages = ()  # type: ignore[misc]


def test_strict_tables_are_never_rebuilt():
    strict = view("strict", [STORE], COUNT, TOTAL, policy=Policy.INCREMENTAL_STRICT)
    made = plan(strict, changes=("sales=90000000",))
    assert "refresh:strict" in waits(made)


def test_the_window_is_what_changes_tables():
    made = plan(FINE, FIRST_SALE)
    assert [stage.id for stage in made.stages if not stage.in_window] == [
        "seal",
        "propagate:fine",
        "propagate:first_sale",
    ]
