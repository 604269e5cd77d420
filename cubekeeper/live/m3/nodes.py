"""Trigger programs: maps that are kept up to date while relations change.

The whole grammar::

    Program   = relations, maps, triggers, views
    Relation  = a table that changes, or a static one that is loaded once
    MapDecl   = name[keys]: type, and the query over the relations that it is always equal to
    Trigger   = on batch R | on insert into R(args) | on delete from R(args), then statements
    Statement = map[keys] += query      add to the map, reading the state before the trigger
              | map[keys] := query      replace the map, reading the state after all additions
    View      = columns and the query over maps that gives the rows of the result

All additions of a trigger read the state from before it, whatever their order; replacements come
after them, each reading the maps as they then are, in the order written. Queries are those of
the calculus; in statements and views their atoms are maps and changes, never relations.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cubekeeper.live.calculus.nodes import Query, Var
from cubekeeper.schema import DataType


class Event(Enum):
    """What fires a trigger."""

    BATCH = "batch"
    INSERT = "insert"
    DELETE = "delete"


class Effect(Enum):
    """What a statement does to its map."""

    ADD = "+="
    REPLACE = ":="


@dataclass(frozen=True)
class Relation:
    """A base table; the columns are variables, so that they carry types."""

    name: str
    columns: tuple[Var, ...]
    static: bool = False
    key: tuple[str, ...] = ()


@dataclass(frozen=True)
class MapDecl:
    """A map and the query over relations that defines it; its keys are the query's variables."""

    name: str
    keys: tuple[Var, ...]
    type: DataType
    definition: Query


@dataclass(frozen=True)
class Statement:
    """One change of one map."""

    target: str
    keys: tuple[Var, ...]
    effect: Effect
    query: Query


@dataclass(frozen=True)
class Trigger:
    """What happens when a relation changes."""

    event: Event
    relation: str
    args: tuple[Var, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Sorting:
    """One key of ORDER BY: a column of the view, by position."""

    column: int
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class View:
    """A result: its columns with their SQL names, the query that gives its rows, and their order.

    `hidden` columns at the end are there to sort by, and are not shown.
    """

    name: str
    columns: tuple[Var, ...]
    titles: tuple[str, ...]
    query: Query
    order: tuple[Sorting, ...] = ()
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True)
class Program:
    """A whole program."""

    relations: tuple[Relation, ...]
    maps: tuple[MapDecl, ...]
    triggers: tuple[Trigger, ...]
    views: tuple[View, ...]

    def map(self, name: str) -> MapDecl:
        """The map of a name."""
        return next(m for m in self.maps if m.name == name)

    def relation(self, name: str) -> Relation:
        """The relation of a name."""
        return next(r for r in self.relations if r.name == name)
