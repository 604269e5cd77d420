"""Whole summary tables: built anew, overwritten with refreshed rows, and as readers see them."""

from __future__ import annotations

from cubekeeper.lattice.choice import Version
from cubekeeper.lattice.model import Edge, Lattice, Node
from cubekeeper.lattice.text import edge_sql
from cubekeeper.scalar.text import quote, to_sql
from cubekeeper.schema import Column
from cubekeeper.statements.columns import ACTION, Action, stored_columns
from cubekeeper.statements.model import Relations, Statement
from cubekeeper.statements.refresh import matched


def build(lattice: Lattice, edge: Edge, tables: Relations) -> Statement:
    """A summary table computed anew, from a table above or from the base, each in its new state."""
    sql = edge_sql(lattice, edge, lambda name: tables(name, Version.NEW))
    return Statement(sql, stored_columns(lattice.node(edge.child)))


def overwritten(node: Node, rows: str, tables: Relations) -> Statement:
    """The whole new table: the stored rows of groups that were not touched, and the refreshed."""
    given = stored_columns(node)
    names = [quote(column.name) for column in given]
    same = matched((key.name for key in node.keys), "touched", "stored")
    sql = (
        f"SELECT {', '.join(f'stored.{name}' for name in names)}\n"
        f"FROM {tables(node.name, Version.OLD)} AS stored\n"
        f"WHERE NOT EXISTS (SELECT 1 FROM {rows} AS touched WHERE {same})\n"
        f"UNION ALL\n"
        f"SELECT {', '.join(f'touched.{name}' for name in names)}\n"
        f"FROM {rows} AS touched\n"
        f"WHERE touched.{ACTION} <> '{Action.DELETE.value}'"
    )
    return Statement(sql, given)


def readers_view(node: Node, stored: str) -> Statement:
    """A summary table as it was declared: helpers hidden, AVG shown as AVG."""
    texts = []
    for output in node.outputs:
        text, name = to_sql(output.expr, lambda ref: quote(ref.column)), quote(output.name)
        texts.append(text if text == name else f"{text} AS {name}")
    columns = (Column(o.name, o.expr.type, o.expr.nullable) for o in node.outputs)
    return Statement(f"SELECT {', '.join(texts)}\nFROM {stored}", tuple(columns))
