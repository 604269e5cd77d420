"""Warehouses of any size, written as YAML: what a user would declare, only more of it.

Three families. A `cube` takes one column of each of its dimensions, in or out: 2 to the power of
their number. A `product` takes a hierarchy of each, at one of two levels or out: 3 to that power.
`mixed` views are declared one by one over five facts, each with its own group-by, aggregates and
filter, drawn at random but always the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

FACTS: Final = 5
DIMENSIONS: Final = 8
ROWS: Final = 50_000_000


@dataclass(frozen=True, slots=True)
class Workload:
    """A family, its parameter, and the declarations and statistics as one YAML text."""

    family: str
    size: int
    text: str


def cube(dimensions: int) -> Workload:
    """A cube over one column of each dimension: the finest level of every other, else the middle.

    >>> cube(2).text.count("- name: dim")
    2
    """
    items = [f"dim{i}_id" if i % 2 else f"dim{i}_group" for i in range(1, dimensions + 1)]
    return _one_cube("cube", dimensions, items)


def product(dimensions: int) -> Workload:
    """A cube over a hierarchy of each dimension: the product lattice of the paper's Figure 5."""
    items = [f"dim{i}.levels" for i in range(1, dimensions + 1)]
    return _one_cube("product", dimensions, items)


def _one_cube(family: str, dimensions: int, items: list[str]) -> Workload:
    lines = ["version: 1", f"name: {family}", *_facts(1, dimensions)]
    lines += _dimensions(dimensions)
    lines += [
        "cubes:",
        "  - name: sums",
        "    fact: fact1",
        f"    cube: [{', '.join(items)}]",
        "    measures:",
        "      - {name: rows_seen, agg: count}",
        "      - {name: quantity, agg: sum, expr: quantity}",
        "      - {name: lowest, agg: min, expr: price}",
    ]
    lines += _statistics(1, dimensions)
    return Workload(family, dimensions, "\n".join(lines))


def mixed(views: int, seed: int = 1997) -> Workload:
    """Generalized cube views over five facts that share eight dimensions."""
    random = Random(seed)
    lines = ["version: 1", "name: mixed", *_facts(FACTS, DIMENSIONS), *_dimensions(DIMENSIONS)]
    lines.append("summary_tables:")
    for number in range(1, views + 1):
        lines += _random_view(random, number)
    lines += _statistics(FACTS, DIMENSIONS)
    return Workload("mixed", views, "\n".join(lines))


def _facts(facts: int, dimensions: int) -> Iterator[str]:
    yield "facts:"
    for fact in range(1, facts + 1):
        yield f"  - name: fact{fact}"
        yield "    columns:"
        yield from (f"      dim{i}_id: int" for i in range(1, dimensions + 1))
        yield "      day: date not null"
        yield "      quantity: int not null"
        yield "      price: decimal(10,2)"
        yield "    joins:"
        yield from (f"      - dimension: dim{i}" for i in range(1, dimensions + 1))


_LEVELS: Final = ("id", "group", "class")


def _dimensions(dimensions: int) -> Iterator[str]:
    yield "dimensions:"
    for i in range(1, dimensions + 1):
        yield f"  - name: dim{i}"
        yield f"    key: dim{i}_id"
        yield "    columns:"
        yield f"      dim{i}_id: int"
        yield f"      dim{i}_group: string not null"
        yield f"      dim{i}_class: string not null"
        yield f"      dim{i}_size: int"
        yield "    hierarchies:"
        yield f"      - {{name: levels, levels: [dim{i}_group, dim{i}_class]}}"


_MEASURES: Final = (
    "{name: rows_seen, agg: count}",
    "{name: quantity, agg: sum, expr: quantity}",
    "{name: value, agg: sum, expr: quantity * price}",
    "{name: mean_price, agg: avg, expr: price}",
    "{name: lowest, agg: min, expr: price}",
    "{name: latest, agg: max, expr: day}",
)
_FILTERS: Final = ("quantity > 0", "quantity > 10", "dim1_class = 'a'", "dim1_class IN ('a', 'b')")


def _random_view(random: Random, number: int) -> Iterator[str]:
    dimensions = sorted(random.sample(range(1, DIMENSIONS + 1), random.randint(0, 4)))
    group_by = [f"dim{i}_{random.choice(_LEVELS)}" for i in dimensions]
    if random.random() < 0.4:
        group_by.append("day")
    yield f"  - name: view{number}"
    yield f"    fact: fact{random.randint(1, FACTS)}"
    yield f"    group_by: [{', '.join(group_by)}]"
    if random.random() < 0.25:
        yield f"    filter: {random.choice(_FILTERS)}"
    yield "    measures:"
    for place in sorted(random.sample(range(len(_MEASURES)), random.randint(1, 3))):
        yield f"      - {_MEASURES[place]}"


def _statistics(facts: int, dimensions: int) -> Iterator[str]:
    yield "statistics:"
    yield "  tables:"
    rows = {i: 10 * 4 ** (i % 5) for i in range(1, dimensions + 1)}
    distinct = ", ".join(f"dim{i}_id: {count}" for i, count in rows.items())
    for fact in range(1, facts + 1):
        yield f"    fact{fact}:"
        yield f"      rows: {ROWS}"
        yield f"      changes: {{insertions: {ROWS // 1_000}, deletions: {ROWS // 50_000}}}"
        yield f"      distinct: {{{distinct}, day: 1000}}"
    for i, count in rows.items():
        yield f"    dim{i}:"
        yield f"      rows: {count}"
        yield f"      distinct: {{dim{i}_group: {max(2, count // 8)}, dim{i}_class: 2}}"
