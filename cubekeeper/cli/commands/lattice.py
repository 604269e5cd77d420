"""`cubekeeper lattice …`: the commands about the lattice of summary tables."""

from __future__ import annotations

from typing import Final

import click

from cubekeeper.cli.lazy import Entry, LazyGroup

_COMMANDS: Final = "cubekeeper.cli.commands"

ENTRIES: Final = (
    Entry(
        "show",
        f"{_COMMANDS}.lattice_show",
        "lattice_show",
        "Show which summary table is computed from which: text, picture or data.",
    ),
    Entry(
        "cost",
        f"{_COMMANDS}.lattice_cost",
        "lattice_cost",
        "Compare the cost of four ways to keep the summary tables up to date.",
    ),
    Entry(
        "advise",
        f"{_COMMANDS}.lattice_advise",
        "lattice_advise",
        "Advise which summary tables are worth keeping.",
    ),
    Entry(
        "what-if",
        f"{_COMMANDS}.lattice_what_if",
        "lattice_what_if",
        "Tell what adding or dropping summary tables would change.",
    ),
)


@click.group(cls=LazyGroup, entries=ENTRIES)
def lattice() -> None:
    """See the lattice, its costs, and what would change them.

    A summary table can often be computed from another one instead of from the base tables. The
    lattice is that relation; a batch walks down it, so that each change is aggregated only once.
    """
