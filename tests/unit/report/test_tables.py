"""The cost table, advice, what-if, one table told whole, the plan, and all of it as data."""

from __future__ import annotations

import json
import re

import pytest

from cubekeeper.derive import choose, cost_table
from cubekeeper.lattice.advice import Advice, Declined, Limits, Pick, Ranking
from cubekeeper.lattice.what_if import Figures, ViewDifference, ViewFigures, WhatIf
from cubekeeper.report import (
    advice_data,
    advice_text,
    cost_data,
    cost_text,
    lattice_data,
    plan_text,
    view_data,
    view_text,
    what_if_data,
    what_if_text,
)
from cubekeeper.report.words import visible
from cubekeeper.schedule.build import build_plan
from cubekeeper.statistics.changes import Changes, parse_changes
from tests.unit.report.samples import TABLE_3, odd, random_lattice, retail

TABLES = ["pos", "stores", "items"]


def test_table_1_of_the_paper():
    text = cost_text(cost_table(retail()[0], TABLE_3), width=100)
    assert (
        "summary table  recomputation  individual deltas  reused deltas   counting\n"
        "─────────────────────────────────────────────────────────────────────────\n"
        "SID_sales          1,100,000             11,000         11,000     22,000\n"
        "sCD_sales            110,000             10,100          1,100     20,200\n"
        "SiC_sales            102,000             11,000          2,000    512,000\n"
        "sR_sales               2,010             10,010            110  1,010,020\n"
        "─────────────────────────────────────────────────────────────────────────\n"
        "total              1,314,010             42,110         14,210  1,564,220\n"
    ) in text
    assert "sR_sales            10          10  SiC_sales        sCD_sales\n" in text
    assert "92 times cheaper than recomputation and 3 times cheaper than individual" in text
    assert "Sizes: all given." in text
    assert "joins are not counted" in text


def test_cost_table_as_data_has_every_cell():
    data = json.loads(json.dumps(cost_data(cost_table(retail()[0], TABLE_3))))
    assert data["total"] == {
        "recomputation": 1_314_010,
        "individual": 42_110,
        "reuse": 14_210,
        "counting": 1_564_220,
    }
    assert data["views"][3]["reuse"] == {"cost": 110, "parent": "sCD_sales", "note": ""}
    assert data["weights"]["join_probe"] == 0


def test_notes_of_the_cost_table_are_marked_and_explained():
    text = cost_text(cost_table(odd()[0], TABLE_3), width=100)
    assert re.search(r"^distinct_prices \[1\] ", text, re.MULTILINE)
    assert "[1] distinct_prices: Prices: the distinct values" in text
    assert "estimated" in text


ADVICE = Advice(
    picks=(
        Pick("b", 250, 300, 50, 50, 500, 50, 50),
        Pick("f", 70, 90, 20, 40, 410, 90, 70),
    ),
    declined=(Declined("c", -3, 25, 28, 75, "it costs more to maintain than its queries save"),),
    query_cost=800,
    exchange=1.0,
    ranking=Ranking.BENEFIT,
    limits=Limits(tables=2, space=100, window=None),
    unit="tuple accesses",
)


def test_advice_says_what_to_keep_and_what_to_leave():
    assert advice_text(ADVICE, width=90) == (
        "Summary tables worth keeping, best first\n"
        "ranked by benefit; limits: at most 2 tables and at most 100 rows\n"
        "benefit = tuples that queries no longer read − 1 × maintenance in tuple accesses\n"
        "\n"
        "keep  benefit  queries save  maintenance  rows  query cost then\n"
        "───────────────────────────────────────────────────────────────\n"
        "b         250           300           50    50              500\n"
        "f          70            90           20    40              410\n"
        "\n"
        "Together: 90 rows stored, 70 tuple accesses of maintenance, and queries read 410 tuples\n"
        "  instead of 800: 2 times cheaper than without any.\n"
        "\n"
        "leave  benefit  rows  because\n"
        "─────────────────────────────────────────────────────────────────────\n"
        "c           -3    75  it costs more to maintain than its queries save\n"
    )
    data = json.loads(json.dumps(advice_data(ADVICE)))
    assert [pick["view"] for pick in data["keep"]] == ["b", "f"]
    assert data["limits"] == {"tables": 2, "space": 100, "window": None}


def test_advice_to_keep_nothing():
    nothing = Advice((), (), 5, 0.0, Ranking.BENEFIT_PER_ROW, Limits(), "seconds")
    text = advice_text(nothing, width=80)
    assert "None: no table is worth what it costs" in text
    assert "maintenance is not counted" in text
    assert "limits: none" in text


