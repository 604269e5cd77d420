"""The pass runner: applies rules until nothing changes, and can tell what each of them did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import assert_never

from cubekeeper.errors import InternalError
from cubekeeper.live.calculus.build import add, exists, extreme, lift, mul, sum_over
from cubekeeper.live.calculus.nodes import (
    Add,
    Atom,
    Cond,
    Const,
    Exists,
    Extreme,
    Let,
    Lift,
    Mul,
    Query,
    Sum,
    Value,
)
from cubekeeper.live.calculus.variables import size

MOST_ROUNDS = 200


@dataclass(frozen=True)
class Rule:
    """A rewrite of one node; gives None where it does not apply."""

    name: str
    apply: Callable[[Query], Query | None]


@dataclass(frozen=True)
class Step:
    """One application of a rule."""

    rule: str
    before: Query
    after: Query


@dataclass
class Trace:
    """What the passes did: every step, and time and nodes by rule."""

    steps: list[Step] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    keep_steps: bool = False

    def record(self, rule: str, before: Query, after: Query, seconds: float) -> None:
        """Remember one application."""
        self.seconds[rule] = self.seconds.get(rule, 0.0) + seconds
        if self.keep_steps:
            self.steps.append(Step(rule, before, after))

    @property
    def fired(self) -> frozenset[str]:
        """The rules that changed something."""
        return frozenset(self.seconds)

    def growth(self) -> dict[str, int]:
        """By how many nodes each rule changed the queries, over all kept steps."""
        counts: dict[str, int] = {}
        for step in self.steps:
            counts[step.rule] = counts.get(step.rule, 0) + size(step.after) - size(step.before)
        return counts


def rewrite(query: Query, rules: Iterable[Rule], trace: Trace | None = None) -> Query:
    """Apply rules from the leaves up until none applies."""
    return _rewritten(query, tuple(rules), trace, {})


def _rewritten(
    query: Query, rules: tuple[Rule, ...], trace: Trace | None, done: dict[Query, Query]
) -> Query:
    known = done.get(query)
    if known is not None:
        return known
    result = query
    for _ in range(MOST_ROUNDS):
        rebuilt = rebuild(result, lambda part: _rewritten(part, rules, trace, done))
        if rebuilt != result:
            result = rebuilt
            continue
        changed = _first_change(result, rules, trace)
        if changed is None:
            break
        result = changed
    else:
        raise InternalError("no-fixpoint", f"the rules do not come to rest on {query}")
    done[query] = done[result] = result
    return result


def _first_change(query: Query, rules: tuple[Rule, ...], trace: Trace | None) -> Query | None:
    for rule in rules:
        start = perf_counter()
        changed = rule.apply(query)
        if changed is not None and changed != query:
            if trace is not None:
                trace.record(rule.name, query, changed, perf_counter() - start)
            return changed
    return None


def rebuild(query: Query, change: Callable[[Query], Query]) -> Query:
    """The same node over changed parts."""
    match query:
        case Const() | Value() | Cond() | Atom() | Let():
            return query
        case Mul(factors):
            return mul(*map(change, factors))
        case Add(terms):
            return add(*map(change, terms))
        case Sum(over, body):
            return sum_over(over, change(body))
        case Lift(var, body):
            return lift(var, change(body))
        case Extreme(var, least, key, body):
            return extreme(var, key, change(body), least=least)
        case Exists(body):
            return exists(change(body))
        case _:
            assert_never(query)
