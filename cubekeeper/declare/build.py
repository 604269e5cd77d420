"""Documents of the right shape to a warehouse: tables, then views and cubes, then statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cubekeeper.declare.computed import with_computed, with_hierarchies
from cubekeeper.declare.cubes import read_cube
from cubekeeper.declare.documents import (
    DimensionDocument,
    FactDocument,
    StatisticsDocument,
    WarehouseDocument,
)
from cubekeeper.declare.leaves import Reading, Word
from cubekeeper.declare.report import Names, attempt
from cubekeeper.declare.scope import Tables
from cubekeeper.declare.stats import build_statistics
from cubekeeper.declare.tables import build_tables
from cubekeeper.declare.views import Reader, read_view, reader
from cubekeeper.errors import CubekeeperError, InputError, Problems
from cubekeeper.statistics.model import Statistics
from cubekeeper.warehouse.model import SummaryTable, Warehouse


@dataclass(frozen=True)
class Parts:
    """The documents of a warehouse, those of statistics with the name of where they come from.

    `alternatives` are statistics that somebody may choose instead; they are only checked.
    """

    declarations: tuple[WarehouseDocument, ...]
    statistics: tuple[tuple[StatisticsDocument, str], ...]
    alternatives: tuple[tuple[StatisticsDocument, str], ...] = ()


def build_warehouse(
    parts: Parts, reading: Reading, default_name: str
) -> tuple[Warehouse, Statistics]:
    """The warehouse and its statistics; what is wrong is kept with the problems."""
    problems = reading.problems
    names = Names(problems)
    empty = Warehouse(
        _name(parts.declarations, problems) or default_name,
        (),
        (),
        (),
        next((part.description for part in parts.declarations if part.description), ""),
    )
    tables = _tables(parts.declarations, empty, names, reading)
    found = list(_views(parts.declarations, reader(tables, problems), names, reading))
    warehouse = replace(tables.warehouse, summary_tables=tuple(found))
    if not warehouse.facts and not problems.errors:
        problems.add(_no_fact(parts.declarations))
    broken = frozenset(reading.broken)
    for alternative in parts.alternatives:
        build_statistics([alternative], warehouse, problems, broken)
    return warehouse, build_statistics(parts.statistics, warehouse, problems, broken)


def _name(documents: Sequence[WarehouseDocument], problems: Problems) -> str | None:
    words = [document.name for document in documents if document.name is not None]
    for word in words[1:]:
        if word.text != words[0].text:
            problems.add(
                InputError(
                    "two-names",
                    f"the warehouse is named `{word.text}` here, but `{words[0].text}` in"
                    f" {words[0].span.source.name}",
                    span=word.span,
                    hint="a folder is one warehouse: name it in one of its files",
                )
            )
    return words[0].text if words else None


def _tables(
    documents: Sequence[WarehouseDocument], empty: Warehouse, names: Names, reading: Reading
) -> Tables:
    problems = reading.problems
    facts = [fact for document in documents for fact in document.facts]
    dimensions = [dimension for document in documents for dimension in document.dimensions]
    written: list[FactDocument | DimensionDocument] = [
        *(fact for fact in facts if names.take(fact.name, "a fact")),
        *(dimension for dimension in dimensions if names.take(dimension.name, "a dimension")),
    ]
    try:
        tables = build_tables(written, frozenset(reading.broken), empty, problems)
    except CubekeeperError as error:
        problems.add(error)
        problems.raise_if_any()
        raise
    tables = with_computed(tables, written, problems)
    return with_hierarchies(tables, written, problems)


def _views(
    documents: Sequence[WarehouseDocument], using: Reader, names: Names, reading: Reading
) -> Iterator[SummaryTable]:
    problems = using.problems
    for document in documents:
        for table in document.summary_tables:
            fresh = names.take(table.name, "a summary table")
            view = attempt(problems, read_view, table, document.defaults, using)
            if view is None:
                reading.broken.add(table.name.text.lower())
            elif fresh:
                yield view
        for cube in document.cubes:
            fresh = names.take(cube.name, "a cube")
            views = attempt(problems, read_cube, cube, document.defaults, using)
            if views is None:
                reading.broken.add(cube.name.text.lower())
                continue
            for view in views:
                word = Word(view.name, cube.name.span)
                if fresh and names.take(word, f"a table of the cube `{cube.name.text}`"):
                    yield view


def _no_fact(documents: Sequence[WarehouseDocument]) -> InputError:
    return InputError(
        "no-fact",
        "the warehouse declares no fact",
        span=documents[0].span if documents else None,
        hint="declare the tables of events under `facts:`",
    )
