"""Which tables are worth keeping: the known answer of HRU96, limits, reasons, and maintenance."""

from dataclasses import replace

import pytest

from cubekeeper.derive.advise import advise, ask, best_possible, greedy
from cubekeeper.derive.advise_state import Question
from cubekeeper.derive.arborescence import WayIn
from cubekeeper.derive.build import build_lattice
from cubekeeper.lattice.advice import Limits, Ranking
from cubekeeper.statistics.changes import parse_changes
from cubekeeper.statistics.model import PAPER_WEIGHTS, ViewStatistics
from tests.unit.derive.shop import (
    BRAND,
    CATEGORY,
    CITY,
    COUNT,
    DISTINCT,
    ITEM,
    ORDERED,
    REGION,
    STATISTICS,
    STORE,
    TABLES,
    shop,
    view,
)

SIZES = {"a": 100, "b": 50, "c": 75, "d": 20, "e": 30, "f": 40, "g": 1, "h": 10}
STEPS = {"a": "bc", "b": "de", "c": "ef", "d": "g", "e": "gh", "f": "h", "g": "", "h": ""}


def below(name: str) -> frozenset[str]:
    return frozenset({name}).union(*(below(child) for child in STEPS[name]))


def hru96(queries: dict[str, float] | None = None) -> Question:
    """The example of HRU96, Figure 6: eight tables, the top one always there."""
    sizes = {name: float(size) for name, size in SIZES.items()}
    return Question(
        answers={name: tuple(sorted(below(name))) for name in SIZES},
        asked=sizes,
        unanswered=dict.fromkeys(SIZES, 100.0),
        space=sizes,
        queries={**dict.fromkeys(SIZES, 1.0), **(queries or {})},
        upkeep={},
        refresh={},
    )


def test_the_known_answer():
    advice = greedy(hru96(), Limits(tables=3), kept="a")
    assert [(pick.view, pick.benefit) for pick in advice.picks] == [
        ("b", 250),
        ("f", 70),
        ("d", 60),
    ]
    assert advice.query_cost == 800
    assert [pick.total_query_cost for pick in advice.picks] == [550, 480, 420]
    assert [pick.total_space for pick in advice.picks] == [50, 90, 110]


def test_here_greedy_is_the_best_choice():
    assert best_possible(hru96(), Limits(tables=3), kept="a") == (("b", "d", "f"), 380)


def test_without_limits_all_that_saves_anything_is_picked():
    advice = greedy(hru96(), kept="a")
    assert set(advice.kept) == set("bcdefgh")
    assert advice.benefit == 800 - sum(SIZES.values())


def test_frequencies_weigh_queries():
    assert greedy(hru96({"c": 50.0}), Limits(tables=1), kept="a").kept == ("c",)
    silent = dict.fromkeys("bcdefgh", 0.0)
    advice = greedy(hru96(silent), kept="a")
    assert advice.picks == ()
    assert {declined.reason for declined in advice.declined} == {"nobody asks for it"}


def test_a_table_no_smaller_than_one_that_answers_for_it_is_of_no_use():
    question = hru96()
    question = replace(question, asked={**question.asked, "d": 50.0})
    reasons = {d.view: d.reason for d in greedy(question, kept="ab").declined}
    assert reasons["d"] == "`b` answers its queries as cheaply"
    large = replace(question, asked={**question.asked, "b": 100.0})
    reasons = {d.view: d.reason for d in greedy(large).declined}
    assert reasons["b"] == "the fact answers its queries as cheaply"


def test_benefit_per_row_prefers_the_small():
    advice = greedy(hru96(), Limits(tables=1), Ranking.BENEFIT_PER_ROW, kept="a")
    assert advice.kept == ("g",)


def test_a_limit_of_space_ranks_by_row_and_says_what_does_not_fit():
    advice = greedy(hru96(), Limits(space=60), kept="a")
    assert advice.ranking is Ranking.BENEFIT_PER_ROW
    assert advice.picks[-1].total_space <= 60
    reasons = {declined.view: declined.reason for declined in advice.declined}
    assert (
        reasons["c"]
        == f"its 75 rows do not fit in the {60 - advice.picks[-1].total_space:,.0f} left"
    )


def test_a_limit_of_tables_is_the_reason():
    advice = greedy(hru96(), Limits(tables=3), kept="a")
    declined = {d.view: d for d in advice.declined}
    assert declined["g"].reason == "the limit of 3 tables is reached"
    assert declined["g"].benefit == 19


# --- maintenance ------------------------------------------------------------------------------


def with_upkeep(ways: dict[str, list[WayIn]], refresh: float = 0.0) -> Question:
    return replace(hru96(), upkeep=ways, refresh=dict.fromkeys(ways, refresh))


def from_base(cost: float) -> WayIn:
    return WayIn(cost, 0, 99, None)


def test_maintenance_is_subtracted():
    question = with_upkeep({"b": [from_base(200.0)], "c": [from_base(10.0)]}, refresh=5)
    advice = greedy(question, Limits(tables=1), kept="a")
    assert (advice.picks[0].view, advice.picks[0].benefit) == ("e", 70 * 3)
    assert advice.picks[0].maintenance == 0
    declined = {d.view: d for d in advice.declined}
    assert declined["b"].maintenance == 205


