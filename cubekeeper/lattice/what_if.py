"""What the nightly batch and the queries cost before and after a change of the lattice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figures:
    """The costs of a lattice as a whole.

    `propagate` is paid before the window and `window` in it, per batch; `space` is the rows of all
    tables, `queries` the tuples that queries read (each table's, times how often it is asked).
    """

    propagate: float
    window: float
    space: float
    queries: float


@dataclass(frozen=True, slots=True)
class ViewFigures:
    """One table: how it is maintained (`delta`, `rebuild`, `untouched`), from where, for how much.

    A table that is not kept has no `mode`; its queries are answered by `answered_by` (None: the
    fact), as are those of a table that is.
    """

    mode: str | None
    parent: str | None
    cost: float
    space: float
    query_cost: float
    answered_by: str | None


@dataclass(frozen=True, slots=True)
class ViewDifference:
    """One table before and after."""

    view: str
    before: ViewFigures
    after: ViewFigures

    @property
    def parent_changes(self) -> bool:
        """Whether it is kept in both, but computed from another parent."""
        both = self.before.mode is not None and self.after.mode is not None
        return both and self.before.parent != self.after.parent


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The difference that added and dropped tables make; `views` has only those that differ."""

    added: tuple[str, ...]
    dropped: tuple[str, ...]
    before: Figures
    after: Figures
    views: tuple[ViewDifference, ...]
    unit: str
