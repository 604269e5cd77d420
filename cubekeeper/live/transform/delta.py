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
from cubekeeper.live.transform.domain import domain

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
            # (a + da)(b + db) - ab = da·b + a·db + da·db
            first, rest = factors[0], mul(*factors[1:])
            da, db = delta(first, change), delta(rest, change)
            return add(mul(da, rest), mul(first, db), mul(da, db))
        case Add(terms):
            return add(*(delta(term, change) for term in terms))  # linear
        case Sum(over, body):
            return sum_over(over, delta(body, change))  # linear
        case Lift(x, body):
            return _renewed(body, change, lambda new: lift(x, new))
        case Extreme(x, least, key, body):
            return _renewed(
                body, change, lambda new: extreme(x, key, new, least=least), {key.column}
            )
        case Exists(body):
            return _renewed(body, change, exists)
        case _:
            assert_never(query)


def _renewed(
    body: Query,
    change: Change,
    make: Callable[[Query], Query],
    local: frozenset[str] | set[str] = frozenset(),
) -> Query:
    """f(Q + dQ) - f(Q), which is 0 where dQ is: so it is restricted to the domain of dQ."""
    inner = delta(body, change)
    if inner == ZERO:
        return ZERO
    return mul(domain(sum_over(local, inner)), add(make(add(body, inner)), neg(make(body))))
