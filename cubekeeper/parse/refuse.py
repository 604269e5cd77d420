"""What is understood but has no place in a declaration, each with its reason."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from cubekeeper.errors import UnsupportedError
from cubekeeper.parse.located import Text, too_deep

MAX_TREE_DEPTH: Final = 120

AGGREGATES: Final = frozenset(
    "count count_if sum min max avg mean var_pop var_samp variance stddev stddev_pop stddev_samp "
    "std approx_count_distinct median mode bool_and bool_or every some any_value first last "
    "first_value last_value collect_list collect_set array_agg listagg string_agg percentile "
    "percentile_approx approx_percentile percentile_cont percentile_disc corr covar_pop covar_samp "
    "skewness kurtosis bit_and bit_or bit_xor max_by min_by grouping grouping_id regr_count "
    "regr_slope regr_r2 histogram_numeric count_min_sketch try_sum try_avg".split()
)
"""Names that aggregate; the ones that a measure may use are in `aggregate`."""


def is_aggregate_call(node: exp.Expr) -> bool:
    """Whether a node is a call of an aggregate function."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in AGGREGATES


def check_depth(text: Text, node: exp.Expr) -> None:
    """Refuse trees so deep that walking them would exhaust the stack."""
    level: list[exp.Expr] = [node]
    for _ in range(MAX_TREE_DEPTH):
        level = [part for at in level for part in chain(at)]
        if not level:
            return
    raise too_deep(text.fragment.span())


def chain(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a node, those of a chain of AND, OR or || at once."""
    if not isinstance(node, exp.And | exp.Or | exp.DPipe):
        return list(node.iter_expressions())
    parts: list[exp.Expr] = []
    pending: list[exp.Expr] = [node]
    while pending:
        at = pending.pop()
        if type(at) is type(node):
            pending += [at.expression, at.this]  # left first
        else:
            parts.append(at)
    return parts


_QUERIES: Final = (exp.Query, exp.Exists)
_REFUSALS: Final[tuple[tuple[tuple[type[exp.Expr], ...], str, str, str | None], ...]] = (
    (
        _QUERIES,
        "subquery",
        "a subquery cannot be maintained here",
        "join the table along a declared foreign key",
    ),
    (
        (exp.Window,),
        "window",
        "a window function looks at other rows of the result, which cannot be maintained",
        "compute it when the table is read",
    ),
    (
        (exp.Placeholder, exp.Parameter, exp.SessionParameter),
        "parameter",
        "a declaration has no parameters",
        "write the value itself",
    ),
    ((exp.Star,), "star", "`*` stands for columns only in COUNT(*)", "name the columns"),
    (
        (exp.Filter, exp.Distinct, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls),
        "misplaced-aggregate",
        "this belongs to an aggregate",
        "aggregates stand alone, as measures",
    ),
    (
        (exp.Interval,),
        "interval",
        "an interval can only be added to or taken from a date",
        "write x + INTERVAL 3 DAYS",
    ),
    (
        (
            exp.BitwiseAnd,
            exp.BitwiseOr,
            exp.BitwiseXor,
            exp.BitwiseNot,
            exp.BitwiseLeftShift,
            exp.BitwiseRightShift,
        ),
        "bitwise",
        "operators on bits are not supported",
        "compute the value when the row is written",
    ),
    ((exp.Lambda,), "lambda", "functions of arrays are not supported", None),
    (
        (exp.Bracket, exp.Dot, exp.JSONExtract, exp.Struct, exp.Array, exp.Tuple),
        "nested-value",
        "columns of arrays, maps and structs are not supported",
        "unpack them when the row is written",
    ),
    ((exp.Alias,), "syntax", "a name has no place here", None),
)


def refusal(text: Text, node: exp.Expr) -> UnsupportedError:
    """The error of a construct that has no meaning here."""
    query = node.find(exp.Query) if isinstance(node, exp.SubqueryPredicate) else None
    node = query or node
    for kinds, code, message, hint in _REFUSALS:
        if isinstance(node, kinds):
            return UnsupportedError(code, message, span=text.span(node), hint=hint)
    return UnsupportedError(
        "unsupported-syntax",
        f"this construct ({node.key}) is not supported",
        span=text.span(node),
    )


def check_constructs(text: Text, node: exp.Expr) -> None:
    """Refuse subqueries and window functions anywhere in a tree."""
    for part in node.walk():
        if isinstance(part, (*_QUERIES, exp.Window)):
            raise refusal(text, part)
