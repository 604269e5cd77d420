"""The groups that a summary table can have, and how many of them rows fill.

If `d` groups are possible and `n` rows fall on them at random, ``d·(1 − (1 − 1/d)^n)`` are filled
(Cardenas' formula). Keys that other keys determine make no new groups, and keys of one dimension
no more than the dimension has rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cubekeeper.derive.dependencies import Dependencies
from cubekeeper.derive.distinct import Profile, weakest
from cubekeeper.derive.selectivity import Selection, selections
from cubekeeper.lattice.choice import Estimate
from cubekeeper.scalar.nodes import ColumnRef, Expr, Path, column_refs
from cubekeeper.statistics.changes import TableChange
from cubekeeper.warehouse.model import SummaryTable


def filled(groups: float, rows: float) -> float:
    """How many of some equally likely groups are filled by rows that fall on them at random.

    >>> round(filled(100, 10)), round(filled(100, 1_000_000)), filled(1, 5)
    (10, 100, 1.0)
    """
    if rows <= 0 or groups <= 0:
        return 0.0
    if groups <= 1:
        return min(1.0, rows)
    if math.isinf(groups):
        return rows
    return -groups * math.expm1(rows * math.log1p(-1 / groups))


def possible(groups: float, rows: float) -> float:
    """How many groups must be possible if so many rows fill so many: `filled`, turned round.

    >>> round(filled(possible(600, 1000), 1000))
    600
    """
    if groups >= rows:
        return math.inf
    low, high = groups, groups * 2
    while filled(high, rows) < groups:
        low, high = high, high * 2
        if high > rows * rows * 4:
            return math.inf
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if filled(middle, rows) >= groups else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class Domain:
    """The groups that a table could have, and the rows of the fact that fall on them."""

    groups: float
    rows: float
    share: float
    source: str
    how: str


@dataclass(frozen=True)
class Groups:
    """Estimates for the tables of one fact, with what they share."""

    profile: Profile
    dependencies: Dependencies
    changed: Mapping[Path, TableChange]
    _texts: dict[Expr, str] = field(default_factory=dict)
    _known_selections: dict[tuple[Expr, ...], tuple[Selection, ...]] = field(default_factory=dict)

    def domain(self, view: SummaryTable) -> Domain:
        """The possible groups of a table."""
        keys = self._independent(view)
        counts = {key: self._left(key, view.filter) for key in keys}
        groups = self._combined(counts)
        fact_rows = self.profile.rows(())
        kept = self._selections(view.filter)
        share = math.prod(selection.share for selection in kept)
        source = weakest(
            [fact_rows.source, *(count.source for count in counts.values())], "estimated"
        )
        parts = " × ".join(f"{self._text(key)} {count.rows:,.0f}" for key, count in counts.items())
        how = f"{parts or 'no keys'}: at most {groups:,.0f} groups"
        how += f", hit by {fact_rows.rows * share:,.0f} rows"
        if kept:
            how += f" ({share:.2%} pass the filter: {'; '.join(map(str, kept))})"
        return Domain(groups, fact_rows.rows * share, share, source, how)

    def _independent(self, view: SummaryTable) -> list[Expr]:
        """The keys without those that the others determine; the larger of two goes first."""
        exprs = list(dict.fromkeys(key.expr for key in view.keys))
        bits = {expr: 1 << self.dependencies.index[expr] for expr in exprs}
        kept = sum(bits.values())
        for expr in sorted(exprs, key=lambda e: -self.profile.distinct(e).rows):
            bit = bits[expr]
            if bit & self._determinable and self.dependencies.closure(kept & ~bit) & bit:
                kept &= ~bit
        return [expr for expr in exprs if bits[expr] & kept]

    @cached_property
    def _determinable(self) -> int:
        mask = 0
        for left, right in self.dependencies.rules:
            mask |= right & ~left
        return mask

    def _left(self, key: Expr, conditions: tuple[Expr, ...]) -> Estimate:
        """The values of a key that the conditions leave: a brand has one category, so a condition
        on the category leaves as large a part of the brands as of the rows."""
        count = self.profile.distinct(key)
        if not conditions:
            return count
        closed = self.dependencies.closure(1 << self.dependencies.index[key])
        share = 1.0
        for selection in self._selections(conditions):
            if self.dependencies.mask(selection.columns) & ~closed == 0:
                share *= selection.share
        if share == 1.0:
            return count
        source = weakest([count.source], "estimated")
        return Estimate(whole(count.rows * share), source, "left by the filter")

    def _combined(self, counts: Mapping[Expr, Estimate]) -> float:
        """Possible combinations of some keys' values: those of one dimension's columns, and of
        what lies behind it, are at most its rows."""
        at: dict[Path, list[float]] = {(): []}
        for expr, count in counts.items():
            at.setdefault(_home(expr), []).append(max(1.0, count.rows))
        for path in sorted({p[:i] for p in at for i in range(1, len(p) + 1)}, key=len)[::-1]:
            parts = at.pop(path, [])
            combinations = math.prod(parts)
            if len(parts) > 1:
                rows = self.profile.rows(path).rows
                combinations = max(*parts, filled(combinations, rows))
            at.setdefault(path[:-1], []).append(combinations)
        return math.prod(at[()])

    def _selections(self, conditions: tuple[Expr, ...]) -> tuple[Selection, ...]:
        if conditions not in self._known_selections:
            self._known_selections[conditions] = selections(self.profile, conditions)
        return self._known_selections[conditions]

    def _text(self, expr: Expr) -> str:
        if expr not in self._texts:
            columns = sorted({ref.column for ref in column_refs(expr)})
            inner = " and ".join(columns)
            self._texts[expr] = inner if isinstance(expr, ColumnRef) else f"value of {inner}"
        return self._texts[expr]

    # --- deltas -------------------------------------------------------------------------------

    def touched(
        self, view: SummaryTable, domain: Domain, change: float, roles: Iterable[Path]
    ) -> float:
        """The groups that the changed rows fall on: of the fact, and of dimensions by role."""
        total = filled(domain.groups, change * domain.share)
        for path in roles:
            change_of = self.changed[path]
            dimension_rows = max(1.0, self.profile.rows(path).rows)
            leaving = domain.rows * min(1.0, change_of.deletions / dimension_rows)
            coming = domain.rows * min(1.0, change_of.insertions / dimension_rows)
            counts = {
                key.expr: self._left(key.expr, view.filter)
                for key in view.keys
                if _home(key.expr)[: len(path)] == path
            }
            values = self._combined(counts)
            within = domain.groups * min(1.0, change_of.rows / values)
            total += filled(max(1.0, within), leaving + min(leaving, coming))
        return min(total, domain.groups)


def _home(expr: Expr) -> Path:
    """The longest path that leads to all columns of an expression."""
    paths = [ref.path for ref in column_refs(expr)]
    if not paths:
        return ()
    shortest = min(paths, key=len)
    for length in range(len(shortest), 0, -1):
        if all(path[:length] == shortest[:length] for path in paths):
            return shortest[:length]
    return ()


def whole(rows: float) -> float:
    """A number of rows that is not less than one."""
    return float(max(1, round(rows)))
