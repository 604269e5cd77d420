"""How a query changes when its relations change: delta(Q)(D, dD) = Q(D + dD) - Q(D).

One function, one arm for each node. What a relation atom changes by is given by the caller, so the
same arms serve a batch (a relation-valued change) and a single tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from cubekeeper.live.calculus.build import (
    add,
    const,
    delta_relation,
    exists,
    extreme,
    let,
    lift,
    mul,
    neg,
    sum_over,
)
from cubekeeper.live.calculus.nodes import (
    ZERO,
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
    Var,
)
from cubekeeper.live.transform.domain import domain, either

NESTED = (Lift, Extreme, Exists)

Change = Callable[[Atom], Query]
"""What is added to a relation atom; 0 where the relation does not change."""


def batch(relation: str) -> Change:
    """One relation changes by a collection of rows with signed multiplicities."""

    def change(atom: Atom) -> Query:
        return delta_relation(atom.name, *atom.vars) if atom.name == relation else ZERO

    return change


def single(relation: str, args: Sequence[Var], sign: int) -> Change:
    """One row is inserted (sign 1) or deleted (sign -1): ±(x1 is a1) * (x2 is a2) * …"""

    def change(atom: Atom) -> Query:
        if atom.name != relation:
            return ZERO
        row = (let(x, arg) for x, arg in zip(atom.vars, args, strict=True))
        return mul(const(sign), *row)

    return change


def delta(query: Query, change: Change) -> Query:
    """The change of a query.

    >>> from cubekeeper.live.calculus.build import relation, var
    >>> from cubekeeper.live.calculus.text import to_text
    >>> q = mul(relation("R", var("x")), relation("S", var("x")))
    >>> to_text(delta(q, batch("R")))
    'delta R(x) * S(x)'
    """
    match query:
        case Const() | Value() | Cond() | Let():
            return ZERO  # they read no relation
        case Atom(kind):
            return change(query) if kind is AtomKind.RELATION else ZERO
        case Mul(factors):
            return _product(factors, change)
        case Add(terms):
            return add(*(delta(term, change) for term in terms))  # linear
        case Sum(over, body):
            return sum_over(over, delta(body, change))  # linear
        case Lift() | Extreme() | Exists():
            return _renewed((query,), change)
        case _:
            assert_never(query)


def _product(factors: tuple[Query, ...], change: Change) -> Query:
    """(a + da)(b + db) - ab = da·b + a·db + da·db; nested queries are taken together, as one b."""
    nested = tuple(f for f in factors if isinstance(f, NESTED) and delta(f, change) != ZERO)
    plain = [f for f in factors if f not in nested]
    if not plain:
        return _renewed(nested, change)
    first, rest = plain[0], (*plain[1:], *nested)
    da = delta(first, change)
    if not rest:
        return da
    db = _product(rest, change)
    return add(mul(da, *rest), mul(first, db), mul(da, db))


def _renewed(nested: tuple[Lift | Extreme | Exists, ...], change: Change) -> Query:
    """f(Q + dQ) - f(Q), which is 0 where dQ is: so it is restricted to the domain of dQ."""
    deltas = [delta(node.body, change) for node in nested]
    if all(inner == ZERO for inner in deltas):
        return ZERO
    new = [_over(node, add(node.body, d)) for node, d in zip(nested, deltas, strict=True)]
    places = [domain(sum_over(_local(n), d)) for n, d in zip(nested, deltas, strict=True)]
    return mul(either(places), add(mul(*new), neg(mul(*nested))))


def _over(node: Lift | Extreme | Exists, body: Query) -> Query:
    match node:
        case Lift(x, _):
            return lift(x, body)
        case Extreme(x, least, key, _):
            return extreme(x, key, body, least=least)
        case Exists():
            return exists(body)


def _local(node: Lift | Extreme | Exists) -> tuple[str, ...]:
    return (node.key.column,) if isinstance(node, Extreme) else ()
