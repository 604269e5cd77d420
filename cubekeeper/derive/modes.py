"""Deciding which tables have a delta and which are rebuilt, and the parents of each.

Parents are chosen exactly, for deltas and for rebuilds. Whether a table of policy `auto` is rebuilt
depends on all others: its delta may feed theirs. A search goes from deltas for all towards
rebuilds and from rebuilds towards deltas, and the cheapest total that it meets is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cubekeeper.derive.arborescence import WayIn, cheapest_parents, parents_first
from cubekeeper.derive.candidates import CostModel, Ways
from cubekeeper.errors import UnsupportedError
from cubekeeper.lattice.choice import Recomputation
from cubekeeper.lattice.model import Node
from cubekeeper.warehouse.model import Policy


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


def decide(model: CostModel, again: Mapping[str, Recomputation]) -> Decision:
    """Choose between delta and rebuild for every table that the changes reach, and the parents."""
    nodes = {name: model.lattice.nodes[name] for name in model.sizes.deltas}
    forced = {name: why for name, node in nodes.items() if (why := _must_rebuild(node))}
    auto = frozenset(
        name
        for name, node in nodes.items()
        if name not in forced and node.view.policy is Policy.AUTO
    )
    ways = model.delta_ways([name for name in nodes if name not in forced])
    return _Search(model, forced, ways, again).best(auto)


def _must_rebuild(node: Node) -> str | None:
    if node.incremental:
        return None
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

    def best(self, auto: frozenset[str]) -> Decision:
        """The cheapest that is met: from deltas for all towards rebuilds, and the other way."""
        decision = self._decision(frozenset())
        met = [decision]
        rebuilt = frozenset[str]()
        while more := self._better_rebuilt(decision, auto - rebuilt, rebuilt):
            rebuilt |= more
            decision = self._decision(rebuilt)
            met.append(decision)
        for start in (rebuilt, auto) if self._may_pay(met[0], auto) else ():
            rebuilt = start
            decision = self._decision(rebuilt)
            met.append(decision)
            while fewer := self._better_by_delta(decision, rebuilt):
                rebuilt -= fewer
                decision = self._decision(rebuilt)
                met.append(decision)
        return min(met, key=self._total)

    def _better_by_delta(self, now: Decision, rebuilt: frozenset[str]) -> frozenset[str]:
        """The rebuilt tables that are cheaper by the deltas there are; no other loses by that."""
        better = set()
        for name in rebuilt:
            way = next(way for way in self.ways[name] if way.source not in rebuilt)
            if self._delta_cost(name, way) < self._rebuild_cost(name, now.rebuilds[name]):
                better.add(name)
        return frozenset(better)

    def _may_pay(self, now: Decision, auto: Iterable[str]) -> list[str]:
        """The tables whose rebuild could be cheaper: writing one anew is only a part of that."""
        return [
            name
            for name in auto
            if self.model.rebuild_write(name) < self._delta_cost(name, now.deltas[name])
        ]

    def _better_rebuilt(
        self, now: Decision, auto: frozenset[str], rebuilt: frozenset[str]
    ) -> frozenset[str]:
        """The tables whose rebuild saves more than the deltas below them lose; those come first."""
        may_pay = self._may_pay(now, auto)
        if not may_pay:
            return frozenset()
        anew = self.model.rebuild_ways(may_pay)
        parents = {name: way.source for name, way in now.deltas.items()}
        below: dict[str, list[str]] = {name: [] for name in parents}
        for name, parent in parents.items():
            if parent in below:
                below[parent].append(name)
        better: set[str] = set()
        for name in reversed(parents_first(parents, parents)):
            if name not in anew:
                continue
            saved = self._delta_cost(name, now.deltas[name])
            saved -= self._rebuild_cost(name, anew[name][0])
            without = {name, *better, *rebuilt}
            for child in below[name]:
                if child not in better:
                    other = next(way for way in self.ways[child] if way.source not in without)
                    saved -= other.cost - now.deltas[child].cost
            if saved > 0:
                better.add(name)
        return frozenset(better)

    def _decision(self, switched: Collection[str]) -> Decision:
        deltas = {
            name: [way for way in ways if way.source not in switched] if switched else ways
            for name, ways in self.ways.items()
            if name not in switched
        }
        anew = self.model.rebuild_ways(
            [n for n in self.model.sizes.deltas if n in self.forced or n in switched]
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
