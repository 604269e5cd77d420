"""The example warehouses on DuckDB: every edge query, on random rows that keep what is declared."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from cubekeeper.declare import load
from tests.oracle.data import Choices, random_rows
from tests.oracle.lattices import check_lattices

EXAMPLES = Path(__file__).resolve().parents[2] / "lattice"

CHOICES: dict[str, Choices] = {
    "ssb": {  # its weeks are named by year * 100 + week
        ("dates", "d_year"): range(1992, 1999),
        ("dates", "d_weeknuminyear"): range(1, 54),
    },
    "snowflake": {
        ("sales", "channel"): ("shop", "web"),
        ("cities", "population"): (90_000, 1_000_000, 1_000_001, 8_000_000),
    },
}


def examples() -> list[str]:
    return sorted(folder.name for folder in EXAMPLES.iterdir() if folder.is_dir())


def test_the_examples_are_all_here() -> None:
    assert {"retail", "retail_cube", "snowflake", "ssb"} <= set(examples())


@pytest.mark.parametrize("example", examples())
def test_every_edge_of_an_example(example: str) -> None:
    warehouse = load(EXAMPLES / example).warehouse
    rows = random_rows(Random(1), warehouse, 300, CHOICES.get(example), full=True)
    checked = check_lattices(warehouse, rows)
    assert checked.tables == 2 * len(warehouse.summary_tables)
    assert checked.edges
    assert checked.filled > 0.7 * checked.tables, "the random rows pass few filters"


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("example", examples())
def test_an_example_with_many_kinds_of_rows(example: str) -> None:
    """Twenty times other rows, from none at all to a few hundred."""
    warehouse = load(EXAMPLES / example).warehouse
    for seed in range(20):
        rows = random_rows(
            Random(seed), warehouse, size=10 + 20 * seed, choices=CHOICES.get(example)
        )
        check_lattices(warehouse, rows)
