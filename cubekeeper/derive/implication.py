"""Whether one filter implies another, and what is left of it when it does (S7).

A filter is a conjunction that keeps the rows for which it is TRUE; FALSE and NULL drop them. Each
boolean expression is translated into a two-valued condition "its value is one of these", for any
subset of TRUE, FALSE and NULL, down to facts about single terms (`holds`). Premises imply a
conclusion when "all premises are TRUE and the conclusion is FALSE or NULL" is refuted.

Every step of the translation may only weaken a condition, never strengthen it: then a refutation
is a proof. It is complete for AND, OR and NOT over comparisons of single terms with constants, as
far as the work limit allows; terms that depend on each other are taken as independent.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from cubekeeper.derive.conditions import (
    ALWAYS,
    NEVER,
    Condition,
    Fact,
    Order,
    every,
    refuted,
    some,
)
from cubekeeper.derive.monotone import preimage
from cubekeeper.derive.value_sets import NAN, ONLY_NULL, ValueSet, domain, union
from cubekeeper.scalar.build import call
from cubekeeper.scalar.nodes import Call, Case, Cast, Expr, Literal, children
from cubekeeper.scalar.types import common_type
from cubekeeper.schema import NULL, STRING, DataType, Kind

WORK: Final = 5_000
"""Steps after which the search for a proof is given up."""

_TRUE: Final = ValueSet(((1,), (2,)))
_FALSE: Final = ValueSet(((0,), (1,)))
_NOT_TRUE: Final = ValueSet(((0,), (1,)), null=True)
_NOT_FALSE: Final = ValueSet(((1,), (2,)), null=True)


def implies(premises: tuple[Expr, ...], conclusion: Expr) -> bool:
    """Whether in every row in which all premises are TRUE the conclusion is provably TRUE too.

    >>> from cubekeeper.scalar.build import call, literal
    >>> from cubekeeper.scalar.nodes import ColumnRef
    >>> from cubekeeper.schema import INT
    >>> x = ColumnRef((), "x", INT, nullable=True)
    >>> implies((call(">", x, literal(4)), call("<", x, literal(6))), call("=", x, literal(5)))
    True
    >>> implies((call("<>", x, literal(4)),), call(">", x, literal(4)))
    False
    """
    if conclusion in premises:
        return True
    counterexample = [holds(premise, _TRUE) for premise in premises]
    counterexample.append(holds(conclusion, _NOT_TRUE))
    return refuted(every(counterexample), WORK)


def residual(
    child_filter: tuple[Expr, ...], parent_filter: tuple[Expr, ...]
) -> tuple[Expr, ...] | None:
    """What remains of the child's filter on rows that the parent's has kept.

    None when rows that the child keeps may be missing from the parent. Otherwise the parent's
    filter and the residual together keep the same rows as the child's filter.
    """
    if not all(implies(child_filter, conjunct) for conjunct in parent_filter):
        return None
    return tuple(conjunct for conjunct in child_filter if not implies(parent_filter, conjunct))


@lru_cache(maxsize=16_384)
def holds(expr: Expr, allowed: ValueSet) -> Condition:
    """The condition that an expression's value is in a set, or a weaker one."""
    if not allowed.cuts and not (allowed.null and expr.nullable):
        return NEVER
    if domain(expr.type).all <= allowed and (allowed.null or not expr.nullable):
        return ALWAYS
    match expr:
        case Literal():
            return ALWAYS if _may_be_in(expr, allowed) else NEVER
        case Call("and", args):
            return _junction(args, allowed, decisive=_FALSE)
        case Call("or", args):
            return _junction(args, allowed, decisive=_TRUE)
        case Call("not", (operand,)):
            return holds(operand, _negated(allowed))
        case Call("is_null", (operand,)):
            return _truth(allowed, holds(operand, ONLY_NULL), not_null(operand))
        case Call("isnan", (operand,)) if operand.type.is_float:
            numbers = domain(operand.type).between(domain(operand.type).start, NAN.cuts[0])
            other = ValueSet(numbers.cuts, null=True)
            return _truth(allowed, holds(operand, NAN), holds(operand, other))
        case Call("=" | "<>" | "<" | "<=" | ">" | ">=", (left, right)):
            return _comparison(expr.function, left, right, allowed)
        case Call("<=>", (left, right)):
            return _null_safe_equality(left, right, allowed)
        case Call("in", (subject, *items)):
            wide = _converted(subject, common_type(arg.type for arg in expr.args))
            return holds(call("or", *(call("=", wide, item) for item in items)), allowed)
        case Call("like", (subject, Literal(str(pattern)))):
            return _like(expr, subject, pattern, allowed)
        case Call("startswith", (subject, Literal(str(prefix)))):
            return _prefix(subject, prefix, allowed)
        case Call("coalesce", args):
            return _coalesce(args, expr.type, allowed)
        case Call("nullif", (left, right)):
            empty = Literal(None, expr.type)
            return _case(((call("=", left, right), empty),), left, expr.type, allowed)
        case Case(branches, default):
            return _case(branches, default or Literal(None, expr.type), expr.type, allowed)
    inner = preimage(expr, allowed)
    if inner is not None:
        return holds(*inner)
    if isinstance(expr, Cast) or (isinstance(expr, Call) and expr.function in _STRICT):
        return _strict(expr, allowed)
    return Fact(expr, allowed if expr.nullable else allowed.values)


