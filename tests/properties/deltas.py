"""Runs the terms of a summary-delta on DuckDB and compares their sum with new − old.

Old and new states of all base tables are loaded side by side, with the rows by which they differ.
A delta is a map from group to net counts and sums; rows that net to nothing are no part of it.
MIN and MAX are left out: they are no sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from random import Random

import duckdb

from cubekeeper.derive.edges import build_edge
from cubekeeper.lattice.choice import Term, Version
from cubekeeper.lattice.model import Edge, Join, Lattice, Node
from cubekeeper.lattice.text import edge_sql
from cubekeeper.scalar.aggregates import AggregateFunction
from cubekeeper.scalar.text import quote
from cubekeeper.schema import DataType
from cubekeeper.statistics.changes import Changes, TableChange
from cubekeeper.warehouse.model import Warehouse
from tests.oracle.data import Row, Rows, load
from tests.oracle.duck import connect, duckdb_type, quoted, to_duckdb

_SUMS = (AggregateFunction.COUNT_ROWS, AggregateFunction.COUNT, AggregateFunction.SUM)

Net = dict[tuple[object, ...], tuple[Decimal, ...]]

# --- two states -----------------------------------------------------------------------------------


def with_updates(rng: Random, warehouse: Warehouse, rows: Rows, tables: Iterable[str]) -> Rows:
    """Some rows of some dimensions exchange everything but their keys."""
    changed = dict(rows)
    for name in tables:
        table = warehouse.base_table(name)
        if len(table.key) != 1 or len(rows[name]) < 2:
            continue
        at = [column.name for column in table.columns].index(table.key[0])
        bodies = [row[:at] + row[at + 1 :] for row in rows[name]]
        moved = rng.sample(range(len(bodies)), rng.randint(2, len(bodies)))
        before = [bodies[i] for i in moved]
        for i, body in zip(moved, before[1:] + before[:1], strict=True):
            bodies[i] = body
        changed[name] = tuple(
            (*body[:at], row[at], *body[at:]) for row, body in zip(rows[name], bodies, strict=True)
        )
    return changed


def some_of(rng: Random, rows: tuple[Row, ...], share: float) -> tuple[Row, ...]:
    """A part of the rows, the order kept."""
    return tuple(row for row in rows if rng.random() < share)


# --- running terms --------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeltaRun:
    """Both states of a warehouse in one database, and the lattice whose deltas are checked."""

    lattice: Lattice
    connection: duckdb.DuckDBPyConnection

    @staticmethod
    def start(lattice: Lattice, old: Rows, new: Rows) -> DeltaRun:
        """Load both states, and compute every stored table in both, and every delta."""
        run = DeltaRun(lattice, connect())
        warehouse = lattice.warehouse
        for state, rows in (("old", old), ("new", new)):
            load(run.connection, warehouse, rows)
            for table in (*warehouse.facts, *warehouse.dimensions):
                name, renamed = quoted(table.name), quoted(f"{table.name}__{state}")
                run.connection.execute(f"ALTER TABLE {name} RENAME TO {renamed}")
            for node in lattice.nodes.values():
                edge = build_edge(lattice, None, node.name)
                sql = edge_sql(lattice, edge, partial(_in_state, state))
                run._keep(f"{node.name}__{state}", node, to_duckdb(sql))
        for node in lattice.nodes.values():
            run._keep(f"{node.name}__delta", node, _difference_sql(node))
        return run

    def _keep(self, table: str, node: Node, sql: str) -> None:
        columns = ", ".join(
            f"CAST({quoted(name)} AS {duckdb_type(type_)}) AS {quoted(name)}"
            for name, type_ in _columns(node)
        )
        self._run(f"CREATE TABLE {quoted(table)} AS SELECT {columns} FROM ({sql})")

    def changes(self) -> Changes:
        """What changed, by counting."""
        found = []
        for table in (*self.lattice.warehouse.facts, *self.lattice.warehouse.dimensions):
            inserted, deleted = (
                float(len(self._run(to_duckdb(f"SELECT * FROM {_difference(table.name, sign)}"))))
                for sign in (1, -1)
            )
            if inserted or deleted:
                found.append(TableChange(table.name, inserted, deleted))
        return Changes(tuple(found))

    def truth(self, node: Node) -> Net:
        """New − old."""
        return self._net(node, [(1, f"FROM {quoted(node.name + '__delta')}")])

    def summed(self, node: Node, edge: Edge, terms: Iterable[Term]) -> Net:
        """What the terms of a way add up to."""
        return self._net(
            node, [part for term in terms for part in _parts(self.lattice, edge, term)]
        )

    def _net(self, node: Node, parts: Iterable[tuple[int, str]]) -> Net:
        total: Net = {}
        width = len(node.keys)
        sums = [s.aggregate.function in _SUMS for s in node.aggregates]
        for sign, sql in parts:
            for row in self._run(sql):
                values = [
                    sign * _exact(value)
                    for value, counts in zip(row[width:], sums, strict=True)
                    if counts
                ]
                before = total.get(row[:width], (Decimal(0),) * len(values))
                total[row[:width]] = tuple(a + b for a, b in zip(before, values, strict=True))
        return {group: values for group, values in total.items() if any(values)}

    def _run(self, sql: str) -> list[tuple[object, ...]]:
        try:
            return self.connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise AssertionError(f"DuckDB refuses it: {error}\n\n{sql}") from error


def _exact(value: object) -> Decimal:
    """A sum without the noise that doubles pick up on the way."""
    return Decimal(str(round(value, 6) if isinstance(value, float) else value or 0))


def _columns(node: Node) -> list[tuple[str, DataType]]:
    keys = [(key.name, key.expr.type) for key in node.keys]
    return keys + [(stored.name, stored.aggregate.type) for stored in node.aggregates]


def _difference_sql(node: Node) -> str:
    """The summary-delta table as it must be: new − old, and nothing for MIN and MAX."""
    keys = [quoted(key.name) for key in node.keys]
    columns, nets, zero = list(keys), list(keys), []
    for stored in node.aggregates:
        name = quoted(stored.name)
        if stored.aggregate.function in _SUMS:
            columns.append(f"sign * coalesce({name}, 0) AS {name}")
            nets.append(f"sum({name}) AS {name}")
            zero.append(f"sum({name}) <> 0")
        else:
            nets.append(f"NULL AS {name}")
    states = " UNION ALL ".join(
        f"SELECT {', '.join(columns)} FROM "
        f"(SELECT *, {sign} AS sign FROM {quoted(f'{node.name}__{state}')})"
        for state, sign in (("new", 1), ("old", -1))
    )
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(nets)} FROM ({states}){grouped} HAVING {' OR '.join(zero)}"


def _difference(table: str, sign: int, columns: Sequence[str] = ()) -> str:
    """The rows inserted (1) or deleted (-1); of some columns, the distinct ones."""
    states = ("new", "old") if sign > 0 else ("old", "new")
    what = f"DISTINCT {', '.join(map(quote, columns))}" if columns else "*"
    one, two = (f"SELECT {what} FROM {quote(f'{table}__{state}')}" for state in states)
    return f"({one} EXCEPT ALL {two})"


def _parts(lattice: Lattice, edge: Edge, term: Term) -> list[tuple[int, str]]:
    """The signed queries of a term: of what is inserted, less of what is deleted."""
    versions = dict(term.joins)
    assert list(versions) == list(edge.label), "a term joins what its edge joins"
    from_changes = edge.parent is None and term.source is Version.DELTA
    changing = from_changes or Version.DELTA in versions.values()
    parts = []
    for sign in (1, -1) if changing else (1,):
        relations = {
            f"join {join.alias}": _relation(join, versions[join.alias], sign) for join in edge.joins
        }
        fact = lattice.node(edge.child).view.fact
        source = (
            _difference(fact, sign)
            if from_changes
            else _in_state(term.source.value, edge.parent or fact)
        )
        joins = tuple(replace(join, dimension=f"join {join.alias}") for join in edge.joins)
        sql = edge_sql(lattice, replace(edge, joins=joins), partial(_read, relations, source))
        parts.append((sign, to_duckdb(sql)))
    return parts


def _in_state(state: str, table: str) -> str:
    return quote(f"{table}__{state}")


def _read(relations: Mapping[str, str], source: str, name: str) -> str:
    """How an edge query reads a table: a joined one by its role, renamed so, else the source."""
    return relations.get(name, source)


def _relation(join: Join, version: Version, sign: int) -> str:
    if version is Version.DELTA:
        return _difference(join.dimension, sign, join.lookup)
    return _in_state(version.value, join.dimension)
