"""`cubekeeper lattice advise`: which summary tables are worth keeping."""

from __future__ import annotations

from pathlib import Path

import click

from cubekeeper.cli.lazy import Command
from cubekeeper.cli.opening import changes_of, envelope, open_warehouse
from cubekeeper.cli.options import (
    changes_option,
    finite,
    json_option,
    output_option,
    stats_option,
    warehouse_argument,
    weights_option,
)
from cubekeeper.cli.output import deliver, deliver_json


@click.command(
    cls=Command,
    name="advise",
    examples=[
        "cubekeeper lattice advise lattice/retail_cube --top 3",
        "cubekeeper lattice advise lattice/ssb --space 1000000",
        "cubekeeper lattice advise lattice/snowflake --window 5000000 --json",
    ],
)
@warehouse_argument
@click.option("--top", metavar="K", type=click.IntRange(min=0), help="At most so many tables.")
@click.option(
    "--space",
    metavar="ROWS",
    type=float,
    callback=finite,
    help="At most so many rows, all together.",
)
@click.option(
    "--window",
    metavar="COST",
    type=float,
    callback=finite,
    help="At most this cost of maintenance in a batch.",
)
@click.option(
    "--exchange",
    metavar="N",
    type=float,
    callback=finite,
    default=1.0,
    show_default=True,
    help="What a unit of maintenance is worth in units of queries; 0 counts queries alone.",
)
@stats_option
@changes_option
@weights_option
@output_option
@json_option
def lattice_advise(
    warehouse: str | None,
    top: int | None,
    space: float | None,
    window: float | None,
    exchange: float,
    stats: str | None,
    changes: tuple[str, ...],
    weights: str | None,
    output: Path | None,
    json_wanted: bool,
) -> None:
    """Advise which summary tables are worth keeping.

    Takes again and again the table that saves queries the most, less what its maintenance costs,
    given those taken before. How often each table is asked for is `queries` in the statistics.
    Without a limit it stops when no table is worth its maintenance; limits can be combined.
    """
    loaded = open_warehouse(warehouse, stats=stats, weights=weights, quiet=json_wanted)
    from cubekeeper import report
    from cubekeeper.cli.colours import colours
    from cubekeeper.derive import advise, build_lattice
    from cubekeeper.lattice.advice import Limits

    lattice = build_lattice(loaded.warehouse)
    advice = advise(
        lattice,
        loaded.statistics,
        changes_of(loaded, changes),
        limits=Limits(tables=top, space=space, window=window),
        exchange=exchange,
    )
    if json_wanted:
        deliver_json(envelope(loaded, advice=report.advice_data(advice)), output)
    else:
        deliver(report.advice_text(advice, style=colours(output is not None)), output)
