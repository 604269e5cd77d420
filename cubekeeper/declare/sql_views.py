"""Summary tables written as one SELECT: the FROM clause becomes paths of foreign keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cubekeeper.declare.expressions import checked_name, conjunction, default_name
from cubekeeper.declare.from_clause import read_from
from cubekeeper.declare.leaves import Word
from cubekeeper.declare.report import AlreadyReported, attempt, attempt_all
from cubekeeper.declare.scope import NameScope, Tables
from cubekeeper.errors import InputError, Problems
from cubekeeper.parse import (
    RawExpr,
    Select,
    SelectItem,
    bind,
    bind_aggregate,
    column_parts,
    is_aggregate,
    ordinal,
    parse_select,
)
from cubekeeper.scalar.nodes import Expr
from cubekeeper.source import Fragment
from cubekeeper.warehouse.model import Key, Measure


@dataclass(frozen=True)
class SelectParts:
    """What a SELECT says of a summary table."""

    fact: str
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    filter: tuple[Expr, ...]


def read_select(sql: Fragment, tables: Tables, name: Word, problems: Problems) -> SelectParts:
    """The parts of a summary table from its SELECT; every problem found is kept or raised."""
    select = parse_select(sql)
    _check_view_name(select, name)
    scope, conditions = read_from(select, tables)
    filtered = attempt(problems, conjunction, [(raw, scope) for raw in conditions])
    aggregates = [item for item in select.items if is_aggregate(item.expr)]
    plain = [item for item in select.items if not is_aggregate(item.expr)]
    measures = attempt(problems, _measures, aggregates, scope, problems)
    keys = attempt(problems, _keys, select, plain, scope, problems)
    if filtered is None or measures is None or keys is None:
        raise AlreadyReported
    return SelectParts(scope.root, keys, measures, filtered)


def _check_view_name(select: Select, name: Word) -> None:
    written = select.view_name
    if written is not None and written.text.lower() != name.text.lower():
        raise InputError(
            "view-name",
            f"the SQL creates `{written.text}`, but the summary table is named `{name.text}`",
            span=written.span,
            hint="use one name for both",
        )


def _measures(
    items: Sequence[SelectItem], scope: NameScope, problems: Problems
) -> tuple[Measure, ...]:
    def read(item: SelectItem) -> Measure:
        aggregate = bind_aggregate(item.expr, scope)
        if item.name is None:
            name = default_name(aggregate, item.span)
        else:
            name = checked_name(Word(item.name, item.span))
        return Measure(name.text, aggregate, name.span)

    return attempt_all(problems, read, items)


def _keys(
    select: Select, items: Sequence[SelectItem], scope: NameScope, problems: Problems
) -> tuple[Key, ...]:
    """The plain outputs, which must be exactly what the SELECT groups by."""
    keys = attempt_all(problems, lambda item: _key(item, scope), items)
    by_item = dict(zip(map(id, items), keys, strict=True))
    groups = attempt_all(problems, lambda raw: _group(raw, select, scope, by_item), select.group_by)
    grouped = set(groups)
    for item, key in zip(items, keys, strict=True):
        if key.expr not in grouped:
            problems.add(_not_grouped(item, bool(select.group_by)))
    selected = {key.expr for key in keys}
    for raw, expr in zip(select.group_by, groups, strict=True):
        if expr not in selected:
            problems.add(
                InputError(
                    "not-selected",
                    f"`{raw.text}` is grouped by but not selected",
                    span=raw.span,
                    hint="select it too: without it the table could not be kept up to date",
                )
            )
    if grouped != selected:
        raise AlreadyReported
    return keys


def _key(item: SelectItem, scope: NameScope) -> Key:
    parts = column_parts(item.expr)
    if parts is not None:
        found = scope.find(parts, item.expr.span)
        name = item.name if item.aliased and item.name else found.name
        return Key(checked_name(Word(name, item.span)).text, found.expr, item.span)
    expr = bind(item.expr, scope)
    if item.name is None:
        raise InputError(
            "missing-name",
            "a group-by column that is an expression needs a name",
            span=item.span,
            hint=f"write `{' '.join(item.expr.text.split())} AS some_name`",
        )
    return Key(checked_name(Word(item.name, item.span)).text, expr, item.span)


def _group(raw: RawExpr, select: Select, scope: NameScope, keys: Mapping[int, Key]) -> Expr:
    """What an item of GROUP BY means: a position, a column, the name of an output, or itself."""
    position = ordinal(raw)
    if position is not None:
        if not 1 <= position <= len(select.items):
            raise InputError(
                "group-position",
                f"GROUP BY {position} is not a position in the SELECT list",
                span=raw.span,
                hint=f"positions go from 1 to {len(select.items)}; names are clearer",
            )
        return _grouped_output(select.items[position - 1], raw, keys)
    parts = column_parts(raw)
    if parts is None:
        return bind(raw, scope)
    try:
        return scope.find(parts, raw.span).expr
    except InputError as error:
        if error.code not in ("unknown-column", "unreachable-column", "table-not-joined"):
            raise
        for item in _outputs_named(parts, select):
            return _grouped_output(item, raw, keys)
        raise


def _outputs_named(parts: tuple[str, ...], select: Select) -> Iterator[SelectItem]:
    for item in select.items:
        if len(parts) == 1 and item.aliased and item.name and item.name.lower() == parts[0].lower():
            yield item


def _grouped_output(item: SelectItem, raw: RawExpr, keys: Mapping[int, Key]) -> Expr:
    if id(item) not in keys:
        raise InputError(
            "misplaced-aggregate",
            "an aggregate has no place in GROUP BY",
            span=raw.span,
            hint="group by the plain columns of the SELECT list",
        )
    return keys[id(item)].expr


def _not_grouped(item: SelectItem, groups: bool) -> InputError:
    text = " ".join(item.expr.text.split())
    hint = f"add it: GROUP BY …, {text}" if groups else f"add GROUP BY {text}"
    return InputError(
        "not-grouped",
        f"`{text}` is selected but not grouped by",
        span=item.span,
        hint=f"{hint}; or aggregate it",
    )
