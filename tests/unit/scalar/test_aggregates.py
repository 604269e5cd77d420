"""Aggregates: Spark's types, nullability, and how each can be maintained."""

import pytest

from cubekeeper.scalar.aggregates import (
    AggregateClass,
    AggregateFunction,
    aggregate,
)
from cubekeeper.scalar.build import TypeProblem, column, literal
from cubekeeper.scalar.text import aggregate_to_sql
from tests.unit.scalar.expressions import COLUMNS, written

F = AggregateFunction

TYPES = """
COUNT(note) bigint
COUNT(DISTINCT note) bigint
APPROX_COUNT_DISTINCT(note) bigint
SUM(tiny) bigint?
SUM(qty) bigint
SUM(big) bigint?
SUM(price) decimal(22,2)
SUM(rate) decimal(15,4)?
SUM(wide) decimal(38,10)?
SUM(real) double?
SUM(ratio) double
SUM(DISTINCT price) decimal(22,2)
AVG(qty) double
AVG(price) decimal(16,6)
AVG(rate) decimal(9,8)?
AVG(wide) decimal(38,14)?
AVG(DISTINCT ratio) double
MIN(price) decimal(12,2)
MIN(note) string?
MAX(date) date
MAX(flag) boolean?
VAR_POP(price) double
VAR_SAMP(price) double?
STDDEV_POP(qty) double
STDDEV_SAMP(qty) double?
MEDIAN(price) double
"""


@pytest.mark.parametrize("line", TYPES.strip().splitlines())
def test_types(line: str) -> None:
    text, expected = line.rsplit(" ", 1)
    name, _, argument = text.removesuffix(")").partition("(")
    distinct = argument.startswith("DISTINCT ")
    function = F((name + ("_distinct" if distinct else "")).lower())
    built = aggregate(function, column((), COLUMNS[argument.removeprefix("DISTINCT ")]))
    assert str(built.type) + ("?" if built.nullable else "") == expected
    assert aggregate_to_sql(built, written) == text


def test_count_rows() -> None:
    built = aggregate(F.COUNT_ROWS)
    assert (str(built.type), built.nullable, built.argument) == ("bigint", False, None)


def test_classes() -> None:
    distributive = {F.COUNT_ROWS, F.COUNT, F.SUM, F.MIN, F.MAX}
    algebraic = {F.AVG, F.VAR_POP, F.VAR_SAMP, F.STDDEV_POP, F.STDDEV_SAMP}
    for function in F:
        holistic = function not in distributive | algebraic
        assert (function.family is AggregateClass.HOLISTIC) is holistic
        assert (function.reason is not None) is holistic
        assert (function.family is AggregateClass.DISTRIBUTIVE) is (function in distributive)


@pytest.mark.parametrize(
    ("function", "name", "message"),
    [
        (F.SUM, "note", "SUM takes a number, not string"),
        (F.AVG, "date", "AVG takes a number, not date"),
        (F.SUM, "flag", "SUM takes a number, not boolean"),
        (F.SUM_DISTINCT, "flag", "SUM takes a number, not boolean"),
        (F.MEDIAN, "note", "MEDIAN takes a number, not string"),
    ],
)
def test_refused(function: AggregateFunction, name: str, message: str) -> None:
    with pytest.raises(TypeProblem) as caught:
        aggregate(function, column((), COLUMNS[name]))
    assert caught.value.message == message


def test_refused_arguments() -> None:
    with pytest.raises(TypeProblem, match="sum takes an argument"):
        aggregate(F.SUM)
    with pytest.raises(TypeProblem, match="count_rows takes no argument"):
        aggregate(F.COUNT_ROWS, literal(1))
    with pytest.raises(TypeProblem, match="MIN of NULL has no type"):
        aggregate(F.MIN, literal(None))
