"""Sources of a SELECT: tables, and the rows that outer joins add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cubekeeper.live.calculus.build import cond, let, lift, mul, relation, sum_over
from cubekeeper.live.calculus.nodes import Query
from cubekeeper.live.calculus.variables import free
from cubekeeper.live.frontend.scopes import Named, Names
from cubekeeper.live.m3.nodes import Relation as Table
from cubekeeper.parse import query as sql
from cubekeeper.scalar.build import call, literal
from cubekeeper.scalar.nodes import ColumnRef, column_refs
from cubekeeper.schema import BIGINT


@dataclass(frozen=True)
class Source:
    """Rows and the columns that they offer; merged columns of USING have no table."""

    query: Query
    columns: tuple[Named, ...]
    hidden: frozenset[int] = frozenset()

    @property
    def visible(self) -> list[Named]:
        """The columns that ``*`` stands for."""
        return [n for i, n in enumerate(self.columns) if i not in self.hidden]

    @property
    def own(self) -> frozenset[str]:
        """The variables of its columns."""
        return frozenset(ref.column for n in self.columns for ref in column_refs(n.expr))

    def starred(self, name: str | None) -> list[Named]:
        """What ``*`` or ``t.*`` stands for."""
        if name is None:
            return self.visible
        return [n for n in self.columns if n.table.lower() == name.lower()]

    def one(self, name: str) -> Named | None:
        """The one visible column of a name."""
        found = [n for n in self.visible if n.name.lower() == name.lower()]
        return found[0] if len(found) == 1 else None


def table(declared: Table, alias: str, names: Names) -> Source:
    """The rows of a base table."""
    vars_ = [names.new(c.column, c.type, nullable=c.nullable) for c in declared.columns]
    columns = tuple(Named(alias, c.column, v) for c, v in zip(declared.columns, vars_, strict=True))
    return Source(relation(declared.name, *vars_), columns)


def anti(
    kept: Source, missing: Source, condition: Query, outer: frozenset[str], names: Names
) -> Query:
    """The rows of one side that match none of the other, whose columns are NULL."""
    matches = mul(missing.query, condition)
    count = names.new("matches", BIGINT, nullable=False)
    total = sum_over(sorted(free(matches) - free(kept.query) - outer), matches)
    none = cond(call("=", count, literal(0)))
    nulls = [
        let(n.expr, literal(None, n.expr.type))
        for n in missing.columns
        if isinstance(n.expr, ColumnRef)
    ]
    return sum_over(
        [count.column], mul(kept.query, lift(count, total), none, *dict.fromkeys(nulls))
    )


def outer_columns(source: Source) -> Source:
    """The same columns, which can now be NULL."""
    columns = tuple(
        replace(n, expr=replace(n.expr, nullable=True)) if isinstance(n.expr, ColumnRef) else n
        for n in source.columns
    )
    return replace(source, columns=columns)


def joined(
    part: sql.Join,
    query: Query,
    left: Source,
    right: Source,
    shared: Sequence[tuple[Named, Named]],
) -> Source:
    """The columns of a join; those of USING come once, first."""
    columns = (*left.columns, *right.columns)
    hidden = {*left.hidden, *(i + len(left.columns) for i in right.hidden)}
    merged = []
    for one, other in shared:
        here = next(n for n in left.columns if n.name == one.name and n.table == one.table)
        there = next(n for n in right.columns if n.name == other.name and n.table == other.table)
        expr = {
            "right": there.expr,
            "full": call("coalesce", here.expr, there.expr),
        }.get(part.kind, here.expr)
        merged.append(Named("", one.name, expr))
        hidden |= {i for i, n in enumerate(columns) if n in (here, there)}
    shifted = frozenset(i + len(merged) for i in hidden)
    return Source(query, (*merged, *columns), shifted)
