"""Edge queries as runnable Spark SQL, and the pieces from which other queries are put together."""

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
    alias, name = edge_names(lattice, edge)
    columns = [f"{to_sql(expr, name)} AS {quote(key)}" for key, expr in edge.keys]
    columns += [_aggregate_column(agg, name) for agg in edge.aggregates]
    lines = ["SELECT " + ",\n       ".join(columns)]
    lines.append("FROM " + aliased(table(edge_source(lattice, edge)), alias))
    lines += [join_line(join, name, reduced(join, table(join.dimension))) for join in edge.joins]
    if edge.residual:
        lines.append("WHERE " + conjunction_to_sql(edge.residual, name, separator="\n  AND "))
    if edge.keys:
        lines.append("GROUP BY " + ", ".join(to_sql(expr, name) for _, expr in edge.keys))
    return "\n".join(lines)


def edge_source(lattice: Lattice, edge: Edge) -> str:
    """The table from which an edge query reads: the parent, or the fact."""
    return edge.parent or lattice.node(edge.child).view.fact


def edge_names(lattice: Lattice, edge: Edge) -> tuple[str, Namer]:
    """The alias of an edge query's source, and how its columns are written."""
    aliases = {join.path: join.alias for join in edge.joins}
    source = free_alias(edge_source(lattice, edge), aliases.values())
    aliases[()] = source

    def name(ref: ColumnRef | StoredRef) -> str:
        path = () if isinstance(ref, StoredRef) else ref.path
        return f"{quote(aliases[path])}.{quote(ref.column)}"

    return source, name


def _aggregate_column(edge_aggregate: EdgeAggregate, name: Namer) -> str:
    text = aggregate_to_sql(edge_aggregate.aggregate, name)
    if edge_aggregate.or_zero:
        text = f"COALESCE({text}, 0)"
    if edge_aggregate.aggregate.type != edge_aggregate.type:
        text = f"CAST({text} AS {str(edge_aggregate.type).upper()})"
    return f"{text} AS {quote(edge_aggregate.name)}"


def join_line(join: Join, name: Namer, relation: str) -> str:
    """The clause that joins a dimension, read from a relation."""
    equals = "<=>" if join.lookup else "="
    on = " AND ".join(
        f"{to_sql(expr, name)} {equals} {quote(join.alias)}.{quote(column)}"
        for expr, column in join.on
    )
    return f"JOIN {aliased(relation, join.alias)} ON {on}"


def reduced(join: Join, relation: str) -> str:
    """What a join reads of its dimension: all, or the distinct rows of what it looks up."""
    if not join.lookup:
        return relation
    columns = ", ".join(quote(column) for column in join.lookup)
    return f"(SELECT DISTINCT {columns} FROM {relation})"


def aliased(relation: str, alias: str) -> str:
    """A relation under an alias, which is left out where it is the relation's own name.

    >>> aliased("stores", "stores"), aliased("stores", "shop")
    ('stores', 'stores AS shop')
    """
    return relation if relation == quote(alias) else f"{relation} AS {quote(alias)}"


def free_alias(wanted: str, taken: Collection[str]) -> str:
    """The alias that is wanted, or one made different from those that are taken.

    >>> free_alias("pos", ["POS", "stores"])
    'pos_'
    """
    lowered = {alias.lower() for alias in taken}
    while wanted.lower() in lowered:
        wanted += "_"
    return wanted
