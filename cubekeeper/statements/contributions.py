"""What one row of a term contributes to the summary-delta of its group (Table 2, and 5.4).

A row counts with a *weight*: of the base's changes, or of the changed dimension that it meets. Rows
of a parent's delta have no weight, their values are signed already:

===========  ==================================  ===============================================
stored       with a weight w                     of a parent's delta
===========  ==================================  ===============================================
COUNT(*)     w                                   its change of the count
COUNT(e)     w where e is not NULL               its change of the count, or its change of
                                                 COUNT(*) where e, a group-by column, is not NULL
SUM(e)       e · w                               its change of the sum, or e · its change of
                                                 COUNT(*), or g · its change of SUM(f)
MIN(e),      e among the inserted where w > 0,   its inserted and deleted extremes; or e among the
MAX(e)       among the deleted where w < 0       inserted where its change of COUNT(*) is above 0,
                                                 among the deleted where it is below
===========  ==================================  ===============================================

All rows of a parent's group have the same e if it is a group-by column: of those that come and go
only the difference counts. With a weight, a parent's old row counts as one whose value is the
stored one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cubekeeper.errors import InternalError, UnsupportedError
from cubekeeper.lattice.choice import Term, Version
from cubekeeper.lattice.model import Edge, EdgeAggregate, Lattice, Node
from cubekeeper.scalar.aggregates import AggregateFunction
from cubekeeper.scalar.build import call, case, cast, literal
from cubekeeper.scalar.nodes import ColumnRef, Expr, StoredRef
from cubekeeper.schema import BIGINT, MAX_DECIMAL_PRECISION, DataType, Kind, decimal
from cubekeeper.statements.columns import WEIGHT, Extreme, shape

F = AggregateFunction


def contributions(lattice: Lattice, edge: Edge, term: Term) -> Iterator[tuple[str, Expr]]:
    """The columns that a term's rows contribute to, and what they contribute."""
    columns = shape(lattice.node(edge.child))
    by_name = {aggregate.name: aggregate for aggregate in edge.aggregates}
    weight = term_weight(edge, term)
    parent = None if edge.parent is None else lattice.node(edge.parent)
    for summed in columns.sums:
        yield summed.name, _signed(by_name[summed.name], weight)
    for extreme in columns.extremes:
        argument = by_name[extreme.name].aggregate.argument
        assert argument is not None
        inserted, deleted = (
            _by_sign(argument, weight) if weight else _of_delta(argument, extreme, parent)
        )
        yield extreme.inserted, inserted
        yield extreme.deleted, deleted


def term_weight(edge: Edge, term: Term) -> ColumnRef | None:
    """The weight with which a term's rows count; None if they are of a parent's delta."""
    if term.source is Version.DELTA:
        return ColumnRef((), WEIGHT, BIGINT, False) if edge.parent is None else None
    versions = dict(term.joins)
    for join in edge.joins:
        if versions[join.alias] is Version.DELTA:
            return ColumnRef(join.path, WEIGHT, BIGINT, False)
    raise InternalError("no-change", f"a term of `{edge.child}` reads nothing that changed")


def _signed(column: EdgeAggregate, weight: ColumnRef | None) -> Expr:
    argument = column.aggregate.argument
    match column.aggregate.function:
        case F.COUNT_ROWS if weight:
            return weight
        case F.COUNT if weight and argument:
            return case(((call("is_null", argument), literal(0, BIGINT)),), weight)
        case F.SUM if argument:
            return times(argument, weight) if weight else argument
        case other:
            raise InternalError("no-delta", f"`{column.name}` comes by {other.value}")


_WEIGHT_DIGITS: Final = 10
_WIDE: Final = 32
_WIDEST: Final = 36


def times(value: Expr, weight: Expr) -> Expr:
    """A value as often as a weight says, exactly: Spark drops decimal places beyond 38 digits.

    A decimal that is too wide for a weight beside it is negated where the weight is −1. Any other
    weight has few digits then; what does not fit fails when it is cast.

    >>> from cubekeeper.scalar.text import to_sql
    >>> price = ColumnRef((), "price", decimal(12, 2), True)
    >>> to_sql(times(price, ColumnRef((), "w", BIGINT, False)), lambda ref: ref.column)
    'price * CAST(w AS DECIMAL(10,0))'
    """
    kind = value.type
    if kind.kind is not Kind.DECIMAL:
        return call("*", value, weight)
    if kind.precision + _WEIGHT_DIGITS + 1 <= MAX_DECIMAL_PRECISION:
        return call("*", value, cast(weight, decimal(_WEIGHT_DIGITS)))
    narrow = _narrowed(kind)
    digits = MAX_DECIMAL_PRECISION - 1 - narrow.precision
    product = call("*", cast(value, narrow), cast(weight, decimal(digits)))
    one = literal(1, BIGINT)
    branches = [
        (call("=", weight, one), value),
        (call("=", weight, call("negate", one)), call("negate", value)),
    ]
    return case(branches, product)


def _narrowed(kind: DataType) -> DataType:
    if kind.scale > _WIDEST:
        raise UnsupportedError("too-fine", f"no room is left beside the decimals of {kind}")
    return decimal(min(kind.precision, max(_WIDE, kind.scale)), kind.scale)


def _by_sign(value: Expr, sign: Expr) -> tuple[Expr, Expr]:
    zero = literal(0, BIGINT)
    return case(((call(">", sign, zero), value),)), case(((call("<", sign, zero), value),))


def _of_delta(argument: Expr, extreme: Extreme, parent: Node | None) -> tuple[Expr, Expr]:
    assert parent is not None
    if isinstance(argument, StoredRef):
        for above in shape(parent).extremes:
            if above.name == argument.column:
                return (
                    StoredRef(above.inserted, extreme.type, True),
                    StoredRef(above.deleted, extreme.type, True),
                )
    return _by_sign(argument, StoredRef(parent.row_count, BIGINT, False))
