"""`cubekeeper explain`: why the plan is as it is, and all about one summary table."""

from __future__ import annotations

from pathlib import Path

import click

from cubekeeper.cli.commands.plan import FORMATS, print_plan
from cubekeeper.cli.lazy import Command
from cubekeeper.cli.locate import locate
from cubekeeper.cli.opening import changes_of, envelope, open_warehouse, view_named
from cubekeeper.cli.options import (
    changes_option,
    chosen_format,
    format_option,
    json_option,
    output_option,
    stats_option,
    weights_option,
)
from cubekeeper.cli.output import deliver, deliver_json
from cubekeeper.errors import InputError


@click.command(
    cls=Command,
    examples=[
        "cubekeeper explain lattice/retail",
        "cubekeeper explain lattice/retail sR_sales",
        "cubekeeper explain lattice/snowflake ratings --json",
    ],
)
@click.argument("warehouse", metavar="[WAREHOUSE]", required=False)
@click.argument("view", metavar="[VIEW]", required=False)
@changes_option
@stats_option
@weights_option
@format_option(*FORMATS)
@output_option
@json_option
def explain(
    warehouse: str | None,
    view: str | None,
    changes: tuple[str, ...],
    stats: str | None,
    weights: str | None,
    form: str | None,
    output: Path | None,
    json_wanted: bool,
) -> None:
    """Say why the plan is as it is, or all about one table.

    Without VIEW it is the plan of `cubekeeper plan` with the reasons: why this parent, which other
    ways there were, at what cost. With VIEW, the name of a summary table: its definition, the
    columns stored for it and why, the ways to compute it with their queries, and how it is
    maintained. A single argument that is no path is taken for a VIEW of the warehouse found.
    """
    warehouse, view = told_apart(warehouse, view)
    wanted = chosen_format(form, json_wanted, output, FORMATS)
    if view is None:
        print_plan(
            warehouse,
            changes=changes,
            stats=stats,
            weights=weights,
            wanted=wanted,
            output=output,
            reasons=True,
        )
        return
    if wanted == "html":
        raise InputError(
            "usage",
            "one summary table is explained as text or JSON only",
            hint="`cubekeeper lattice show --format html` shows all of them, with their queries",
        )
    loaded = open_warehouse(warehouse, stats=stats, weights=weights, quiet=wanted == "json")
    from cubekeeper import report
    from cubekeeper.cli.colours import colours
    from cubekeeper.derive import build_lattice, choose

    name = view_named(loaded.warehouse, view)
    lattice = build_lattice(loaded.warehouse)
    made = choose(lattice, loaded.statistics, changes_of(loaded, changes))
    if wanted == "json":
        deliver_json(envelope(loaded, view=report.view_data(lattice, made, name)), output)
    else:
        style = colours(output is not None)
        deliver(report.view_text(lattice, made, name, style=style), output)


def told_apart(first: str | None, second: str | None) -> tuple[str | None, str | None]:
    """The warehouse and the view that are meant: a lone word that is no path names a view."""
    if first is None or second is not None or Path(first).exists():
        return first, second
    if "/" in first or first.lower().endswith((".yml", ".yaml")):
        return first, None
    try:
        locate(None)
    except InputError:
        return first, None
    return None, first
