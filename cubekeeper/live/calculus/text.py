"""Queries as text that reads back to the same query.

    Sum[ck](C(ck) * O(ck, ok) * LI(ok, qty) * {qty} * (n := Sum[ok](LI(ok, q) * {q})) * [n > 100])

``{…}`` is a number, ``[…]`` a condition, both in SQL; ``(x is {…})`` and ``(x := query)``
bind a variable, ``(x := min y of query)`` picks a key; ``R(x)`` is a relation, ``delta R(x)`` its
change, ``M[x]`` a map. A grouping sum lists the variables that it keeps among those that its body
finds.
"""

from __future__ import annotations

from typing import assert_never

from cubekeeper.live.calculus.nodes import (
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
    Number,
    Query,
    Sum,
    Value,
)
from cubekeeper.live.calculus.variables import modes
from cubekeeper.scalar.nodes import ColumnRef, Expr, StoredRef
from cubekeeper.scalar.text import quote, to_sql


def to_text(query: Query) -> str:
    """A query as text.

    >>> from cubekeeper.live.calculus.build import mul, neg, relation, sum_over, var
    >>> r = relation("R", var("x"), var("y"))
    >>> to_text(sum_over(["y"], mul(r, neg(relation("S", var("y"))))))
    '-Sum[x](R(x, y) * S(y))'
    """
    match query:
        case Add(terms):
            return _sum_text(terms)
        case Mul(factors):
            return _product_text(factors)
        case _:
            return _atom_text(query)


def _sum_text(terms: tuple[Query, ...]) -> str:
    text = to_text(terms[0])
    for term in map(to_text, terms[1:]):
        text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text


def _readable(factors: tuple[Query, ...]) -> tuple[Query, ...]:
    """The factors with every variable found before it is read."""
    pending, done = list(factors), list[Query]()
    while pending:
        ready = (f for f in pending if not _awaits(f, [p for p in pending if p is not f]))
        one = next(ready, pending[0])
        done.append(one)
        pending = [p for p in pending if p is not one]
    return tuple(done)


def _awaits(factor: Query, others: list[Query]) -> bool:
    return any(modes(factor)[0] & modes(other)[1] for other in others)


def _product_text(factors: tuple[Query, ...]) -> str:
    factors = _readable(factors)
    first, *rest = factors
    if first == Const(-1):
        return "-" + " * ".join(map(_factor_text, rest))
    return " * ".join(map(_factor_text, factors))


def _factor_text(query: Query) -> str:
    return f"({to_text(query)})" if isinstance(query, Add) else to_text(query)


def _atom_text(query: Query) -> str:
    match query:
        case Const(value):
            return number_text(value)
        case Value(expr):
            return f"{{{expr_text(expr)}}}"
        case Cond(expr):
            return f"[{expr_text(expr)}]"
        case Atom(kind, name, vars):
            listed = ", ".join(quote(v.column) for v in vars)
            if kind is AtomKind.MAP:
                return f"{quote(name)}[{listed}]"
            return f"{'delta ' if kind is AtomKind.DELTA else ''}{quote(name)}({listed})"
        case Sum(over, body):
            kept = sorted(modes(body)[1] - frozenset(over))
            return f"Sum[{', '.join(map(quote, kept))}]({to_text(body)})"
        case Let(v, expr):
            return f"({quote(v.column)} is {{{expr_text(expr)}}})"
        case Lift(v, body):
            return f"({quote(v.column)} := {to_text(body)})"
        case Extreme(v, least, key, body):
            word = "min" if least else "max"
            return f"({quote(v.column)} := {word} {quote(key.column)} of {to_text(body)})"
        case Exists(body):
            return f"Exists({to_text(body)})"
        case Mul() | Add():
            return to_text(query)
        case _:
            assert_never(query)


def number_text(value: Number) -> str:
    """A ring value as text, exact.

    >>> from fractions import Fraction
    >>> number_text(Fraction(5, 2)), number_text(-3), number_text(Fraction(1, 3))
    ('2.5', '-3', '1/3')
    """
    if isinstance(value, int):
        return str(value)
    for scale in range(1, 60):
        scaled = value * 10**scale
        if scaled.denominator == 1:
            digits = str(abs(scaled.numerator)).rjust(scale + 1, "0")
            return f"{'-' if value < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"
    return f"{value.numerator}/{value.denominator}"


def expr_text(expr: Expr) -> str:
    """A scalar expression over variables, in SQL."""
    return to_sql(expr, _named)


def _named(ref: ColumnRef | StoredRef) -> str:
    return quote(ref.column)
