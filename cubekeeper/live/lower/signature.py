"""Duplicate view elimination: queries that differ only in names and order have one signature."""

from __future__ import annotations

from functools import lru_cache
from typing import assert_never

from cubekeeper.live.calculus.build import var
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
from cubekeeper.live.calculus.substitution import rename_expr
from cubekeeper.live.calculus.variables import expr_vars
from cubekeeper.scalar.nodes import Expr, column_refs
from cubekeeper.scalar.order import sort_key


def signature(query: Query) -> tuple[str, tuple[str, ...]]:
    """A text that is the same for equal queries, and the free variables in its order.

    >>> from cubekeeper.live.calculus.build import mul, relation
    >>> rs = mul(relation("R", var("x")), relation("S", var("x"), var("y")))
    >>> sr = mul(relation("S", var("b"), var("a")), relation("R", var("b")))
    >>> signature(rs)[0] == signature(sr)[0], signature(sr)[1]
    (True, ('b', 'a'))
    >>> from cubekeeper.live.calculus.build import sum_over
    >>> signature(sum_over(["x"], rs))[0] == signature(sum_over(["y"], rs))[0]
    False
    """
    numbers: dict[str, str] = {}
    text = _written(query, numbers, [0])
    return text, tuple(numbers)


@lru_cache(maxsize=100_000)
def _skeleton(query: Query) -> str:
    """The query without the names of its variables."""
    return _written(query, None, [0])


def _written(query: Query, numbers: dict[str, str] | None, counter: list[int]) -> str:
    def name(variable: str) -> str:
        if numbers is None:
            return "_"
        if variable not in numbers:
            counter[0] += 1
            numbers[variable] = f"v{counter[0]}"
        return numbers[variable]

    def scalar(expr: Expr) -> str:
        if numbers is None:
            return sort_key(_blank(expr))
        for variable in _in_order(expr):
            name(variable)
        refs = {ref.column: ref for ref in column_refs(expr)}
        new = {n: var(numbers[n], ref.type, nullable=ref.nullable) for n, ref in refs.items()}
        return sort_key(rename_expr(expr, new))

    def inside(body: Query, local: tuple[str, ...]) -> str:
        if numbers is None:
            return _skeleton(body)
        inner = {n: number for n, number in numbers.items() if n not in local}
        text = _written(body, inner, counter)
        numbers.update({n: number for n, number in inner.items() if n not in local})
        summed = sorted(inner[n] for n in local if n in inner)
        return f"{text} over {','.join(summed)}" if summed else text

    match query:
        case Const(value):
            return str(value)
        case Value(expr):
            return f"{{{scalar(expr)}}}"
        case Cond(expr):
            return f"[{scalar(expr)}]"
        case Atom(kind, relation, vars):
            return f"{kind.value} {relation}({','.join(name(v.column) for v in vars)})"
        case Mul(parts):
            ordered = sorted(parts, key=_skeleton)
            return " * ".join(_written(part, numbers, counter) for part in ordered)
        case Add(parts):
            ordered = sorted(parts, key=_skeleton)
            return f"({' + '.join(_written(part, numbers, counter) for part in ordered)})"
        case Sum(over, body):
            return f"Sum({inside(body, over)})"
        case Let(v, expr):
            return f"({scalar(expr)} is {name(v.column)})"
        case Lift(v, body):
            return f"({inside(body, ())} := {name(v.column)}:{v.type})"
        case Extreme(v, least, key, body):
            return f"({inside(body, (key.column,))} {least} {name(v.column)})"
        case Exists(body):
            return f"Exists({inside(body, ())})"
        case _:
            assert_never(query)


def _blank(expr: Expr) -> Expr:
    refs = {ref.column: ref for ref in column_refs(expr)}
    return rename_expr(
        expr, {n: var("_", ref.type, nullable=ref.nullable) for n, ref in refs.items()}
    )


def _in_order(expr: Expr) -> list[str]:
    """The variables of an expression by where they stand, not by their names."""
    return sorted(expr_vars(expr), key=lambda n: (_places(expr, n), n))


def _places(expr: Expr, name: str) -> str:
    refs = {ref.column: ref for ref in column_refs(expr)}
    new = {n: var("!" if n == name else "_", ref.type) for n, ref in refs.items()}
    return sort_key(rename_expr(expr, new))
