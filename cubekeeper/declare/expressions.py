"""Named expressions, aggregates and filters of the structured form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from cubekeeper.declare.documents import MeasureDocument, NamedExpression
from cubekeeper.declare.leaves import Word, bad_name
from cubekeeper.declare.scope import Found, NameScope
from cubekeeper.errors import InputError, did_you_mean
from cubekeeper.parse import (
    RawExpr,
    bind,
    column_parts,
    is_aggregate,
    parse_aggregate,
    parse_raw,
)
from cubekeeper.scalar.aggregates import Aggregate, AggregateFunction, aggregate
from cubekeeper.scalar.build import TypeProblem, case, conjoin, conjuncts, literal
from cubekeeper.scalar.nodes import ColumnRef, Expr, Path
from cubekeeper.schema import BOOLEAN
from cubekeeper.source import Fragment, Span
from cubekeeper.warehouse.model import Hierarchy

_F: Final = AggregateFunction
AGGREGATE_WORDS: Final[Mapping[str, AggregateFunction]] = MappingProxyType(
    {
        **{function.value: function for function in AggregateFunction},
        "average": _F.AVG,
        "mean": _F.AVG,
        "variance": _F.VAR_SAMP,
        "stddev": _F.STDDEV_SAMP,
    }
)
"""What `agg` may say; the words are those of SQL, Cube and MetricFlow."""


def named_expression(item: NamedExpression, scope: NameScope, what: str) -> tuple[Word, Expr]:
    """The name and the expression of a group-by column or level; a column names itself."""
    raw = parse_raw(item.expr)
    if is_aggregate(raw):
        raise InputError(
            "misplaced-aggregate",
            f"{what} cannot be an aggregate",
            span=raw.span,
            hint="aggregates belong under `measures`",
        )
    parts = column_parts(raw)
    if parts is None and item.name is None:
        raise InputError(
            "missing-name",
            f"{what} that is an expression needs a name",
            span=raw.span,
            hint=f"write `some_name: {' '.join(raw.text.split())}`",
        )
    if parts is not None:
        found = _column(parts, raw.span, scope)
        return item.name or Word(found.name, raw.span), found.expr
    assert item.name is not None
    return item.name, bind(raw, scope)


def _column(parts: tuple[str, ...], span: Span, scope: NameScope) -> Found:
    try:
        return scope.find(parts, span)
    except InputError as error:
        if error.code != "unknown-column":
            raise
        for _, hierarchy in hierarchies_named(parts, scope):
            levels = ", ".join(level.name for level in hierarchy.levels)
            raise InputError(
                "hierarchy-as-column",
                f"`{'.'.join(parts)}` is a hierarchy, not a column",
                span=span,
                hint=f"name one of its levels ({levels}), or use the hierarchy under `cube`",
            ) from None
        raise


def hierarchies_named(parts: tuple[str, ...], scope: NameScope) -> Iterator[tuple[Path, Hierarchy]]:
    """The hierarchies that a name may mean: `geography`, `stores.geography`, a role's."""
    lowered = tuple(part.lower() for part in parts)
    paths = scope.qualifiers.get(lowered[:-1], ()) if len(parts) > 1 else scope.paths
    for path in paths:
        for hierarchy in scope.table(path).hierarchies:
            if hierarchy.name.lower() == lowered[-1]:
                yield path, hierarchy


def bound_filter(texts: Iterable[Fragment], scope: NameScope) -> tuple[Expr, ...]:
    """The conditions of a filter, in canonical order."""
    return conjunction((parse_raw(text), scope) for text in texts)


def conjunction(conditions: Iterable[tuple[RawExpr, NameScope]]) -> tuple[Expr, ...]:
    """Conditions that must all hold, in canonical order."""
    bound = [_condition(raw, scope) for raw, scope in conditions]
    whole = conjoin(bound)
    return () if whole is None else conjuncts(whole)


