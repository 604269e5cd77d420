"""The cost model: what each way to compute a table, or its delta, costs.

Appendix A of the 1997 paper counts the tuples read from the source and the tuples written to the
summary table. `CostWeights` put a price on each, and on what the paper leaves out: a joined
dimension costs its rows to build a hash table of and the source's rows to probe it, a stage costs
something to start. With `PAPER_WEIGHTS` the model is the paper's.

A delta's tuples are counted once, where they change the summary table; that the delta itself is
written and read in between is not counted, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cubekeeper.derive.arborescence import WayIn
from cubekeeper.derive.distinct import weakest
from cubekeeper.derive.reach import changed_roles
from cubekeeper.lattice.choice import Candidate, Estimate, Sizes, Term, Version
from cubekeeper.lattice.model import Lattice
from cubekeeper.scalar.nodes import Path
from cubekeeper.statistics.changes import TableChange
from cubekeeper.statistics.model import CostWeights

Label = tuple[Path, ...]


Ways = Mapping[str, Sequence[WayIn]]
"""For each table its ways in, the base among them, cheapest first."""


@dataclass(frozen=True, slots=True)
class Way:
    """The terms of a way without their child: the part of a candidate that many children share."""

    terms: tuple[Term, ...]
    joins: int
    cost: float


class _Prices:
    """The ways of one kind, each priced once for all children that read and join the same."""

    def __init__(
        self,
        lattice: Lattice,
        terms: Callable[[str, str | None, Label], tuple[Term, ...]],
        stage: float,
    ) -> None:
        self._lattice = lattice
        self._terms = terms
        self._stage = stage
        self._rank = {name: rank for rank, name in enumerate(lattice.nodes)}
        self._by_fact: dict[str, dict[Label, Way]] = {f.name: {} for f in lattice.warehouse.facts}
        self._by_parent: dict[str, dict[Label, Way]] = {name: {} for name in lattice.nodes}
        self._into: dict[str, list[WayIn]] = {}

    def way(self, child: str, parent: str | None) -> Way:
        """One way."""
        fact = self._lattice.nodes[child].view.fact
        if parent is None:
            return self._way(self._by_fact[fact], fact, None, self._lattice.base_labels[child])
        label = self._lattice.labels[child][parent]
        return self._way(self._by_parent[parent], fact, parent, label)

    def _way(self, known: dict[Label, Way], fact: str, parent: str | None, label: Label) -> Way:
        way = known.get(label)
        if way is None:
            terms = self._terms(fact, parent, label)
            cost = sum(term.cost for term in terms) + self._stage
            way = known[label] = Way(terms, len(label), cost)
        return way

    def into(self, child: str) -> list[WayIn]:
        """All ways into a table, cheapest first. The base comes last among equals: the estimate of
        a parent's rows is an upper bound, that of the base is not."""
        ways = self._into.get(child)
        if ways is None:
            base = self.way(child, None)
            ways = [WayIn(base.cost, base.joins, len(self._rank), None)]
            for parent, label in self._lattice.labels[child].items():
                way = self._by_parent[parent].get(label) or self.way(child, parent)
                ways.append(WayIn(way.cost, way.joins, self._rank[parent], parent))
            ways.sort()
            self._into[child] = ways
        return ways


@dataclass(frozen=True)
class CostModel:
    """Prices every way on a lattice for given sizes."""

    lattice: Lattice
    sizes: Sizes
    weights: CostWeights

    def label(self, child: str, parent: str | None) -> Label:
        """The dimensions that a way joins."""
        if parent is None:
            return self.lattice.base_labels[child]
        return self.lattice.labels[child][parent]

    # --- what the choice of parents compares --------------------------------------------------

    def delta_way(self, child: str, parent: str | None) -> Way:
        """How a delta is computed from a parent's delta, or from the changes of the base."""
        return self._deltas.way(child, parent)

    def rebuild_way(self, child: str, parent: str | None) -> Way:
        """How a table is computed anew from a parent or the base."""
        return self._rebuilds.way(child, parent)

    def delta_ways(self, names: Iterable[str], sources: Collection[str] | None = None) -> Ways:
        """The ways to compute the deltas of some tables from those of others, or from the base.

        `sources` have deltas too: the tables themselves, if nothing is said. A table that the
        changes do not reach is as good as the base: its delta is empty.
        """
        names = list(names)
        without = self.sizes.deltas.keys() - set(names if sources is None else sources)
        if not without:
            return {name: self._deltas.into(name) for name in names}
        return {
            name: [way for way in self._deltas.into(name) if way.source not in without]
            for name in names
        }

    def rebuild_ways(self, names: Iterable[str]) -> Ways:
        """The ways to compute some tables anew, from any table above or from the base."""
        return {name: self._rebuilds.into(name) for name in names}

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

    @cached_property
    def _deltas(self) -> _Prices:
        return _Prices(self.lattice, self._delta_terms, self.weights.stage)

    @cached_property
    def _rebuilds(self) -> _Prices:
        return _Prices(self.lattice, self._rebuild_terms, self.weights.stage)

    def _rebuild_terms(self, fact: str, parent: str | None, label: Label) -> tuple[Term, ...]:
        joins = tuple((path, Version.NEW) for path in label)
        return (self._term(fact, Version.NEW, joins, self._rows(fact, parent).rows),)

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
        return Estimate(changes.rows(fact), changes.source, changes.origin)

    def _rows(self, fact: str, parent: str | None) -> Estimate:
        return self.sizes.tables[fact] if parent is None else self.sizes.views[parent]

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
