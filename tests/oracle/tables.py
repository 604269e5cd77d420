"""Random facts and dimensions, as the first half of a declaration.

Snowflakes, several roles of one dimension, composite keys, hierarchies that are chains and ones
that are not, computed columns, names that need quotes, columns that can and cannot be NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

_ATTRIBUTE_TYPES = (
    "string", "string", "string", "int", "int", "date", "decimal(6,2)", "boolean", "bigint",
)  # fmt: skip
_MEASURE_TYPES = ("int", "int", "decimal(8,2)", "double", "bigint", "smallint", "date", "string")
_ODD_NAMES = ("unit price", "order", "Group", "naïve", "sum")


Level = str | dict[str, str]
"""A column, or a name with an expression."""

Chains = tuple[tuple[Level, ...], ...]


@dataclass(frozen=True)
class ColumnPlan:
    """A column to be declared; `expr` makes it one that is computed from the `source` column."""

    name: str
    type: str
    nullable: bool = True
    expr: str | None = None
    source: str = ""

    @property
    def declaration(self) -> str | dict[str, str]:
        """What stands behind the column's name in the YAML."""
        if self.expr is not None:
            return {"expr": self.expr}
        return self.type if self.nullable else f"{self.type} not null"


@dataclass(frozen=True)
class JoinPlan:
    """A foreign key to be declared."""

    role: str
    columns: tuple[str, ...]
    target: TablePlan


@dataclass(frozen=True)
class TablePlan:
    """A table to be declared; a hierarchy is one or several chains of levels, fine to coarse."""

    name: str
    columns: tuple[ColumnPlan, ...]
    key: tuple[str, ...] = ()
    joins: tuple[JoinPlan, ...] = ()
    hierarchies: tuple[Chains, ...] = ()

    def column(self, name: str) -> ColumnPlan:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)

    def declaration(self) -> dict[str, object]:
        """The table in the declaration language."""
        document: dict[str, object] = {"name": self.name}
        if self.key:
            document["key"] = self.key[0] if len(self.key) == 1 else list(self.key)
        document["columns"] = {column.name: column.declaration for column in self.columns}
        if self.joins:
            document["joins"] = [
                {"dimension": join.target.name, "name": join.role, "on": list(join.columns)}
                for join in self.joins
            ]
        if self.hierarchies:
            document["hierarchies"] = [
                {"name": f"h{at}", "levels": self._levels(paths[0])}
                if len(paths) == 1
                else {"name": f"h{at}", "paths": [self._levels(path) for path in paths]}
                for at, paths in enumerate(self.hierarchies)
            ]
        return document

    def _levels(self, chain: tuple[Level, ...]) -> list[Level]:
        return [f"{self.name}.{quoted(lv)}" if isinstance(lv, str) else lv for lv in chain]


@dataclass(frozen=True)
class Reached:
    """A column as a fact sees it: along a path of roles, under a name that means nothing else.

    Columns of equal `meaning` have the same values: the key of a dimension and the foreign key
    that refers to it, a computed column and its expression.
    """

    path: tuple[str, ...]
    column: ColumnPlan
    text: str
    meaning: str

    @property
    def type(self) -> str:
        """The type, in Spark's words."""
        return self.column.type


def quoted(name: str) -> str:
    """A name in backticks, if it needs them."""
    plain = re.fullmatch(r"[a-z_][a-z_0-9]*", name) and name not in _ODD_NAMES
    return name if plain else f"`{name}`"


def reached(fact: TablePlan) -> list[Reached]:
    """The columns of a fact and of its dimensions that have a name of at most four parts."""
    tables = list(_tables(fact, (), {}))
    paths = [path for path, _, _ in tables]
    qualifiers = {path: _qualifier(fact, path, paths) for path in paths}
    return [
        Reached(
            path,
            column,
            f"{qualifiers[path]}.{quoted(column.name)}",
            _meaning(path, column, keys),
        )
        for path, table, keys in tables
        if qualifiers[path].count(".") < 3
        for column in table.columns
    ]


