"""Put computed values where they are used, and drop variables that nobody reads."""

from __future__ import annotations

from cubekeeper.live.calculus.build import cond, factors, let, mul, sum_over, value
from cubekeeper.live.calculus.nodes import Cond, Extreme, Let, Lift, Query, Sum, Value
from cubekeeper.live.calculus.variables import free, needed
from cubekeeper.scalar.nodes import ColumnRef, Expr, rewrite
from cubekeeper.schema import DataType


def inline(query: Query) -> Query | None:
    """Under a sum over x, ``(x is {e})`` disappears: e stands wherever x was read.

    >>> from cubekeeper.live.calculus.build import relation, var
    >>> from cubekeeper.live.calculus.text import to_text
    >>> from cubekeeper.scalar.build import call
    >>> x, y = var("x"), var("y")
    >>> twice = let(x, call("+", y, y))
    >>> to_text(inline(sum_over(["x"], mul(relation("R", y), twice, value(x)))))
    'R(y) * {y + y}'
    """
    if not isinstance(query, Sum):
        return None
    local = frozenset(query.over)
    parts = factors(query.body)
    for index, part in enumerate(parts):
        if not isinstance(part, Let | Lift | Extreme) or part.var.column not in local:
            continue
        rest = (*parts[:index], *parts[index + 1 :])
        without = _without(part, rest)
        if without is not None:
            return sum_over(query.over, without)
    return None


def _without(part: Let | Lift | Extreme, rest: tuple[Query, ...]) -> Query | None:
    name = part.var.column
    if name in needed(part):
        return None
    readers = [other for other in rest if name in free(other)]
    if not readers:
        return mul(*rest)  # the sum over x of [x = something] is 1
    if isinstance(part, Let) and all(isinstance(r, Value | Cond | Let) for r in readers):
        if any(isinstance(r, Let) and r.var.column == name for r in readers):
            return None
        return mul(*(_replaced(other, name, part.expr) for other in rest))
    if isinstance(part, Lift) and readers == [Value(part.var)] and _holds(part.var.type):
        return mul(*(part.body if other is readers[0] else other for other in rest))
    return None


def _holds(type: DataType) -> bool:
    """Whether a lifted variable of this type is the number itself."""
    return not type.is_float


def _replaced(query: Query, name: str, expr: Expr) -> Query:
    def change(old: Expr) -> Expr:
        return rewrite(
            old, lambda e: expr if isinstance(e, ColumnRef) and e.column == name else None
        )

    match query:
        case Value(old):
            return value(change(old))
        case Cond(old):
            return cond(change(old))
        case Let(var, old):
            return let(var, change(old))
        case _:
            return query
