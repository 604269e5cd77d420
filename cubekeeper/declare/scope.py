"""What a column's name means: the fact and every dimension that foreign keys reach from it.

A name is ``column``, or ``qualifier.column``, where the qualifier is the fact, a role or dimension,
or a longer path of roles (``stores.cities.name``). Case does not matter. The key of a dimension is
the foreign key that refers to it, so a name that could mean either means the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from cubekeeper.declare.report import AlreadyReported
from cubekeeper.errors import InputError, did_you_mean
from cubekeeper.scalar.nodes import Expr, Path
from cubekeeper.source import Span
from cubekeeper.warehouse.model import BaseTable, Warehouse
from cubekeeper.warehouse.rebase import rebased

Qualifier = tuple[str, ...]


@dataclass(frozen=True)
class Tables:
    """The facts and dimensions as far as they could be read, and what of them could not.

    `broken` are tables, `broken_columns` columns that were declared and reported as wrong;
    `incomplete` tables lack a foreign key for the same reason. Names are lower-cased.
    """

    warehouse: Warehouse
    broken: frozenset[str] = frozenset()
    broken_columns: frozenset[tuple[str, str]] = frozenset()
    incomplete: frozenset[str] = frozenset()

    @cached_property
    def columns(self) -> Mapping[str, Mapping[str, str]]:
        """For each table the names of its columns, stored and computed, by lower-cased name."""
        return {
            table.name: {name.lower(): name for name in column_names(table)}
            for table in (*self.warehouse.facts, *self.warehouse.dimensions)
        }

    def find(self, name: str, span: Span, kinds: Iterable[BaseTable], what: str) -> BaseTable:
        """The table of that name, whatever its case; `what` says which tables are meant."""
        known = {table.name.lower(): table for table in kinds}
        if name.lower() in known:
            return known[name.lower()]
        if name.lower() in self.broken:
            raise AlreadyReported
        names = [table.name for table in known.values()]
        hint = did_you_mean(name, names)
        other = {
            table.name.lower() for table in (*self.warehouse.facts, *self.warehouse.dimensions)
        }
        if name.lower() in other:
            raise InputError("wrong-table", f"`{name}` is not a {what}", span=span, hint=hint)
        raise InputError("unknown-table", f"there is no {what} `{name}`", span=span, hint=hint)


def column_names(table: BaseTable) -> Iterator[str]:
    """The names of all columns of a table, stored and computed."""
    yield from (column.name for column in table.columns)
    yield from (computed.name for computed in table.computed)


@dataclass(frozen=True)
class Found:
    """A column: its expression, and its name as declared."""

    expr: Expr
    name: str


@dataclass(frozen=True)
class NameScope:
    """Names as seen from a table (`root`); `qualifiers` say which paths each qualifier may mean.

    `whose` begins the sentence that there is no such column.
    """

    tables: Tables
    root: str
    paths: tuple[Path, ...]
    qualifiers: Mapping[Qualifier, tuple[Path, ...]]
    whose: str

    def resolve(self, parts: tuple[str, ...], span: Span) -> Expr:
        """The expression that a name stands for."""
        return self.find(parts, span).expr

    def find(self, parts: tuple[str, ...], span: Span) -> Found:
        """The column that a name stands for; raises `InputError`."""
        known = self._cache.get(parts)
        if known is None:
            known = self._cache[parts] = self._find(parts, span)
        return known

    @cached_property
    def _cache(self) -> dict[tuple[str, ...], Found]:
        return {}

    def _find(self, parts: tuple[str, ...], span: Span) -> Found:
        column = parts[-1].lower()
        paths = self.paths_of(parts[:-1], span) if len(parts) > 1 else self.paths
        holding = [path for path in paths if column in self._columns_at(path)]
        if any(
            (self.table(path).name.lower(), column) in self.tables.broken_columns for path in paths
        ):
            raise AlreadyReported
        if not holding:
            if len(parts) == 1 and self._incomplete:
                raise AlreadyReported
            raise self._unknown(parts, paths, span)
        means = {self._column(path, column).expr: path for path in reversed(holding)}
        if len(means) > 1:
            raise self._ambiguous(parts, [path for path in holding if path in means.values()], span)
        return self._column(holding[0], column)

    def paths_of(self, qualifier: Qualifier, span: Span) -> tuple[Path, ...]:
        """The paths that a qualifier may mean; raises `InputError` if there is none."""
        paths = self.qualifiers.get(tuple(part.lower() for part in qualifier))
        if paths:
            return paths
        name = ".".join(qualifier)
        if qualifier[-1].lower() in self.tables.broken or self._incomplete:
            raise AlreadyReported
        if name.lower() in map(str.lower, self.tables.columns):
            raise InputError(
                "unreachable-table",
                f"no foreign key leads from `{self.root}` to `{name}`",
                span=span,
                hint=f"declare it under `joins` of `{self.root}`, or of a dimension that it joins",
            )
        known = [self._spelled(words[0]) for words in self.qualifiers if len(words) == 1]
        raise InputError(
            "unknown-table",
            f"there is no table or role `{name}` here",
            span=span,
            hint=did_you_mean(name, known),
        )

    @cached_property
    def _incomplete(self) -> bool:
        """Whether a foreign key could not be read, so that names may be missing for that reason."""
        return any(self.table(path).name.lower() in self.tables.incomplete for path in self.paths)

    def table(self, path: Path) -> BaseTable:
        """The table at a path."""
        return self._tables_at[path]

    @cached_property
    def _tables_at(self) -> Mapping[Path, BaseTable]:
        return {path: self.tables.warehouse.table_at(self.root, path) for path in self.paths}

    def _columns_at(self, path: Path) -> Mapping[str, str]:
        return self.tables.columns[self.table(path).name]

    def _column(self, path: Path, column: str) -> Found:
        table, warehouse = self.table(path), self.tables.warehouse
        name = self._columns_at(path)[column]
        for computed in table.computed:
            if computed.name == name:
                return Found(rebased(warehouse, self.root, path, computed.expr), name)
        return Found(warehouse.column_at(self.root, path, name), name)

    def _spelled(self, qualifier: str) -> str:
        """A qualifier with the letters as declared."""
        for path in self.paths:
            for spelled in (*path[-1:], self.table(path).name):
                if spelled.lower() == qualifier:
                    return spelled
        return qualifier

    def _unknown(self, parts: tuple[str, ...], paths: tuple[Path, ...], span: Span) -> InputError:
        name = ".".join(parts)
        known = [column for path in paths for column in self._columns_at(path).values()]
        if len(parts) > 1:
            table = self.table(paths[0]).name
            message = f"`{table}` has no column `{parts[-1]}`"
            return InputError(
                "unknown-column", message, span=span, hint=did_you_mean(parts[-1], known)
            )
        elsewhere = [
            table for table, columns in self.tables.columns.items() if parts[-1].lower() in columns
        ]
        if elsewhere:
            return self._unreachable(name, elsewhere, span)
        return InputError(
            "unknown-column",
            f"{self.whose} no column `{name}`",
            span=span,
            hint=did_you_mean(name, known),
        )

    def _unreachable(self, name: str, tables: list[str], span: Span) -> InputError:
        warehouse = self.tables.warehouse
        near = {warehouse.table_at(self.root, p).name for p in warehouse.paths(self.root)}
        table = next((table for table in tables if table in near), None)
        if table is not None:
            return InputError(
                "table-not-joined",
                f"`{name}` is a column of `{table}`, which is not in FROM",
                span=span,
                hint=f"join `{table}` along its foreign key",
            )
        return InputError(
            "unreachable-column",
            f"`{name}` is a column of `{tables[0]}`, which no foreign key of `{self.root}` reaches",
            span=span,
            hint=f"declare the foreign key under `joins` of `{self.root}`, or of a table it joins",
        )

    def _ambiguous(self, parts: tuple[str, ...], paths: list[Path], span: Span) -> InputError:
        choices = [f"`{self.qualified(path, parts[-1])}`" for path in paths]
        return InputError(
            "ambiguous-column",
            f"`{'.'.join(parts)}` could mean {' or '.join(choices[:4])}",
            span=span,
            hint="write which one is meant",
        )

    def qualified(self, path: Path, column: str) -> str:
        """The shortest name under which a column at a path is known without doubt."""
        lowered = tuple(step.lower() for step in path)
        for length in range(1, len(path) + 1):
            if self.qualifiers.get(lowered[-length:]) == (path,):
                return ".".join((*path[-length:], column))
        return ".".join((self.root, *path, column))


def reachable(tables: Tables, root: str) -> NameScope:
    """Every name that can be seen from a table along foreign keys."""
    warehouse = tables.warehouse
    paths = warehouse.paths(root)
    by_role: dict[Qualifier, list[Path]] = defaultdict(list)
    by_dimension: dict[Qualifier, list[Path]] = defaultdict(list)
    for path in paths:
        lowered = tuple(step.lower() for step in path)
        by_role[(root.lower(), *lowered)].append(path)
        for length in range(1, len(path) + 1):
            by_role[lowered[-length:]].append(path)
        if path:
            by_dimension[(warehouse.table_at(root, path).name.lower(),)].append(path)
    qualifiers = {**by_dimension, **by_role}
    whose = f"`{root}` and the tables it joins have" if len(paths) > 1 else f"`{root}` has"
    return NameScope(tables, root, paths, {q: tuple(at) for q, at in qualifiers.items()}, whose)


def joined(tables: Tables, root: str, aliases: Mapping[str, Path]) -> NameScope:
    """The names of the tables that a FROM clause joins, under their aliases."""
    qualifiers: dict[Qualifier, tuple[Path, ...]] = {
        (alias.lower(),): (path,) for alias, path in aliases.items()
    }
    paths = tuple(dict.fromkeys(aliases.values()))
    whose = "the tables in FROM have" if len(paths) > 1 else f"`{root}` has"
    return NameScope(tables, root, paths, qualifiers, whose)


def own(tables: Tables, root: str) -> NameScope:
    """The names of one table's columns only."""
    return NameScope(tables, root, ((),), {(root.lower(),): ((),)}, f"`{root}` has")
