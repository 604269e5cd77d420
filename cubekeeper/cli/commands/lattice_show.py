"""`cubekeeper lattice show`: the lattice as a tree, as data, or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from cubekeeper.cli.lazy import Command
from cubekeeper.cli.opening import changes_of, envelope, open_warehouse
from cubekeeper.cli.options import (
    changes_option,
    chosen_format,
    format_option,
    json_option,
    output_option,
    stats_option,
    warehouse_argument,
    weights_option,
)
from cubekeeper.cli.output import deliver, deliver_json

FORMATS: Final = ("text", "json", "dot", "svg", "html")


@click.command(
    cls=Command,
    name="show",
    examples=[
        "cubekeeper lattice show lattice/retail",
        "cubekeeper lattice show lattice/retail --sql",
        "cubekeeper lattice show lattice/retail_cube --output build/lattice.html",
        "cubekeeper lattice show lattice/retail --format dot",
    ],
)
@warehouse_argument
@format_option(*FORMATS)
@output_option
@click.option("--sql", is_flag=True, help="With the query of every edge (text and JSON).")
@changes_option
@stats_option
@weights_option
@json_option
def lattice_show(
    warehouse: str | None,
    form: str | None,
    output: Path | None,
    sql: bool,
    changes: tuple[str, ...],
    stats: str | None,
    weights: str | None,
    json_wanted: bool,
) -> None:
    """Show which summary table is computed from which: text, picture or data.

    Each table stands under the parent from which a batch computes it, with the dimensions to
    join, its rows, the rows that change, and the cost. The HTML page shows every other way too,
    and the query of each; it needs no network.
    """
    wanted = chosen_format(form, json_wanted, output, FORMATS)
    loaded = open_warehouse(warehouse, stats=stats, weights=weights, quiet=wanted == "json")
    from cubekeeper import report
    from cubekeeper.cli.colours import colours
    from cubekeeper.derive import build_lattice, choose

    lattice = build_lattice(loaded.warehouse)
    made = choose(lattice, loaded.statistics, changes_of(loaded, changes))
    match wanted:
        case "json":
            data = report.lattice_data(lattice, made, sql=sql)
            deliver_json(envelope(loaded, lattice=data), output)
        case "dot":
            deliver(report.lattice_dot(lattice, made), output)
        case "svg":
            deliver(report.lattice_svg(lattice, made), output)
        case "html":
            deliver(report.lattice_html(lattice, made), output)
        case _:
            style = colours(output is not None)
            deliver(report.lattice_text(lattice, made, sql=sql, style=style), output)
