"""The nightly plan as frozen data. `explain` prints these objects and `run` executes the same.

    Seal ─► Propagate (per view, down the D-lattice) ─► Apply (per staged base table)
         ─► Refresh | Rebuild (per view) ─► Recompute (MIN/MAX groups, one shared pass) ─► Publish

Seal and Propagate run while readers read; with Apply the window begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from cubekeeper.lattice.choice import Choice, Estimate, Recomputation, Term, Version
from cubekeeper.statistics.changes import Changes


@dataclass(frozen=True, slots=True)
class Seal:
    """Fix the input of the batch before anything else."""

    tables: tuple[str, ...]

    @property
    def cost(self) -> float:
        """Not counted."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Propagate:
    """Compute the summary-delta table of a view, reading no summary table unless a term says so."""

    view: str
    choice: Choice

    @property
    def terms(self) -> tuple[Term, ...]:
        """The queries whose results add up to the delta."""
        return self.choice.chosen.terms

    @property
    def delta(self) -> Estimate:
        """The rows of the delta."""
        return self.choice.chosen.rows_out

    @property
    def cost(self) -> float:
        """The price of computing the delta."""
        return self.choice.chosen.compute_cost

    @property
    def reads_fact(self) -> bool:
        """Whether the fact table itself is read, not only its changes."""
        return self.choice.parent is None and self.reads_old_source

    @property
    def reads_old_source(self) -> bool:
        """Whether the parent's (or fact's) old rows are read, because a dimension changed."""
        return any(term.source is Version.OLD for term in self.terms)


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
    """Merge a summary-delta table into its summary table.

    The MIN and MAX columns in `recompute` are checked for groups that lost their extreme value.
    """

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

    @property
    def cost(self) -> float:
        """The price of computing and writing it."""
        return self.choice.chosen.cost


@dataclass(frozen=True, slots=True)
class Recompute:
    """One shared pass for the MIN/MAX groups whose extremum was deleted, with what is expected."""

    groups: tuple[tuple[str, Recomputation], ...]

    @property
    def views(self) -> tuple[str, ...]:
        """The tables concerned."""
        return tuple(view for view, _ in self.groups)

    @property
    def cost(self) -> float:
        """The price of computing the groups."""
        return sum(expected.cost for _, expected in self.groups)


@dataclass(frozen=True, slots=True)
class Publish:
    """Make the new versions of all tables visible together."""

    views: tuple[str, ...]

    @property
    def cost(self) -> float:
        """Not counted."""
        return 0.0


Action = Seal | Propagate | Apply | Refresh | Rebuild | Recompute | Publish


@dataclass(frozen=True, slots=True)
class Stage:
    """An action, its name, and the stages that must be done before it."""

    id: str
    action: Action
    after: tuple[str, ...]

    @property
    def in_window(self) -> bool:
        """Whether tables change: readers are still on the published batch, but not to be kept
        waiting for the next."""
        return not isinstance(self.action, Seal | Propagate)


@dataclass(frozen=True)
class Plan:
    """The ordered stages of one batch. Every stage comes after those it waits for."""

    warehouse: str
    changes: Changes
    stages: tuple[Stage, ...]
    untouched: tuple[str, ...]
    unit: str

    @cached_property
    def propagate_cost(self) -> float:
        """Work outside the window: while readers read."""
        return sum(stage.action.cost for stage in self.stages if not stage.in_window)

    @cached_property
    def window_cost(self) -> float:
        """Work inside the window: base tables and summary tables change."""
        return sum(stage.action.cost for stage in self.stages if stage.in_window)
