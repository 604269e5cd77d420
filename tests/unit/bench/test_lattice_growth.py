"""The benchmark measures what it says, on warehouses that are as large as it says."""

import pytest

from cubekeeper.bench.lattice_growth import (
    SERIES,
    STAGES,
    growth_data,
    growth_text,
    measure,
    measure_growth,
)
from cubekeeper.bench.workloads import cube, mixed, product
from cubekeeper.cli.commands.bench import FAMILIES
from cubekeeper.declare import load_text
from cubekeeper.derive import build_lattice


@pytest.mark.parametrize(
    ("workload", "views"),
    [(cube(1), 2), (cube(4), 16), (product(2), 9), (mixed(20), 20)],
    ids=lambda value: getattr(value, "family", None),
)
def test_a_workload_has_the_tables_it_says(workload, views):
    timing = measure(workload)
    assert timing.views == views
    assert set(timing.seconds) == set(STAGES)
    assert all(seconds > 0 for seconds in timing.seconds.values())
    assert timing.after_declaring == pytest.approx(
        sum(timing.seconds.values()) - timing.seconds["declare"]
    )


def test_a_cube_is_one_lattice():
    """Of 2^k tables each derives from all its supersets: 3^k − 2^k pairs."""
    assert measure(cube(4)).pairs == 3**4 - 2**4
    assert measure(product(2)).pairs == 6**2 - 3**2


def test_mixed_views_are_the_same_every_time_and_of_every_kind():
    assert mixed(200) == mixed(200)
    warehouse = load_text(mixed(200).text).warehouse
    lattice = build_lattice(warehouse)
    assert {view.fact for view in warehouse.summary_tables} == {f"fact{i}" for i in range(1, 6)}
    assert any(view.filter for view in warehouse.summary_tables)
    assert all(node.incremental for node in lattice.nodes.values())
    assert sum(map(len, lattice.labels.values())) > 200


def test_the_command_knows_the_families():
    assert tuple(SERIES) == FAMILIES


def test_repeating_keeps_the_best():
    assert measure(cube(1), repeat=3).views == 2


def test_the_series_goes_from_small_to_large(monkeypatch):
    monkeypatch.setitem(SERIES, "cube", type(SERIES["cube"])(cube, (1, 2), (3,)))
    timings = [*measure_growth(["cube"])]
    assert [timing.size for timing in timings] == [1, 2]
    assert [timing.size for timing in measure_growth(["cube"], long=True)] == [1, 2, 3]
    assert "2.0× tables" in growth_text(timings).splitlines()[-1]
    assert [entry["summary_tables"] for entry in growth_data(timings)] == [2, 4]


@pytest.mark.slow
def test_the_budgets():
    """1,024 tables of a cube in 3 s, 200 mixed ones in 1 s; best of three, on this machine."""
    assert measure(cube(10), repeat=3).after_declaring < 3
    assert measure(mixed(200), repeat=3).after_declaring < 1
