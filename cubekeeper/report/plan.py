"""The plan of a batch for people: what is read, joined and written, in order, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from cubekeeper.lattice.choice import Candidate, Choice, Term, Version
from cubekeeper.lattice.model import Lattice, Origin
from cubekeeper.plan.stages import (
    Action,
    Apply,
    Plan,
    Propagate,
    Publish,
    Rebuild,
    Recompute,
    Refresh,
    Seal,
    Stage,
)
from cubekeeper.report.words import (
    Role,
    Style,
    changes_words,
    clean,
    cost_text_of,
    listed,
    number,
    pad,
    plain,
    plural,
    rows_phrase,
    said,
    terminal_width,
    visible,
    wrap,
)


def plan_text(
    plan: Plan,
    lattice: Lattice,
    *,
    reasons: bool = True,
    width: int | None = None,
    style: Style = plain,
) -> str:
    """The stages of a plan in order, those before the window and those in it.

    With `reasons` it also says why each parent was chosen, and which columns are kept for what.
    """
    width = terminal_width(width)
    lines = [style(f"{clean(plan.warehouse)}: the plan of a batch", Role.HEADING)]
    lines += said(f"changes: {changes_words(plan.changes)}", width, style)
    if not plan.stages:
        lines += said("Nothing has changed: there is nothing to do.", width, style)
        return "\n".join(lines) + "\n"
    stages = list(enumerate(plan.stages, start=1))
    for title, inside, cost in (
        ("Propagate, while readers read", False, plan.propagate_cost),
        ("The window, in which tables change", True, plan.window_cost),
    ):
        lines += ["", _heading(title, cost_text_of(cost, plan.unit), width, style)]
        for place, stage in stages:
            if stage.in_window is inside:
                lines += _stage(place, told(plan, lattice, stage), reasons, width, style)
    lines.append("")
    if reasons:
        lines += _columns(plan, lattice, width, style)
    if plan.untouched:
        lines += said(f"Untouched by these changes: {', '.join(plan.untouched)}.", width, style)
    return "\n".join(lines).rstrip("\n") + "\n"


REASONS: Final = frozenset({"form", "because", "why so", "instead"})
"""The particulars of a stage that say why, not what."""


@dataclass(frozen=True, slots=True)
class Told:
    """A stage in words: what it does, to what, what it costs, and the particulars."""

    verb: str
    subject: str
    cost: float | None
    facts: tuple[tuple[str, str], ...]


def told(plan: Plan, lattice: Lattice, stage: Stage) -> Told:
    """A stage of a plan in words."""
    action: Action = stage.action
    match action:
        case Seal(tables=tables):
            counts = [f"{number(plan.changes.rows(table))} of {table}" for table in tables]
            return Told("seal", f"the changes: {', '.join(counts)}", None, ())
        case Propagate(view=view, choice=choice):
            return Told("propagate", view, action.cost, tuple(_propagate(lattice, action, choice)))
        case Apply(table=table, rows=rows, cost=cost):
            return Told("apply", table, cost, (("writes", plural(rows, "changed row")),))
        case Refresh(view=view, rows=rows, cost=cost):
            facts = [
                ("merges", f"the delta of {view}, {rows_phrase(rows)}"),
                ("form", f"{action.path.value}: {action.reason}"),
            ]
            if action.recompute:
                text = f"{listed(action.recompute)} for groups that lost their extreme value"
                facts.append(("checks", text))
            return Told("refresh", view, cost, tuple(facts))
        case Rebuild(view=view, choice=choice, reason=reason):
            facts = [
                ("reads", _read(lattice, choice, anew=True)),
                ("writes", f"{rows_phrase(choice.chosen.rows_out)}"),
                ("because", reason),
                ("why so", _why(lattice, choice, choice.chosen.cost, anew=True)),
            ]
            if choice.instead is not None:
                facts.append(("instead", f"a delta would cost {number(choice.instead.cost)}"))
            return Told("rebuild", view, action.cost, tuple(facts))
        case Recompute(groups=groups):
            return Told(
                "recompute",
                _some([view for view, _ in groups]),
                action.cost,
                tuple(
                    (
                        view,
                        f"about {plural(max(1, round(expected.groups)), 'group')} of "
                        f"{listed(expected.columns)}, {number(expected.rows_in)} rows read",
                    )
                    for view, expected in groups
                ),
            )
        case Publish(views=views):
            what = plural(len(views), "summary table")
            return Told("publish", f"{what} together", None, ())
        case _:
            assert_never(action)


def _some(views: Sequence[str]) -> str:
    """A few names, or how many there are."""
    return ", ".join(views) if len(views) <= 4 else plural(len(views), "summary table")


def _propagate(lattice: Lattice, action: Propagate, choice: Choice) -> Iterator[tuple[str, str]]:
    for term in action.terms:
        yield "reads", _term(lattice, choice, term)
    yield "writes", f"the delta of {action.view}, {rows_phrase(action.delta)}"
    yield "why so", _why(lattice, choice, choice.chosen.compute_cost, anew=False)
    if choice.instead is not None:
        yield "instead", f"rebuilding would cost {number(choice.instead.cost)}"


def _source(lattice: Lattice, view: str, parent: str | None) -> str:
    return lattice.node(view).view.fact if parent is None else parent


def _term(lattice: Lattice, choice: Choice, term: Term) -> str:
    """One summand of a delta: the state of the source, and of each dimension joined to it."""
    source = _source(lattice, choice.view, choice.parent)
    if term.source is Version.DELTA:
        what = f"the changes of {source}" if choice.parent is None else f"the delta of {source}"
    else:
        what = f"{source} as it was" if term.source is Version.OLD else source
    joins = [
        {
            Version.NEW: dimension,
            Version.OLD: f"{dimension} as it was",
            Version.DELTA: f"the changes of {dimension}",
        }[version]
        for dimension, version in term.joins
    ]
    return f"{what}, {plural(round(term.rows_in), 'row')}" + (
        f" ⋈ {', '.join(joins)}" if joins else ""
    )


def _read(lattice: Lattice, choice: Choice, *, anew: bool) -> str:
    source = _source(lattice, choice.view, choice.parent)
    joins = choice.edge.label
    what = source if anew or choice.parent is None else f"the delta of {source}"
    return f"{what}, {rows_phrase(choice.chosen.rows_in)}" + (
        f" ⋈ {', '.join(joins)}" if joins else ""
    )


def _why(lattice: Lattice, choice: Choice, cost: float, *, anew: bool) -> str:
    """Why this parent: its cost beside those of the next best ways."""
    if not choice.runners_up:
        return "the only way"

    def name(way: Candidate) -> str:
        fact = lattice.node(choice.view).view.fact
        joins = [lattice.warehouse.alias(fact, path) for path in way.joins]
        return _source(lattice, choice.view, way.parent) + (
            f" ⋈ {', '.join(joins)}" if joins else ""
        )

    others = "; ".join(
        f"{name(way)} {number(way.cost if anew else way.compute_cost)}" for way in choice.runners_up
    )
    more = f"; {number(choice.more)} more" if choice.more else ""
    return f"{name(choice.chosen)} {number(cost)} is the least; then {others}{more}"


def _heading(title: str, figure: str, width: int, style: Style) -> str:
    gap = max(2, width - visible(title) - visible(figure))
    return style(title, Role.HEADING) + " " * gap + style(figure, Role.FIGURE)


def _stage(place: int, stage: Told, reasons: bool, width: int, style: Style) -> Iterator[str]:
    start = f"{place:>4}  {pad(stage.verb, 11)}"
    figure = "" if stage.cost is None else number(stage.cost)
    subject = wrap(stage.subject, width - visible(start) - visible(figure) - 3)
    gap = max(2, width - visible(start) - visible(subject[0]) - visible(figure))
    head = style(start, Role.MUTED) + style(subject[0], Role.NAME)
    yield (head + " " * gap + style(figure, Role.FIGURE)).rstrip() if figure else head
    for more in subject[1:]:
        yield " " * visible(start) + style(more, Role.NAME)
    facts = [fact for fact in stage.facts if reasons or fact[0] not in REASONS]
    room = max((visible(name) for name, _ in facts), default=0)
    indent = " " * (visible(start) + 2)
    for name, value in facts:
        first = indent + pad(clean(name), room) + "  "
        for line_place, line in enumerate(wrap(value, width - len(first))):
            lead = first if line_place == 0 else " " * visible(first)
            yield style(lead, Role.MUTED) + style(line, Role.LABEL)


def _columns(plan: Plan, lattice: Lattice, width: int, style: Style) -> Iterator[str]:
    """The columns that the tool keeps beside the declared ones, and why."""
    views = [s.action.view for s in plan.stages if isinstance(s.action, Propagate | Rebuild)]
    rows: list[tuple[str, str, str]] = []
    for view in views:
        node = lattice.node(view)
        rows += [
            (view, key.name, "carried for tables below")
            for key in node.keys
            if key.origin is not Origin.DECLARED
        ]
        rows += [
            (view, stored.name, stored.reason)
            for stored in node.aggregates
            if stored.origin is not Origin.DECLARED
        ]
    if not rows:
        yield style("Every stored column is a declared one.", Role.MUTED)
        return
    yield style("Stored beside the declared columns, hidden from readers", Role.HEADING)
    seen = ""
    for view, column, reason in rows:
        if view != seen:
            yield style(f"  {clean(view)}", Role.NAME)
            seen = view
        for line in wrap(f"{column}: {reason}", width, "    ", "      "):
            yield style(line, Role.LABEL)