def not_null(expr: Expr) -> Condition:
    """The condition that an expression has a value."""
    return holds(expr, domain(expr.type).all)


def _truth(
    allowed: ValueSet, true: Condition, false: Condition, null: Condition = NEVER
) -> Condition:
    """A boolean's value is in a set, given the conditions under which it is each of the three."""
    ways = [(true, (1,)), (false, (0,)), (null, None)]
    return some(condition for condition, value in ways if value in allowed)


def _may_be_in(literal: Literal, allowed: ValueSet) -> bool:
    if literal.value is None:
        return allowed.null
    equal = domain(literal.type).satisfying("=", literal.value)
    return bool(allowed.cuts) if equal is None else not equal.isdisjoint(allowed)


def _negated(allowed: ValueSet) -> ValueSet:
    swapped = [_FALSE] * ((1,) in allowed) + [_TRUE] * ((0,) in allowed)
    return ValueSet(union(swapped).cuts, allowed.null)


def _junction(args: tuple[Expr, ...], allowed: ValueSet, *, decisive: ValueSet) -> Condition:
    """AND (FALSE decides it) and OR (TRUE does): decided by one part, else NULL if one is NULL."""
    neutral = _negated(decisive)
    undecided = ValueSet(neutral.cuts, null=True)
    unlike_neutral = ValueSet(decisive.cuts, null=True)
    if allowed.values == decisive:
        return some(holds(arg, allowed) for arg in args)
    if allowed.values == neutral:
        return every(holds(arg, allowed) for arg in args)
    if allowed == ONLY_NULL:
        return every(
            (
                every(holds(arg, undecided) for arg in args),
                some(holds(arg, unlike_neutral) for arg in args),
            )
        )
    return some(_junction(args, value, decisive=decisive) for value in (decisive, neutral))


_OPPOSITE: Final = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ORDERS: Final = {
    "<": ValueSet(((-1,), (0,))),
    "=": ValueSet(((0,), (1,))),
    ">": ValueSet(((1,), (2,))),
    "<=": ValueSet(((-1,), (1,))),
    ">=": ValueSet(((0,), (2,))),
    "<>": ValueSet(((-1,), (0,), (1,), (2,))),
}


def _comparison(operator: str, left: Expr, right: Expr, allowed: ValueSet) -> Condition:
    either_null = some(holds(side, ONLY_NULL) for side in (left, right))
    return _truth(
        allowed,
        _compares(operator, left, right),
        _compares(_OPPOSITE[operator], left, right),
        either_null,
    )


