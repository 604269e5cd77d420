from __future__ import annotations

import re

import pytest

from cubekeeper.derive import choose
from cubekeeper.report import lattice_text
from cubekeeper.report.words import visible
from cubekeeper.statistics.changes import parse_changes
from tests.unit.report.samples import (
    SID,
    SR,
    STORE,
    TABLE_3,
    lattice_of,
    odd,
    random_lattice,
    retail,
    view,
)


def test_the_paper_s_example_exactly():
    assert lattice_text(*retail(), width=100) == (
        "retail: 4 summary tables over 1 fact\n"
        "changes: pos 5,000 inserted and 5,000 deleted (the usual changes, Table 3)\n"
        "cost: 12,100 to propagate, and in the window 17,110 tuple accesses\n"
        "\n"
        "                                rows  delta rows  tuple accesses\n"
        "pos                        1,000,000      10,000\n"
        "└─ SID_sales                 100,000       1,000          11,000\n"
        "   │  by storeID, itemID, date\n"
        "   │  TotalCount, TotalQuantity\n"
        "   ├─ ⋈ stores  sCD_sales     10,000         100           1,100\n"
        "   │  │  by city, date, [__stores_region]\n"
        "   │  │  TotalCount, TotalQuantity\n"
        "   │  └─ sR_sales                 10          10             110\n"
        "   │        by region\n"
        "   │        TotalCount, TotalQuantity\n"
        "   │        or from SiC_sales ⋈ stores\n"
        "   └─ ⋈ items  SiC_sales       2,000       1,000           2,000\n"
        "         by storeID, category\n"
        "         TotalCount, EarliestSale, TotalQuantity\n"
        "         after deletions about 10 groups of EarliestSale to look up again, 5,000 tuple"
        " accesses\n"
        "\n"
        "[column]  stored, but hidden from readers\n"
        "⋈ name    the dimension to join on the way from the table above\n"
    )


def heads(text: str) -> list[str]:
    """The lines on which a table of the tree begins."""
    return [line for line in text.splitlines() if re.search(r"[├└]─ ", line)]


def branches(text: str) -> list[tuple[int, str]]:
    """The tables of a tree, each with how far it is indented."""
    found = [re.match(r"(.*)[├└]─ .*?(v\d+)(\s|$)", line) for line in heads(text)]
    return [(len(match[1]), match[2]) for match in found if match]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_table_stands_once_and_lines_keep_within_the_width(seed, width):
    lattice, maintenance = random_lattice(seed, 14)
    text = lattice_text(lattice, maintenance, width=width)
    names = [name for _, name in branches(text)]
    assert sorted(names) == sorted(lattice.nodes)
    assert all(visible(line) <= width for line in text.splitlines())


@pytest.mark.parametrize("seed", range(6))
def test_a_table_stands_under_its_chosen_parent(seed):
    lattice, maintenance = random_lattice(seed, 10)
    text = lattice_text(lattice, maintenance, width=120)
    path: list[tuple[int, str]] = []
    for depth, name in branches(text):
        path = [(column, above) for column, above in path if column < depth]
        made = maintenance.deltas.by_view.get(name) or maintenance.rebuilds.by_view[name]
        assert (path[-1][1] if path else None) == made.parent
        path.append((depth, name))


def test_rebuilt_tables_say_why_and_estimates_are_marked():
    text = lattice_text(*odd(), width=120)
    assert "always rebuilt: Prices: the distinct values of a group cannot be told" in text
    assert "one row for all" in text
    assert "~100" in text
    assert "estimated or assumed, not given" in text
    assert "[__sum_price]" in text


def test_tables_that_the_changes_do_not_reach_are_shown_all_the_same():
    lattice, _ = lattice_of(SID, SR)
    changes = parse_changes(["stores=~3"], ["pos", "stores", "items"])
    text = lattice_text(lattice, choose(lattice, TABLE_3, changes), width=100)
    assert "SID_sales" in text
    assert "untouched by these changes" in text


def test_queries_follow_when_asked_for():
    text = lattice_text(*retail(), sql=True, width=100)
    assert "SID_sales → sCD_sales ⋈ stores (chosen)" in text
    assert "  JOIN stores ON SID_sales.storeID = stores.storeID" in text
    assert "SiC_sales → sR_sales ⋈ stores\n" in text


def test_the_style_dresses_and_does_not_move():
    def loud(text, _role):
        return f"\x1b[1m{text}\x1b[0m"

    dressed = lattice_text(*retail(), width=100, style=loud)
    assert "\x1b[1m" in dressed
    bare = re.sub(r"\x1b\[\dm", "", dressed)
    assert [line.rstrip() for line in bare.splitlines()] == lattice_text(
        *retail(), width=100
    ).splitlines()


def test_equal_tables_make_no_circle():
    lattice, maintenance = lattice_of(*(view(name, (STORE,)) for name in ("a", "b", "c")))
    assert len(heads(lattice_text(lattice, maintenance, width=80))) == 3
