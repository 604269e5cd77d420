"""How many distinct values an expression takes.

Given counts come first. What is not given follows from what is (a month has thirty days, a foreign
key as many values as its dimension has rows) or is assumed, and the estimate says which. Nothing
here is exact; it only has to rank ways to compute a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, assert_never

from cubekeeper.derive.dependencies import hierarchy_steps_at, row_identity
from cubekeeper.lattice.choice import Estimate
from cubekeeper.scalar.nodes import (
    Call,
    Case,
    Cast,
    ColumnRef,
    Expr,
    Literal,
    Path,
    StoredRef,
    column_refs,
)
from cubekeeper.schema import Kind
from cubekeeper.statistics.model import (
    ASSUMED_DIMENSION_ROWS,
    ASSUMED_FACT_ROWS,
    Statistics,
)
from cubekeeper.warehouse.model import Fact, Warehouse
from cubekeeper.warehouse.rebase import rebased

ASSUMED_DAYS: Final = 1_000
ASSUMED_VALUES: Final = 100

_SOURCES: Final = ("given", "measured", "estimated", "assumed")
_DAYS_IN: Final = {"YEAR": 365, "QUARTER": 91, "MONTH": 30, "WEEK": 7, "DAY": 1}
_PARTS_OF_DAY: Final = {"HOUR": 24, "MINUTE": 24 * 60, "SECOND": 24 * 60 * 60}
_CYCLES: Final = {
    "quarter": 4,
    "month": 12,
    "weekofyear": 53,
    "day": 31,
    "dayofweek": 7,
    "weekday": 7,
    "dayofyear": 366,
    "hour": 24,
    "minute": 60,
    "second": 60,
}


def weakest(sources: Iterable[str], at_least: str = "given") -> str:
    """The least reliable of some sources.

    >>> weakest(["given", "assumed", "estimated"])
    'assumed'
    """
    return max((at_least, *sources), key=_SOURCES.index)


def base_rows(warehouse: Warehouse, statistics: Statistics, table: str) -> Estimate:
    """The rows of a fact or dimension."""
    rows = statistics.table(table).rows
    if rows is not None:
        return Estimate(float(rows), "given", statistics.origin)
    is_fact = isinstance(warehouse.base_table(table), Fact)
    assumed = ASSUMED_FACT_ROWS if is_fact else ASSUMED_DIMENSION_ROWS
    return Estimate(float(assumed), "assumed", f"no statistics for `{table}`")


@dataclass(frozen=True)
class Profile:
    """What the statistics say about the values that one fact and its dimensions hold."""

    warehouse: Warehouse
    statistics: Statistics
    fact: str
    _counts: dict[Expr, Estimate] = field(default_factory=dict, compare=False, repr=False)

    def rows(self, path: Path) -> Estimate:
        """The rows of the table at a path."""
        return self._rows_at[path]

    def distinct(self, expr: Expr) -> Estimate:
        """How many distinct values an expression takes over the fact."""
        known = self._counts.get(expr)
        if known is None:
            known = self._given(expr) or self._worked_out(expr)
            if self._paths_of(expr) and known.source != "given":
                ceiling = min(self.rows(path).rows for path in self._paths_of(expr))
                if known.rows > ceiling > 0:
                    known = Estimate(ceiling, known.source, known.how)
            self._counts[expr] = known
        return known

    # --- given --------------------------------------------------------------------------------

    def _given(self, expr: Expr) -> Estimate | None:
        for table, name in self._names_of(expr):
            count = self._given_counts[table].get(name.lower())
            if count is not None:
                return Estimate(float(max(1, count)), "given", f"distinct `{table}.{name}`")
        return None

    def _names_of(self, expr: Expr) -> tuple[tuple[str, str], ...]:
        named = self._named.get(expr, ())
        if isinstance(expr, ColumnRef):
            table = self.warehouse.table_at(self.fact, expr.path).name
            return ((table, expr.column), *named)
        return named

    @cached_property
    def _given_counts(self) -> Mapping[str, Mapping[str, int]]:
        tables = (*self.warehouse.facts, *self.warehouse.dimensions)
        return {
            table.name: {
                column.lower(): count
                for column, count in self.statistics.table(table.name).distinct.items()
            }
            for table in tables
        }

    @cached_property
    def _named(self) -> Mapping[Expr, tuple[tuple[str, str], ...]]:
        """Names under which statistics may speak of an expression: keys that a foreign key
        stands for, levels of hierarchies, computed columns."""
        names: dict[Expr, tuple[tuple[str, str], ...]] = {}

        def add(expr: Expr, table: str, name: str) -> None:
            names[expr] = (*names.get(expr, ()), (table, name))

        for path in self.warehouse.paths(self.fact):
            table = self.warehouse.table_at(self.fact, path)
            if path:
                for column in table.key:
                    add(self.warehouse.column_at(self.fact, path, column), table.name, column)
            for hierarchy in table.hierarchies:
                for level in hierarchy.levels:
                    add(self._rebased(path, level.expr), table.name, level.name)
            for computed in table.computed:
                add(self._rebased(path, computed.expr), table.name, computed.name)
        return names

    def _rebased(self, path: Path, expr: Expr) -> Expr:
        return rebased(self.warehouse, self.fact, path, expr)

    # --- worked out ---------------------------------------------------------------------------

    def _worked_out(self, expr: Expr) -> Estimate:
        match expr:
            case ColumnRef():
                return self._column(expr)
            case Literal():
                return Estimate(1.0, "given", "a constant")
            case Call():
                return self._call(expr)
            case Case(branches=branches, default=default):
                results = [result for _, result in branches] + ([default] if default else [])
                parts = [self.distinct(result) for result in results]
                total = sum(part.rows for part in parts)
                return Estimate(total, weakest((p.source for p in parts), "estimated"), "CASE")
            case Cast(operand=operand):
                if expr.type.kind is Kind.DATE:
                    return self._days(operand)
                return self.distinct(operand)
            case StoredRef():
                return Estimate(float(ASSUMED_VALUES), "assumed")
            case _:
                assert_never(expr)

    def _column(self, ref: ColumnRef) -> Estimate:
        if ref in self._identities:
            rows = self.rows(self._identities[ref])
            table = self.warehouse.table_at(self.fact, self._identities[ref]).name
            source = weakest([rows.source], "estimated")
            return Estimate(max(1.0, rows.rows), source, f"one per row of `{table}`")
        finer = [self.distinct(level) for level in self._finer.get(ref, ())]
        if finer:
            count = min(math.sqrt(level.rows) for level in finer)
            return _assumed(count, "the square root of the finer level")
        if ref.type.kind is Kind.BOOLEAN:
            return _assumed(2.0, "true and false")
        if ref.path:
            count = math.sqrt(self.rows(ref.path).rows)
            table = self.warehouse.table_at(self.fact, ref.path).name
            return _assumed(count, f"the square root of the rows of `{table}`")
        if ref.type.kind is Kind.DATE:
            return _assumed(ASSUMED_DAYS, "days")
        if ref.type.is_temporal:
            return _assumed(self.rows(()).rows, "one per row")
        return _assumed(ASSUMED_VALUES, "values")

    def _call(self, expr: Call) -> Estimate:
        match expr.function, expr.args:
            case "year", (moment,):
                return self._periods(moment, "YEAR")
            case "last_day", (moment,):
                return self._periods(moment, "MONTH")
            case ("date_trunc", (Literal(value=str(unit)), moment)) | (
                "trunc",
                (moment, Literal(value=str(unit))),
            ):
                return self._periods(moment, unit.upper())
            case "date_format", (moment, Literal(value=str(pattern))):
                return self._periods(moment, _finest_unit(pattern))
            case name, (moment,) if name in _CYCLES:
                count = self.distinct(moment)
                most = float(_CYCLES[name])
                return Estimate(min(most, count.rows), "estimated", f"{name} of a date")
            case _:
                pass
        if expr.type.kind is Kind.BOOLEAN:
            return Estimate(2.0, "estimated", "true and false")
        parts = [self.distinct(arg) for arg in expr.args]
        source = weakest((part.source for part in parts), "estimated")
        return Estimate(math.prod(part.rows for part in parts), source, "at most as its parts")

    def _days(self, moment: Expr) -> Estimate:
        count = self.distinct(moment)
        if moment.type.kind is Kind.DATE or count.rows <= ASSUMED_DAYS:
            return count
        return _assumed(ASSUMED_DAYS, "days")

    def _periods(self, moment: Expr, unit: str) -> Estimate:
        """Distinct years, months, hours … of a date: its days are taken to be consecutive."""
        days = self._days(moment)
        source = weakest([days.source], "estimated")
        if unit in _DAYS_IN:
            periods = math.ceil(days.rows / _DAYS_IN[unit])
            return Estimate(float(periods), source, f"{unit.lower()}s in {days.rows:,.0f} days")
        count = self.distinct(moment)
        finer = min(count.rows, days.rows * _PARTS_OF_DAY.get(unit, count.rows))
        return Estimate(finer, weakest([source, count.source]), f"{unit.lower()}s")

    # --- lookups ------------------------------------------------------------------------------

    def _paths_of(self, expr: Expr) -> frozenset[Path]:
        """The tables whose one row fixes the expression: those that all its columns are from."""
        paths = {ref.path for ref in column_refs(expr)}
        return frozenset(paths) if len(paths) == 1 else frozenset()

    @cached_property
    def _rows_at(self) -> Mapping[Path, Estimate]:
        return {
            path: base_rows(
                self.warehouse, self.statistics, self.warehouse.table_at(self.fact, path).name
            )
            for path in self.warehouse.paths(self.fact)
        }

    @cached_property
    def _identities(self) -> Mapping[Expr, Path]:
        """Columns that alone name a row of a dimension, with the path to it."""
        found: dict[Expr, Path] = {}
        for path in self.warehouse.paths(self.fact):
            columns = row_identity(self.warehouse, self.fact, path)
            if path and len(columns) == 1:
                found.setdefault(columns[0], path)
        return found

    @cached_property
    def _finer(self) -> Mapping[Expr, tuple[Expr, ...]]:
        """For each level of a hierarchy the next finer ones."""
        finer: dict[Expr, tuple[Expr, ...]] = {}
        for path in self.warehouse.paths(self.fact):
            for hierarchy in self.warehouse.table_at(self.fact, path).hierarchies:
                for low, high in hierarchy_steps_at(self.warehouse, self.fact, path, hierarchy):
                    finer[high] = (*finer.get(high, ()), low)
        return finer


def _assumed(count: float, how: str) -> Estimate:
    rounded = float(max(1, round(count)))
    return Estimate(rounded, "assumed", f"{rounded:,.0f} assumed, {how}")


def _finest_unit(pattern: str) -> str:
    """The finest unit that a date_format pattern shows.

    >>> _finest_unit("yyyy-MM"), _finest_unit("yyyy"), _finest_unit("dd.MM.yyyy")
    ('MONTH', 'YEAR', 'DAY')
    """
    for letters, unit in (
        ("s", "SECOND"),
        ("m", "MINUTE"),
        ("hHkK", "HOUR"),
        ("dDEeuF", "DAY"),
        ("wW", "WEEK"),
        ("ML", "MONTH"),
        ("qQ", "QUARTER"),
    ):
        if any(letter in pattern for letter in letters):
            return unit
    return "YEAR"
