"""The lattice as a diagram: a card for every table, a link for every immediate derivation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cubekeeper.derive.edges import build_edge
from cubekeeper.lattice.choice import Candidate, Choice, Estimate, Maintenance
from cubekeeper.lattice.model import Lattice, Node, Origin
from cubekeeper.lattice.text import edge_sql
from cubekeeper.report.diagram.model import (
    Card,
    Chip,
    Code,
    Detail,
    Diagram,
    Grid,
    Key,
    Link,
    Tone,
)
from cubekeeper.report.sketch import Line, Mode, Sketch, measures
from cubekeeper.report.words import changes_words, number, plural, rows_text
from cubekeeper.warehouse.text import summary_table_sql

FULL_CARDS: Final = 300
"""Up to so many tables every card shows all; beyond, cards are compact and only chosen parents
are drawn."""

MANY_QUERIES: Final = 1500
"""Up to so many edges every query is in the page; beyond, only those of chosen parents."""

_LONG: Final = 90


def lattice_diagram(lattice: Lattice, maintenance: Maintenance, *, queries: bool = True) -> Diagram:
    """What to draw of a lattice and the choices made on it; only pages show `queries`."""
    sketch = Sketch(lattice, maintenance)
    compact = len(lattice.nodes) > FULL_CARDS
    bases = tuple(dict.fromkeys(node.view.fact for node in lattice.nodes.values()))
    all_queries = len(sketch.lines) <= MANY_QUERIES
    asked = {line for line in sketch.lines if queries and (line.chosen or all_queries)}
    links = tuple(
        Link(
            source=_source_id(sketch, line.parent, line.child),
            target=line.child,
            strong=line.chosen,
            label="" if compact else _link_label(line),
            drawn=line.chosen or line.parent is None or not compact,
            detail=_line_detail(sketch, line, query=line in asked),
        )
        for line in sketch.lines
    )
    return Diagram(
        title=f"{lattice.warehouse.name}: the lattice of its summary tables",
        description=_description(sketch),
        cards=(
            *(_base_card(sketch, fact) for fact in bases),
            *(_view_card(sketch, view) for view in lattice.nodes),
        ),
        links=links,
        legend=tuple(_legend(sketch)),
        overview=_overview(sketch),
        compact=compact,
        others="other ways",
        sought="a table or column",
    )


def _base_id(fact: str) -> str:
    """The id of a fact's card; a blank keeps it apart from every view of the same name."""
    return f"fact {fact}"


def _source_id(sketch: Sketch, parent: str | None, child: str) -> str:
    return _base_id(sketch.lattice.node(child).view.fact) if parent is None else parent


def _link_label(line: Line) -> str:
    cost = number(line.candidate.cost) if line.chosen and line.candidate else ""
    return " · ".join(part for part in (line.label, cost) if part)


def _base_card(sketch: Sketch, fact: str) -> Card:
    rows = sketch.base_rows(fact)
    change = sketch.maintenance.sizes.changes.of(fact)
    tables = [view for view, node in sketch.lattice.nodes.items() if node.view.fact == fact]
    read = [view for view in tables if sketch.tree[view] is None]
    return Card(
        id=_base_id(fact),
        title=fact,
        tone=Tone.BASE,
        figure=f"{rows_text(rows)} rows",
        lines=(f"{number(change.rows)} changed" if change else "fact table, unchanged",),
        detail=Detail(
            heading=fact,
            subtitle="fact table",
            facts=(
                ("rows", _estimate(rows)),
                ("changes", f"{number(change.rows)} rows" if change else "none"),
                ("summary tables over it", number(len(tables))),
                ("computed straight from it", number(len(read))),
            ),
            notes=tuple(
                text for text in (sketch.lattice.warehouse.fact(fact).description,) if text
            ),
        ),
    )


def _view_card(sketch: Sketch, view: str) -> Card:
    node = sketch.lattice.node(view)
    lines = [", ".join(measures(node))]
    hidden = sum(agg.origin is not Origin.DECLARED for agg in node.aggregates)
    if hidden:
        lines[0] += f" + {hidden} hidden"
    condition = sketch.filter(view)
    if condition:
        lines.append("where " + (condition if len(condition) <= _LONG else condition[:_LONG] + "…"))
    return Card(
        id=view,
        title=view,
        tone=Tone.VIEW if sketch.mode(view) is not Mode.REBUILT else Tone.REBUILT,
        figure=sketch.rows_words(view),
        chips=tuple(_chips(sketch, view, node)),
        lines=tuple(lines),
        remark=_remark(sketch, view),
        detail=_view_detail(sketch, view),
    )


