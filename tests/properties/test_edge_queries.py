"""Every edge query of random warehouses, run on DuckDB and compared with the base tables.

A failure names its seed; ``check_seed(seed)`` repeats it, and prints the YAML.
"""

from __future__ import annotations

from random import Random

import pytest

from cubekeeper.declare import load_text
from tests.oracle.data import random_rows
from tests.oracle.lattices import Checked, check_lattice
from tests.oracle.warehouses import random_warehouse


def check_seed(seed: int, *, friendly: bool) -> Checked:
    rng = Random(seed)
    declaration = random_warehouse(rng)
    try:
        warehouse = load_text(declaration).warehouse
        return check_lattice(warehouse, random_rows(rng, warehouse), friendly=friendly)
    except Exception as error:
        raise AssertionError(
            f"seed {seed}, friendly={friendly}\n{error}\n\n{declaration}"
        ) from error


def check_seeds(seeds: range, *, friendly: bool) -> Checked:
    checked = Checked()
    for seed in seeds:
        checked += check_seed(seed, friendly=friendly)
    print(f"{checked.tables} tables with {checked.rows} rows, {checked.edges} edges")
    return checked


FAST = 150
SLOW = 2000


@pytest.mark.parametrize("friendly", [True, False], ids=["friendly", "as declared"])
def test_every_edge_gives_what_the_base_tables_give(friendly: bool) -> None:
    checked = check_seeds(range(FAST), friendly=friendly)
    assert checked.edges > FAST, "the random views hardly derive from one another"
    assert checked.rows > 10 * FAST, "the random tables are nearly empty"


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("friendly", [True, False], ids=["friendly", "as declared"])
def test_every_edge_of_many_warehouses(friendly: bool) -> None:
    check_seeds(range(10_000, 10_000 + SLOW), friendly=friendly)
