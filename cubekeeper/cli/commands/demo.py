"""`cubekeeper demo`: a guided walk through an example."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from cubekeeper.cli.commands.validate import validation_text
from cubekeeper.cli.lazy import Command
from cubekeeper.cli.opening import envelope, open_warehouse
from cubekeeper.cli.options import json_option
from cubekeeper.cli.output import deliver_json, show, unwritable, write_whole
from cubekeeper.errors import InputError

if TYPE_CHECKING:
    from cubekeeper.declare import Loaded
    from cubekeeper.lattice.choice import Maintenance
    from cubekeeper.lattice.cost import CostTable
    from cubekeeper.lattice.model import Lattice
    from cubekeeper.plan.stages import Plan

EXAMPLE: Final = Path("lattice", "retail")
_NEXT: Final = """\
Next: `cubekeeper explain` gives the reasons, `cubekeeper lattice advise` and `what-if` try other
sets of tables, and `cubekeeper init my_warehouse` starts one of your own.
"""


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
    tour = take_tour(folder, loaded, output)
    page = tour.page()
    told = tour.data() if json_wanted else tour.text()
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(output, error) from error
    write_whole(tour.picture, page)
    if isinstance(told, str):
        show(told)
    else:
        deliver_json(told)


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


def paper_statistics(folder: Path) -> Path | None:
    """The file with which the retail example has the sizes of the paper, if it is there."""
    file = folder / "table3.yml"
    return file if file.is_file() else None


def take_tour(folder: Path, loaded: Loaded, output: Path) -> Tour:
    """Compute what the demo shows; with the paper's sizes for the costs, if they are there."""
    from cubekeeper.declare import load_statistics
    from cubekeeper.derive import build_lattice, choose, cost_table
    from cubekeeper.schedule import build_plan

    lattice = build_lattice(loaded.warehouse)
    made = choose(lattice, loaded.statistics)
    paper = paper_statistics(folder)
    statistics = load_statistics(paper, loaded.warehouse) if paper else loaded.statistics
    file_name = re.sub(r"[^\w-]+", "_", loaded.warehouse.name)
    return Tour(
        folder=folder,
        picture=output / f"{file_name}.html",
        loaded=loaded,
        lattice=lattice,
        made=made,
        plan=build_plan(lattice, made),
        cost=cost_table(lattice, statistics, statistics.weights),
    )


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of the tour: what it is about, the command that shows it, and what that shows."""

    title: str
    about: str
    command: str
    shown: str

    def text(self, number: int, width: int) -> str:
        """The stop under its heading."""
        rule = click.style("─" * width, dim=True)
        heading = click.style(f"{number}. {self.title}", bold=True)
        prompt = click.style(f"$ {self.command}", fg="green")
        about = click.wrap_text(self.about, width)
        return f"{rule}\n{heading}\n\n{about}\n\n{prompt}\n\n{self.shown.rstrip()}\n"


@dataclass(frozen=True)
class Tour:
    """Everything that the demo shows, computed once."""

    folder: Path
    picture: Path
    loaded: Loaded
    lattice: Lattice
    made: Maintenance
    plan: Plan
    cost: CostTable

    def page(self) -> str:
        """The picture as an HTML page."""
        from cubekeeper.report import lattice_html

        return lattice_html(self.lattice, self.made)

    def data(self) -> Mapping[str, object]:
        """The stops of the tour as data."""
        from cubekeeper.plan.text import plan_as_data
        from cubekeeper.report import cost_data, lattice_data

        return envelope(
            self.loaded,
            lattice=lattice_data(self.lattice, self.made),
            plan=plan_as_data(self.plan),
            cost=cost_data(self.cost),
            picture=str(self.picture),
        )

    def text(self) -> str:
        """The tour itself."""
        from cubekeeper.report.words import terminal_width

        stops = enumerate(self.stops(), start=1)
        return "\n".join([*(stop.text(n, terminal_width()) for n, stop in stops), _NEXT])

    def stops(self) -> Iterator[Stop]:
        """What is shown, in order."""
        from cubekeeper.cli.colours import colours
        from cubekeeper.report import cost_text, lattice_text, plan_text

        style = colours()
        yield Stop(
            "The declarations",
            "Facts, dimensions and summary tables are declared in YAML and SQL.",
            f"cubekeeper validate {self.folder}",
            validation_text(self.loaded, self.lattice, style),
        )
        yield Stop(
            "The lattice",
            "Many summary tables can be computed from another one instead of from the large fact "
            "table. Each stands under the one it is computed from; ⋈ names the dimensions to join "
            "on the way.",
            f"cubekeeper lattice show {self.folder}",
            lattice_text(self.lattice, self.made, style=style),
        )
        yield Stop(
            "The nightly plan",
            "The changes of a day are aggregated once into small summary-deltas, down the lattice, "
            "while people read the tables. Only then, in a short window, are the tables changed.",
            f"cubekeeper plan {self.folder}",
            plan_text(self.plan, self.lattice, reasons=False, style=style),
        )
        paper = paper_statistics(self.folder)
        remark = ", with the sizes of the 1997 paper: it is the paper's Table 1" if paper else ""
        yield Stop(
            "What it saves",
            f"The cost of four ways to keep the tables up to date{remark}.",
            f"cubekeeper lattice cost {self.folder}" + (f" --stats {paper}" if paper else ""),
            cost_text(self.cost, style=style),
        )
        yield Stop(
            "The picture",
            "The lattice as a page for a browser: choose a table or an edge for its query.",
            f"cubekeeper lattice show {self.folder} --output {self.picture}",
            f"Wrote {self.picture}",
        )
