"""Polynomial expansion (Figure 2, rule 2, from left to right): sums to the outside."""

from __future__ import annotations

from itertools import product
from math import prod

from cubekeeper.live.calculus.build import add, mul, sum_over, terms
from cubekeeper.live.calculus.nodes import Add, Exists, Extreme, Lift, Mul, Query, Sum


def expand(query: Query) -> Query | None:
    """A product of sums becomes a sum of products, and so does a grouping sum of a sum.

    >>> from cubekeeper.live.calculus.build import relation
    >>> from cubekeeper.live.calculus.text import to_text
    >>> r, s, t = relation("R"), relation("S"), relation("T")
    >>> to_text(expand(mul(r, add(s, t))))
    'R() * S() + R() * T()'
    """
    match query:
        case Mul(factors) if any(isinstance(f, Add) for f in factors):
            return add(*(mul(*choice) for choice in product(*map(terms, factors))))
        case Sum(over, Add(parts)):
            return add(*(sum_over(over, part) for part in parts))
        case _:
            return None


def monomials(query: Query) -> int:
    """How many products a query has when it is expanded, those in nested queries included.

    >>> from cubekeeper.live.calculus.build import relation
    >>> s, t = relation("S"), relation("T")
    >>> monomials(mul(add(s, t), add(s, t)))
    4
    """
    match query:
        case Add(parts):
            return sum(map(monomials, parts))
        case Mul(parts):
            return prod(map(monomials, parts))
        case Sum(_, body):
            return monomials(body)
        case Lift(_, body) | Extreme(_, _, _, body) | Exists(body):
            return monomials(body)
        case _:
            return 1
