"""Sizes and prices on a lattice: row estimates, ways to compute a table, and the way chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from cubekeeper.lattice.model import Edge
from cubekeeper.scalar.nodes import Path
from cubekeeper.statistics.changes import Changes
from cubekeeper.statistics.model import CostWeights


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of rows and where it comes from: `given`, `measured`, `estimated` or `assumed`."""

    rows: float
    source: str
    how: str = ""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rows of every base table, summary table and summary-delta table, for one set of changes.

    `deltas` has the tables that the changes reach, and no others. `shares` is the part of its fact
    that a table's filter lets through.
    """

    changes: Changes
    tables: Mapping[str, Estimate]
    views: Mapping[str, Estimate]
    deltas: Mapping[str, Estimate]
    shares: Mapping[str, float]


class Version(Enum):
    """Which state of a table a term reads; a table that does not change is always new."""

    OLD = "old"
    NEW = "new"
    DELTA = "delta"


@dataclass(frozen=True, slots=True)
class Term:
    """One query over a source and its joined dimensions; its result adds to those of the others.

    A table computed anew is one term. A summary-delta is the telescoped difference of two joins,
    one term per changed input: the source's own delta with every dimension new, then for each
    changed dimension its delta against the old source, the changed dimensions before it old and
    those after it new (4.1.4). Terms that are empty by the foreign keys are left out: no old row
    refers to a dimension row that is only now inserted. The delta of a dimension that is joined by
    `lookup` columns is the difference of its distinct rows.
    """

    source: Version
    joins: tuple[tuple[str, Version], ...]
    rows_in: float
    read_cost: float
    join_cost: float

    @property
    def cost(self) -> float:
        """The price of this term alone."""
        return self.read_cost + self.join_cost


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to compute a table (or its delta): from a parent, or (None) from the base.

    `rows_in` are the tuples read from the source, over all terms. `write_cost` is the price of the
    tuples of the summary table that are written: all of them, or those that the delta changes.
    """

    parent: str | None
    joins: tuple[Path, ...]
    terms: tuple[Term, ...]
    rows_in: Estimate
    rows_out: Estimate
    write_cost: float
    stage_cost: float = 0.0

    @property
    def read_cost(self) -> float:
        """The price of reading the source."""
        return sum(term.read_cost for term in self.terms)

    @property
    def join_cost(self) -> float:
        """The price of joining dimensions."""
        return sum(term.join_cost for term in self.terms)

    @property
    def compute_cost(self) -> float:
        """The price of computing the result, before it is written."""
        return self.read_cost + self.join_cost + self.stage_cost

    @property
    def cost(self) -> float:
        """The whole price of this way."""
        return self.compute_cost + self.write_cost


@dataclass(frozen=True, slots=True)
class Choice:
    """The way chosen for one table, the next best ways (cheapest first), and the edge to run.

    `more` counts the ways that are not listed. `instead` is the best way of the other kind: to
    rebuild a table that has a delta, to propagate to one that is rebuilt; None if not allowed.
    """

    view: str
    chosen: Candidate
    runners_up: tuple[Candidate, ...]
    edge: Edge
    more: int = 0
    instead: Candidate | None = None

    @property
    def parent(self) -> str | None:
        """The chosen parent; None is the base."""
        return self.chosen.parent


@dataclass(frozen=True, slots=True)
class Choices:
    """A choice for every table concerned, parents before children; their costs add up."""

    by_view: Mapping[str, Choice]

    @property
    def total(self) -> float:
        """The sum of all costs."""
        return sum(choice.chosen.cost for choice in self.by_view.values())


@dataclass(frozen=True, slots=True)
class Recomputation:
    """The groups of a table whose MIN or MAX a deletion probably took away (4.2).

    `rows_in` are the tuples of the fact that belong to those groups.
    """

    columns: tuple[str, ...]
    groups: float
    rows_in: float
    cost: float


@dataclass(frozen=True, slots=True)
class Maintenance:
    """How every summary table is brought up to date in a batch.

    A table that the changes reach (`reached`, with the changed tables that do) has a choice in
    `deltas`, for its summary-delta and refresh, or in `rebuilds`, with the reason. The others are
    `untouched`.
    """

    sizes: Sizes
    weights: CostWeights
    reached: Mapping[str, tuple[str, ...]]
    deltas: Choices
    rebuilds: Choices
    reasons: Mapping[str, str]
    recomputations: Mapping[str, Recomputation]
    untouched: tuple[str, ...]

    def apply_cost(self, table: str) -> float:
        """The price of applying the staged changes to a base table."""
        return self.weights.write * self.sizes.changes.rows(table) + self.weights.stage

    @property
    def propagate_cost(self) -> float:
        """The price of all summary-delta tables."""
        return sum(choice.chosen.compute_cost for choice in self.deltas.by_view.values())

    @property
    def window_cost(self) -> float:
        """The price of the rest: applying, refreshing, recomputing and rebuilding."""
        changed = (change.table for change in self.sizes.changes.tables if change.rows)
        applied = sum(self.apply_cost(table) for table in changed)
        refreshed = sum(choice.chosen.write_cost for choice in self.deltas.by_view.values())
        recomputed = sum(again.cost for again in self.recomputations.values())
        return applied + refreshed + recomputed + self.rebuilds.total
