"""Reading which base tables change: from statistics, or from what is typed."""

import pytest

from cubekeeper.errors import InputError
from cubekeeper.statistics.changes import Changes, TableChange, parse_changes, usual_changes
from cubekeeper.statistics.model import Statistics, TableStatistics

TABLES = ("pos", "stores", "items")


def asked(*texts: str) -> dict[str, tuple[float, float]]:
    changes = parse_changes(texts, TABLES)
    return {change.table: (change.insertions, change.deletions) for change in changes.tables}


@pytest.mark.parametrize(
    ("text", "insertions", "deletions"),
    [
        ("pos=10000", 5_000, 5_000),
        ("pos=+10000", 10_000, 0),
        ("pos=-200", 0, 200),
        ("pos=+5000-200", 5_000, 200),
        ("pos=~3", 3, 3),
        ("pos=+10~1", 11, 1),
        ("POS = +1_000", 1_000, 0),
    ],
)
def test_what_is_typed(text, insertions, deletions):
    assert asked(text) == {"pos": (insertions, deletions)}


def test_tables_come_in_the_order_of_the_warehouse_and_add_up():
    assert list(asked("items=+1", "pos=+5", "items=-2").items()) == [
        ("pos", (5, 0)),
        ("items", (1, 2)),
    ]


def test_a_change_of_no_rows_is_no_change():
    assert asked("pos=0", "stores=+0") == {}


@pytest.mark.parametrize("text", ["pos", "pos=", "pos=many", "=5", "pos=5%", "pos=+-5", ""])
def test_what_is_no_change_is_refused_with_an_example(text):
    with pytest.raises(InputError, match="is not a change") as refused:
        parse_changes([text], TABLES)
    assert refused.value.code == "bad-change"
    assert "pos=+5000" in (refused.value.hint or "")


def test_an_unknown_table_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="`store`") as refused:
        parse_changes(["store=+1"], TABLES)
    assert refused.value.code == "unknown-table"
    assert refused.value.hint == "did you mean `stores`?"


def test_the_usual_changes_are_those_of_the_statistics():
    known = Statistics(
        tables={
            "pos": TableStatistics(insertions=7, deletions=2),
            "stores": TableStatistics(updates=3),
            "items": TableStatistics(rows=5),
        },
        origin="stats.yml",
    )
    usual = usual_changes(known, ["pos"], ["stores", "items"])
    assert usual.tables == (TableChange("pos", 7, 2), TableChange("stores", 3, 3))
    assert usual.origin == "the usual changes, stats.yml"


def test_without_statistics_nothing_is_taken_for_granted():
    usual = usual_changes(
        Statistics(tables={"pos": TableStatistics(rows=2_000)}), ["pos", "empty"], ["stores"]
    )
    assert usual.tables == (TableChange("pos", 10, 10), TableChange("empty", 5_000, 5_000))
    assert usual.origin.startswith("assumed: 1% of every fact")


def test_looking_up_a_change():
    changes = Changes((TableChange("pos", 3, 1),))
    assert changes.rows("pos") == 4
    assert changes.rows("stores") == 0
    assert changes.of("stores") is None
    assert TableChange("pos", 3, 0).insert_only
