"""The cost table of a warehouse (Table 1 of the paper): four methods side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cubekeeper.lattice.choice import Estimate
from cubekeeper.lattice.cost import CostCell, CostRow, CostTable
from cubekeeper.plan.text import estimate_as_data
from cubekeeper.report.words import (
    Role,
    Style,
    changes_words,
    clean,
    compared,
    listed,
    number,
    plain,
    rows_text,
    said,
    table,
    terminal_width,
)
from cubekeeper.statistics.model import CostWeights

Data = dict[str, object]

_METHODS: Final = ("recomputation", "individual", "reuse", "counting")
_HEADS: Final = ("recomputation", "individual deltas", "reused deltas", "counting")


def cost_text(costs: CostTable, *, width: int | None = None, style: Style = plain) -> str:
    """The table with totals, the parents chosen, and where the numbers come from."""
    width = terminal_width(width)
    notes = _notes(costs)
    lines = [
        style(f"{clean(costs.warehouse)}: keeping its summary tables up to date", Role.HEADING)
    ]
    lines += said(f"changes: {changes_words(costs.changes)}", width, style)
    lines += said(f"costs in {costs.unit}", width, style)
    lines.append("")
    lines += table(
        ("summary table", *_HEADS),
        [(_name(row, notes), *(number(cell.cost) for cell in _cells(row))) for row in costs.rows],
        numeric=range(1, 5),
        total=("total", *(number(getattr(costs, method)) for method in _METHODS)),
        style=style,
    )
    lines.append("")
    lines += table(
        ("summary table", "rows", "delta rows", "recomputed from", "its delta from"),
        [_parents(row) for row in costs.rows],
        numeric=(1, 2),
        width=width,
        style=style,
    )
    lines.append("")
    for note in _footnotes(costs, notes):
        lines += said(note, width, style)
    return "\n".join(lines) + "\n"


def cost_data(costs: CostTable) -> Data:
    """The table as JSON-able data."""
    weights = costs.weights
    return {
        "warehouse": costs.warehouse,
        "changes": {
            "origin": costs.changes.origin,
            "tables": [
                {"table": c.table, "insertions": c.insertions, "deletions": c.deletions}
                for c in costs.changes.tables
            ],
        },
        "unit": costs.unit,
        "weights": {
            "read": weights.read,
            "write": weights.write,
            "join_probe": weights.join_probe,
            "join_build": weights.join_build,
            "stage": weights.stage,
        },
        "views": [
            {
                "view": row.view,
                "rows": estimate_as_data(row.rows),
                "delta": estimate_as_data(row.delta) if row.delta else None,
                **{method: _cell(getattr(row, method)) for method in _METHODS},
            }
            for row in costs.rows
        ],
        "total": {method: getattr(costs, method) for method in _METHODS},
    }


def _cell(cell: CostCell) -> Data:
    return {"cost": cell.cost, "parent": cell.parent, "note": cell.note}


def _cells(row: CostRow) -> tuple[CostCell, ...]:
    return (row.recomputation, row.individual, row.reuse, row.counting)


def _notes(costs: CostTable) -> dict[str, list[str]]:
    """What is said of cells, with the tables it is said of."""
    notes: dict[str, list[str]] = {}
    for row in costs.rows:
        for note in dict.fromkeys(cell.note for cell in _cells(row) if cell.note):
            notes.setdefault(note, []).append(row.view)
    return notes


def _name(row: CostRow, notes: dict[str, list[str]]) -> str:
    """A table's name with the marks of its footnotes."""
    marks = [place for place, views in enumerate(notes.values(), start=1) if row.view in views]
    return row.view + "".join(f" [{mark}]" for mark in marks)


def _parents(row: CostRow) -> tuple[str, ...]:
    return (
        row.view,
        rows_text(row.rows),
        rows_text(row.delta) if row.delta else "–",
        row.recomputation.parent or "the base",
        "–" if row.delta is None or row.reuse.note else row.reuse.parent or "the changes",
    )


def _footnotes(costs: CostTable, notes: dict[str, list[str]]) -> Iterator[str]:
    for place, (note, views) in enumerate(notes.items(), start=1):
        yield f"[{place}] {listed(views[:6])}{' and others' if len(views) > 6 else ''}: {note}"
    if costs.rows and costs.reuse:
        yield (
            f"Reused deltas are {compared(costs.reuse, costs.recomputation, 'recomputation')} and "
            f"{compared(costs.reuse, costs.individual, 'individual deltas')}; "
            f"counting is {compared(costs.counting, costs.recomputation, 'recomputation')}."
        )
    yield _sources(costs)
    yield weights_text(costs.weights)


def _sources(costs: CostTable) -> str:
    kinds: dict[str, int] = {}
    estimates: list[Estimate] = [row.rows for row in costs.rows]
    estimates += [row.delta for row in costs.rows if row.delta is not None]
    for estimate in estimates:
        kinds[estimate.source] = kinds.get(estimate.source, 0) + 1
    if len(kinds) == 1:
        return f"Sizes: all {next(iter(kinds))}."
    told = listed(f"{number(count)} {source}" for source, count in kinds.items())
    return f"Sizes: {told}; those not given or measured are marked ~."


def weights_text(weights: CostWeights) -> str:
    """What a tuple costs in each role, in a sentence.

    >>> from cubekeeper.statistics.model import PAPER_WEIGHTS
    >>> weights_text(PAPER_WEIGHTS)
    'Weights: a tuple read costs 1, one written 1; joins are not counted, as in the paper.'
    """
    text = (
        f"Weights: a tuple read costs {number(weights.read)}, one written {number(weights.write)}"
    )
    if weights.join_probe or weights.join_build:
        text += (
            f", one joined {number(weights.join_probe)}, one of a joined dimension "
            f"{number(weights.join_build)}"
        )
    else:
        text += "; joins are not counted, as in the paper"
    return text + (f"; each stage {number(weights.stage)}." if weights.stage else ".")
