"""A warehouse as its owners declared it: facts, dimensions, hierarchies, summary tables.

All of it is frozen, resolved and type-checked: names have become references, SQL and structured
declarations have become the same objects, cubes have become their views.

    Warehouse ── Fact ── ForeignKey ──► Dimension ── ForeignKey ──► Dimension …   (a snowflake)
              │       └─ Hierarchy            └─ Hierarchy: level ► coarser level
              └─ SummaryTable ── Key, Measure, filter          (a generalized cube view)

A base column is named by the *path* of foreign keys that leads from the fact table to its table
(`scalar.nodes.Path`); two paths to one dimension are two roles of it (order date, ship date). The
key of a joined dimension is always written as the foreign key that refers to it, so that equal
values have one name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from cubekeeper.errors import InternalError
from cubekeeper.scalar.aggregates import Aggregate
from cubekeeper.scalar.nodes import ColumnRef, Expr, Path, column_refs
from cubekeeper.schema import Column
from cubekeeper.source import Span


class Policy(Enum):
    """How a summary table may be brought up to date."""

    AUTO = "auto"
    INCREMENTAL = "incremental"
    INCREMENTAL_STRICT = "incremental_strict"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns that name one row of a dimension; never NULL, always matched (many to one)."""

    name: str
    columns: tuple[str, ...]
    references: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a hierarchy: a column (or expression) of the table that declares it."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A partial order of levels: each step says that the finer level determines the coarser."""

    name: str
    levels: tuple[Level, ...]
    steps: tuple[tuple[str, str], ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    def level(self, name: str) -> Level:
        """The level of that name."""
        return next(level for level in self.levels if level.name == name)


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """A name for an expression over its table's columns, usable wherever a column is."""

    name: str
    expr: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class BaseTable:
    """What facts and dimensions have in common. An empty key makes a table a bag."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    hierarchies: tuple[Hierarchy, ...] = ()
    computed: tuple[ComputedColumn, ...] = ()
    description: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)

    @cached_property
    def _columns_by_name(self) -> Mapping[str, Column]:
        return {column.name.lower(): column for column in self.columns}

    def column(self, name: str) -> Column:
        """The column of that name, whatever its case."""
        return self._columns_by_name[name.lower()]

    def has_column(self, name: str) -> bool:
        """Whether there is a stored column of that name, whatever its case."""
        return name.lower() in self._columns_by_name

    def foreign_key(self, name: str) -> ForeignKey:
        """The foreign key of that name."""
        return next(key for key in self.foreign_keys if key.name == name)


@dataclass(frozen=True)
class Fact(BaseTable):
    """A table of events, large, that summary tables aggregate."""


@dataclass(frozen=True)
class Dimension(BaseTable):
    """A table of things that facts refer to by its key."""


@dataclass(frozen=True, slots=True)
class Key:
    """A group-by column of a summary table."""

    name: str
    expr: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """An aggregate column of a summary table."""

    name: str
    aggregate: Aggregate
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class SummaryTable:
    """A generalized cube view: one SELECT … FROM fact JOIN dimensions WHERE … GROUP BY block.

    `filter` is a conjunction in canonical order. The dimensions joined are those its expressions
    mention: joins along foreign keys neither lose nor duplicate rows. A table without keys has one
    row always, as SQL has it. A `lattice_friendly` table may carry hidden columns for tables below
    it; `cube` names the cube that it was expanded from.
    """

    name: str
    fact: str
    keys: tuple[Key, ...]
    measures: tuple[Measure, ...]
    filter: tuple[Expr, ...] = ()
    policy: Policy = Policy.AUTO
    lattice_friendly: bool = True
    cube: str | None = None
    description: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)

    def expressions(self) -> Iterator[Expr]:
        """Every scalar expression of the definition."""
        for key in self.keys:
            yield key.expr
        for measure in self.measures:
            if measure.aggregate.argument is not None:
                yield measure.aggregate.argument
        yield from self.filter

    @cached_property
    def columns_read(self) -> frozenset[ColumnRef]:
        """The base columns that the definition mentions."""
        return frozenset(ref for expr in self.expressions() for ref in column_refs(expr))


@dataclass(frozen=True)
class Warehouse:
    """Everything declared, by name. Names are unique whatever their case, as Spark sees them."""

    name: str
    facts: tuple[Fact, ...]
    dimensions: tuple[Dimension, ...]
    summary_tables: tuple[SummaryTable, ...]
    description: str = field(default="", compare=False)

    @cached_property
    def _base_tables(self) -> Mapping[str, BaseTable]:
        return {table.name: table for table in (*self.facts, *self.dimensions)}

    @cached_property
    def _views(self) -> Mapping[str, SummaryTable]:
        return {view.name: view for view in self.summary_tables}

    def fact(self, name: str) -> Fact:
        """The fact table of that name."""
        return next(fact for fact in self.facts if fact.name == name)

    def base_table(self, name: str) -> BaseTable:
        """The fact or dimension of that name."""
        return self._base_tables[name]

    def view(self, name: str) -> SummaryTable:
        """The summary table of that name."""
        return self._views[name]

    def table_at(self, fact: str, path: Path) -> BaseTable:
        """The table to which a path of foreign keys leads from a fact."""
        table = self.base_table(fact)
        for step in path:
            table = self.base_table(table.foreign_key(step).references)
        return table

    def paths(self, fact: str) -> tuple[Path, ...]:
        """Every path of foreign keys from a fact (or dimension), shorter before longer; () is the
        table itself."""
        return self._paths[fact]

    @cached_property
    def _paths(self) -> Mapping[str, tuple[Path, ...]]:
        return {name: tuple(self._walk_paths(table)) for name, table in self._base_tables.items()}

    def _walk_paths(self, start: BaseTable) -> Iterator[Path]:
        frontier: list[tuple[Path, BaseTable]] = [((), start)]
        while frontier:
            path, table = frontier.pop(0)
            yield path
            if len(path) > len(self.dimensions):
                raise InternalError("cyclic-foreign-keys", f"foreign keys of `{start.name}` cycle")
            frontier += [
                ((*path, key.name), self.base_table(key.references)) for key in table.foreign_keys
            ]

    def alias(self, fact: str, path: Path) -> str:
        """The name of a joined dimension in SQL: the foreign key's, or the whole path if that
        name is not the only one of its kind."""
        return self._aliases[fact][path]

    @cached_property
    def _aliases(self) -> Mapping[str, Mapping[Path, str]]:
        return {fact.name: _aliases_of(fact.name, self.paths(fact.name)) for fact in self.facts}

    def column_at(self, fact: str, path: Path, column: str) -> ColumnRef:
        """A reference to a base column, in the canonical form: a dimension's key is written as
        the foreign key that refers to it."""
        while path:
            owner = self.table_at(fact, path[:-1])
            foreign_key = owner.foreign_key(path[-1])
            key = [name.lower() for name in self.base_table(foreign_key.references).key]
            if column.lower() not in key:
                break
            path, column = path[:-1], foreign_key.columns[key.index(column.lower())]
        declared = self.table_at(fact, path).column(column)
        return ColumnRef(path, declared.name, declared.type, declared.nullable)


def _aliases_of(fact: str, paths: tuple[Path, ...]) -> Mapping[Path, str]:
    last_names = [path[-1].lower() for path in paths if path]
    taken = {fact.lower()}
    aliases: dict[Path, str] = {(): fact}
    for path in paths:
        if not path:
            continue
        short = last_names.count(path[-1].lower()) == 1 and path[-1].lower() not in taken
        alias = path[-1] if short else "__".join(path)
        while alias.lower() in taken:
            alias += "_"
        taken.add(alias.lower())
        aliases[path] = alias
    return aliases
