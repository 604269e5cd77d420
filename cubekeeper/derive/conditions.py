"""Conditions on the values of terms, and a bounded search that refutes them.

A *term* is whatever has a value in each row: a column, a function of columns, a comparison. A
condition is built of facts "this term's value is in this set" by AND and OR only, so it is
two-valued: NULL is a value like any other, and SQL's third truth value is gone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, assert_never

from cubekeeper.derive.value_sets import ValueSet, intersection, union
from cubekeeper.scalar.nodes import Expr


@dataclass(frozen=True, slots=True)
class Order:
    """The term that says how two values compare: less (-1), equal (0) or greater (1)."""

    left: Expr
    right: Expr


Term = Expr | Order


@dataclass(frozen=True, slots=True)
class Fact:
    """The value of a term is in a set."""

    term: Term
    allowed: ValueSet


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; made by `every`."""

    parts: tuple[Condition, ...]
    size: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Any:
    """Some part holds; made by `some`."""

    parts: tuple[Condition, ...]
    size: int = field(default=1, compare=False)


Condition = Fact | All | Any

ALWAYS: Final = All(())
NEVER: Final = Any(())

LARGEST: Final = 2_000
"""The most facts in a condition; a larger one is weakened to `ALWAYS`, which proves nothing."""


def every(parts: Iterable[Condition]) -> Condition:
    """The conjunction; facts about one term become one."""
    facts, others = _gathered(inner for part in parts for inner in _parts(part, All))
    joined = [Fact(term, intersection(sets)) for term, sets in facts.items()]
    if NEVER in others or not all(fact.allowed for fact in joined):
        return NEVER
    return _bounded(All, (*joined, *others))


def some(parts: Iterable[Condition]) -> Condition:
    """The disjunction; facts about one term become one."""
    facts, others = _gathered(inner for part in parts for inner in _parts(part, Any))
    if ALWAYS in others:
        return ALWAYS
    return _bounded(Any, (*(Fact(term, union(sets)) for term, sets in facts.items()), *others))


def _bounded(kind: type[All] | type[Any], parts: tuple[Condition, ...]) -> Condition:
    if len(parts) == 1:
        return parts[0]
    size = 1 + sum(1 if isinstance(part, Fact) else part.size for part in parts)
    return kind(parts, size) if size <= LARGEST else ALWAYS


def _parts(condition: Condition, kind: type[All] | type[Any]) -> tuple[Condition, ...]:
    if isinstance(condition, Fact) or not isinstance(condition, kind):
        return (condition,)
    return condition.parts


def _gathered(
    parts: Iterable[Condition],
) -> tuple[dict[Term, list[ValueSet]], dict[All | Any, None]]:
    facts: dict[Term, list[ValueSet]] = {}
    others: dict[All | Any, None] = {}
    for part in parts:
        if isinstance(part, Fact):
            facts.setdefault(part.term, []).append(part.allowed)
        else:
            others[part] = None
    return facts, others


class _OutOfWork(Exception):
    """The search was given up."""


@dataclass
class _Work:
    left: int

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _OutOfWork


def refuted(condition: Condition, work: int) -> bool:
    """Whether no values of the terms can satisfy a condition, as far as `work` steps show.

    Terms are taken to be independent of each other, so True is a proof; False is no proof
    of the contrary.
    """
    try:
        return _refuted({}, [condition], _Work(work))
    except _OutOfWork:
        return False


def _refuted(known: dict[Term, ValueSet], todo: list[Condition], work: _Work) -> bool:
    """Take in what is certain, then try each way to satisfy the narrowest disjunction."""
    choices: list[Any] = []
    while todo:
        while todo:
            work.spend()
            part = todo.pop()
            match part:
                case Fact(term, allowed):
                    narrowed = intersection((known[term], allowed)) if term in known else allowed
                    if not narrowed:
                        return True
                    known[term] = narrowed
                case All(parts=parts):
                    todo.extend(parts)
                case Any():
                    choices.append(part)
                case _:
                    assert_never(part)
        open_choices: list[Any] = []
        for choice in choices:
            ways = _open_ways(choice, known, work)
            if ways is None:
                continue
            if not ways:
                return True
            if len(ways) == 1:
                todo.append(ways[0])
            else:
                open_choices.append(Any(ways))
        choices = open_choices
    if not choices:
        return False
    narrowest = min(choices, key=lambda choice: len(choice.parts))
    others = [choice for choice in choices if choice is not narrowest]
    return all(_refuted(dict(known), [way, *others], work) for way in narrowest.parts)


def _open_ways(
    choice: Any, known: dict[Term, ValueSet], work: _Work
) -> tuple[Condition, ...] | None:
    """The parts of a disjunction that what is known does not exclude; None if it holds anyway."""
    ways = []
    for part in choice.parts:
        work.spend()
        if isinstance(part, Fact) and part.term in known and known[part.term] <= part.allowed:
            return None
        facts = part.parts if isinstance(part, All) else (part,)
        if not any(isinstance(fact, Fact) and _excluded(fact, known) for fact in facts):
            ways.append(part)
    return tuple(ways)


def _excluded(fact: Fact, known: dict[Term, ValueSet]) -> bool:
    return fact.term in known and not intersection((known[fact.term], fact.allowed))
