"""Scalar expressions as Python functions of a row: three-valued logic, exact numbers.

Division by zero gives NULL: factors of a product are evaluated in no fixed order, so a condition
cannot guard a division that would raise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any, Final, assert_never

from cubekeeper.errors import InputError, NotYetError
from cubekeeper.live.interpret.functions import FUNCTIONS, ROUNDINGS, converted, rounded
from cubekeeper.scalar.nodes import Call, Case, Cast, ColumnRef, Expr, Literal, StoredRef, walk
from cubekeeper.schema import DataType, Kind

Row = Mapping[str, Any]
Compiled = Callable[[Row], Any]

EXACT: Final = Context(prec=120, rounding=ROUND_HALF_UP)


@lru_cache(maxsize=50_000)
def compiled(expr: Expr) -> Compiled:
    """A function that evaluates an expression on a row.

    >>> from cubekeeper.scalar.build import call, literal
    >>> compiled(call("+", literal(1), literal(2)))({})
    3
    """
    match expr:
        case ColumnRef(_, name) | StoredRef(name):
            return operator.itemgetter(name)
        case Literal(value):
            return lambda _: value
        case Call():
            return _call(expr)
        case Case():
            return _case(expr)
        case Cast(operand, type):
            return _cast(compiled(operand), operand.type, type)
        case _:
            assert_never(expr)


def refuse_unknown(expr: Expr) -> None:
    """Raise `NotYetError` for a function that has no meaning here."""
    for node in walk(expr):
        if isinstance(node, Call) and node.function not in KNOWN:
            raise NotYetError(
                "live-function", f"the function {node.function} is not yet known to live views"
            )


def _case(expr: Case) -> Compiled:
    branches = [(compiled(when), compiled(then)) for when, then in expr.branches]
    default = None if expr.default is None else compiled(expr.default)

    def run(row: Row) -> Any:
        for when, then in branches:
            if when(row) is True:
                return then(row)
        return None if default is None else default(row)

    return _as_type(run, expr.type)


def _as_type(run: Compiled, type: DataType) -> Compiled:
    """Mixed numbers become doubles where SQL says so."""
    if not type.is_float:
        return run

    def wide(row: Row) -> Any:
        value = run(row)
        return None if value is None else float(value)

    return wide


def _cast(operand: Compiled, source: DataType, target: DataType) -> Compiled:
    def run(row: Row) -> Any:
        value = operand(row)
        if value is None:
            return None
        try:
            return converted(value, source, target)
        except (ValueError, ArithmeticError) as problem:
            raise InputError("cast", f"CAST failed: {problem}") from None

    return run


def _call(expr: Call) -> Compiled:
    name, args = expr.function, expr.args
    parts = [compiled(arg) for arg in args]
    if name in _LOGIC:
        return _LOGIC[name](parts)
    if name in _ARITHMETIC:
        return _strict(_arithmetic(name, expr.type), parts)
    if name in _COMPARISONS:
        return _strict(_compare(name, [arg.type for arg in args]), parts)
    if name == "<=>":
        return _null_safe(parts, [arg.type for arg in args])
    if name == "in":
        return _in(parts, [arg.type for arg in args])
    if name == "nullif":
        return _nullif(parts, [arg.type for arg in args])
    if name in ("coalesce", "greatest", "least"):
        return _as_type(_CHOICES[name](parts), expr.type)
    if name in ROUNDINGS:
        return _strict(_round(name, expr.type), parts)
    return _strict(FUNCTIONS[name], parts)


def _strict(function: Callable[..., Any], parts: list[Compiled]) -> Compiled:
    """NULL when any argument is."""
    if len(parts) == 2:
        left, right = parts

        def run_two(row: Row) -> Any:
            a = left(row)
            if a is None:
                return None
            b = right(row)
            return None if b is None else function(a, b)

        return run_two

    def run(row: Row) -> Any:
        values = [part(row) for part in parts]
        return None if None in values else function(*values)

    return run


def _round(name: str, type: DataType) -> Callable[..., Any]:
    return lambda value, digits=0: rounded(value, digits, type, ROUNDINGS[name])


# --- arithmetic -------------------------------------------------------------------------------


def _remainder(a: Any, b: Any) -> Any:
    return None if b == 0 else a - b * int(a / b) if isinstance(a, float) else _int_rest(a, b)


def _int_rest(a: Any, b: Any) -> Any:
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def _pmod(a: Any, b: Any) -> Any:
    return None if b == 0 else (a % b + abs(b)) % abs(b)


def _whole_division(a: Any, b: Any) -> Any:
    if b == 0:
        return None
    quotient = abs(int(a)) // abs(int(b)) if isinstance(a, int) else int(abs(a) / abs(b))
    return -quotient if (a < 0) != (b < 0) else quotient


_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: None if b == 0 else a / b,
    "%": _remainder,
    "pmod": _pmod,
    "div": _whole_division,
}
_DECIMAL: Final[Mapping[str, Callable[[Decimal, Decimal], Any]]] = {
    "+": EXACT.add,
    "-": EXACT.subtract,
    "*": EXACT.multiply,
    "/": lambda a, b: None if b == 0 else EXACT.divide(a, b),
    "%": lambda a, b: None if b == 0 else EXACT.remainder(a, b),
    "pmod": _pmod,
}


def _arithmetic(name: str, type: DataType) -> Callable[[Any, Any], Any]:
    if type.is_float:
        plain = _ARITHMETIC[name]
        return lambda a, b: plain(float(a), float(b))
    if type.kind is Kind.DECIMAL:
        exact, unit = _DECIMAL[name], Decimal(1).scaleb(-type.scale)

        def run(a: Any, b: Any) -> Any:
            result = exact(Decimal(a), Decimal(b))
            return None if result is None else result.quantize(unit, context=EXACT)

        return run
    return _ARITHMETIC[name]


# --- comparisons and logic --------------------------------------------------------------------

_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _compare(name: str, types: list[DataType]) -> Callable[[Any, Any], Any]:
    plain, meet = _COMPARISONS[name], _meeting(types)
    return plain if meet is None else lambda a, b: plain(meet(a), meet(b))


def _meeting(types: list[DataType]) -> Callable[[Any], Any] | None:
    """How values of different types are brought together before they are compared."""
    kinds = {one.kind for one in types}
    if any(one.is_float for one in types) and Kind.DECIMAL in kinds:
        return float
    if Kind.DATE in kinds and len(kinds - {Kind.NULL}) > 1:
        return _moment
    return None


def _moment(value: date) -> datetime:
    if isinstance(value, datetime):
        return value
    return datetime(value.year, value.month, value.day)


def _null_safe(parts: list[Compiled], types: list[DataType]) -> Compiled:
    equal = _compare("=", types)

    def run(row: Row) -> Any:
        a, b = (part(row) for part in parts)
        return (a is None and b is None) if a is None or b is None else equal(a, b)

    return run


def _in(parts: list[Compiled], types: list[DataType]) -> Compiled:
    equals = [_compare("=", [types[0], one]) for one in types[1:]]

    def run(row: Row) -> Any:
        subject = parts[0](row)
        if subject is None:
            return None
        unknown = False
        for part, equal in zip(parts[1:], equals, strict=True):
            item = part(row)
            if item is None:
                unknown = True
            elif equal(subject, item):
                return True
        return None if unknown else False

    return run


def _nullif(parts: list[Compiled], types: list[DataType]) -> Compiled:
    equal = _compare("=", types)

    def run(row: Row) -> Any:
        a, b = (part(row) for part in parts)
        return None if a is not None and b is not None and equal(a, b) else a

    return run


def _and(parts: list[Compiled]) -> Compiled:
    def run(row: Row) -> Any:
        result: bool | None = True
        for part in parts:
            value = part(row)
            if value is False:
                return False
            if value is None:
                result = None
        return result

    return run


def _or(parts: list[Compiled]) -> Compiled:
    def run(row: Row) -> Any:
        result: bool | None = False
        for part in parts:
            value = part(row)
            if value is True:
                return True
            if value is None:
                result = None
        return result

    return run


def _not(parts: list[Compiled]) -> Compiled:
    def run(row: Row) -> Any:
        value = parts[0](row)
        return None if value is None else not value

    return run


def _is_null(parts: list[Compiled]) -> Compiled:
    return lambda row: parts[0](row) is None


_LOGIC: Final = {"and": _and, "or": _or, "not": _not, "is_null": _is_null}


def _coalesce(parts: list[Compiled]) -> Compiled:
    def run(row: Row) -> Any:
        return next((v for v in (part(row) for part in parts) if v is not None), None)

    return run


def _best(choose: Callable[[list[Any]], Any]) -> Callable[[list[Compiled]], Compiled]:
    def build(parts: list[Compiled]) -> Compiled:
        def run(row: Row) -> Any:
            known = [v for v in (part(row) for part in parts) if v is not None]
            return choose(known) if known else None

        return run

    return build


_CHOICES: Final = {"coalesce": _coalesce, "greatest": _best(max), "least": _best(min)}

KNOWN: Final = frozenset(
    {*FUNCTIONS, *_ARITHMETIC, *_COMPARISONS, *_LOGIC, *_CHOICES, *ROUNDINGS}
    | {"<=>", "in", "nullif"}
)
"""The functions that the interpreter knows."""
