"""Statistics: sizes, usual changes and cost weights, checked against the warehouse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from cubekeeper.declare.documents import (
    StatisticsDocument,
    TableStatisticsDocument,
    ViewStatisticsDocument,
    WeightsDocument,
    WeightSet,
)
from cubekeeper.declare.leaves import Document
from cubekeeper.declare.nodes import Mapping as MappingNode
from cubekeeper.declare.scope import column_names
from cubekeeper.errors import InputError, Problems, did_you_mean
from cubekeeper.source import Span
from cubekeeper.statistics.model import (
    DEFAULT_WEIGHTS,
    PAPER_WEIGHTS,
    CostWeights,
    Statistics,
    TableStatistics,
    ViewStatistics,
)
from cubekeeper.warehouse.model import Warehouse

T = TypeVar("T")


def build_statistics(
    documents: Iterable[tuple[StatisticsDocument, str]],
    warehouse: Warehouse,
    problems: Problems,
    broken: frozenset[str] = frozenset(),
) -> Statistics:
    """The statistics of several documents, each with the name of where it comes from.

    Names of `broken` declarations are passed over: they have been reported.
    """
    tables: dict[str, TableStatistics] = {}
    views: dict[str, ViewStatistics] = {}
    weights: CostWeights | None = None
    origins: dict[str, None] = {}
    for document, origin in documents:
        origins[origin] = None
        known = [table.name for table in (*warehouse.facts, *warehouse.dimensions)]
        for name, given in _known(document, "tables", document.tables, known, problems, broken):
            found = _table(given, name, warehouse, problems)
            _keep(tables, name, found, document, "tables", problems)
        known = [view.name for view in warehouse.summary_tables]
        for name, rows in _known(document, "views", document.views, known, problems, broken):
            groups = ViewStatistics(rows.rows, rows.delta_rows, rows.queries)
            _keep(views, name, groups, document, "views", problems)
        if document.weights is not None:
            if weights is not None:
                message = "the cost weights are given twice"
                problems.add(InputError("duplicate-name", message, span=document.weights.span))
            weights = _weights(document.weights)
    return Statistics(
        MappingProxyType(tables),
        MappingProxyType(views),
        weights or DEFAULT_WEIGHTS,
        ", ".join(origins) or "none given",
    )


S = TypeVar("S", TableStatisticsDocument, ViewStatisticsDocument)


def _known(
    document: StatisticsDocument,
    key: str,
    given: Mapping[str, S],
    known: list[str],
    problems: Problems,
    broken: frozenset[str],
) -> Iterable[tuple[str, S]]:
    """The entries whose names are known, by their declared names; others are reported."""
    by_lower = {name.lower(): name for name in known}
    for name, value in given.items():
        if name.lower() in by_lower:
            yield by_lower[name.lower()], value
        elif name.lower() not in broken:
            what = "fact or dimension" if key == "tables" else "summary table"
            problems.add(
                InputError(
                    f"unknown-{'table' if key == 'tables' else 'view'}",
                    f"there is no {what} `{name}`",
                    span=_entry_span(document, key, name),
                    hint=did_you_mean(name, known),
                )
            )


def _entry_span(document: Document, key: str, name: str) -> Span:
    """Where a name stands under a key; the last of several spellings."""
    node = document.node(key)
    entries = node.entries if isinstance(node, MappingNode) else ()
    spans = [word.span for word, _ in entries if word.text.lower() == name.lower()]
    return spans[-1] if spans else document.span


def _keep(
    found: dict[str, T],
    name: str,
    value: T,
    document: StatisticsDocument,
    key: str,
    problems: Problems,
) -> None:
    if name.lower() in found:
        message = f"the statistics of `{name}` are given twice"
        span = _entry_span(document, key, name)
        problems.add(InputError("duplicate-name", message, span=span))
    found.setdefault(name.lower(), value)


def _table(
    given: TableStatisticsDocument, name: str, warehouse: Warehouse, problems: Problems
) -> TableStatistics:
    columns = {column.lower(): column for column in column_names(warehouse.base_table(name))}
    distinct: dict[str, int] = {}
    for column, count in given.distinct.items():
        span = _entry_span(given, "distinct", column)
        declared = columns.get(column.lower())
        if declared is None:
            problems.add(
                InputError(
                    "unknown-column",
                    f"`{name}` has no column `{column}`",
                    span=span,
                    hint=did_you_mean(column, columns.values()),
                )
            )
            continue
        if given.rows is not None and count > given.rows:
            problems.warn(
                "distinct-count",
                f"`{name}` has {given.rows:,} rows, but `{declared}` is said to have {count:,}"
                " values",
                span=span,
                hint="a column has no more values than its table has rows",
            )
        distinct[declared] = count
    changes = given.changes
    return TableStatistics(
        given.rows,
        MappingProxyType(distinct),
        changes.insertions if changes else 0,
        changes.deletions if changes else 0,
        changes.updates if changes else 0,
    )


def _weights(given: WeightsDocument) -> CostWeights:
    weights = PAPER_WEIGHTS if given.base is WeightSet.PAPER else DEFAULT_WEIGHTS
    names = ("read", "write", "join_probe", "join_build", "stage", "unit")
    changed = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    return replace(weights, **changed)