def _meaning(path: tuple[str, ...], column: ColumnPlan, keys: Same) -> str:
    if column.expr is None:
        return str(keys.get(column.name, (path, column.name)))
    source = str(keys.get(column.source, (path, column.source)))
    return column.expr.replace(quoted(column.source), source)


Same = dict[str, tuple[tuple[str, ...], str]]


def _tables(
    table: TablePlan, path: tuple[str, ...], keys: Same
) -> Iterator[tuple[tuple[str, ...], TablePlan, Same]]:
    yield path, table, keys
    for join in table.joins:
        pairs = zip(join.target.key, join.columns, strict=True)
        same = {key: keys.get(column, (path, column)) for key, column in pairs}
        yield from _tables(join.target, (*path, join.role), same)


def _qualifier(fact: TablePlan, path: tuple[str, ...], paths: Sequence[tuple[str, ...]]) -> str:
    """The end of a path that no other path has; the fact's name where there is none."""
    for length in range(1, len(path) + 1):
        if sum(other[-length:] == path[-length:] for other in paths) == 1:
            return ".".join(path[-length:])
    return ".".join((fact.name, *path))


@dataclass
class _Names:
    """Names in use, so that odd ones stay unique within a table."""

    taken: set[str] = field(default_factory=set)

    def pick(self, rng: Random, plain: str) -> str:
        name = rng.choice(_ODD_NAMES) if rng.random() < 0.04 else plain
        if name.lower() in self.taken:
            name = plain
        self.taken.add(name.lower())
        return name


def random_dimensions(rng: Random) -> list[TablePlan]:
    """One to four dimensions; a later one may refer to earlier ones."""
    dimensions: list[TablePlan] = []
    for at in range(rng.choice((1, 2, 2, 3, 4))):
        dimensions.append(_random_dimension(rng, f"d{at}", dimensions))
    return dimensions


def _random_dimension(rng: Random, name: str, coarser: Sequence[TablePlan]) -> TablePlan:
    names = _Names()
    key = tuple(names.pick(rng, f"{name}_k{i}") for i in range(2 if rng.random() < 0.15 else 1))
    key_type = rng.choice(("int", "int", "int", "string", "date"))
    columns = [ColumnPlan(column, key_type, nullable=False) for column in key]
    for at in range(rng.choice((1, 2, 3, 4))):
        nullable = rng.random() < 0.75
        attribute = names.pick(rng, f"a{at}" if rng.random() < 0.5 else f"{name}_a{at}")
        columns.append(ColumnPlan(attribute, rng.choice(_ATTRIBUTE_TYPES), nullable))
    joins = []
    if coarser and rng.random() < 0.45:
        joins.append(_random_join(rng, names, columns, rng.choice(coarser), "to"))
    composite = {name for join in joins if len(join.columns) > 1 for name in join.columns}
    attributes = [c for c in columns[len(key) :] if c.name not in composite]
    hierarchies = _random_hierarchies(rng, attributes, key[0] if len(key) == 1 else None)
    through = (_through(rng, key, join) for join in joins if rng.random() < 0.5)
    hierarchies += tuple(chains for chains in through if chains)
    referring = {name for join in joins for name in join.columns}
    named = [c.name for c in attributes if c.type == "string" and c.name not in referring]
    if not hierarchies and joins and not composite and named:
        hierarchies = (((rng.choice(named), joins[0].columns[0]),),)
    if rng.random() < 0.2:
        columns.append(_computed(rng, columns, names))
    return TablePlan(name, tuple(columns), key, tuple(joins), hierarchies)


def _random_join(
    rng: Random, names: _Names, columns: list[ColumnPlan], target: TablePlan, role: str
) -> JoinPlan:
    """A foreign key, with new columns for it."""
    referring = tuple(names.pick(rng, f"{role}_{column}") for column in target.key)
    for column, referred in zip(referring, target.key, strict=True):
        columns.append(ColumnPlan(column, target.column(referred).type, nullable=False))
    return JoinPlan(f"{role}_{target.name}", referring, target)


