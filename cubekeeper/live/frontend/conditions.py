"""Conditions: what must be TRUE, and comparisons with all or any rows of a subquery."""

from __future__ import annotations

from cubekeeper.errors import InputError
from cubekeeper.live.calculus.build import cond, lift, mul, sum_over
from cubekeeper.live.calculus.nodes import Query
from cubekeeper.live.calculus.variables import free
from cubekeeper.live.frontend.scopes import Names, Relation
from cubekeeper.parse.query import Quantified
from cubekeeper.scalar.build import TypeProblem, call, case, conjuncts, literal
from cubekeeper.scalar.nodes import Case, Expr, Literal
from cubekeeper.schema import BIGINT, BOOLEAN, NULL
from cubekeeper.source import Span


def holds(expr: Expr, span: Span) -> Query:
    """1 where a condition is TRUE."""
    if expr.type not in (BOOLEAN, NULL):
        raise InputError(
            "type-error",
            f"a condition is a boolean, not {expr.type}",
            span=span,
            hint="compare it with something, as in x = 1",
        )
    return mul(*(cond(_truth(part)) for part in conjuncts(expr)))


def _truth(expr: Expr) -> Expr:
    """The part of a CASE that decides whether it is TRUE."""
    if isinstance(expr, Case) and expr.branches[0][1] == literal(True):
        others = [result for _, result in expr.branches[1:]]
        others += [] if expr.default is None else [expr.default]
        if all(isinstance(o, Literal) and o.value is not True for o in others):
            return expr.branches[0][0]
    return expr


def quantified(
    hole: Quantified, subject: Expr, rows: Relation, outer: frozenset[str], names: Names
) -> tuple[Expr, list[Query]]:
    """``subject = ANY (rows)`` and the like, in three-valued logic.

    ANY is TRUE where some comparison is, else NULL where some comparison is, else FALSE. ALL is
    FALSE where some comparison is, else NULL where some comparison is, else TRUE.
    """
    if len(rows.columns) != 1:
        raise InputError(
            "subquery-columns",
            f"the subquery gives {len(rows.columns)} columns, not 1",
            span=hole.span,
        )
    ((_, column),) = rows.columns
    try:
        comparison = call(hole.operator, subject, column)
    except TypeProblem as problem:
        raise InputError("type-error", problem.message, span=hole.span, hint=problem.hint) from None
    deciding = call("not", comparison) if hole.every else comparison
    decided, decided_bound = _count("decided", mul(rows.query, cond(deciding)), outer, names)
    branches = [(_some(decided), literal(not hole.every))]
    parts = [decided_bound]
    if comparison.nullable:
        unknown = cond(call("is_null", comparison))
        open_, open_bound = _count("unknown", mul(rows.query, unknown), outer, names)
        branches.append((_some(open_), literal(None, BOOLEAN)))
        parts.append(open_bound)
    return case(branches, literal(hole.every)), parts


def _some(count: Expr) -> Expr:
    return call("<>", count, literal(0))


def _count(stem: str, rows: Query, outer: frozenset[str], names: Names) -> tuple[Expr, Query]:
    count = names.new(stem, BIGINT, nullable=False)
    return count, lift(count, sum_over(sorted(free(rows) - outer), rows))
