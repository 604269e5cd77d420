"""`cubekeeper plan`: what a nightly batch will do."""

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

FORMATS: Final = ("text", "json", "html")


@click.command(
    cls=Command,
    examples=[
        "cubekeeper plan lattice/retail",
        "cubekeeper plan lattice/retail --changes pos=+10000-200 --changes stores=~3",
        "cubekeeper plan lattice/retail --output build/plan.html",
    ],
)
@warehouse_argument
@changes_option
@stats_option
@weights_option
@format_option(*FORMATS)
@output_option
@json_option
def plan(
    warehouse: str | None,
    changes: tuple[str, ...],
    stats: str | None,
    weights: str | None,
    form: str | None,
    output: Path | None,
    json_wanted: bool,
) -> None:
    """Print the plan of a nightly batch, with rows and costs.

    First what runs while the tables are being read, then what runs in the window in which they
    change. `cubekeeper explain` prints the same plan with the reasons.
    """
    print_plan(
        warehouse,
        changes=changes,
        stats=stats,
        weights=weights,
        wanted=chosen_format(form, json_wanted, output, FORMATS),
        output=output,
        reasons=False,
    )


def print_plan(
    warehouse: str | None,
    *,
    changes: tuple[str, ...],
    stats: str | None,
    weights: str | None,
    wanted: str,
    output: Path | None,
    reasons: bool,
) -> None:
    """Build the plan and print it in the format wanted, with or without the reasons."""
    loaded = open_warehouse(warehouse, stats=stats, weights=weights, quiet=wanted == "json")
    from cubekeeper import report
    from cubekeeper.cli.colours import colours
    from cubekeeper.derive import build_lattice, choose
    from cubekeeper.plan.text import plan_as_data
    from cubekeeper.schedule import build_plan

    lattice = build_lattice(loaded.warehouse)
    made = choose(lattice, loaded.statistics, changes_of(loaded, changes))
    built = build_plan(lattice, made)
    match wanted:
        case "json":
            deliver_json(envelope(loaded, plan=plan_as_data(built)), output)
        case "html":
            deliver(report.plan_html(built, lattice), output)
        case _:
            style = colours(output is not None)
            deliver(report.plan_text(built, lattice, reasons=reasons, style=style), output)
