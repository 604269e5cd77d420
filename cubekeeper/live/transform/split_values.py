"""Split the value of a product or sum into values, so that each part can join its own relation."""

from __future__ import annotations

from cubekeeper.live.calculus.build import add, cond, mul, neg, value
from cubekeeper.live.calculus.nodes import Query, Value
from cubekeeper.scalar.build import call
from cubekeeper.scalar.nodes import Call, Cast, Expr
from cubekeeper.schema import DataType, Kind


def split_values(query: Query) -> Query | None:
    """``{a * b}`` is ``{a} * {b}``; ``{a + b}`` is a sum where neither is NULL.

    >>> from cubekeeper.live.calculus.build import var
    >>> from cubekeeper.live.calculus.text import to_text
    >>> to_text(split_values(value(call("-", var("a"), var("b", nullable=True)))))
    '{a} * [b IS NOT NULL] - {b}'
    """
    if not isinstance(query, Value):
        return None
    match query.expr:
        case Call("*", (left, right), type) if _is_exact_product(left.type, right.type, type):
            return mul(value(left), value(right))
        case Call("+" | "-" as sign, (left, right), type) if _is_exact_sum(left, right, type):
            second = mul(value(right), _known(left))
            first = mul(value(left), _known(right))
            return add(first, second if sign == "+" else neg(second))
        case Cast(operand, type) if _widens(operand.type, type):
            return value(operand)
        case _:
            return None


def _known(expr: Expr) -> Query:
    return cond(call("not", call("is_null", expr)))


def _is_exact_product(left: DataType, right: DataType, result: DataType) -> bool:
    """Whether no digit of the product is rounded away; doubles stay together."""
    if result.is_float:
        return left.is_float and right.is_float
    return result.kind is not Kind.DECIMAL or result.scale == left.scale + right.scale


def _is_exact_sum(left: Expr, right: Expr, result: DataType) -> bool:
    if not result.is_numeric:
        return False
    if result.is_float:
        return left.type.is_float and right.type.is_float
    return result.scale == max(left.type.scale, right.type.scale)


def _widens(source: DataType, target: DataType) -> bool:
    """Whether a conversion keeps every number."""
    if source.is_integer and target.is_integer:
        return _digits(target) >= _digits(source)
    if target.kind is Kind.DECIMAL and (source.is_integer or source.kind is Kind.DECIMAL):
        exact = source.as_decimal
        whole = target.precision - target.scale >= exact.precision - exact.scale
        return whole and target.scale >= exact.scale
    return False


def _digits(type: DataType) -> int:
    return type.as_decimal.precision
