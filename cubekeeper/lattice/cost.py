"""The cost table: four ways to keep summary tables up to date, side by side (Table 1)."""

from __future__ import annotations

from dataclasses import dataclass

from cubekeeper.lattice.choice import Estimate
from cubekeeper.statistics.changes import Changes
from cubekeeper.statistics.model import PAPER_WEIGHTS, CostWeights


@dataclass(frozen=True, slots=True)
class CostCell:
    """What one method costs for one table, and from which parent (None: the base).

    `note` says what differs from the column's method, such as a table that can only be rebuilt.
    """

    cost: float
    parent: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class CostRow:
    """One summary table by the four methods; without a delta the changes do not reach it."""

    view: str
    rows: Estimate
    delta: Estimate | None
    recomputation: CostCell
    individual: CostCell
    reuse: CostCell
    counting: CostCell


@dataclass(frozen=True, slots=True)
class CostTable:
    """All summary tables by the four methods.

    Recomputation computes every table anew, through the lattice. Individual deltas come from
    the changes of the base, reused deltas from each other, down the lattice. Counting deletes the
    touched groups and computes them anew from the base [GMS93].
    """

    warehouse: str
    changes: Changes
    unit: str
    rows: tuple[CostRow, ...]
    weights: CostWeights = PAPER_WEIGHTS

    @property
    def recomputation(self) -> float:
        """The total of the first column."""
        return sum(row.recomputation.cost for row in self.rows)

    @property
    def individual(self) -> float:
        """The total of the second column."""
        return sum(row.individual.cost for row in self.rows)

    @property
    def reuse(self) -> float:
        """The total of the third column."""
        return sum(row.reuse.cost for row in self.rows)

    @property
    def counting(self) -> float:
        """The total of the fourth column."""
        return sum(row.counting.cost for row in self.rows)
