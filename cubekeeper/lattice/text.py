"""Edge queries as runnable Spark SQL."""

from __future__ import annotations

from collections.abc import Callable, Collection

from cubekeeper.lattice.model import Edge, EdgeAggregate, Join, Lattice
from cubekeeper.scalar.nodes import ColumnRef, StoredRef
from cubekeeper.scalar.text import Namer, aggregate_to_sql, conjunction_to_sql, quote, to_sql

TableNames = Callable[[str], str]
"""From the name of a summary or base table to the SQL text that reads it."""


def edge_sql(lattice: Lattice, edge: Edge, table: TableNames = quote) -> str:
    """The query that computes the child of an edge from its parent, one clause a line.

    `table` says how a table is read, by default by its own name. The D-lattice runs the same query
    with the names of summary-delta tables.
    """
    source = edge.parent or lattice.node(edge.child).view.fact
    aliases = {join.path: join.alias for join in edge.joins}
    aliases[()] = _free_alias(source, aliases.values())

    def name(ref: ColumnRef | StoredRef) -> str:
        path = () if isinstance(ref, StoredRef) else ref.path
        return f"{quote(aliases[path])}.{quote(ref.column)}"

    columns = [f"{to_sql(expr, name)} AS {quote(key)}" for key, expr in edge.keys]
    columns += [_aggregate_column(agg, name) for agg in edge.aggregates]
    lines = ["SELECT " + ",\n       ".join(columns)]
    lines.append("FROM " + _aliased(table(source), aliases[()]))
    lines += [_join_line(join, name, table) for join in edge.joins]
    if edge.residual:
        lines.append("WHERE " + conjunction_to_sql(edge.residual, name, separator="\n  AND "))
    if edge.keys:
        lines.append("GROUP BY " + ", ".join(to_sql(expr, name) for _, expr in edge.keys))
    return "\n".join(lines)


def _aggregate_column(edge_aggregate: EdgeAggregate, name: Namer) -> str:
    text = aggregate_to_sql(edge_aggregate.aggregate, name)
    if edge_aggregate.or_zero:
        text = f"COALESCE({text}, 0)"
    if edge_aggregate.aggregate.type != edge_aggregate.type:
        text = f"CAST({text} AS {str(edge_aggregate.type).upper()})"
    return f"{text} AS {quote(edge_aggregate.name)}"


def _join_line(join: Join, name: Namer, table: TableNames) -> str:
    equals = "<=>" if join.lookup else "="
    on = " AND ".join(
        f"{to_sql(expr, name)} {equals} {quote(join.alias)}.{quote(column)}"
        for expr, column in join.on
    )
    relation = table(join.dimension)
    if join.lookup:
        columns = ", ".join(quote(column) for column in join.lookup)
        relation = f"(SELECT DISTINCT {columns} FROM {relation})"
    return f"JOIN {_aliased(relation, join.alias)} ON {on}"


def _aliased(relation: str, alias: str) -> str:
    return relation if relation == quote(alias) else f"{relation} AS {quote(alias)}"


def _free_alias(source: str, taken: Collection[str]) -> str:
    """The source's own name, or one made different from the joined dimensions' names."""
    lowered = {alias.lower() for alias in taken}
    while source.lower() in lowered:
        source += "_"
    return source
