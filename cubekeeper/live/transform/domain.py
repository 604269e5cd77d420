"""Where a change can matter: an indicator that is 1 wherever a query is not 0.

It is made of what is cheap to know: conditions, values of variables, and the changed rows. Stored
relations are left out, so the domain may be larger than the support, never smaller.
"""

from __future__ import annotations

from typing import assert_never

from cubekeeper.live.calculus.build import add, exists, factors, mul, sum_over
from cubekeeper.live.calculus.nodes import (
    ONE,
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
)
from cubekeeper.live.calculus.variables import Names, free, produced


def domain(query: Query) -> Query:
    """An indicator that covers the support of a query.

    >>> from cubekeeper.live.calculus.build import delta_relation, relation, var
    >>> from cubekeeper.live.calculus.text import to_text
    >>> x, y = var("x"), var("y")
    >>> to_text(domain(sum_over(["y"], mul(delta_relation("R", x, y), relation("S", y)))))
    'Exists(Sum[x](Exists(delta R(x, y))))'
    """
    match query:
        case Const(value):
            return ONE if value else ZERO
        case Value() | Lift() | Extreme():
            return ONE
        case Cond() | Let():
            return query
        case Atom(kind):
            return exists(query) if kind is AtomKind.DELTA else ONE
        case Mul(parts):
            return mul(*map(domain, parts))
        case Add(terms):
            return either([domain(term) for term in terms])
        case Sum(over, body):
            return _projected(domain(body), frozenset(over))
        case Exists(body):
            return domain(body)
        case _:
            assert_never(query)


def _projected(inside: Query, local: Names) -> Query:
    """Drop conditions on local variables, and what speaks of those that nothing here finds."""
    parts = factors(inside)
    while True:
        found = produced(parts, free(inside) - local)
        kept = tuple(
            part
            for part in parts
            if free(part) & local <= found and not (isinstance(part, Cond) and free(part) & local)
        )
        if kept == parts:
            break
        parts = kept
    outer = [part for part in parts if not free(part) & local]
    inner = [part for part in parts if free(part) & local]
    return mul(*outer, exists(sum_over(sorted(local), mul(*inner))))


def either(domains: list[Query]) -> Query:
    """The union of domains: what all of them say, or a sum over the variables they share."""
    distinct = list(dict.fromkeys(domains))
    if len(distinct) == 1:
        return distinct[0]
    common = [part for part in factors(distinct[0]) if all(part in factors(d) for d in distinct)]
    rests = [mul(*(p for p in factors(d) if p not in common)) for d in distinct]
    if ONE in rests:
        return mul(*common)
    shared = frozenset.intersection(*map(free, rests))
    narrowed = [_projected(rest, free(rest) - shared) for rest in rests]
    if ONE in narrowed or any(not free(n) >= shared for n in narrowed):
        return mul(*common)
    return mul(*common, exists(add(*narrowed)))
