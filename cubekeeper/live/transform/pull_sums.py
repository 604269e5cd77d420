"""Pull grouping sums out of products: a * Sum(b) is Sum(a * b) when names are kept apart."""

from __future__ import annotations

from cubekeeper.live.calculus.build import mul, sum_over
from cubekeeper.live.calculus.nodes import Mul, Query, Sum
from cubekeeper.live.calculus.substitution import rename_locals
from cubekeeper.live.calculus.variables import free


def pull_sums(query: Query) -> Query | None:
    """A product with sums inside becomes a sum over a product.

    >>> from cubekeeper.live.calculus.build import relation, var
    >>> from cubekeeper.live.calculus.text import to_text
    >>> r = relation("R", var("x"))
    >>> to_text(pull_sums(mul(r, sum_over(["x"], r))))
    'Sum[x](R(x) * R(x_1))'
    """
    if isinstance(query, Sum) and isinstance(query.body, Sum):
        return _merged(query.over, query.body)
    if not isinstance(query, Mul) or not any(isinstance(f, Sum) for f in query.factors):
        return None
    taken = set(free(query))
    over: list[str] = []
    parts: list[Query] = []
    for factor in query.factors:
        if isinstance(factor, Sum):
            names, body = _apart(factor, taken)
            over += names
            taken |= set(names) | free(body)
            parts.append(body)
        else:
            parts.append(factor)
    return sum_over(over, mul(*parts))


def _merged(outer: tuple[str, ...], inner: Sum) -> Query:
    names, body = _apart(inner, set(outer) | free(inner))
    return sum_over((*outer, *names), body)


def _apart(inner: Sum, taken: set[str]) -> tuple[tuple[str, ...], Query]:
    clashing = [name for name in inner.over if name in taken]
    return rename_locals(inner.over, inner.body, clashing, taken | free(inner.body))
