"""Runs whole batches on DuckDB: the plan's stages, each by the statements made for it.

Every table is there in its old and new state and as a delta, under names that say so. After a batch
each stored table must be what the base tables give, and its readers must see what was declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

import duckdb

from cubekeeper.derive import CostModel, build_edge, estimate_sizes, maintain
from cubekeeper.lattice.choice import Choice, Choices, Maintenance, Version
from cubekeeper.lattice.model import Edge, Lattice, Node
from cubekeeper.lattice.text import edge_sql
from cubekeeper.plan.stages import Plan, Propagate, Rebuild, Recompute, Refresh, RefreshPath
from cubekeeper.scalar.text import quote
from cubekeeper.schedule import build_plan
from cubekeeper.schema import Column
from cubekeeper.statements import (
    ACTION,
    Statement,
    applied,
    build,
    fold,
    net_changes,
    overwritten,
    readers_view,
    recompute,
    refresh,
    stored_columns,
    summary_delta,
    tests_compared,
)
from cubekeeper.statements.changes import change_columns
from cubekeeper.statements.columns import shape
from cubekeeper.statistics.changes import Changes, TableChange
from cubekeeper.statistics.model import Statistics, TableStatistics, ViewStatistics
from cubekeeper.warehouse.model import BaseTable, Warehouse
from cubekeeper.warehouse.text import summary_table_sql
from tests.oracle.batches import Batch, Log
from tests.oracle.compare import bag_difference
from tests.oracle.data import Rows, duckdb_literal
from tests.oracle.duck import connect, duckdb_type, quoted, to_duckdb
from tests.oracle.lattices import ROUNDED

OLD, NEW, DELTA = Version.OLD, Version.NEW, Version.DELTA


class Done(Counter[str]):
    """How often each thing was done in some batches."""


def run_nights(lattice: Lattice, first: Rows, batches: Iterable[Batch], rng: Random) -> Done:
    """Build all tables, run the batches, compare after each; `AssertionError` has the evidence."""
    with connect() as connection:
        night = Nights(lattice, connection, rng)
        night.build_all(first)
        for number, batch in enumerate(batches):
            try:
                night.run(batch)
            except AssertionError as error:
                raise AssertionError(f"batch {number}, {batch.kind}: {error}") from error
        return night.done


class Nights:
    """A lattice whose tables are kept in a database, one batch after the other."""

    def __init__(
        self, lattice: Lattice, connection: duckdb.DuckDBPyConnection, rng: Random
    ) -> None:
        self._lattice = lattice
        self._warehouse = lattice.warehouse
        self._connection = connection
        self._rng = rng
        self._statistics = random_statistics(rng, lattice.warehouse)
        self._fresh: set[str] = set()
        self._several_terms = False
        self._statements: dict[str, str] = {}
        self.done = Done()

    @property
    def _base(self) -> Iterator[BaseTable]:
        yield from (*self._warehouse.dimensions, *self._warehouse.facts)

    # --- the first state ---

    def build_all(self, rows: Rows) -> None:
        """Load the base tables and build every table from one above it, or from the base."""
        for table in self._base:
            self._load(self._make_way(table.name), table.columns, rows[table.name])
            self._execute(f"CREATE VIEW {quoted(table.name)} AS FROM {_duck(table.name, NEW)}")
        built: list[str] = []
        for name in self._lattice.nodes:
            above = [parent for parent in self._lattice.parents(name) if parent in built]
            parent = self._rng.choice([None, *above])
            edge = build_edge(self._lattice, parent, name)
            self._store(self._make_way(name), build(self._lattice, edge, relation))
            built.append(name)
        self.check()
        self._settle()

    def _settle(self) -> None:
        """What is new is old from now on; what was not made anew stays."""
        for name in sorted(self._fresh):
            old, new = _duck(name, OLD), _duck(name, NEW)
            self._execute(f"DROP TABLE IF EXISTS {old}")
            self._execute(f"ALTER TABLE {new} RENAME TO {old}")
            self._execute(f"CREATE VIEW {new} AS FROM {old}")
        self._fresh.clear()

    def _make_way(self, name: str) -> str:
        """The name for the new state of a table, until now the old one."""
        self._execute(f"DROP VIEW IF EXISTS {_duck(name, NEW)}")
        self._fresh.add(name)
        return _name(name, NEW)

    # --- one batch ---

    def run(self, batch: Batch) -> None:
        """Prepare the changes, plan, run the stages, compare, and go on from there."""
        changes = self._prepare(batch.rows, batch.log)
        sizes = estimate_sizes(self._lattice, self._statistics, changes)
        model = CostModel(self._lattice, sizes, self._statistics.weights)
        maintenance = maintain(model)
        if self._rng.random() < 0.6:
            maintenance = by_any_way(self._rng, model, maintenance)
        plan = build_plan(self._lattice, maintenance)
        self._run_stages(plan, maintenance)
        self.check()
        self._settle()

    def _prepare(self, rows: Rows, log: Log) -> Changes:
        found = []
        for table in self._base:
            name = table.name
            logged = [(*row, weight) for row, weight in log[name]]
            self._load(f"{name} log", change_columns(table), logged)
            self._store(_name(name, DELTA), net_changes(table, quote(f"{name} log")))
            weights = self._rows(
                "SELECT coalesce(sum(__weight) FILTER (__weight > 0), 0), "
                f"coalesce(-sum(__weight) FILTER (__weight < 0), 0) FROM {_duck(name, DELTA)}"
            )
            [(inserted, deleted)] = weights
            if inserted or deleted:
                found.append(TableChange(name, float(str(inserted)), float(str(deleted))))
                self._load(self._make_way(name), table.columns, rows[name])
                self._check_applied(table)
        return Changes(tuple(found), "counted", "measured")

    def _check_applied(self, table: BaseTable) -> None:
        if table.key:
            sql = to_duckdb(applied(table, relation).sql)
            difference = bag_difference(
                self._rows(sql), self._rows(f"FROM {_duck(table.name, NEW)}")
            )
            assert not difference, f"changes of `{table.name}` applied: {difference}"

    def _run_stages(self, plan: Plan, maintenance: Maintenance) -> None:
        warned = {
            view
            for stage in plan.stages
            if isinstance(stage.action, Recompute)
            for view in stage.action.views
        }
        self._several_terms = False
        for stage in plan.stages:
            match stage.action:
                case Propagate() as action:
                    self._propagate(action)
                case Refresh() as action:
                    edge = maintenance.deltas.by_view[action.view].edge
                    marked = self._refresh(self._lattice.node(action.view), action.path, edge)
                    assert not marked or action.view in warned, "the plan foresees recomputation"
                case Rebuild(choice=choice, view=view):
                    made = build(self._lattice, choice.edge, relation)
                    self._store(self._make_way(view), made)
                    self.done["rebuild"] += 1
                case _:
                    pass

    def _propagate(self, action: Propagate) -> None:
        edge = action.choice.edge
        sql = summary_delta(self._lattice, edge, action.terms, relation)
        self._store(_name(action.view, DELTA), sql)
        for term in action.terms:
            source = "the parent's" if edge.parent else "the base's"
            self.done[f"{source} {term.source.value} rows"] += 1
            for join in edge.joins:
                if dict(term.joins)[join.alias] is DELTA:
                    self.done["a changed level" if join.lookup else "a changed dimension"] += 1
        self.done["several terms"] += len(action.terms) > 1
        self._several_terms |= len(action.terms) > 1

    def _refresh(self, node: Node, path: RefreshPath, edge: Edge) -> int:
        """Refresh a table, and recompute what must be, from its parent or from the base."""
        rows = f"{node.name} refreshed"
        made = refresh(node, path, relation)
        self._store(rows, made)
        self.done[path.value] += 1
        marked: object = 0
        if path is RefreshPath.GENERAL and _marks(node):
            marks = " OR ".join(quoted(column) for column in _marks(node))
            if self._rng.random() < 0.5:
                edge = build_edge(self._lattice, None, node.name)
            [(marked,)] = self._rows(f"SELECT count(*) FROM {quoted(rows)} WHERE {marks}")
            self._compare_tests(node, rows)
        if marked:
            again = f"{node.name} again"
            self._store(again, recompute(self._lattice, edge, quote(rows), relation))
            self._store(f"{rows} fully", fold(node, quote(rows), quote(again)))
            rows = f"{rows} fully"
            self.done[f"recomputed from {'a parent' if edge.parent else 'the base'}"] += 1
        for action, count in self._rows(
            f"SELECT {ACTION}, count(*) FROM {quoted(rows)} GROUP BY 1"
        ):
            self.done[f"groups: {action}"] += int(str(count))
        self._store(self._make_way(node.name), overwritten(node, quote(rows), relation))
        return int(str(marked))

    def _compare_tests(self, node: Node, rows: str) -> None:
        """The count of groups to recompute is that of those marked, and not above Figure 8's.

        That is, unless a delta has several terms: where rows move in while some of them are
        deleted, Figure 8 takes the deleted for inserted ones if there was no value before.
        """
        sql = to_duckdb(tests_compared(node, relation).sql)
        [counts] = self._rows(sql)
        figure_8, weakly, ours = (int(str(count)) for count in counts)
        marks = " OR ".join(quoted(column) for column in _marks(node))
        [(marked,)] = self._rows(f"SELECT count(*) FROM {quoted(rows)} WHERE {marks}")
        assert ours == marked, f"{ours} groups are counted, {marked} are marked"
        assert ours <= figure_8 or self._several_terms, "more groups than by Figure 8"
        for test, count in (("Figure 8", figure_8), ("weakly minimal", weakly), ("ours", ours)):
            self.done[f"recomputed by the test: {test}"] += count

    # --- comparing ---

    def check(self) -> None:
        """Every table is what the base tables give; its readers see what is declared."""
        for node in self._lattice.nodes.values():
            self._check_stored(node)
            self._check_readers(node)

    def _check_stored(self, node: Node) -> None:
        edge = build_edge(self._lattice, None, node.name)
        right = edge_sql(self._lattice, edge, lambda name: relation(name, NEW))
        columns = stored_columns(node)
        self._compare(
            node.name,
            f"`{node.name}` is not what the base tables give",
            [column.name for column in columns],
            [column.type.is_float for column in columns],
            f"FROM {_duck(node.name, NEW)}",
            to_duckdb(right),
        )

    def _check_readers(self, node: Node) -> None:
        seen = readers_view(node, relation(node.name, NEW))
        declared = to_duckdb(summary_table_sql(self._warehouse, node.view))
        inexact = [key.expr.type.is_float for key in node.view.keys]
        inexact += [
            m.aggregate.type.is_float or m.aggregate.function in ROUNDED for m in node.view.measures
        ]
        self._compare(
            node.name,
            f"readers of `{node.name}` do not see what is declared",
            [column.name for column in seen.columns],
            inexact,
            to_duckdb(seen.sql),
            declared,
        )

    def _compare(
        self,
        view: str,
        what: str,
        names: Sequence[str],
        inexact: Sequence[bool],
        ours: str,
        right: str,
    ) -> None:
        difference = bag_difference(self._rows(ours), self._rows(right), inexact)
        if difference:
            evidence = difference.describe(names, "the maintained", "the right")
            texts = [f"-- {name}\n{sql}" for name, sql in self._statements.items() if view in name]
            raise AssertionError("\n\n".join((f"{what}\n{evidence}", *texts)))

    # --- the database ---

    def _store(self, table: str, statement: Statement) -> None:
        columns = ", ".join(
            f"CAST({quoted(c.name)} AS {duckdb_type(c.type)}) AS {quoted(c.name)}"
            for c in statement.columns
        )
        sql = f"SELECT {columns} FROM ({to_duckdb(statement.sql)})"
        self._statements[table] = statement.sql
        self._execute(f"CREATE OR REPLACE TABLE {quoted(table)} AS {sql}")

    def _load(self, table: str, columns: Sequence[Column], rows: Sequence[Sequence]) -> None:
        types = ", ".join(f"{quoted(c.name)} {duckdb_type(c.type)}" for c in columns)
        self._execute(f"CREATE OR REPLACE TABLE {quoted(table)} ({types})")
        if rows:
            values = ", ".join(f"({', '.join(map(duckdb_literal, row))})" for row in rows)
            self._execute(f"INSERT INTO {quoted(table)} VALUES {values}")

    def _execute(self, sql: str) -> duckdb.DuckDBPyConnection:
        try:
            return self._connection.execute(sql)
        except duckdb.Error as error:
            raise AssertionError(f"DuckDB refuses it: {error}\n\n{sql}") from error

    def _rows(self, sql: str) -> list[tuple[object, ...]]:
        return self._execute(sql).fetchall()


def relation(table: str, version: Version) -> str:
    """How statements read a table in one of its states."""
    return quote(_name(table, version))


def _name(table: str, version: Version) -> str:
    return f"{table} {version.value}"


def _duck(table: str, version: Version) -> str:
    return quoted(_name(table, version))


def _marks(node: Node) -> list[str]:
    return [extreme.recompute for extreme in shape(node).extremes]


def by_any_way(rng: Random, model: CostModel, made: Maintenance) -> Maintenance:
    """The same deltas, each from any table that has one or keeps its rows, or from the base."""
    lattice = model.lattice
    order = list(made.deltas.by_view)
    rng.shuffle(order)
    choices: dict[str, Choice] = {}
    for name in order:
        above = [p for p in lattice.parents(name) if p in choices or p in made.untouched]
        edges = [build_edge(lattice, parent, name) for parent in (None, *above)]
        edge = rng.choices(edges, [_rarity(edge) for edge in edges])[0]
        parent = edge.parent
        choices[name] = Choice(name, model.delta(name, parent), (), edge)
    return replace(made, deltas=Choices(choices))


def _rarity(edge: Edge) -> int:
    """How much an edge is to be preferred, because there are few like it."""
    if any(join.lookup for join in edge.joins):
        return 30
    return 1 if edge.parent is None else 10 if edge.joins else 3


def random_statistics(rng: Random, warehouse: Warehouse) -> Statistics:
    """Sizes at random, so that plans differ: tables much larger than they are, or about so."""
    large = rng.random() < 0.8

    def rows(most: int) -> int:
        return round(10 ** rng.uniform(1, most)) if large else rng.randint(1, 50)

    return Statistics(
        tables={
            **{fact.name.lower(): TableStatistics(rows(7)) for fact in warehouse.facts},
            **{d.name.lower(): TableStatistics(rows(3)) for d in warehouse.dimensions},
        },
        views={
            view.name.lower(): ViewStatistics(rows(5))
            for view in warehouse.summary_tables
            if rng.random() < 0.7
        },
        origin="drawn at random",
    )
