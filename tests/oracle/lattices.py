"""Runs a whole lattice on DuckDB: every stored table, every edge query, every reader's view.

Each table is computed from the base tables and kept. Then each derivable pair's edge query must
give the same bag, and what readers see of each table must be the bag of the declared SELECT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import duckdb

from cubekeeper.derive import build_edge, build_lattice
from cubekeeper.lattice.model import Edge, Lattice, Node, Origin
from cubekeeper.lattice.text import edge_sql
from cubekeeper.scalar.aggregates import AggregateFunction
from cubekeeper.scalar.text import quote, to_sql
from cubekeeper.schema import DataType
from cubekeeper.warehouse.model import Warehouse
from cubekeeper.warehouse.text import summary_table_sql
from tests.oracle.compare import Row, bag_difference
from tests.oracle.data import Rows, broken_hierarchies, load
from tests.oracle.duck import connect, duckdb_type, quoted, to_duckdb

_F = AggregateFunction
_ROUNDED = (
    _F.AVG,
    _F.AVG_DISTINCT,
    _F.VAR_POP,
    _F.VAR_SAMP,
    _F.STDDEV_POP,
    _F.STDDEV_SAMP,
    _F.MEDIAN,
)
"""Aggregates that DuckDB computes in doubles, whatever they are over."""


@dataclass(frozen=True)
class Checked:
    """How much was compared, and how often each feature of an edge query took part."""

    tables: int = 0
    filled: int = 0
    edges: int = 0
    rows: int = 0
    features: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Checked) -> Checked:
        return Checked(
            self.tables + other.tables,
            self.filled + other.filled,
            self.edges + other.edges,
            self.rows + other.rows,
            self.features + other.features,
        )


def check_lattices(
    warehouse: Warehouse, rows: Rows, friendly: Sequence[bool] = (False, True)
) -> Checked:
    """Compare every edge and every output of the lattice before and after it is made friendly.

    Raises `AssertionError` with the evidence.
    """
    with connect() as connection:
        load(connection, warehouse, rows)
        assert not broken_hierarchies(connection, warehouse), "the rows keep the hierarchies"
        checked = Checked()
        for choice in friendly:
            lattice = build_lattice(warehouse, friendly=choice)
            checked += LatticeRun(lattice, connection).check()
        return checked


@dataclass(frozen=True)
class LatticeRun:
    """A lattice and the database in which its tables are being computed."""

    lattice: Lattice
    connection: duckdb.DuckDBPyConnection

    @cached_property
    def stored(self) -> dict[str, list[Row]]:
        """The rows of the tables materialized so far."""
        return {}

    def check(self) -> Checked:
        """Compute all tables, then compare everything."""
        for node in self.lattice.nodes.values():
            self.materialize(node)
        checked = Checked()
        for name, node in self.lattice.nodes.items():
            self.check_outputs(node)
            count = len(self.stored[name])
            checked += Checked(tables=1, filled=count > 0, rows=count)
            for parent in self.lattice.parents(name):
                edge = build_edge(self.lattice, parent, name)
                self.check_edge(edge)
                checked += Checked(edges=1, features=Counter(features(self.lattice, edge)))
        return checked

    def materialize(self, node: Node) -> None:
        """Compute a table from the base tables, and keep it with its exact types."""
        sql = self._from_base(node.name)
        columns = ", ".join(
            f"CAST({quoted(name)} AS {duckdb_type(type_)}) AS {quoted(name)}"
            for name, type_ in stored_columns(node)
        )
        table = quoted(node.name)
        query = f"SELECT {columns} FROM ({to_duckdb(sql)})"
        self._run(f"CREATE OR REPLACE TABLE {table} AS {query}", sql)
        self.stored[node.name] = self._run(f"FROM {table}", sql)

    def check_outputs(self, node: Node) -> None:
        """What readers see of the stored table is what the declaration asks for."""
        declared = summary_table_sql(self.lattice.warehouse, node.view)
        outputs = ", ".join(
            f"{to_sql(output.expr, lambda ref: quote(ref.column))} AS {quote(output.name)}"
            for output in node.outputs
        )
        seen = f"SELECT {outputs} FROM {quote(node.name)}"
        inexact = [key.expr.type.is_float for key in node.view.keys]
        inexact += [
            m.aggregate.type.is_float or m.aggregate.function in _ROUNDED
            for m in node.view.measures
        ]
        difference = bag_difference(
            self._run(to_duckdb(seen), seen), self._run(to_duckdb(declared), declared), inexact
        )
        names = [output.name for output in node.outputs]
        assert not difference, self._evidence(
            f"readers of `{node.name}` do not see what is declared",
            difference.describe(names, "what readers see", "the declaration"),
            ("what readers see", seen),
            ("the declaration", declared),
        )

    def check_edge(self, edge: Edge) -> None:
        """The edge query gives the same bag as the base tables do."""
        sql = edge_sql(self.lattice, edge)
        columns = stored_columns(self.lattice.node(edge.child))
        inexact = [type_.is_float for _, type_ in columns]
        derived = self._run(to_duckdb(sql), sql)
        difference = bag_difference(derived, self.stored[edge.child], inexact)
        assert not difference, self._evidence(
            f"`{edge.child}` derived from `{edge.parent}` is not what the base tables give",
            difference.describe([name for name, _ in columns], "the derived", "the base's"),
            ("the edge query", sql),
            (f"{edge.child} from the base", self._from_base(edge.child)),
            (f"{edge.parent} from the base", self._from_base(edge.parent or edge.child)),
        )

    def _from_base(self, name: str) -> str:
        return edge_sql(self.lattice, build_edge(self.lattice, None, name))

    def _run(self, sql: str, origin: str) -> list[Row]:
        try:
            return self.connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise AssertionError(
                f"DuckDB refuses it: {error}\n\n{origin}\n\nas\n\n{sql}"
            ) from error

    def _evidence(self, what: str, rows: str, *queries: tuple[str, str]) -> str:
        texts = "\n\n".join(f"-- {title}\n{sql}" for title, sql in queries)
        return f"{what}\n{rows}\n\n{texts}"


def features(lattice: Lattice, edge: Edge) -> Iterator[str]:
    """What an edge query has in it that could be wrong."""
    child, parent = lattice.node(edge.child), lattice.node(edge.parent or edge.child)
    if edge.joins:
        yield "join"
    if any(len(join.path) > 1 for join in edge.joins):
        yield "join of a snowflaked dimension"
    if any(join.lookup for join in edge.joins):
        yield "join by a hierarchy"
    if edge.residual:
        yield "what a filter leaves"
    if child.view.filter and not edge.residual:
        yield "the parent's filter"
    if not edge.keys:
        yield "no group-by"
    if any(key.origin is Origin.EXTENSION for key in child.keys):
        yield "carried group-by column"
    if any(stored.origin is Origin.EXTENSION for stored in child.aggregates):
        yield "carried aggregate"
    if edge.parent in lattice.labels[edge.child] and edge.child in lattice.labels[parent.name]:
        yield "equivalent tables"
    stored = {one.aggregate for one in parent.aggregates}
    for one in child.aggregates:
        how = "rolled up" if one.aggregate in stored else "over the group-by"
        yield f"{one.aggregate.function.value} {how}"


def stored_columns(node: Node) -> list[tuple[str, DataType]]:
    """The names and types of a stored table, keys before aggregates."""
    keys = [(key.name, key.expr.type) for key in node.keys]
    return keys + [(stored.name, stored.aggregate.type) for stored in node.aggregates]