WHAT_IF = WhatIf(
    added=("x",),
    dropped=("sCD_sales",),
    before=Figures(12_100, 17_110, 112_010, 5_000),
    after=Figures(11_000, 16_000, 102_110, 9_000),
    views=(
        ViewDifference(
            "sCD_sales",
            ViewFigures("delta", "SID_sales", 1_100, 10_000, 1_000, "sCD_sales"),
            ViewFigures(None, None, 0, 0, 5_000, "SID_sales"),
        ),
        ViewDifference(
            "sR_sales",
            ViewFigures("delta", "sCD_sales", 110, 10, 10, "sR_sales"),
            ViewFigures("delta", "SiC_sales", 1_010, 10, 10, "sR_sales"),
        ),
        ViewDifference(
            "x",
            ViewFigures(None, None, 0, 0, 50, None),
            ViewFigures("rebuild", None, 500, 5, 5, "x"),
        ),
    ),
    unit="tuple accesses",
)


def test_what_if_compares_before_and_after():
    assert what_if_text(WHAT_IF, width=100) == (
        "What if: x added; sCD_sales dropped\n"
        "\n"
        "                             before    after  difference\n"
        "────────────────────────────────────────────────────────\n"
        "propagate (tuple accesses)   12,100   11,000      −1,100\n"
        "window (tuple accesses)      17,110   16,000      −1,110\n"
        "rows stored                 112,010  102,110      −9,900\n"
        "tuples that queries read      5,000    9,000      +4,000\n"
        "\n"
        "table      cost before  after  what changes\n"
        "──────────────────────────────────────────────────────────────────────────────────────"
        "──────────────\n"
        "sCD_sales        1,100      –  is no longer kept; its queries are answered by SID_sales"
        " (+4,000\n"
        "                               tuples)\n"
        "sR_sales           110  1,010  delta from SiC_sales instead of delta from sCD_sales\n"
        "x                    –    500  is kept: rebuild from the base; its queries are answered"
        " by x (−45\n"
        "                               tuples)\n"
    )
    data = json.loads(json.dumps(what_if_data(WHAT_IF)))
    assert data["views"][1]["parent_changes"] is True
    assert data["after"]["queries"] == 9_000


def test_what_if_nothing_changes():
    same = Figures(1, 1, 1, 1)
    text = what_if_text(WhatIf((), (), same, same, (), "seconds"), width=80)
    assert "Nothing changes for any table." in text


def test_explain_shows_average_as_sum_and_count_and_why_each_column_is_there():
    text = view_text(*odd(), "averages", width=100)
    assert "AVG(price) AS AveragePrice" in text
    assert re.search(r"__sum_price +hidden +part of AveragePrice +SUM\(price\)", text)
    assert re.search(r"__count +hidden +tells when a group is empty +COUNT\(\*\)", text)
    assert re.search(r"AveragePrice +CAST\(__sum_price AS DOUBLE\) / nullif", text)
    assert "costs 1,100 tuple accesses: from SID_sales 1,100, the least; then pos 10,100" in text


def test_explain_shows_edges_in_and_out_with_labels_and_queries():
    text = view_text(*retail(), "sR_sales", width=100)
    assert "From sCD_sales (chosen)\n  SELECT sCD_sales.__stores_region AS region," in text
    assert "From SiC_sales ⋈ stores\n" in text
    assert "It can also be derived from SID_sales." in text
    below = view_text(*retail(), "SID_sales", width=100)
    assert "sCD_sales ⋈ stores; SiC_sales ⋈ items; sR_sales ⋈ stores" in below
    assert "computed from it: sCD_sales, SiC_sales" in below


def test_explain_says_why_a_table_is_rebuilt():
    text = view_text(*odd(), "distinct_prices", width=100)
    assert "in this batch rebuilt" in text
    assert "because: Prices: the distinct values of a group cannot be told from counts" in text


