"""Every edge query of random warehouses, run on DuckDB and compared with the base tables.

A failure names its seed, and shows a smaller declaration and fewer rows that fail as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from traceback import format_exc

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cubekeeper.declare import load_text
from cubekeeper.derive import build_edge
from cubekeeper.errors import CubekeeperError
from cubekeeper.lattice.model import Edge, EdgeAggregate, Lattice
from cubekeeper.scalar.aggregates import AggregateFunction as F
from cubekeeper.scalar.aggregates import aggregate
from tests.oracle.data import Row, Rows, random_rows
from tests.oracle.lattices import Checked, check_lattices
from tests.oracle.shrink import shrunk
from tests.oracle.warehouses import random_warehouse

BOTH = (False, True)
"""Each lattice before and after it is made friendly."""


def check_seed(seed: int, friendly: Sequence[bool] = BOTH, *, shrink: bool = True) -> Checked:
    rng = Random(seed)
    declaration = random_warehouse(rng)
    warehouse = load_text(declaration).warehouse
    rows = random_rows(rng, warehouse)
    evidence = failure(declaration, rows, friendly)
    if isinstance(evidence, Checked):
        return evidence
    if shrink:
        declaration, rows = shrunk(declaration, rows, partial(found, friendly=friendly))
    evidence = failure(declaration, rows, friendly)
    raise AssertionError(f"seed {seed}\n{evidence}\n\n{declaration}\nrows: {rows}")


def failure(declaration: str, rows: Rows, friendly: Sequence[bool]) -> Checked | str:
    """What was compared, or why it failed."""
    try:
        return check_lattices(load_text(declaration).warehouse, rows, friendly)
    except AssertionError as error:
        return str(error)
    except Exception:
        return format_exc()


def found(declaration: str, rows: Rows, friendly: Sequence[bool]) -> str | None:
    """Why a smaller declaration fails; not because it is refused."""
    try:
        load_text(declaration)
    except CubekeeperError:
        return None
    evidence = failure(declaration, rows, friendly)
    return evidence if isinstance(evidence, str) else None


def check_seeds(seeds: range, friendly: Sequence[bool] = BOTH, *, shrink: bool = True) -> Checked:
    checked = Checked()
    for seed in seeds:
        checked += check_seed(seed, friendly, shrink=shrink)
    print(f"{checked.tables} tables with {checked.rows} rows, {checked.edges} edges")
    return checked


FAST = 200
SLOW = 2000

SEEN_IN_HUNDREDS = (
    "join",
    "join of a snowflaked dimension",
    "join by a hierarchy",
    "what a filter leaves",
    "the parent's filter",
    "no group-by",
    "equivalent tables",
    "sum over the group-by",
    "count over the group-by",
    "min over the group-by",
    "max over the group-by",
    "count_distinct over the group-by",
    "count_rows rolled up",
    "count rolled up",
    "sum rolled up",
    "min rolled up",
    "max rolled up",
)


@pytest.mark.timeout(900)
def test_every_edge_gives_what_the_base_tables_give() -> None:
    checked = check_seeds(range(FAST))
    assert checked.filled > 0.6 * checked.tables, "too many of the random tables are empty"
    rare = [feature for feature in SEEN_IN_HUNDREDS if checked.features[feature] < 5]
    assert not rare, f"the random warehouses hardly ever have: {rare}"


@pytest.mark.slow
@pytest.mark.timeout(7200)
@settings(max_examples=SLOW, phases=[Phase.generate])
@given(seed=st.integers(min_value=1000))
def test_every_edge_of_many_warehouses(seed: int) -> None:
    check_seed(seed)


# --- what was wrong once ---

KEYLESS_OVER_CONSTANTS = """
facts: [{name: f, columns: {a: int not null}}]
summary_tables:
  - {name: total, fact: f, measures: [{name: n, agg: count}]}
  - name: constants
    fact: f
    measures:
      - {name: s, agg: sum, expr: 1}
      - {name: x, agg: max, expr: "'x'"}
      - {name: d, agg: count_distinct, expr: 1}
      - {name: m, agg: avg, expr: 2}
