"""`cubekeeper lattice cost`: what four ways of maintenance cost, table by table."""

from __future__ import annotations

from pathlib import Path

import click

from cubekeeper.cli.lazy import Command
from cubekeeper.cli.opening import changes_of, envelope, open_warehouse
from cubekeeper.cli.options import (
    changes_option,
    json_option,
    output_option,
    stats_option,
    warehouse_argument,
    weights_option,
)
from cubekeeper.cli.output import deliver, deliver_json


@click.command(
    cls=Command,
    name="cost",
    examples=[
        "cubekeeper lattice cost lattice/retail --stats lattice/retail/table3.yml",
        "cubekeeper lattice cost lattice/ssb --weights paper",
    ],
)
@warehouse_argument
@stats_option
@changes_option
@weights_option
@output_option
@json_option
def lattice_cost(
    warehouse: str | None,
    stats: str | None,
    changes: tuple[str, ...],
    weights: str | None,
    output: Path | None,
    json_wanted: bool,
) -> None:
    """Compare the cost of four ways to keep the summary tables up to date.

    \b
    recomputation  every table computed anew, from the cheapest table above it
    individual     every table from its own summary-delta, computed from the changes
    reuse          summary-deltas computed from each other, down the lattice
    counting       the counting algorithm: every touched group computed anew from the base

    It is Table 1 of the 1997 paper for any warehouse; the first example prints the paper's own.
    """
    loaded = open_warehouse(warehouse, stats=stats, weights=weights, quiet=json_wanted)
    from cubekeeper import report
    from cubekeeper.cli.colours import colours
    from cubekeeper.derive import build_lattice, cost_table

    lattice = build_lattice(loaded.warehouse)
    table = cost_table(
        lattice, loaded.statistics, loaded.statistics.weights, changes_of(loaded, changes)
    )
    if json_wanted:
        deliver_json(envelope(loaded, cost=report.cost_data(table)), output)
    else:
        deliver(report.cost_text(table, style=colours(output is not None)), output)
