"""From sqlglot's trees to typed expressions, names resolved by the caller's `Scope`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from sqlglot import exp

from cubekeeper.errors import did_you_mean
from cubekeeper.parse import sugar
from cubekeeper.parse.binder import Binder, Form, Scope
from cubekeeper.parse.dialect import nondeterministic
from cubekeeper.parse.located import Text
from cubekeeper.parse.refuse import AGGREGATES, chain
from cubekeeper.scalar.build import call, case, cast, literal
from cubekeeper.scalar.functions import GENERATORS, NONDETERMINISTIC
from cubekeeper.scalar.literals import negated
from cubekeeper.scalar.nodes import Expr
from cubekeeper.schema import BOOLEAN, NULL, DataType, decimal, parse_type

_OPERATORS: Final[Mapping[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.RegexpLike: "rlike",
}
_PREDICATES: Final = (
    exp.EQ,
    exp.NEQ,
    exp.LT,
    exp.LTE,
    exp.GT,
    exp.GTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Is,
    exp.In,
    exp.Like,
    exp.ILike,
    exp.RegexpLike,
    exp.Between,
    exp.Not,
)


def _column(binder: Binder, node: exp.Expr) -> Expr:
    parts = name_parts(node)
    if parts is None:
        binder.refuse(node.this if isinstance(node.this, exp.Star) else node)
    return binder.scope.resolve(parts, binder.text.span(node))


def name_parts(node: exp.Expr) -> tuple[str, ...] | None:
    """The parts of a column's name, None for anything else.

    sqlglot keeps four parts in a column and hangs the further ones behind it.
    """
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
        before = name_parts(node.this)
        return None if before is None else (*before, node.expression.name)
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        return None
    return tuple(part.name for part in node.parts)


def _identifier(binder: Binder, node: exp.Expr) -> Expr:
    return binder.scope.resolve((node.name,), binder.text.span(node))


def _paren(binder: Binder, node: exp.Expr) -> Expr:
    return binder.bind(node.this)


_INTEGER: Final = re.compile(r"\d{1,60}", re.ASCII)
_DECIMAL: Final = re.compile(r"\d{0,60}\.\d{0,60}", re.ASCII)
_DOUBLE: Final = re.compile(r"(\d{1,60}(\.\d{0,60})?|\.\d{1,60})[eE][+-]?\d{1,4}", re.ASCII)


def _number(text: str) -> int | float | Decimal | None:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) and text != ".":
        return Decimal(text)
    if _DOUBLE.fullmatch(text):
        return float(text)
    return None


def _literal(binder: Binder, node: exp.Expr, sign: int = 1) -> Expr:
    if node.args.get("is_string"):
        return literal(str(node.this))
    value = _number(str(node.this))
    if value is None:
        binder.wrong(node, "syntax", f"`{str(node.this)[:40]}` is not a number")
    return binder.typed(node, (), lambda: literal(value if sign > 0 else negated(value)))


def _raw_string(_: Binder, node: exp.Expr) -> Expr:
    return literal(str(node.this))


def _boolean(_: Binder, node: exp.Expr) -> Expr:
    return literal(bool(node.this))


def _null(_: Binder, __: exp.Expr) -> Expr:
    return literal(None)


def _negated(binder: Binder, node: exp.Expr) -> Expr:
    operand = node.this
    if _is_number(operand):
        return _literal(binder, operand, -1)
    if (
        isinstance(operand, exp.TryCast)
        and "start" not in operand.meta
        and _is_number(operand.this)
    ):
        least = _literal(binder, operand.this, -1)  # -128Y: the sign belongs to the number
        to = column_type(binder, operand.args["to"])
        return binder.typed(node, (), lambda: cast(least, to))
    return binder.call(node, "negate", operand)


def _is_number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def _binary(binder: Binder, node: exp.Expr) -> Expr:
    left, right = node.this, node.expression
    if isinstance(node, _PREDICATES):
        _check_chain(binder, left, right)
    if isinstance(node, exp.Add | exp.Sub) and isinstance(right, exp.Interval):
        return _shift(binder, node, left, right)
    if isinstance(node, exp.Add) and isinstance(left, exp.Interval):
        return _shift(binder, node, right, left)
    return binder.call(node, _OPERATORS[type(node)], left, right)


def _check_chain(binder: Binder, *parts: exp.Expr) -> None:
    """Refuse ``a = b = c`` and ``a = b IN (…)``: dialects group them differently."""
    for part in parts:
        if isinstance(part, _PREDICATES):
            binder.wrong(
                part,
                "ambiguous",
                "comparisons follow one another without parentheses",
                "put the inner one into parentheses",
            )


_INTERVAL: Final = re.compile(r"\s*([+-]?\d{1,9})\s*([A-Za-z]*)\s*", re.ASCII)


def _shift(binder: Binder, node: exp.Expr, start: exp.Expr, interval: exp.Expr) -> Expr:
    unit = interval.args.get("unit")
    amount, sign = interval.this, -1 if isinstance(node, exp.Sub) else 1
    if isinstance(amount, exp.Neg):
        amount, sign = amount.this, -sign
    found = _INTERVAL.fullmatch(amount.name) if isinstance(amount, exp.Literal) else None
    name = unit.name if isinstance(unit, exp.Var) else found[2] if found and unit is None else ""
    if not found or not name or bool(found[2]) == (unit is not None):
        binder.unsupported(
            interval,
            "interval",
            "only intervals of whole days, weeks, months or years are supported",
            "write INTERVAL 3 DAYS, or date_add(x, days), add_months(x, months)",
        )
    days = sign * int(found[1])
    bound = binder.bind(start)
    return binder.typed(node, (), lambda: sugar.shifted(bound, days, name))


def _junction(binder: Binder, node: exp.Expr) -> Expr:
    parts = chain(node)
    name = "and" if isinstance(node, exp.And) else "or"
    args = binder.binds(parts)
    for part, arg in zip(parts, args, strict=True):
        if arg.type not in (BOOLEAN, NULL):
            binder.wrong(
                part,
                "type-error",
                f"{name.upper()} takes a boolean, not {arg.type}",
                "compare it with something, as in x = 1",
            )
    return call(name, *args)


def _not(binder: Binder, node: exp.Expr) -> Expr:
    return binder.call(node, "not", node.this)


def _distinct_from(binder: Binder, node: exp.Expr) -> Expr:
    _check_chain(binder, node.this, node.expression)
    return call("not", binder.call(node, "<=>", node.this, node.expression))


def _is(binder: Binder, node: exp.Expr) -> Expr:
    subject, tested = node.this, node.expression
    _check_chain(binder, subject)
    if isinstance(tested, exp.Null):
        return binder.call(node, "is_null", subject)
    if not isinstance(tested, exp.Boolean):
        binder.refuse(node)
    return binder.call(node, "<=>", subject, tested)


def _between(binder: Binder, node: exp.Expr) -> Expr:
    subject, low, high = node.this, node.args["low"], node.args["high"]
    _check_chain(binder, subject, low, high)
    least = binder.call(node, ">=", subject, low)
    return call("and", least, binder.call(node, "<=", subject, high))


def _in(binder: Binder, node: exp.Expr) -> Expr:
    query = node.args.get("query")
    if query is not None:
        binder.refuse(query)
    items = node.expressions
    if not items:
        binder.refuse(node)
    _check_chain(binder, node.this)
    return binder.call(node, "in", node.this, *items)


def _escape(binder: Binder, node: exp.Expr) -> Expr:
    like = node.this
    if not isinstance(like, exp.Like | exp.ILike):
        binder.refuse(node)
    _check_chain(binder, like.this, like.expression)
    parts = (like.this, like.expression, node.expression)
    return binder.sided(like, binder.call(node, _OPERATORS[type(like)], *parts))


def _concat(binder: Binder, node: exp.Expr) -> Expr:
    parts = chain(node)
    return binder.call(node, "concat", *parts)


def _adjacent_strings(binder: Binder, node: exp.Expr) -> Expr:
    """``'it''s'`` is one string with a quote in it, ``'a' 'b'`` is ``'ab'``."""
    tokens = binder.text.strings_at(node)
    if tokens is None:
        binder.refuse(node)
    whole, end = "", -1
    for token in tokens:
        quoted = binder.text.fragment.text[token.start]
        whole += (quoted if token.start == end + 1 and end >= 0 else "") + token.text
        end = token.end
    return literal(whole)


def _case(binder: Binder, node: exp.Expr) -> Expr:
    subject = node.this
    branches, parts = [], []
    for branch in node.args["ifs"]:
        when, then = branch.this, branch.args["true"]
        parts += [when, then]
        condition = binder.bind(when) if subject is None else binder.call(when, "=", subject, when)
        branches.append((condition, binder.bind(then)))
    default = node.args.get("default")
    other = None
    if default is not None:
        parts.append(default)
        other = binder.bind(default)
    return binder.typed(node, parts, lambda: case(branches, other))


def _cast(binder: Binder, node: exp.Expr) -> Expr:
    if node.args.get("safe"):
        binder.unsupported(
            node,
            "try-cast",
            "TRY_CAST hides wrong values as NULL",
            "write CAST, and clean the values before they are loaded",
        )
    to = column_type(binder, node.args["to"])
    operand = binder.bind(node.this)
    return binder.typed(node, (node.this,), lambda: cast(operand, to))


_TYPES: Final = {"text": "string", "timestamptz": "timestamp", "timestampltz": "timestamp"} | {
    "timestampntz": "timestamp_ntz"
}


def column_type(binder: Binder, node: exp.Expr) -> DataType:
    """The type that a type's name in SQL stands for."""
    name = node.this.value.lower() if isinstance(node.this, exp.DType) else str(node.this).lower()
    sizes = [int(part.name) for part in node.expressions if part.name.isdecimal()]
    try:
        if name == "decimal" and sizes:
            return decimal(*sizes[:2])
        return parse_type(_TYPES.get(name, name))
    except ValueError as problem:
        binder.wrong(node, "unknown-type", str(problem), "types are Spark SQL's")


