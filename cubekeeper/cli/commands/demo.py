"""`cubekeeper demo`: a guided walk through an example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cubekeeper.cli.commands.validate import validation_text
from cubekeeper.cli.lazy import Command
from cubekeeper.cli.opening import envelope, open_warehouse
from cubekeeper.cli.options import json_option
from cubekeeper.cli.output import as_json, show, unwritable, write_whole
from cubekeeper.errors import InputError

if TYPE_CHECKING:
    from cubekeeper.declare import Loaded
    from cubekeeper.lattice.choice import Maintenance
    from cubekeeper.lattice.cost import CostTable
    from cubekeeper.lattice.model import Lattice
    from cubekeeper.plan.stages import Plan

EXAMPLE: Final = Path("lattice", "retail")
PAPER_STATISTICS: Final = "table3.yml"


@click.command(cls=Command, examples=["cubekeeper demo", "cubekeeper demo lattice/snowflake"])
@click.argument("path", metavar="[PATH]", required=False)
@click.option(
    "--output",
    "-o",
    metavar="DIR",
    default="build/demo",
    show_default=True,
    type=click.Path(path_type=Path),
    help="The folder for the picture; made if it does not exist.",
)
@json_option
def demo(path: str | None, output: Path, json_wanted: bool) -> None:
    """Walk through the retail example, step by step.

    PATH is a warehouse; by default `lattice/retail`, looked for from the current folder upward.
    """
    folder = Path(path) if path else find_example(Path.cwd())
    loaded = open_warehouse(str(folder), quiet=json_wanted)
    tour = take_tour(folder, loaded)
    picture = output / f"{loaded.warehouse.name}.html"
    page = tour.page()
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(output, error) from error
    write_whole(picture, page)
    show(as_json(tour.data(picture)) if json_wanted else tour.text(picture))


@dataclass(frozen=True)
class Tour:
    """Everything that the demo shows, computed once."""

    folder: Path
    loaded: Loaded
    lattice: Lattice
    made: Maintenance
    plan: Plan
    cost: CostTable

    def page(self) -> str:
        """The picture as an HTML page."""
        from cubekeeper.report import lattice_html

        return lattice_html(self.lattice, self.made)

    def data(self, picture: Path) -> Mapping[str, object]:
        """The stops of the tour as data."""
        from cubekeeper import report
        from cubekeeper.plan.text import plan_as_data

        return envelope(
            self.loaded,
            lattice=report.lattice_data(self.lattice, self.made),
            plan=plan_as_data(self.plan),
            cost=report.cost_data(self.cost),
            picture=str(picture),
        )

    def text(self, picture: Path) -> str:
        """The tour itself."""
        from cubekeeper import report
        from cubekeeper.cli.colours import colours
        from cubekeeper.report.words import terminal_width

        look = {"style": colours(), "width": terminal_width()}
        stops = [
            (
                "The declarations",
                "Facts, dimensions and summary tables are declared in YAML and SQL.",
                f"cubekeeper validate {self.folder}",
                validation_text(self.loaded, self.lattice),
            ),
            (
                "The lattice",
                "Many summary tables can be computed from another one instead of from the large"
                " fact table. Each stands under the one it is computed from; ⋈ names the dimensions"
                " to join on the way.",
                f"cubekeeper lattice show {self.folder}",
                report.lattice_text(self.lattice, self.made, **look),
            ),
            (
                "The nightly plan",
                "The changes of a day are aggregated once into small summary-deltas, down the"
                " lattice, while people read the tables. Only then, in a short window, are the"
                " tables changed.",
                f"cubekeeper plan {self.folder}",
                report.plan_text(self.plan, self.lattice, **look),
            ),
            (
                "What it saves",
                "The cost of four ways to keep the tables up to date.",
                f"cubekeeper lattice cost {self.folder}{self._statistics_option()}",
                report.cost_text(self.cost, **look),
            ),
            (
                "The picture",
                "The lattice as a page for a browser: click a table or an edge for its query.",
                f"cubekeeper lattice show {self.folder} --output {picture}",
                f"Wrote {picture}",
            ),
        ]
        width = terminal_width()
        return "\n".join(_stop(number, *stop, width) for number, stop in enumerate(stops, start=1))

    def _statistics_option(self) -> str:
        paper = self.folder / PAPER_STATISTICS
        return f" --stats {paper}" if paper.is_file() else ""


def _stop(number: int, title: str, about: str, command: str, shown: str, width: int) -> str:
    heading = click.style(f"{number}. {title}", bold=True)
    rule = click.style("─" * width, dim=True)
    prompt = click.style(f"$ {command}", fg="green")
    return f"{rule}\n{heading}\n\n{click.wrap_text(about, width)}\n\n{prompt}\n\n{shown.rstrip()}\n"


def take_tour(folder: Path, loaded: Loaded) -> Tour:
    """Compute what the demo shows; with the paper's statistics for the costs, if they are there."""
    from cubekeeper.declare import load_statistics
    from cubekeeper.derive import build_lattice, choose, cost_table
    from cubekeeper.schedule import build_plan

    lattice = build_lattice(loaded.warehouse)
    made = choose(lattice, loaded.statistics)
    statistics = loaded.statistics
    if (folder / PAPER_STATISTICS).is_file():
        statistics = load_statistics(folder / PAPER_STATISTICS, loaded.warehouse)
    return Tour(
        folder=folder,
        loaded=loaded,
        lattice=lattice,
        made=made,
        plan=build_plan(lattice, made),
        cost=cost_table(lattice, statistics, statistics.weights),
    )


def find_example(start: Path) -> Path:
    """The example of the repository that the current folder belongs to."""
    for folder in (start, *start.parents):
        if (folder / EXAMPLE).is_dir():
            return EXAMPLE if folder == start else folder / EXAMPLE
    raise InputError(
        "no-example",
        f"there is no `{EXAMPLE}` in this folder or any folder above it",
        hint="run it inside the cubekeeper repository, or name a warehouse",
    )
