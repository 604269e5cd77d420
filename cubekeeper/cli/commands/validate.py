"""`cubekeeper validate`: is everything declared right, and what does it amount to?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from cubekeeper.cli.lazy import Command
from cubekeeper.cli.opening import envelope, open_warehouse
from cubekeeper.cli.options import json_option, warehouse_argument
from cubekeeper.cli.output import deliver_json, say, say_problem, show

if TYPE_CHECKING:
    from cubekeeper.declare import Loaded
    from cubekeeper.lattice.model import Lattice, Node
    from cubekeeper.report.words import Style
    from cubekeeper.warehouse.model import BaseTable


@click.command(
    cls=Command,
    examples=["cubekeeper validate lattice/retail", "cubekeeper validate lattice/ssb --json"],
)
@warehouse_argument
@json_option
def validate(warehouse: str | None, json_wanted: bool) -> None:
    """Check the declarations and report every problem at once.

    Reads YAML and SQL only: no data, no Spark. Exits with 2 if anything is wrong.
    """
    from cubekeeper.cli.colours import colours
    from cubekeeper.derive import build_lattice

    loaded = open_warehouse(warehouse, quiet=True)
    lattice = build_lattice(loaded.warehouse)
    if json_wanted:
        files = [str(file) for file in loaded.files]
        deliver_json(envelope(loaded, files=files, **_data(loaded, lattice)))
    else:
        for caution in loaded.cautions:
            say_problem(caution)
            say("")
        show(validation_text(loaded, lattice, colours()))


def _data(loaded: Loaded, lattice: Lattice) -> dict[str, object]:
    warehouse = loaded.warehouse
    return {
        "facts": [_table_data(fact) for fact in warehouse.facts],
        "dimensions": [_table_data(dimension) for dimension in warehouse.dimensions],
        "summary_tables": [
            {
                "name": node.name,
                "fact": node.view.fact,
                "cube": node.view.cube,
                "policy": node.view.policy.value,
                "incremental": node.incremental,
                "rebuild_reasons": [*node.rebuild_reasons],
            }
            for node in lattice.nodes.values()
        ],
    }


def _table_data(table: BaseTable) -> dict[str, object]:
    return {
        "name": table.name,
        "columns": len(table.columns),
        "key": [*table.key],
        "joins": {key.name: key.references for key in table.foreign_keys},
        "hierarchies": [hierarchy.name for hierarchy in table.hierarchies],
    }


def validation_text(loaded: Loaded, lattice: Lattice, style: Style) -> str:
    """The good news: what is declared, and which tables can only be computed anew."""
    from cubekeeper.report.words import Role, terminal_width, wrap

    warehouse = loaded.warehouse
    counts = ", ".join(
        (
            counted(len(warehouse.facts), "fact"),
            counted(len(warehouse.dimensions), "dimension"),
            counted(len(warehouse.summary_tables), "summary table"),
        )
    )
    width = terminal_width()
    lines = [style(f"{warehouse.name} is valid: {counts}", Role.HEADING), ""]
    lines += _aligned([*_rows(loaded, lattice)], width, style)
    if not lattice.nodes:
        lines += [
            "",
            "Nothing to keep up to date yet: declare `summary_tables` or `cubes`.",
        ]
    rebuilt = [node for node in lattice.nodes.values() if not node.incremental]
    if rebuilt:
        lines += ["", "Computed anew in every batch, because changes alone cannot tell:"]
    for node in rebuilt:
        lines += wrap(f"{node.name}: {'; '.join(node.rebuild_reasons)}", width, "  ", "    ")
    return "\n".join(lines)


def _rows(loaded: Loaded, lattice: Lattice) -> Iterator[tuple[str, str, str]]:
    warehouse = loaded.warehouse
    for fact in warehouse.facts:
        yield "fact", fact.name, _table_words(fact)
    for dimension in warehouse.dimensions:
        yield "dimension", dimension.name, _table_words(dimension)
    nodes = [*lattice.nodes.values()]
    for node in nodes:
        if node.view.cube is None:
            yield "summary table", node.name, _view_words(node)
    for cube in dict.fromkeys(node.view.cube for node in nodes if node.view.cube):
        tables = [node for node in nodes if node.view.cube == cube]
        yield "cube", cube, f"{counted(len(tables), 'summary table')} of {tables[0].view.fact}"
    for file in loaded.files:
        yield "file", str(file), ""


def _table_words(table: BaseTable) -> str:
    words = [counted(len(table.columns), "column")]
    if table.foreign_keys:
        words.append("joins " + ", ".join(key.name for key in table.foreign_keys))
    if table.hierarchies:
        plural = "hierarchies" if len(table.hierarchies) > 1 else "hierarchy"
        words.append(f"{plural} " + ", ".join(hierarchy.name for hierarchy in table.hierarchies))
    return "; ".join(words)


def _view_words(node: Node) -> str:
    keys = ", ".join(key.name for key in node.view.keys) or "nothing (one row)"
    measures = ", ".join(measure.name for measure in node.view.measures)
    return f"{node.view.fact} by {keys}: {measures or 'the groups alone'}"


def _aligned(rows: list[tuple[str, str, str]], width: int, style: Style) -> list[str]:
    from cubekeeper.report.words import Role, pad, visible, wrap

    kinds = max(len(kind) for kind, _, _ in rows)
    names = max(visible(name) for kind, name, _ in rows if kind != "file")
    lines = []
    for kind, name, words in rows:
        shown = pad(name, names) if words else name
        head = f"  {style(kind.ljust(kinds), Role.MUTED)}  {style(shown, Role.NAME)}"
        first, *rest = wrap(words, width, " " * (kinds + names + 6)) if words else [""]
        lines += [f"{head}  {first.strip()}" if words else head, *rest]
    return lines


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "fact"), counted(1200, "summary table")
    ('1 fact', '1,200 summary tables')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
