"""Which summary tables are worth keeping: the greedy choice of HRU96, with maintenance.

A query on a table reads the smallest kept table that can answer it, or the fact. Keeping one more
table saves the queries below it the difference, and costs its maintenance every batch: less if a
parent is kept from which its delta comes cheaply, and it may itself make others cheaper. The
greedy choice takes again and again the table with the greatest benefit, and stops at a limit or
when nothing is left that pays. Without maintenance it brings at least 63 % of what the best choice
of as many tables does [HRU96]; `best_possible` finds that one where there are few tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, combinations
from typing import Final

from cubekeeper.derive.advise_state import Question, State
from cubekeeper.derive.candidates import CostModel
from cubekeeper.derive.recompute import recomputations
from cubekeeper.derive.sizes import estimate_sizes
from cubekeeper.lattice.advice import Advice, Declined, Limits, Pick, Ranking
from cubekeeper.lattice.model import Lattice
from cubekeeper.statistics.changes import Changes
from cubekeeper.statistics.model import Statistics

FEW_ENOUGH: Final = 10
"""So many tables can be tried in every combination."""


def advise(
    lattice: Lattice,
    statistics: Statistics,
    changes: Changes | None = None,
    *,
    limits: Limits | None = None,
    ranking: Ranking | None = None,
    exchange: float = 1.0,
) -> Advice:
    """Which of the declared summary tables are worth keeping; the facts are there anyway.

    Queries and maintenance are compared for the time between two batches: `queries` in the
    statistics count the queries in it (1 where nothing is said). `exchange` weighs maintenance.
    """
    question = ask(lattice, statistics, changes)
    advice = greedy(question, limits, ranking, exchange)
    if len(lattice.nodes) > FEW_ENOUGH:
        return advice
    best, benefit = best_possible(question, limits, exchange)
    return replace(advice, best=best, best_benefit=benefit)


def ask(lattice: Lattice, statistics: Statistics, changes: Changes | None = None) -> Question:
    """The question that a lattice poses."""
    sizes = estimate_sizes(lattice, statistics, changes)
    model = CostModel(lattice, sizes, statistics.weights)
    read = model.weights.read
    nodes = lattice.nodes
    anew = [name for name in sizes.deltas if not nodes[name].incremental]
    by_delta = [name for name in sizes.deltas if nodes[name].incremental]
    again = recomputations(model)
    refresh = {
        name: model.delta_write(name) + (again[name].cost if name in again else 0.0)
        for name in by_delta
    }
    given = {name: statistics.view(name).queries for name in nodes}
    return Question(
        answers={name: (name, *lattice.children[name]) for name in nodes},
        asked={name: read * sizes.views[name].rows for name in nodes},
        unanswered={name: read * sizes.tables[node.view.fact].rows for name, node in nodes.items()},
        space={name: sizes.views[name].rows for name in nodes},
        queries={name: 1.0 if count is None else count for name, count in given.items()},
        upkeep={**model.delta_ways(by_delta), **model.rebuild_ways(anew)},
        refresh={**refresh, **{name: model.rebuild_write(name) for name in anew}},
        unit=model.weights.unit,
    )


def greedy(
    question: Question,
    limits: Limits | None = None,
    ranking: Ranking | None = None,
    exchange: float = 1.0,
    kept: Iterable[str] = (),
) -> Advice:
    """The greedy choice; `kept` tables are there from the start and are no picks.

    Under a limit of space the benefit per row counts, unless the ranking says otherwise.
    """
    limits = limits or Limits()
    if ranking is None:
        ranking = Ranking.BENEFIT if limits.space is None else Ranking.BENEFIT_PER_ROW
    state = State(question)
    for name in kept:
        state.keep(name)
    query_cost = state.query_cost
    picks: list[Pick] = []
    while (offer := _best_offer(state, limits, ranking, exchange, picks)) is not None:
        state.keep(offer.view)
        picks.append(replace(offer, total_query_cost=state.query_cost))
    return Advice(
        picks=tuple(picks),
        declined=tuple(
            _declined(state, limits, _offer(state, exchange, picks, name))
            for name in state.candidates
        ),
        query_cost=query_cost,
        exchange=exchange,
        ranking=ranking,
        limits=limits,
        unit=question.unit,
    )


def _offer(state: State, exchange: float, picks: list[Pick], name: str) -> Pick:
    """What a table would bring as the next pick."""
    saved, added = state.saved(name), state.added(name)
    space = state.question.space[name]
    return Pick(
        view=name,
        benefit=saved - exchange * added,
        saved=saved,
        maintenance=added,
        space=space,
        total_query_cost=0.0,
        total_space=space + (picks[-1].total_space if picks else 0.0),
        total_maintenance=added + (picks[-1].total_maintenance if picks else 0.0),
    )


def _best_offer(
    state: State, limits: Limits, ranking: Ranking, exchange: float, picks: list[Pick]
) -> Pick | None:
    if limits.tables is not None and len(picks) >= limits.tables:
        return None
    per_row = ranking is Ranking.BENEFIT_PER_ROW
    best, best_worth = None, 0.0
    for name in state.candidates:
        worth = state.saved(name) - exchange * state.added(name)
        if per_row:
            worth /= max(1.0, state.question.space[name])
        if worth > best_worth:
            offer = _offer(state, exchange, picks, name)
            if _obstacle(offer, limits) is None:
                best, best_worth = offer, worth
    return best


def _obstacle(offer: Pick, limits: Limits) -> str | None:
    """Why a table cannot be the next pick however good it is."""
    if limits.space is not None and offer.total_space > limits.space:
        left = limits.space - (offer.total_space - offer.space)
        return f"its {offer.space:,.0f} rows do not fit in the {left:,.0f} left"
    if limits.window is not None and offer.total_maintenance > limits.window:
        left = limits.window - (offer.total_maintenance - offer.maintenance)
        return f"its maintenance of {offer.maintenance:,.0f} does not fit in the {left:,.0f} left"
    return None


def _declined(state: State, limits: Limits, offer: Pick) -> Declined:
    question = state.question
    if not any(question.queries[other] for other in question.answers[offer.view]):
        reason = "nobody asks for it"
    elif offer.saved <= 0:
        answered_by = state.answered_by[offer.view]
        other = "the fact" if answered_by is None else f"`{answered_by}`"
        reason = f"{other} answers its queries as cheaply"
    elif offer.benefit <= 0:
        reason = f"saves queries {offer.saved:,.0f} and costs {offer.maintenance:,.0f} to maintain"
    else:
        full = f"the limit of {limits.tables} tables is reached"
        reason = _obstacle(offer, limits) or full
    return Declined(offer.view, offer.benefit, offer.saved, offer.maintenance, offer.space, reason)


def best_possible(
    question: Question,
    limits: Limits | None = None,
    exchange: float = 1.0,
    kept: Iterable[str] = (),
) -> tuple[tuple[str, ...], float]:
    """The best choice of all and its benefit, found by trying every one.

    Of equally good choices it is the first with the fewest tables.
    """
    limits = limits or Limits()
    always = tuple(kept)
    free = [name for name in question.answers if name not in always]
    most = len(free) if limits.tables is None else min(limits.tables, len(free))
    start_queries, start_upkeep = question.query_cost(always), question.maintenance(always)
    best: tuple[tuple[str, ...], float] = ((), 0.0)
    for chosen in chain.from_iterable(combinations(free, count) for count in range(most + 1)):
        if limits.space is not None and sum(question.space[n] for n in chosen) > limits.space:
            continue
        added = question.maintenance((*always, *chosen)) - start_upkeep
        if limits.window is not None and added > limits.window:
            continue
        benefit = start_queries - question.query_cost((*always, *chosen)) - exchange * added
        if benefit > best[1]:
            best = (chosen, benefit)
    return best
