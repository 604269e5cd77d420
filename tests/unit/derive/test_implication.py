"""Filter implication, by examples: each row is `premises | conclusion`."""

from __future__ import annotations

import pytest

from cubekeeper.derive.implication import implies, residual
from cubekeeper.parse import parse_expression
from cubekeeper.scalar.build import column, conjuncts
from cubekeeper.scalar.nodes import Expr
from cubekeeper.scalar.text import to_sql
from cubekeeper.schema import Column, parse_type
from cubekeeper.source import Fragment, Span

COLUMNS = {
    "x": "int", "y": "int", "nn": "int not null", "big": "bigint", "tiny": "tinyint",
    "price": "decimal(10,2)", "rate": "double", "single": "float",
    "name": "string", "city": "string",
    "day": "date", "at": "timestamp", "clock": "timestamp_ntz",
    "flag": "boolean", "sure": "boolean not null", "raw": "binary",
}  # fmt: skip


class Scope:
    def resolve(self, parts: tuple[str, ...], span: Span) -> Expr:  # noqa: ARG002
        text = COLUMNS[parts[-1]]
        kind = parse_type(text.removesuffix(" not null"))
        return column((), Column(parts[-1], kind, not text.endswith("not null")))


def read(text: str) -> tuple[Expr, ...]:
    return conjuncts(parse_expression(Fragment.of_text(text), Scope())) if text.strip() else ()


def claimed(case: str) -> bool:
    premises, conclusion = case.split("|")
    return all(implies(read(premises), part) for part in read(conclusion))


@pytest.mark.parametrize(
    "case",
    [
        # the same
        "x > 3 | x > 3",
        "x > 3 AND name = 'a' | name = 'a'",
        "x > 3 | ",
        # ranges over one column
        "x > 4 | x > 3",
        "x = 5 | x >= 5",
        "x = 5 | x <> 4",
        "x BETWEEN 3 AND 5 | x < 6",
        "x > 3 | x <> 3",
        "x IN (1, 2) | x IN (1, 2, 3)",
        "x IN (1, 2) | x BETWEEN 1 AND 2",
        "x NOT IN (1, 2, 3) | x NOT IN (1, 3)",
        # several premises together
        "x >= 3 AND x <= 3 | x = 3",
        "x IN (1, 2, 3) AND x > 2 | x = 3",
        "x > 5 AND x < 5 | name = 'anything'",
        "x = 1 AND x = 2 | FALSE",
        # integers have gaps, decimals of a scale too
        "x > 4 | x >= 5",
        "x > 4 AND x < 6 | x = 5",
        "price > 1.50 | price >= 1.51",
        "price > 1.505 | price >= 1.51",
        "price <> 1.505 AND price IS NOT NULL | price IS NOT NULL",
        "day > DATE '2023-12-31' | day >= DATE '2024-01-01'",
        # types have bounds
        "tiny IS NOT NULL | tiny <= 127",
        "tiny > 126 | tiny = 127",
        # constants of other types
        "x > 4.5 | x >= 5",
        "x = 5 | x > 4.999",
        "x > 2E0 | x >= 3",
        "price >= 2 | price > 1.99",
        "rate > 2 | rate > 1.5",
        "big > 9007199254740993 | big >= 9.007199254740992E15",
        # NULL
        "x > 3 | x IS NOT NULL",
        "x <> 3 | x IS NOT NULL",
        "x IS NULL | NOT (x IS NOT NULL)",
        "NOT (x > 3) | x <= 3",
        "x + y > 3 | y IS NOT NULL",
        "upper(name) = 'A' | name IS NOT NULL",
        "x <=> 3 | x = 3",
        "x <=> NULL | x IS NULL",
        " | nn IS NOT NULL",
        " | nn = nn",
        "x IN (1, NULL) | x = 1",
        "x NOT IN (1, NULL) | FALSE",
        "x = NULL | FALSE",
        "coalesce(x, 0) = 1 | x = 1",
        "x IS NULL | coalesce(x, 7) = 7",
        # booleans
        "flag | flag = TRUE",
        "flag = TRUE | flag",
        "NOT flag | flag = FALSE",
        "flag <> TRUE | NOT flag",
        " | sure OR NOT sure",
        "flag | flag OR x > 3",
        # OR on either side, NOT of AND
        "x = 1 OR x = 2 | x <= 2",
        "x = 5 | x = 5 OR name = 'a'",
        "x < 0 OR x > 10 | x <> 5",
        "(x = 1 AND flag) OR (x = 2 AND flag) | flag",
        "(x > 5 OR flag) AND NOT flag | x > 5",
        "NOT (x > 5 OR flag) | x <= 5 AND NOT flag",
        "NOT (x > 5 AND y > 5) AND x > 7 | y <= 5",
        # two columns
        "x < y | x <= y",
        "x < y | y > x",
        "x < y | x <> y",
        "x = y | x <=> y",
        "x < y | y IS NOT NULL",
        # text
        "name = 'abc' | name LIKE 'ab%'",
        "name LIKE 'abc%' | name LIKE 'ab%'",
        "name LIKE 'ab%' | name >= 'ab'",
        "name LIKE 'ab%' | name < 'ac'",
        "name LIKE 'ab%c' | startswith(name, 'ab')",
        "name LIKE 'abc' | name = 'abc'",
        "name > 'é' | name > 'z'",
        # functions that never decrease
        "year(day) = 2024 | day >= DATE '2024-01-01'",
        "day BETWEEN DATE '2024-02-01' AND DATE '2024-06-30' | year(day) = 2024",
        "trunc(day, 'MONTH') = DATE '2024-02-01' | day < DATE '2024-03-01'",
        "day = DATE '2024-02-29' | trunc(day, 'QUARTER') = DATE '2024-01-01'",
        "x + 1 > 5 | x > 4",
        "date_add(day, 1) > DATE '2024-01-01' | day >= DATE '2024-01-01'",
        "CAST(x AS DECIMAL(12,2)) > 1.5 | x >= 2",
        # timestamps: far apart, or the same
        "at >= TIMESTAMP '2024-06-01 00:00:00' | at > TIMESTAMP '2024-01-01 00:00:00'",
        "at > TIMESTAMP '2024-06-01 00:00:00' | at >= TIMESTAMP '2024-06-01 00:00:00'",
        "clock > TIMESTAMP_NTZ '2024-06-01 00:00:01' | clock > TIMESTAMP_NTZ '2024-06-01 00:00:00'",
        # CASE
        "CASE WHEN x > 3 THEN TRUE ELSE FALSE END | x > 3",
        "x > 3 | CASE WHEN x > 3 THEN 'big' ELSE 'small' END = 'big'",
        # doubles: NaN is the greatest and equals itself
        "isnan(rate) | rate > 1E300",
        "rate <= 1E300 | NOT isnan(rate)",
    ],
)  # fmt: skip
def test_implied(case: str) -> None:
    assert claimed(case)


