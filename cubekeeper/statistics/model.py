"""What is known about sizes: given by hand, read from a file, or measured by earlier runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

ASSUMED_FACT_ROWS: Final = 1_000_000
ASSUMED_DIMENSION_ROWS: Final = 1_000
ASSUMED_CHANGE: Final = 0.01
"""What is assumed where nothing is known: rows, and the share of a fact that a batch changes."""


@dataclass(frozen=True, slots=True)
class TableStatistics:
    """A base table: its rows, its distinct counts by column, and a batch's usual changes."""

    rows: int | None = None
    distinct: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    insertions: int = 0
    deletions: int = 0
    updates: int = 0

    @property
    def changes(self) -> int:
        """Changed tuples in a batch; an update is a deletion and an insertion."""
        return self.insertions + self.deletions + 2 * self.updates


@dataclass(frozen=True, slots=True)
class ViewStatistics:
    """A summary table: its groups, the groups a batch usually touches, and how often it is asked.

    `queries` is a relative frequency: how many of the queries that an analyst sends in a day
    could be answered from this table or one above it.
    """

    rows: int | None = None
    delta_rows: int | None = None
    queries: float | None = None


@dataclass(frozen=True, slots=True)
class CostWeights:
    """What one tuple costs in each role. In the paper's count reads and writes are 1, joins free.

    The unit is free: with `calibrated` weights, measured by earlier runs, costs are seconds.
    """

    read: float = 1.0
    write: float = 1.0
    join_probe: float = 0.25
    join_build: float = 1.0
    stage: float = 0.0
    unit: str = "tuple accesses"


PAPER_WEIGHTS = CostWeights(join_probe=0.0, join_build=0.0)
"""Appendix A of the 1997 paper: tuples read and written; dimension joins are not counted."""

DEFAULT_WEIGHTS = CostWeights()


@dataclass(frozen=True, slots=True)
class Statistics:
    """All statistics of a warehouse, by lower-cased table and view name; empty is allowed."""

    tables: Mapping[str, TableStatistics] = field(default_factory=lambda: MappingProxyType({}))
    views: Mapping[str, ViewStatistics] = field(default_factory=lambda: MappingProxyType({}))
    weights: CostWeights = DEFAULT_WEIGHTS
    origin: str = "none given"

    def table(self, name: str) -> TableStatistics:
        """What is known of a base table; nothing, if nothing was said."""
        return self.tables.get(name.lower(), TableStatistics())

    def view(self, name: str) -> ViewStatistics:
        """What is known of a summary table; nothing, if nothing was said."""
        return self.views.get(name.lower(), ViewStatistics())