def _remark(sketch: Sketch, view: str) -> str:
    match sketch.mode(view):
        case _ if not sketch.lattice.node(view).incremental:
            return "always rebuilt"
        case Mode.REBUILT:
            return "rebuilt this time"
        case Mode.UNTOUCHED:
            return Mode.UNTOUCHED.value
        case Mode.DELTA:
            return ""


def _chips(sketch: Sketch, view: str, node: Node) -> Iterator[Chip]:
    for key in node.keys:
        family = sketch.family(view, key.expr)
        yield Chip(
            text=key.name,
            hue=None if family is None else sketch.families[family],
            ghost=key.origin is not Origin.DECLARED,
            title=sketch.expression(view, key.expr),
        )


def _view_detail(sketch: Sketch, view: str) -> Detail:
    node = sketch.lattice.node(view)
    made = sketch.choice(view)
    reasons = sketch.rebuild_reasons(view)
    notes = [node.view.description] if node.view.description else []
    notes += [f"Rebuilt: {reason}." for reason in reasons]
    code = [Code("Declared", summary_table_sql(sketch.lattice.warehouse, node.view))]
    if made is not None:
        code.append(
            Code(
                f"Computed from {sketch.source(made.parent, view)}",
                edge_sql(sketch.lattice, made.edge),
            )
        )
    return Detail(
        heading=view,
        subtitle="summary table" if not node.view.cube else f"of the cube {node.view.cube}",
        facts=tuple(_view_facts(sketch, view)),
        notes=tuple(notes),
        code=tuple(code),
        grids=tuple(_view_grids(sketch, view)),
    )


def _view_facts(sketch: Sketch, view: str) -> Iterator[tuple[str, str]]:
    delta, made = sketch.delta(view), sketch.choice(view)
    yield "rows", _estimate(sketch.rows(view))
    if delta is not None:
        yield "rows of its delta", _estimate(delta)
    yield "in this batch", sketch.mode(view).value
    condition = sketch.filter(view)
    if condition:
        yield "filter", condition
    if made is not None:
        yield "computed from", sketch.way(view, made.chosen)
        yield "cost", _cost_parts(sketch, made.chosen)
        if sketch.again(view):
            yield "after deletions", sketch.again(view)


def _view_grids(sketch: Sketch, view: str) -> Iterator[Grid]:
    node = sketch.lattice.node(view)
    columns = [
        (key.name, sketch.expression(view, key.expr), _key_reason(key.origin)) for key in node.keys
    ]
    columns += [
        (agg.name, sketch.aggregate(view, place), agg.reason or agg.origin.value)
        for place, agg in enumerate(node.aggregates)
    ]
    yield Grid("Stored columns", ("column", "is", "because"), tuple(columns))
    made = sketch.choice(view)
    if made is not None:
        ways = (made.chosen, *made.runners_up)
        yield Grid(
            f"Ways to compute it ({_more(made)})" if made.more else "Ways to compute it",
            ("from", "join", "rows read", "cost"),
            tuple(_way_row(sketch, view, way) for way in ways),
            goto=tuple(_goto(sketch, way.parent, view) for way in ways),
            numeric=frozenset({2, 3}),
        )
    below = sketch.lines_below[view]
    if below:
        yield Grid(
            "Tables right below it",
            ("table", "join", "chosen"),
            tuple(
                (line.child, ", ".join(line.joins), "✓" if line.chosen else "") for line in below
            ),
            goto=tuple(line.child for line in below),
        )


def _goto(sketch: Sketch, parent: str | None, view: str) -> str | tuple[str, str]:
    """Where a way leads: to its link if there is one, else to the card at its other end."""
    source = _source_id(sketch, parent, view)
    return (source, view) if (parent, view) in sketch.shown else source


def _way_row(sketch: Sketch, view: str, way: Candidate) -> tuple[str, ...]:
    return (
        sketch.source(way.parent, view),
        ", ".join(sketch.roles(view, way.joins)),
        rows_text(way.rows_in),
        number(way.cost),
    )


