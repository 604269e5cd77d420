"""Advice on which summary tables are worth keeping."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Ranking(Enum):
    """What the best next table is."""

    BENEFIT = "benefit"
    BENEFIT_PER_ROW = "benefit per row"


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the advice must stop; None is no limit.

    `tables` counts summary tables, `space` their rows, `window` the cost of maintaining them.
    """

    tables: int | None = None
    space: float | None = None
    window: float | None = None


@dataclass(frozen=True, slots=True)
class Pick:
    """A table worth keeping, given those picked before it.

    `benefit` = `saved` (tuples that queries read less) − what `maintenance` is worth in that unit.
    A table below which others get cheaper to maintain can have a negative maintenance. The totals
    are those after this pick.
    """

    view: str
    benefit: float
    saved: float
    maintenance: float
    space: float
    total_query_cost: float
    total_space: float
    total_maintenance: float


@dataclass(frozen=True, slots=True)
class Declined:
    """A table not picked, with what it would bring on top of the picks, and why it is left out."""

    view: str
    benefit: float
    saved: float
    maintenance: float
    space: float
    reason: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The tables to keep in the order of their benefit, and those to leave.

    `query_cost` is what all queries cost without any of them. `exchange` is how many tuples read
    by queries one unit of maintenance is worth. `best` is the best choice of all, where there are
    few enough tables to try every one, and `best_benefit` what it brings.
    """

    picks: tuple[Pick, ...]
    declined: tuple[Declined, ...]
    query_cost: float
    exchange: float
    ranking: Ranking
    limits: Limits
    unit: str
    best: tuple[str, ...] | None = None
    best_benefit: float | None = None

    @property
    def benefit(self) -> float:
        """What all picks bring together."""
        return sum(pick.benefit for pick in self.picks)

    @property
    def kept(self) -> tuple[str, ...]:
        """The names of the tables picked."""
        return tuple(pick.view for pick in self.picks)
