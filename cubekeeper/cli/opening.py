"""Opening a warehouse for a command, and the envelope of its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cubekeeper.cli.locate import locate
from cubekeeper.cli.output import say
from cubekeeper.errors import InputError, as_data, did_you_mean

if TYPE_CHECKING:
    from cubekeeper.declare import Loaded
    from cubekeeper.statistics.changes import Changes
    from cubekeeper.statistics.model import Statistics
    from cubekeeper.warehouse.model import Warehouse


def open_warehouse(
    given: str | None, *, stats: str | None = None, weights: str | None = None, quiet: bool = False
) -> Loaded:
    """Load the warehouse that is meant, with the statistics asked for.

    Unless `quiet`, cautions are counted on stderr; `validate` shows them in full.
    """
    from cubekeeper.declare import load, load_statistics

    loaded = load(locate(given))
    if stats is not None:
        loaded = replace(loaded, statistics=load_statistics(Path(stats), loaded.warehouse))
    if weights is not None:
        loaded = replace(loaded, statistics=_with_weights(loaded.statistics, weights))
    if loaded.cautions and not quiet:
        count = "a warning" if len(loaded.cautions) == 1 else f"{len(loaded.cautions)} warnings"
        say(f"{count} about the declarations: see `cubekeeper validate`")
    return loaded


def _with_weights(statistics: Statistics, name: str) -> Statistics:
    from cubekeeper.statistics.model import DEFAULT_WEIGHTS, PAPER_WEIGHTS

    return replace(statistics, weights={"paper": PAPER_WEIGHTS, "default": DEFAULT_WEIGHTS}[name])


def changes_of(loaded: Loaded, asked: Sequence[str]) -> Changes:
    """The changes that a command line asks about; those of a usual batch if it asks for none."""
    from cubekeeper.statistics.changes import parse_changes, usual_changes

    facts = [fact.name for fact in loaded.warehouse.facts]
    dimensions = [dimension.name for dimension in loaded.warehouse.dimensions]
    if asked:
        return parse_changes(asked, [*facts, *dimensions])
    return usual_changes(loaded.statistics, facts, dimensions)


def view_named(warehouse: Warehouse, name: str) -> str:
    """The summary table of that name, whatever its case."""
    for view in warehouse.summary_tables:
        if view.name.lower() == name.lower():
            return view.name
    raise InputError(
        "unknown-view",
        f"no summary table of `{warehouse.name}` is named `{name}`",
        hint=did_you_mean(name, [view.name for view in warehouse.summary_tables]),
    )


def envelope(loaded: Loaded, **results: object) -> Mapping[str, object]:
    """What every JSON result begins with: that it is one, of what, and what to know about it."""
    return {
        "ok": True,
        "warehouse": loaded.warehouse.name,
        "cautions": [as_data(caution) for caution in loaded.cautions],
        **results,
    }
