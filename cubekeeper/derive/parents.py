"""Choosing for every summary table how it is brought up to date, and from which parent.

The choice minimises the total price of the cost model in `candidates`: for deltas exactly, over
all assignments of parents (`arborescence`). Whether a table of policy `auto` is rebuilt instead is
decided by a search that starts from deltas for all and keeps what lowers the total.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

from cubekeeper.derive.arborescence import WayIn, cheapest_parents, parents_first
from cubekeeper.derive.candidates import CostModel, Way
from cubekeeper.derive.edges import build_edge
from cubekeeper.derive.reach import reached
from cubekeeper.derive.recompute import recomputations
from cubekeeper.derive.sizes import estimate_sizes
from cubekeeper.errors import InternalError, UnsupportedError
from cubekeeper.lattice.choice import Candidate, Choice, Choices, Maintenance, Recomputation
from cubekeeper.lattice.model import Edge, Lattice, Node
from cubekeeper.statistics.changes import Changes
from cubekeeper.statistics.model import CostWeights, Statistics
from cubekeeper.warehouse.model import Policy

RUNNERS_UP: Final = 5

EdgeBuilder = Callable[[Lattice, str | None, str], Edge]
Ways = Mapping[str, Sequence[WayIn]]
"""For each table its ways in, the base among them."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How every table is maintained: the way chosen for each, and all there were.

    `forced` says why some must be rebuilt.
    """

    deltas: Mapping[str, WayIn]
    rebuilds: Mapping[str, WayIn]
    delta_ways: Ways
    rebuild_ways: Ways
    forced: Mapping[str, str]


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


# --- ways ---------------------------------------------------------------------------------------


def delta_ways(model: CostModel, names: Collection[str]) -> Ways:
    """The ways to compute the deltas of some tables, from each other's or from the base.

    A table that the changes do not reach is as good a source as the base: its delta is empty.
    """
    reached_but_rebuilt = model.sizes.deltas.keys() - set(names)
    return {name: _ways_into(model, name, model.delta_way, reached_but_rebuilt) for name in names}


def rebuild_ways(model: CostModel, names: Iterable[str]) -> Ways:
    """The ways to compute some tables anew, from any table above or from the base."""
    return {name: _ways_into(model, name, model.rebuild_way, frozenset()) for name in names}


def _ways_into(
    model: CostModel,
    child: str,
    price: Callable[[str, str | None], Way],
    barred: Collection[str],
) -> list[WayIn]:
    rank = model.rank
    base = price(child, None)
    ways = [WayIn(base.cost, base.joins, -1, None)]
    for parent in model.lattice.labels[child]:
        if parent not in barred:
            way = price(child, parent)
            ways.append(WayIn(way.cost, way.joins, rank[parent], parent))
    return ways


# --- deciding -----------------------------------------------------------------------------------


def decide(model: CostModel, again: Mapping[str, Recomputation]) -> Decision:
    """Choose between delta and rebuild for every table that the changes reach, and the parents."""
    nodes = {name: model.lattice.nodes[name] for name in model.sizes.deltas}
    forced = {name: why for name, node in nodes.items() if (why := _must_rebuild(node))}
    auto = {
        name
        for name, node in nodes.items()
        if name not in forced and node.view.policy is Policy.AUTO
    }
    ways = delta_ways(model, [name for name in nodes if name not in forced])
    return _Search(model, forced, ways, again).best(auto)


def _must_rebuild(node: Node) -> str | None:
    if node.incremental:
        return "policy: full" if node.view.policy is Policy.FULL else None
    reason = "; ".join(node.rebuild_reasons)
    if node.view.policy is Policy.INCREMENTAL_STRICT:
        raise UnsupportedError(
            "strict-rebuild",
            f"`{node.name}` has policy incremental_strict, but can only be rebuilt: {reason}",
            span=node.view.span,
            hint="change its policy to `auto`, or its aggregates",
        )
    return reason


@dataclass(frozen=True)
class _Search:
    """The search for the tables that are better rebuilt."""

    model: CostModel
    forced: Mapping[str, str]
    ways: Ways
    again: Mapping[str, Recomputation]

    def best(self, auto: Collection[str]) -> Decision:
        """The cheapest of: deltas for all, what the search finds, rebuilding all that may pay."""
        start = self._decision(frozenset())
        # writing a table anew is only a part of rebuilding it
        may_pay = frozenset(
            name
            for name in auto
            if self.model.rebuild_write(name) < self._delta_cost(name, start.deltas[name])
        )
        if not may_pay:
            return start
        options = [start, self._decision(self._switched(start, may_pay)), self._decision(may_pay)]
        return min(options, key=self._total)

    def _switched(self, start: Decision, may_pay: Collection[str]) -> frozenset[str]:
        """Rebuild a table if that saves more than the deltas below it lose; those come first."""
        switched: set[str] = set()
        parents = {name: way.source for name, way in start.deltas.items()}
        below: dict[str, list[str]] = {name: [] for name in parents}
        for name, parent in parents.items():
            if parent in below:
                below[parent].append(name)
        anew = rebuild_ways(self.model, may_pay)
        for name in reversed(parents_first(parents, parents)):
            if name not in may_pay:
                continue
            saved = self._delta_cost(name, start.deltas[name])
            saved -= self._rebuild_cost(name, min(anew[name]))
            lost = 0.0
            for child in below[name]:
                if child not in switched:
                    others = (w for w in self.ways[child] if w.source not in {name, *switched})
                    lost += min(others).cost - start.deltas[child].cost
            if saved > lost:
                switched.add(name)
        return frozenset(switched)

    def _decision(self, switched: Collection[str]) -> Decision:
        deltas = {
            name: [way for way in ways if way.source not in switched] if switched else ways
            for name, ways in self.ways.items()
            if name not in switched
        }
        anew = rebuild_ways(
            self.model, [n for n in self.model.sizes.deltas if n in self.forced or n in switched]
        )
        return Decision(
            deltas=cheapest_parents(deltas),
            rebuilds=cheapest_parents(anew),
            delta_ways=deltas,
            rebuild_ways=anew,
            forced=self.forced,
        )

    def _delta_cost(self, name: str, way: WayIn) -> float:
        again = self.again.get(name)
        return way.cost + self.model.delta_write(name) + (again.cost if again else 0.0)

    def _rebuild_cost(self, name: str, way: WayIn) -> float:
        return way.cost + self.model.rebuild_write(name)

    def _total(self, decision: Decision) -> float:
        deltas = sum(self._delta_cost(name, way) for name, way in decision.deltas.items())
        return deltas + sum(
            self._rebuild_cost(name, way) for name, way in decision.rebuilds.items()
        )


# --- writing the choices down -------------------------------------------------------------------


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
        others = [way for way in nsmallest(RUNNERS_UP + 1, ways) if way.source != chosen.source]
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
            best = min(rebuild_ways(self.model, [name])[name])
            return self.model.rebuild(name, best.source)
        barred = self.decision.rebuilds.keys()
        best = min(_ways_into(self.model, name, self.model.delta_way, barred))
        return self.model.delta(name, best.source)