def test_the_plan_in_order_with_reasons():
    lattice, maintenance = retail()
    text = plan_text(build_plan(lattice, maintenance), lattice, width=80)
    stages = re.findall(r"^ +(\d+)  (\w+) +(\S+)", text, re.MULTILINE)
    assert [int(number) for number, _, _ in stages] == list(range(1, len(stages) + 1))
    verbs = [verb for _, verb, _ in stages]
    assert verbs == sorted(
        verbs, key=["seal", "propagate", "apply", "refresh", "recompute", "publish"].index
    )
    assert text.startswith(
        "retail: the plan of a batch\n"
        "changes: pos 5,000 inserted and 5,000 deleted (the usual changes, Table 3)\n"
        "\n"
        "Propagate, while readers read                              12,100 tuple accesses\n"
        "   1  seal       the changes: 10,000 of pos\n"
        "   2  propagate  SID_sales                                                10,000\n"
        "                   reads    the changes of pos, 10,000 rows\n"
        "                   writes   the delta of SID_sales, 1,000 rows\n"
        "                   why so   the only way\n"
        "                   instead  rebuilding would cost 1,100,000\n"
        "   3  propagate  sCD_sales                                                 1,000\n"
        "                   reads    the delta of SID_sales, 1,000 rows ⋈ stores\n"
        "                   writes   the delta of sCD_sales, 100 rows\n"
        "                   why so   SID_sales ⋈ stores 1,000 is the least; then pos ⋈\n"
        "                            stores 10,000\n"
    )
    assert "The window, in which tables change" in text
    assert "    __stores_region: carried for tables below\n" in text


def test_the_plan_without_reasons_is_shorter():
    lattice, maintenance = odd()
    text = plan_text(build_plan(lattice, maintenance), lattice, reasons=False, width=100)
    assert "why so" not in text
    assert "hidden from readers" not in text
    assert "reads    pos, 1,000,000 rows ⋈ stores" in text.replace("reads   pos", "reads    pos")


def test_the_plan_tells_the_terms_of_a_changed_dimension():
    lattice, _ = retail()
    maintenance = choose(lattice, TABLE_3, parse_changes(["pos=+1000", "stores=~3"], TABLES))
    text = plan_text(build_plan(lattice, maintenance), lattice, width=100)
    assert "the delta of SID_sales, 632 rows ⋈ stores\n" in text
    assert "SID_sales as it was, 100,000 rows ⋈ the changes of stores\n" in text
    assert "apply      stores" in text


def test_untouched_tables_and_a_batch_without_changes():
    lattice, _ = retail()
    some = choose(lattice, TABLE_3, parse_changes(["stores=~3"], TABLES))
    assert "Untouched by these changes: SID_sales, SiC_sales." in plan_text(
        build_plan(lattice, some), lattice, width=100
    )
    none = choose(lattice, TABLE_3, Changes(()))
    text = plan_text(build_plan(lattice, none), lattice, width=100)
    assert text.endswith("Nothing has changed: there is nothing to do.\n")


@pytest.mark.parametrize("seed", range(8))
def test_lines_keep_within_the_width_and_everything_is_named(seed):
    lattice, maintenance = random_lattice(seed, 12)
    plan = build_plan(lattice, maintenance)
    for width in (60, 100):
        for text in (
            plan_text(plan, lattice, width=width),
            cost_text(cost_table(lattice, TABLE_3), width=100),
        ):
            assert all(visible(line) <= max(width, 100) for line in text.splitlines())
            assert all(re.search(rf"\b{name}\b", text) for name in lattice.nodes)
    for name in lattice.nodes:
        for line in view_text(lattice, maintenance, name, width=100).splitlines():
            assert visible(line) <= 100 or line.startswith("  "), line


def test_lattice_data_is_json_in_a_stable_order():
    data = json.loads(json.dumps(lattice_data(*retail())))
    assert [view["name"] for view in data["views"]] == list(retail()[0].nodes)
    assert data["tops"] == ["SID_sales"]
    edges = {(edge["parent"], edge["child"]): edge for edge in data["edges"]}
    assert edges["SID_sales", "sCD_sales"] == {
        "parent": "SID_sales",
        "child": "sCD_sales",
        "joins": ["stores"],
        "chosen": True,
        "cost": 1_100,
    }
    assert edges["SiC_sales", "sR_sales"]["chosen"] is False
    assert data["views"][1]["keys"][2] == {
        "name": "__stores_region",
        "expression": "stores.region",
        "origin": "extension",
    }
    assert json.dumps(lattice_data(*retail())) == json.dumps(lattice_data(*retail()))
    asked = lattice_data(*retail(), sql=True)["edges"]
    assert isinstance(asked, list)
    assert all("SELECT" in edge["query"] for edge in asked)


def test_view_data_has_every_way_in_with_its_query():
    data = json.loads(json.dumps(view_data(*retail(), "sR_sales")))
    assert [(way["parent"], way["joins"], way["chosen"]) for way in data["ways"]] == [
        ("sCD_sales", [], True),
        ("SID_sales", ["stores"], False),
        ("SiC_sales", ["stores"], False),
        (None, ["stores"], False),
    ]
    assert all(way["query"].startswith("SELECT") for way in data["ways"])
    assert data["mode"] == "delta"
    assert data["parent"] == "sCD_sales"
