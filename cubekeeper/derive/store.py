"""How a summary table is stored: maintainable parts, self-maintenance helpers, and outputs.

Measures are broken into distributive aggregates (3.1): AVG into a sum and a count, variances into
a count, a sum and a sum of squares. COUNT(*) is always kept, and COUNT(e) beside every SUM, MIN
and MAX of an ``e`` that can be NULL, so that a group's last value can be seen to go. What readers
asked for is computed from the stored parts by the `outputs`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from cubekeeper.lattice.model import (
    HIDDEN_PREFIX,
    Node,
    Origin,
    Output,
    StoredAggregate,
    StoredKey,
)
from cubekeeper.scalar.aggregates import Aggregate, AggregateFunction, aggregate
from cubekeeper.scalar.build import call, cast, literal
from cubekeeper.scalar.nodes import Call, Cast, ColumnRef, Expr, StoredRef, walk
from cubekeeper.scalar.text import to_sql
from cubekeeper.schema import DOUBLE, DataType, Kind, decimal
from cubekeeper.warehouse.model import Measure, Policy, SummaryTable, Warehouse

F = AggregateFunction

COUNT_ROWS = aggregate(F.COUNT_ROWS, None)


def store(warehouse: Warehouse, view: SummaryTable) -> Node:
    """The stored form of a declared summary table, nothing yet added for other tables."""
    columns = _Columns(warehouse, view)
    for measure in view.measures:  # measures stored as they are keep their own names
        if is_stored_as_is(measure.aggregate):
            columns.declare(measure)
    for measure in view.measures:
        for part in parts(measure.aggregate):
            columns.need(part, f"part of {measure.name}")
            for helper in helpers(part):
                columns.need(helper, f"keeps {measure.name} exact under deletions")
    columns.need(COUNT_ROWS, "tells when a group is empty")
    keys = tuple(StoredKey(key.name, key.expr) for key in view.keys)
    outputs = [
        Output(key.name, StoredRef(key.name, key.expr.type, key.expr.nullable)) for key in view.keys
    ]
    outputs += [Output(m.name, columns.output(m.aggregate)) for m in view.measures]
    return Node(
        view=view,
        keys=keys,
        aggregates=columns.stored(),
        outputs=tuple(outputs),
        row_count=columns.name_of(COUNT_ROWS),
        rebuild_reasons=tuple(_rebuild_reasons(view)),
    )


def is_stored_as_is(agg: Aggregate) -> bool:
    """Whether a measure is its own only part (a COUNT of something never NULL is COUNT(*))."""
    return parts(agg) == (agg,)


def parts(agg: Aggregate) -> tuple[Aggregate, ...]:
    """The aggregates to store for a measure: distributive ones, or itself if it is holistic."""
    argument = agg.argument
    if argument is None or agg.rebuild_reason is not None:
        return (agg,)
    match agg.function:
        case F.COUNT:
            return (agg,) if argument.nullable else (COUNT_ROWS,)
        case F.AVG:
            return (aggregate(F.SUM, argument), _count(argument))
        case F.VAR_POP | F.VAR_SAMP | F.STDDEV_POP | F.STDDEV_SAMP:
            exact = cast(argument, argument.type.as_decimal)
            squares = aggregate(F.SUM, call("*", exact, exact))
            return (aggregate(F.SUM, argument), squares, _count(argument))
        case _:
            return (agg,)


def helpers(part: Aggregate) -> tuple[Aggregate, ...]:
    """What must be stored beside a part so that it stays exact when rows are deleted."""
    if part.argument is None or part.function not in (F.SUM, F.MIN, F.MAX):
        return ()
    return (_count(part.argument),)


def _count(argument: Expr) -> Aggregate:
    witness = _null_with(argument)
    return aggregate(F.COUNT, witness) if witness.nullable else COUNT_ROWS


_NULL_WITH_ANY = frozenset(("+", "-", "*", "negate", "abs"))


def _null_with(expr: Expr) -> Expr:
    """The simplest expression that is NULL exactly when this one is, so that they share a count."""
    match expr:
        case Cast(operand=operand):
            return _null_with(operand)
        case Call(function=function, args=args) if function in _NULL_WITH_ANY:
            nullable = {_null_with(arg) for arg in args if arg.nullable}
            return nullable.pop() if len(nullable) == 1 else expr
        case _:
            return expr


def _rebuild_reasons(view: SummaryTable) -> Iterable[str]:
    for measure in view.measures:
        if measure.aggregate.rebuild_reason is not None:
            yield f"{measure.name}: {measure.aggregate.rebuild_reason}"
    if view.policy is Policy.FULL:
        yield "its policy is `full`"


class _Columns:
    """The stored aggregates of one table while they are being collected and named."""

    def __init__(self, warehouse: Warehouse, view: SummaryTable) -> None:
        self._warehouse = warehouse
        self._view = view
        self._by_aggregate: dict[Aggregate, StoredAggregate] = {}
        self._taken = {key.name.lower() for key in view.keys}
        self._taken |= {measure.name.lower() for measure in view.measures}

    def declare(self, measure: Measure) -> None:
        self._by_aggregate.setdefault(
            measure.aggregate, StoredAggregate(measure.name, measure.aggregate)
        )

    def need(self, agg: Aggregate, reason: str) -> None:
        if agg not in self._by_aggregate:
            (name,) = hidden_names(self._warehouse, self._view.fact, (), (agg,), self._taken)
            self._taken.add(name.lower())
            self._by_aggregate[agg] = StoredAggregate(name, agg, Origin.HELPER, reason)

    def name_of(self, agg: Aggregate) -> str:
        return self._by_aggregate[agg].name

    def stored(self) -> tuple[StoredAggregate, ...]:
        declared = [s for s in self._by_aggregate.values() if s.origin is Origin.DECLARED]
        others = [s for s in self._by_aggregate.values() if s.origin is not Origin.DECLARED]
        return (*declared, *others)

    def output(self, agg: Aggregate) -> Expr:
        refs = [StoredRef(self.name_of(part), part.type, part.nullable) for part in parts(agg)]
        match agg.function:
            case _ if agg.rebuild_reason is not None:
                return refs[0]
            case F.AVG:
                return _average(refs, agg.type)
            case F.VAR_POP | F.STDDEV_POP:
                return _variance(refs, agg.function is F.STDDEV_POP, sample=False)
            case F.VAR_SAMP | F.STDDEV_SAMP:
                return _variance(refs, agg.function is F.STDDEV_SAMP, sample=True)
            case _:
                return refs[0]


def _average(refs: Sequence[StoredRef], result: DataType) -> Expr:
    total, count = refs
    counted = cast(count, decimal(20) if total.type.kind is Kind.DECIMAL else DOUBLE)
    summed = total if total.type.kind is Kind.DECIMAL else cast(total, DOUBLE)
    return cast(call("/", summed, call("nullif", counted, cast(literal(0), counted.type))), result)


def _variance(refs: Sequence[StoredRef], root: bool, *, sample: bool) -> Expr:
    """(n·Σe² − (Σe)²) / n² or / n(n−1); the difference is exact, because it is one of decimals."""
    total, squares, count = refs
    summed, n = cast(total, total.type.as_decimal), cast(count, count.type.as_decimal)
    spread = cast(call("-", call("*", n, squares), call("*", summed, summed)), DOUBLE)
    size = cast(count, DOUBLE)
    pairs = call("*", size, call("-", size, cast(literal(1), DOUBLE)) if sample else size)
    variance = call("/", spread, call("nullif", pairs, cast(literal(0), DOUBLE)))
    return call("sqrt", variance) if root else variance


_UNFIT = re.compile(r"[^0-9A-Za-z_]+")
_LONGEST_STEM = 40


def hidden_names(
    warehouse: Warehouse,
    fact: str,
    keys: Iterable[Expr],
    aggregates: Iterable[Aggregate],
    taken: Iterable[str],
) -> dict[str, Expr | Aggregate]:
    """Names for hidden columns, in alphabetical order: what means the same is named the same.

    COUNT(*) is ``__count``, SUM(qty) is ``__sum_qty``, the region of a store ``__stores_region``,
    and what aggregates a whole expression has its columns and a digest of its meaning.
    """
    wanted: list[tuple[str, str, Expr | Aggregate]] = []
    for expr in keys:
        stem, text = _stem(warehouse, fact, expr)
        wanted.append((HIDDEN_PREFIX + stem, text, expr))
    for agg in aggregates:
        stem, text = ("", "") if agg.argument is None else _stem(warehouse, fact, agg.argument)
        function = "count" if agg.argument is None else f"{agg.function.value}_"
        wanted.append((HIDDEN_PREFIX + function + stem, text, agg))
    named: dict[str, Expr | Aggregate] = {}
    used = set(taken)
    for name, text, need in sorted(wanted, key=lambda row: row[:2]):
        free = name if name.lower() not in used else f"{name}_{_digest(text)}"
        used.add(free.lower())
        named[free] = need
    return named


def _stem(warehouse: Warehouse, fact: str, expr: Expr) -> tuple[str, str]:
    """The words of a name, and the text that tells apart what has the same words."""

    def name(ref: ColumnRef | StoredRef) -> str:
        if isinstance(ref, StoredRef) or not ref.path:
            return ref.column
        return f"{warehouse.alias(fact, ref.path)}_{ref.column}"

    def words(part: Expr) -> str:
        match part:
            case ColumnRef() | StoredRef():
                return name(part)
            case Cast(operand=operand):
                return words(operand)
            case Call(function="*", args=(left, right)) if left == right:
                return f"{words(left)}_squared"
            case _:
                columns = dict.fromkeys(
                    name(ref) for ref in walk(part) if isinstance(ref, ColumnRef)
                )
                stem = "_".join(columns)[:_LONGEST_STEM].rstrip("_")
                return f"{stem}_{_digest(to_sql(part, name))}"

    return _UNFIT.sub("_", words(expr)), to_sql(expr, name)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
