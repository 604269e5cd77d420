"""What column names mean: the sources of a SELECT, and those of the queries around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cubekeeper.errors import InputError, did_you_mean
from cubekeeper.live.calculus.build import let, mul, sum_over, var
from cubekeeper.live.calculus.nodes import Query, Var
from cubekeeper.live.calculus.variables import free
from cubekeeper.scalar.nodes import Expr
from cubekeeper.schema import DataType
from cubekeeper.source import Span


@dataclass
class Names:
    """Gives out variable names, each once."""

    taken: set[str] = field(default_factory=set)

    def new(self, stem: str, type: DataType, *, nullable: bool) -> Var:
        """A new variable with a readable name."""
        clean = "".join(c if c.isalnum() or c == "_" else "_" for c in stem.lower()) or "v"
        clean = clean if not clean[0].isdigit() else f"v_{clean}"
        name, number = clean, 1
        while name in self.taken:
            number += 1
            name = f"{clean}_{number}"
        self.taken.add(name)
        return var(name, type, nullable=nullable)

    def like(self, expr: Expr, stem: str) -> Var:
        """A new variable for the value of an expression."""
        return self.new(stem, expr.type, nullable=expr.nullable)


@dataclass(frozen=True)
class Named:
    """A column of a source: the source's alias, the column's name, and what it stands for."""

    table: str
    name: str
    expr: Expr


@dataclass(frozen=True)
class Relation:
    """A query whose rows have named columns; its multiplicity is how often a row occurs."""

    query: Query
    columns: tuple[tuple[str, Var], ...]

    def narrowed(self, outer: frozenset[str]) -> Relation:
        """The same with no free variables but its columns and those of the queries around it."""
        kept = outer | {v.column for _, v in self.columns}
        return Relation(sum_over(sorted(free(self.query) - kept), self.query), self.columns)

    def apart(self, names: Names, outer: frozenset[str]) -> Relation:
        """The same with a variable of its own for every column."""
        columns = tuple((title, names.like(v, title)) for title, v in self.columns)
        lets = (let(new, old) for (_, new), (_, old) in zip(columns, self.columns, strict=True))
        return Relation(mul(self.query, *lets), columns).narrowed(outer)


@dataclass(frozen=True)
class SourceScope:
    """The columns that the sources of one SELECT offer, and the scope around it."""

    columns: Sequence[Named]
    outer: SourceScope | None = None
    holes: Mapping[str, Expr] = field(default_factory=dict)
    merged: frozenset[str] = frozenset()

    def with_holes(self, holes: Mapping[str, Expr]) -> SourceScope:
        """The same with values for the holes of an expression."""
        return replace(self, holes=holes)

    def resolve(self, parts: tuple[str, ...], span: Span) -> Expr:
        """What a name stands for: in this SELECT, or else in the nearest one around it."""
        if len(parts) == 1 and parts[0] in self.holes:
            return self.holes[parts[0]]
        found = self._matching(parts)
        distinct = list(dict.fromkeys(named.expr for named in found))
        if len(distinct) > 1:
            tables = ", ".join(f"`{n.table}.{n.name}`" for n in found)
            raise InputError(
                "ambiguous-column",
                f"`{'.'.join(parts)}` is ambiguous",
                span=span,
                hint=f"it can be {tables}",
            )
        if distinct:
            return distinct[0]
        if self.outer is not None:
            return self.outer.resolve(parts, span)
        known = [n.name for n in self.columns]
        raise InputError(
            "unknown-column",
            f"there is no column `{'.'.join(parts)}`",
            span=span,
            hint=did_you_mean(parts[-1], known),
        )

    def _matching(self, parts: tuple[str, ...]) -> list[Named]:
        name = parts[-1].lower()
        found = [n for n in self.columns if n.name.lower() == name]
        if len(parts) > 1:
            return [n for n in found if n.table.lower() == parts[-2].lower()]
        merged = [n for n in found if n.table == ""]
        return merged or found
