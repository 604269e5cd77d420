"""The plan as a diagram: a card for every stage, a link where one waits for another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cubekeeper.lattice.model import Lattice
from cubekeeper.lattice.text import edge_sql
from cubekeeper.plan.stages import Apply, Plan, Propagate, Publish, Rebuild, Seal, Stage
from cubekeeper.report.diagram.model import Card, Code, Detail, Diagram, Grid, Key, Link, Tone
from cubekeeper.report.plan import Told, told
from cubekeeper.report.words import changes_words, cost_text_of, number

FULL_CARDS: Final = 240
"""Up to so many stages every card shows all."""


def plan_diagram(plan: Plan, lattice: Lattice) -> Diagram:
    """What to draw of a plan."""
    words = {stage.id: told(plan, lattice, stage) for stage in plan.stages}
    compact = len(plan.stages) > FULL_CARDS
    gates = () if compact else tuple(_gates(plan))
    return Diagram(
        title=f"{plan.warehouse}: the plan of a batch",
        description=_description(plan, words),
        cards=(
            *(_card(plan, lattice, stage, words) for stage in plan.stages),
            *(_gate_card(gate, words) for gate in gates),
        ),
        links=(
            *_flow_links(plan, words),
            *_wait_links(plan, words, gates, drawn=not compact),
        ),
        legend=(
            Key("propagate", "while readers read"),
            Key("window", "in the window, in which tables change"),
            Key("strong", "data flows"),
            Key("faint", "only waits"),
        ),
        overview=Detail(
            heading=plan.warehouse,
            subtitle="the plan of a batch",
            facts=(
                ("changes", changes_words(plan.changes)),
                ("stages", number(len(plan.stages))),
                ("cost of propagate", cost_text_of(plan.propagate_cost, plan.unit)),
                ("cost in the window", cost_text_of(plan.window_cost, plan.unit)),
                ("untouched", ", ".join(plan.untouched) or "none"),
            ),
            notes=("Point at a stage to see what it reads and writes; click to keep it.",),
        ),
        compact=compact,
        others="waits",
        sought="a stage",
    )


def _card(plan: Plan, lattice: Lattice, stage: Stage, words: Mapping[str, Told]) -> Card:
    what = words[stage.id]
    return Card(
        id=stage.id,
        title=_title(what),
        tone=_tone(stage),
        figure="" if what.cost is None else number(what.cost),
        lines=tuple(f"{name} {value}" for name, value in what.facts if name in _ON_CARD),
        detail=Detail(
            heading=_title(what),
            subtitle="in the window" if stage.in_window else "while readers read",
            facts=(
                *what.facts,
                *((("cost", cost_text_of(what.cost, plan.unit)),) if what.cost is not None else ()),
            ),
            code=tuple(_code(lattice, stage)),
            grids=_waits(stage, words),
        ),
    )


_ON_CARD: Final = frozenset({"reads", "writes", "merges"})


def _title(what: Told) -> str:
    return f"{what.verb} {what.subject}"


def _tone(stage: Stage) -> Tone:
    match stage.action:
        case Seal() | Publish():
            return Tone.MARK
        case _:
            return Tone.WINDOW if stage.in_window else Tone.PROPAGATE


def _code(lattice: Lattice, stage: Stage) -> Iterator[Code]:
    match stage.action:
        case Propagate(choice=choice):
            caption = "Query, over the deltas of these tables"
            yield Code(caption, edge_sql(lattice, choice.edge))
        case Rebuild(choice=choice):
            yield Code("Query", edge_sql(lattice, choice.edge))
        case _:
            return


def _waits(stage: Stage, words: Mapping[str, Told]) -> tuple[Grid, ...]:
    if not stage.after:
        return ()
    rows = tuple((_title(words[name]),) for name in stage.after)
    return (Grid("Waits for", ("stage",), rows, goto=stage.after),)


@dataclass(frozen=True, slots=True)
class _Gate:
    """Several stages that all wait for the same several: drawn as one point that all pass."""

    name: str
    before: tuple[str, ...]
    behind: tuple[str, ...]


def _gates(plan: Plan) -> Iterator[_Gate]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for stage in plan.stages:
        waits = tuple(name for name in stage.after if not _flows(name, stage))
        if len(waits) > 1:
            groups.setdefault(waits, []).append(stage.id)
    for waits, behind in groups.items():
        if len(behind) > 1:
            applied = all(name.startswith("apply:") for name in waits)
            name = "base tables are changed" if applied else "all deltas are there"
            yield _Gate(name, waits, tuple(behind))


def _gate_card(gate: _Gate, words: Mapping[str, Told]) -> Card:
    rows = tuple((_title(words[name]),) for name in gate.before)
    grid = Grid("Waits for", ("stage",), rows, goto=gate.before)
    return Card(
        id=gate.name, title=gate.name, tone=Tone.MARK, detail=Detail(gate.name, grids=(grid,))
    )


def _flow_links(plan: Plan, words: Mapping[str, Told]) -> Iterator[Link]:
    for stage in plan.stages:
        for name in stage.after:
            if _flows(name, stage):
                heading = f"{_title(words[name])} → {_title(words[stage.id])}"
                yield Link(name, stage.id, strong=True, detail=Detail(heading, "data flows"))


def _wait_links(
    plan: Plan, words: Mapping[str, Told], gates: Sequence[_Gate], *, drawn: bool
) -> Iterator[Link]:
    """Who only waits for whom; a wait that follows from others is left out."""

    def wait(name: str, target: str, heading: str) -> Link:
        return Link(name, target, False, drawn=drawn, detail=Detail(heading, "only waits"))

    passed = {stage: gate for gate in gates for stage in gate.behind}
    for gate in gates:
        for name in gate.before:
            yield wait(name, gate.name, f"{_title(words[name])} → {gate.name}")
        for name in gate.behind:
            yield wait(gate.name, name, f"{gate.name} → {_title(words[name])}")
    before: dict[str, frozenset[str]] = {}
    for stage in plan.stages:
        implied = frozenset[str]().union(*(before[name] for name in stage.after))
        before[stage.id] = implied | frozenset(stage.after)
        covered = passed[stage.id].before if stage.id in passed else ()
        for name in stage.after:
            if not _flows(name, stage) and name not in implied and name not in covered:
                heading = f"{_title(words[name])} → {_title(words[stage.id])}"
                yield wait(name, stage.id, heading)


def _flows(before: str, stage: Stage) -> bool:
    """Whether a stage reads what another one has written."""
    match stage.action:
        case Propagate():
            return True
        case Publish() | Apply():
            return False
        case _:
            return not before.startswith("apply:")


def _description(plan: Plan, words: Mapping[str, Told]) -> str:
    titles = [_title(words[stage.id]) for stage in plan.stages]
    shown = "; ".join(titles[:40]) + ("; and more" if len(titles) > 40 else "")
    return f"{number(len(titles))} stages: {shown}."
