"""Variable elimination by unification: equal variables become one, and known ones disappear."""

from __future__ import annotations

from cubekeeper.live.calculus.build import cond, factors, mul, sum_over
from cubekeeper.live.calculus.nodes import Cond, Let, Query, Sum, Var
from cubekeeper.live.calculus.substitution import substitute
from cubekeeper.live.calculus.variables import Names
from cubekeeper.scalar.build import call
from cubekeeper.scalar.nodes import Call, ColumnRef
from cubekeeper.schema import DataType, Kind


def unify(query: Query) -> Query | None:
    """Under a sum, ``[x = y]`` with a local x puts y in its place; so does ``(x is {y})``.

    NULL equals nothing: where both can be NULL, y must not be.

    >>> from cubekeeper.live.calculus.build import relation, var
    >>> from cubekeeper.live.calculus.text import to_text
    >>> x, y = var("x", nullable=True), var("y", nullable=True)
    >>> joined = mul(relation("R", x), relation("S", y), cond(call("=", x, y)))
    >>> to_text(unify(sum_over(["x"], joined)))
    'R(y) * S(y) * [y IS NOT NULL]'
    """
    if not isinstance(query, Sum):
        return None
    parts, local = factors(query.body), frozenset(query.over)
    for index, part in enumerate(parts):
        found = _equal(part, local)
        if found is not None:
            gone, kept, extra = found
            rest = mul(*parts[:index], *parts[index + 1 :])
            return sum_over(query.over, mul(substitute(rest, {gone: kept}), extra))
    return None


def _equal(part: Query, local: Names) -> tuple[str, Var, Query] | None:
    """A local variable, what it is equal to, and what remains to be said."""
    match part:
        case Let(x, ColumnRef() as y) if x.column in local:
            return x.column, y, mul()
        case Let(x, ColumnRef() as y) if y.column in local:
            return y.column, x, mul()
        case Cond(Call("=", (ColumnRef() as x, ColumnRef() as y))) if alike(x.type, y.type):
            gone, kept = _choice(x, y, local)
            known = cond(call("not", call("is_null", kept)))
            if gone.column in local:
                return gone.column, kept, known if gone.nullable else mul()
        case Cond(Call("<=>", (ColumnRef() as x, ColumnRef() as y))) if alike(x.type, y.type):
            gone, kept = _choice(x, y, local)
            if gone.column in local:
                return gone.column, kept, mul()
        case _:
            pass
    return None


def _choice(x: Var, y: Var, local: Names) -> tuple[Var, Var]:
    """Which of two equal variables goes: a local one, rather one that can be NULL."""
    both = x.column in local and y.column in local
    if both:
        return (x, y) if x.nullable and not y.nullable else (y, x)
    return (x, y) if x.column in local else (y, x)


def alike(left: DataType, right: DataType) -> bool:
    """Whether equal values of two types are the same value."""
    if left == right:
        return True
    exact = (Kind.TINYINT, Kind.SMALLINT, Kind.INT, Kind.BIGINT, Kind.DECIMAL)
    return left.kind in exact and right.kind in exact
