"""The only way to make expressions: builders that check types and keep one canonical form.

What they change is only what cannot change a value, a type or when something is NULL:

- AND and OR are flat, without repetitions, in one order;
- comparisons have their literal on the right, equalities one order of their sides;
- NOT of a comparison is the opposite comparison, NOT NOT disappears;
- ``x IN (1)`` is ``x = 1``, the items of IN are ordered;
- a literal's exact conversion is the converted literal: ``CAST('2024-01-01' AS DATE)``;
- ``date + 3`` is ``date_add(date, 3)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from cubekeeper.scalar.functions import FUNCTIONS, UNITS, Function, mixed
from cubekeeper.scalar.literals import convert, literal_type, negated, one_zero
from cubekeeper.scalar.nodes import (
    Call,
    Case,
    Cast,
    ColumnRef,
    Expr,
    Literal,
    LiteralValue,
    Path,
    StoredRef,
)
from cubekeeper.scalar.order import conjunction_key, item_key, sort_key
from cubekeeper.scalar.types import TypeProblem, common_type
from cubekeeper.schema import (
    BOOLEAN,
    NULL,
    STRING,
    Column,
    DataType,
    Kind,
)

__all__ = [
    "TypeProblem",
    "call",
    "case",
    "cast",
    "column",
    "conjoin",
    "conjuncts",
    "literal",
    "stored",
]


def column(path: Path, declared: Column) -> ColumnRef:
    """A reference to a declared column, reached over a path of foreign keys.

    >>> from cubekeeper.schema import INT
    >>> column(("store",), Column("city", INT)).path
    ('store',)
    """
    return ColumnRef(path, declared.name, declared.type, declared.nullable)


def stored(declared: Column) -> StoredRef:
    """A reference to a stored column of a summary table.

    >>> from cubekeeper.schema import BIGINT
    >>> stored(Column("total", BIGINT, nullable=False)).column
    'total'
    """
    return StoredRef(declared.name, declared.type, declared.nullable)


def literal(value: LiteralValue, to: DataType | None = None) -> Literal:
    """A constant, of the type that Spark gives it or of a given type that holds it exactly.

    >>> str(literal(1).type), str(literal(1 << 40).type)
    ('int', 'bigint')
    """
    value = one_zero(value)
    natural = literal_type(value)
    if to is None or to == natural:
        return Literal(value, natural)
    if isinstance(value, datetime) and to.kind is Kind.TIMESTAMP_NTZ:
        return Literal(value, to)
    converted = convert(value, to)
    if converted is None:
        raise TypeProblem(f"{value!r} is not a constant of type {to}")
    return converted


def call(name: str, *args: Expr) -> Expr:
    """An operator or function applied to arguments, type-checked, in canonical form.

    >>> call("<", literal(5), literal(7)).type == BOOLEAN
    True
    >>> call("upper", literal(5))
    Traceback (most recent call last):
    cubekeeper.scalar.types.TypeProblem: upper takes a string, not int
    """
    function = FUNCTIONS[name]
    special = _CANONICAL.get(name)
    return special(function, args) if special else _checked(function, args)


def _checked(function: Function, args: Sequence[Expr]) -> Call:
    args = tuple(args)
    count = len(args)
    if count < function.least or (function.most is not None and count > function.most):
        raise TypeProblem(
            f"{function.title} {_wanted(function)}, not {count}", hint=_usage(function)
        )
    for index, arg in enumerate(args):
        accepts = function.parameter(index)
        if not accepts.admits(arg):
            ordinal = "" if count == 1 else f" as argument {index + 1}"
            given = "an expression" if accepts.value == "a literal" else str(arg.type)
            raise TypeProblem(
                f"{function.title} takes {accepts.value}{ordinal}, not {given}",
                hint=_usage(function) or _cast_hint(accepts.value),
                argument=index,
            )
    return Call(function.name, args, function.result(args), function.nullable(args))


def _usage(function: Function) -> str | None:
    return f"write {function.usage}" if function.usage else None


def _cast_hint(wanted: str) -> str | None:
    return {
        "a string": "convert it: CAST(… AS STRING)",
        "a number": "convert it: CAST(… AS DECIMAL(18,2)), or another number type",
        "an integer": "convert it: CAST(… AS INT)",
        "an int": "convert it: CAST(… AS INT)",
        "an integer or decimal": "convert it: CAST(… AS DECIMAL(18,2)), or another exact type",
        "a date or timestamp": "convert it: CAST(… AS DATE)",
        "a boolean": "compare it with something, as in x = 1",
    }.get(wanted)


def _wanted(function: Function) -> str:
    def arguments(count: int) -> str:
        return f"{count} argument{'s' if count != 1 else ''}"

    if function.most is None:
        return f"takes at least {arguments(function.least)}"
    if function.most == function.least:
        return f"takes {arguments(function.least)}"
    return f"takes {function.least} to {arguments(function.most)}"


def case(branches: Iterable[tuple[Expr, Expr]], default: Expr | None = None) -> Expr:
    """The searched CASE; ``ELSE NULL`` is the same as no ELSE.

    >>> str(case([(literal(True), literal(1))], literal(1 << 40)).type)
    'bigint'
    """
    pairs = tuple(branches)
    if not pairs:
        raise TypeProblem("CASE needs a WHEN")
    for index, (condition, _) in enumerate(pairs):
        if condition.type not in (BOOLEAN, NULL):
            raise TypeProblem(
                f"the condition of CASE is a boolean, not {condition.type}", argument=2 * index
            )
    if isinstance(default, Literal) and default.value is None and default.type == NULL:
        default = None
    results = [result for _, result in pairs]
    if default is not None:
        results.append(default)
    kind = common_type(result.type for result in results)
    if kind is None:
        first = results[0].type
        at = next(
            i for i, result in enumerate(results) if common_type((first, result.type)) is None
        )
        position = 2 * at + 1 if at < len(pairs) else 2 * len(pairs)
        raise mixed(first, results[at].type, position)
    nullable = default is None or any(result.nullable for result in results)
    return Case(pairs, default, kind, nullable)


_TEXT_FORM: Final = frozenset(kind for kind in Kind if kind not in (Kind.INTERVAL, Kind.NULL))
_TEMPORAL: Final = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ})


def cast(expr: Expr, to: DataType) -> Expr:
    """A conversion; none when it already is of that type.

    >>> cast(literal("2024-01-01"), DataType(Kind.DATE)).value
    datetime.date(2024, 1, 1)
    """
    if expr.type == to:
        return expr
    if not _castable(expr.type, to):
        raise TypeProblem(f"{expr.type} cannot be converted to {to}", argument=0)
    if isinstance(expr, Literal):
        converted = convert(expr.value, to)
        if converted is not None:
            return converted
        if expr.type == STRING and to.is_temporal:
            raise TypeProblem(
                f"'{expr.value}' is not a {to}",
                hint="write it as 2024-12-31"
                + ("" if to.kind is Kind.DATE else " 23:59:59, without a zone"),
                argument=0,
            )
    return Cast(expr, to, expr.nullable)


def _castable(source: DataType, target: DataType) -> bool:
    if source == NULL or STRING in (source, target):
        return target.kind in _TEXT_FORM
    if source.is_numeric or source == BOOLEAN:
        return target.is_numeric or target == BOOLEAN
    return source.is_temporal and target.is_temporal


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a conjunction.

    >>> len(conjuncts(literal(True)))
    1
    """
    return expr.args if isinstance(expr, Call) and expr.function == "and" else (expr,)


