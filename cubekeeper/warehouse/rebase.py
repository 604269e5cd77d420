"""Expressions over a dimension's own columns, as a fact sees them along a path of foreign keys."""

from __future__ import annotations

from cubekeeper.scalar.build import call, case, cast
from cubekeeper.scalar.nodes import Call, Case, Cast, ColumnRef, Expr, Path
from cubekeeper.warehouse.model import Warehouse


def rebased(warehouse: Warehouse, fact: str, path: Path, expr: Expr) -> Expr:
    """The same expression with its columns reached from the fact, in canonical form again.

    The key of the dimension becomes the foreign key that refers to it, which may change the order
    of what stands in canonical order; so the expression is built anew.
    """
    match expr:
        case ColumnRef():
            return warehouse.column_at(fact, path + expr.path, expr.column)
        case Call(function=function, args=args):
            return call(function, *(rebased(warehouse, fact, path, arg) for arg in args))
        case Case(branches=branches, default=default):
            return case(
                [
                    (rebased(warehouse, fact, path, when), rebased(warehouse, fact, path, then))
                    for when, then in branches
                ],
                None if default is None else rebased(warehouse, fact, path, default),
            )
        case Cast(operand=operand, type=type):
            return cast(rebased(warehouse, fact, path, operand), type)
        case _:
            return expr
