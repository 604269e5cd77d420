"""Sizes and plans of random warehouses keep what they promise, whatever is declared and changes."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from cubekeeper.derive import build_lattice, choose, cost_table
from cubekeeper.lattice.choice import Maintenance
from cubekeeper.lattice.model import Lattice
from cubekeeper.plan.stages import (
    Apply,
    Plan,
    Propagate,
    Publish,
    Rebuild,
    Recompute,
    Refresh,
    Seal,
)
from cubekeeper.plan.text import plan_as_data
from cubekeeper.schedule import build_plan
from cubekeeper.warehouse.model import Policy
from tests.properties.test_optimum_parent import random_changes
from tests.unit.derive.shop import random_statistics, random_views, shop

SEEDS = range(200)
POLICIES = (Policy.AUTO, Policy.AUTO, Policy.INCREMENTAL, Policy.FULL)


def random_plan(seed: int) -> tuple[Lattice, Maintenance, Plan]:
    pick = Random(seed)
    views = [replace(v, policy=pick.choice(POLICIES)) for v in random_views(pick, 7)]
    lattice = build_lattice(shop(*views))
    maintenance = choose(lattice, random_statistics(pick, views), random_changes(pick))
    return lattice, maintenance, build_plan(lattice, maintenance)


@pytest.fixture(scope="module")
def plans():
    return [random_plan(seed) for seed in SEEDS]


def test_an_estimate_is_not_larger_than_one_it_derives_from(plans):
    compared = 0
    for lattice, maintenance, _ in plans:
        views = maintenance.sizes.views
        for child in lattice.nodes:
            for parent in lattice.parents(child):
                if "given" not in (views[child].source, views[parent].source):
                    assert views[child].rows <= views[parent].rows
                    compared += 1
    assert compared > 80


def test_a_delta_is_not_larger_than_one_from_which_it_derives_without_changed_joins(plans):
    compared = 0
    for lattice, maintenance, _ in plans:
        sizes = maintenance.sizes
        changed = {change.table for change in sizes.changes.tables if change.deletions}
        for child, delta in sizes.deltas.items():
            fact = lattice.node(child).view.fact
            for parent, label in lattice.labels[child].items():
                joined = {lattice.warehouse.table_at(fact, path).name for path in label}
                if parent not in sizes.deltas or joined & changed:
                    continue
                if "given" not in (delta.source, sizes.deltas[parent].source):
                    assert delta.rows <= sizes.deltas[parent].rows
                    compared += 1
    assert compared > 100


def test_every_estimate_says_where_it_comes_from(plans):
    for _, maintenance, _ in plans:
        sizes = maintenance.sizes
        for estimate in (*sizes.tables.values(), *sizes.views.values(), *sizes.deltas.values()):
            assert estimate.source in ("given", "measured", "estimated", "assumed")
            assert estimate.how
            assert 0 <= estimate.rows < float("inf")


def test_every_table_is_maintained_in_one_way_or_untouched(plans):
    for lattice, maintenance, plan in plans:
        refreshed = [s.action.view for s in plan.stages if isinstance(s.action, Refresh)]
        rebuilt = [s.action.view for s in plan.stages if isinstance(s.action, Rebuild)]
        propagated = [s.action.view for s in plan.stages if isinstance(s.action, Propagate)]
        assert sorted((*refreshed, *rebuilt, *plan.untouched)) == sorted(lattice.nodes)
        assert sorted(propagated) == sorted(refreshed)
        for name in rebuilt:
            assert maintenance.reasons[name]
            assert (
                lattice.node(name).view.policy is not Policy.INCREMENTAL
                or not lattice.node(name).incremental
            )
        for name in refreshed:
            assert lattice.node(name).incremental


def test_stages_come_after_what_they_wait_for(plans):
    for _, _, plan in plans:
        done: set[str] = set()
        for stage in plan.stages:
            assert set(stage.after) <= done, stage.id
            assert stage.id not in done
            done.add(stage.id)


def test_whatever_is_read_is_in_the_state_that_is_meant(plans):
    """Deltas are computed before any table changes; what is rebuilt reads tables that are ready."""
    for _, maintenance, plan in plans:
        before: dict[str, set[str]] = {}
        for stage in plan.stages:
            before[stage.id] = set(stage.after).union(*(before[name] for name in stage.after))
        deltas = [s.id for s in plan.stages if isinstance(s.action, Propagate)]
        for stage in plan.stages:
            match stage.action:
                case Apply() | Refresh() | Rebuild() | Recompute():
                    assert before[stage.id] >= set(deltas)
                case Propagate(choice=choice):
                    parent = choice.parent
                    if parent is not None and parent not in plan.untouched:
                        assert f"propagate:{parent}" in before[stage.id]
                case Publish():
                    assert len(before[stage.id]) == len(plan.stages) - 1
                case Seal():
                    assert not stage.after
            if isinstance(stage.action, Rebuild):
                parent = stage.action.choice.parent
                if parent is not None and parent not in plan.untouched:
                    ready = {f"refresh:{parent}", f"rebuild:{parent}"} & before[stage.id]
                    assert ready
                    assert (
                        parent not in maintenance.recomputations or "recompute" in before[stage.id]
                    )


def test_a_delta_is_never_taken_from_a_table_that_has_none(plans):
    for lattice, maintenance, _ in plans:
        for choice in maintenance.deltas.by_view.values():
            for candidate in (choice.chosen, *choice.runners_up):
                parent = candidate.parent
                assert (
                    parent is None
                    or parent in maintenance.deltas.by_view
                    or parent in maintenance.untouched
                )
                assert parent is None or lattice.derives(choice.view, parent)


def test_stages_and_choices_cost_the_same(plans):
    for _, maintenance, plan in plans:
        assert plan.propagate_cost == pytest.approx(maintenance.propagate_cost)
        if plan.stages:
            assert plan.window_cost == pytest.approx(maintenance.window_cost)


def test_plans_are_the_same_every_time_and_survive_json(plans):
    for seed in list(SEEDS)[::10]:
        text = json.dumps(plan_as_data(plans[seed][2]), allow_nan=False)
        assert json.dumps(plan_as_data(random_plan(seed)[2])) == text


def test_reused_deltas_never_cost_more_than_individual_ones():
    for seed in range(100):
        pick = Random(seed)
        views = random_views(pick, 6)
        table = cost_table(build_lattice(shop(*views)), random_statistics(pick, views))
        for row in table.rows:
            assert row.reuse.cost <= row.individual.cost * (1 + 1e-9)
            assert row.recomputation.cost > 0
