"""The V-lattice: stored summary tables and the ways to derive one from another.

A `Node` is a summary table as it is stored: the declared keys and measures in maintainable parts,
the helpers that make them self-maintainable (3.1), and the attributes and aggregates it carries
for tables below it (5.2). An `Edge` is one way to derive a table from one above it: the
dimensions to join, the filter that is left to apply, and how each stored column is computed. The
D-lattice of summary-delta tables is the same structure with the tables renamed (Theorem 5.1).

Names of stored columns that readers do not see begin with ``__``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from cubekeeper.scalar.aggregates import Aggregate
from cubekeeper.scalar.nodes import Expr, Path
from cubekeeper.schema import DataType
from cubekeeper.warehouse.model import SummaryTable, Warehouse

HIDDEN_PREFIX = "__"


class Origin(Enum):
    """Why a stored column is there."""

    DECLARED = "declared"
    HELPER = "helper"
    EXTENSION = "extension"


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A stored group-by column: declared, or determined by the declared ones and carried along."""

    name: str
    expr: Expr
    origin: Origin = Origin.DECLARED


@dataclass(frozen=True, slots=True)
class StoredAggregate:
    """A stored aggregate: always distributive, or holistic in a table that is only rebuilt.

    `reason` says for whom a helper or an extension is there.
    """

    name: str
    aggregate: Aggregate
    origin: Origin = Origin.DECLARED
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """A column as readers see it: an expression over stored columns (`StoredRef`)."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Node:
    """A summary table as it is stored."""

    view: SummaryTable
    keys: tuple[StoredKey, ...]
    aggregates: tuple[StoredAggregate, ...]
    outputs: tuple[Output, ...]
    row_count: str
    rebuild_reasons: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The summary table's name."""
        return self.view.name

    @property
    def incremental(self) -> bool:
        """Whether deltas can maintain it; if not, it is only ever rebuilt."""
        return not self.rebuild_reasons


@dataclass(frozen=True, slots=True)
class Join:
    """A dimension joined into an edge query.

    `on` pairs what the query has so far with the dimension's columns. With `lookup` columns the
    join goes by a hierarchy instead of the key: the dimension is reduced to the distinct rows of
    those columns first, so that it is still many to one, and matched null-safely.
    """

    path: Path
    dimension: str
    alias: str
    on: tuple[tuple[Expr, str], ...]
    lookup: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EdgeAggregate:
    """How a stored aggregate of the child comes from the parent.

    The result is cast to the stored `type`, so that no roll-up widens a decimal. Without group-by
    columns the count of no rows must be 0 and not the NULL that SUM gives: `or_zero`.
    """

    name: str
    aggregate: Aggregate
    type: DataType
    or_zero: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A way to compute `child`: read the parent, join, keep what `residual` says, group, aggregate.

    Without a parent it is the definition over the base tables. Expressions refer to the parent's
    stored columns (`StoredRef`) and to columns of joined dimensions, or of the fact (`ColumnRef`).
    """

    parent: str | None
    child: str
    joins: tuple[Join, ...]
    keys: tuple[tuple[str, Expr], ...]
    aggregates: tuple[EdgeAggregate, ...]
    residual: tuple[Expr, ...] = ()

    @property
    def label(self) -> tuple[str, ...]:
        """The dimension tables that the edge joins, by the names of their roles."""
        return tuple(join.alias for join in self.joins)


@dataclass(frozen=True)
class Lattice:
    """Summary tables of a warehouse in their derives relation.

    `labels[child][parent]` holds, for every pair in which the child can be derived from the
    parent, the dimensions to join (the superscript of the paper's derives relation). The edge
    itself, with its query, is built when asked for: a cube of ten dimensions has tens of thousands
    of pairs, a plan uses a thousand. `base_labels[child]` are the joins of its own definition.
    """

    warehouse: Warehouse
    nodes: Mapping[str, Node]
    labels: Mapping[str, Mapping[str, tuple[Path, ...]]]
    base_labels: Mapping[str, tuple[Path, ...]]

    def node(self, name: str) -> Node:
        """The node of that name."""
        return self.nodes[name]

    def parents(self, child: str) -> tuple[str, ...]:
        """Every table from which a table can be derived."""
        return tuple(self.labels[child])

    def derives(self, child: str, parent: str) -> bool:
        """Whether `child` can be computed from `parent` and dimension tables."""
        return parent in self.labels[child]

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """For each table the tables that can be derived from it."""
        below: dict[str, list[str]] = {name: [] for name in self.nodes}
        for child, parents in self.labels.items():
            for parent in parents:
                below[parent].append(child)
        return {name: tuple(children) for name, children in below.items()}

    @property
    def tops(self) -> tuple[str, ...]:
        """The tables that derive from nothing but the base."""
        return tuple(name for name in self.nodes if not self.covers[name])

    @cached_property
    def covers(self) -> Mapping[str, tuple[str, ...]]:
        """For each table its immediate parents: the edges of the picture (Hasse diagram).

        Of tables that derive from each other (the same groups) the one declared first counts
        as the upper one.
        """
        above = {name: self._strictly_above(name) for name in self.nodes}
        covers: dict[str, tuple[str, ...]] = {}
        for name, parents in above.items():
            behind = frozenset[str]().union(*(above[parent] for parent in parents))
            covers[name] = tuple(p for p in self.labels[name] if p in parents and p not in behind)
        return covers

    def _strictly_above(self, child: str) -> frozenset[str]:
        rank = self._rank
        return frozenset(
            parent
            for parent in self.labels[child]
            if child not in self.labels[parent] or rank[parent] < rank[child]
        )

    @cached_property
    def _rank(self) -> Mapping[str, int]:
        return {name: rank for rank, name in enumerate(self.nodes)}
