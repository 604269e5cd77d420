"""Facts and dimensions: columns, keys and foreign keys from their documents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Final

from cubekeeper.declare.documents import (
    ColumnDocument,
    DimensionDocument,
    FactDocument,
    JoinDocument,
)
from cubekeeper.declare.leaves import Word, bad_name
from cubekeeper.declare.report import AlreadyReported, Names, attempt
from cubekeeper.declare.scope import Tables
from cubekeeper.errors import InputError, Problems, did_you_mean
from cubekeeper.schema import TYPE_NAMES, Column, DataType, parse_type
from cubekeeper.source import Span
from cubekeeper.warehouse.model import BaseTable, Dimension, Fact, ForeignKey, Warehouse

MAX_PATHS: Final = 10_000
_NULLABILITY: Final = re.compile(r"(?is)(.*?)(?:\s+(not\s+)?(null))?")

TableDocument = FactDocument | DimensionDocument


@dataclass(frozen=True)
class Sketch:
    """A table whose columns are known; foreign keys are found by looking at all sketches.

    Maps are by lower-cased name; `nullable` columns say explicitly that they can be NULL.
    """

    document: TableDocument
    columns: Mapping[str, Column]
    nullable: frozenset[str]
    computed: frozenset[str]
    broken: frozenset[str]

    @property
    def name(self) -> str:
        """The table's name."""
        return self.document.name.text


def build_tables(
    documents: Sequence[TableDocument],
    broken: frozenset[str],
    warehouse: Warehouse,
    problems: Problems,
) -> Tables:
    """All tables with columns, keys and foreign keys; computed columns and hierarchies follow.

    `warehouse` is still empty and gives name and description.
    """
    sketches = {doc.name.text.lower(): _sketch(doc, problems) for doc in documents}
    keys = {name: attempt(problems, _key, sketch) for name, sketch in sketches.items()}
    joins = {
        name: _foreign_keys(sketch, sketches, keys, broken, problems)
        for name, sketch in sketches.items()
    }
    _refuse_cycles(joins, problems)
    tables = [
        _table(sketch, keys[name] or (), tuple(key for key in joins[name] if key), problems)
        for name, sketch in sketches.items()
    ]
    _refuse_crowds(tables)
    return Tables(
        replace(
            warehouse,
            facts=tuple(table for table in tables if isinstance(table, Fact)),
            dimensions=tuple(table for table in tables if isinstance(table, Dimension)),
        ),
        broken,
        frozenset((name, column) for name, s in sketches.items() for column in s.broken),
        frozenset(name for name, found in joins.items() if None in found),
    )


def _sketch(document: TableDocument, problems: Problems) -> Sketch:
    names = Names(problems)
    columns: dict[str, Column] = {}
    nullable: set[str] = set()
    computed: set[str] = set()
    declared: set[str] = set()
    for word in document.column_words():
        declared.add(word.text.lower())
        if not names.take(word, "a column"):
            continue
        wrong = bad_name(word.text)
        if wrong:
            code, message, hint = wrong
            problems.add(InputError(code, message, span=word.span, hint=hint or None))
            continue
        column = document.columns.get(word.text)
        if column is None:  # its document was wrong and has been reported
            continue
        if column.expr is not None:
            if attempt(problems, _check_computed, column):
                computed.add(word.text.lower())
            continue
        made = attempt(problems, _column, word, column)
        if made is not None:
            columns[word.text.lower()], explicit = made
            if explicit:
                nullable.add(word.text.lower())
    broken = declared - columns.keys() - computed
    return Sketch(document, columns, frozenset(nullable), frozenset(computed), frozenset(broken))


def _check_computed(column: ColumnDocument) -> bool:
    for name in ("type", "nullable"):
        if column.has(name):
            raise InputError(
                "computed-column",
                f"a computed column has no `{name}`: it follows from `expr`",
                span=column.key_span(name),
                hint=f"remove `{name}`, or convert the value: CAST(… AS …)",
            )
    return True


