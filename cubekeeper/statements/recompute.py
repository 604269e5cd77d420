"""MIN and MAX computed again for the groups that lost them, and folded into the refreshed rows."""

from __future__ import annotations

from cubekeeper.lattice.choice import Version
from cubekeeper.lattice.model import Edge, Lattice, Node
from cubekeeper.lattice.text import (
    aliased,
    edge_names,
    edge_source,
    free_alias,
    join_line,
    reduced,
)
from cubekeeper.scalar.text import aggregate_to_sql, conjunction_to_sql, quote, to_sql
from cubekeeper.schema import Column
from cubekeeper.statements.columns import (
    refreshed_columns,
    shape,
)
from cubekeeper.statements.model import Relations, Statement
from cubekeeper.statements.refresh import matched


def recompute(lattice: Lattice, edge: Edge, rows: str, tables: Relations) -> Statement:
    """The MIN and MAX of the groups that refreshed `rows` mark, from the new state of a source.

    The edge may come from the base or from any table above that is already right.
    """
    node = lattice.node(edge.child)
    columns = shape(node)
    alias, name = edge_names(lattice, edge)
    marked = free_alias("marked", [alias, *edge.label])
    keys = [(to_sql(expr, name), quote(key)) for key, expr in edge.keys]
    by_name = {column.name: column.aggregate for column in edge.aggregates}
    texts = [f"{text} AS {key}" for text, key in keys]
    texts += [
        f"{aggregate_to_sql(by_name[e.name], name)} AS {quote(e.name)}" for e in columns.extremes
    ]
    same = " AND ".join(f"{text} <=> {quote(marked)}.{key}" for text, key in keys) or "TRUE"
    source = tables(edge_source(lattice, edge), Version.NEW)
    lines = ["SELECT " + ",\n       ".join(texts), "FROM " + aliased(source, alias)]
    lines += [
        join_line(join, name, reduced(join, tables(join.dimension, Version.NEW)))
        for join in edge.joins
    ]
    lines.append(f"JOIN {_marked(node, rows)} AS {quote(marked)} ON {same}")
    if edge.residual:
        lines.append("WHERE " + conjunction_to_sql(edge.residual, name, separator="\n  AND "))
    if keys:
        lines.append("GROUP BY " + ", ".join(text for text, _ in keys))
    extremes = (Column(extreme.name, extreme.type) for extreme in columns.extremes)
    return Statement("\n".join(lines), (*columns.keys, *extremes))


def _marked(node: Node, rows: str) -> str:
    columns = shape(node)
    keys = ", ".join(quote(key.name) for key in columns.keys) or "1 AS one"
    marks = " OR ".join(quote(extreme.recompute) for extreme in columns.extremes)
    return f"(SELECT {keys} FROM {rows} AS refreshed WHERE {marks})"


def fold(node: Node, rows: str, again: str) -> Statement:
    """Refreshed `rows` with what was computed `again` in its place: stored columns and action."""
    given = refreshed_columns(node, flags=False)
    marks = {extreme.name: extreme.recompute for extreme in shape(node).extremes}
    texts = []
    for column in given:
        name = quote(column.name)
        text = f"refreshed.{name}"
        if column.name in marks:
            mark = f"refreshed.{quote(marks[column.name])}"
            text = f"CASE WHEN {mark} THEN again.{name} ELSE {text} END AS {name}"
        texts.append(text)
    same = matched((key.name for key in node.keys), "again", "refreshed")
    sql = (
        "SELECT " + ",\n       ".join(texts) + f"\nFROM {rows} AS refreshed\n"
        f"LEFT JOIN {again} AS again ON {same}"
    )
    return Statement(sql, given)
