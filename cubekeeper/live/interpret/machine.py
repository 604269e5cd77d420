"""Runs trigger programs: the state is a collection for each map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cubekeeper.errors import InternalError
from cubekeeper.live.calculus.nodes import AtomKind, Number
from cubekeeper.live.interpret.collection import Collection, Key
from cubekeeper.live.interpret.evaluate import rows
from cubekeeper.live.m3.nodes import Effect, Event, Program, Statement, Trigger

Changes = Mapping[str, Mapping[Key, Number]]
"""Rows by which relations change, with signed multiplicities."""


@dataclass(frozen=True)
class Tables:
    """Base tables, for evaluating definitions from scratch."""

    tables: Mapping[str, Collection]

    def find(self, kind: AtomKind, name: str) -> Collection:
        """The table that an atom names."""
        if kind is not AtomKind.RELATION:
            raise InternalError("base-table", f"a definition reads the {kind.value} {name}")
        return self.tables[name]


class Machine:
    """A program and the contents of its maps."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.maps = {declared.name: Collection() for declared in program.maps}
        self._deltas: dict[str, Collection] = {}
        self._triggers = {(t.event, t.relation): t for t in program.triggers}

    def find(self, kind: AtomKind, name: str) -> Collection:
        """The collection that an atom names."""
        if kind is AtomKind.MAP:
            return self.maps[name]
        if kind is AtomKind.DELTA:
            return self._deltas[name]
        raise InternalError("base-table", f"a program reads the base table {name}")

    def load(self, tables: Changes) -> None:
        """Set every map to its definition over given tables: the start of a program."""
        store = Tables({r.name: Collection(tables.get(r.name, {})) for r in self.program.relations})
        for declared in self.program.maps:
            names = tuple(key.column for key in declared.keys)
            self.maps[declared.name].replace(rows(declared.definition, store, names))

    def batch(self, changes: Changes) -> None:
        """Apply a batch: one relation after the other, each by its batch trigger."""
        for name, change in changes.items():
            trigger = self._triggers.get((Event.BATCH, name))
            if trigger is not None and change:
                self._deltas = {name: Collection(change)}
                self._run(trigger, {})
        self._deltas = {}

    def tuples(self, changes: Changes) -> None:
        """Apply a batch row by row, by the triggers for single rows."""
        for name, change in changes.items():
            for row, count in change.items():
                event = Event.INSERT if count > 0 else Event.DELETE
                for _ in range(abs(int(count))):
                    self.event(event, name, row)

    def event(self, event: Event, relation: str, row: Key) -> None:
        """Insert or delete one row."""
        trigger = self._triggers.get((event, relation))
        if trigger is not None:
            names = (arg.column for arg in trigger.args)
            self._run(trigger, dict(zip(names, row, strict=True)))

    def _run(self, trigger: Trigger, args: Mapping[str, Any]) -> None:
        additions = [s for s in trigger.statements if s.effect is Effect.ADD]
        found = [(s.target, self._values(s, args)) for s in additions]
        for target, changes in found:
            collection = self.maps[target]
            for key, count in changes.items():
                collection.add(key, count)
        for statement in trigger.statements:
            if statement.effect is Effect.REPLACE:
                self.maps[statement.target].replace(self._values(statement, args))

    def _values(self, statement: Statement, args: Mapping[str, Any]) -> dict[Key, Number]:
        names = tuple(key.column for key in statement.keys)
        return rows(statement.query, self, names, args)
