"""Variables of a query: free ones, those it needs, those it finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import assert_never

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
    Var,
)
from cubekeeper.scalar.nodes import Expr, column_refs

Names = frozenset[str]
NONE: Names = frozenset()


@lru_cache(maxsize=100_000)
def expr_vars(expr: Expr) -> Names:
    """The variables that a scalar expression reads."""
    return frozenset(ref.column for ref in column_refs(expr))


def children(query: Query) -> tuple[Query, ...]:
    """The direct parts of a query."""
    match query:
        case Mul(factors=parts) | Add(terms=parts):
            return parts
        case Sum(body=body) | Lift(body=body) | Extreme(body=body) | Exists(body=body):
            return (body,)
        case _:
            return ()


def walk(query: Query) -> Iterator[Query]:
    """The query and all its parts, outermost first."""
    yield query
    for part in children(query):
        yield from walk(part)


def size(query: Query) -> int:
    """How many nodes a query has."""
    return sum(1 for _ in walk(query))


@lru_cache(maxsize=200_000)
def free(query: Query) -> Names:
    """The free variables of a query.

    >>> from cubekeeper.live.calculus.build import relation, sum_over, var
    >>> sorted(free(sum_over(["y"], relation("R", var("x"), var("y")))))
    ['x']
    """
    match query:
        case Const():
            return NONE
        case Value(expr) | Cond(expr):
            return expr_vars(expr)
        case Atom(_, _, vars):
            return frozenset(v.column for v in vars)
        case Mul(parts) | Add(parts):
            return NONE.union(*(free(part) for part in parts))
        case Sum(over, body):
            return free(body) - frozenset(over)
        case Let(v, expr):
            return expr_vars(expr) | {v.column}
        case Lift(v, body):
            return free(body) | {v.column}
        case Extreme(v, _, key, body):
            return (free(body) - {key.column}) | {v.column}
        case Exists(body):
            return free(body)
        case _:
            assert_never(query)


@lru_cache(maxsize=200_000)
def modes(query: Query) -> tuple[Names, Names]:
    """The input variables, to be known before, and the output variables, found by evaluating.

    >>> from cubekeeper.live.calculus.build import cond, mul, relation, var
    >>> from cubekeeper.scalar.build import call
    >>> q = mul(relation("R", var("x")), cond(call("<", var("x"), var("y"))))
    >>> [sorted(names) for names in modes(q)]
    [['y'], ['x']]
    """
    match query:
        case Const() | Value() | Cond():
            return free(query), NONE
        case Atom():
            return NONE, free(query)
        case Mul(factors):
            outs = produced(factors, NONE)
            return free(query) - outs, outs
        case Add(terms):
            outs = modes(terms[0])[1].intersection(*(modes(term)[1] for term in terms))
            return free(query) - outs, outs
        case Sum(over, body):
            ins, outs = modes(body)
            return ins - frozenset(over), outs - frozenset(over)
        case Let(v, _) | Lift(v, _) | Extreme(v, _, _, _):
            needs = needed(query)
            return needs, frozenset({v.column}) - needs
        case Exists(body):
            return modes(body)
        case _:
            assert_never(query)


def needed(query: Let | Lift | Extreme) -> Names:
    """What must be known before a variable can be bound."""
    match query:
        case Let(_, expr):
            return expr_vars(expr)
        case Lift(_, body):
            return free(body)
        case Extreme(_, _, key, body):
            return free(body) - {key.column}


def produced(factors: Iterable[Query], known: Names) -> Names:
    """The variables that a product finds when some are known, and those that it cannot find."""
    pending = list(factors)
    findable = NONE.union(*(modes(f)[1] for f in pending))
    known = known.union(*(free(f) for f in pending)) - (findable - known)  # given from outside
    found: Names = NONE
    while True:
        sofar = known | found
        ready = [modes(f)[1] for f in pending if modes(f)[0] <= sofar]
        if not ready:
            return found
        pending = [f for f in pending if not modes(f)[0] <= sofar]
        found = found.union(*ready)


def var_table(query: Query) -> dict[str, Var]:
    """Every variable of a query, local ones included, with its type."""
    found: dict[str, Var] = {}
    for node in walk(query):
        match node:
            case Value(expr) | Cond(expr):
                found |= {ref.column: ref for ref in column_refs(expr)}
            case Atom(_, _, vars):
                found |= {v.column: v for v in vars}
            case Let(v, expr):
                found |= {ref.column: ref for ref in column_refs(expr)} | {v.column: v}
            case Lift(v, _):
                found[v.column] = v
            case Extreme(v, _, key, _):
                found |= {v.column: v, key.column: key}
            case _:
                pass
    return found


def fresh(name: str, taken: Iterable[str]) -> str:
    """A name like the given one that is not taken.

    >>> fresh("x", {"x", "x_1"})
    'x_2'
    """
    used = frozenset(taken)
    if name not in used:
        return name
    stem, _, digits = name.rpartition("_")
    stem = stem if stem and digits.isdigit() else name
    number = 1
    while f"{stem}_{number}" in used:
        number += 1
    return f"{stem}_{number}"