"""


@pytest.mark.parametrize("rows", [(), ((1,),), ((1,), (1,))], ids=["none", "one", "two"])
def test_the_total_of_no_rows_is_no_group(rows: tuple[Row, ...]) -> None:
    """A table without group-by has a row even of nothing; nothing must not count as a row."""
    warehouse = load_text(KEYLESS_OVER_CONSTANTS).warehouse
    check_lattices(warehouse, {"f": rows})


SPREAD = """
facts: [{name: f, columns: {x: double}}]
summary_tables:
  - name: spread
    fact: f
    measures:
      - {name: population, agg: stddev_pop, expr: x}
      - {name: sample, agg: stddev_samp, expr: x}
      - {name: variance, agg: var_pop, expr: x}
"""


@pytest.mark.parametrize("count", range(1, 12))
@pytest.mark.parametrize("value", [0.1, 0.7, 1e5 + 0.1])
def test_equal_doubles_do_not_spread(value: float, count: int) -> None:
    """The sum of squares less the square of the sum may come out below nothing by a rounding."""
    warehouse = load_text(SPREAD).warehouse
    check_lattices(warehouse, {"f": ((value,),) * count})


LOOKED_UP_ON_THE_WAY = """
facts: [{name: f, columns: {s: int}, joins: [{dimension: store, on: s}]}]
dimensions:
  - name: store
    key: s
    columns: {s: int, town: string, kind: string, c: int}
    joins: [{dimension: city, on: c}]
    hierarchies:
      - {name: place, levels: [town, c]}
      - {name: sort, levels: [town, kind]}
  - {name: city, key: c, columns: {c: int, region: string}}
summary_tables:
  - {name: towns, fact: f, group_by: [town], measures: [{name: n, agg: count}]}
  - {name: regions, fact: f, group_by: [region], measures: [{name: n, agg: count}]}
  - {name: both, fact: f, group_by: [region, kind], measures: [{name: n, agg: count}]}
"""


def test_a_dimension_looked_up_by_a_level_leads_to_the_next() -> None:
    """From the town to the store's city, and from there to its region."""
    warehouse = load_text(LOOKED_UP_ON_THE_WAY).warehouse
    rows: Rows = {
        "f": ((1,), (1,), (2,), (3,)),
        "store": ((1, "x", "k", 1), (2, None, None, 2), (3, "x", "k", 1)),
        "city": ((1, "r"), (2, "r")),
    }
    checked = check_lattices(warehouse, rows)
    assert checked.features["join by a hierarchy"]


# --- the judge itself ---


def without_residual(edge: Edge) -> Edge:
    return replace(edge, residual=())


def counting_instead_of_adding(edge: Edge) -> Edge:
    def changed(column: EdgeAggregate) -> EdgeAggregate:
        if column.aggregate.function is not F.SUM:
            return column
        return replace(column, aggregate=aggregate(F.COUNT, column.aggregate.argument))

    return replace(edge, aggregates=tuple(map(changed, edge.aggregates)))


def greatest_instead_of_least(edge: Edge) -> Edge:
    def changed(column: EdgeAggregate) -> EdgeAggregate:
        if column.aggregate.function is not F.MIN:
            return column
        return replace(column, aggregate=aggregate(F.MAX, column.aggregate.argument))

    return replace(edge, aggregates=tuple(map(changed, edge.aggregates)))


def null_for_no_rows(edge: Edge) -> Edge:
    return replace(edge, aggregates=tuple(replace(c, or_zero=False) for c in edge.aggregates))


def joining_every_row(edge: Edge) -> Edge:
    return replace(edge, joins=tuple(replace(join, lookup=()) for join in edge.joins))


@pytest.mark.parametrize(
    "corrupt",
    [
        without_residual,
        counting_instead_of_adding,
        greatest_instead_of_least,
        null_for_no_rows,
        joining_every_row,
    ],
)
def test_a_wrong_edge_query_is_noticed(
    corrupt: Callable[[Edge], Edge], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are such that a mistake shows within a few dozen warehouses."""

    def build_wrongly(lattice: Lattice, parent: str | None, child: str) -> Edge:
        edge = build_edge(lattice, parent, child)
        return edge if parent is None else corrupt(edge)

    monkeypatch.setattr("tests.oracle.lattices.build_edge", build_wrongly)
    with pytest.raises(AssertionError, match="is not what the base tables give"):
        check_seeds(range(60), friendly=[False], shrink=False)
