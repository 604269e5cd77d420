"""`cubekeeper bench …`: how long cubekeeper itself takes."""

from __future__ import annotations

from typing import Final

import click

from cubekeeper.cli.lazy import Command, Entry, LazyGroup
from cubekeeper.cli.options import json_option
from cubekeeper.cli.output import deliver_json, say, show

ENTRIES: Final = (
    Entry(
        "lattice",
        "cubekeeper.cli.commands.bench",
        "bench_lattice",
        "Time lattice, parents and plan for ever larger warehouses.",
    ),
    Entry(
        "startup",
        "cubekeeper.cli.commands.bench",
        "bench_startup",
        "Time cold processes to their first Delta result.",
    ),
)
FAMILIES: Final = ("cube", "product", "mixed")


@click.group(cls=LazyGroup, entries=ENTRIES, invoke_without_command=True)
@click.pass_context
def bench(context: click.Context) -> None:
    """Measure how cubekeeper itself grows with its input.

    Without a command it runs all of them.
    """
    if context.invoked_subcommand is None:
        context.invoke(bench_lattice)
        context.invoke(bench_startup)


@click.command(
    cls=Command,
    name="lattice",
    examples=["cubekeeper bench lattice --family mixed", "cubekeeper bench lattice --long --json"],
)
@click.option(
    "--family",
    "families",
    type=click.Choice(FAMILIES),
    multiple=True,
    help="Only this family; can be given several times.",
)
@click.option("--long", is_flag=True, help="Sizes beyond the budgets, too.")
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="Runs of each size, of which the best time counts.",
)
@json_option
def bench_lattice(families: tuple[str, ...], long: bool, repeat: int, json_wanted: bool) -> None:
    """Time lattice, parents and plan for ever larger warehouses.

    \b
    cube     one column of each of SIZE dimensions, in or out: 2^SIZE summary tables
    product  a hierarchy of two levels of each of SIZE dimensions: 3^SIZE summary tables
    mixed    SIZE summary tables over 5 facts, each with its own group-by, aggregates, filter

    The budgets are 3 s for 1,024 tables of a cube and 1 s for 200 mixed ones, lattice to plan.
    """
    from cubekeeper.bench.lattice_growth import growth_data, growth_text, measure_growth

    timings = []
    for timing in measure_growth(families or FAMILIES, long=long, repeat=repeat):
        timings.append(timing)
        if not json_wanted:
            say(f"{timing.family} {timing.size}: {timing.after_declaring:.3f} s")
    if json_wanted:
        deliver_json({"ok": True, "repeat": repeat, "timings": growth_data(timings)})
    else:
        say("")
        show(f"Seconds of processor time, the best of {repeat}:\n\n{growth_text(timings)}")


@click.command(cls=Command, name="startup", examples=["cubekeeper bench startup --repeat 3"])
@click.option(
    "--repeat",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="Runs of each kind, of which the median counts.",
)
@json_option
def bench_startup(repeat: int, json_wanted: bool) -> None:
    """Time cold processes to their first Delta result.

    A plain Spark session with Delta, as Spark's manual shows it, and the one that cubekeeper opens
    take turns, each in a process of its own. Ours is to need at most half of the time.
    """
    from cubekeeper.bench.startup import measure_startup, startup_data, startup_text

    starts = []
    for start in measure_startup(repeat):
        starts.append(start)
        if not json_wanted:
            say(f"{start.kind}: first Delta result after {start.seconds['result']:.1f} s")
    if json_wanted:
        deliver_json({"ok": True, "repeat": repeat, **startup_data(starts)})
    else:
        say("")
        show(f"Seconds from a cold process, medians of {repeat}:\n\n{startup_text(starts)}")
