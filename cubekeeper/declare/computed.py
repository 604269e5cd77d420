"""Computed columns and hierarchies: what a table says about its own columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from cubekeeper.declare.documents import (
    DimensionDocument,
    FactDocument,
    HierarchyDocument,
    NamedExpression,
)
from cubekeeper.declare.expressions import named_expression
from cubekeeper.declare.leaves import Word
from cubekeeper.declare.report import AlreadyReported, Names, attempt
from cubekeeper.declare.scope import NameScope, Tables, column_names, own, reachable
from cubekeeper.errors import InputError, Problems
from cubekeeper.parse import parse_expression
from cubekeeper.scalar.nodes import Expr, column_refs
from cubekeeper.source import Fragment
from cubekeeper.warehouse.model import (
    BaseTable,
    ComputedColumn,
    Dimension,
    Fact,
    Hierarchy,
    Level,
    Warehouse,
)

TableDocument = FactDocument | DimensionDocument


def with_computed(tables: Tables, documents: Sequence[TableDocument], problems: Problems) -> Tables:
    """The tables with their computed columns, each over the columns above it."""
    broken = set(tables.broken_columns)
    for document in documents:
        name = document.name.text
        written = {word.text.lower() for word in document.column_words()}
        for word in document.column_words():
            column = document.columns.get(word.text)
            if column is None or column.expr is None or (name.lower(), word.text.lower()) in broken:
                continue
            made = attempt(problems, _computed, tables, name, word, column.expr, written)
            if made is None:
                broken.add((name.lower(), word.text.lower()))
                tables = replace(tables, broken_columns=frozenset(broken))
            else:
                table = tables.warehouse.base_table(name)
                tables = _with_table(tables, replace(table, computed=(*table.computed, made)))
    return tables


def _computed(
    tables: Tables, table: str, word: Word, sql: Fragment, written: set[str]
) -> ComputedColumn:
    try:
        expr = parse_expression(sql, own(tables, table))
    except InputError as error:
        raise _out_of_sight(error, table, word, written) from None
    if not column_refs(expr):
        raise InputError(
            "constant",
            f"the computed column `{word.text}` depends on no column",
            span=sql.span(),
            hint="write the constant where it is used",
        )
    return ComputedColumn(word.text, expr, word.span)


def _out_of_sight(error: InputError, table: str, word: Word, written: set[str]) -> InputError:
    """Say of a name that a computed column cannot see why it cannot."""
    if error.code in ("table-not-joined", "unreachable-column"):
        return InputError(
            "computed-column",
            f"the computed column `{word.text}` may use columns of `{table}` only",
            span=error.span,
            hint="name the expression where it is used: `group_by: [some_name: …]`",
        )
    name = error.span.text if error.span else ""
    if error.code == "unknown-column" and name.lower() in written:
        below = "itself" if name.lower() == word.text.lower() else f"`{name}`, computed below it"
        return InputError(
            "computed-order",
            f"the computed column `{word.text}` uses {below}",
            span=error.span,
            hint="a computed column may use those above it",
        )
    return error


def with_hierarchies(
    tables: Tables, documents: Sequence[TableDocument], problems: Problems
) -> Tables:
    """The tables with their hierarchies."""
    for document in documents:
        names = Names(problems)
        table = tables.warehouse.base_table(document.name.text)
        scope = reachable(tables, table.name)
        columns = {name.lower() for name in column_names(table)}
        found = []
        for hierarchy in document.hierarchies:
            if not names.take(hierarchy.name, "a hierarchy"):
                continue
            if hierarchy.name.text.lower() in columns:
                problems.add(_named_like_a_column(hierarchy.name, table))
            made = attempt(problems, _hierarchy, hierarchy, table, scope, problems)
            if made is not None:
                found.append(made)
        tables = _with_table(tables, replace(table, hierarchies=tuple(found)))
    return tables


def _named_like_a_column(name: Word, table: BaseTable) -> InputError:
    return InputError(
        "duplicate-name",
        f"the hierarchy `{name.text}` has the name of a column of `{table.name}`",
        span=name.span,
        hint="rename it: in a cube the name could mean either",
    )


def _hierarchy(
    document: HierarchyDocument, table: BaseTable, scope: NameScope, problems: Problems
) -> Hierarchy:
    name = document.name.text
    if (document.levels is None) == (document.paths is None):
        raise InputError(
            "hierarchy-levels",
            f"the hierarchy `{name}` needs either `levels` or `paths`",
            span=document.name.span,
            hint="`levels: [day, month, year]` is one chain, `paths` is a list of such chains",
        )
    chains = document.paths if document.paths is not None else (document.levels or (),)
    levels: dict[str, tuple[Level, Word]] = {}
    steps: dict[tuple[str, str], None] = {}
    for chain in chains:
        found = [attempt(problems, _level, item, document.name, scope) for item in chain]
        if not found or None in found:
            if not found:
                problems.add(_empty_chain(document))
            raise AlreadyReported
        words = [pair for pair in found if pair is not None]
        for index, (level, word) in enumerate(words):
            _check_repeated(level, word, words[:index], levels, name)
            levels.setdefault(level.name.lower(), (level, word))
        ordered = [levels[level.name.lower()][0].name for level, _ in words]
        _check_order(table, [level for level, _ in words], words[-1][1], name)
        steps |= dict.fromkeys(pairwise(ordered))
    _refuse_cycle(steps, levels, name)
    return Hierarchy(
        name, tuple(level for level, _ in levels.values()), tuple(steps), document.name.span
    )


def _empty_chain(document: HierarchyDocument) -> InputError:
    return InputError(
        "hierarchy-levels",
        f"the hierarchy `{document.name.text}` has no levels",
        span=document.name.span,
        hint="list them from fine to coarse",
    )


def _level(item: NamedExpression, hierarchy: Word, scope: NameScope) -> tuple[Level, Word]:
    try:
        name, expr = named_expression(item, scope, "a level")
    except InputError as error:
        if error.code not in ("unknown-column", "unreachable-column", "unknown-table"):
            raise
        message = f"the hierarchy `{hierarchy.text}` has an unknown level: {error.message}"
        raise InputError("unknown-level", message, span=error.span, hint=error.hint) from None
    return Level(name.text, expr), name


def _check_repeated(
    level: Level,
    word: Word,
    before: Sequence[tuple[Level, Word]],
    levels: Mapping[str, tuple[Level, Word]],
    hierarchy: str,
) -> None:
    """A level may stand in several chains, but once in each, and under one name."""
    for other, _ in before:
        if other.name.lower() == level.name.lower() or other.expr == level.expr:
            raise InputError(
                "repeated-level",
                f"the level `{level.name}` stands twice in a chain of `{hierarchy}`",
                span=word.span,
                hint="remove one of them",
            )
    same_name = levels.get(level.name.lower())
    if same_name and same_name[0].expr != level.expr:
        raise InputError(
            "repeated-level",
            f"two different levels of `{hierarchy}` are named `{level.name}`",
            span=word.span,
            hint="name them apart: `city_name: cities.name`",
        )
    for other, _ in levels.values():
        if other.expr == level.expr and other.name.lower() != level.name.lower():
            raise InputError(
                "repeated-level",
                f"`{level.name}` and `{other.name}` are the same level of `{hierarchy}`",
                span=word.span,
                hint="use one name for it in all chains",
            )


def _check_order(table: BaseTable, chain: Sequence[Level], last: Word, hierarchy: str) -> None:
    if len(table.key) != 1 or len(chain) < 2:
        return
    key = table.column(table.key[0])
    if _is_column(chain[-1].expr, key.name) and not _is_column(chain[0].expr, key.name):
        raise InputError(
            "hierarchy-order",
            f"`{chain[-1].name}` is the key of `{table.name}`, so it is the finest level of"
            f" `{hierarchy}`, not the coarsest",
            span=last.span,
            hint="write the levels from fine to coarse: "
            + ", ".join(level.name for level in reversed(chain)),
        )


def _is_column(expr: Expr, name: str) -> bool:
    return any(ref == expr and not ref.path and ref.column == name for ref in column_refs(expr))


def _refuse_cycle(
    steps: Mapping[tuple[str, str], None], levels: Mapping[str, tuple[Level, Word]], name: str
) -> None:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for fine, coarse in steps:
        sorter.add(coarse, fine)
    try:
        sorter.prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        raise InputError(
            "cyclic-hierarchy",
            f"the levels of `{name}` lead round in a circle: " + " → ".join(circle),
            span=levels[circle[1].lower()][1].span,
            hint="each chain goes from fine to coarse; levels that determine each other are one",
        ) from None


def _with_table(tables: Tables, changed: BaseTable) -> Tables:
    return replace(tables, warehouse=_replaced(tables.warehouse, changed))


def _replaced(warehouse: Warehouse, changed: BaseTable) -> Warehouse:
    def swap(tables: Sequence[BaseTable]) -> Iterator[BaseTable]:
        return (changed if table.name == changed.name else table for table in tables)

    return replace(
        warehouse,
        facts=tuple(table for table in swap(warehouse.facts) if isinstance(table, Fact)),
        dimensions=tuple(t for t in swap(warehouse.dimensions) if isinstance(t, Dimension)),
    )
