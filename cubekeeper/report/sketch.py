"""What all reports of a lattice say of a table and of an edge, gathered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from cubekeeper.lattice.choice import Candidate, Choice, Estimate, Maintenance
from cubekeeper.lattice.model import Lattice, Node, Origin
from cubekeeper.report.words import cost_text_of, listed, plural, rows_phrase
from cubekeeper.scalar.nodes import ColumnRef, Expr, Path, StoredRef, column_refs
from cubekeeper.scalar.text import aggregate_to_sql, conjunction_to_sql, quote, to_sql


class Mode(Enum):
    """What happens to a table in the batch at hand."""

    DELTA = "refreshed from its summary-delta"
    REBUILT = "rebuilt"
    UNTOUCHED = "untouched by these changes"


@dataclass(frozen=True, slots=True)
class Line:
    """An edge that is shown: the chosen way to compute a table, or another one."""

    parent: str | None
    child: str
    joins: tuple[str, ...]
    chosen: bool
    candidate: Candidate | None

    @property
    def label(self) -> str:
        """The joined dimensions in the notation of pictures and trees."""
        return f"⋈ {', '.join(self.joins)}" if self.joins else ""


@dataclass(frozen=True)
class Sketch:
    """A lattice with the choices made on it, ready to be told."""

    lattice: Lattice
    maintenance: Maintenance

    @property
    def unit(self) -> str:
        """What costs are counted in."""
        return self.maintenance.weights.unit

    def cost(self, value: float) -> str:
        """A cost with its unit."""
        return cost_text_of(value, self.unit)

    def rows(self, view: str) -> Estimate:
        """The rows of a summary table."""
        return self.maintenance.sizes.views[view]

    def base_rows(self, table: str) -> Estimate:
        """The rows of a base table."""
        return self.maintenance.sizes.tables[table]

    def delta(self, view: str) -> Estimate | None:
        """The rows of its summary-delta, if the changes reach it."""
        return self.maintenance.sizes.deltas.get(view)

    def choice(self, view: str) -> Choice | None:
        """The way chosen for a table; None if it is untouched."""
        made = self.maintenance.deltas.by_view.get(view)
        return made if made is not None else self.maintenance.rebuilds.by_view.get(view)

    def again(self, view: str) -> str:
        """What must be looked up again for a table's MIN and MAX, if anything."""
        expected = self.maintenance.recomputations.get(view)
        if expected is None:
            return ""
        groups = plural(max(1, round(expected.groups)), "group")
        columns = listed(expected.columns)
        return f"about {groups} of {columns} to look up again, {self.cost(expected.cost)}"

    def mode(self, view: str) -> Mode:
        """What happens to a table."""
        if view in self.maintenance.deltas.by_view:
            return Mode.DELTA
        return Mode.REBUILT if view in self.maintenance.rebuilds.by_view else Mode.UNTOUCHED

    def rebuild_reasons(self, view: str) -> tuple[str, ...]:
        """Why a table is rebuilt, or would be if something changed."""
        reasons = self.lattice.node(view).rebuild_reasons
        if reasons:
            return reasons
        reason = self.maintenance.reasons.get(view)
        return (reason,) if reason and self.mode(view) is Mode.REBUILT else ()

    def joins(self, parent: str | None, child: str) -> tuple[str, ...]:
        """The names of the dimensions joined on the way from a parent (None: the base)."""
        paths: tuple[Path, ...]
        if parent is None:
            paths = self.lattice.base_labels[child]
        else:
            paths = self.lattice.labels[child][parent]
        return self.roles(child, paths)

    def roles(self, view: str, paths: tuple[Path, ...]) -> tuple[str, ...]:
        """Paths of foreign keys by the names of their roles."""
        fact = self.lattice.node(view).view.fact
        return tuple(self.lattice.warehouse.alias(fact, path) for path in paths)

    def source(self, parent: str | None, child: str) -> str:
        """The name of what is read: a summary table, or the fact."""
        return self.lattice.node(child).view.fact if parent is None else parent

    @cached_property
    def tree(self) -> Mapping[str, str | None]:
        """For every table the one under which it is shown: its chosen parent, or for a table
        without a choice its first immediate parent. Never a circle."""
        parents: dict[str, str | None] = {}
        for view in self.lattice.nodes:
            made = self.choice(view)
            covers = self.lattice.covers[view]
            parents[view] = made.parent if made else (covers[0] if covers else None)
        for view in self.lattice.nodes:
            if self.choice(view) is not None:
                continue
            seen = {view}
            above = parents[view]
            while above is not None and above not in seen:
                seen.add(above)
                above = parents[above]
            if above == view:
                parents[view] = None
        return parents

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The edges of the picture: every table's place in the tree, then its other immediate
        parents; together they never form a circle."""
        below: dict[str, set[str]] = {name: set() for name in self.lattice.nodes}
        lines = []
        for child, parent in self.tree.items():
            if parent is not None:
                below[parent].add(child)
            lines.append(self._line(parent, child, chosen=self.choice(child) is not None))
        for child, covers in self.lattice.covers.items():
            for parent in covers:
                if parent == self.tree[child]:
                    continue
                equals = self.lattice.derives(parent, child)
                if equals and _reaches(below, child, parent):
                    continue
                below[parent].add(child)
                lines.append(self._line(parent, child, chosen=False))
        return tuple(lines)

    @cached_property
    def lines_below(self) -> Mapping[str, tuple[Line, ...]]:
        """For every table the lines that leave it."""
        below: dict[str, list[Line]] = {name: [] for name in self.lattice.nodes}
        for line in self.lines:
            if line.parent is not None:
                below[line.parent].append(line)
        return {name: tuple(lines) for name, lines in below.items()}

    @cached_property
    def shown(self) -> frozenset[tuple[str | None, str]]:
        """The pairs of parent and child among the lines."""
        return frozenset((line.parent, line.child) for line in self.lines)

    def _line(self, parent: str | None, child: str, *, chosen: bool) -> Line:
        made = self.choice(child)
        known = (made.chosen, *made.runners_up) if made else ()
        candidate = next((way for way in known if way.parent == parent), None)
        return Line(parent, child, self.joins(parent, child), chosen, candidate)

    def children(self) -> dict[str | None, list[str]]:
        """The tree the other way round, in the order of declaration."""
        below: dict[str | None, list[str]] = {}
        for view, parent in self.tree.items():
            below.setdefault(parent, []).append(view)
        return below

    def way(self, view: str, candidate: Candidate) -> str:
        """A way to compute a table: what is read, and what is joined."""
        joins = self.roles(view, candidate.joins)
        source = self.source(candidate.parent, view)
        return f"{source} ⋈ {', '.join(joins)}" if joins else source

    # --- words --------------------------------------------------------------------------------

    def expression(self, view: str, expr: Expr) -> str:
        """An expression with base columns named as in the view's own definition."""
        return to_sql(expr, lambda ref: self._column(view, ref))

    def aggregate(self, view: str, index: int) -> str:
        """A stored aggregate as SQL."""
        stored = self.lattice.node(view).aggregates[index]
        return aggregate_to_sql(stored.aggregate, lambda ref: self._column(view, ref))

    def filter(self, view: str) -> str:
        """The view's filter, if it has one."""
        conditions = self.lattice.node(view).view.filter
        return conjunction_to_sql(conditions, lambda ref: self._column(view, ref))

    def _column(self, view: str, ref: ColumnRef | StoredRef) -> str:
        if isinstance(ref, StoredRef) or not ref.path:
            return quote(ref.column)
        fact = self.lattice.node(view).view.fact
        return f"{quote(self.lattice.warehouse.alias(fact, ref.path))}.{quote(ref.column)}"

    def rows_words(self, view: str) -> str:
        """``1,000 rows``."""
        return rows_phrase(self.rows(view))

    @cached_property
    def families(self) -> Mapping[str, int]:
        """The dimensions, hierarchies and columns that group-bys belong to, numbered."""
        numbers: dict[str, int] = {}
        for view, node in self.lattice.nodes.items():
            for key in node.keys:
                family = self.family(view, key.expr)
                if family is not None:
                    numbers.setdefault(family, len(numbers))
        return numbers

    def family(self, view: str, expr: Expr) -> str | None:
        """Where a group-by expression belongs: a dimension by its role, or a column of the fact."""
        fact = self.lattice.warehouse.fact(self.lattice.node(view).view.fact)
        refs = sorted(column_refs(expr), key=lambda ref: (ref.path, ref.column))
        if not refs:
            return None
        ref = refs[0]
        if ref.path:
            return ref.path[0]
        for key in fact.foreign_keys:
            if ref.column in key.columns:
                return key.name
        for hierarchy in fact.hierarchies:
            if any(ref in column_refs(level.expr) for level in hierarchy.levels):
                return hierarchy.name
        return ref.column


def measures(node: Node) -> list[str]:
    """The measures that readers see."""
    return [measure.name for measure in node.view.measures]


def hidden_columns(node: Node) -> list[str]:
    """The stored columns that readers do not see."""
    hidden = [key.name for key in node.keys if key.origin is not Origin.DECLARED]
    return hidden + [agg.name for agg in node.aggregates if agg.origin is not Origin.DECLARED]


def _reaches(below: Mapping[str, set[str]], start: str, goal: str) -> bool:
    seen = {start}
    frontier = [start]
    while frontier:
        here = frontier.pop()
        if here == goal:
            return True
        fresh = below[here] - seen
        seen |= fresh
        frontier += fresh
    return False