def test_a_table_that_costs_more_than_it_saves_is_declined_with_both_figures():
    question = with_upkeep({name: [from_base(1_000.0)] for name in "bcdefgh"})
    advice = greedy(question, kept="a")
    assert advice.picks == ()
    reasons = {declined.view: declined.reason for declined in advice.declined}
    assert reasons["b"] == "saves queries 250 and costs 1,000 to maintain"


def test_the_exchange_rate_weighs_maintenance():
    question = with_upkeep({name: [from_base(1_000.0)] for name in "bcdefgh"})
    assert set(greedy(question, exchange=0.0, kept="a").kept) == set("bcdefgh")
    assert greedy(question, exchange=0.2, kept="a").kept[:1] == ("b",)


def test_a_kept_parent_makes_maintenance_cheap():
    cheap = [WayIn(1.0, 0, 1, "b"), from_base(300.0)]
    question = with_upkeep({"b": [from_base(100.0)], "d": cheap, "e": cheap})
    advice = greedy(question, kept="a")
    costs = {pick.view: pick.maintenance for pick in advice.picks}
    assert costs["b"] == 100
    assert costs["d"] == 1
    assert advice.picks[-1].total_maintenance == question.maintenance(("a", *advice.kept))


def test_a_table_may_pay_by_making_others_cheaper():
    """`b` brings little to queries when d and e are kept, but spares both their way to the base."""
    cheap = [WayIn(1.0, 0, 1, "b"), from_base(300.0)]
    question = with_upkeep({"b": [from_base(20.0)], "d": cheap, "e": cheap})
    advice = greedy(question, kept="ade")
    first = advice.picks[0]
    assert (first.view, first.maintenance) == ("b", 20 - 2 * 299)


def test_tables_with_the_same_groups_do_not_feed_each_other_in_a_circle():
    ways = {
        "b": [WayIn(1.0, 0, 2, "c"), from_base(20.0)],
        "c": [WayIn(1.0, 0, 1, "b"), from_base(20.0)],
    }
    advice = greedy(with_upkeep(ways), kept="a")
    assert {"b", "c"} <= set(advice.kept)
    assert advice.picks[-1].total_maintenance == 21


def test_a_limit_of_the_window():
    ways = {name: [from_base(20.0)] for name in "bcdefgh"}
    advice = greedy(with_upkeep(ways), Limits(window=45), kept="a")
    assert advice.kept == ("b", "f")
    reasons = {declined.view: declined.reason for declined in advice.declined}
    assert reasons["d"] == "its maintenance of 20 does not fit in the 5 left"


# --- a warehouse ------------------------------------------------------------------------------

LATTICE = build_lattice(
    shop(
        view("fine", [STORE, ITEM, ORDERED]),
        view("by_city_brand", [CITY, BRAND]),
        view("by_region", [REGION]),
        view("holistic", [CATEGORY], COUNT, DISTINCT),
    )
)
KNOWN = replace(STATISTICS, weights=PAPER_WEIGHTS)


def test_a_table_as_large_as_the_fact_is_not_worth_keeping():
    advice = advise(LATTICE, KNOWN)
    declined = {d.view: d for d in advice.declined}
    assert "fine" in declined
    assert advice.kept[0] == "by_city_brand"
    assert advice.query_cost == 4 * 1_000_000


def test_what_is_rebuilt_every_time_costs_its_rebuild():
    question = ask(LATTICE, KNOWN)
    assert question.maintenance(["holistic"]) == 1_000_000 + 20


def test_queries_of_the_statistics_decide():
    silent = replace(
        KNOWN,
        views={
            "by_city_brand": ViewStatistics(queries=0),
            "by_region": ViewStatistics(queries=0),
            "holistic": ViewStatistics(queries=0),
            "fine": ViewStatistics(queries=1),
        },
    )
    advice = advise(LATTICE, silent)
    reasons = {declined.view: declined.reason for declined in advice.declined}
    assert reasons["by_region"] == "nobody asks for it"
    assert "holistic" in reasons


def test_a_table_that_nothing_reaches_costs_nothing_to_keep():
    advice = advise(LATTICE, KNOWN, parse_changes(["returns=+5"], TABLES))
    assert {pick.maintenance for pick in advice.picks} == {0}


def test_for_few_tables_the_best_choice_is_told():
    advice = advise(LATTICE, KNOWN)
    assert advice.best_benefit is not None
    assert advice.best_benefit >= advice.benefit * (1 - 1e-12)
    assert set(advice.best or ()) <= set(LATTICE.nodes)


def test_totals_are_those_of_the_question():
    advice = advise(LATTICE, KNOWN)
    question = ask(LATTICE, KNOWN)
    assert advice.picks[-1].total_query_cost == pytest.approx(question.query_cost(advice.kept))
    assert advice.picks[-1].total_maintenance == pytest.approx(question.maintenance(advice.kept))
