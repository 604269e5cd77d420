"""The columns of a summary table by how they are maintained, and the hidden ones that go with them.

=====================  ============================================================================
stored                 in the summary-delta table
=====================  ============================================================================
a key                  the key
COUNT, SUM             the signed change, under the same name; NULL is no change
MIN, MAX               the extreme of what is inserted and the extreme of what is deleted, apart
=====================  ============================================================================
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import Final

from cubekeeper.errors import InternalError
from cubekeeper.lattice.model import Node, StoredAggregate
from cubekeeper.lattice.text import free_alias
from cubekeeper.scalar.aggregates import AggregateFunction
from cubekeeper.scalar.counting import helpers
from cubekeeper.schema import BOOLEAN, STRING, Column, DataType

F = AggregateFunction

WEIGHT: Final = "__weight"
"""The column of changes that says how many copies of a row are inserted (or, below 0, deleted)."""

ACTION: Final = "__action"
"""The column of refreshed rows that says what is to be done with them."""


class Action(Enum):
    """What becomes of a group that a delta touches."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Summed:
    """A stored COUNT or SUM. A SUM is NULL when the count of its values, `counted_by`, is 0."""

    name: str
    type: DataType
    counted_by: str | None


@dataclass(frozen=True, slots=True)
class Extreme:
    """A stored MIN or MAX, the count of its values, and its hidden columns.

    In a delta: the extreme of what is `inserted`, of what is `deleted`, and while it is being
    computed of what is `surely` there afterwards. In refreshed rows: whether to `recompute` it.
    """

    name: str
    function: AggregateFunction
    type: DataType
    counted_by: str
    inserted: str
    deleted: str
    surely: str
    recompute: str

    @property
    def of_two(self) -> str:
        """The function that takes the more extreme of two values and passes over NULL."""
        return "LEAST" if self.function is F.MIN else "GREATEST"

    @property
    def of_group(self) -> str:
        """The aggregate itself."""
        return self.function.value.upper()

    @property
    def beyond(self) -> str:
        """The comparison that holds between a more extreme value and a less extreme one."""
        return "<" if self.function is F.MIN else ">"


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a summary table that deltas can maintain."""

    keys: tuple[Column, ...]
    sums: tuple[Summed, ...]
    extremes: tuple[Extreme, ...]
    row_count: str

    @property
    def aggregates(self) -> tuple[Summed | Extreme, ...]:
        """All of them but the keys, sums first."""
        return (*self.sums, *self.extremes)


def shape(node: Node) -> Shape:
    """The columns of a summary table by how they are maintained."""
    taken = {key.name for key in node.keys} | {stored.name for stored in node.aggregates}
    sums: list[Summed] = []
    extremes: list[Extreme] = []
    for stored in node.aggregates:
        match stored.aggregate.function:
            case F.COUNT_ROWS | F.COUNT:
                sums.append(Summed(stored.name, stored.aggregate.type, None))
            case F.SUM:
                counted_by = _counted_by(node, stored)
                sums.append(Summed(stored.name, stored.aggregate.type, counted_by))
            case F.MIN | F.MAX:
                extremes.append(_extreme(node, stored, taken))
            case other:
                raise InternalError(
                    "no-delta", f"`{node.name}` has {other.value}, which no delta maintains"
                )
    keys = tuple(Column(key.name, key.expr.type, key.expr.nullable) for key in node.keys)
    return Shape(keys, tuple(sums), tuple(extremes), node.row_count)


def _extreme(node: Node, stored: StoredAggregate, taken: Collection[str]) -> Extreme:
    def hidden(role: str) -> str:
        return free_alias(f"__{role}_{stored.name}", taken)

    return Extreme(
        name=stored.name,
        function=stored.aggregate.function,
        type=stored.aggregate.type,
        counted_by=_counted_by(node, stored),
        inserted=hidden("inserted"),
        deleted=hidden("deleted"),
        surely=hidden("surely"),
        recompute=hidden("recompute"),
    )


def _counted_by(node: Node, stored: StoredAggregate) -> str:
    (count,) = helpers(stored.aggregate)
    for other in node.aggregates:
        if other.aggregate == count:
            return other.name
    raise InternalError("no-count", f"`{node.name}` does not count the values of `{stored.name}`")


def stored_columns(node: Node) -> tuple[Column, ...]:
    """The columns of a stored table, keys before aggregates.

    A table without keys has a row even of nothing: there only counts are never NULL.
    """
    keys = tuple(Column(key.name, key.expr.type, key.expr.nullable) for key in node.keys)
    return keys + tuple(
        Column(stored.name, stored.aggregate.type, _can_be_null(node, stored))
        for stored in node.aggregates
    )


def _can_be_null(node: Node, stored: StoredAggregate) -> bool:
    counts = stored.aggregate.function in (F.COUNT_ROWS, F.COUNT, F.COUNT_DISTINCT)
    return not counts and (stored.aggregate.nullable or not node.keys)


def delta_columns(node: Node) -> tuple[Column, ...]:
    """The columns of a summary-delta table."""
    columns = shape(node)
    found = [*columns.keys]
    found += [Column(s.name, s.type, nullable=s.counted_by is not None) for s in columns.sums]
    for extreme in columns.extremes:
        found += [Column(extreme.inserted, extreme.type), Column(extreme.deleted, extreme.type)]
    return tuple(found)


def refreshed_columns(node: Node, *, flags: bool) -> tuple[Column, ...]:
    """The columns of refreshed rows: as stored, with the action, and what to recompute."""
    found = [*stored_columns(node), Column(ACTION, STRING, nullable=False)]
    if flags:
        found += [Column(e.recompute, BOOLEAN, nullable=False) for e in shape(node).extremes]
    return tuple(found)
