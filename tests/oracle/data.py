"""Random rows that keep what a warehouse declares, as plain Python values, and loading them.

Keys are unique, foreign keys are matched, each level of a hierarchy determines the coarser ones
(NULL counts as one value of a level). Within that the rows are nasty: few values, so that groups
collide; many NULLs; repeated rows; tables without rows; zeros, negative numbers; the first and last
days of months and years. Doubles are few and small, so that their sums are nearly exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from graphlib import TopologicalSorter
from random import Random
from typing import TypeGuard

import duckdb

from cubekeeper.scalar.nodes import (
    Call,
    ColumnRef,
    Expr,
    Literal,
    LiteralValue,
    Path,
    StoredRef,
    column_refs,
    walk,
)
from cubekeeper.scalar.text import quote, to_sql
from cubekeeper.schema import Column, DataType, Kind
from cubekeeper.warehouse.model import BaseTable, Fact, Warehouse
from tests.oracle.duck import duckdb_type, quoted, to_duckdb

Row = tuple[LiteralValue, ...]
Rows = Mapping[str, tuple[Row, ...]]
"""For each base table its rows, the columns in declared order."""


Choices = Mapping[tuple[str, str], Sequence[LiteralValue]]
"""For (table, column) some values to choose from."""


def random_rows(
    rng: Random,
    warehouse: Warehouse,
    size: int = 40,
    choices: Choices | None = None,
    *,
    full: bool = False,
) -> Rows:
    """Rows for every base table; facts have up to `size` of them, or about that many if `full`.

    Columns in `choices` have no other values than those; others often have the values that
    the declarations compare them with, so that filters keep something.
    """
    tables = {table.name: table for table in (*warehouse.dimensions, *warehouse.facts)}
    liked = compared_values(warehouse)
    graph = {name: [fk.references for fk in table.foreign_keys] for name, table in tables.items()}
    rows: dict[str, tuple[Row, ...]] = {}
    for name in TopologicalSorter(graph).static_order():
        table = tables[name]
        most = size if isinstance(table, Fact) else max(2, size // 5)
        wanted = most if full else 0 if rng.random() < 0.06 else rng.randint(1, most)
        if all(rows[target] for target in graph[name]):
            rows[name] = _Filler(rng, warehouse, table, rows, choices or {}, liked).fill(wanted)
        else:
            rows[name] = ()
    return {name: rows[name] for name in tables}


class _Filler:
    """Makes the rows of one table."""

    def __init__(
        self,
        rng: Random,
        warehouse: Warehouse,
        table: BaseTable,
        rows: Rows,
        choices: Choices,
        liked: Choices,
    ) -> None:
        self._rng = rng
        self._choices = choices
        self._liked = liked
        self._table = table
        self._referred = {
            fk.name: _keys(warehouse.base_table(fk.references), rows[fk.references])
            for fk in table.foreign_keys
        }
        self._coarser = _coarser_columns(table)
        self._by_level: dict[str, dict[Row, list[LiteralValue]]] = {}
        self._spread = rng.choice((2, 3, 6))

    def fill(self, wanted: int) -> tuple[Row, ...]:
        """About that many rows."""
        made: dict[Row, list[Row]] = {}
        at_key = [_index(self._table, name) for name in self._table.key]
        rows: list[Row] = []
        for _ in range(wanted):
            row = self._row(rows)
            if at_key:
                made.setdefault(tuple(row[at] for at in at_key), [row])
            elif rows and self._rng.random() < 0.15:
                rows.append(self._rng.choice(rows))
            rows.append(row)
        return tuple(row for [row] in made.values()) if at_key else tuple(rows)

    def _row(self, before: Sequence[Row]) -> Row:
        """A row: references first, then levels from coarse to fine, then the rest."""
        table, values = self._table, dict[str, LiteralValue]()
        for fk in table.foreign_keys:
            if not any(column in self._coarser for column in fk.columns):
                values |= zip(fk.columns, self._skewed(self._referred[fk.name]), strict=True)
        for name in self._levels():
            if name in values and not self._coarser.get(name):
                continue
            chosen = self._level(name, values)
            if chosen is None:  # no value is left for this: be like an earlier row
                return self._rng.choice(before)
            values[name] = chosen[0]
        for column in table.columns:
            if column.name not in values:
                values[column.name] = self._value(column)
        return tuple(values[column.name] for column in table.columns)

    def _levels(self) -> Iterable[str]:
        """The columns of hierarchies, each after the coarser ones; a unique key needs no care."""
        order = TopologicalSorter(self._coarser)
        return [name for name in order.static_order() if (name,) != self._table.key]

    def _level(self, name: str, values: Mapping[str, LiteralValue]) -> tuple[LiteralValue] | None:
        """A value that goes with these coarser values and with no others."""
        column = self._table.column(name)
        coarser = tuple(values[other] for other in sorted(self._coarser.get(name, ())))
        by_coarser = self._by_level.setdefault(name, {})
        mine = by_coarser.setdefault(coarser, [])
        if mine and (len(mine) >= self._spread or self._rng.random() < 0.6):
            return (self._rng.choice(mine),)
        taken = {value for other in by_coarser.values() for value in other}
        candidates = [value for value in self._candidates(column) if value not in taken]
        if candidates:
            mine.append(self._rng.choice(candidates[: self._spread]))
        return (self._rng.choice(mine),) if mine else None

    def _candidates(self, column: Column) -> list[LiteralValue]:
        for fk in self._table.foreign_keys:
            if fk.columns == (column.name,):
                return [key[0] for key in self._referred[fk.name]]
        chosen = self._choices.get((self._table.name, column.name))
        if chosen is not None:
            return self._rng.sample(chosen, len(chosen))
        liked = list(self._liked.get((self._table.name, column.name), ()))
        self._rng.shuffle(liked)
        drawn = [*liked[:3], self._value(column)] + [_numbered(column.type, at) for at in range(60)]
        return list(dict.fromkeys(drawn))

    def _skewed(self, choices: Sequence[Row]) -> Row:
        """The first ones more often than the last."""
        return choices[int(len(choices) * self._rng.random() ** 2)]

    def _value(self, column: Column) -> LiteralValue:
        if column.nullable and self._rng.random() < 0.2:
            return None
        chosen = self._choices.get((self._table.name, column.name))
        if chosen is not None:
            return self._rng.choice(chosen)
        liked = self._liked.get((self._table.name, column.name))
        if liked and self._rng.random() < 0.5:
            return self._rng.choice(liked)
        if column.name in self._table.key:
            return _numbered(column.type, self._rng.randrange(25))
        return random_value(self._rng, column.type)


def compared_values(warehouse: Warehouse) -> Choices:
    """The constants with which summary tables compare base columns."""
    found: dict[tuple[str, str], dict[LiteralValue, None]] = {}
    for view in warehouse.summary_tables:
        for expr in view.expressions():
            for part in walk(expr):
                match part:
                    case Call(
                        "=" | "<>" | "<" | "<=" | ">" | ">=" | "in", (ColumnRef() as ref, *items)
                    ):
                        table = warehouse.table_at(view.fact, ref.path)
                        values = found.setdefault((table.name, ref.column), {})
                        for item in items:
                            if isinstance(item, Literal) and item.type == ref.type:
                                values[item.value] = None
    return {column: tuple(values) for column, values in found.items() if values}


def _keys(table: BaseTable, rows: Iterable[Row]) -> list[Row]:
    at = [_index(table, name) for name in table.key]
    return [tuple(row[i] for i in at) for row in rows]


def _index(table: BaseTable, name: str) -> int:
    return [column.name for column in table.columns].index(table.column(name).name)


def _is_own(level: Expr) -> TypeGuard[ColumnRef]:
    return isinstance(level, ColumnRef) and not level.path


def _coarser_columns(table: BaseTable) -> dict[str, set[str]]:
    """For each column that is a level, all columns that it determines by hierarchies."""
    steps: dict[str, set[str]] = {}
    for hierarchy in table.hierarchies:
        for low, high in hierarchy.steps:
            finer, coarser = hierarchy.level(low).expr, hierarchy.level(high).expr
            if _is_own(finer) and _is_own(coarser):
                steps.setdefault(finer.column, set()).add(coarser.column)
                steps.setdefault(coarser.column, set())
    for middle in steps:
        for reached in steps.values():
            if middle in reached:
                reached |= steps[middle]
    return steps


_WORDS = ("a", "b", "ab", "c", "A", "", "é", "b%", "it's", 'quo"te')
_DAYS = tuple(
    date.fromisoformat(text)
    for text in (
        "2023-12-31", "2024-01-01", "2024-01-31", "2024-02-01", "2024-02-28", "2024-02-29",
        "2024-03-01", "2024-03-31", "2024-12-31", "2025-01-01", "1999-12-31",
    )
)  # fmt: skip


def random_value(rng: Random, type_: DataType) -> LiteralValue:
    """A value of a type, not NULL; few different ones."""
    match type_.kind:
        case Kind.BOOLEAN:
            return rng.random() < 0.5
        case Kind.TINYINT | Kind.SMALLINT | Kind.INT | Kind.BIGINT:
            return rng.choice((0, 0, 1, 2, 3, 5, -1, -7, 100))
        case Kind.DECIMAL:
            digits = min(type_.precision, 5)
            number = rng.choice((0, 1, -1, 150, 199, 200, 250, 12345, -12345))
            return Decimal(number % 10**digits if number > 0 else number).scaleb(-type_.scale)
        case Kind.FLOAT | Kind.DOUBLE:
            return rng.choice((0.0, 0.25, 0.5, 0.7, 1.0, -1.5, 2.75, 1000.5))
        case Kind.STRING:
            return rng.choice(_WORDS)
        case Kind.BINARY:
            raise NotImplementedError("binary columns")
        case Kind.DATE:
            return rng.choice(_DAYS)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
            day = rng.choice(_DAYS)
            return datetime(day.year, day.month, day.day, rng.choice((0, 0, 12, 23)))
        case Kind.INTERVAL | Kind.NULL:
            raise ValueError(f"no column is of type {type_}")


def _numbered(type_: DataType, number: int) -> LiteralValue:
    """Values that differ for different small numbers, as far as the type has them."""
    match type_.kind:
        case Kind.BOOLEAN:
            return number % 2 == 0
        case Kind.DECIMAL:
            return Decimal(number).scaleb(-type_.scale)
        case Kind.FLOAT | Kind.DOUBLE:
            return number / 4
        case Kind.STRING:
            return f"v{number}"
        case Kind.DATE:
            return date(2024, 1, 25) + timedelta(days=number)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
            return datetime(2024, 1, 31) + timedelta(hours=number)
        case _:
            return number


def load(connection: duckdb.DuckDBPyConnection, warehouse: Warehouse, rows: Rows) -> None:
    """Create every base table with its exact types, and fill it."""
    for table in (*warehouse.dimensions, *warehouse.facts):
        columns = ", ".join(
            f"{quoted(c.name)} {duckdb_type(c.type)}{'' if c.nullable else ' NOT NULL'}"
            for c in table.columns
        )
        key = f", UNIQUE ({', '.join(map(quoted, table.key))})" if table.key else ""
        connection.execute(f"CREATE TABLE {quoted(table.name)} ({columns}{key})")
        if rows[table.name]:
            values = ", ".join(
                f"({', '.join(duckdb_literal(value) for value in row)})" for row in rows[table.name]
            )
            connection.execute(f"INSERT INTO {quoted(table.name)} VALUES {values}")


def broken_hierarchies(connection: duckdb.DuckDBPyConnection, warehouse: Warehouse) -> list[str]:
    """The steps of hierarchies that the loaded rows do not keep."""
    broken = []
    for table in (*warehouse.dimensions, *warehouse.facts):
        for hierarchy in table.hierarchies:
            for low, high in hierarchy.steps:
                levels = [hierarchy.level(name).expr for name in (low, high)]
                pairs = _levels_sql(warehouse, table, levels)
                query = f"SELECT 1 FROM ({pairs}) GROUP BY l0 HAVING count(*) > 1"
                if connection.execute(query).fetchone():
                    broken.append(f"{table.name}.{hierarchy.name}: {low} → {high}")
    return broken


def _levels_sql(warehouse: Warehouse, table: BaseTable, levels: Sequence[Expr]) -> str:
    """The distinct combinations of some levels, as DuckDB SQL."""
    refs = {ref for level in levels for ref in column_refs(level)}
    paths = {ref.path[:length] for ref in refs for length in range(1, len(ref.path) + 1)}

    def alias(path: Path) -> str:
        return "_".join(("t", *path))

    def name(ref: ColumnRef | StoredRef) -> str:
        assert isinstance(ref, ColumnRef)
        return f"{quote(alias(ref.path))}.{quote(ref.column)}"

    columns = ", ".join(f"{to_sql(level, name)} AS l{at}" for at, level in enumerate(levels))
    lines = [f"SELECT DISTINCT {columns} FROM {quote(table.name)} AS t"]
    for path in sorted(paths, key=len):
        owner = table
        for step in path[:-1]:
            owner = warehouse.base_table(owner.foreign_key(step).references)
        fk = owner.foreign_key(path[-1])
        target = warehouse.base_table(fk.references)
        on = " AND ".join(
            f"{quote(alias(path[:-1]))}.{quote(one)} = {quote(alias(path))}.{quote(two)}"
            for one, two in zip(fk.columns, target.key, strict=True)
        )
        lines.append(f"JOIN {quote(target.name)} AS {quote(alias(path))} ON {on}")
    return to_duckdb("\n".join(lines))


def duckdb_literal(value: LiteralValue) -> str:
    """A constant in DuckDB's SQL."""
    match value:
        case None:
            return "NULL"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime() | date():
            return f"'{value.isoformat()}'"
        case float():
            return f"{value!r}::DOUBLE"
        case _:
            return str(value)
