"""The batch and the queries with a table added or dropped."""

from dataclasses import replace

from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.parents import choose
from cubekeeper.derive.what_if import what_if
from cubekeeper.statistics.changes import parse_changes
from cubekeeper.statistics.model import PAPER_WEIGHTS, ViewStatistics
from tests.unit.derive.shop import (
    CITY,
    COUNT,
    DISTINCT,
    ITEM,
    ORDERED,
    REGION,
    STATISTICS,
    STORE,
    TABLES,
    shop,
    view,
)

FINE = view("fine", [STORE, ITEM, ORDERED])
MIDDLE = view("middle", [CITY, ORDERED])
LOW = view("low", [REGION])
KNOWN = replace(
    STATISTICS,
    views={
        "fine": ViewStatistics(rows=100_000, delta_rows=1_000, queries=3),
        "middle": ViewStatistics(rows=10_000, delta_rows=100, queries=2),
        "low": ViewStatistics(rows=10, delta_rows=10, queries=5),
    },
    weights=PAPER_WEIGHTS,
)
ALL = build_lattice(shop(FINE, MIDDLE, LOW))
WITHOUT_MIDDLE = build_lattice(shop(FINE, LOW))
CHANGES = parse_changes(["sales=10000"], TABLES)


def test_dropping_a_table():
    found = what_if(ALL, WITHOUT_MIDDLE, KNOWN, CHANGES)
    assert (found.added, found.dropped) == ((), ("middle",))
    assert found.before.propagate == 10_000 + 1_000 + 100
    assert found.after.propagate == 10_000 + 1_000
    assert found.before.window - found.after.window == 100  # the refresh of `middle`
    assert found.before.space - found.after.space == 10_000
    assert found.before.queries == 3 * 100_000 + 2 * 10_000 + 5 * 10
    assert found.after.queries == 3 * 100_000 + 2 * 100_000 + 5 * 10


def test_only_what_differs_is_listed_with_the_new_parent():
    found = what_if(ALL, WITHOUT_MIDDLE, KNOWN, CHANGES)
    views = {difference.view: difference for difference in found.views}
    assert set(views) == {"middle", "low"}
    assert (views["low"].before.parent, views["low"].after.parent) == ("middle", "fine")
    assert views["low"].parent_changes
    assert views["middle"].after.mode is None
    assert views["middle"].after.answered_by == "fine"
    assert not views["middle"].parent_changes


def test_adding_is_dropping_turned_round():
    dropped = what_if(ALL, WITHOUT_MIDDLE, KNOWN, CHANGES)
    added = what_if(WITHOUT_MIDDLE, ALL, KNOWN, CHANGES)
    assert (added.before, added.after) == (dropped.after, dropped.before)
    assert added.added == ("middle",)
    assert {(d.view, d.before, d.after) for d in added.views} == {
        (d.view, d.after, d.before) for d in dropped.views
    }


def test_without_a_table_above_the_fact_answers():
    found = what_if(ALL, build_lattice(shop(MIDDLE, LOW)), KNOWN, CHANGES)
    fine = next(difference for difference in found.views if difference.view == "fine")
    assert fine.after.answered_by is None
    assert fine.after.query_cost == 3 * 1_000_000


def test_the_figures_are_those_of_the_choices():
    found = what_if(ALL, WITHOUT_MIDDLE, KNOWN, CHANGES)
    for lattice, figures in ((ALL, found.before), (WITHOUT_MIDDLE, found.after)):
        maintenance = choose(lattice, KNOWN, CHANGES)
        assert figures.propagate == maintenance.propagate_cost
        assert figures.window == maintenance.window_cost


def test_nothing_changes_nothing_differs():
    found = what_if(ALL, ALL, KNOWN, CHANGES)
    assert found.views == ()
    assert found.before == found.after


def test_modes_are_told():
    holistic = view("holistic", [CITY], COUNT, DISTINCT)
    returned = view("returned", [STORE], fact="returns")
    found = what_if(
        build_lattice(shop(LOW)), build_lattice(shop(LOW, holistic, returned)), KNOWN, CHANGES
    )
    views = {difference.view: difference.after for difference in found.views}
    assert views["holistic"].mode == "rebuild"
    assert (views["returned"].mode, views["returned"].cost) == ("untouched", 0)
