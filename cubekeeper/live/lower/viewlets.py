"""The viewlet transform: a map, its deltas, the maps that those read, and so on (section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from cubekeeper.live.calculus.build import add, factors, map_atom, mul, sum_over, terms
from cubekeeper.live.calculus.nodes import (
    ZERO,
    Atom,
    AtomKind,
    Exists,
    Extreme,
    Let,
    Lift,
    Query,
    Sum,
    Var,
)
from cubekeeper.live.calculus.substitution import substitute
from cubekeeper.live.calculus.types import ring_type
from cubekeeper.live.calculus.variables import Names, free, fresh, modes, var_table, walk
from cubekeeper.live.lower.materialize import NESTED, Materializer, over_base_tables
from cubekeeper.live.lower.signature import signature
from cubekeeper.live.m3.nodes import (
    Effect,
    Event,
    MapDecl,
    Program,
    Relation,
    Statement,
    Trigger,
    View,
)
from cubekeeper.live.transform.decompose import decompose
from cubekeeper.live.transform.delta import batch, delta, single
from cubekeeper.live.transform.domain import domain
from cubekeeper.live.transform.expand import monomials
from cubekeeper.live.transform.factorize import factorize
from cubekeeper.live.transform.passes import Rule, Trace, rewrite
from cubekeeper.live.transform.rules import simplify
from cubekeeper.scalar.nodes import ColumnRef


class Mode(Enum):
    """How much is kept."""

    DEPTH_0 = "depth-0"
    """Copies of the base tables; views are evaluated anew after every change."""
    DEPTH_1 = "depth-1"
    """Copies of the base tables; views are changed by their deltas: classical maintenance."""
    NAIVE = "naive"
    """Deltas of deltas, each kept whole."""
    OPTIMIZED = "optimized"
    """Deltas of deltas, taken apart where that is cheaper."""


MOST_TERMS = 64
"""A delta with more products than this is not worth its maps: the map is evaluated anew."""

MOST_MAPS = 300
"""With more maps than this, further deltas read copies of the base tables instead of new maps."""

FINISH = (Rule("factorize", factorize), Rule("decompose", decompose))


@dataclass
class Compiler:
    """The maps and triggers of a program while they are being made."""

    relations: Sequence[Relation]
    mode: Mode = Mode.OPTIMIZED
    trace: Trace | None = None
    fired: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_signature: dict[str, MapDecl] = {}
        self._queue: list[MapDecl] = []
        self._spreading: dict[tuple[Query, str], bool] = {}
        self._stem = "map"
        self._prefix = "x_"  # of trigger arguments: no other variable begins with it
        self._names: set[str] = set()
        self._changing = [r for r in self.relations if not r.static]

    def compile(self, views: Iterable[View]) -> Program:
        """A program for views whose queries are over relations."""
        views = tuple(views)
        taken = {name for view in views for name in var_table(view.query)}
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix = f"x{self._prefix}"
        done = tuple(self._view(view) for view in views)
        triggers: dict[tuple[str, Event], list[Statement]] = {}
        at = 0
        while at < len(self._queue):
            declared = self._queue[at]
            at += 1
            for relation in self._changing:
                for event in Event:
                    key = (relation.name, event)
                    triggers.setdefault(key, []).extend(self._maintain(declared, relation, event))
        listed = tuple(
            Trigger(
                event, name, self._args(name) if event is not Event.BATCH else (), ordered(body)
            )
            for (name, event), body in triggers.items()
            if body
        )
        return Program(tuple(self.relations), tuple(self._queue), listed, done)

    def _args(self, name: str) -> tuple[Var, ...]:
        relation = next(r for r in self.relations if r.name == name)
        return tuple(replace(c, column=f"{self._prefix}{c.column}") for c in relation.columns)

    # --- views

    def _view(self, view: View) -> View:
        self._stem = view.name
        query = simplify(view.query, self.trace)
        if self.mode in (Mode.DEPTH_0, Mode.DEPTH_1):
            whole = self._whole(view, query)
            return replace(view, query=whole)
        root = self._materializer(view.name, inline_nested=not _has_open_atoms(query))
        return replace(view, query=self._finished(root.materialize(query)))

    def _whole(self, view: View, query: Query) -> Query:
        columns = frozenset(c.column for c in view.columns)
        return self._declare(sum_over(sorted(free(query) - columns), query))

    def _materializer(
        self, name: str, *, inline_nested: bool = False, args: Names = frozenset()
    ) -> Materializer:
        fired = self.fired.setdefault(name, set())
        optimized = self.mode is Mode.OPTIMIZED
        keeps = self._changes_little if optimized else _always
        return Materializer(self._declare, keeps, args, optimized, inline_nested, fired)

    def _changes_little(self, nested: Query) -> bool:
        """Whether every change of a nested aggregate names the places where it matters."""
        return not any(self._is_reevaluated(nested, r.name) for r in self._changing)

    def _declare(self, definition: Query) -> Query:
        """The map of a definition, an old one if there is one."""
        definition, asked = self._without_args(definition)
        text, order = signature(definition)
        known = self._by_signature.get(text)
        table = var_table(definition)
        if known is None:
            name = self._name(definition)
            keys = tuple(table[n] for n in order)
            known = MapDecl(name, keys, ring_type(definition), definition)
            self._by_signature[text] = known
            self._queue.append(known)
        return map_atom(known.name, *(asked.get(n, table[n]) for n in order))

    def _without_args(self, definition: Query) -> tuple[Query, dict[str, Var]]:
        """The definition with names of its own for trigger arguments, and what they stood for."""
        table, used = var_table(definition), set(var_table(definition))
        new: dict[str, Var] = {}
        for name in sorted(n for n in free(definition) if n.startswith(self._prefix)):
            other = fresh(name.removeprefix(self._prefix), used)
            used.add(other)
            new[name] = replace(table[name], column=other)
        asked = {v.column: table[name] for name, v in new.items()}
        return substitute(definition, new), asked

    def _name(self, definition: Query) -> str:
        stem = definition.name if isinstance(definition, Atom) else self._stem
        name = fresh(stem, self._names)
        self._names.add(name)
        return name

    def _finished(self, query: Query) -> Query:
        return rewrite(query, FINISH, self.trace)

    # --- maintenance

    def _maintain(self, declared: MapDecl, relation: Relation, event: Event) -> list[Statement]:
        if not _reads(declared.definition, relation.name):
            return []
        args = self._args(relation.name)
        change = (
            batch(relation.name)
            if event is Event.BATCH
            else single(relation.name, args, 1 if event is Event.INSERT else -1)
        )
        is_base = isinstance(declared.definition, Atom)
        if not is_base and (
            self.mode is Mode.DEPTH_0 or self._is_reevaluated(declared.definition, relation.name)
        ):
            return [self._replacement(declared)]
        known = frozenset(arg.column for arg in args) if event is not Event.BATCH else frozenset()
        changed = delta(declared.definition, change)
        if monomials(changed) > MOST_TERMS:
            return [self._replacement(declared)]
        changed = simplify(changed, self.trace)
        if changed == ZERO:
            return []
        if len(terms(changed)) > MOST_TERMS:
            return [self._replacement(declared)]
        if self.mode is Mode.DEPTH_1 or len(self._queue) > MOST_MAPS:
            stored = over_base_tables(changed, self._declare)
        else:
            stored = self._materializer(declared.name, args=known).materialize(changed, known)
        return list(self._statements(declared, stored))

    def _replacement(self, declared: MapDecl) -> Statement:
        if self.mode in (Mode.DEPTH_0, Mode.DEPTH_1):
            stored = over_base_tables(declared.definition, self._declare)
        else:
            maker = self._materializer(declared.name, inline_nested=True)
            maker.fired.add("re-evaluation")
            stored = maker.materialize(declared.definition)
            if declared.name in _maps(stored):  # it is one whole
                stored = over_base_tables(declared.definition, self._declare)
        return Statement(declared.name, declared.keys, Effect.REPLACE, self._finished(stored))

    def _is_reevaluated(self, query: Query, relation: str) -> bool:
        """Whether a nested aggregate changes in more places than the change itself names."""
        return any(isinstance(n, NESTED) and self._spreads(n, relation) for n in walk(query))

    def _spreads(self, node: Lift | Extreme | Exists, relation: str) -> bool:
        known = self._spreading.get((node, relation))
        if known is None:
            inner = delta(node.body, batch(relation))
            local = {node.key.column} if isinstance(node, Extreme) else set()
            known = inner != ZERO and not modes(domain(sum_over(local, inner)))[1]
            self._spreading[(node, relation)] = known
        return known

    def _statements(self, declared: MapDecl, stored: Query) -> Iterable[Statement]:
        """One statement for all terms that go to the same place of the map."""
        places: dict[tuple[Var, ...], list[Query]] = {}
        for term in terms(stored):
            keys, rest = _placed(declared.keys, rewrite(term, FINISH[1:], self.trace))
            places.setdefault(keys, []).append(rest)
        for keys, rests in places.items():
            query = self._finished(add(*rests))
            if query != ZERO:
                yield Statement(declared.name, keys, Effect.ADD, query)


def _has_open_atoms(query: Query) -> bool:
    """Whether a relation is read outside of nested aggregates."""
    bodies = (term.body if isinstance(term, Sum) else term for term in terms(query))
    return any(isinstance(f, Atom) for body in bodies for f in factors(body))


def _always(_: Query) -> bool:
    return True


def _placed(keys: tuple[Var, ...], term: Query) -> tuple[tuple[Var, ...], Query]:
    """Write ``(k is {x}) * q`` for the map M[k] as q for M[x]."""
    parts = list(factors(term))
    new: dict[str, Var] = {}
    names = {key.column for key in keys}
    for part in list(parts):
        if (
            isinstance(part, Let)
            and part.var.column in names
            and part.var.column not in new
            and isinstance(part.expr, ColumnRef)
            and part.expr.column not in names
        ):
            new[part.var.column] = part.expr
            parts.remove(part)
    rest = substitute(mul(*parts), new)
    return tuple(new.get(key.column, key) for key in keys), rest


def _reads(query: Query, relation: str) -> bool:
    return any(
        isinstance(n, Atom) and n.kind is AtomKind.RELATION and n.name == relation
        for n in walk(query)
    )


def ordered(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Additions first; replacements after them, each after those whose maps it reads."""
    additions = [s for s in statements if s.effect is Effect.ADD]
    pending = [s for s in statements if s.effect is Effect.REPLACE]
    done: list[Statement] = []
    while pending:
        targets = {s.target for s in pending}
        ready = [s for s in pending if not _maps(s.query) & (targets - {s.target})]
        assert ready, "replacements read each other"
        done += ready
        pending = [s for s in pending if s not in ready]
    return (*additions, *done)


def _maps(query: Query) -> set[str]:
    return {n.name for n in walk(query) if isinstance(n, Atom) and n.kind is AtomKind.MAP}
