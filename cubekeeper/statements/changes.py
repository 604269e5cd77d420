"""What changed in a base table: its columns and a weight, the copies inserted less those deleted.

A row that is inserted and deleted again in one batch vanishes, so that what is deleted was there
before and what is inserted is there afterwards (weakly minimal, 4.3). A table without a key is a
bag: weights count copies.
"""

from __future__ import annotations

from cubekeeper.lattice.choice import Version
from cubekeeper.scalar.text import quote
from cubekeeper.schema import BIGINT, Column
from cubekeeper.statements.columns import WEIGHT
from cubekeeper.statements.model import Relations, Statement
from cubekeeper.warehouse.model import BaseTable


def change_columns(table: BaseTable) -> tuple[Column, ...]:
    """The columns of a base table's changes."""
    return (*table.columns, Column(WEIGHT, BIGINT, nullable=False))


def signed_rows(table: BaseTable, relation: str, weight: int) -> Statement:
    """Rows that are all inserted (1) or all deleted (-1), as changes."""
    columns = ", ".join(quote(column.name) for column in table.columns)
    sql = f"SELECT {columns}, {weight}L AS {WEIGHT}\nFROM {relation}"
    return Statement(sql, change_columns(table))


def net_changes(table: BaseTable, changes: str) -> Statement:
    """The net of a batch's changes, read from a relation of changes in any order and number."""
    columns = ", ".join(f"changes.{quote(column.name)}" for column in table.columns)
    sql = (
        f"SELECT {columns}, CAST(SUM(changes.{WEIGHT}) AS BIGINT) AS {WEIGHT}\n"
        f"FROM {changes} AS changes\n"
        f"GROUP BY {columns}\n"
        f"HAVING SUM(changes.{WEIGHT}) <> 0"
    )
    return Statement(sql, change_columns(table))


def applied(table: BaseTable, tables: Relations) -> Statement:
    """The new state of a table with a key, from its old state and its net changes.

    Rows that changed are few: the old ones among them are left out, the new ones added.
    """
    if not table.key:
        raise ValueError(f"`{table.name}` is a bag")
    columns = ", ".join(f"kept.{quote(column.name)}" for column in table.columns)
    same = " AND ".join(f"gone.{quote(name)} = kept.{quote(name)}" for name in table.key)
    changes = tables(table.name, Version.DELTA)
    old = f"{tables(table.name, Version.OLD)} AS kept"
    gone = f"SELECT 1 FROM {changes} AS gone WHERE gone.{WEIGHT} < 0 AND {same}"
    sql = (
        f"SELECT {columns}\nFROM {old}\nWHERE NOT EXISTS ({gone})\n"
        f"UNION ALL\nSELECT {columns}\nFROM {changes} AS kept\nWHERE kept.{WEIGHT} > 0"
    )
    return Statement(sql, table.columns)
