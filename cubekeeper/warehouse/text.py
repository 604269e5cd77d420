"""A declared summary table printed back as SQL that reads back as the same table."""

from __future__ import annotations

from cubekeeper.scalar.nodes import ColumnRef, Path, StoredRef
from cubekeeper.scalar.text import aggregate_to_sql, conjunction_to_sql, quote, to_sql
from cubekeeper.warehouse.model import SummaryTable, Warehouse


def summary_table_sql(warehouse: Warehouse, view: SummaryTable) -> str:
    """The SELECT of a summary table as it was declared, in Spark SQL over the base tables."""
    paths = joined_paths(warehouse, view)

    def name(ref: ColumnRef | StoredRef) -> str:
        if isinstance(ref, StoredRef) or not paths:
            return quote(ref.column)
        return f"{quote(warehouse.alias(view.fact, ref.path))}.{quote(ref.column)}"

    groups = [to_sql(key.expr, name) for key in view.keys]
    outputs = [
        sql
        if isinstance(key.expr, ColumnRef) and key.expr.column == key.name
        else f"{sql} AS {quote(key.name)}"
        for sql, key in zip(groups, view.keys, strict=True)
    ]
    outputs += [
        f"{aggregate_to_sql(measure.aggregate, name)} AS {quote(measure.name)}"
        for measure in view.measures
    ]
    lines = ["SELECT", ",\n".join(f"  {output}" for output in outputs), f"FROM {quote(view.fact)}"]
    lines += [_join(warehouse, view.fact, path) for path in paths]
    if view.filter:
        lines.append("WHERE " + conjunction_to_sql(view.filter, name, "\n  AND "))
    if groups:
        lines.append("GROUP BY " + ", ".join(groups))
    return "\n".join(lines)


def joined_paths(warehouse: Warehouse, view: SummaryTable) -> tuple[Path, ...]:
    """The dimensions that a definition joins, each after those it is reached through."""
    needed = {
        ref.path[:length] for ref in view.columns_read for length in range(1, len(ref.path) + 1)
    }
    return tuple(path for path in warehouse.paths(view.fact) if path in needed)


def _join(warehouse: Warehouse, fact: str, path: Path) -> str:
    owner = warehouse.table_at(fact, path[:-1])
    foreign_key = owner.foreign_key(path[-1])
    dimension = warehouse.base_table(foreign_key.references)
    here, there = warehouse.alias(fact, path[:-1]), warehouse.alias(fact, path)
    role = "" if there == dimension.name else f" AS {quote(there)}"
    condition = " AND ".join(
        f"{quote(here)}.{quote(column)} = {quote(there)}.{quote(key)}"
        for column, key in zip(foreign_key.columns, dimension.key, strict=True)
    )
    return f"JOIN {quote(dimension.name)}{role} ON {condition}"