def _column(word: Word, document: ColumnDocument) -> tuple[Column, bool]:
    """The column, and whether it says explicitly that it can be NULL."""
    if document.type is None:
        raise InputError(
            "missing-key",
            f"the column `{word.text}` has neither `type` nor `expr`",
            span=word.span,
            hint="give it a Spark SQL type, such as int or decimal(10,2)",
        )
    match = _NULLABILITY.fullmatch(document.type.text)
    text, negated, null = match.groups() if match else (document.type.text, None, None)
    explicit = None if null is None else negated is None
    if document.nullable is not None:
        if explicit not in (None, document.nullable):
            raise InputError(
                "contradiction",
                f"`{document.type.text}` and `nullable: {str(document.nullable).lower()}`"
                " contradict each other",
                span=document.key_span("nullable"),
            )
        explicit = document.nullable
    type = _type(text, document.type.span)
    nullable = explicit is not False
    return Column(word.text, type, nullable, document.description, word.span), bool(explicit)


def _type(text: str, span: Span) -> DataType:
    try:
        return parse_type(text)
    except ValueError as error:
        first = re.match(r"\s*([A-Za-z_]*)", text)
        name = first[1].lower() if first else ""
        hint = did_you_mean(name, TYPE_NAMES) if name and name not in TYPE_NAMES else None
        if name in ("decimal", "numeric", "dec"):
            hint = "decimal(p,s) has 1 to 38 digits, s of them behind the point"
        raise InputError(
            "unknown-type",
            str(error),
            span=span,
            hint=hint or "types are Spark SQL's: int, bigint, decimal(10,2), string, date …",
        ) from None


def _own_column(sketch: Sketch, word: Word, use: str) -> Column:
    """The stored column that a key or foreign key names."""
    name = word.text.lower()
    if name in sketch.columns:
        return sketch.columns[name]
    if name in sketch.broken:
        raise AlreadyReported
    if name in sketch.computed:
        raise InputError(
            "computed-key",
            f"`{word.text}` is computed and cannot be {use}",
            span=word.span,
            hint="store it as a column of the table",
        )
    raise InputError(
        "unknown-column",
        f"`{sketch.name}` has no column `{word.text}`",
        span=word.span,
        hint=did_you_mean(word.text, (column.name for column in sketch.columns.values())),
    )


def _key(sketch: Sketch) -> tuple[str, ...]:
    words = sketch.document.key
    columns = [_own_column(sketch, word, "part of a key") for word in words]
    for index, (word, column) in enumerate(zip(words, columns, strict=True)):
        if column in columns[:index]:
            raise InputError(
                "duplicate-name", f"`{word.text}` stands twice in the key", span=word.span
            )
    if not words and isinstance(sketch.document, DimensionDocument):
        raise InputError(
            "missing-key",
            f"the key of `{sketch.name}` has no columns",
            span=sketch.document.key_span("key"),
            hint="name the column that identifies a row",
        )
    return tuple(column.name for column in columns)


def _foreign_keys(
    sketch: Sketch,
    sketches: Mapping[str, Sketch],
    keys: Mapping[str, tuple[str, ...] | None],
    broken: frozenset[str],
    problems: Problems,
) -> list[ForeignKey | None]:
    """The foreign keys in the order written, None for those that could not be read."""
    names = Names(problems)
    found: list[ForeignKey | None] = [None] if sketch.document.lacks_items("joins") else []
    for join in sketch.document.joins:
        made = attempt(problems, _foreign_key, sketch, join, sketches, keys, broken)
        if made is not None and not names.take(join.name or join.dimension, "a join"):
            made = None
        found.append(made)
    return found