def _more(made: Choice) -> str:
    return f"{number(made.more)} more are dearer"


def _key_reason(origin: Origin) -> str:
    return "group by" if origin is Origin.DECLARED else "carried for tables below"


def _line_detail(sketch: Sketch, line: Line, *, query: bool) -> Detail:
    source = sketch.source(line.parent, line.child)
    facts: list[tuple[str, str]] = [
        ("join", ", ".join(line.joins) if line.joins else "none needed"),
    ]
    made = sketch.choice(line.child)
    if line.candidate is not None:
        facts.append(("rows read", _estimate(line.candidate.rows_in)))
        facts.append(("rows out", _estimate(line.candidate.rows_out)))
        facts.append(("cost", _cost_parts(sketch, line.candidate)))
        if made is not None and not line.chosen:
            more = line.candidate.cost - made.chosen.cost
            instead = sketch.source(made.parent, line.child)
            facts.append(
                ("not chosen", f"{sketch.cost(more)} more than from {instead}")
                if more > 0
                else ("not chosen", f"costs the same as from {instead}")
            )
    if line.chosen and made is not None:
        facts.append(("chosen", _why(sketch, made)))
    code = []
    if query:
        text = edge_sql(sketch.lattice, build_edge(sketch.lattice, line.parent, line.child))
        code.append(Code("Query of this edge", text))
    return Detail(
        heading=f"{source} → {line.child}",
        subtitle="chosen parent" if line.chosen else "another way to derive it",
        facts=tuple(facts),
        code=tuple(code),
    )


def _why(sketch: Sketch, made: Choice) -> str:
    if not made.runners_up:
        return "the only way"
    second = made.runners_up[0]
    gap = second.cost - made.chosen.cost
    other = sketch.source(second.parent, made.view)
    if gap == 0:
        return f"as cheap as from {other}, the next best"
    return f"{sketch.cost(gap)} less than from {other}, the next best"


def _cost_parts(sketch: Sketch, way: Candidate) -> str:
    parts = [("read", way.read_cost), ("join", way.join_cost), ("write", way.write_cost)]
    parts.append(("start", way.stage_cost))
    told = " + ".join(f"{number(cost)} {word}" for word, cost in parts if cost)
    return f"{sketch.cost(way.cost)}" + (f" = {told}" if told else "")


def _estimate(estimate: Estimate) -> str:
    how = f": {estimate.how}" if estimate.how else ""
    return f"{rows_text(estimate)} ({estimate.source}{how})"


def _legend(sketch: Sketch) -> Iterator[Key]:
    if any(line.chosen for line in sketch.lines):
        yield Key("strong", f"chosen parent: join · cost in {sketch.unit}")
    if any(not line.chosen for line in sketch.lines):
        yield Key("faint", "other way to derive it")
    nodes = sketch.lattice.nodes
    if any(sketch.mode(view) is Mode.REBUILT for view in nodes):
        yield Key("rebuilt", "rebuilt")
    if any(key.origin is not Origin.DECLARED for node in nodes.values() for key in node.keys):
        yield Key("ghost", "stored for tables below, hidden")
    if len(sketch.families) <= 8:
        for family, hue in sketch.families.items():
            yield Key("chip", family, hue)


def _overview(sketch: Sketch) -> Detail:
    lattice, maintenance = sketch.lattice, sketch.maintenance
    chosen = sum(line.chosen for line in sketch.lines)
    return Detail(
        heading=lattice.warehouse.name,
        subtitle=lattice.warehouse.description,
        facts=(
            ("summary tables", number(len(lattice.nodes))),
            ("ways shown", f"{number(len(sketch.lines))}, {number(chosen)} of them chosen"),
            ("changes", changes_words(maintenance.sizes.changes)),
            ("cost of propagate", sketch.cost(maintenance.propagate_cost)),
            ("cost in the window", sketch.cost(maintenance.window_cost)),
        ),
        notes=("Point at a table or an arrow to see its query and figures; click to keep it.",),
    )


def _description(sketch: Sketch) -> str:
    parts = [
        f"{child} is computed from {sketch.source(parent, child)}"
        for child, parent in sketch.tree.items()
    ]
    shown = "; ".join(parts[:40])
    rest = f"; and {len(parts) - 40} more" if len(parts) > 40 else ""
    return f"{plural(len(parts), 'summary table')}. {shown}{rest}."
