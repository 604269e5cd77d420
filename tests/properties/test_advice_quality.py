"""How good the greedy advice is, measured against every possible choice on small lattices.

HRU96 prove for queries alone and a number of tables that greedy brings at least 1 − 1/e = 63 % of
the best. Maintenance and budgets are beyond the proof; there the quality is measured.
"""

from __future__ import annotations

from dataclasses import replace
from math import e
from random import Random
from statistics import mean

import pytest

from cubekeeper.derive import build_lattice
from cubekeeper.derive.advise import ask, best_possible, greedy
from cubekeeper.derive.advise_state import Question
from cubekeeper.lattice.advice import Limits, Ranking
from cubekeeper.statistics.model import ViewStatistics
from tests.unit.derive.shop import random_statistics, random_views, shop


def random_question(seed: int) -> Question:
    pick = Random(seed)
    views = random_views(pick, 7)
    known = random_statistics(pick, views)
    asked = {
        v.name: replace(known.view(v.name), queries=pick.choice((0.0, 1.0, 1.5, 20.0)))
        for v in views
    }
    return ask(build_lattice(shop(*views)), replace(known, views=asked))


def ratios(limits_of, *, exchange: float = 1.0, ranking: Ranking | None = None) -> list[float]:
    """What greedy brings of the best choice's benefit, for each of many lattices."""
    found = []
    for seed in range(150):
        question = random_question(seed)
        limits = limits_of(question, Random(seed))
        _, best = best_possible(question, limits, exchange)
        brought = greedy(question, limits, ranking, exchange).benefit
        assert brought <= best * (1 + 1e-9) + 1e-6, f"seed {seed}: better than the best"
        if best > 0:
            found.append(brought / best)
    assert len(found) > 75
    return found


@pytest.mark.parametrize("tables", [1, 2, 3])
def test_for_queries_alone_greedy_keeps_its_promise(tables):
    quality = ratios(lambda *_: Limits(tables=tables), exchange=0.0)
    assert min(quality) >= 1 - 1 / e
    if tables == 1:
        assert min(quality) == pytest.approx(1)


def test_with_maintenance_greedy_is_near_the_best():
    quality = ratios(lambda *_: Limits())
    print(f"with maintenance: mean {mean(quality):.3f}, least {min(quality):.3f}")
    assert mean(quality) > 0.97


def test_under_a_window_greedy_is_near_the_best():
    def limits(question: Question, pick: Random) -> Limits:
        return Limits(window=pick.random() * question.maintenance(list(question.answers)))

    quality = ratios(limits)
    print(f"under a window: mean {mean(quality):.3f}, least {min(quality):.3f}")
    assert mean(quality) > 0.9


def test_under_a_space_budget_greedy_is_near_the_best():
    def limits(question: Question, pick: Random) -> Limits:
        return Limits(space=pick.random() * sum(question.space.values()))

    quality = ratios(limits)
    print(f"under a space budget: mean {mean(quality):.3f}, least {min(quality):.3f}")
    assert mean(quality) > 0.85


def test_the_figures_of_the_picks_are_exact():
    """Kept up to date by differences, they equal what is computed from scratch."""
    for seed in range(100):
        question = random_question(seed)
        advice = greedy(question)
        kept: list[str] = []
        for pick in advice.picks:
            saved = question.query_cost(kept) - question.query_cost([*kept, pick.view])
            assert pick.saved == pytest.approx(saved, abs=1e-6)
            kept.append(pick.view)
            assert pick.total_query_cost == pytest.approx(question.query_cost(kept))
            assert pick.total_space == pytest.approx(sum(question.space[n] for n in kept))
            assert pick.total_maintenance >= question.maintenance(kept) * (1 - 1e-9) - 1e-6
        assert len(kept) + len(advice.declined) == len(question.answers)


def test_an_unasked_table_is_kept_only_if_others_profit():
    question = random_question(3)
    silent = replace(question, queries=dict.fromkeys(question.queries, 0.0))
    assert greedy(silent).picks == ()


def test_given_queries_reach_the_question():
    views = random_views(Random(1), 4)
    known = random_statistics(Random(1), views)
    known = replace(known, views={views[0].name: ViewStatistics(queries=7.0)})
    question = ask(build_lattice(shop(*views)), known)
    assert question.queries[views[0].name] == 7
    assert question.queries[views[1].name] == 1