def _extract(binder: Binder, node: exp.Expr) -> Expr:
    source = binder.bind(node.expression)
    return binder.typed(node, (), lambda: sugar.extract(node.this.name, source))


_TRIMS: Final = {"LEADING": "ltrim", "TRAILING": "rtrim"}


def _trim(binder: Binder, node: exp.Expr) -> Expr:
    characters = node.expression
    name = _TRIMS.get(str(node.args.get("position") or "").upper(), "trim")
    return binder.call(node, name, node.this, *([characters] if characters else []))


def _substring(binder: Binder, node: exp.Expr) -> Expr:
    parts = [node.this, node.args.get("start"), node.args.get("length")]
    return binder.call(node, "substring", *(part for part in parts if part is not None))


def _position(binder: Binder, node: exp.Expr) -> Expr:
    parts = [node.args.get("substr"), node.this, node.args.get("position")]
    return binder.call(node, "locate", *(part for part in parts if part is not None))


def _function(binder: Binder, node: exp.Expr) -> Expr:
    name = node.name.lower()
    if name in AGGREGATES:
        binder.wrong(
            node,
            "misplaced-aggregate",
            f"the aggregate {name.upper()} has no place here",
            "aggregates stand alone, as measures",
        )
    if name in NONDETERMINISTIC:
        raise nondeterministic(name, binder.text.span(node))
    if name in GENERATORS:
        binder.unsupported(node, "generator", f"`{name}` makes several rows of one")
    if name not in sugar.NAMES:
        binder.wrong(
            node,
            "unknown-function",
            f"there is no function `{node.name}`",
            did_you_mean(name, sugar.NAMES)
            or "functions of your own are not known: compute the value when the row is written",
        )
    parts = node.expressions
    args = binder.binds(parts)
    return binder.typed(node, parts, lambda: sugar.apply(name, args))


