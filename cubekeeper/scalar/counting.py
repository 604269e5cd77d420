"""Counts that must be kept beside other aggregates so that those stay exact under deletions (3.1).

When rows are deleted, a SUM, MIN or MAX becomes NULL with its last value; only a count of the
values can tell. Where the argument is never NULL it is COUNT(*).
"""

from __future__ import annotations

from typing import Final

from cubekeeper.scalar.aggregates import Aggregate, AggregateFunction, aggregate
from cubekeeper.scalar.nodes import Call, Cast, Expr

F = AggregateFunction

COUNT_ROWS: Final = aggregate(F.COUNT_ROWS)
_NULL_WITH_ANY: Final = frozenset(("+", "-", "*", "negate", "abs"))


def count_of(argument: Expr) -> Aggregate:
    """The aggregate that counts the values of an expression, NULLs left out.

    >>> from cubekeeper.scalar.build import literal
    >>> count_of(literal(1)) == COUNT_ROWS
    True
    """
    witness = _null_with(argument)
    return aggregate(F.COUNT, witness) if witness.nullable else COUNT_ROWS


def helpers(part: Aggregate) -> tuple[Aggregate, ...]:
    """What must be stored beside a part so that it stays exact when rows are deleted."""
    if part.argument is None or part.function not in (F.SUM, F.MIN, F.MAX):
        return ()
    return (count_of(part.argument),)


def _null_with(expr: Expr) -> Expr:
    """The simplest expression that is NULL exactly when this one is, so that they share a count."""
    match expr:
        case Cast(operand=operand):
            return _null_with(operand)
        case Call(function=function, args=args) if function in _NULL_WITH_ANY:
            nullable = {_null_with(arg) for arg in args if arg.nullable}
            return nullable.pop() if len(nullable) == 1 else expr
        case _:
            return expr
