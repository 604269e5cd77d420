"""The lattice for a terminal: every table once, under the parent from which it is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cubekeeper.derive.edges import build_edge
from cubekeeper.lattice.choice import Maintenance
from cubekeeper.lattice.model import Lattice, Origin
from cubekeeper.lattice.text import edge_sql
from cubekeeper.report.sketch import Line, Mode, Sketch, hidden_columns, measures
from cubekeeper.report.words import (
    Role,
    Style,
    changes_words,
    clean,
    number,
    pad,
    plain,
    plural,
    query_lines,
    rows_text,
    said,
    terminal_width,
    visible,
    wrap,
)


def lattice_text(
    lattice: Lattice,
    maintenance: Maintenance,
    *,
    sql: bool = False,
    width: int | None = None,
    style: Style = plain,
) -> str:
    """The lattice as a tree of chosen parents, with sizes and costs in columns.

    Columns in brackets are stored but not shown to readers. With `sql` the query of every edge
    follows.
    """
    width = terminal_width(width)
    sketch = Sketch(lattice, maintenance)
    if not lattice.nodes:
        return style(f"{clean(lattice.warehouse.name)}: no summary tables", Role.HEADING) + "\n"
    entries = list(_entries(sketch))
    columns = _Columns.of(sketch, entries, width)
    lines = [*_heading(sketch, width, style), "", columns.header(style)]
    for entry in entries:
        lines += columns.lines(entry, style)
    lines += ["", *_footnotes(sketch, width, style)]
    if sql:
        lines += _queries(sketch, style)
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A table of the tree: the branches before it, its name and label, figures and notes."""

    stem: str
    below: str
    label: str
    name: str
    figures: tuple[str, str, str]
    notes: tuple[tuple[str, Role], ...]

    @property
    def head(self) -> str:
        """The branch with label and name, as wide as it will be seen."""
        return self.stem + (f"{self.label}  " if self.label else "") + self.name


def _entries(sketch: Sketch) -> Iterator[_Entry]:
    children = sketch.children()
    others: dict[str, list[Line]] = {}
    for line in sketch.lines:
        if line.parent != sketch.tree[line.child]:
            others.setdefault(line.child, []).append(line)
    for fact in sketch.lattice.warehouse.facts:
        tops = [top for top in children.get(None, []) if _fact(sketch, top) == fact.name]
        if not tops:
            continue
        change = sketch.maintenance.sizes.changes.of(fact.name)
        figures = (
            rows_text(sketch.base_rows(fact.name)),
            number(change.rows) if change else "",
            "",
        )
        yield _Entry("", "", "", clean(fact.name), figures, ())
        stack = [(view, "", view == tops[-1]) for view in reversed(tops)]
        while stack:
            view, before, last = stack.pop()
            below = before + ("   " if last else "│  ")
            under = children.get(view, [])
            yield _view_entry(
                sketch,
                view,
                before + ("└─ " if last else "├─ "),
                below + ("│  " if under else "   "),
                others.get(view, []),
            )
            stack += [(child, below, child == under[-1]) for child in reversed(under)]


