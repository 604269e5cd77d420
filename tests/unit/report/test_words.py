from __future__ import annotations

import pytest

from cubekeeper.report.words import (
    Role,
    clean,
    number,
    plain,
    said,
    table,
    terminal_width,
    visible,
    wrap,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1, "1"),
        (999.6, "1,000"),
        (1_314_010, "1,314,010"),
        (2.5, "2.5"),
        (2.999, "3"),
        (0.00012, "0.00012"),
        (-1234, "-1,234"),
        (float("inf"), "unknown"),
        (float("nan"), "unknown"),
    ],
)
def test_numbers_have_thousands_separators_and_no_needless_decimals(value, text):
    assert number(value) == text


def test_columns_of_the_environment_set_the_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "77")
    assert terminal_width() == 77
    monkeypatch.setenv("COLUMNS", "1000")
    assert terminal_width() == 120


def test_table_columns_line_up_whatever_the_style():
    def loud(text, role):
        return f"<{role.value}>{text}</{role.value}>"

    rows = [["a", "1", "short"], ["longer name", "1,000", "words " * 30]]
    header = ["name", "figure", "because"]
    bare = table(header, rows, numeric=[1], width=60, total=["total", "1,001", ""])
    dressed = table(header, rows, numeric=[1], width=60, total=["total", "1,001", ""], style=loud)
    for role in Role:
        dressed = [
            line.replace(f"<{role.value}>", "").replace(f"</{role.value}>", "") for line in dressed
        ]
    assert [line.rstrip() for line in dressed] == bare
    assert all(visible(line) <= 60 for line in bare)
    ends = {line.index("1") + len(line.split()[0]) for line in bare if line.startswith("a ")}
    assert ends
    one, thousand = (next(line for line in bare if text in line) for text in ("short", "1,000"))
    assert one.index("1") == thousand.index("1,000") + 4


def test_wide_characters_take_two_columns():
    lines = table(["name", "n"], [["東京", "1"], ["abcd", "2"]], numeric=[1])
    assert lines[2] == "東京  1"
    assert lines[3] == "abcd  2"


def test_control_characters_never_reach_a_terminal():
    evil = "x\x1b[2J\x07\u202e\ny"
    assert clean(evil).isprintable()
    assert "\x1b" not in "".join(wrap(evil, 40))
    assert "\x1b" not in "".join(table([evil], [[evil]]))
    assert "\x1b" not in "".join(said(evil, 40, plain))
