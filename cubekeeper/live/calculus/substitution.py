"""Changing the names of variables, without capturing any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from cubekeeper.live.calculus import build
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
from cubekeeper.live.calculus.variables import expr_vars, free, fresh, var_table
from cubekeeper.scalar.nodes import ColumnRef, Expr, rewrite


def substitute(query: Query, new: Mapping[str, Var]) -> Query:
    """Replace free variables by others; local variables step aside."""
    new = {name: v for name, v in new.items() if name in free(query) and v.column != name}
    if not new:
        return query

    def expr(old: Expr) -> Expr:
        return rename_expr(old, new)

    def named(v: Var) -> Var:
        return new.get(v.column, v)

    match query:
        case Const():
            return query
        case Value(e):
            return build.value(expr(e))
        case Cond(e):
            return build.cond(expr(e))
        case Atom(_, _, vars):
            return replace(query, vars=tuple(map(named, vars)))
        case Mul(parts):
            return build.mul(*(substitute(part, new) for part in parts))
        case Add(parts):
            return build.add(*(substitute(part, new) for part in parts))
        case Sum(over, body):
            over, body = _aside(over, body, new)
            return build.sum_over(over, substitute(body, new))
        case Let(v, e):
            return build.let(named(v), expr(e))
        case Lift(v, body):
            return build.lift(named(v), substitute(body, new))
        case Extreme(v, least, key, body):
            (name,), body = _aside((key.column,), body, new)
            kept = {old: v2 for old, v2 in new.items() if old != key.column}
            return Extreme(named(v), least, replace(key, column=name), substitute(body, kept))
        case Exists(body):
            return build.exists(substitute(body, new))
        case _:
            assert_never(query)


def rename_expr(old: Expr, new: Mapping[str, Var]) -> Expr:
    """An expression with variables replaced, in the order it was written."""
    if not any(name in new for name in expr_vars(old)):
        return old
    return rewrite(old, lambda e: new.get(e.column) if isinstance(e, ColumnRef) else None)


def _aside(
    over: tuple[str, ...], body: Query, new: Mapping[str, Var]
) -> tuple[tuple[str, ...], Query]:
    """Rename local variables that a substitution would capture."""
    coming = {v.column for v in new.values()}
    clashing = [name for name in over if name in coming]
    if not clashing:
        return over, body
    return rename_locals(over, body, clashing, coming | free(body) | set(new))


def rename_locals(
    over: tuple[str, ...], body: Query, clashing: Iterable[str], taken: Iterable[str]
) -> tuple[tuple[str, ...], Query]:
    """Give some local variables new names."""
    used, table, renamed = set(taken) | set(over), var_table(body), {}
    for name in clashing:
        other = fresh(name, used)
        used.add(other)
        renamed[name] = replace(table[name], column=other)
    over = tuple(renamed[n].column if n in renamed else n for n in over)
    return over, substitute(body, renamed)