def _foreign_key(
    sketch: Sketch,
    join: JoinDocument,
    sketches: Mapping[str, Sketch],
    keys: Mapping[str, tuple[str, ...] | None],
    broken: frozenset[str],
) -> ForeignKey:
    target = _dimension(join.dimension, sketches, broken)
    key = keys[target.name.lower()]
    if key is None:
        raise AlreadyReported
    role = join.name.text if join.name else target.name
    _check_role(join, role, target, sketches)
    if join.on is None:
        words = tuple(Word(column, join.dimension.span) for column in key)
        if not all(column.lower() in sketch.columns.keys() | sketch.broken for column in key):
            raise InputError(
                "missing-key",
                f"`{sketch.name}` has no column named like the key of `{target.name}`,"
                f" ({', '.join(key)})",
                span=join.dimension.span,
                hint="name the referring column: `on: …`",
            )
    else:
        words = join.on
    if len(words) != len(key):
        raise InputError(
            "key-length",
            f"the key of `{target.name}` has {_columns(len(key))} ({', '.join(key)}),"
            f" `on` names {len(words)}",
            span=join.key_span("on"),
            hint="name one referring column for each, in that order",
        )
    columns = [_own_column(sketch, word, "a foreign key") for word in words]
    for word, column, referred in zip(words, columns, key, strict=True):
        there = target.columns[referred.lower()]
        if column.type != there.type:
            raise InputError(
                "key-type",
                f"`{column.name}` is {column.type}, but the key `{target.name}.{there.name}`"
                f" is {there.type}",
                span=word.span,
                hint="give both the same type",
            )
    return ForeignKey(role, tuple(column.name for column in columns), target.name, join.span)


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _dimension(word: Word, sketches: Mapping[str, Sketch], broken: frozenset[str]) -> Sketch:
    name = word.text.lower()
    known = {n: s for n, s in sketches.items() if isinstance(s.document, DimensionDocument)}
    if name in known:
        return known[name]
    if name in broken:
        raise AlreadyReported
    if name in sketches:
        raise InputError(
            "wrong-table",
            f"`{word.text}` is a fact; a foreign key refers to a dimension",
            span=word.span,
            hint="declare the table it refers to under `dimensions`",
        )
    raise InputError(
        "unknown-dimension",
        f"there is no dimension `{word.text}`",
        span=word.span,
        hint=did_you_mean(word.text, (sketch.name for sketch in known.values())),
    )


def _check_role(
    join: JoinDocument, role: str, target: Sketch, sketches: Mapping[str, Sketch]
) -> None:
    other = sketches.get(role.lower())
    if join.name and other is not None and other is not target:
        raise InputError(
            "role-name",
            f"the role `{role}` of `{target.name}` has the name of another table",
            span=join.name.span,
            hint=f"choose a name that is not a table's, so that `{role}.…` means one thing",
        )


def _table(
    sketch: Sketch,
    key: tuple[str, ...],
    foreign_keys: tuple[ForeignKey, ...],
    problems: Problems,
) -> BaseTable:
    """The table, the columns of its key and foreign keys made NOT NULL."""
    uses = dict.fromkeys(
        (column.lower() for fk in foreign_keys for column in fk.columns), "foreign "
    )
    uses |= dict.fromkeys((column.lower() for column in key), "")
    for name, use in uses.items():
        if name in sketch.nullable:
            column = sketch.columns[name]
            problems.add(
                InputError(
                    "nullable-key",
                    f"`{column.name}` belongs to a {use}key and cannot be NULL",
                    span=column.span,
                    hint="remove `nullable: true`; give rows that refer to nothing a row of"
                    " their own in the dimension",
                )
            )
    columns = tuple(
        replace(column, nullable=False) if name in uses else column
        for name, column in sketch.columns.items()
    )
    document = sketch.document
    kind = Fact if isinstance(document, FactDocument) else Dimension
    return kind(
        sketch.name,
        columns,
        key,
        foreign_keys,
        description=document.description,
        span=document.name.span,
    )


def _refuse_cycles(joins: dict[str, list[ForeignKey | None]], problems: Problems) -> None:
    """Report foreign keys that lead round in a circle, and take one of them out."""
    while True:
        graph = {
            name: {key.references.lower() for key in found if key} for name, found in joins.items()
        }
        try:
            TopologicalSorter(graph).prepare()
            return
        except CycleError as error:
            circle: list[str] = error.args[1][::-1]
        found = joins[circle[0]]
        at = next(i for i, key in enumerate(found) if key and key.references.lower() == circle[1])
        problems.add(
            InputError(
                "cyclic-foreign-keys",
                "these foreign keys lead round in a circle: " + " → ".join(circle),
                span=found[at].span,  # type: ignore[union-attr]
                hint="a dimension may refer to coarser dimensions only",
            )
        )
        found[at] = None


def _refuse_crowds(tables: Sequence[BaseTable]) -> None:
    """Refuse joins that meet again and again: each way to a table is a role of it."""
    spans = {table.name: table.span for table in tables}
    graph = {t.name: [key.references for key in t.foreign_keys] for t in tables}
    ways: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        ways[name] = 1 + sum(ways[target] for target in graph[name])
        if ways[name] > MAX_PATHS:
            raise InputError(
                "too-many-paths",
                f"foreign keys lead from `{name}` to other tables in more than {MAX_PATHS:,} ways",
                span=spans[name],
                hint="let fewer dimensions share dimensions",
            )
