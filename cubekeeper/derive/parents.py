"""Choosing for every summary table how it is brought up to date, and from which parent.

`modes` decides by the cost model of `candidates`; here the decision is written down with its
figures, the next best ways and the edges to run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cubekeeper.derive.arborescence import WayIn, parents_first
from cubekeeper.derive.candidates import CostModel, Ways
from cubekeeper.derive.edges import build_edge
from cubekeeper.derive.modes import Decision, decide
from cubekeeper.derive.reach import reached
from cubekeeper.derive.recompute import recomputations
from cubekeeper.derive.sizes import estimate_sizes
from cubekeeper.errors import InternalError
from cubekeeper.lattice.choice import Candidate, Choice, Choices, Maintenance, Recomputation
from cubekeeper.lattice.model import Edge, Lattice
from cubekeeper.statistics.changes import Changes
from cubekeeper.statistics.model import CostWeights, Statistics
from cubekeeper.warehouse.model import Policy

RUNNERS_UP: Final = 5

EdgeBuilder = Callable[[Lattice, str | None, str], Edge]


def choose(
    lattice: Lattice,
    statistics: Statistics,
    changes: Changes | None = None,
    *,
    weights: CostWeights | None = None,
    edge: EdgeBuilder = build_edge,
) -> Maintenance:
    """How every summary table is brought up to date after some changes (by default the usual)."""
    sizes = estimate_sizes(lattice, statistics, changes)
    weights = statistics.weights if weights is None else weights
    return maintain(CostModel(lattice, sizes, weights), edge)


def maintain(model: CostModel, edge: EdgeBuilder = build_edge) -> Maintenance:
    """How every summary table is brought up to date, by a cost model with all its sizes."""
    lattice, sizes = model.lattice, model.sizes
    again = recomputations(model)
    decision = decide(model, again)
    writer = _Writer(model, decision, edge)
    rebuilds = writer.rebuilds()
    return Maintenance(
        sizes=sizes,
        weights=model.weights,
        reached=reached(lattice, sizes.changes),
        deltas=writer.deltas(),
        rebuilds=rebuilds,
        reasons={
            name: decision.forced.get(name) or _cheaper(model, choice, again.get(name))
            for name, choice in rebuilds.by_view.items()
        },
        recomputations={name: again[name] for name in decision.deltas if name in again},
        untouched=tuple(name for name in lattice.nodes if name not in sizes.deltas),
    )


def _cheaper(model: CostModel, choice: Choice, again: Recomputation | None) -> str:
    """Why a table is rebuilt that could have a delta."""
    unit = model.weights.unit
    if choice.instead is None:
        raise InternalError("no-reason", f"`{choice.view}` is rebuilt without a reason")
    delta = choice.instead.cost + (again.cost if again else 0.0)
    if delta > choice.chosen.cost:
        rest = ", its refresh and its MIN/MAX groups" if again else " and its refresh"
        return f"cheaper: {choice.chosen.cost:,.0f} {unit}, a delta{rest} {delta:,.0f}"
    return "cheaper together with other tables: what they need is rebuilt anyway"


@dataclass(frozen=True)
class _Writer:
    """Turns a decision into choices that carry their figures and edges."""

    model: CostModel
    decision: Decision
    edge: EdgeBuilder

    def deltas(self) -> Choices:
        """The choices of all summary-delta tables."""
        choices = self._choices(self.decision.deltas, self.decision.delta_ways, self.model.delta)
        return Choices(choices)

    def rebuilds(self) -> Choices:
        """The choices of all tables computed anew."""
        choices = self._choices(
            self.decision.rebuilds, self.decision.rebuild_ways, self.model.rebuild
        )
        return Choices(choices)

    def _choices(
        self,
        chosen: Mapping[str, WayIn],
        ways: Ways,
        full: Callable[[str, str | None], Candidate],
    ) -> dict[str, Choice]:
        parents = {name: way.source for name, way in chosen.items()}
        order = [name for name in self.model.lattice.nodes if name in chosen]
        return {
            name: self._choice(name, chosen[name], ways[name], full)
            for name in parents_first(parents, order)
        }

    def _choice(
        self,
        name: str,
        chosen: WayIn,
        ways: Sequence[WayIn],
        full: Callable[[str, str | None], Candidate],
    ) -> Choice:
        others = [way for way in ways[: RUNNERS_UP + 1] if way.source != chosen.source]
        runners_up = tuple(full(name, way.source) for way in others[:RUNNERS_UP])
        return Choice(
            view=name,
            chosen=full(name, chosen.source),
            runners_up=runners_up,
            edge=self.edge(self.model.lattice, chosen.source, name),
            more=len(ways) - 1 - len(runners_up),
            instead=self._instead(name),
        )

    def _instead(self, name: str) -> Candidate | None:
        """The best way of the other kind, where the policy leaves the choice to the cost."""
        node = self.model.lattice.nodes[name]
        if node.view.policy is not Policy.AUTO or not node.incremental:
            return None
        if name in self.decision.deltas:
            best = self.model.rebuild_ways([name])[name][0]
            return self.model.rebuild(name, best.source)
        best = self.model.delta_ways([name], self.decision.deltas)[name][0]
        return self.model.delta(name, best.source)