def _random_hierarchies(
    rng: Random, columns: Sequence[ColumnPlan], key: str | None
) -> tuple[Chains, ...]:
    """At most one hierarchy of plain columns: a chain, or two chains that share their ends."""
    levels = [column.name for column in columns if column.type in ("string", "int", "date")]
    rng.shuffle(levels)
    if len(levels) < 2 or rng.random() < 0.35:
        return ()
    start = [key] if key is not None and rng.random() < 0.5 else []
    if len(levels) >= 3 and rng.random() < 0.35:
        first, left, right, *rest = levels
        ends = rest[:1]
        return (((*start, first, left, *ends), (*start, first, right, *ends)),)
    return (((*start, *levels[: rng.choice((2, 3))]),),)


def _through(rng: Random, key: tuple[str, ...], join: JoinPlan) -> Chains:
    """A hierarchy that a foreign key makes true: from the key to a column of the other table."""
    attribute = rng.choice(join.target.columns)
    level = {"through": f"{join.role}.{quoted(attribute.name)}"}
    finest: tuple[Level, ...] = key if len(key) == 1 else ()
    middle: tuple[Level, ...] = join.columns if len(join.columns) == 1 else ()
    if attribute.name in join.target.key:
        return ((*finest, *middle),) if finest and middle else ()
    return ((*finest, *middle, level),) if finest or middle else ()


def _calendar(rng: Random) -> Chains:
    """Levels of a day that are expressions."""
    month = {"month": "trunc(day, 'MONTH')"}
    year = {"year": "year(day)"}
    week = {"week": "trunc(day, 'WEEK')"}
    return (("day", month, year), ("day", week)) if rng.random() < 0.4 else (("day", month, year),)


def _computed(rng: Random, columns: Sequence[ColumnPlan], names: _Names) -> ColumnPlan:
    source = rng.choice(columns)
    name, base = names.pick(rng, "c0"), quoted(source.name)
    match source.type:
        case "string":
            kind, expr = "string", f"coalesce({base}, 'none')"
        case "date":
            kind, expr = "int", f"year({base})"
        case "boolean":
            kind, expr = "int", f"CASE WHEN {base} THEN 1 ELSE 0 END"
        case _:
            kind, expr = "boolean", f"{base} > 2"
    return ColumnPlan(name, kind, source.nullable, expr, source.name)


def random_fact(rng: Random, name: str, dimensions: Sequence[TablePlan]) -> TablePlan:
    """A fact that refers to some dimensions, to one of them perhaps twice."""
    names = _Names()
    columns: list[ColumnPlan] = []
    targets = rng.sample(dimensions, rng.randint(1, min(3, len(dimensions))))
    if rng.random() < 0.3:
        targets.append(rng.choice(targets))
    joins = [
        _random_join(rng, names, columns, target, f"r{at}") for at, target in enumerate(targets)
    ]
    key: tuple[str, ...] = ()
    if rng.random() < 0.25:
        key = (names.pick(rng, "id"),)
        columns.append(ColumnPlan(key[0], "int", nullable=False))
    for at in range(rng.choice((2, 3, 4))):
        measure = names.pick(rng, f"m{at}")
        if rng.random() < 0.03:  # reads like a column of a dimension: role_column
            other = rng.choice(joins)
            alike = f"{other.role}_{rng.choice(other.target.columns).name}"
            if alike.lower() not in names.taken:
                measure = names.pick(rng, alike)
        columns.append(ColumnPlan(measure, rng.choice(_MEASURE_TYPES), rng.random() < 0.6))
    columns.append(ColumnPlan("day", "date", rng.random() < 0.3))
    levels = columns[-3:] if rng.random() < 0.1 else []
    hierarchies = _random_hierarchies(rng, levels, None)
    if rng.random() < 0.3:
        hierarchies += (_calendar(rng),)
    if rng.random() < 0.15:
        columns.append(_computed(rng, columns, names))
    return TablePlan(name, tuple(columns), key, tuple(joins), hierarchies)
