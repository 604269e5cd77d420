"""Rows of summary tables and summary-delta tables: given, or estimated.

A table has as many groups as its fact's rows fill of those possible, a summary-delta table as many
as the changed rows do (`groups`). Estimates never contradict the lattice: a table is not larger
than one it derives from, nor smaller than what is given for one below it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from cubekeeper.derive.dependencies import dependencies_of
from cubekeeper.derive.distinct import Profile, base_rows, weakest
from cubekeeper.derive.groups import Domain, Groups, filled, possible, whole
from cubekeeper.derive.reach import changed_roles, reached
from cubekeeper.lattice.choice import Estimate, Sizes
from cubekeeper.lattice.model import Lattice
from cubekeeper.statistics.changes import Changes, usual_changes
from cubekeeper.statistics.model import Statistics


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
        fact: Groups(
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
    lattice: Lattice, statistics: Statistics, domains: Mapping[str, Domain]
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
            count = whole(filled(domain.groups, domain.rows))
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
    by_fact: Mapping[str, Groups],
    domains: Mapping[str, Domain],
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
        count = whole(facts.touched(view, domain, change, roles))
        parts = [f"{changes.rows(table):,.0f} changed rows of `{table}`" for table in tables]
        over = f"{domain.groups:,.0f} possible" if domain.groups < math.inf else "as many"
        how = f"{' and '.join(parts)} fall on {over} groups"
        how += f" ({domain.share:.2%} pass the filter)" if view.filter else ""
        raw[name] = Estimate(count, weakest([views[name].source, changes.source], "estimated"), how)
    above: dict[str, list[str]] = {}
    for name in (*given, *raw):
        changed = by_fact[lattice.nodes[name].view.fact].changed.keys()
        above[name] = [
            parent
            for parent, label in lattice.labels[name].items()
            if (parent in given or parent in raw) and changed.isdisjoint(label)
        ]
    known = _made_consistent(given, raw, above)
    return {name: known[name] for name in lattice.nodes if name in known}


def _calibrated(domain: Domain, rows: Estimate) -> Domain:
    """The domain that explains a number of rows which is given, or that others imply."""
    if rows.rows == whole(filled(domain.groups, domain.rows)):
        return domain
    groups = possible(rows.rows, domain.rows)
    return Domain(groups, domain.rows, domain.share, domain.source, domain.how)


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
        return Estimate(whole(rows * factor), "estimated", f"{factor:,.1f} usual batches, {origin}")
    count = filled(possible(rows, usual), usual * factor)
    how = f"{factor:.1%} of the usual changes, {origin}"
    return Estimate(whole(count), "estimated", how)
