"""Live views for Python: compile SQL, apply changes, read rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from cubekeeper.errors import InputError, did_you_mean
from cubekeeper.live.calculus.nodes import Cond, Let, Query, Value
from cubekeeper.live.calculus.variables import walk
from cubekeeper.live.frontend.program import read_sql
from cubekeeper.live.interpret.collection import Collection, Key
from cubekeeper.live.interpret.evaluate import rows
from cubekeeper.live.interpret.machine import Machine
from cubekeeper.live.interpret.scalar import refuse_unknown
from cubekeeper.live.lower.viewlets import Compiler, Mode
from cubekeeper.live.m3.nodes import Program, Relation, Sorting, View
from cubekeeper.live.transform.passes import Trace
from cubekeeper.schema import DataType, Kind
from cubekeeper.source import Fragment

Row = Sequence[Any] | Mapping[str, Any]


def compile_sql(
    text: str, mode: Mode = Mode.OPTIMIZED, trace: Trace | None = None, name: str = "<sql>"
) -> Program:
    """The trigger program of a SQL text."""
    relations, views = read_sql(Fragment.of_text(text, name))
    for view in views:
        _check_functions(view.query)
    return Compiler(relations, mode, trace).compile(views)


def _check_functions(query: Query) -> None:
    for node in walk(query):
        if isinstance(node, Value | Cond | Let):
            refuse_unknown(node.expr)


class LiveView:
    """The views of a SQL text, kept up to date under changes.

    >>> view = LiveView.of("CREATE TABLE R (a INT, b INT); SELECT a, SUM(b) AS s FROM R GROUP BY a")
    >>> view.apply(inserts={"R": [(1, 10), (1, 5), (2, 7)]})
    >>> view.apply(deletes={"R": [(1, 5)]})
    >>> sorted(view.rows())
    [(1, 10), (2, 7)]
    """

    def __init__(self, program: Program, *, allow_negative: bool = False) -> None:
        self.program = program
        self.machine = Machine(program)
        self.machine.load({})
        self._allow_negative = allow_negative
        self._tables = {r.name: Collection() for r in program.relations}
        self._known = {r.name.lower(): r for r in program.relations}

    @classmethod
    def of(
        cls, text: str, mode: Mode = Mode.OPTIMIZED, *, allow_negative: bool = False
    ) -> LiveView:
        """Compile a SQL text."""
        return cls(compile_sql(text, mode), allow_negative=allow_negative)

    def apply(
        self,
        inserts: Mapping[str, Iterable[Row]] | None = None,
        deletes: Mapping[str, Iterable[Row]] | None = None,
        *,
        by_row: bool = False,
    ) -> None:
        """Apply a batch; where anything in it is wrong, nothing changes."""
        changes: dict[str, Collection] = {}
        for sign, given in ((1, inserts or {}), (-1, deletes or {})):
            for name, listed in given.items():
                relation = self._relation(name)
                change = changes.setdefault(relation.name, Collection())
                for row in listed:
                    change.add(checked_row(relation, row), sign)
        if not self._allow_negative:
            self._check_deletions(changes)
        static = {r.name for r in self.program.relations if r.static} & {
            name for name, change in changes.items() if len(change)
        }
        for name, change in changes.items():
            for key, count in change.rows.items():
                self._tables[name].add(key, count)
        if static:
            self.machine.load({name: table.rows for name, table in self._tables.items()})
            return
        batch = {name: change.rows for name, change in changes.items()}
        (self.machine.tuples if by_row else self.machine.batch)(batch)

    def _relation(self, name: str) -> Relation:
        found = self._known.get(name.lower())
        if found is None:
            known = [r.name for r in self.program.relations]
            hint = did_you_mean(name, known)
            raise InputError("unknown-table", f"there is no table `{name}`", hint=hint)
        return found

    def _check_deletions(self, changes: Mapping[str, Collection]) -> None:
        for name, change in changes.items():
            for key, count in change.rows.items():
                if self._tables[name].get(key) + count < 0:
                    raise InputError(
                        "missing-row",
                        f"{name} has no row {key} to delete",
                        hint="nothing of the batch was applied",
                    )

    def rows(self, view: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of a view, in its order."""
        declared = self._view(view)
        names = tuple(c.column for c in declared.columns)
        found: list[Key] = []
        for key, count in rows(declared.query, self.machine, names).items():
            row = tuple(_shown(v, c.type) for v, c in zip(key, declared.columns, strict=True))
            found += [row] * int(count)
        for sorting in reversed(declared.order):
            found.sort(key=_sorter(sorting), reverse=sorting.descending)
        end = None if declared.limit is None else declared.offset + declared.limit
        return [row[: len(declared.titles)] for row in found[declared.offset : end]]

    def columns(self, view: str | None = None) -> tuple[tuple[str, DataType], ...]:
        """The names and types of a view's columns."""
        declared = self._view(view)
        pairs = zip(declared.titles, declared.columns, strict=False)
        return tuple((title, column.type) for title, column in pairs)

    def _view(self, name: str | None) -> View:
        if name is None:
            return self.program.views[-1]
        found = [v for v in self.program.views if v.name.lower() == name.lower()]
        if not found:
            known = [v.name for v in self.program.views]
            raise InputError(
                "unknown-view", f"there is no view `{name}`", hint=did_you_mean(name, known)
            )
        return found[0]


