"""What is shown of a lattice when not every table has a choice, and the gates of a plan."""

from __future__ import annotations

from dataclasses import replace
from graphlib import TopologicalSorter
from xml.etree import ElementTree

import pytest

from cubekeeper.derive import advise, build_edge, choose, cost_table
from cubekeeper.lattice.choice import Choices
from cubekeeper.lattice.model import Lattice
from cubekeeper.report import (
    advice_text,
    cost_text,
    lattice_data,
    lattice_dot,
    lattice_html,
    lattice_svg,
    lattice_text,
    plan_html,
    plan_text,
)
from cubekeeper.report.plan_picture import plan_diagram
from cubekeeper.report.sketch import Mode, Sketch
from cubekeeper.schedule.build import build_plan
from cubekeeper.statistics.changes import Changes, parse_changes
from tests.unit.report.samples import STORE, TABLE_3, lattice_of, random_lattice, retail, view

TABLES = ["pos", "stores", "items"]


def no_circle(sketch: Sketch) -> None:
    above: dict[str, set[str]] = {name: set() for name in sketch.lattice.nodes}
    for line in sketch.lines:
        if line.parent is not None:
            above[line.child].add(line.parent)
    list(TopologicalSorter(above).static_order())


def unchanged(lattice: Lattice) -> Sketch:
    return Sketch(lattice, choose(lattice, TABLE_3, Changes(())))


def test_a_table_without_a_choice_stands_under_its_first_immediate_parent():
    sketch = unchanged(retail()[0])
    assert dict(sketch.tree) == {
        "SID_sales": None,
        "sCD_sales": "SID_sales",
        "SiC_sales": "SID_sales",
        "sR_sales": "sCD_sales",
    }
    assert {sketch.mode(view) for view in sketch.lattice.nodes} == {Mode.UNTOUCHED}
    assert not any(line.chosen for line in sketch.lines)


@pytest.mark.parametrize("seed", range(10))
def test_lines_never_form_a_circle(seed):
    lattice, maintenance = random_lattice(seed, 16)
    no_circle(Sketch(lattice, maintenance))
    no_circle(unchanged(lattice))
    some = parse_changes(["stores=~3", "items=+2"], TABLES)
    no_circle(Sketch(lattice, choose(lattice, TABLE_3, some)))


def test_a_table_computed_from_an_untouched_equal_one_makes_no_circle():
    lattice, maintenance = lattice_of(view("first", (STORE,)), view("second", (STORE,)))
    assert lattice.covers["second"] == ("first",)
    made = next(iter(maintenance.deltas.by_view.values()))
    from_second = replace(
        made,
        view="first",
        chosen=replace(made.chosen, parent="second", joins=()),
        edge=build_edge(lattice, "second", "first"),
    )
    odd = replace(maintenance, deltas=Choices({"first": from_second}), untouched=("second",))
    sketch = Sketch(lattice, odd)
    assert dict(sketch.tree) == {"first": "second", "second": None}
    no_circle(sketch)
    assert "second" in lattice_text(lattice, odd, width=80)
    assert "second" in lattice_svg(lattice, odd)


def test_stages_that_wait_for_the_same_pass_one_gate():
    lattice, _ = retail()
    maintenance = choose(lattice, TABLE_3, parse_changes(["pos=+100", "stores=~3"], TABLES))
    diagram = plan_diagram(build_plan(lattice, maintenance), lattice)
    links = {(link.source, link.target) for link in diagram.links}
    gate = "base tables are changed"
    assert {("apply:pos", gate), ("apply:stores", gate)} <= links
    assert (gate, "refresh:SID_sales") in links
    assert not any(
        source.startswith("apply:") and target.startswith("refresh:") for source, target in links
    )
    strong = {(link.source, link.target) for link in diagram.links if link.strong}
    assert ("propagate:SID_sales", "propagate:sCD_sales") in strong
    assert ("propagate:SID_sales", "refresh:SID_sales") in strong


def test_every_stage_of_a_plan_can_be_reached_from_the_seal():
    lattice, maintenance = retail()
    diagram = plan_diagram(build_plan(lattice, maintenance), lattice)
    below: dict[str, set[str]] = {card.id: set() for card in diagram.cards}
    for link in diagram.links:
        below[link.source].add(link.target)
    seen, frontier = {"seal"}, ["seal"]
    while frontier:
        fresh = below[frontier.pop()] - seen
        seen |= fresh
        frontier += fresh
    assert seen == {card.id for card in diagram.cards}


def test_a_warehouse_without_summary_tables_has_reports():
    lattice, maintenance = lattice_of()
    plan = build_plan(lattice, maintenance)
    assert lattice_text(lattice, maintenance, width=80) == "retail: no summary tables\n"
    assert lattice_text(lattice, maintenance, sql=True, width=80)
    assert lattice_data(lattice, maintenance)["views"] == []
    assert ElementTree.fromstring(lattice_svg(lattice, maintenance).encode()) is not None
    for text in (
        lattice_html(lattice, maintenance),
        lattice_dot(lattice, maintenance),
        plan_text(plan, lattice, width=80),
        plan_html(plan, lattice),
        cost_text(cost_table(lattice, TABLE_3), width=80),
        advice_text(advise(lattice, TABLE_3), width=80),
    ):
        assert text.endswith("\n")
