"""Scalar expressions: typed, immutable, in one canonical form.

The whole grammar::

    Expr = ColumnRef(path, column)          a column of the fact (path ()) or of a joined dimension
         | StoredRef(column)                a stored column of a summary table (in edge queries)
         | Literal(value)
         | Call(function, args)             operators and functions alike; see `functions.FUNCTIONS`
         | Case(branches, default)          CASE WHEN condition THEN result … ELSE default END
         | Cast(operand)                    to the node's own type

Every node carries its Spark SQL type and whether it can be NULL, found when it is built (the
builders in `build` do the type checking). Nodes compare by structure, so an expression is its own
identity: two views that group by ``year(date)`` share one lattice attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal

from cubekeeper.schema import DataType

Path = tuple[str, ...]
"""Foreign keys followed from the fact table, by name; () is the fact table itself."""

FACT: Path = ()

LiteralValue = bool | int | float | Decimal | str | date | datetime | None


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the fact table, or of the dimension at the end of a path of foreign keys."""

    path: Path
    column: str
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class StoredRef:
    """A stored column of the summary table that an edge query reads."""

    column: str
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: LiteralValue
    type: DataType

    @property
    def nullable(self) -> bool:
        """Only NULL itself can be NULL."""
        return self.value is None


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or function of `functions.FUNCTIONS` applied to arguments."""

    function: str
    args: tuple[Expr, ...]
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class Case:
    """The searched CASE; ``CASE x WHEN 1 …`` becomes this one when it is parsed."""

    branches: tuple[tuple[Expr, Expr], ...]
    default: Expr | None
    type: DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion to the node's type."""

    operand: Expr
    type: DataType
    nullable: bool


Expr = ColumnRef | StoredRef | Literal | Call | Case | Cast


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct parts of an expression."""
    match expr:
        case Call(args=args):
            return args
        case Case(branches=branches, default=default):
            parts = tuple(part for branch in branches for part in branch)
            return parts if default is None else (*parts, default)
        case Cast(operand=operand):
            return (operand,)
        case _:
            return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all its parts, outermost first."""
    yield expr
    for part in children(expr):
        yield from walk(part)


def column_refs(expr: Expr) -> frozenset[ColumnRef]:
    """The base columns that an expression reads."""
    return frozenset(node for node in walk(expr) if isinstance(node, ColumnRef))


def rewrite(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Replace parts from the top down; `change` returns None for "look inside".

    Types are kept: a replacement must have the type of what it replaces.
    """
    changed = change(expr)
    if changed is not None:
        return changed
    match expr:
        case Call(args=args):
            new_args = tuple(rewrite(arg, change) for arg in args)
            return expr if new_args == args else replace(expr, args=new_args)
        case Case(branches=branches, default=default):
            new_branches = tuple((rewrite(c, change), rewrite(r, change)) for c, r in branches)
            new_default = None if default is None else rewrite(default, change)
            if new_branches == branches and new_default == default:
                return expr
            return replace(expr, branches=new_branches, default=new_default)
        case Cast(operand=operand):
            new_operand = rewrite(operand, change)
            return expr if new_operand == operand else replace(expr, operand=new_operand)
        case _:
            return expr
