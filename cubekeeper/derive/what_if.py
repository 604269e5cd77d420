"""What the nightly batch and the queries would cost with other summary tables."""

from __future__ import annotations

from dataclasses import dataclass

from cubekeeper.derive.parents import choose
from cubekeeper.lattice.choice import Maintenance
from cubekeeper.lattice.model import Lattice
from cubekeeper.lattice.what_if import Figures, ViewDifference, ViewFigures, WhatIf
from cubekeeper.statistics.changes import Changes
from cubekeeper.statistics.model import Statistics


def what_if(
    before: Lattice,
    after: Lattice,
    statistics: Statistics,
    changes: Changes | None = None,
) -> WhatIf:
    """Compare two lattices over the same base tables, for the same changes and queries.

    The queries on a table that only one of them has are asked of both: where it is missing, the
    smallest table answers from which it can be derived where it is not.
    """
    sides = (
        _Side(before, after, choose(before, statistics, changes), statistics),
        _Side(after, before, choose(after, statistics, changes), statistics),
    )
    names = [*before.nodes, *(name for name in after.nodes if name not in before.nodes)]
    views = [ViewDifference(name, *(side.view(name) for side in sides)) for name in names]
    return WhatIf(
        added=tuple(name for name in after.nodes if name not in before.nodes),
        dropped=tuple(name for name in before.nodes if name not in after.nodes),
        before=sides[0].figures([view.before for view in views]),
        after=sides[1].figures([view.after for view in views]),
        views=tuple(view for view in views if view.before != view.after),
        unit=sides[0].maintenance.weights.unit,
    )


@dataclass(frozen=True)
class _Side:
    """One of the two lattices, with the other to look up what only that one has."""

    lattice: Lattice
    other: Lattice
    maintenance: Maintenance
    statistics: Statistics

    def figures(self, views: list[ViewFigures]) -> Figures:
        return Figures(
            propagate=self.maintenance.propagate_cost,
            window=self.maintenance.window_cost,
            space=sum(view.space for view in views),
            queries=sum(view.query_cost for view in views),
        )

    def view(self, name: str) -> ViewFigures:
        answered_by, rows = self._answer(name)
        often = self.statistics.view(name).queries
        query_cost = self.maintenance.weights.read * rows * (1.0 if often is None else often)
        mode, parent, cost = self._maintained(name)
        size = self.maintenance.sizes.views.get(name)
        space = size.rows if size else 0.0
        return ViewFigures(mode, parent, cost, space, query_cost, answered_by)

    def _answer(self, name: str) -> tuple[str | None, float]:
        home = self.lattice if name in self.lattice.nodes else self.other
        sizes = self.maintenance.sizes
        answers = [p for p in (name, *home.labels[name]) if p in sizes.views]
        fact = sizes.tables[home.nodes[name].view.fact].rows
        best = min(answers, key=lambda p: sizes.views[p].rows, default=None)
        if best is None or sizes.views[best].rows >= fact:
            return None, fact
        return best, sizes.views[best].rows

    def _maintained(self, name: str) -> tuple[str | None, str | None, float]:
        maintenance = self.maintenance
        if name in maintenance.deltas.by_view:
            choice = maintenance.deltas.by_view[name]
            again = maintenance.recomputations.get(name)
            return "delta", choice.parent, choice.chosen.cost + (again.cost if again else 0.0)
        if name in maintenance.rebuilds.by_view:
            choice = maintenance.rebuilds.by_view[name]
            return "rebuild", choice.parent, choice.chosen.cost
        return ("untouched" if name in self.lattice.nodes else None), None, 0.0