@pytest.mark.parametrize(
    "case",
    [
        "x > 3 | x > 4",
        "x >= 4 | x > 4",
        "x <> 4 | x > 4",
        "x IN (1, 2, 3) | x IN (1, 2)",
        "price > 1.5 | price >= 1.52",
        "rate > 1.5 | rate >= 1.6",
        # NULL rows are kept by neither a comparison nor its opposite
        " | x = x",
        " | x > 3 OR x <= 3",
        " | flag OR NOT flag",
        "x IS NULL | x <= 3",
        "x NOT IN (1, 2) | x IS NULL",
        "NOT (x > 3 AND flag) | NOT flag",
        "NOT (x > 3 AND flag) | x <= 3",
        "coalesce(x, 0) < 5 | x < 5",
        "x <=> y | x = y",
        # bigints and decimals are compared with doubles as doubles, several numbers as one
        "big = 9007199254740993 | big > 9.007199254740992E15",
        "big >= 9.007199254740992E15 | big >= 9007199254740993",
        # floats are not the decimals they look like
        "single >= CAST(1E-1 AS FLOAT) | single <= 1E-1",
        # NaN is above everything
        "rate > 1E300 | rate < 1E308",
        # the order of nearby timestamps depends on the session's time zone
        "at >= TIMESTAMP '2024-03-31 03:00:00' | at >= TIMESTAMP '2024-03-31 02:30:00'",
        # wildcards and escapes
        "name LIKE 'a_c' | name = 'abc'",
        r"name LIKE 'a\\%%' | name LIKE 'a\\_%'",
        "name LIKE '%c' | name = 'c'",
        # other columns
        "x > 3 | y > 3",
        "x < y | x < nn",
        "raw IS NOT NULL | raw IS NULL",
        "year(day) = 2024 | day >= DATE '2024-01-02'",
        "trunc(day, 'WEEK') = DATE '2024-01-01' | day < DATE '2024-01-07'",
    ],
)  # fmt: skip
def test_not_implied(case: str) -> None:
    assert not claimed(case)


@pytest.mark.parametrize(
    ("child", "parent", "expected"),
    [
        ("x > 3", "", ("x > 3",)),
        ("x > 3", "x > 3", ()),
        ("x > 3 AND flag", "x > 3", ("flag",)),
        ("x = 3 AND flag", "x > 2", ("flag", "x = 3")),
        ("x >= 3 AND x <= 5", "x >= 3", ("x <= 5",)),
        ("x > 3", "x > 4", None),
        ("", "x > 4", None),
        ("", "", ()),
        ("", "nn IS NOT NULL", ()),
        ("nn IS NOT NULL AND x > 3", "", ("x > 3",)),
        ("x = 1", "x = 1 OR y = 1", ("x = 1",)),
    ],
)
def test_what_is_left(child: str, parent: str, expected: tuple[str, ...] | None) -> None:
    left = residual(read(child), read(parent))
    texts = None if left is None else tuple(to_sql(part, lambda ref: ref.column) for part in left)
    assert texts == expected


def test_a_long_list_is_quick() -> None:
    """A thousand items are one set of values, not a thousand cases."""
    inner = ", ".join(str(number) for number in range(0, 2000, 2))
    outer = ", ".join(str(number) for number in range(2000))
    assert claimed(f"x IN ({inner}) | x IN ({outer})")
    assert not claimed(f"x IN ({outer}) | x IN ({inner})")
