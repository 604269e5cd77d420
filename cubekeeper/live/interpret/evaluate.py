"""The meaning of a query: its numbers, given what its atoms hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Protocol, assert_never

from cubekeeper.errors import InternalError
from cubekeeper.live.calculus.nodes import (
    Add,
    Atom,
    AtomKind,
    Cond,
    Const,
    Exists,
    Extreme,
    Let,
    Lift,
    Mul,
    Number,
    Query,
    Sum,
    Value,
)
from cubekeeper.live.calculus.variables import Names, free, modes
from cubekeeper.live.interpret.collection import Collection, Key, from_ring, to_ring
from cubekeeper.live.interpret.scalar import compiled

Env = dict[str, Any]


class Store(Protocol):
    """Where atoms find their rows."""

    def find(self, kind: AtomKind, name: str) -> Collection:
        """The collection that an atom names."""
        ...


def rows(
    query: Query, store: Store, columns: tuple[str, ...], known: Mapping[str, Any] | None = None
) -> dict[Key, Number]:
    """The support of a query as tuples of some of its variables, added up.

    >>> class Empty:
    ...     def find(self, kind: AtomKind, name: str) -> Collection:
    ...         return Collection({(1, 2): 3, (1, 5): 4})
    >>> from cubekeeper.live.calculus.build import relation, var
    >>> rows(relation("R", var("x"), var("y")), Empty(), ("x",))
    {(1,): 7}
    """
    found: dict[Key, Number] = {}
    env = dict(known or {})
    for bound, count in results(query, env, store):
        key = tuple(bound[name] for name in columns)
        found[key] = found.get(key, 0) + count
    return {key: count for key, count in found.items() if count}


def number_at(query: Query, env: Env, store: Store) -> Number:
    """The number of a query where all its variables are known."""
    return sum((count for _, count in results(query, env, store)), 0)


def results(query: Query, env: Env, store: Store) -> Iterator[tuple[Env, Number]]:
    """Extensions of an environment to all free variables, with their numbers.

    One extension may come several times: its number is the sum.
    """
    match query:
        case Const(value):
            yield env, value
        case Value(expr):
            count = to_ring(compiled(expr)(env))
            if count:
                yield env, count
        case Cond(expr):
            if compiled(expr)(env) is True:
                yield env, 1
        case Atom():
            yield from _atom(query, env, store)
        case Mul(factors):
            yield from _product(order(factors, _known(query, env)), 0, env, store)
        case Add(terms):
            for term in terms:
                yield from results(term, env, store)
        case Sum(_, body):
            yield from _sum(query, body, env, store)
        case Let(var, expr):
            yield from _bind(var.column, compiled(expr)(env), env)
        case Lift(var, body):
            count = number_at(body, env, store)
            yield from _bind(var.column, from_ring(count, var.type), env)
        case Extreme(var):
            yield from _bind(var.column, _extreme(query, env, store), env)
        case Exists(body):
            yield from _exists(body, env, store)
        case _:
            assert_never(query)


def _known(query: Query, env: Env) -> Names:
    return frozenset(name for name in free(query) if name in env)


def _atom(atom: Atom, env: Env, store: Store) -> Iterator[tuple[Env, Number]]:
    collection = store.find(atom.kind, atom.name)
    names = [v.column for v in atom.vars]
    positions = tuple(i for i, name in enumerate(names) if name in env)
    part = tuple(env[names[i]] for i in positions)
    if len(positions) == len(names):
        count = collection.get(part)
        if count:
            yield env, count
        return
    if len(set(names)) == len(names):
        for key, count in collection.matching(positions, part):
            yield {**env, **dict(zip(names, key, strict=True))}, count
        return
    for key, count in collection.matching(positions, part):
        bound = dict(zip(names, key, strict=True))
        if all(bound[name] == value for name, value in zip(names, key, strict=True)):
            yield {**env, **bound}, count


def _product(
    factors: tuple[Query, ...], at: int, env: Env, store: Store
) -> Iterator[tuple[Env, Number]]:
    if at == len(factors):
        yield env, 1
        return
    for bound, count in results(factors[at], env, store):
        for extended, other in _product(factors, at + 1, bound, store):
            yield extended, count * other


def _sum(query: Sum, body: Query, env: Env, store: Store) -> Iterator[tuple[Env, Number]]:
    names = sorted(free(query))
    inner = {name: env[name] for name in names if name in env}
    totals: dict[Key, Number] = {}
    for bound, count in results(body, inner, store):
        key = tuple(bound[name] for name in names)
        totals[key] = totals.get(key, 0) + count
    for key, count in totals.items():
        if count:
            yield {**env, **dict(zip(names, key, strict=True))}, count


def _bind(name: str, value: Any, env: Env) -> Iterator[tuple[Env, Number]]:
    if name not in env:
        yield {**env, name: value}, 1
    elif (env[name] is None) == (value is None) and env[name] == value:
        yield env, 1


def _extreme(query: Extreme, env: Env, store: Store) -> Any:
    key = query.key.column
    inner = {name: value for name, value in env.items() if name != key}
    support = rows(query.body, store, (key,), inner)
    values = [value for (value,) in support if value is not None]
    return (min(values) if query.least else max(values)) if values else None


def _exists(body: Query, env: Env, store: Store) -> Iterator[tuple[Env, Number]]:
    names = tuple(sorted(free(body)))
    inner = {name: env[name] for name in names if name in env}
    for key in rows(body, store, names, inner):
        yield {**env, **dict(zip(names, key, strict=True))}, 1


@lru_cache(maxsize=100_000)
def order(factors: tuple[Query, ...], known: Names) -> tuple[Query, ...]:
    """An order in which every factor finds its inputs known: tests first, then small loops."""
    pending, done = list(factors), []
    while pending:
        ready = [f for f in pending if modes(f)[0] <= known]
        if not ready:
            raise InternalError(
                "unbound", f"no factor can be evaluated, knowing {sorted(known)}: {pending}"
            )
        best = min(ready, key=lambda f: _eagerness(f, known))
        pending.remove(best)
        done.append(best)
        known = known | free(best)
    return tuple(done)


def _eagerness(factor: Query, known: Names) -> tuple[int, int]:
    missing = len(free(factor) - known)
    if isinstance(factor, Const | Value | Cond | Let):
        return 0, missing
    if not missing and isinstance(factor, Atom):
        return 1, 0
    if isinstance(factor, Atom) and factor.kind is AtomKind.DELTA:
        return 2, missing
    if isinstance(factor, Lift | Extreme):
        return 3, missing
    loops = 4 if _is_small(factor) else 5
    return loops, missing - len(free(factor) & known)


def _is_small(factor: Query) -> bool:
    """Whether a factor ranges over a change only."""
    match factor:
        case Atom(kind):
            return kind is AtomKind.DELTA
        case Exists(body) | Sum(_, body):
            return _is_small(body)
        case Mul(factors):
            return any(map(_is_small, factors))
        case Add(terms):
            return all(map(_is_small, terms))
        case _:
            return False
