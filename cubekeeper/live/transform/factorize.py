"""Factorization (Figure 2, rule 2, from right to left): common factors of a sum are taken out."""

from __future__ import annotations

from cubekeeper.live.calculus.build import add, factors, mul, split_coefficient
from cubekeeper.live.calculus.nodes import Add, Const, Query


def factorize(query: Query) -> Query | None:
    """``a * b + a * c`` is ``a * (b + c)``.

    >>> from cubekeeper.live.calculus.build import relation
    >>> from cubekeeper.live.calculus.text import to_text
    >>> r, s, t = relation("R"), relation("S"), relation("T")
    >>> to_text(factorize(add(mul(r, s), mul(r, t))))
    'R() * (S() + T())'
    """
    if not isinstance(query, Add):
        return None
    first = factors(split_coefficient(query.terms[0])[1])
    common = [f for f in first if all(f in factors(term) for term in query.terms[1:])]
    common = [f for f in dict.fromkeys(common) if not isinstance(f, Const)]
    if not common:
        return None
    return mul(*common, add(*(_without(term, common) for term in query.terms)))


def _without(term: Query, common: list[Query]) -> Query:
    rest = list(factors(term))
    for factor in common:
        rest.remove(factor)
    return mul(*rest)
