"""`cubekeeper lattice what-if`: what adding or dropping summary tables would change."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cubekeeper.cli.lazy import Command
from cubekeeper.cli.opening import changes_of, envelope, open_warehouse, view_named
from cubekeeper.cli.options import (
    changes_option,
    json_option,
    output_option,
    stats_option,
    warehouse_argument,
    weights_option,
)
from cubekeeper.cli.output import deliver, deliver_json
from cubekeeper.errors import CubekeeperError, InputError, Problems
from cubekeeper.source import Fragment, Source

if TYPE_CHECKING:
    from cubekeeper.warehouse.model import SummaryTable, Warehouse

_NAMED_SQL: Final = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<sql>.+)", re.DOTALL)


@click.command(
    cls=Command,
    name="what-if",
    examples=[
        "cubekeeper lattice what-if lattice/retail --drop SID_sales",
        'cubekeeper lattice what-if lattice/retail --add "by_day=SELECT date, SUM(qty) AS units '
        'FROM pos GROUP BY date"',
    ],
)
@warehouse_argument
@click.option(
    "--add",
    metavar="NAME=SQL|FILE.sql",
    multiple=True,
    help="Add a summary table: a name and its SELECT, or a file named like the table. "
    "Can be given several times.",
)
@click.option(
    "--drop", metavar="VIEW", multiple=True, help="Drop a summary table; several times, too."
)
@stats_option
@changes_option
@weights_option
@output_option
@json_option
def lattice_what_if(
    warehouse: str | None,
    add: tuple[str, ...],
    drop: tuple[str, ...],
    stats: str | None,
    changes: tuple[str, ...],
    weights: str | None,
    output: Path | None,
    json_wanted: bool,
) -> None:
    """Tell what adding or dropping summary tables would change.

    Compares the nightly batch, the window, the space and the cost of queries before and after,
    and lists the tables that would be computed from another parent. Nothing is written to the
    warehouse.
    """
    if not add and not drop:
        raise InputError("usage", "nothing to compare", hint="say what to --add or to --drop")
    loaded = open_warehouse(warehouse, stats=stats, weights=weights, quiet=json_wanted)
    from cubekeeper import report
    from cubekeeper.cli.colours import colours
    from cubekeeper.derive import build_lattice, what_if

    now = loaded.warehouse
    dropped = {view_named(now, name) for name in drop}
    kept = [view for view in now.summary_tables if view.name not in dropped]
    then = replace(now, summary_tables=(*kept, *new_tables(now, add, dropped)))
    answer = what_if(
        build_lattice(now), build_lattice(then), loaded.statistics, changes_of(loaded, changes)
    )
    if json_wanted:
        deliver_json(envelope(loaded, what_if=report.what_if_data(answer)), output)
    else:
        deliver(report.what_if_text(answer, style=colours(output is not None)), output)


def new_tables(
    warehouse: Warehouse, add: tuple[str, ...], dropped: Collection[str]
) -> list[SummaryTable]:
    """The summary tables to add; their errors are reported together."""
    from cubekeeper.declare import summary_table_from_sql

    taken = {table.name.lower() for table in (*warehouse.facts, *warehouse.dimensions)}
    taken |= {view.name.lower() for view in warehouse.summary_tables if view.name not in dropped}
    problems = Problems()
    tables: list[SummaryTable] = []
    for text in add:
        try:
            name, fragment = named_sql(text)
            if name.lower() in taken:
                raise InputError(
                    "duplicate-name",
                    f"`{warehouse.name}` already has a table named `{name}`",
                    hint="give the new one another name, or --drop the old one",
                )
            taken.add(name.lower())
            tables.append(summary_table_from_sql(fragment, warehouse, name))
        except CubekeeperError as error:
            problems.add(error)
    problems.raise_if_any()
    return tables


def named_sql(text: str) -> tuple[str, Fragment]:
    """A name and its SQL, from ``NAME=SQL`` or from the file of that name.

    >>> named_sql("by_day=SELECT date FROM pos")[0]
    'by_day'
    """
    match = _NAMED_SQL.fullmatch(text)
    if match:
        return match["name"], Fragment.of_text(match["sql"], f"--add {match['name']}")
    path = Path(text)
    if path.suffix.lower() != ".sql":
        raise InputError(
            "bad-addition",
            f"`{text}` is neither NAME=SQL nor a file that ends in `.sql`",
            hint='write --add "by_day=SELECT …", or --add by_day.sql',
        )
    try:
        return path.stem, Fragment.whole(Source(text, path.read_text(encoding="utf-8")))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError("unreadable", f"cannot read `{text}`: {reason}") from error
    except UnicodeDecodeError as error:
        raise InputError("not-utf8", f"`{text}` is not UTF-8 text") from error