def _form(bind: Callable[[Binder, exp.Expr], Expr], parts: str = "this") -> Form:
    return Form(bind, frozenset(parts.split()))


_BINARY: Final = _form(_binary, "this expression typed safe")  # Div: flags of other dialects

FORMS: Final[Mapping[type[exp.Expr], Form]] = MappingProxyType(
    {
        **dict.fromkeys(_OPERATORS, _BINARY),
        exp.Column: _form(_column, "this table db catalog"),
        exp.Dot: _form(_column, "this expression"),
        exp.Identifier: _form(_identifier, "this quoted"),
        exp.Paren: _form(_paren),
        exp.Literal: _form(_literal, "this is_string"),
        exp.RawString: _form(_raw_string),
        exp.Boolean: _form(_boolean),
        exp.Null: _form(_null),
        exp.Neg: _form(_negated),
        exp.And: _form(_junction, "this expression"),
        exp.Or: _form(_junction, "this expression"),
        exp.Not: _form(_not),
        exp.NullSafeNEQ: _form(_distinct_from, "this expression"),
        exp.Is: _form(_is, "this expression"),
        exp.Between: _form(_between, "this low high"),
        exp.In: _form(_in, "this expressions query"),
        exp.Escape: _form(_escape, "this expression"),
        exp.DPipe: _form(_concat, "this expression safe"),
        exp.Concat: _form(_adjacent_strings, "expressions safe coalesce"),
        exp.Case: _form(_case, "this ifs default"),
        exp.Cast: _form(_cast, "this to safe"),
        exp.TryCast: _form(_cast, "this to safe"),
        exp.Extract: _form(_extract, "this expression"),
        exp.Trim: _form(_trim, "this expression position"),
        exp.Substring: _form(_substring, "this start length"),
        exp.StrPosition: _form(_position, "this substr position"),
        exp.Anonymous: _form(_function, "this expressions"),
    }
)


def binder(text: Text, scope: Scope) -> Binder:
    """What binds the expressions of one text in one scope."""
    return Binder(text, scope, FORMS)
