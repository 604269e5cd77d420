"""Programs written by hand, and input that is wrong."""

from pathlib import Path

import pytest

from cubekeeper.errors import CubekeeperError, InputError
from cubekeeper.live.view import LiveView
from cubekeeper.parse.calculus import parse_program
from cubekeeper.source import Fragment

SQL = Path(__file__).resolve().parents[3] / "sql"
TABLES = "CREATE TABLE R (a INT NOT NULL, b INT); "


def test_a_program_written_by_hand_runs():
    program = parse_program(Fragment.of_text((SQL / "m3" / "sales.m3").read_text()))
    view = LiveView(program)
    view.apply({"O": [(1, 7, 3), (2, 7, 5)], "LI": [(1, 1, 10), (2, 1, 4)]}, by_row=True)
    assert view.rows() == [(50,)]
    view.apply({}, {"LI": [(1, 1, 10)]}, by_row=True)
    assert view.rows() == [(20,)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("map Q[]: bigint := R(x);", "m3-syntax"),
        ("stream R(a bigint); map Q[]: bigint := Sum[](R(a) * {b});", "m3-scope"),
        ("stream R(a bigint); on insert into R(a) { Q[] += 1; }", "m3-syntax"),
        ("stream R(a bigint) map", "m3-syntax"),
    ],
)
def test_a_wrong_program_is_refused_with_its_place(text, code):
    with pytest.raises(InputError) as caught:
        parse_program(Fragment.of_text(text))
    assert caught.value.code == code
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT x FROM R", "unknown-column"),
        ("SELECT a FROM Q", "unknown-table"),
        ("SELECT a FROM R x, R y", "ambiguous-column"),
        ("SELECT a + 'x' FROM R", "type-error"),
        ("SELECT a, SUM(b) FROM R", "not-grouped"),
        ("SELECT a FROM R WHERE SUM(b) > 1", "misplaced-aggregate"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY a) FROM R", "window"),
        ("SELECT a FROM R WHERE b = (SELECT b FROM R)", "scalar-subquery"),
        ("SELECT a FROM (SELECT a FROM R LIMIT 1) x", "nested-limit"),
        ("SELECT MEDIAN(a) FROM R", "unsupported-aggregate"),
    ],
)
def test_wrong_sql_is_refused_with_its_place(query, code):
    with pytest.raises(CubekeeperError) as caught:
        LiveView.of(TABLES + query)
    assert caught.value.code == code
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("inserts", "deletes", "code"),
    [
        ({"Q": [(1, 2)]}, {}, "unknown-table"),
        ({"R": [(1,)]}, {}, "row-columns"),
        ({"R": [{"a": 1, "c": 2}]}, {}, "row-columns"),
        ({"R": [("x", 2)]}, {}, "value-type"),
        ({"R": [(None, 2)]}, {}, "null-value"),
        ({"R": [(5, 5)]}, {"R": [(9, 9)]}, "missing-row"),
    ],
)
def test_a_wrong_batch_changes_nothing(inserts, deletes, code):
    view = LiveView.of(TABLES + "SELECT a, b FROM R")
    view.apply({"R": [(1, 2)]})
    with pytest.raises(InputError) as caught:
        view.apply(inserts, deletes)
    assert caught.value.code == code
    assert view.rows() == [(1, 2)]


def test_order_and_limit():
    view = LiveView.of(TABLES + "SELECT b, a FROM R ORDER BY b DESC NULLS LAST, a LIMIT 3")
    view.apply({"R": [(1, 2), (2, None), (3, 7), (4, 2)]})
    assert view.rows() == [(7, 3), (2, 1), (2, 4)]


def test_nothing_is_left_behind():
    view = LiveView.of(TABLES + "SELECT a, MIN(b), COUNT(DISTINCT b) FROM R GROUP BY a")
    view.apply({"R": [(1, 2), (1, 3), (2, None)]})
    view.apply({}, {"R": [(1, 2), (1, 3), (2, None)]})
    assert not any(len(collection) for collection in view.machine.maps.values())
