"""What keeping one more table would save and cost, given the tables kept so far."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from cubekeeper.derive.arborescence import WayIn, cheapest_parents


@dataclass(frozen=True)
class Question:
    """Tables to choose from, with all that the answer depends on.

    `answers` lists for each table the tables whose queries it can answer, itself included.
    `asked` is what reading a whole table costs a query, `unanswered` what a query costs that no
    table answers, `queries` how often each table is asked. `upkeep` holds each table's ways to be
    maintained, from a kept table or (None) from the base, cheapest first; `refresh` is what it
    costs besides. A table without upkeep costs nothing to keep.
    """

    answers: Mapping[str, Sequence[str]]
    asked: Mapping[str, float]
    unanswered: Mapping[str, float]
    space: Mapping[str, float]
    queries: Mapping[str, float]
    upkeep: Mapping[str, Sequence[WayIn]]
    refresh: Mapping[str, float]
    unit: str = "tuple accesses"

    def query_cost(self, kept: Collection[str]) -> float:
        """What all queries cost if some tables are kept."""
        cost = dict(self.unanswered)
        for name in kept:
            for answered in self.answers[name]:
                cost[answered] = min(cost[answered], self.asked[name])
        return sum(self.queries[name] * each for name, each in cost.items())

    def maintenance(self, kept: Collection[str]) -> float:
        """What the cheapest maintenance of some kept tables costs."""
        ways = {
            name: [way for way in self.upkeep[name] if way.source is None or way.source in kept]
            for name in kept
            if name in self.upkeep
        }
        chosen = cheapest_parents(ways)
        return sum(way.cost + self.refresh[name] for name, way in chosen.items())


class State:
    """The tables kept so far. All sums are kept up to date by differences: few change at a time."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.candidates = dict.fromkeys(question.answers)
        self.answered_by: dict[str, str | None] = dict.fromkeys(question.answers)
        self._cost = dict(question.unanswered)
        self._answering: dict[str, list[str]] = {name: [] for name in question.answers}
        for name, answered in question.answers.items():
            for other in answered:
                self._answering[other].append(name)
        self._saved = {name: self._first_saved(name) for name in question.answers}
        self._least = 1e-12 * self.query_cost  # less than this is rounding
        self._own = {
            name: min((way.cost for way in ways if way.source is None), default=inf)
            for name, ways in question.upkeep.items()
        }
        self._relief = dict.fromkeys(question.answers, 0.0)
        self._sources = {
            name: frozenset(way.source for way in ways) for name, ways in question.upkeep.items()
        }
        self._fed: dict[str, list[tuple[str, float]]] = {name: [] for name in question.answers}
        for child, ways in question.upkeep.items():
            for way in ways:
                if way.source is not None:
                    self._fed[way.source].append((child, way.cost))

    def _first_saved(self, name: str) -> float:
        question = self.question
        mine = question.asked[name]
        return sum(
            question.queries[other] * max(0.0, self._cost[other] - mine)
            for other in question.answers[name]
        )

    @property
    def query_cost(self) -> float:
        """What all queries cost now."""
        return sum(self.question.queries[name] * cost for name, cost in self._cost.items())

    def saved(self, name: str) -> float:
        """What queries would cost less with this table."""
        saved = self._saved[name]
        return saved if saved > self._least else 0.0

    def added(self, name: str) -> float:
        """What maintenance would cost more: the table's own, less what it spares others."""
        if name not in self._own:
            return -self._relief[name]
        return self._own[name] + self.question.refresh[name] - self._relief[name]

    def keep(self, name: str) -> None:
        """Take a table for good."""
        del self.candidates[name]
        self._answer_from(name)
        if name in self._own:
            self._relieve(name, None, self._own[name])
        for child, cost in self._fed[name]:
            if cost < self._own[child] and not self._circular(name, child):
                if child not in self.candidates:
                    self._relieve(child, self._own[child], cost)
                self._own[child] = cost

    def _answer_from(self, name: str) -> None:
        question = self.question
        mine = question.asked[name]
        for answered in question.answers[name]:
            before = self._cost[answered]
            if mine >= before:
                continue
            self._cost[answered] = mine
            self.answered_by[answered] = name
            often = question.queries[answered]
            for other in self._answering[answered]:
                theirs = question.asked[other]
                self._saved[other] -= often * (max(0.0, before - theirs) - max(0.0, mine - theirs))

    def _relieve(self, child: str, before: float | None, after: float) -> None:
        """Tell those that could feed a kept table what they could spare it from now on."""
        for way in self.question.upkeep[child]:
            source = way.source
            if source is None or source not in self.candidates or self._circular(source, child):
                continue
            if before is not None:
                self._relief[source] -= max(0.0, before - way.cost)
            self._relief[source] += max(0.0, after - way.cost)

    def _circular(self, name: str, child: str) -> bool:
        """Whether a kept child could feed the table in turn: then it does not change its source."""
        return child not in self.candidates and child in self._sources.get(name, ())
