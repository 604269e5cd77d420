"""The nightly plan as frozen data. `explain` prints these objects and `run` executes the same.

    Seal ─► Propagate (per view, down the D-lattice) ─► Apply (per staged base table)
         ─► Refresh | Rebuild (per view) ─► Recompute (MIN/MAX groups, one shared pass) ─► Publish
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cubekeeper.lattice.choice import Choice, Estimate, Term, Version
from cubekeeper.statistics.changes import Changes


@dataclass(frozen=True, slots=True)
class Seal:
    """Fix the input of the batch before anything else."""

    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Propagate:
    """Compute the summary-delta table of a view, reading no summary table unless a term says so."""

    view: str
    choice: Choice
    terms: tuple[Term, ...]
    delta: Estimate
    cost: float
    reads_fact: bool


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply the staged changes to a base table."""

    table: str
    rows: float
    cost: float


class RefreshPath(Enum):
    """Which of the refresh function's forms is needed (4.2, 4.3)."""

    INSERTIONS_ONLY = "insertions only"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class Refresh:
    """Merge a summary-delta table into its summary table."""

    view: str
    path: RefreshPath
    reason: str
    rows: Estimate
    recompute: tuple[str, ...]
    cost: float


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Compute a summary table anew, from the cheapest refreshed ancestor or the base."""

    view: str
    choice: Choice
    reason: str
    cost: float


@dataclass(frozen=True, slots=True)
class Recompute:
    """One shared pass for the MIN/MAX groups whose extremum was deleted."""

    views: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Publish:
    """Make the new versions of all tables visible together."""

    views: tuple[str, ...]


Action = Seal | Propagate | Apply | Refresh | Rebuild | Recompute | Publish


@dataclass(frozen=True, slots=True)
class Stage:
    """An action, its name, and the stages that must be done before it."""

    id: str
    action: Action
    after: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """The ordered stages of one batch. Every stage comes after those it waits for."""

    warehouse: str
    changes: Changes
    stages: tuple[Stage, ...]
    untouched: tuple[str, ...]
    unit: str

    def propagate_cost(self) -> float:
        """Work outside the window: while readers read."""
        return sum(s.action.cost for s in self.stages if isinstance(s.action, Propagate))

    def window_cost(self) -> float:
        """Work inside the window: base tables and summary tables change."""
        inside = (Apply, Refresh, Rebuild)
        return sum(s.action.cost for s in self.stages if isinstance(s.action, inside))


