"""Functional dependencies among the attributes of one fact table and its dimensions.

An attribute is any scalar expression that a declaration mentions. Four things determine others:

- a foreign key determines every column of the row it names, and the fact's key every column of it;
- a level of a hierarchy determines the coarser levels;
- the parts of an expression determine the expression;
- nothing at all determines a constant.

Attributes are numbered and sets of them are bit masks, so that asking for all pairs of a thousand
views stays a matter of integer operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cubekeeper.scalar.nodes import (
    ColumnRef,
    Expr,
    Literal,
    Path,
    children,
    walk,
)
from cubekeeper.warehouse.model import Hierarchy, SummaryTable, Warehouse
from cubekeeper.warehouse.rebase import rebased

Mask = int


@dataclass(frozen=True)
class Dependencies:
    """The attributes of a fact, numbered, and the rules "these determine that"."""

    index: Mapping[Expr, int]
    rules: tuple[tuple[Mask, Mask], ...]

    def mask(self, exprs: Iterable[Expr]) -> Mask:
        """The set of some known attributes."""
        result = 0
        for expr in exprs:
            result |= 1 << self.index[expr]
        return result

    def closure(self, mask: Mask) -> Mask:
        """Everything that a set of attributes determines, itself included."""
        pending = self.rules
        while True:
            before, waiting = mask, []
            for rule in pending:
                if rule[0] & ~mask:
                    waiting.append(rule)
                else:
                    mask |= rule[1]
            if mask == before:
                return mask
            pending = tuple(waiting)

    def determines(self, keys: Iterable[Expr], expr: Expr) -> bool:
        """Whether rows that agree on the keys agree on an expression.

        Keys that no declaration mentions determine only themselves.
        """
        keys = frozenset(keys)
        closed = self.closure(self.mask(key for key in keys if key in self.index))
        return self._is_determined(expr, keys, closed)

    def _is_determined(self, expr: Expr, keys: frozenset[Expr], closed: Mask) -> bool:
        if expr in keys or isinstance(expr, Literal):
            return True
        if expr in self.index:
            return bool(closed >> self.index[expr] & 1)
        parts = children(expr)
        return bool(parts) and all(self._is_determined(part, keys, closed) for part in parts)


def dependencies_of(
    warehouse: Warehouse, fact: str, views: Iterable[SummaryTable] | None = None
) -> Dependencies:
    """The dependencies among everything that a fact's summary tables and hierarchies mention."""
    if views is None:
        views = (view for view in warehouse.summary_tables if view.fact == fact)
    steps = tuple(_hierarchy_steps(warehouse, fact))
    mentioned = {part for view in views for expr in view.expressions() for part in walk(expr)}
    mentioned |= {part for step in steps for expr in step for part in walk(expr)}
    mentioned |= set(_referring_columns(warehouse, fact))
    index = {expr: number for number, expr in enumerate(mentioned)}
    rules: dict[Mask, Mask] = {}

    def add(determinants: Iterable[Expr], determined: Iterable[Expr]) -> None:
        left = right = 0
        for expr in determinants:
            left |= 1 << index[expr]
        for expr in determined:
            right |= 1 << index[expr]
        if right & ~left:
            rules[left] = rules.get(left, 0) | right

    by_path: dict[Path, list[ColumnRef]] = {}
    for expr in mentioned:
        if isinstance(expr, ColumnRef):
            by_path.setdefault(expr.path, []).append(expr)
        else:
            parts = (part for part in children(expr) if not isinstance(part, Literal))
            add(parts, (expr,))
    for path, columns in by_path.items():
        determinants = row_identity(warehouse, fact, path)
        if determinants:
            add(determinants, columns)
    for finer, coarser in steps:
        add((finer,), (coarser,))
    return Dependencies(index, tuple(rules.items()))


def row_identity(warehouse: Warehouse, fact: str, path: Path) -> tuple[ColumnRef, ...]:
    """The columns that name one row of the table at a path: the foreign key that leads there, or
    the fact's own key (none for a bag)."""
    if not path:
        table = warehouse.base_table(fact)
        return tuple(warehouse.column_at(fact, path, name) for name in table.key)
    owner = warehouse.table_at(fact, path[:-1])
    columns = owner.foreign_key(path[-1]).columns
    return tuple(warehouse.column_at(fact, path[:-1], name) for name in columns)


def hierarchy_steps_at(
    warehouse: Warehouse, fact: str, path: Path, hierarchy: Hierarchy
) -> Iterator[tuple[Expr, Expr]]:
    """The steps (finer, coarser) of a hierarchy seen from the fact along a path."""
    for finer, coarser in hierarchy.steps:
        yield (
            rebased(warehouse, fact, path, hierarchy.level(finer).expr),
            rebased(warehouse, fact, path, hierarchy.level(coarser).expr),
        )


def _hierarchy_steps(warehouse: Warehouse, fact: str) -> Iterator[tuple[Expr, Expr]]:
    for path in warehouse.paths(fact):
        for hierarchy in warehouse.table_at(fact, path).hierarchies:
            yield from hierarchy_steps_at(warehouse, fact, path, hierarchy)


def _referring_columns(warehouse: Warehouse, fact: str) -> Iterator[ColumnRef]:
    for path in warehouse.paths(fact):
        yield from row_identity(warehouse, fact, path)
