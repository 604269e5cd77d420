"""The new rows of the groups that a summary-delta touches (Figure 8), as one query.

The delta is joined with the stored table, null-safely on every key. Each touched group gets its new
values and an action. Counts and sums add up; a SUM is NULL when no value is left; a group without
rows is deleted, unless the table has no keys. For MIN (MAX is its mirror image), with `m` stored,
`i` inserted and `x` deleted, and by what a delta promises of them:

- no value is left: NULL;
- ``m < x``, or nothing is deleted: `m` is still there, so the less of `m` and `i`;
- ``i <= x <= m``: nothing less than `i` is left or comes, so `i`;
- otherwise the group has lost its minimum to something unknown: it must be recomputed.

Figure 8 recomputes wherever the less of `i` and `x` reaches `m`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cubekeeper.lattice.choice import Version
from cubekeeper.lattice.model import Node
from cubekeeper.plan.stages import RefreshPath
from cubekeeper.scalar.text import quote, type_text
from cubekeeper.schema import BIGINT, MAX_DECIMAL_PRECISION, Column, DataType, Kind
from cubekeeper.statements.columns import (
    ACTION,
    Action,
    Extreme,
    Shape,
    Summed,
    refreshed_columns,
    shape,
    stored_columns,
)
from cubekeeper.statements.model import Relations, Statement


def refresh(node: Node, path: RefreshPath, tables: Relations) -> Statement:
    """The rows of the touched groups as they are to be, with the action for each.

    The general form also has a column for each MIN and MAX that says whether it must be recomputed.
    After insertions only, no group can vanish or lose an extreme (4.3).
    """
    columns = shape(node)
    general = path is RefreshPath.GENERAL
    stored = [column.name for column in stored_columns(node)]
    values = dict(_values(columns, general=general))
    inner = [f"delta.{quote(key.name)}" for key in columns.keys]
    inner += [f"{values[name]} AS {quote(name)}" for name in stored if name in values]
    inner.append(f"{_action(columns, general=general)} AS {ACTION}")
    if general:
        inner += [f"{_is_lost(e)} AS {quote(e.recompute)}" for e in columns.extremes]
    given = refreshed_columns(node, flags=general)
    lines = [
        "SELECT " + ", ".join(f"refreshed.{quote(column.name)}" for column in given),
        "FROM (",
        "SELECT " + ",\n       ".join(inner),
        *_joined(node, tables, "LEFT JOIN"),
        ") AS refreshed",
        f"WHERE refreshed.{ACTION} <> '{Action.NOTHING.value}'",
    ]
    return Statement("\n".join(lines), given)


def append(node: Node, tables: Relations) -> Statement:
    """A delta as rows to insert, where all its groups are known to be new (4.3)."""
    columns = shape(node)
    new = {summed.name: summed.name for summed in columns.sums}
    new |= {extreme.name: extreme.inserted for extreme in columns.extremes}
    new |= {key.name: key.name for key in columns.keys}
    given = stored_columns(node)
    texts = [_renamed(f"delta.{quote(new[column.name])}", column.name) for column in given]
    sql = "SELECT " + ", ".join(texts) + f"\nFROM {tables(node.name, Version.DELTA)} AS delta"
    return Statement(sql, given)


def tests_compared(node: Node, tables: Relations) -> Statement:
    """How many groups of a delta must be recomputed, by three tests.

    By the paper's Figure 8, by its tighter test for weakly minimal changes (4.3), and by ours,
    which keeps insertions and deletions apart.
    """
    columns = shape(node)
    found: dict[str, Sequence[str]] = {
        "figure_8": [_by_figure_8(e, f"{e.beyond}=") for e in columns.extremes],
        "weakly_minimal": [_by_figure_8(e, "=") for e in columns.extremes],
        "ours": [_is_lost(e) for e in columns.extremes],
    }
    counts = [
        f"COALESCE(SUM(CASE WHEN {_any(tests)} THEN 1 ELSE 0 END), 0) AS {name}"
        for name, tests in found.items()
    ]
    lines = ["SELECT " + ",\n       ".join(counts), *_joined(node, tables, "LEFT JOIN")]
    return Statement("\n".join(lines), tuple(Column(name, BIGINT, False) for name in found))


# --- the join -------------------------------------------------------------------------------------


def _joined(node: Node, tables: Relations, join: str) -> list[str]:
    same = matched((key.name for key in node.keys), "stored", "delta")
    return [
        f"FROM {tables(node.name, Version.DELTA)} AS delta",
        f"{join} {tables(node.name, Version.OLD)} AS stored ON {same}",
    ]


def matched(keys: Iterable[str], left: str, right: str) -> str:
    """The condition under which two rows are of the same group."""
    return " AND ".join(f"{left}.{quote(k)} <=> {right}.{quote(k)}" for k in keys) or "TRUE"


def _renamed(text: str, name: str) -> str:
    return text if text.endswith(f".{quote(name)}") else f"{text} AS {quote(name)}"


def _any(conditions: Sequence[str]) -> str:
    return " OR ".join(f"({condition})" for condition in conditions) or "FALSE"


# --- new values -----------------------------------------------------------------------------------


def _values(columns: Shape, *, general: bool) -> Iterator[tuple[str, str]]:
    for column in columns.aggregates:
        value = _sum(column) if isinstance(column, Summed) else _extreme(column)
        if general and column.counted_by is not None:
            value = f"CASE WHEN {_count(column.counted_by)} = 0 THEN NULL ELSE {value} END"
        yield column.name, value


def _count(name: str) -> str:
    """A count afterwards."""
    return f"COALESCE(stored.{quote(name)}, 0) + delta.{quote(name)}"


def _sum(column: Summed) -> str:
    if column.counted_by is None:
        return _count(column.name)
    old, change = f"stored.{quote(column.name)}", f"delta.{quote(column.name)}"
    total = (
        f"COALESCE({_addend(old, column.type)} + {_addend(change, column.type)}, {old}, {change})"
    )
    return f"CAST({total} AS {type_text(column.type)})"


def _addend(text: str, kind: DataType) -> str:
    """What may be added: the sum of two decimals has one digit more, and beyond 38 the places
    behind the point would go."""
    if kind.kind is not Kind.DECIMAL or kind.precision < MAX_DECIMAL_PRECISION:
        return text
    return f"CAST({text} AS {type_text(replace(kind, precision=MAX_DECIMAL_PRECISION - 1))})"


def _extreme(column: Extreme) -> str:
    return f"{column.of_two}(stored.{quote(column.name)}, delta.{quote(column.inserted)})"


def _is_lost(column: Extreme) -> str:
    stored, inserted = f"stored.{quote(column.name)}", f"delta.{quote(column.inserted)}"
    deleted, beyond = f"delta.{quote(column.deleted)}", column.beyond
    return (
        f"{_count(column.counted_by)} > 0 AND {deleted} IS NOT NULL "
        f"AND ({stored} IS NULL OR {deleted} {beyond}= {stored}) "
        f"AND ({inserted} IS NULL OR {deleted} {beyond} {inserted})"
    )


def _by_figure_8(column: Extreme, reaches: str) -> str:
    both = f"delta.{quote(column.inserted)}, delta.{quote(column.deleted)}"
    return (
        f"{column.of_two}({both}) {reaches} stored.{quote(column.name)} "
        f"AND {_count(column.counted_by)} > 0"
    )


def _action(columns: Shape, *, general: bool) -> str:
    rows, missing = _count(columns.row_count), f"stored.{quote(columns.row_count)} IS NULL"
    arms: list[tuple[str, Action]] = []
    if general and columns.keys:
        arms.append((f"{rows} = 0 AND {missing}", Action.NOTHING))
        arms.append((f"{rows} = 0", Action.DELETE))
    arms.append((missing, Action.INSERT))
    arms.append((_any(list(_differs(columns, general=general))), Action.UPDATE))
    texts = " ".join(f"WHEN {condition} THEN '{action.value}'" for condition, action in arms)
    return f"CASE {texts} ELSE '{Action.NOTHING.value}' END"


def _differs(columns: Shape, *, general: bool) -> Iterator[str]:
    """What can make a group's new row another than its old one; NULL is no change."""
    for summed in columns.sums:
        yield f"delta.{quote(summed.name)} <> 0"
    for extreme in columns.extremes:
        stored, inserted = f"stored.{quote(extreme.name)}", f"delta.{quote(extreme.inserted)}"
        yield f"{inserted} {extreme.beyond} {stored}"
        if general:
            yield _is_lost(extreme)
