"""What the room makes: a query and the columns it gives; and what it asks: how tables are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cubekeeper.lattice.choice import Version
from cubekeeper.schema import Column

Relations = Callable[[str, Version], str]
"""From a base or summary table and one of its states to the SQL text that reads it.

A base table's delta is what `net_changes` gives, a summary table's what `summary_delta` gives.
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A query in Spark SQL and its columns, in order, by Spark's types."""

    sql: str
    columns: tuple[Column, ...]

    @property
    def relation(self) -> str:
        """The query as something to read from.

        >>> Statement("SELECT 1 AS one", ()).relation
        '(SELECT 1 AS one)'
        """
        return f"({self.sql})"