def _shown(value: Any, type: DataType) -> Any:
    """A value in its column's type."""
    if value is None or isinstance(value, bool):
        return value
    if type.kind is Kind.DECIMAL and isinstance(value, int):
        return Decimal(value)
    return float(value) if type.is_float else value


def _sorter(sorting: Sorting) -> Callable[[Key], tuple[bool, Any]]:
    """NULLs apart from values, on the wanted side after a possible reversal."""
    null_high = sorting.nulls_first == sorting.descending

    def key(row: Key) -> tuple[bool, Any]:
        value = row[sorting.column]
        return (value is None) == null_high, (0 if value is None else value)

    return key


def checked_row(relation: Relation, row: Row) -> Key:
    """A row as a tuple of a relation's types; raises `InputError` with the reason."""
    names = [c.column for c in relation.columns]
    if isinstance(row, Mapping):
        given = {str(k).lower(): v for k, v in row.items()}
        extra = given.keys() - {n.lower() for n in names}
        missing = [n for n in names if n.lower() not in given]
        if extra or missing:
            what = f"unknown columns {sorted(extra)}" if extra else f"no value for {missing}"
            raise InputError("row-columns", f"a row of {relation.name} has {what}")
        values = [given[n.lower()] for n in names]
    else:
        values = list(row)
        if len(values) != len(names):
            raise InputError(
                "row-columns",
                f"a row of {relation.name} has {len(values)} values, not {len(names)}",
            )
    return tuple(
        checked_value(value, c.type, c.nullable, f"{relation.name}.{c.column}")
        for value, c in zip(values, relation.columns, strict=True)
    )


def checked_value(value: Any, type: DataType, nullable: bool, where: str) -> Any:
    """A value of a type, or an error."""
    if value is None:
        if not nullable:
            raise InputError("null-value", f"{where} cannot be NULL")
        return None
    fine = _converted(value, type)
    if fine is None:
        raise InputError("value-type", f"{value!r} is not a {type}, the type of {where}")
    return fine


def _converted(value: Any, type: DataType) -> Any:
    kind = type.kind
    if kind is Kind.BOOLEAN:
        return value if isinstance(value, bool) else None
    if isinstance(value, bool):
        return None
    if type.is_integer:
        return value if isinstance(value, int) else None
    if kind is Kind.DECIMAL and isinstance(value, int | Decimal):
        exact = Decimal(value)
        scaled = exact.quantize(Decimal(1).scaleb(-type.scale))
        return scaled if scaled == exact else None
    if type.is_float and isinstance(value, int | float | Decimal):
        number = float(value)
        return number if number - number == 0 else None  # neither infinite nor NaN
    if kind is Kind.STRING:
        return value if isinstance(value, str) else None
    if kind is Kind.DATE:
        plain = isinstance(value, date) and not isinstance(value, datetime)
        return value if plain else None
    if kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        return value if isinstance(value, datetime) and value.tzinfo is None else None
    return None
