"""The cost model: what each way to compute a table, or its delta, costs.

Appendix A of the 1997 paper counts the tuples read from the source and the tuples written to the
summary table. `CostWeights` put a price on each, and on what the paper leaves out: a joined
dimension costs its rows to build a hash table of and the source's rows to probe it, a stage costs
something to start. With `PAPER_WEIGHTS` the model is the paper's.

A delta's tuples are counted once, where they change the summary table; that the delta itself is
written and read in between is not counted, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cubekeeper.derive.distinct import weakest
from cubekeeper.derive.reach import changed_roles
from cubekeeper.lattice.choice import Candidate, Estimate, Sizes, Term, Version
from cubekeeper.lattice.model import Lattice
from cubekeeper.scalar.nodes import Path
from cubekeeper.statistics.changes import TableChange
from cubekeeper.statistics.model import CostWeights

Label = tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """The terms of a way without their child: the part of a candidate that many children share."""

    terms: tuple[Term, ...]
    joins: int
    cost: float


_Ways = dict[tuple[str, str | None], dict[Label, Way]]


@dataclass(frozen=True)
class CostModel:
    """Prices every way on a lattice for given sizes; ways that read the same share their price."""

    lattice: Lattice
    sizes: Sizes
    weights: CostWeights
    _deltas: _Ways = field(default_factory=dict, compare=False, repr=False)
    _rebuilds: _Ways = field(default_factory=dict, compare=False, repr=False)

    def label(self, child: str, parent: str | None) -> Label:
        """The dimensions that a way joins."""
        if parent is None:
            return self.lattice.base_labels[child]
        return self.lattice.labels[child][parent]

    # --- what the choice of parents compares --------------------------------------------------

    def delta_way(self, child: str, parent: str | None) -> Way:
        """How a delta is computed from a parent's delta, or from the changes of the base."""
        label = self.label(child, parent)
        fact = self.lattice.nodes[child].view.fact
        ways = self._deltas.setdefault((fact, parent), {})
        way = ways.get(label)
        if way is None:
            way = ways[label] = self._way(self._delta_terms(fact, parent, label), label)
        return way

    def rebuild_way(self, child: str, parent: str | None) -> Way:
        """How a table is computed anew from a parent or the base."""
        label = self.label(child, parent)
        fact = self.lattice.nodes[child].view.fact
        ways = self._rebuilds.setdefault((fact, parent), {})
        way = ways.get(label)
        if way is None:
            joins = tuple((path, Version.NEW) for path in label)
            term = self._term(fact, Version.NEW, joins, self._rows(fact, parent).rows)
            way = ways[label] = self._way((term,), label)
        return way

    def delta_write(self, child: str) -> float:
        """The price of refreshing a table by its delta, whatever the delta was computed from."""
        return self.weights.write * self.sizes.deltas[child].rows + self.weights.stage

    def rebuild_write(self, child: str) -> float:
        """The price of writing a table anew."""
        return self.weights.write * self.sizes.views[child].rows

    # --- the same in full, for those who read it ----------------------------------------------

    def delta(self, child: str, parent: str | None) -> Candidate:
        """A way to compute a delta, with all its figures."""
        terms = self.delta_way(child, parent).terms
        rows_out = self.sizes.deltas[child]
        return self._candidate(child, parent, terms, rows_out, self.delta_write(child))

    def rebuild(self, child: str, parent: str | None) -> Candidate:
        """A way to compute a table anew, with all its figures."""
        terms = self.rebuild_way(child, parent).terms
        rows_out = self.sizes.views[child]
        return self._candidate(child, parent, terms, rows_out, self.rebuild_write(child))

    def _candidate(
        self,
        child: str,
        parent: str | None,
        terms: tuple[Term, ...],
        rows_out: Estimate,
        write_cost: float,
    ) -> Candidate:
        fact = self.lattice.nodes[child].view.fact
        parts = [self._source(fact, parent, term.source) for term in terms]
        rows_in = parts[0] if len(parts) == 1 else _sum(parts)
        label = self.label(child, parent)
        return Candidate(parent, label, terms, rows_in, rows_out, write_cost, self.weights.stage)

    # --- terms --------------------------------------------------------------------------------

    def _way(self, terms: tuple[Term, ...], label: Label) -> Way:
        cost = sum(term.cost for term in terms) + self.weights.stage
        return Way(terms, len(label), cost)

    def _delta_terms(self, fact: str, parent: str | None, label: Label) -> tuple[Term, ...]:
        """Δchild = Δsource ⋈ dimensions_new + Σ source_old ⋈ Δdimension, telescoped (4.1.4)."""
        terms = []
        delta = self._source(fact, parent, Version.DELTA).rows
        changed = sorted((path for path in label if path in self._changed[fact]), key=len)
        if delta:
            joins = tuple((path, Version.NEW) for path in label)
            terms.append(self._term(fact, Version.DELTA, joins, delta))
        for place, role in enumerate(changed):
            versions = dict.fromkeys(changed[:place], Version.OLD) | {role: Version.DELTA}
            joins = tuple((path, versions.get(path, Version.NEW)) for path in label)
            rows = self._rows(fact, parent).rows
            terms.append(self._term(fact, Version.OLD, joins, rows))
        return tuple(terms)

    def _term(
        self, fact: str, source: Version, joins: tuple[tuple[Path, Version], ...], rows: float
    ) -> Term:
        """One term and its price. A changed dimension is joined first: few rows are left of it."""
        weights = self.weights
        left = rows
        join_cost = 0.0
        for path, version in sorted(joins, key=lambda join: join[1] is not Version.DELTA):
            dimension = self._dimension_rows[fact][path]
            if version is Version.DELTA:
                change = self._changed[fact][path]
                join_cost += weights.join_probe * left + weights.join_build * change.rows
                left *= min(1.0, change.rows / max(1.0, dimension))
            else:
                join_cost += weights.join_probe * left + weights.join_build * dimension
        aliases = tuple((self.lattice.warehouse.alias(fact, path), v) for path, v in joins)
        return Term(source, aliases, rows, weights.read * rows, join_cost)

    def _source(self, fact: str, parent: str | None, version: Version) -> Estimate:
        if version is not Version.DELTA:
            return self._rows(fact, parent)
        if parent is not None:
            return self.sizes.deltas.get(parent, _NO_ROWS)
        changes = self.sizes.changes
        return Estimate(changes.rows(fact), "given", changes.origin)

    def _rows(self, fact: str, parent: str | None) -> Estimate:
        return self.sizes.tables[fact] if parent is None else self.sizes.views[parent]

    @cached_property
    def rank(self) -> Mapping[str, int]:
        """The place of each table in the declarations."""
        return {name: rank for rank, name in enumerate(self.lattice.nodes)}

    @cached_property
    def _changed(self) -> Mapping[str, Mapping[Path, TableChange]]:
        return changed_roles(self.lattice, self.sizes.changes)

    @cached_property
    def _dimension_rows(self) -> Mapping[str, Mapping[Path, float]]:
        warehouse = self.lattice.warehouse
        return {
            fact.name: {
                path: self.sizes.tables[warehouse.table_at(fact.name, path).name].rows
                for path in warehouse.paths(fact.name)
            }
            for fact in warehouse.facts
        }


_NO_ROWS = Estimate(0.0, "estimated", "the changes do not reach it")


def _sum(parts: list[Estimate]) -> Estimate:
    if not parts:
        return _NO_ROWS
    how = " + ".join(f"{part.rows:,.0f}" for part in parts)
    return Estimate(sum(p.rows for p in parts), weakest(p.source for p in parts), how)
