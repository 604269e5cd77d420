"""Texts that are huge, deep, broken or not SQL at all give an error of ours and nothing else."""

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubekeeper.errors import CubekeeperError, InputError
from cubekeeper.parse import (
    bind,
    bind_aggregate,
    equality,
    is_aggregate,
    ordinal,
    parse_aggregate,
    parse_expression,
    parse_select,
)
from cubekeeper.source import Fragment, Source
from tests.unit.scalar.expressions import SCOPE

DEEP = {
    "parentheses": "(" * 5000 + "qty" + ")" * 5000,
    "calls": "abs(" * 40 + "qty" + ")" * 40,
    "cases": "CASE WHEN flag THEN " * 500 + "1" + " END" * 500,
    "nots": "NOT " * 2000 + "flag",
    "signs": "- " * 2000 + "qty",
    "sum": "qty" + " + 1" * 3000,
    "casts": "qty" + "::int" * 3000,
    "dots": "a" + ".b" * 3000,
    "subqueries": "(SELECT " * 500 + "1" + ")" * 500,
    "comparisons": "qty = " * 300 + "1",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep(name: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_expression(Fragment.of_text(DEEP[name]), SCOPE)
    assert caught.value.code == "too-deep"
    with pytest.raises(CubekeeperError):
        parse_select(Fragment.of_text(f"SELECT {DEEP[name]} FROM t WHERE {DEEP[name]} = 1"))


def test_long() -> None:
    with pytest.raises(InputError) as caught:
        parse_expression(Fragment.of_text("qty + " * 200_000 + "1"), SCOPE)
    assert caught.value.code == "too-long"
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        " OR ".join(f"qty = {i}" for i in range(3000)),
        " AND ".join(f"qty <> {i}" for i in range(3000)),
        " || ".join(["name"] * 3000),
        f"qty IN ({', '.join(map(str, range(10_000)))})",
        "CASE " + "WHEN flag THEN 1 " * 1000 + "END",
        "(" * 29 + "qty" + ")" * 29,
        "qty" + " + 1" * 100,
    ],
    ids=lambda text: text[:20],
)
def test_wide_is_fine(text: str) -> None:
    start = time.monotonic()
    parse_expression(Fragment.of_text(text), SCOPE)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("text", ["", "   ", "\n", "-- only a comment", ";", "\0", "\ufeff"])
def test_nothing(text: str) -> None:
    with pytest.raises(CubekeeperError):
        parse_expression(Fragment.of_text(text), SCOPE)
    with pytest.raises(CubekeeperError):
        parse_select(Fragment.of_text(text))


WORDS = """
a qty price name date flag ( ) ( ) , . * + - / % || = <> < > <=> ! ~ & | ^ ? : ; [ ] { } -> => ::
@ $ # ' " ` 'x' 'it''s' 1 2.5 1e3 5L 1.5BD 0x1F null true select from where group by having order
limit union with as distinct case when then else end cast try_cast int decimal(10,2)
date'2020-01-01' interval day month in not and or is like between exists any all over partition
filter within sum count avg median rand now if coalesce year extract trim substring position join
left full cross using on lateral view explode create table values rollup cube grouping sets /* */
-- /*+ escape rlike row struct array map unnest pivot window rows timestamp collate at time zone
array<int> t.* a.b.c.d é 漢
""".split()
SEEDS = (
    "SELECT a , SUM( qty ) FROM t JOIN u ON t.x = u.x WHERE a > 1 GROUP BY a",
    "CASE WHEN flag THEN qty ELSE price END",
    "SUM( qty * price ) FILTER ( WHERE flag )",
    "CREATE VIEW v ( a , b ) AS SELECT a , COUNT(*) FROM t GROUP BY a",
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    words = draw(st.sampled_from(SEEDS)).split()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(words) - 1))
        words[at : at + draw(st.integers(0, 2))] = draw(
            st.lists(st.sampled_from(WORDS), min_size=1, max_size=2)
        )
    return " ".join(words)


soups = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), mutated(), st.text(max_size=20)
)


@given(soups)
def test_only_our_errors(text: str) -> None:
    fragment = Fragment.of_text(text)
    for read in (parse_expression, parse_aggregate):
        with suppress(CubekeeperError):
            read(fragment, SCOPE)
    try:
        select = parse_select(fragment)
    except CubekeeperError:
        return
    for raw in (*select.where, *select.group_by, *(item.expr for item in select.items)):
        assert raw.text
        is_aggregate(raw), equality(raw), ordinal(raw)
        for use in (bind, bind_aggregate):
            with suppress(CubekeeperError):
                use(raw, SCOPE)


YAML = """\
views:
  - name: bad
    filter: qty > 1 AND nam = 'x'
    sql: |
      SELECT name,
             SUM(prize) AS total
      FROM t
      WHERE qty + note > 1
"""


def test_positions_inside_a_yaml_file() -> None:
    source = Source("shop.yml", YAML)
    start = YAML.index("qty > 1")
    line = Fragment("qty > 1 AND nam = 'x'", source, ((0, start),))
    with pytest.raises(InputError) as caught:
        parse_expression(line, SCOPE)
    assert str(caught.value.span) == "shop.yml:3:25"

    lines = YAML[YAML.index("      SELECT") :].splitlines()
    text = "\n".join(line[6:] for line in lines) + "\n"
    pieces = tuple((text.index(line[6:]), YAML.index(line) + 6) for line in lines)
    block = Fragment(text, source, pieces)
    select = parse_select(block)
    with pytest.raises(InputError) as caught:
        bind_aggregate(select.items[1].expr, SCOPE)
    assert str(caught.value) == (
        "shop.yml:6:18: error: there is no column `prize` [unknown-column]\n"
        "               SUM(prize) AS total\n"
        "                   ^^^^^\n"
        "  hint: did you mean `price`?"
    )
    with pytest.raises(InputError) as caught:
        bind(select.where[0], SCOPE)
    assert str(caught.value.span) == "shop.yml:8:19"
