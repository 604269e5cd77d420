"""How much of a fact a filter lets through."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cubekeeper.derive.distinct import Profile
from cubekeeper.scalar.nodes import Call, ColumnRef, Expr, Literal, column_refs

_RANGE: Final = 1 / 3
_BETWEEN: Final = 1 / 4
_MATCH: Final = 1 / 10
_OTHER: Final = 1 / 2
"""Parts of the rows that are assumed to pass a condition of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of the rows that a condition on some columns lets through, and why so much."""

    columns: frozenset[ColumnRef]
    share: float
    why: str

    def __str__(self) -> str:
        return f"{' and '.join(sorted({ref.column for ref in self.columns}))} {self.why}".strip()


def selections(profile: Profile, conditions: Iterable[Expr]) -> tuple[Selection, ...]:
    """What each condition lets through; two bounds of one value are one condition."""
    bounds: dict[Expr, int] = {}
    found: list[Selection] = []
    for condition in conditions:
        columns = column_refs(condition)
        share, why = _share(profile, condition)
        match condition:
            case Call(function="<" | "<=" | ">" | ">=", args=(operand, *_)):
                if operand in bounds:
                    share, why = _BETWEEN, "between bounds, a quarter assumed"
                    found[bounds[operand]] = Selection(columns, share, why)
                    continue
                bounds[operand] = len(found)
            case _:
                pass
        found.append(Selection(columns, share, why))
    return tuple(found)


def _share(profile: Profile, condition: Expr) -> tuple[float, str]:
    match condition:
        case Literal(value=value):
            return (1.0 if value else 0.0), "constant"
        case Call(function="and", args=args):
            return _share_of_all(profile, args), "all of several conditions"
        case Call(function="or", args=args):
            return 1 - math.prod(1 - _share(profile, arg)[0] for arg in args), "any of several"
        case Call(function="not", args=(inner,)):
            share, why = _share(profile, inner)
            return 1 - share, f"not: {why}"
        case Call(function="=" | "<=>", args=(left, right)):
            count = max(_count(profile, left), _count(profile, right))
            return 1 / count, f"1 of {count:,.0f} values"
        case Call(function="<>", args=(left, right)):
            count = max(_count(profile, left), _count(profile, right))
            return (count - 1) / count, f"all but 1 of {count:,.0f} values"
        case Call(function="in", args=(operand, *items)):
            count = _count(profile, operand)
            return min(1.0, len(items) / count), f"{len(items)} of {count:,.0f} values"
        case Call(function="<" | "<=" | ">" | ">="):
            return _RANGE, "a range, a third assumed"
        case Call(function="is_null" | "like" | "ilike" | "rlike" | "startswith" | "endswith"):
            return _MATCH, "a tenth assumed"
        case _:
            return _OTHER, "half assumed"


def _share_of_all(profile: Profile, conditions: Iterable[Expr]) -> float:
    return math.prod(selection.share for selection in selections(profile, conditions))


def _count(profile: Profile, expr: Expr) -> float:
    return max(1.0, profile.distinct(expr).rows)
