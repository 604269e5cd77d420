"""The materialization decision: which parts of a query become maps (5.1, Figure 2).

A monomial is cut into the part that changes with every event (changes, trigger arguments, and
what depends on them) and the rest. The rest falls into components that share no variable
except known ones; each becomes a map (rule 1). Conditions and values that need a variable from
outside a component stay outside its map (rule 3: input variables). A nested aggregate joins the
component that binds its variables when its own changes are few; where they are not, or where
it is changing itself, it stays outside, what it aggregates becomes a map of its own (rule 4:
decorrelation), and it is evaluated when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import assert_never

from cubekeeper.live.calculus.build import (
    add,
    exists,
    extreme,
    factors,
    lift,
    mul,
    split_coefficient,
    sum_over,
)
from cubekeeper.live.calculus.nodes import (
    Add,
    Atom,
    AtomKind,
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
from cubekeeper.live.calculus.variables import Names, free, modes, needed, produced, walk

NESTED = (Lift, Extreme, Exists)


@dataclass(frozen=True)
class Materializer:
    """Turns queries over relations into queries over maps; `declare` names the maps."""

    declare: Callable[[Query], Query]
    is_kept: Callable[[Query], bool]
    args: Names = frozenset()
    decompose: bool = True
    inline_nested: bool = False
    fired: set[str] = field(default_factory=set, compare=False)

    def materialize(self, query: Query, known: Names = frozenset()) -> Query:
        """The query over maps; `known` are the variables that come from outside."""
        if isinstance(query, Add):
            return add(*(self.materialize(term, known) for term in query.terms))
        if not has_relation(query):
            return query
        coefficient, rest = split_coefficient(query)
        if coefficient != 1:
            return mul(Const(coefficient), self.materialize(rest, known))
        over = query.over if isinstance(query, Sum) else ()
        parts = factors(query.body if isinstance(query, Sum) else query)
        if isinstance(query, Sum) and isinstance(query.body, Add):
            return sum_over(over, self.materialize(query.body, known))
        return self._monomial(query, over, parts, known)

    def _monomial(
        self, query: Query, over: tuple[str, ...], parts: tuple[Query, ...], known: Names
    ) -> Query:
        stable = [part for part in parts if self._is_stable(part)]
        outside = [part for part in parts if part not in stable]
        given = known | _found(outside, known)
        components, left = _components(stable, given)
        outside += left
        if not self.decompose and len(components) > 1:
            components = [[part for component in components for part in component]]
        with_atoms = [c for c in components if any(isinstance(p, Atom) for p in c)]
        if len(with_atoms) > 1:
            self.fired.add("decomposition")
        if any(isinstance(part, Cond | Value) for part in left):
            self.fired.add("input variables")
        for component in components:
            if component not in with_atoms:
                outside += component
        inside = [self._stored(c, [*outside, *_others(with_atoms, c)], query) for c in with_atoms]
        bound = known | free(mul(*outside, *inside))
        return sum_over(over, mul(*(self._outside(p, bound) for p in outside), *inside))

    def _is_stable(self, part: Query) -> bool:
        """Whether a part may belong to a map."""
        if any(
            isinstance(node, Atom) and node.kind is not AtomKind.RELATION for node in walk(part)
        ):
            return False
        if not isinstance(part, NESTED):
            return True
        return not (self.inline_nested or free(part) & self.args) and self.is_kept(part)

    def _stored(self, component: list[Query], others: list[Query], query: Query) -> Query:
        """The map of a component, keyed by what the others and the result read."""
        body = mul(*component)
        read = free(query).union(*(free(other) for other in others))
        return self.declare(sum_over(sorted(free(body) - read), body))

    def _outside(self, part: Query, known: Names) -> Query:
        """A part that stays outside; what is nested in it is materialized in turn."""
        if not has_relation(part):
            return part
        if isinstance(part, NESTED):
            self.fired.add("decorrelation")
        inner = replace(self, inline_nested=False)
        match part:
            case Lift(var, body):
                return lift(var, inner.materialize(body, known & free(body)))
            case Extreme(var, least, key, body):
                stored = inner.materialize(body, known & free(body) - {key.column})
                return extreme(var, key, stored, least=least)
            case Exists(body):
                return exists(inner.materialize(body, frozenset()))
            case Mul() | Add() | Sum():
                return self.materialize(part, known)
            case Atom() | Const() | Value() | Cond() | Let():
                return part
            case _:
                assert_never(part)


def has_relation(query: Query) -> bool:
    """Whether a query reads a relation."""
    return any(isinstance(n, Atom) and n.kind is AtomKind.RELATION for n in walk(query))


def _found(outside: list[Query], known: Names) -> Names:
    """What the parts outside bind."""
    return produced([part for part in outside if not has_relation(part)], known)


def _others(components: list[list[Query]], one: list[Query]) -> list[Query]:
    return [part for component in components if component is not one for part in component]


def _components(stable: list[Query], given: Names) -> tuple[list[list[Query]], list[Query]]:
    """Groups of parts that share variables which are not given, and what fits into none.

    A part that reads (rather than finds) variables joins the groups that find all of them.
    """
    given = given | _given_lets(stable, given)
    finders = [p for p in stable if isinstance(p, Atom | Exists) and not modes(p)[0]]
    groups: list[list[Query]] = []
    for part in finders:
        groups = _join(groups, part, given)
    pending = [p for p in stable if p not in finders]
    while ready := next((p for p in pending if _fits(p, groups, given)), None):
        pending.remove(ready)
        groups = _join(groups, ready, given)
    return groups, pending


def _fits(part: Query, groups: list[list[Query]], given: Names) -> bool:
    """Whether groups find all that a part reads; what reads nothing but known things stays out."""
    reads = modes(part)[0]
    if reads <= given:
        return False
    touching = [g for g in groups if _finds(g) & (reads - given)]
    return reads <= frozenset[str]().union(*map(_finds, touching))


def _finds(group: list[Query]) -> Names:
    return produced(group, frozenset())


def _join(groups: list[list[Query]], new: Query, given: Names) -> list[list[Query]]:
    touching = [g for g in groups if free(mul(*g)) & (free(new) - given)]
    rest = [g for g in groups if g not in touching]
    return [*rest, [*(part for group in touching for part in group), new]]


def _given_lets(stable: list[Query], given: Names) -> Names:
    """Variables computed from known ones only."""
    found: Names = frozenset()
    for _ in stable:
        for part in stable:
            if isinstance(part, Let) and needed(part) <= given | found:
                found |= {part.var.column}
    return found


def over_base_tables(query: Query, declare: Callable[[Query], Query]) -> Query:
    """The query with every relation read from a map that is a copy of it."""

    def change(part: Query) -> Query:
        return over_base_tables(part, declare)

    match query:
        case Atom(AtomKind.RELATION, _, vars):
            named = tuple(replace(v, column=f"c{i}") for i, v in enumerate(vars))
            stored = declare(replace(query, vars=named))
            assert isinstance(stored, Atom)
            return replace(stored, vars=vars)
        case Mul(parts):
            return mul(*map(change, parts))
        case Add(parts):
            return add(*map(change, parts))
        case Sum(over, body):
            return sum_over(over, change(body))
        case Lift(var, body):
            return lift(var, change(body))
        case Extreme(var, least, key, body):
            return extreme(var, key, change(body), least=least)
        case Exists(body):
            return exists(change(body))
        case _:
            return query


def finds_all(query: Query) -> bool:
    """Whether a query can be evaluated on its own, and so can be a map."""
    return not modes(query)[0]
