"""Rows of summary tables and summary-delta tables: given, or estimated from distinct counts.

A table has as many groups as its fact's rows fill of the possible ones. If `d` groups are possible
and `n` rows fall on them at random, ``d·(1 − (1 − 1/d)^n)`` are filled (Cardenas' formula); the
changed rows of a batch fill a summary-delta table in the same way. Keys that other keys determine
make no new groups, and keys of one dimension no more than the dimension has rows.

Estimates never contradict the lattice: a table is not larger than one it derives from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cubekeeper.derive.dependencies import Dependencies, dependencies_of
from cubekeeper.derive.distinct import Profile, base_rows, weakest
from cubekeeper.derive.reach import changed_roles, reached
from cubekeeper.lattice.choice import Estimate, Sizes
from cubekeeper.lattice.model import Lattice
from cubekeeper.scalar.nodes import ColumnRef, Expr, Path, column_refs
from cubekeeper.statistics.changes import Changes, TableChange, usual_changes
from cubekeeper.statistics.model import Statistics
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
class _Domain:
    """The groups that a table could have, and the rows of the fact that fall on them."""

    groups: float
    rows: float
    share: float
    source: str
    how: str


@dataclass(frozen=True)
class _Facts:
    """What the estimates of one fact's tables share."""

    profile: Profile
    dependencies: Dependencies
    changed: Mapping[Path, TableChange]
    _texts: dict[Expr, str] = field(default_factory=dict)
    _shares: dict[tuple[Expr, ...], tuple[float, str]] = field(default_factory=dict)

    def domain(self, view: SummaryTable) -> _Domain:
        """The possible groups of a table."""
        keys = self._independent(view)
        counts = {key: self.profile.restricted(key, view.filter) for key in keys}
        groups = self._combined(counts)
        fact_rows = self.profile.rows(())
        share, why = self._share(view.filter)
        source = weakest(
            [fact_rows.source, *(count.source for count in counts.values())], "estimated"
        )
        parts = " × ".join(f"{self._text(key)} {count.rows:,.0f}" for key, count in counts.items())
        how = f"{parts or 'no keys'}: at most {groups:,.0f} groups"
        how += f", hit by {fact_rows.rows * share:,.0f} rows"
        how += f" ({share:.2%} pass the filter: {why})" if view.filter else ""
        return _Domain(groups, fact_rows.rows * share, share, source, how)

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

    def _combined(self, counts: Mapping[Expr, Estimate]) -> float:
        """Possible combinations of some keys' values: those of one dimension's columns, and of
        what lies behind it, are at most its rows."""
        at: dict[Path, float] = {}
        for expr, count in counts.items():
            home = _home(expr)
            at[home] = at.get(home, 1.0) * max(1.0, count.rows)
        for path in sorted({p[:i] for p in at for i in range(1, len(p) + 1)}, key=len)[::-1]:
            combinations = at.pop(path, 1.0)
            if combinations > 1:
                rows = self.profile.rows(path).rows
                combinations = max(1.0, min(combinations, filled(combinations, rows)))
            at[path[:-1]] = at.get(path[:-1], 1.0) * combinations
        return at.get((), 1.0)

    def _share(self, conditions: tuple[Expr, ...]) -> tuple[float, str]:
        if conditions not in self._shares:
            found = [self.profile.share(condition) for condition in conditions]
            why = "; ".join(text for _, text in found)
            self._shares[conditions] = (math.prod(share for share, _ in found), why)
        return self._shares[conditions]

    def _text(self, expr: Expr) -> str:
        if expr not in self._texts:
            columns = sorted({ref.column for ref in column_refs(expr)})
            inner = " and ".join(columns)
            self._texts[expr] = inner if isinstance(expr, ColumnRef) else f"value of {inner}"
        return self._texts[expr]

    # --- deltas -------------------------------------------------------------------------------

    def touched(
        self, view: SummaryTable, domain: _Domain, change: float, roles: Iterable[Path]
    ) -> float:
        """The groups that the changed rows fall on: of the fact, and of dimensions by role."""
        total = filled(domain.groups, change * domain.share)
        for path in roles:
            change_of = self.changed[path]
            dimension_rows = max(1.0, self.profile.rows(path).rows)
            leaving = domain.rows * min(1.0, change_of.deletions / dimension_rows)
            coming = domain.rows * min(1.0, change_of.insertions / dimension_rows)
            counts = {
                key.expr: self.profile.restricted(key.expr, view.filter)
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


def estimate_sizes(
    lattice: Lattice, statistics: Statistics, changes: Changes | None = None
) -> Sizes:
    """The rows of every table of a lattice, and of the deltas that some changes make.

    Without changes it is the usual batch of the statistics.
    """
    warehouse = lattice.warehouse
    facts = [fact.name for fact in warehouse.facts]
    dimensions = [dimension.name for dimension in warehouse.dimensions]
    usual = usual_changes(statistics, facts, dimensions)
    changes = usual if changes is None else changes
    roles = changed_roles(lattice, changes)
    by_fact = {
        fact: _Facts(
            Profile(warehouse, statistics, fact), dependencies_of(warehouse, fact), roles[fact]
        )
        for fact in {node.view.fact for node in lattice.nodes.values()}
    }
    domains = {
        name: by_fact[node.view.fact].domain(node.view) for name, node in lattice.nodes.items()
    }
    views = _view_rows(lattice, statistics, domains)
    deltas = _delta_rows(lattice, statistics, by_fact, domains, views, changes, usual)
    return Sizes(
        changes=changes,
        tables={name: base_rows(warehouse, statistics, name) for name in (*facts, *dimensions)},
        views=views,
        deltas=deltas,
        shares={name: domain.share for name, domain in domains.items()},
    )


def _view_rows(
    lattice: Lattice, statistics: Statistics, domains: Mapping[str, _Domain]
) -> dict[str, Estimate]:
    given: dict[str, Estimate] = {}
    raw: dict[str, Estimate] = {}
    for name, domain in domains.items():
        rows = statistics.view(name).rows
        if rows is not None:
            given[name] = Estimate(float(rows), "given", statistics.origin)
        elif not lattice.node(name).view.keys:
            raw[name] = Estimate(1.0, "estimated", "no keys: always one row")
        else:
            count = _whole(filled(domain.groups, domain.rows))
            raw[name] = Estimate(count, domain.source, domain.how)
    return _made_consistent(given, raw, lattice.labels)


def _made_consistent(
    given: Mapping[str, Estimate],
    raw: Mapping[str, Estimate],
    above: Mapping[str, Iterable[str]],
) -> dict[str, Estimate]:
    """Estimates that are at least what is given for a table below, at most what holds above."""
    least = dict.fromkeys(raw, 0.0)
    for child in given:
        for parent in above[child]:
            if parent in least:
                least[parent] = max(least[parent], given[child].rows)
    known = {**given, **raw}
    lower: dict[str, str] = {}
    changed = True
    while changed:
        changed = False
        for child in raw:
            rows = known[child].rows
            for parent in above[child]:
                if known[parent].rows < rows and known[parent].rows >= least[child]:
                    rows, lower[child], changed = known[parent].rows, parent, True
            if rows != known[child].rows:
                known[child] = Estimate(rows, raw[child].source, raw[child].how)
    for child, parent in lower.items():
        how = f"at most the {known[child].rows:,.0f} of `{parent}`, from which it derives"
        source = weakest([known[parent].source], "estimated")
        known[child] = Estimate(known[child].rows, source, how)
    for name, rows in least.items():
        if known[name].rows < rows:
            known[name] = Estimate(rows, "estimated", "at least what is given for a table below it")
    return {name: known[name] for name in above if name in known}


def _delta_rows(
    lattice: Lattice,
    statistics: Statistics,
    by_fact: Mapping[str, _Facts],
    domains: Mapping[str, _Domain],
    views: Mapping[str, Estimate],
    changes: Changes,
    usual: Changes,
) -> dict[str, Estimate]:
    given: dict[str, Estimate] = {}
    raw: dict[str, Estimate] = {}
    usually = reached(lattice, usual)
    for name, tables in reached(lattice, changes).items():
        view = lattice.node(name).view
        rows = statistics.view(name).delta_rows
        same = usually.get(name) == tables
        factor = _times_usual(tables, changes, usual) if same else None
        if rows is not None and factor == 1:
            given[name] = Estimate(float(rows), "given", statistics.origin)
            continue
        if not view.keys:
            raw[name] = Estimate(1.0, "estimated", "no keys: always one row")
            continue
        if rows is not None and factor is not None:
            raw[name] = _scaled(rows, factor, usual.rows(view.fact), statistics.origin)
            continue
        facts = by_fact[view.fact]
        domain = _calibrated(domains[name], views[name])
        roles = [path for path, change in facts.changed.items() if change.table in tables]
        change = changes.rows(view.fact)
        count = _whole(facts.touched(view, domain, change, roles))
        parts = [f"{changes.rows(table):,.0f} changed rows of `{table}`" for table in tables]
        over = f"{domain.groups:,.0f} possible" if domain.groups < math.inf else "as many"
        how = f"{' and '.join(parts)} fall on {over} groups"
        raw[name] = Estimate(count, weakest([views[name].source], "estimated"), how)
    above = {
        name: [
            parent
            for parent, label in lattice.labels[name].items()
            if (parent in given or parent in raw)
            and not any(path in by_fact[lattice.node(name).view.fact].changed for path in label)
        ]
        for name in (*given, *raw)
    }
    known = _made_consistent(given, raw, above)
    return {name: known[name] for name in lattice.nodes if name in known}


def _calibrated(domain: _Domain, rows: Estimate) -> _Domain:
    """The domain that explains a number of rows which is given, or that others imply."""
    if rows.rows == _whole(filled(domain.groups, domain.rows)):
        return domain
    groups = possible(rows.rows, domain.rows)
    return _Domain(groups, domain.rows, domain.share, domain.source, domain.how)


def _times_usual(tables: Iterable[str], changes: Changes, usual: Changes) -> float | None:
    """By what factor the changes that reach a table exceed the usual ones; None if they are of
    another kind."""
    factors = {changes.rows(table) / usual.rows(table) for table in tables}
    return factors.pop() if len(factors) == 1 else None


def _scaled(rows: int, factor: float, usual: float, origin: str) -> Estimate:
    """Given delta rows for another number of changes.

    Fewer changes fall on the same groups; more are taken for several usual batches, each with
    groups of its own.
    """
    if factor > 1:
        return Estimate(
            _whole(rows * factor), "estimated", f"{factor:,.1f} usual batches, {origin}"
        )
    count = filled(possible(rows, usual), usual * factor)
    how = f"{factor:.1%} of the usual changes, {origin}"
    return Estimate(_whole(count), "estimated", how)


def _whole(rows: float) -> float:
    return float(max(1, round(rows)))
