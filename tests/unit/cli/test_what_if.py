"""`lattice what-if`: tables typed on the command line or read from a file."""

from pathlib import Path

import pytest

BY_DAY = "SELECT date, SUM(qty) AS units FROM pos GROUP BY date"


def test_sql_on_the_command_line_or_in_a_file_is_the_same(ask, tmp_path: Path):
    file = tmp_path / "by_day.sql"
    file.write_text(BY_DAY + "\n")
    args = ("lattice", "what-if", "lattice/retail", "--json", "--add")
    typed, read = ask(*args, f"by_day={BY_DAY}"), ask(*args, file)
    assert typed.code == read.code == 0
    assert typed.data == read.data
    assert typed.data["what_if"]["added"] == ["by_day"]


def test_a_table_can_be_replaced(ask):
    answer = ask(
        "lattice", "what-if", "lattice/retail", "--drop", "SR_SALES", "--add", f"sR_sales={BY_DAY}"
    )
    assert answer.code == 0, answer.err


@pytest.mark.parametrize(
    ("addition", "code", "place"),
    [
        ("by_day", "bad-addition", None),
        ("missing.sql", "unreadable", None),
        ("lattice.sql/x.sql", "unreadable", None),
        ("sid_SALES=" + BY_DAY, "duplicate-name", None),
        ("pos=" + BY_DAY, "duplicate-name", None),
        ("by_day=SELECT dat, COUNT(*) AS n FROM pos GROUP BY dat", "unknown-column", 8),
    ],
)
def test_additions_that_cannot_be(ask, addition, code, place):
    answer = ask("lattice", "what-if", "lattice/retail", "--add", addition, "--json")
    assert answer.code == 2
    error = answer.data["errors"][0]
    assert error["code"] == code
    if place:
        assert error["where"] == {"file": "--add by_day", "line": 1, "column": place, "length": 3}


def test_a_file_that_is_not_text(ask, tmp_path: Path):
    file = tmp_path / "by_day.sql"
    file.write_bytes(b"SELECT \xff")
    answer = ask("lattice", "what-if", "lattice/retail", "--add", file)
    assert (answer.code, answer.out) == (2, "")
    assert "is not UTF-8" in answer.err


def test_all_wrong_additions_are_told_at_once(ask):
    args = ("lattice", "what-if", "lattice/retail", "--json", "--add", "a", "--add", "b.sql")
    assert [error["code"] for error in ask(*args).data["errors"]] == ["bad-addition", "unreadable"]


def test_the_warehouse_stays_as_it_is(ask):
    before = ask("lattice", "show", "lattice/retail", "--json").out
    ask("lattice", "what-if", "lattice/retail", "--drop", "SID_sales")
    assert ask("lattice", "show", "lattice/retail", "--json").out == before
