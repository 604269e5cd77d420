"""One order for expressions, so that ``a AND b`` and ``b AND a`` are one node."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, assert_never

from cubekeeper.scalar.nodes import Call, Case, Cast, ColumnRef, Expr, Literal, StoredRef, walk


def sort_key(expr: Expr) -> str:
    """A text that tells any two different expressions apart.

    >>> from cubekeeper.schema import INT
    >>> sort_key(Call("+", (Literal(1, INT), Literal(2, INT)), INT, False))
    '(+ 1:int 2:int)'
    """
    match expr:
        case ColumnRef(path, column, type, nullable):
            return f"{'.'.join((*path, column))}:{type}{'?' if nullable else ''}"
        case StoredRef(column, type, nullable):
            return f"@{column}:{type}{'?' if nullable else ''}"
        case Literal(value, type):
            return f"{value!r}:{type}" if isinstance(value, str | None) else f"{value}:{type}"
        case Call(function, args):
            return f"({function} {' '.join(map(sort_key, args))})"
        case Case(branches, default):
            parts = " ".join(f"{sort_key(when)} {sort_key(then)}" for when, then in branches)
            return f"(case {parts}{'' if default is None else ' ' + sort_key(default)})"
        case Cast(operand, type):
            return f"(cast {sort_key(operand)} {type})"
        case _:
            assert_never(expr)


_OVERFLOWING: Final = frozenset({"+", "-", "*", "negate", "abs"})
_HARMLESS: Final = frozenset(
    "= <> < <= > >= <=> and or not is_null in like ilike coalesce nullif greatest least "
    "concat upper lower trim ltrim rtrim length startswith endswith contains "
    "year quarter month day".split()
)


def guard_rank(expr: Expr) -> int:
    """How easily an expression raises under ANSI: 0 never, 1 on overflow, 2 on single values.

    Conjunctions are ordered by this first, so that ``x <> 0 AND 1 / x > y`` keeps its guard in
    front.

    >>> from cubekeeper.scalar.build import call, literal
    >>> [guard_rank(call(op, literal(6), literal(3))) for op in ("<", "+", "/")]
    [0, 1, 2]
    """
    rank = 0
    for node in walk(expr):
        if isinstance(node, Cast):
            return 2
        if isinstance(node, Call) and node.function not in _HARMLESS:
            if node.function not in _OVERFLOWING:
                return 2
            rank = 1
    return rank


_TESTS: Final = ("=", "<>", "<=>", ">", ">=", "<", "<=", "in", "like", "is_null")


def conjunction_key(expr: Expr) -> tuple[int, bool, str, int, str]:
    """The order of the parts of AND and OR: what is said about one thing stands together."""
    plain = expr.args[0] if isinstance(expr, Call) and expr.function == "not" else expr
    compound = isinstance(plain, Call) and plain.function in ("and", "or")
    subject, test = plain, -1
    if isinstance(plain, Call) and plain.function in _TESTS:
        subject, test = plain.args[0], _TESTS.index(plain.function)
    return guard_rank(expr), compound, sort_key(subject), test, sort_key(expr)


def item_key(expr: Expr) -> tuple[bool, str, float, str]:
    """The order of the items of IN: numbers by size, everything else by its text."""
    if isinstance(expr, Literal) and isinstance(expr.value, int | float | Decimal):
        return True, str(expr.type), float(expr.value), sort_key(expr)
    return isinstance(expr, Literal), str(expr.type), 0.0, sort_key(expr)
