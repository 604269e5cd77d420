"""Advice on which tables to keep, and what a change of the lattice would do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from cubekeeper.lattice.advice import Advice, Limits
from cubekeeper.lattice.what_if import Figures, ViewDifference, ViewFigures, WhatIf
from cubekeeper.report.words import (
    Role,
    Style,
    compared,
    listed,
    number,
    plain,
    plural,
    said,
    signed,
    table,
    terminal_width,
)

Data = dict[str, object]


def advice_text(advice: Advice, *, width: int | None = None, style: Style = plain) -> str:
    """The tables to keep, best first, what each brings, and those to leave with the reason."""
    width = terminal_width(width)
    lines = [style("Summary tables worth keeping, best first", Role.HEADING)]
    for remark in _terms(advice):
        lines += said(remark, width, style)
    lines.append("")
    if advice.picks:
        lines += table(
            ("keep", "benefit", "queries save", "maintenance", "rows", "query cost then"),
            [
                (
                    pick.view,
                    number(pick.benefit),
                    number(pick.saved),
                    number(pick.maintenance),
                    number(pick.space),
                    number(pick.total_query_cost),
                )
                for pick in advice.picks
            ],
            numeric=range(1, 6),
            style=style,
        )
        lines += ["", *said(_sum(advice), width, style)]
    else:
        lines += said("None: no table is worth what it costs within the limits.", width, style)
    if advice.declined:
        lines.append("")
        lines += table(
            ("leave", "benefit", "rows", "because"),
            [
                (left.view, number(left.benefit), number(left.space), left.reason)
                for left in advice.declined
            ],
            numeric=(1, 2),
            width=width,
            style=style,
        )
    return "\n".join(lines) + "\n"


def advice_data(advice: Advice) -> Data:
    """The advice as JSON-able data."""
    return {
        "unit": advice.unit,
        "ranking": advice.ranking.value,
        "limits": asdict(advice.limits),
        "exchange": advice.exchange,
        "query_cost": advice.query_cost,
        "keep": [asdict(pick) for pick in advice.picks],
        "leave": [asdict(left) for left in advice.declined],
    }


def _terms(advice: Advice) -> Iterator[str]:
    yield f"ranked by {advice.ranking.value}; limits: {_limits(advice.limits, advice.unit)}"
    if advice.exchange:
        yield (
            f"benefit = tuples that queries no longer read − {number(advice.exchange)} × "
            f"maintenance in {advice.unit}"
        )
    else:
        yield "benefit = tuples that queries no longer read; maintenance is not counted"


def _limits(limits: Limits, unit: str) -> str:
    parts = []
    if limits.tables is not None:
        parts.append(f"at most {plural(limits.tables, 'table')}")
    if limits.space is not None:
        parts.append(f"at most {plural(limits.space, 'row')}")
    if limits.window is not None:
        parts.append(f"maintenance at most {number(limits.window)} {unit}")
    return listed(parts) or "none"


def _sum(advice: Advice) -> str:
    last = advice.picks[-1]
    return (
        f"Together: {plural(last.total_space, 'row')} stored, {number(last.total_maintenance)} "
        f"{advice.unit} of maintenance, and queries read {number(last.total_query_cost)} tuples "
        f"instead of {number(advice.query_cost)}: "
        f"{compared(last.total_query_cost, advice.query_cost, 'without any')}."
    )


def what_if_text(what_if: WhatIf, *, width: int | None = None, style: Style = plain) -> str:
    """Costs before and after, and every table for which something changes."""
    width = terminal_width(width)
    lines = [style(f"What if: {_question(what_if)}", Role.HEADING)]
    lines += ["", *_figures(what_if, style), ""]
    if what_if.views:
        lines += table(
            ("table", "cost before", "after", "what changes"),
            [
                (
                    difference.view,
                    _kept_cost(difference.before),
                    _kept_cost(difference.after),
                    "; ".join(_effects(difference)) or "its cost",
                )
                for difference in what_if.views
            ],
            numeric=(1, 2),
            width=width,
            style=style,
        )
    else:
        lines += said("Nothing changes for any table.", width, style)
    return "\n".join(lines) + "\n"


def what_if_data(what_if: WhatIf) -> Data:
    """The comparison as JSON-able data."""
    return {
        "unit": what_if.unit,
        "added": list(what_if.added),
        "dropped": list(what_if.dropped),
        "before": asdict(what_if.before),
        "after": asdict(what_if.after),
        "views": [
            {
                "view": difference.view,
                "before": asdict(difference.before),
                "after": asdict(difference.after),
                "parent_changes": difference.parent_changes,
            }
            for difference in what_if.views
        ],
    }


def _question(what_if: WhatIf) -> str:
    parts = []
    if what_if.added:
        parts.append(f"{listed(what_if.added)} added")
    if what_if.dropped:
        parts.append(f"{listed(what_if.dropped)} dropped")
    return "; ".join(parts) or "nothing added or dropped"


def _figures(what_if: WhatIf, style: Style) -> list[str]:
    unit = what_if.unit
    rows = [
        (f"propagate ({unit})", "propagate"),
        (f"window ({unit})", "window"),
        ("rows stored", "space"),
        ("tuples that queries read", "queries"),
    ]
    return table(
        ("", "before", "after", "difference"),
        [
            (
                name,
                number(_of(what_if.before, field)),
                number(_of(what_if.after, field)),
                signed(_of(what_if.after, field) - _of(what_if.before, field)),
            )
            for name, field in rows
        ],
        numeric=(1, 2, 3),
        style=style,
    )


def _of(figures: Figures, field: str) -> float:
    return float(asdict(figures)[field])


def _kept_cost(figures: ViewFigures) -> str:
    return "–" if figures.mode is None else number(figures.cost)


def _effects(difference: ViewDifference) -> Iterator[str]:
    before, after = difference.before, difference.after
    if before.mode is None and after.mode is not None:
        yield f"is kept: {_maintained(after)}"
    elif before.mode is not None and after.mode is None:
        yield "is no longer kept"
    elif difference.parent_changes or before.mode != after.mode:
        yield f"{_maintained(after)} instead of {_maintained(before)}"
    if before.answered_by != after.answered_by or before.query_cost != after.query_cost:
        answer = after.answered_by or "the fact"
        change = signed(after.query_cost - before.query_cost)
        yield f"its queries are answered by {answer} ({change} tuples)"


def _maintained(figures: ViewFigures) -> str:
    match figures.mode:
        case "untouched" | None:
            return "untouched"
        case mode:
            return f"{mode} from {figures.parent or 'the base'}"
