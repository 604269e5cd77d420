"""One summary table told whole: `explain VIEW`."""

from __future__ import annotations

from collections.abc import Iterator

from cubekeeper.derive.edges import build_edge
from cubekeeper.lattice.choice import Choice, Maintenance
from cubekeeper.lattice.model import Lattice, Origin
from cubekeeper.lattice.text import edge_sql
from cubekeeper.report.sketch import Mode, Sketch
from cubekeeper.report.words import (
    Role,
    Style,
    clean,
    number,
    plain,
    query_lines,
    rows_text,
    said,
    table,
    terminal_width,
    wrap,
)
from cubekeeper.scalar.nodes import StoredRef
from cubekeeper.warehouse.text import summary_table_sql


def view_text(
    lattice: Lattice,
    maintenance: Maintenance,
    name: str,
    *,
    width: int | None = None,
    style: Style = plain,
) -> str:
    """Declaration, stored columns, what readers see, how it is kept, and its ways in and out."""
    width = terminal_width(width)
    sketch = Sketch(lattice, maintenance)
    sections = [
        _summary(sketch, name, width, style),
        ["", style("Declared", Role.HEADING), *query_lines(_declared(sketch, name), style)],
        ["", style("Stored columns", Role.HEADING), *_columns(sketch, name, width, style)],
        _outputs(sketch, name, width, style),
        ["", style("Kept up to date", Role.HEADING), *_maintenance(sketch, name, width, style)],
        _ways(sketch, name, width, style),
        _below(sketch, name, width, style),
    ]
    return "\n".join(line for section in sections for line in section) + "\n"


def _summary(sketch: Sketch, name: str, width: int, style: Style) -> list[str]:
    node = sketch.lattice.node(name)
    lines = [style(f"{clean(name)}: a summary table of {clean(node.view.fact)}", Role.HEADING)]
    if node.view.description:
        lines += said(node.view.description, width, style)
    if node.view.cube:
        lines += said(f"expanded from the cube {node.view.cube}", width, style)
    rows = sketch.rows(name)
    lines += said(f"rows: {rows_text(rows)} ({rows.source}) {rows.how}".rstrip(), width, style)
    return lines


def _declared(sketch: Sketch, name: str) -> str:
    return summary_table_sql(sketch.lattice.warehouse, sketch.lattice.node(name).view)


def _columns(sketch: Sketch, name: str, width: int, style: Style) -> list[str]:
    node = sketch.lattice.node(name)
    rows = [
        (
            key.name,
            "declared" if key.origin is Origin.DECLARED else "hidden",
            "group by" if key.origin is Origin.DECLARED else "carried for tables below",
            sketch.expression(name, key.expr),
        )
        for key in node.keys
    ]
    rows += [
        (
            stored.name,
            "declared" if stored.origin is Origin.DECLARED else "hidden",
            stored.reason or "measure",
            sketch.aggregate(name, place),
        )
        for place, stored in enumerate(node.aggregates)
    ]
    return table(("column", "", "because", "is"), rows, width=width, style=style)


def _outputs(sketch: Sketch, name: str, width: int, style: Style) -> list[str]:
    """What readers see that is not simply a stored column."""
    rows = [
        (output.name, sketch.expression(name, output.expr))
        for output in sketch.lattice.node(name).outputs
        if not (isinstance(output.expr, StoredRef) and output.expr.column == output.name)
    ]
    if not rows:
        return []
    heading = style("Computed for readers", Role.HEADING)
    return ["", heading, *table(("column", "from what is stored"), rows, width=width, style=style)]


def _maintenance(sketch: Sketch, name: str, width: int, style: Style) -> Iterator[str]:
    node = sketch.lattice.node(name)
    made, delta = sketch.choice(name), sketch.delta(name)
    lines = [f"policy {node.view.policy.value}; in this batch {sketch.mode(name).value}"]
    lines += [f"because: {reason}" for reason in sketch.rebuild_reasons(name)]
    if delta is not None and sketch.mode(name) is Mode.DELTA:
        lines.append(f"rows of its delta: {rows_text(delta)} ({delta.source}) {delta.how}".rstrip())
    if made is not None:
        lines.append(f"costs {sketch.cost(made.chosen.cost)}: {why(sketch, made)}")
        if made.instead is not None:
            other = "rebuilding" if sketch.mode(name) is Mode.DELTA else "a delta"
            lines.append(f"{other} instead would cost {sketch.cost(made.instead.cost)}")
    if sketch.again(name):
        lines.append(f"after deletions {sketch.again(name)}")
    for line in lines:
        yield from (style(part, Role.LABEL) for part in wrap(line, width, "  ", "    "))


def why(sketch: Sketch, made: Choice) -> str:
    """Why this parent, with the next best ways and their costs."""
    chosen = sketch.way(made.view, made.chosen)
    if not made.runners_up:
        return f"from {chosen}, the only way"
    others = "; ".join(
        f"{sketch.way(made.view, way)} {number(way.cost)}" for way in made.runners_up
    )
    more = f"; {number(made.more)} more" if made.more else ""
    return f"from {chosen} {number(made.chosen.cost)}, the least; then {others}{more}"


def _ways(sketch: Sketch, name: str, width: int, style: Style) -> Iterator[str]:
    """Its chosen way and its immediate parents, each with its query."""
    made = sketch.choice(name)
    covers = sketch.lattice.covers[name]
    parents = dict.fromkeys([*([made.parent] if made else []), *(covers or (None,))])
    for parent in parents:
        chosen = made is not None and parent == made.parent
        joins = sketch.joins(parent, name)
        label = f" ⋈ {', '.join(joins)}" if joins else ""
        mark = " (chosen)" if chosen else ""
        yield ""
        yield style(f"From {clean(sketch.source(parent, name) + label)}{mark}", Role.HEADING)
        yield from query_lines(
            edge_sql(sketch.lattice, build_edge(sketch.lattice, parent, name)), style
        )
    others = [p for p in sketch.lattice.parents(name) if p not in parents]
    if others:
        yield ""
        yield from said(f"It can also be derived from {', '.join(others)}.", width, style)


def _below(sketch: Sketch, name: str, width: int, style: Style) -> Iterator[str]:
    children = sketch.lattice.children[name]
    if not children:
        return
    shown = [
        child + (f" ⋈ {', '.join(joins)}" if (joins := sketch.joins(name, child)) else "")
        for child in children
    ]
    chosen = [child for child in children if sketch.tree[child] == name]
    yield ""
    yield style("Tables that can be derived from it", Role.HEADING)
    yield from (style(part, Role.LABEL) for part in wrap("; ".join(shown), width, "  "))
    if chosen:
        text = f"computed from it: {', '.join(chosen)}"
        yield from (style(part, Role.MUTED) for part in wrap(text, width, "  "))
