"""Which base tables change in a batch, and how: the usual night, or what someone asks about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from cubekeeper.errors import InputError, did_you_mean
from cubekeeper.statistics.model import ASSUMED_CHANGE, ASSUMED_FACT_ROWS, Statistics


@dataclass(frozen=True, slots=True)
class TableChange:
    """Changes to one base table in a batch; an update counts as a deletion and an insertion."""

    table: str
    insertions: float
    deletions: float

    @property
    def rows(self) -> float:
        """All changed tuples."""
        return self.insertions + self.deletions

    @property
    def insert_only(self) -> bool:
        """Whether nothing is deleted: refresh can skip its checks (4.3)."""
        return self.deletions == 0


@dataclass(frozen=True, slots=True)
class Changes:
    """Which base tables changed in a batch, and how.

    `source` is `given`, `measured` or `assumed`, as of an estimate, and `origin` who says so.
    """

    tables: tuple[TableChange, ...]
    origin: str = "asked for"
    source: str = "given"

    def of(self, table: str) -> TableChange | None:
        """The change of a table, if it changed."""
        return next((change for change in self.tables if change.table == table), None)

    def rows(self, table: str) -> float:
        """The changed tuples of a table; 0 if it did not change."""
        change = self.of(table)
        return change.rows if change else 0.0


def usual_changes(
    statistics: Statistics, facts: Sequence[str], dimensions: Sequence[str]
) -> Changes:
    """The changes of a usual batch by the statistics.

    Without any, every fact is assumed to change by a hundredth, insertions and deletions alike:
    nothing may then be taken for granted.

    >>> usual_changes(Statistics(), ["pos"], ["stores"]).tables
    (TableChange(table='pos', insertions=5000.0, deletions=5000.0),)
    """
    given = []
    for name in (*facts, *dimensions):
        known = statistics.table(name)
        if known.changes:
            insertions = float(known.insertions + known.updates)
            given.append(TableChange(name, insertions, float(known.deletions + known.updates)))
    if given:
        return Changes(tuple(given), f"the usual changes, {statistics.origin}")
    assumed = []
    for name in facts:
        rows = statistics.table(name).rows
        half = (ASSUMED_FACT_ROWS if rows is None else rows) * ASSUMED_CHANGE / 2
        if half:
            assumed.append(TableChange(name, half, half))
    share = f"{ASSUMED_CHANGE:.0%} of every fact"
    return Changes(tuple(assumed), f"assumed: {share}, half inserted and half deleted", "assumed")


_NUMBER: Final = r"\d+(?:_\d+)*"
_ASKED: Final = re.compile(rf"\s*(?P<table>[^=]+?)\s*=\s*(?P<parts>(?:[+~-]?{_NUMBER}\s*)+)")
_PART: Final = re.compile(rf"(?P<sign>[+~-]?)(?P<rows>{_NUMBER})")


def parse_changes(texts: Iterable[str], tables: Sequence[str]) -> Changes:
    """Read changes as they are typed on a command line, for a warehouse with these base tables.

    ``pos=+5000`` inserts, ``pos=-200`` deletes, ``stores=~3`` updates; the three can be written
    together. A bare number is half insertions, half deletions. Tables named twice add up.

    >>> parse_changes(["POS=+5000-200", "stores=~3"], ["pos", "stores"]).tables[1]
    TableChange(table='stores', insertions=3.0, deletions=3.0)
    """
    declared = {table.lower(): table for table in tables}
    asked: dict[str, tuple[float, float]] = {}
    for text in texts:
        match = _ASKED.fullmatch(text)
        if not match:
            raise InputError(
                "bad-change",
                f"`{text}` is not a change of a table",
                hint="write TABLE=ROWS: pos=+5000 inserted, pos=-200 deleted, stores=~3 updated, "
                "pos=10000 some of each",
            )
        name = declared.get(match["table"].lower())
        if name is None:
            raise InputError(
                "unknown-table",
                f"no fact or dimension is named `{match['table']}`",
                hint=did_you_mean(match["table"], tables),
            )
        insertions, deletions = asked.get(name, (0.0, 0.0))
        for part in _PART.finditer(match["parts"]):
            inserted, deleted = _split(part["sign"], float(part["rows"].replace("_", "")))
            insertions, deletions = insertions + inserted, deletions + deleted
        asked[name] = (insertions, deletions)
    return Changes(
        tuple(TableChange(name, *asked[name]) for name in tables if any(asked.get(name, ())))
    )


def _split(sign: str, rows: float) -> tuple[float, float]:
    match sign:
        case "+":
            return rows, 0.0
        case "-":
            return 0.0, rows
        case "~":
            return rows, rows
        case _:
            return rows / 2, rows / 2
