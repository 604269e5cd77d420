"""The summary-delta table of a view: what a batch changes in each of its groups (4.1.2, 4.1.4).

The terms of a way (Δsource with every dimension new, then the old source with the changes of each
dimension in turn) are put under one another and grouped once. Groups in which nothing changes in
the end are left out.

**Extremes.** What a term inserts is not always there afterwards: of a store that moves, one term
inserts the old rows in the new city, and another deletes there those of them that the batch
deletes. Let `i` be the extreme of what is said to be inserted and `x` that of what is deleted. A
delta keeps these promises (for MIN; MAX is its mirror image), whatever it is computed from:

- `i` is a value that the group has afterwards;
- nothing less than both `i` and `x` comes to the group;
- nothing less than `x` leaves it.

Net changes of the base keep them, and so does what is rolled up from a delta that keeps them. Among
several terms, what comes from the source's own delta keeps the first promise; what comes from old
rows does so at least if it is less than everything that is deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cubekeeper.lattice.choice import Term, Version
from cubekeeper.lattice.model import Edge, Join, Lattice
from cubekeeper.lattice.text import aliased, edge_names, edge_source, join_line, reduced
from cubekeeper.scalar.build import cast, literal
from cubekeeper.scalar.nodes import Expr, column_refs
from cubekeeper.scalar.text import conjunction_to_sql, quote, to_sql, type_text
from cubekeeper.schema import Column
from cubekeeper.statements.columns import WEIGHT, Extreme, Shape, delta_columns, shape
from cubekeeper.statements.contributions import contributions
from cubekeeper.statements.model import Relations, Statement


def summary_delta(
    lattice: Lattice, edge: Edge, terms: Sequence[Term], tables: Relations
) -> Statement:
    """The summary-delta of an edge's child, by the terms of the candidate that was chosen."""
    node = lattice.node(edge.child)
    columns = shape(node)
    if not terms:
        return Statement(_no_rows(delta_columns(node)), delta_columns(node))
    several = len(terms) > 1
    parts = [_term(lattice, edge, term, tables, surely=several) for term in terms]
    keys = [_inner(key.name) for key in columns.keys]
    lines = [_select([*keys, *_aggregates(columns, several=several)])]
    lines.append("FROM (\n" + "\nUNION ALL\n".join(parts) + "\n) AS terms")
    if keys:
        lines.append("GROUP BY " + ", ".join(keys))
    lines.append("HAVING " + "\n    OR ".join(_changes(columns)))
    return Statement("\n".join(lines), delta_columns(node))


def _inner(name: str) -> str:
    return f"terms.{quote(name)}"


def _select(columns: Sequence[str]) -> str:
    return "SELECT " + ",\n       ".join(columns)


def _aggregates(columns: Shape, *, several: bool) -> Iterator[str]:
    for summed in columns.sums:
        total = f"SUM({_inner(summed.name)})"
        yield f"CAST({total} AS {type_text(summed.type)}) AS {quote(summed.name)}"
    for extreme in columns.extremes:
        yield f"{_inserted(extreme, several=several)} AS {quote(extreme.inserted)}"
        yield f"{_extreme(extreme, extreme.deleted)} AS {quote(extreme.deleted)}"


def _extreme(extreme: Extreme, name: str) -> str:
    return f"{extreme.of_group}({_inner(name)})"


def _inserted(extreme: Extreme, *, several: bool) -> str:
    """The extreme of what is inserted: of all if nothing deleted can be meant by it."""
    inserted = _extreme(extreme, extreme.inserted)
    if not several:
        return inserted
    deleted = _extreme(extreme, extreme.deleted)
    return (
        f"CASE WHEN {deleted} IS NULL OR {inserted} {extreme.beyond} {deleted} "
        f"THEN {inserted} ELSE {_extreme(extreme, extreme.surely)} END"
    )


def _changes(columns: Shape) -> Iterator[str]:
    for summed in columns.sums:
        yield f"SUM({_inner(summed.name)}) <> 0"
    for extreme in columns.extremes:
        yield f"{_extreme(extreme, extreme.inserted)} IS NOT NULL"
        yield f"{_extreme(extreme, extreme.deleted)} IS NOT NULL"


def _no_rows(columns: Sequence[Column]) -> str:
    nulls = [f"CAST(NULL AS {type_text(c.type)}) AS {quote(c.name)}" for c in columns]
    return _select(nulls) + "\nWHERE FALSE"


# --- one term -------------------------------------------------------------------------------------


def _term(lattice: Lattice, edge: Edge, term: Term, tables: Relations, *, surely: bool) -> str:
    alias, name = edge_names(lattice, edge)
    columns = [f"{to_sql(expr, name)} AS {quote(key)}" for key, expr in edge.keys]
    values = dict(contributions(lattice, edge, term))
    if surely:
        for extreme in shape(lattice.node(edge.child)).extremes:
            nothing = cast(literal(None), extreme.type)
            of_delta = term.source is Version.DELTA
            values[extreme.surely] = values[extreme.inserted] if of_delta else nothing
    columns += [f"{to_sql(value, name)} AS {quote(column)}" for column, value in values.items()]
    source = tables(edge_source(lattice, edge), term.source)
    versions = dict(term.joins)
    lines = [_select(columns), "FROM " + aliased(source, alias)]
    lines += [
        join_line(join, name, _dimension(edge, join, versions[join.alias], tables))
        for join in edge.joins
    ]
    if edge.residual:
        lines.append("WHERE " + conjunction_to_sql(edge.residual, name, separator="\n  AND "))
    return "\n".join(lines)


def _dimension(edge: Edge, join: Join, version: Version, tables: Relations) -> str:
    if version is not Version.DELTA:
        return reduced(join, tables(join.dimension, version))
    if join.lookup:
        return _lookup_changes(join, tables)
    return _key_changes(edge, join, tables(join.dimension, Version.DELTA))


def _key_changes(edge: Edge, join: Join, changes: str) -> str:
    """The changes of a dimension in the columns that an edge reads: others are as good as none."""
    columns = dict.fromkeys(column for _, column in join.on)
    columns |= dict.fromkeys(
        sorted(
            ref.column
            for expr in _expressions(edge)
            for ref in column_refs(expr)
            if ref.path == join.path
        )
    )
    names = ", ".join(map(quote, columns))
    return _net(names, f"SELECT {names}, {WEIGHT} FROM {changes}")


def _lookup_changes(join: Join, tables: Relations) -> str:
    """The pairs of levels that come and go; each is there once, of however many rows."""
    names = ", ".join(map(quote, join.lookup))
    states = ((Version.NEW, "1L"), (Version.OLD, "-1L"))
    return _net(
        names,
        " UNION ALL ".join(
            f"SELECT DISTINCT {names}, {weight} AS {WEIGHT} FROM {tables(join.dimension, version)}"
            for version, weight in states
        ),
    )


def _net(names: str, changes: str) -> str:
    weight = f"SUM(changes.{WEIGHT})"
    return (
        f"(SELECT {names}, CAST({weight} AS BIGINT) AS {WEIGHT} FROM ({changes}) AS changes "
        f"GROUP BY {names} HAVING {weight} <> 0)"
    )


def _expressions(edge: Edge) -> Iterator[Expr]:
    yield from (expr for _, expr in edge.keys)
    yield from edge.residual
    for join in edge.joins:
        yield from (expr for expr, _ in join.on)
    for column in edge.aggregates:
        if column.aggregate.argument is not None:
            yield column.aggregate.argument
