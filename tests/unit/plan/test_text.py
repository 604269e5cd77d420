"""A plan as data."""

import json
from dataclasses import replace

from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.parents import choose
from cubekeeper.plan.text import plan_as_data
from cubekeeper.schedule import build_plan
from cubekeeper.statistics.changes import parse_changes
from cubekeeper.statistics.model import PAPER_WEIGHTS
from cubekeeper.warehouse.model import Policy
from tests.unit.derive.shop import (
    CATEGORY,
    CITY,
    COUNT,
    DISTINCT,
    FIRST,
    ITEM,
    ORDERED,
    STATISTICS,
    STORE,
    TABLES,
    shop,
    view,
)


def data() -> dict:
    lattice = build_lattice(
        shop(
            view("fine", [STORE, ITEM, ORDERED]),
            view("by_city", [CITY, ORDERED], policy=Policy.INCREMENTAL),
            view("first", [STORE, CATEGORY], COUNT, FIRST, policy=Policy.INCREMENTAL),
            view("holistic", [CATEGORY], COUNT, DISTINCT),
            view("returned", [STORE], fact="returns"),
        )
    )
    known = replace(STATISTICS, weights=PAPER_WEIGHTS)
    changes = parse_changes(["sales=10000", "stores=~1"], TABLES)
    return plan_as_data(build_plan(lattice, choose(lattice, known, changes)))


def test_it_survives_json_unchanged():
    assert json.loads(json.dumps(data(), allow_nan=False)) == data()


def test_it_is_the_same_every_time_order_included():
    assert json.dumps(data()) == json.dumps(data())


def test_every_kind_of_stage_has_its_figures():
    stages = {stage["id"]: stage for stage in data()["stages"]}
    assert stages["seal"]["tables"] == ["sales", "stores"]
    propagate = stages["propagate:by_city"]
    assert (propagate["parent"], propagate["joins"]) == ("fine", ["store"])
    assert propagate["reads_fact"] is False
    assert [term["source"] for term in propagate["way"]["terms"]] == ["delta", "old"]
    assert propagate["way"]["terms"][1]["joins"] == [{"dimension": "store", "version": "delta"}]
    assert propagate["runners_up"][0]["parent"] is None
    assert stages["apply:sales"]["rows"] == 10_000
    assert stages["refresh:first"]["path"] == "general"
    assert stages["recompute"]["views"][0]["columns"] == ["m1"]
    assert "distinct" in stages["rebuild:holistic"]["reason"]
    assert stages["publish"]["views"] == ["fine", "by_city", "first", "holistic"]
    assert data()["untouched"] == ["returned"]


def test_totals_are_sums_over_the_stages():
    made = data()
    inside = sum(stage.get("cost", 0) for stage in made["stages"] if stage["in_window"])
    assert made["window_cost"] == inside
    assert made["unit"] == "tuple accesses"
