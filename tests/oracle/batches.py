"""Random batches of changes that leave a warehouse as it is declared.

All rows that a table ever has are drawn at once, so that they keep its hierarchies together; a
state of the table is some of them. A batch lets rows come and go (keys that return among them),
and changes rows: a fact's values, a dimension's attributes, which city a store is in, which region
a city. Whatever refers to a missing row is missing too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from cubekeeper.scalar.nodes import LiteralValue
from cubekeeper.warehouse.model import BaseTable, Warehouse
from tests.oracle.data import Row, Rows, own_steps, random_rows

Log = Mapping[str, tuple[tuple[Row, int], ...]]
"""For each table what was done to it, in any order: rows inserted (1) and deleted (-1)."""


@dataclass(frozen=True)
class Batch:
    """The rows after a batch, and what was done; some of it in vain."""

    kind: str
    rows: Rows
    log: Log


KINDS = (
    "nothing",
    "insertions",
    "insertions",
    "deletions",
    "facts",
    "facts",
    "facts",
    "values",
    "every value",
    "moves",
    "moves",
    "dimension rows",
    "everything",
    "everything",
    "all deleted",
    "all back",
)


def random_batches(
    rng: Random, warehouse: Warehouse, size: int, count: int, kinds: Sequence[str] = KINDS
) -> tuple[Rows, list[Batch]]:
    """The rows to begin with, and some batches one after the other."""
    world = _World(rng, warehouse, random_rows(rng, warehouse, size))
    before = first = world.rows()
    batches = []
    for _ in range(count):
        kind = rng.choice(kinds)
        world.change(kind)
        after = world.rows()
        batches.append(Batch(kind, after, world.log(before, after)))
        before = after
    return first, batches


def batches_between(states: Sequence[Rows]) -> list[Batch]:
    """The batches that lead from each state to the next, with nothing done in vain."""
    return [
        Batch("given", after, {name: tuple(_done(before[name], after[name])) for name in after})
        for before, after in pairwise(states)
    ]


class _World:
    """All rows there can be, and which of them are there."""

    def __init__(self, rng: Random, warehouse: Warehouse, rows: Rows) -> None:
        self._rng = rng
        self._warehouse = warehouse
        self._all = {name: list(held) for name, held in rows.items()}
        self._facts = [fact.name for fact in warehouse.facts]
        self._dimensions = [dimension.name for dimension in warehouse.dimensions]
        present = rng.choice((0.5, 0.8, 1.0))
        self._here = {
            name: [name in self._dimensions or rng.random() < present for _ in held]
            for name, held in rows.items()
        }
        for name in self._dimensions:
            if rng.random() < 0.4:
                self._toggle(name, 0.0, 0.2)

    def rows(self) -> Rows:
        """The rows that are there and find what they refer to."""
        here = {
            name: tuple(row for row, there in zip(held, self._here[name], strict=True) if there)
            for name, held in self._all.items()
        }
        return matched(self._warehouse, here)

    def change(self, kind: str) -> None:
        rng = self._rng
        match kind:
            case "insertions":
                self._toggle_all(self._facts, rng.choice((0.2, 0.6)), 0.0)
                self._toggle_all(self._dimensions, rng.choice((0.0, 0.5)), 0.0)
            case "deletions":
                self._toggle_all(self._facts, 0.0, rng.choice((0.1, 0.3, 0.7)))
            case "facts":
                self._toggle_all(self._facts, 0.3, 0.3)
            case "values":
                self._new_values(rng.choice((0.1, 0.4)))
            case "every value":
                self._new_values(1.0)
            case "moves":
                self._move(rng.sample(self._dimensions, rng.randint(1, len(self._dimensions))))
            case "dimension rows":
                self._toggle_all(self._dimensions, 0.5, 0.15)
            case "everything":
                self._toggle_all(self._facts, 0.3, 0.2)
                self._toggle_all(self._dimensions, 0.3, 0.08)
                self._new_values(rng.choice((0.0, 0.2)))
                self._move(self._dimensions)
            case "all deleted":
                self._toggle_all(self._facts, 0.0, 1.0)
                self._toggle_all(self._dimensions, 0.0, rng.choice((0.0, 0.0, 0.5, 1.0)))
            case "all back":
                self._toggle_all([*self._facts, *self._dimensions], 1.0, 0.0)
            case _:
                pass

    # --- rows that come and go ---

    def _toggle_all(self, names: Iterable[str], coming: float, going: float) -> None:
        for name in names:
            self._toggle(name, coming, going)

    def _toggle(self, name: str, coming: float, going: float) -> None:
        self._here[name] = [
            self._rng.random() >= going if there else self._rng.random() < coming
            for there in self._here[name]
        ]

    # --- rows that change ---

    def _new_values(self, share: float) -> None:
        """Facts take some values of other facts, or all where their hierarchies ask for it."""
        for name in self._facts:
            table, held = self._warehouse.base_table(name), self._all[name]
            parts = _parts(table)
            for at in range(len(held)):
                if self._rng.random() < share:
                    held[at] = self._mixed(parts, held[at], self._rng.choice(held))

    def _mixed(self, parts: Sequence[Sequence[int]], row: Row, other: Row) -> Row:
        values = list(row)
        for part in parts:
            if len(parts) == 1 or self._rng.random() < 0.5:
                for at in part:
                    values[at] = other[at]
        return tuple(values)

    def _move(self, names: Iterable[str]) -> None:
        for name in names:
            table = self._warehouse.base_table(name)
            if self._rng.random() < 0.6:
                self._exchange(table)
            if self._rng.random() < 0.5:
                self._regroup(table)

    def _exchange(self, table: BaseTable) -> None:
        """Some rows of a dimension exchange everything but their keys, or a part of it."""
        held = self._all[table.name]
        if len(held) < 2:
            return
        parts = [*_parts(table)]
        if self._rng.random() < 0.6:
            parts = self._rng.sample(parts, self._rng.randint(1, len(parts)))
        moved = self._rng.sample(range(len(held)), self._rng.randint(2, min(4, len(held))))
        sources = [held[at] for at in moved[1:] + moved[:1]]
        for at, source in zip(moved, sources, strict=True):
            values = list(held[at])
            for part in parts:
                for column in part:
                    values[column] = source[column]
            held[at] = tuple(values)

    def _regroup(self, table: BaseTable) -> None:
        """A value of a level goes to another value of the next: a city to another region."""
        steps, held = own_steps(table), self._all[table.name]
        if not steps or not held:
            return
        names = [column.name for column in table.columns]
        low, high = self._rng.choice(steps)
        one, two = self._rng.choice(held), self._rng.choice(held)
        moved = [names.index(name) for name in (high, *_above(steps, high))]
        before = list(held)
        for at, row in enumerate(before):
            if row[names.index(low)] == one[names.index(low)]:
                values = list(row)
                for column in moved:
                    values[column] = two[column]
                held[at] = tuple(values)
        if not keeps_steps(names, steps, held):
            self._all[table.name] = before

    # --- what was done ---

    def log(self, before: Rows, after: Rows) -> Log:
        """The difference, row by row, with things done in vain in between."""
        logs: dict[str, tuple[tuple[Row, int], ...]] = {}
        for name, rows in after.items():
            done = list(_done(before[name], rows))
            if self._all[name] and self._rng.random() < 0.3:
                for row in self._rng.choices(self._all[name], k=self._rng.randint(1, 3)):
                    done += [(row, 1), (row, -1)]
            self._rng.shuffle(done)
            logs[name] = tuple(done)
        return logs


def _done(before: Sequence[Row], after: Sequence[Row]) -> Iterator[tuple[Row, int]]:
    net = Counter(after)
    net.subtract(Counter(before))
    for row, count in net.items():
        yield from [(row, 1 if count > 0 else -1)] * abs(count)


def _parts(table: BaseTable) -> list[list[int]]:
    """The columns outside the key, in parts that may change without the others."""
    names = [column.name for column in table.columns]
    together = [list(key.columns) for key in table.foreign_keys]
    levels = sorted({name for step in own_steps(table) for name in step})
    merged: list[set[str]] = []
    for group in (*together, levels, *([name] for name in names)):
        parts = [part for part in merged if part & set(group)]
        merged = [part for part in merged if part not in parts]
        merged.append(set(group).union(*parts))
    outside = [part - set(table.key) for part in merged]
    return [[names.index(name) for name in sorted(part)] for part in outside if part]


def _above(steps: Iterable[tuple[str, str]], level: str) -> list[str]:
    found = [level]
    for name in found:
        found += [high for low, high in steps if low == name and high not in found]
    return found[1:]


def keeps_steps(
    names: Sequence[str], steps: Iterable[tuple[str, str]], rows: Iterable[Row]
) -> bool:
    """Whether each value of a level goes with one value of the next."""
    rows = list(rows)
    for low, high in steps:
        at, to = names.index(low), names.index(high)
        seen: dict[LiteralValue, LiteralValue] = {}
        if any(seen.setdefault(row[at], row[to]) != row[to] for row in rows):
            return False
    return True


def matched(warehouse: Warehouse, rows: Rows) -> Rows:
    """The rows whose foreign keys all find a row, and whose those find one, and so on."""
    left = dict(rows)
    before = -1
    while before != sum(map(len, left.values())):
        before = sum(map(len, left.values()))
        for table in (*warehouse.dimensions, *warehouse.facts):
            names = [column.name for column in table.columns]
            for key in table.foreign_keys:
                target = warehouse.base_table(key.references)
                target_names = [column.name for column in target.columns]
                ids = {
                    tuple(row[target_names.index(name)] for name in target.key)
                    for row in left[target.name]
                }
                at = [names.index(name) for name in key.columns]
                kept = (row for row in left[table.name] if tuple(row[i] for i in at) in ids)
                left[table.name] = tuple(kept)
    return left
