"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from cubekeeper.errors import InputError

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

warehouse_argument: Final = click.argument("warehouse", metavar="[WAREHOUSE]", required=False)

json_option: Final = click.option(
    "--json", "json_wanted", is_flag=True, help="Give the result, or the errors, as JSON."
)

stats_option: Final = click.option(
    "--stats",
    metavar="FILE",
    help="Sizes and usual changes from this YAML file, in place of the warehouse's own.",
)

output_option: Final = click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to this file instead of stdout.",
)

changes_option: Final = click.option(
    "--changes",
    metavar="TABLE=ROWS",
    multiple=True,
    help="What changes, in place of a usual batch: pos=+5000-200 inserts 5000 rows and deletes "
    "200, stores=~3 updates 3. Can be given several times.",
)

weights_option: Final = click.option(
    "--weights",
    type=click.Choice(["default", "paper"]),
    help="What a tuple costs: joins counted (default), or reads and writes only (paper).",
)


def finite(
    _context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    """Refuse numbers that are no amounts: negative, infinite, or not a number at all."""
    if value is not None and not (isfinite(value) and value >= 0):
        raise click.BadParameter(f"{value} is not a number from 0 up", param=parameter)
    return value


def format_option(*formats: str) -> Callable[[Decorated], Decorated]:
    """A choice of formats; `json` among them is the same as ``--json``."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(formats),
        help=f"{formats[0]} by default; an --output file's name can say it too.",
    )


SUFFIXES: Final = {".txt": "text", ".htm": "html", ".gv": "dot"}


def chosen_format(
    form: str | None, json_wanted: bool, output: Path | None, formats: tuple[str, ...]
) -> str:
    """The format that a command line asks for, or that its output file's name suggests.

    >>> chosen_format(None, False, Path("lattice.svg"), ("text", "json", "svg"))
    'svg'
    """
    if json_wanted:
        if form not in (None, "json"):
            raise InputError("usage", f"--json and --format {form} exclude each other")
        return "json"
    if form is None and output is not None:
        suffix = output.suffix.lower()
        form = SUFFIXES.get(suffix, suffix.removeprefix("."))
    return form if form in formats else formats[0]
