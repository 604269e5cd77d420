"""The FROM clause: which foreign keys its joins follow, and which conditions are left to filter.

A join condition must be a declared foreign key, whole: it decides which role of a dimension is
meant, whatever alias is used. It stands in ON or USING, and for comma joins in WHERE.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cubekeeper.declare.report import AlreadyReported
from cubekeeper.declare.scope import NameScope, Tables, joined
from cubekeeper.errors import CubekeeperError, InputError, UnsupportedError, did_you_mean
from cubekeeper.parse import FromTable, JoinKind, RawExpr, Select, column_parts, equality
from cubekeeper.scalar.nodes import Path
from cubekeeper.source import Span
from cubekeeper.warehouse.model import BaseTable, Fact, ForeignKey

Listed = Sequence[tuple[FromTable, BaseTable]]


@dataclass(frozen=True)
class Side:
    """A column of one of the tables in FROM, lower-cased."""

    alias: str
    column: str


Pair = frozenset[Side]
"""An equality of two columns; which side is which does not matter."""


@dataclass(frozen=True)
class Entry:
    """A table in FROM with the equalities of its ON or USING."""

    written: FromTable
    table: BaseTable
    pairs: Mapping[Pair, Span]

    @property
    def alias(self) -> str:
        """The name by which the rest of the SELECT knows it."""
        return self.written.alias.lower()


def read_from(select: Select, tables: Tables) -> tuple[NameScope, tuple[RawExpr, ...]]:
    """The names that the tables of FROM bring, and the conditions of WHERE that only filter."""
    found = _tables(select.tables, tables)
    if any(base.name.lower() in tables.incomplete for _, base in found):
        raise AlreadyReported
    entries = [
        Entry(written, table, _join_pairs(written, found[: index + 1]))
        for index, (written, table) in enumerate(found)
    ]
    where_pairs = [(_pair(raw, found), raw) for raw in select.where]
    where = {pair: raw.span for pair, raw in where_pairs if pair is not None}
    everywhere = {pair: span for entry in entries for pair, span in entry.pairs.items()} | where
    paths, used = _placed(entries, everywhere.keys())
    for index, entry in enumerate(entries):
        if entry.alias not in paths:
            raise _not_placed(entry, entries, everywhere)
        for pair, span in entry.pairs.items():
            if pair not in used:
                raise _not_a_foreign_key(entry, entries, span)
        if entry.written.kind is JoinKind.LEFT:
            _check_left_join(entry, entries[:index], paths)
    fact = next(entry for entry in entries if isinstance(entry.table, Fact))
    aliases = {entry.written.alias: paths[entry.alias] for entry in entries}
    conditions = tuple(raw for pair, raw in where_pairs if pair not in used)
    return joined(tables, fact.table.name, aliases), conditions


def _tables(written: Sequence[FromTable], tables: Tables) -> Listed:
    warehouse = tables.warehouse
    known = (*warehouse.facts, *warehouse.dimensions)
    found = [(table, tables.find(table.name, table.span, known, "table")) for table in written]
    aliases: set[str] = set()
    for table, _ in found:
        if table.alias.lower() in aliases:
            raise InputError(
                "duplicate-name",
                f"two tables in FROM are called `{table.alias}`",
                span=table.span,
                hint=f"give one of them another name: {table.name} AS other",
            )
        aliases.add(table.alias.lower())
    facts = [(table, base) for table, base in found if isinstance(base, Fact)]
    if len(facts) != 1:
        at = facts[1][0] if facts else written[0]
        names = [fact.name for fact in warehouse.facts]
        raise InputError(
            "two-facts" if facts else "no-fact",
            "a summary table aggregates one fact, here are two"
            if facts
            else "none of the tables in FROM is a fact",
            span=at.span,
            hint="declare a summary table for each"
            if facts
            else did_you_mean("", names) or "a summary table aggregates a fact",
        )
    return found


def _join_pairs(written: FromTable, found: Listed) -> Mapping[Pair, Span]:
    """The equalities of ON or USING; anything else there is refused."""
    if written.using:
        return _using_pairs(written, found)
    pairs: dict[Pair, Span] = {}
    for raw in written.on:
        pair = _pair(raw, found)
        if pair is None:
            raise _not_an_equality(raw, found)
        pairs[pair] = raw.span
    return pairs


def _using_pairs(written: FromTable, found: Listed) -> Mapping[Pair, Span]:
    """USING names columns of this table and of the one earlier table with a matching key."""
    here = found[-1][1]
    names = {name.text.lower() for name in written.using}
    partners = [
        table.alias.lower()
        for table, base in found[:-1]
        if any(names == columns for columns in _same_named_keys(base, here))
    ]
    if len(partners) != 1:
        columns = ", ".join(name.text for name in written.using)
        raise InputError(
            "join-not-foreign-key",
            f"USING ({columns}) is not a declared foreign key between `{written.alias}` and one"
            " of the tables before it",
            span=written.using[0].span,
            hint=_declared(here, [base for _, base in found]),
        )
    return {
        frozenset(
            {Side(partners[0], name.text.lower()), Side(written.alias.lower(), name.text.lower())}
        ): name.span
        for name in written.using
    }


def _same_named_keys(one: BaseTable, other: BaseTable) -> Iterator[set[str]]:
    """Foreign keys between two tables, either way, whose columns are named like the key."""
    for owner, target in ((one, other), (other, one)):
        for key in owner.foreign_keys:
            columns = [column.lower() for column in key.columns]
            if key.references == target.name and columns == [k.lower() for k in target.key]:
                yield set(columns)


def _pair(raw: RawExpr, found: Listed) -> Pair | None:
    """The two columns of an equality between different tables, None for anything else."""
    sides = equality(raw)
    if sides is None:
        return None
    left, right = (_side(side, found) for side in sides)
    if left is None or right is None or left.alias == right.alias:
        return None
    return frozenset({left, right})


def _side(raw: RawExpr, found: Listed) -> Side | None:
    parts = column_parts(raw)
    if parts is None or len(parts) > 2:
        return None
    column = parts[-1].lower()
    holding = [
        table.alias.lower()
        for table, base in found
        if (len(parts) == 1 or table.alias.lower() == parts[0].lower()) and base.has_column(column)
    ]
    return Side(holding[0], column) if len(holding) == 1 else None


def _placed(
    entries: Sequence[Entry], equal: Collection[Pair]
) -> tuple[Mapping[str, Path], set[Pair]]:
    """The path of each table that a foreign key reaches from the fact, and the equalities used."""
    paths: dict[str, Path] = {e.alias: () for e in entries if isinstance(e.table, Fact)}
    used: set[Pair] = set()
    progress = True
    while progress:
        progress = False
        for entry in entries:
            if entry.alias in paths:
                continue
            for other in (other for other in entries if other.alias in paths):
                ways = [way for way in _ways(other, entry) if way[1] <= set(equal)]
                if len(ways) > 1:
                    raise _two_ways(entry, [key for key, _ in ways])
                for key, pairs in ways:
                    paths[entry.alias] = (*paths[other.alias], key.name)
                    used |= pairs
                    progress = True
                if ways:
                    break
    return paths, used


def _ways(owner: Entry, target: Entry) -> Iterator[tuple[ForeignKey, frozenset[Pair]]]:
    """The foreign keys between two tables in FROM, each with the equalities it needs."""
    for key in owner.table.foreign_keys:
        if key.references == target.table.name:
            yield (
                key,
                frozenset(
                    frozenset({Side(owner.alias, column.lower()), Side(target.alias, k.lower())})
                    for column, k in zip(key.columns, target.table.key, strict=True)
                ),
            )


def _check_left_join(entry: Entry, before: Sequence[Entry], paths: Mapping[str, Path]) -> None:
    """Every row of the owner of a foreign key finds its match, so LEFT JOIN is JOIN; but not the
    other way round."""
    path = paths[entry.alias]
    if not path or not any(paths[other.alias] == path[:-1] for other in before):
        raise UnsupportedError(
            "left-join",
            f"LEFT JOIN `{entry.written.alias}` would keep rows that have no match in it",
            span=entry.written.span,
            hint="begin FROM with the fact, and join dimensions to it",
        )


# --- what can be wrong -----------------------------------------------------------------------


def _declared(table: BaseTable, others: Sequence[BaseTable]) -> str | None:
    """A hint that lists the foreign keys between a table and others."""
    texts: dict[str, None] = {}
    for one, other in (
        (a, b) for o in others if o is not table for a, b in ((o, table), (table, o))
    ):
        for key in one.foreign_keys:
            if key.references == other.name:
                texts[
                    " AND ".join(
                        f"{one.name}.{column} = {other.name}.{k}"
                        for column, k in zip(key.columns, other.key, strict=True)
                    )
                ] = None
    return f"declared: {'; '.join(texts)}" if texts else None


def _not_an_equality(raw: RawExpr, found: Listed) -> CubekeeperError:
    sides = equality(raw)
    names = [column_parts(side) for side in sides] if sides else []
    for side, parts in zip(sides or (), names, strict=True):
        if parts is None:
            continue
        known = [c.name for _, base in found for c in base.columns]
        if all(parts[-1].lower() != name.lower() for name in known):
            return InputError(
                "unknown-column",
                f"the tables joined so far have no column `{'.'.join(parts)}`",
                span=side.span,
                hint=did_you_mean(parts[-1], known),
            )
        if len(parts) == 1 and _side(side, found) is None:
            return InputError(
                "ambiguous-column",
                f"`{parts[0]}` is a column of several tables here",
                span=side.span,
                hint="write which table's is meant",
            )
    return UnsupportedError(
        "join-condition",
        "a join condition must be an equality of columns along a declared foreign key",
        span=raw.span,
        hint="; ".join(
            filter(
                None,
                (
                    _declared(found[-1][1], [base for _, base in found]),
                    "conditions that only filter belong in WHERE",
                ),
            )
        ),
    )


def _not_placed(
    entry: Entry, entries: Sequence[Entry], pairs: Mapping[Pair, Span]
) -> CubekeeperError:
    for pair, span in pairs.items():
        if any(side.alias == entry.alias for side in pair):
            return _not_a_foreign_key(entry, entries, span)
    return UnsupportedError(
        "join-missing",
        f"no equality along a foreign key joins `{entry.written.alias}` to the other tables",
        span=entry.written.span,
        hint=_declared(entry.table, [other.table for other in entries])
        or f"declare a foreign key to `{entry.table.name}`, or remove it from FROM",
    )


def _not_a_foreign_key(entry: Entry, entries: Sequence[Entry], span: Span) -> CubekeeperError:
    text = " ".join(span.text.split())
    return UnsupportedError(
        "join-not-foreign-key",
        f"`{text}` is not a declared foreign key",
        span=span,
        hint=_declared(entry.table, [other.table for other in entries])
        or f"declare it under `joins`, so that each row finds one row of `{entry.table.name}`",
    )


def _two_ways(entry: Entry, keys: Sequence[ForeignKey]) -> CubekeeperError:
    roles = " and ".join(f"`{key.name}`" for key in keys)
    return InputError(
        "ambiguous-join",
        f"`{entry.written.alias}` is joined in the roles {roles} at once",
        span=entry.written.span,
        hint="join the dimension once for each role, under different aliases",
    )