def _view_entry(sketch: Sketch, view: str, stem: str, below: str, others: list[Line]) -> _Entry:
    node = sketch.lattice.node(view)
    delta, made = sketch.delta(view), sketch.choice(view)
    label = sketch.joins(sketch.tree[view], view)
    keys = [_bracketed(key.name, key.origin) for key in node.keys]
    hidden = [
        _bracketed(agg.name, agg.origin)
        for agg in node.aggregates
        if agg.origin is not Origin.DECLARED
    ]
    notes = [
        (f"by {', '.join(keys)}" if keys else "one row for all", Role.LABEL),
        (", ".join([*measures(node), *hidden]), Role.MUTED),
    ]
    condition = sketch.filter(view)
    if condition:
        notes.append((f"where {condition}", Role.MUTED))
    if sketch.mode(view) is Mode.UNTOUCHED:
        notes.append((Mode.UNTOUCHED.value, Role.MUTED))
    reasons = sketch.rebuild_reasons(view)
    if reasons:
        only = "always rebuilt" if not node.incremental else "rebuilt"
        notes.append((f"{only}: {'; '.join(reasons)}", Role.WARN))
    if sketch.again(view):
        notes.append((f"after deletions {sketch.again(view)}", Role.MUTED))
    if others:
        ways = [" ".join(part for part in (line.parent, line.label) if part) for line in others]
        notes.append((f"or from {'; '.join(ways)}", Role.MUTED))
    return _Entry(
        stem,
        below,
        clean(f"⋈ {', '.join(label)}") if label else "",
        clean(view),
        (
            rows_text(sketch.rows(view)),
            rows_text(delta) if delta and sketch.mode(view) is Mode.DELTA else "",
            number(made.chosen.cost) if made else "",
        ),
        tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _Columns:
    """The widths of the tree and of the three columns of figures beside it."""

    heads: tuple[str, str, str]
    tree: int
    figures: tuple[int, int, int]
    width: int

    @classmethod
    def of(cls, sketch: Sketch, entries: list[_Entry], width: int) -> _Columns:
        heads = ("rows", "delta rows", sketch.unit)
        first, second, third = (
            max([visible(heads[place]), *(len(entry.figures[place]) for entry in entries)])
            for place in range(3)
        )
        room = width - first - second - third - 6
        wanted = max((visible(entry.head) for entry in entries), default=0)
        return cls(heads, max(min(wanted, room), 20), (first, second, third), width)

    def header(self, style: Style) -> str:
        return " " * self.tree + style(self._figures(self.heads), Role.MUTED)

    def lines(self, entry: _Entry, style: Style) -> Iterator[str]:
        label = style(entry.label, Role.LABEL) + "  " if entry.label else ""
        head = style(entry.stem, Role.MUTED) + label + style(entry.name, Role.NAME)
        figures = style(self._figures(entry.figures), Role.FIGURE)
        fill = self.tree - visible(entry.head)
        if fill >= 0:
            yield (head + " " * fill + figures).rstrip()
        else:
            yield head
            yield style(entry.below, Role.MUTED) + " " * (self.tree - len(entry.below)) + figures
        for note, role in entry.notes:
            room = max(self.width - len(entry.below), 24)
            for line in wrap(note, room, "", "  "):
                yield style(entry.below, Role.MUTED) + style(line, role)

    def _figures(self, figures: tuple[str, str, str]) -> str:
        cells = zip(figures, self.figures, strict=True)
        return "".join("  " + pad(text, room, right=True) for text, room in cells)


def _heading(sketch: Sketch, width: int, style: Style) -> Iterator[str]:
    lattice = sketch.lattice
    facts = {node.view.fact for node in lattice.nodes.values()}
    title = (
        f"{clean(lattice.warehouse.name)}: {plural(len(lattice.nodes), 'summary table')}"
        f" over {plural(len(facts), 'fact')}"
    )
    yield style(title, Role.HEADING)
    maintenance = sketch.maintenance
    yield from said(f"changes: {changes_words(maintenance.sizes.changes)}", width, style)
    cost = (
        f"cost: {number(maintenance.propagate_cost)} to propagate, and in the window "
        f"{sketch.cost(maintenance.window_cost)}"
    )
    yield from said(cost, width, style)


def _footnotes(sketch: Sketch, width: int, style: Style) -> Iterator[str]:
    sizes = sketch.maintenance.sizes
    sources = [*sizes.views.values(), *sizes.deltas.values(), *sizes.tables.values()]
    notes = []
    if any(hidden_columns(node) for node in sketch.lattice.nodes.values()):
        notes.append("[column]  stored, but hidden from readers")
    if any(line.label for line in sketch.lines):
        notes.append("⋈ name    the dimension to join on the way from the table above")
    if any(source.source not in ("given", "measured") for source in sources):
        notes.append("~         estimated or assumed, not given")
    for note in notes:
        for line in wrap(note, width, "", " " * 10):
            yield style(line, Role.MUTED)


def _queries(sketch: Sketch, style: Style) -> Iterator[str]:
    for line in sketch.lines:
        source = sketch.source(line.parent, line.child)
        mark = " (chosen)" if line.chosen else ""
        yield ""
        yield style(clean(f"{source} → {line.child} {line.label}".rstrip()) + mark, Role.HEADING)
        query = edge_sql(sketch.lattice, build_edge(sketch.lattice, line.parent, line.child))
        yield from query_lines(query, style)


def _bracketed(name: str, origin: Origin) -> str:
    return name if origin is Origin.DECLARED else f"[{name}]"


def _fact(sketch: Sketch, view: str) -> str:
    return sketch.lattice.node(view).view.fact