def _condition(raw: RawExpr, scope: NameScope) -> Expr:
    if is_aggregate(raw):
        raise InputError(
            "misplaced-aggregate",
            "a filter looks at single rows; it cannot aggregate",
            span=raw.span,
            hint="keep all groups, and filter when the table is read",
        )
    expr = bind(raw, scope)
    if expr.type != BOOLEAN:
        raise InputError(
            "filter-type",
            f"a filter is true or false, but this is {expr.type}",
            span=raw.span,
            hint="compare it with something, as in `qty > 0`",
        )
    return expr


def bound_measure(item: MeasureDocument, scope: NameScope) -> tuple[Word, Aggregate]:
    """The name and the aggregate of a measure."""
    made = _aggregate(item, scope)
    if item.filter is not None:
        condition = _condition(parse_raw(item.filter), scope)
        made = _filtered(made, condition)
    span = item.expr.span() if item.expr is not None else item.span
    return item.name or default_name(made, span), made


def _aggregate(item: MeasureDocument, scope: NameScope) -> Aggregate:
    if item.agg is None:
        if item.expr is None:
            raise InputError(
                "missing-key",
                "a measure needs `agg`, or an aggregate in `expr`",
                span=item.span,
                hint="write `{name: total, agg: sum, expr: qty}` or `total: SUM(qty)`",
            )
        return parse_aggregate(item.expr, scope)
    function = AGGREGATE_WORDS.get(item.agg.text.lower())
    if function is None:
        raise InputError(
            "unknown-aggregate",
            f"there is no aggregate `{item.agg.text}`",
            span=item.agg.span,
            hint=did_you_mean(item.agg.text, AGGREGATE_WORDS)
            or f"known: {', '.join(sorted(AGGREGATE_WORDS))}",
        )
    counts_rows = function in (_F.COUNT, _F.COUNT_ROWS)
    if counts_rows and (item.expr is None or item.expr.text.strip() == "*"):
        return aggregate(_F.COUNT_ROWS)
    if item.expr is None:
        raise InputError(
            "missing-key",
            f"`agg: {item.agg.text}` needs `expr`: what to aggregate",
            span=item.agg.span,
        )
    raw = parse_raw(item.expr)
    if is_aggregate(raw):
        raise InputError(
            "nested-aggregate",
            "a measure cannot aggregate an aggregate",
            span=raw.span,
            hint=f"remove `agg: {item.agg.text}`, or the aggregate in `expr`",
        )
    return _typed(function, bind(raw, scope), raw.span)


def _typed(function: AggregateFunction, argument: Expr, span: Span) -> Aggregate:
    try:
        return aggregate(function, argument)
    except TypeProblem as problem:
        raise InputError("type-error", problem.message, span=span, hint=problem.hint) from None


def _filtered(made: Aggregate, condition: Expr) -> Aggregate:
    """``f(e) FILTER (WHERE c)`` is ``f(CASE WHEN c THEN e END)``: all aggregates skip NULL."""
    if made.argument is None:
        return aggregate(_F.COUNT, case([(condition, literal(1))]))
    return aggregate(made.function, case([(condition, made.argument)]))


def default_name(made: Aggregate, span: Span) -> Word:
    """The name of an aggregate that was given none: ``count``, ``sum_qty``.

    Only a plain column gives a name; anything else needs one.
    """
    match made.argument:
        case None:
            return Word("count", span)
        case ColumnRef(column=column):
            return Word(f"{made.function.value}_{column}", span)
        case _:
            raise InputError(
                "missing-name",
                "an aggregate of an expression needs a name",
                span=span,
                hint="add `AS some_name`, or `name:` in the structured form",
            )


def checked_name(word: Word) -> Word:
    """A name that was given in SQL, refused like one given in YAML."""
    wrong = bad_name(word.text)
    if wrong:
        code, message, hint = wrong
        raise InputError(code, message, span=word.span, hint=hint or None)
    return word
