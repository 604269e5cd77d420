"""Filter implication (S7) judged by DuckDB: sound on every row, and complete enough to be useful.

A *world* is a few columns with all combinations of their values as rows, and filters over them.
DuckDB evaluates each filter on each row; what it finds TRUE, FALSE and NULL is compared with what
`implies` and `residual` claim.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cubekeeper.derive.implication import implies, residual
from cubekeeper.scalar.build import call, case, column, literal
from cubekeeper.scalar.nodes import Expr
from cubekeeper.scalar.text import conjunction_to_sql
from cubekeeper.schema import INT, TIMESTAMP, Column
from tests.oracle.duck import connect, duckdb_type, to_duckdb
from tests.oracle.filters import DOMAINS, Domain, random_conjunction

Filter = tuple[Expr, ...]
Kept = np.ndarray
"""For each row whether a filter keeps it."""


@dataclass(frozen=True)
class World:
    domains: tuple[Domain, ...]
    connection: duckdb.DuckDBPyConnection

    @staticmethod
    def of(domains: Sequence[Domain]) -> World:
        connection = connect()
        for domain in domains:
            name, type_ = domain.column.name, duckdb_type(domain.column.type)
            connection.execute(f"CREATE TABLE of_{name} ({name} {type_})")
            connection.executemany(
                f"INSERT INTO of_{name} VALUES (?)", [[v] for v in domain.values]
            )
        product = " CROSS JOIN ".join(f"of_{domain.column.name}" for domain in domains)
        connection.execute(f"CREATE TABLE rows AS SELECT * FROM {product}")
        return World(tuple(domains), connection)

    def kept(self, filters: Sequence[Filter]) -> list[Kept]:
        columns = ", ".join(
            f"coalesce({to_duckdb(text(conjuncts))}, false) AS f{at}"
            for at, conjuncts in enumerate(filters)
        )
        result = self.connection.execute(f"SELECT {columns} FROM rows").fetchnumpy()
        return [np.asarray(result[f"f{at}"], dtype=bool) for at in range(len(filters))]


def text(conjuncts: Filter) -> str:
    return conjunction_to_sql(conjuncts, lambda ref: ref.column) if conjuncts else "TRUE"


def check(premises: Filter, conclusion: Filter, kept: dict[Filter, Kept]) -> bool:
    """Whether an implication was claimed; fails if it is claimed and a row says otherwise."""
    left = residual(premises, conclusion)
    claimed = all(implies(premises, conjunct) for conjunct in conclusion)
    assert (left is not None) == claimed
    if left is None:
        return False
    assert not (kept[premises] & ~kept[conclusion]).any(), (
        f"not implied: {text(premises)}  ⇒  {text(conclusion)}"
    )
    assert set(left) <= set(premises)
    return True


@pytest.fixture(scope="module")
def small_world() -> World:
    return World.of([d for d in DOMAINS if d.column.name in ("i", "n", "f", "s")])


@settings(max_examples=200)
@given(rng=st.randoms(use_true_random=False))
def test_what_is_implied_holds_in_every_row(small_world: World, rng: Random) -> None:
    domains = small_world.domains
    premises, conclusion = random_conjunction(rng, domains), random_conjunction(rng, domains)
    left = residual(premises, conclusion)
    if left is None:
        return
    of_premises, of_conclusion, of_left = small_world.kept([premises, conclusion, left])
    assert not (of_premises & ~of_conclusion).any(), f"{text(premises)}  ⇒  {text(conclusion)}"
    assert ((of_conclusion & of_left) == of_premises).all(), (
        f"{text(conclusion)}  with  {text(left)}  is not  {text(premises)}"
    )


def survey(seed: int, size: int, *, dense: bool) -> tuple[int, int, list[str]]:
    """All pairs of some filters of one world: how many hold, how many were found, what was not."""
    rng = Random(seed)
    domains = [d for d in DOMAINS if not (dense and d.column.type == TIMESTAMP)]
    world = World.of(rng.sample(domains, 3))
    filters = [
        random_conjunction(rng, rng.sample(world.domains, 2), dense=dense) for _ in range(size)
    ]
    kept = dict(zip(filters, world.kept(filters), strict=True))
    pairs = [(one, two) for one in filters for two in filters if one != two]
    claims = {pair: check(*pair, kept) for pair in pairs}
    residuals = {pair: residual(*pair) or () for pair in pairs if claims[pair]}
    wanted = list(dict.fromkeys(residuals.values()))
    left = dict(zip(wanted, world.kept(wanted), strict=True)) if wanted else {}
    for (child, parent), rest in residuals.items():
        assert ((kept[parent] & left[rest]) == kept[child]).all(), (
            f"seed {seed}: {text(parent)}  with  {text(rest)}  is not  {text(child)}"
        )
    true = [pair for pair in pairs if not (kept[pair[0]] & ~kept[pair[1]]).any()]
    missed = [f"{text(one)}  ⇒  {text(two)}" for one, two in true if not claims[one, two]]
    return len(true), len(true) - len(missed), missed


def survey_many(seeds: range, *, dense: bool, least: float) -> None:
    true = found = 0
    missed: list[str] = []
    for seed in seeds:
        seed_true, seed_found, seed_missed = survey(seed, 24, dense=dense)
        true, found, missed = true + seed_true, found + seed_found, missed + seed_missed
    share = found / true
    print(f"{found} of {true} true implications found: {share:.1%}")
    examples = "\n".join(missed[:10])
    assert share >= least, f"only {share:.1%} found; missed among others:\n{examples}"


def test_nearly_all_implications_over_constants_are_found() -> None:
    """Left out: nearby timestamps, whose order depends on the session's time zone."""
    survey_many(range(12), dense=True, least=0.98)


def test_most_implications_are_found() -> None:
    """What is missed as well: what follows from relations between columns, or from small data."""
    survey_many(range(100, 112), dense=False, least=0.93)


@pytest.mark.slow
def test_nearly_all_implications_over_constants_are_found_in_many_worlds() -> None:
    survey_many(range(1000, 1400), dense=True, least=0.98)


@pytest.mark.slow
def test_most_implications_are_found_in_many_worlds() -> None:
    survey_many(range(2000, 2400), dense=False, least=0.93)


def test_no_filter_takes_exponential_work() -> None:
    """Eighty disjunctions that hang together are given up quickly, and not claimed."""
    refs = [column((), Column(f"c{at}", INT)) for at in range(81)]
    pairs = [
        call("or", call("=", one, literal(1)), call("=", two, literal(1)))
        for one, two in pairwise(refs)
    ]
    start = time.perf_counter()
    assert not implies(tuple(pairs[:40]), call("or", *pairs[41:]))
    assert not implies(tuple(pairs), call("and", *(call("=", ref, literal(1)) for ref in refs)))
    assert time.perf_counter() - start < 10


def test_no_expression_takes_exponential_work() -> None:
    """A CASE inside the condition of a CASE, ten deep: given up quickly, and not claimed."""
    refs = [column((), Column(f"c{at}", INT)) for at in range(10)]
    nested: Expr = refs[0]
    for ref in refs[1:]:
        nested = case([(call("<=>", nested, ref), ref)], nested)
    start = time.perf_counter()
    assert not implies((call(">", nested, literal(2)),), call(">", refs[1], literal(0)))
    assert time.perf_counter() - start < 10
