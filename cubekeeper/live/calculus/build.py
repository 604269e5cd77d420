"""Smart constructors: the only way to make queries, keeping one canonical form.

- products and sums are flat, have two parts or more, and no neutral parts;
- a product has at most one constant, and stands first; with 0 it is 0;
- equal terms of a sum are collected: ``R + R`` is ``2 * R``;
- a sum over variables has at least one of them free in its body, none nested directly inside;
- constants are folded: a condition on constants is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

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
    Number,
    Query,
    Sum,
    Value,
    Var,
)
from cubekeeper.live.calculus.variables import free
from cubekeeper.scalar.build import conjuncts
from cubekeeper.scalar.nodes import Call, Expr, Literal
from cubekeeper.schema import BIGINT, DataType

_INDICATORS = (Cond, Let, Lift, Extreme, Exists)
"""Queries that are 1 or 0 everywhere."""


def var(name: str, type: DataType = BIGINT, *, nullable: bool = False) -> Var:
    """A variable.

    >>> var("x").column
    'x'
    """
    return Var((), name, type, nullable)


def number(value: int | Fraction | Decimal | float) -> Number:
    """A number as a ring value: an integer where it is one.

    >>> number(Decimal("2.50")), number(Decimal("2.00"))
    (Fraction(5, 2), 2)
    """
    exact = value if isinstance(value, int) else Fraction(value)
    return exact.numerator if isinstance(exact, Fraction) and exact.denominator == 1 else exact


def const(value: int | Fraction | Decimal | float) -> Query:
    """A constant."""
    return Const(number(value))


def value(expr: Expr) -> Query:
    """The number that an expression gives; a literal's is a constant."""
    if isinstance(expr, Literal):
        if expr.value is None:
            return ZERO
        assert isinstance(expr.value, int | float | Decimal), expr
        return const(expr.value)
    if isinstance(expr, Call) and expr.function == "negate":
        return neg(value(expr.args[0]))
    return Value(expr)


def cond(expr: Expr) -> Query:
    """1 where a condition holds; a conjunction is the product of its parts."""
    if isinstance(expr, Literal):
        return ONE if expr.value is True else ZERO
    parts = conjuncts(expr)
    if len(parts) > 1:
        return mul(*map(cond, parts))
    if isinstance(expr, Call):
        if expr.function == "<=>" and expr.args[0] == expr.args[1]:
            return ONE
        if expr.function == "is_null" and not expr.args[0].nullable:
            return ZERO
        if expr.function == "not" and _is_null_of_sure(expr.args[0]):
            return ONE
    return Cond(expr)


def _is_null_of_sure(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function == "is_null" and not expr.args[0].nullable


def relation(name: str, *columns: Var) -> Query:
    """R(x, y)."""
    return Atom(AtomKind.RELATION, name, columns)


def delta_relation(name: str, *columns: Var) -> Query:
    """The rows by which a relation changes."""
    return Atom(AtomKind.DELTA, name, columns)


def map_atom(name: str, *columns: Var) -> Query:
    """M[x, y]."""
    return Atom(AtomKind.MAP, name, columns)


def factors(query: Query) -> tuple[Query, ...]:
    """The factors of a product."""
    return query.factors if isinstance(query, Mul) else (query,)


def terms(query: Query) -> tuple[Query, ...]:
    """The terms of a sum; 0 has none."""
    if query == ZERO:
        return ()
    return query.terms if isinstance(query, Add) else (query,)


def mul(*parts: Query) -> Query:
    """A product.

    >>> mul(const(2), relation("R"), const(3))
    Mul(factors=(Const(value=6), Atom(kind=<AtomKind.RELATION: 'relation'>, name='R', vars=())))
    """
    coefficient: Number = 1
    kept: list[Query] = []
    for part in (factor for query in parts for factor in factors(query)):
        if isinstance(part, Const):
            coefficient = coefficient * part.value
        elif not (isinstance(part, _INDICATORS) and part in kept):  # 1 or 0, once is enough
            kept.append(part)
    if coefficient == 0:
        return ZERO
    if coefficient != 1:
        kept.insert(0, Const(number(coefficient)))
    if len(kept) == 1:
        return kept[0]
    return Mul(tuple(kept)) if kept else ONE


def split_coefficient(query: Query) -> tuple[Number, Query]:
    """A number and the rest of a product.

    >>> split_coefficient(mul(const(2), relation("R")))[0]
    2
    """
    if isinstance(query, Const):
        return query.value, ONE
    if isinstance(query, Mul) and isinstance(query.factors[0], Const):
        return query.factors[0].value, mul(*query.factors[1:])
    return 1, query


def add(*parts: Query) -> Query:
    """A sum; equal terms are collected.

    >>> add(relation("R"), neg(relation("R")))
    Const(value=0)
    """
    collected: dict[Query, Number] = {}
    for part in (term for query in parts for term in terms(query)):
        coefficient, rest = split_coefficient(part)
        collected[rest] = collected.get(rest, 0) + coefficient
    kept = [mul(Const(number(n)), rest) for rest, n in collected.items() if n != 0]
    if len(kept) == 1:
        return kept[0]
    return Add(tuple(kept)) if kept else ZERO


def neg(query: Query) -> Query:
    """The negative."""
    return mul(Const(-1), query) if not isinstance(query, Add) else add(*map(neg, query.terms))


def sum_over(over: Iterable[str], body: Query) -> Query:
    """The sum over all values of some variables.

    >>> sum_over(["z"], relation("R", var("x"))) == relation("R", var("x"))
    True
    """
    found = free(body)
    wanted = [name for name in dict.fromkeys(over) if name in found]
    if not wanted or body == ZERO:
        return body
    coefficient, rest = split_coefficient(body)
    if coefficient != 1:
        return mul(Const(coefficient), sum_over(wanted, rest))
    if isinstance(body, Sum) and not frozenset(body.over) & frozenset(wanted):
        return Sum(tuple(sorted({*wanted, *body.over})), body.body)
    return Sum(tuple(sorted(wanted)), body)


def let(variable: Var, expr: Expr) -> Query:
    """1 where a variable is the value of an expression."""
    return ONE if variable == expr else Let(variable, expr)


def lift(variable: Var, body: Query) -> Query:
    """1 where a variable is the number that a query gives."""
    return Lift(variable, body)


def extreme(variable: Var, key: Var, body: Query, *, least: bool) -> Query:
    """1 where a variable is the least or greatest key of a query."""
    return Extreme(variable, least, key, body)


def exists(body: Query) -> Query:
    """1 on the support of a query.

    >>> exists(const(-3))
    Const(value=1)
    """
    if isinstance(body, Const):
        return ONE if body.value else ZERO
    coefficient, rest = split_coefficient(body)
    if coefficient != 1:
        return exists(rest)
    if isinstance(body, _INDICATORS):
        return body
    if isinstance(body, Mul):
        plain = [f for f in body.factors if isinstance(f, _INDICATORS)]
        if plain:
            others = [f for f in body.factors if f not in plain]
            return mul(*plain, exists(mul(*others)))
    return Exists(body)