def _compares(operator: str, left: Expr, right: Expr) -> Condition:
    """The condition that a comparison is TRUE."""
    both = every((not_null(left), not_null(right)))
    if left == right:
        return both if (0,) in _ORDERS[operator] else NEVER
    ordered = every((both, Fact(Order(left, right), _ORDERS[operator])))
    common = common_type((left.type, right.type))
    if not isinstance(right, Literal) or common is None or not _reads_exactly(right, common):
        return ordered
    values = domain(common).satisfying(operator, right.value)
    if values is None:
        return ordered
    within = holds(_converted(left, common), values)
    return every((ordered, within)) if domain(common).blur else within


def _reads_exactly(constant: Literal, to: DataType) -> bool:
    """Whether comparing in a type compares with the constant as written, not rounded.

    Doubles are fine: the domain of doubles rounds as Spark does.
    """
    if to.kind is not Kind.DECIMAL or constant.type == NULL:
        return True
    own = constant.type.as_decimal
    return own.scale <= to.scale and own.precision - own.scale <= to.precision - to.scale


def _converted(expr: Expr, to: DataType | None) -> Expr:
    return expr if to is None or expr.type == to else Cast(expr, to, expr.nullable)


def _null_safe_equality(left: Expr, right: Expr, allowed: ValueSet) -> Condition:
    left_null, right_null = holds(left, ONLY_NULL), holds(right, ONLY_NULL)
    return _truth(
        allowed,
        some((_compares("=", left, right), every((left_null, right_null)))),
        some(
            (
                _compares("<>", left, right),
                every((left_null, not_null(right))),
                every((not_null(left), right_null)),
            )
        ),
    )


def _like(expr: Expr, subject: Expr, pattern: str, allowed: ValueSet) -> Condition:
    prefix = pattern[: min((pattern + "%").index("%"), (pattern + "_").index("_"))]
    if "\\" in pattern:
        return _strict(expr, allowed)
    if prefix == pattern:
        return _comparison("=", subject, Literal(pattern, STRING), allowed)
    if pattern == prefix + "%":
        return _prefix(subject, prefix, allowed)
    starts, _ = domain(STRING).starting_with(prefix)
    return _truth(
        allowed,
        every((_strict(expr, _TRUE), holds(subject, starts))),
        _strict(expr, _FALSE),
        holds(subject, ONLY_NULL),
    )


def _prefix(subject: Expr, prefix: str, allowed: ValueSet) -> Condition:
    inside, outside = domain(STRING).starting_with(prefix)
    return _truth(
        allowed, holds(subject, inside), holds(subject, outside), holds(subject, ONLY_NULL)
    )


def _coalesce(args: tuple[Expr, ...], result: DataType, allowed: ValueSet) -> Condition:
    ways = []
    before: list[Condition] = []
    for arg in args:
        ways.append(every((*before, holds(_converted(arg, result), allowed.values))))
        before.append(holds(arg, ONLY_NULL))
    if allowed.null:
        ways.append(every(before))
    return some(ways)


def _case(
    branches: tuple[tuple[Expr, Expr], ...], default: Expr, result: DataType, allowed: ValueSet
) -> Condition:
    ways = []
    before: list[Condition] = []
    for condition, value in branches:
        chosen = holds(condition, _TRUE)
        ways.append(every((*before, chosen, holds(_converted(value, result), allowed))))
        before.append(holds(condition, _NOT_TRUE))
    ways.append(every((*before, holds(_converted(default, result), allowed))))
    return some(ways)


_STRICT: Final = frozenset(
    "+ - * negate abs ceil floor round bround sign upper lower trim ltrim rtrim length ascii "
    "reverse initcap concat substring left right replace translate like ilike rlike startswith "
    "endswith contains trunc date_trunc year quarter month weekofyear day dayofweek weekday "
    "dayofyear hour minute second last_day date_add add_months datediff".split()
)
"""Functions that are NULL exactly when an argument is."""


def _strict(expr: Expr, allowed: ValueSet) -> Condition:
    args = children(expr)
    present = [not_null(arg) for arg in args]
    ways = []
    if allowed.cuts:
        everything = domain(expr.type).all <= allowed
        ways.append(every(present if everything else (*present, Fact(expr, allowed.values))))
    if allowed.null:
        ways.append(some(holds(arg, ONLY_NULL) for arg in args))
    return some(ways)