def conjoin(exprs: Iterable[Expr]) -> Expr | None:
    """The conjunction of all, None for none.

    >>> conjoin([]) is None
    True
    """
    parts = tuple(exprs)
    return call("and", *parts) if parts else None


# --- canonical forms --------------------------------------------------------------------------


def _junction(function: Function, args: Sequence[Expr]) -> Expr:
    flat: dict[Expr, None] = {}
    for arg in args:
        same = isinstance(arg, Call) and arg.function == function.name
        flat.update(dict.fromkeys(arg.args if same and isinstance(arg, Call) else (arg,)))
    parts = sorted(flat, key=conjunction_key)
    if len(parts) == 1 and parts[0].type == BOOLEAN:
        return parts[0]
    return _checked(function, parts)


_MIRRORED: Final = {"=": "=", "<>": "<>", "<=>": "<=>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OPPOSITE: Final = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _comparison(function: Function, args: Sequence[Expr]) -> Expr:
    if len(args) != 2:
        return _checked(function, args)
    left, right = _dated(args)
    built = _checked(function, (left, right))
    if _side_key(left) <= _side_key(right):
        return built
    return _checked(FUNCTIONS[_MIRRORED[function.name]], (right, left))


def _side_key(expr: Expr) -> tuple[bool, str]:
    return isinstance(expr, Literal), sort_key(expr)


def _dated(args: Sequence[Expr]) -> tuple[Expr, ...]:
    """Text literals compared with a date or timestamp are read as one, as Spark does."""
    kind = common_type(arg.type for arg in args if not _is_text(arg))
    if kind is None or not kind.is_temporal:
        return tuple(args)
    return tuple(_read_as(kind, arg, at) if _is_text(arg) else arg for at, arg in enumerate(args))


def _read_as(kind: DataType, text: Expr, argument: int) -> Expr:
    try:
        return cast(text, kind)
    except TypeProblem as problem:
        raise TypeProblem(problem.message, hint=problem.hint, argument=argument) from None


def _is_text(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.type == STRING


def _in(function: Function, args: Sequence[Expr]) -> Expr:
    if len(args) < 2:
        return _checked(function, args)
    subject, *items = _dated(args)
    _checked(function, (subject, *items))
    ordered = sorted(dict.fromkeys(items), key=item_key)
    if len(ordered) == 1:
        return call("=", subject, ordered[0])
    return _checked(function, (subject, *ordered))


def _not(function: Function, args: Sequence[Expr]) -> Expr:
    built = _checked(function, args)
    operand = built.args[0]
    if isinstance(operand, Call):
        if operand.function == "not":
            return operand.args[0]
        if operand.function in _OPPOSITE:
            return call(_OPPOSITE[operand.function], *operand.args)
    return built


def _negate(function: Function, args: Sequence[Expr]) -> Expr:
    built = _checked(function, args)
    operand = built.args[0]
    if isinstance(operand, Literal) and isinstance(operand.value, int | float | Decimal):
        opposite = convert(literal(negated(operand.value)).value, operand.type)
        if opposite is not None:
            return opposite
    return built


def _concat(function: Function, args: Sequence[Expr]) -> Expr:
    flat: list[Expr] = []
    for arg in args:
        flat.extend(arg.args if isinstance(arg, Call) and arg.function == "concat" else (arg,))
    return flat[0] if len(flat) == 1 and flat[0].type == STRING else _checked(function, flat)


def _coalesce(function: Function, args: Sequence[Expr]) -> Expr:
    return args[0] if len(args) == 1 else _checked(function, args)


def _plus(function: Function, args: Sequence[Expr]) -> Expr:
    if len(args) == 2:
        left, right = args
        if left.type.kind is Kind.DATE and right.type.is_integer:
            return call("date_add", left, right)
        if right.type.kind is Kind.DATE and left.type.is_integer:
            return call("date_add", right, left)
    return _checked(function, args)


def _minus(function: Function, args: Sequence[Expr]) -> Expr:
    if len(args) == 2:
        left, right = args
        if left.type.kind is Kind.DATE and right.type.is_integer:
            return call("date_sub", left, right)
        if left.type.is_temporal and right.type.is_temporal:
            raise TypeProblem(
                "a difference of dates is an interval, which is not a column type",
                hint="write datediff(end, start)",
            )
    return _checked(function, args)


def _date_sub(function: Function, args: Sequence[Expr]) -> Expr:
    built = _checked(function, args)
    day, days = built.args
    back = call("negate", days)
    return call("date_add", day, back) if isinstance(back, Literal) else built


def _with_unit(function: Function, args: Sequence[Expr]) -> Expr:
    built = _checked(function, args)
    index = next(i for i, accepts in enumerate(function.parameters) if accepts.value == "a literal")
    unit, units = built.args[index], UNITS[function.name]
    given = str(unit.value).upper() if isinstance(unit, Literal) else ""
    if given not in units:
        raise TypeProblem(
            f"{function.name} knows no unit '{given}'",
            hint="units: " + ", ".join(dict.fromkeys(units.values())),
            argument=index,
        )
    parts = list(built.args)
    parts[index] = literal(units[given])
    return _checked(function, parts)


_CANONICAL: Final[dict[str, Callable[[Function, Sequence[Expr]], Expr]]] = {
    "and": _junction,
    "or": _junction,
    **dict.fromkeys(_MIRRORED, _comparison),
    "in": _in,
    "not": _not,
    "negate": _negate,
    "concat": _concat,
    "coalesce": _coalesce,
    "+": _plus,
    "-": _minus,
    "date_sub": _date_sub,
    "trunc": _with_unit,
    "date_trunc": _with_unit,
}
