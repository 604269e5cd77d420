"""Expressions as Spark SQL text that parses back to the same expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final, assert_never

from cubekeeper.scalar.aggregates import Aggregate
from cubekeeper.scalar.literals import literal_type
from cubekeeper.scalar.nodes import Call, Case, Cast, ColumnRef, Expr, Literal, StoredRef
from cubekeeper.schema import DataType, Kind

Namer = Callable[[ColumnRef | StoredRef], str]
"""Says how a column is written, quoting included."""

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_RESERVED: Final = frozenset(
    "all alter and anti any as asc between both by call case cast check collate column "
    "constraint create cross cube current_date current_time current_timestamp "
    "current_user desc describe distinct div drop else end escape except execute exists "
    "explain extract false fetch filter for foreign from full glob grant group grouping "
    "having if ilike in inner insert intersect interval into is join lateral leading left "
    "like limit localtime localtimestamp lock minus natural not notnull null offset on "
    "only optimize or order outer overlaps partitioned_by position prepare primary "
    "qualify references regexp rename returning revoke right rlike rollback rollup select "
    "semi serdeproperties session_user show some table tablesample then to trailing true "
    "uncache union unique update user using vacuum values when where window with xor".split()
)


def quote(identifier: str) -> str:
    """An identifier, in backticks where it needs them.

    >>> quote("storeID"), quote("unit price"), quote("order")
    ('storeID', '`unit price`', '`order`')
    """
    if _PLAIN.fullmatch(identifier) and identifier.lower() not in _RESERVED:
        return identifier
    return "`" + identifier.replace("`", "``") + "`"


# How tightly things bind, loosest first; a part that binds looser than its place is parenthesised.
_OR, _AND, _NOT, _PREDICATE, _SUM, _PRODUCT, _UNARY, _ATOM = range(8)

_INFIX: Final = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "<=>"), _PREDICATE),
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "%": _PRODUCT,
    "div": _PRODUCT,
}
_JOINED: Final = {"and": (" AND ", _AND), "or": (" OR ", _OR), "concat": (" || ", _SUM)}
_TRIMS: Final = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}
_LIKES: Final = {"like": "LIKE", "ilike": "ILIKE", "rlike": "RLIKE"}


def to_sql(expr: Expr, name: Namer) -> str:
    """Spark SQL text of an expression, with no more parentheses than needed.

    >>> from cubekeeper.scalar.build import call, literal
    >>> total = call("*", call("+", literal(1), literal(2)), literal(3))
    >>> to_sql(total, lambda ref: ref.column)
    '(1 + 2) * 3'
    """
    return _written(expr, name)[0]


def aggregate_to_sql(aggregate: Aggregate, name: Namer) -> str:
    """Spark SQL text of an aggregate.

    >>> from cubekeeper.scalar.aggregates import AggregateFunction
    >>> from cubekeeper.scalar.aggregates import aggregate as make
    >>> aggregate_to_sql(make(AggregateFunction.COUNT_ROWS), lambda ref: ref.column)
    'COUNT(*)'
    """
    function = aggregate.function
    if aggregate.argument is None:
        return "COUNT(*)"
    argument = to_sql(aggregate.argument, name)
    if function.is_distinct:
        return f"{function.value.removesuffix('_distinct').upper()}(DISTINCT {argument})"
    return f"{function.value.upper()}({argument})"


def _written(expr: Expr, name: Namer) -> tuple[str, int]:
    """The text, and how tightly its outermost operator binds."""
    match expr:
        case ColumnRef() | StoredRef():
            return name(expr), _ATOM
        case Literal():
            text = literal_text(expr)
            return text, _UNARY if text.startswith("-") else _ATOM
        case Call():
            return _call_text(expr, name)
        case Case(branches, default):
            arms = [
                f"WHEN {to_sql(condition, name)} THEN {to_sql(result, name)}"
                for condition, result in branches
            ]
            if default is not None:
                arms.append(f"ELSE {to_sql(default, name)}")
            return f"CASE {' '.join(arms)} END", _ATOM
        case Cast(operand, type):
            return f"CAST({to_sql(operand, name)} AS {type_text(type)})", _ATOM
        case _:
            assert_never(expr)


def _at(expr: Expr, level: int, name: Namer) -> str:
    text, binds = _written(expr, name)
    return text if binds >= level else f"({text})"


def _call_text(expr: Call, name: Namer) -> tuple[str, int]:
    function, args = expr.function, expr.args
    if function in _INFIX:
        level = _INFIX[function]
        left = _at(args[0], level + 1 if level == _PREDICATE else level, name)
        symbol = "DIV" if function == "div" else function
        return f"{left} {symbol} {_at(args[1], level + 1, name)}", level
    if function in _JOINED:
        separator, level = _JOINED[function]
        return separator.join(_at(arg, level + 1, name) for arg in args), level
    if function == "negate":
        return f"-{_at(args[0], _ATOM, name)}", _UNARY
    if function == "not":
        return _not_text(args[0], name)
    if function in _TRIMS and len(args) == 2:
        text, characters = (to_sql(arg, name) for arg in args)
        return f"trim({_TRIMS[function]} {characters} FROM {text})", _ATOM
    predicate = _predicate_text(expr, name, negated=False)
    if predicate is not None:
        return predicate, _PREDICATE
    return f"{function}({', '.join(to_sql(arg, name) for arg in args)})", _ATOM


def _not_text(operand: Expr, name: Namer) -> tuple[str, int]:
    if isinstance(operand, Call):
        predicate = _predicate_text(operand, name, negated=True)
        if predicate is not None:
            return predicate, _PREDICATE
    return f"NOT {_at(operand, _NOT, name)}", _NOT


def _predicate_text(expr: Call, name: Namer, *, negated: bool) -> str | None:
    """IS NULL, IN and LIKE, or what each is with NOT inside; None for everything else."""
    no = "NOT " if negated else ""
    if expr.function not in ("is_null", "in", *_LIKES):
        return None
    subject = _at(expr.args[0], _SUM, name)
    if expr.function == "is_null":
        return f"{subject} IS {no}NULL"
    if expr.function == "in":
        return f"{subject} {no}IN ({', '.join(to_sql(item, name) for item in expr.args[1:])})"
    pattern, *escape = (_at(arg, _SUM, name) for arg in expr.args[1:])
    suffix = f" ESCAPE {escape[0]}" if escape else ""
    return f"{subject} {no}{_LIKES[expr.function]} {pattern}{suffix}"


def type_text(kind: DataType) -> str:
    """A type as it is written in SQL.

    >>> from cubekeeper.schema import decimal
    >>> type_text(decimal(12, 2))
    'DECIMAL(12,2)'
    """
    return str(kind).upper()


_ESCAPES: Final = {
    "\\": "\\\\",
    "'": "\\'",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\0": "\\u0000",
}
_SUFFIXES: Final = {Kind.BIGINT: "L", Kind.SMALLINT: "S", Kind.TINYINT: "Y"}


def literal_text(literal: Literal) -> str:
    """A constant in SQL, such that its type survives.

    >>> from cubekeeper.schema import BIGINT, decimal
    >>> literal_text(Literal(1, BIGINT)), literal_text(Literal(Decimal("1.50"), decimal(3, 2)))
    ('1L', '1.50')
    >>> literal_text(Literal(0.5, DataType(Kind.DOUBLE)))
    '5E-1'
    """
    value, kind = literal.value, literal.type
    match value:
        case None:
            return "NULL" if kind.kind is Kind.NULL else f"CAST(NULL AS {type_text(kind)})"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + "".join(_ESCAPES.get(char, char) for char in value) + "'"
        case datetime():
            seconds = value.isoformat(" ", "microseconds" if value.microsecond else "seconds")
            return f"{type_text(kind)} '{seconds}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return _number_text(value, kind)


def _number_text(value: int | float | Decimal, kind: DataType) -> str:
    if isinstance(value, float):
        text = _float_text(value)
        return text if kind.kind is Kind.DOUBLE else f"CAST({text} AS FLOAT)"
    whole = isinstance(value, Decimal) and kind.scale == 0  # it would read back as an integer
    if literal_type(value) == kind and not whole:
        return _plain(value)
    if kind.kind in _SUFFIXES:
        return f"{value}{_SUFFIXES[kind.kind]}"
    return f"CAST({_plain(value)} AS {type_text(kind)})"


def _plain(value: int | Decimal) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


def _float_text(value: float) -> str:
    mantissa, _, exponent = f"{Decimal(repr(value)).normalize():E}".partition("E")
    return f"{mantissa}E{int(exponent or 0)}"


def conjunction_to_sql(conjuncts: Sequence[Expr], name: Namer, separator: str = " AND ") -> str:
    """Spark SQL text of conditions that must all hold; every one can be read on its own.

    >>> from cubekeeper.scalar.build import call, literal
    >>> conjunction_to_sql((literal(True), call("or", literal(False), literal(None))), str)
    'TRUE AND (FALSE OR NULL)'
    """
    return separator.join(_at(expr, _NOT, name) for expr in conjuncts)
