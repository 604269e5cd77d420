"""SQL text: parentheses, literals and quotes."""

import math
from datetime import date, datetime
from decimal import Decimal

import pytest

from cubekeeper.scalar.build import call, case, cast, column, literal
from cubekeeper.scalar.nodes import Expr
from cubekeeper.scalar.text import literal_text, quote, to_sql
from cubekeeper.schema import (
    BIGINT,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP_NTZ,
    TINYINT,
    DataType,
    decimal,
)
from tests.unit.scalar.expressions import COLUMNS, written

A, B, S, FLAG, D = (column((), COLUMNS[name]) for name in ("qty", "big", "note", "flag", "due"))


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (call("*", call("+", A, B), A), "(qty + big) * qty"),
        (call("+", A, call("*", B, A)), "qty + big * qty"),
        (call("-", A, call("-", B, A)), "qty - (big - qty)"),
        (call("-", call("-", A, B), A), "qty - big - qty"),
        (call("/", A, call("*", B, A)), "qty / (big * qty)"),
        (call("negate", call("+", A, B)), "-(qty + big)"),
        (call("negate", call("negate", A)), "-(-qty)"),
        (call("-", A, literal(-5)), "qty - -5"),
        (
            call("and", FLAG, call("or", FLAG, call("is_null", S))),
            "flag AND (flag OR note IS NULL)",
        ),
        (call("not", call("and", FLAG, call("is_null", S))), "NOT (flag AND note IS NULL)"),
        (call("not", call("is_null", S)), "note IS NOT NULL"),
        (call("not", call("in", A, literal(1), literal(2))), "qty NOT IN (1, 2)"),
        (call("not", call("like", S, literal("a%"))), "note NOT LIKE 'a%'"),
        (call("like", S, literal("a!%"), literal("!")), "note LIKE 'a!%' ESCAPE '!'"),
        (call("not", call("<=>", A, B)), "NOT big <=> qty"),
        (call("=", FLAG, call("=", A, literal(1))), "(qty = 1) = flag"),
        (call("is_null", call("=", A, literal(1))), "(qty = 1) IS NULL"),
        (call("concat", S, literal("x")), "note || 'x'"),
        (call("is_null", call("concat", S, S)), "note || note IS NULL"),
        (call("ltrim", S, literal("x")), "trim(LEADING 'x' FROM note)"),
        (call("trim", S), "trim(note)"),
        (call("div", A, literal(2)), "qty DIV 2"),
        (case([(FLAG, A)], B), "CASE WHEN flag THEN qty ELSE big END"),
        (cast(S, decimal(12, 2)), "CAST(note AS DECIMAL(12,2))"),
        (column(("store", "city"), COLUMNS["unit price"]), "store.city.`unit price`"),
    ],
)
def test_expressions(expr: Expr, text: str) -> None:
    assert to_sql(expr, written) == text


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1, INT, "1"),
        (-1, INT, "-1"),
        (1, BIGINT, "1L"),
        (1 << 40, BIGINT, "1099511627776"),
        (1, SMALLINT, "1S"),
        (-128, TINYINT, "-128Y"),
        (Decimal("1.50"), decimal(3, 2), "1.50"),
        (Decimal("0.05"), decimal(2, 2), "0.05"),
        (Decimal("1.50"), decimal(12, 2), "CAST(1.50 AS DECIMAL(12,2))"),
        (Decimal(7), decimal(3, 0), "CAST(7 AS DECIMAL(3,0))"),
        (1.5, DOUBLE, "1.5E0"),
        (1e300, DOUBLE, "1E300"),
        (0.0, DOUBLE, "0E0"),
        (5e-324, DOUBLE, "5E-324"),
        (math.pi, DOUBLE, "3.141592653589793E0"),
        (0.5, FLOAT, "CAST(5E-1 AS FLOAT)"),
        (None, INT, "CAST(NULL AS INT)"),
        ("it's", STRING, r"'it\'s'"),
        ("a\\b", STRING, r"'a\\b'"),
        ("a\nb\0", STRING, r"'a\nb\u0000'"),
        ("Zürich 東京", STRING, "'Zürich 東京'"),
        (date(987, 1, 2), DataType(COLUMNS["date"].type.kind), "DATE '0987-01-02'"),
        (datetime(2024, 1, 2, 3, 4, 5), TIMESTAMP_NTZ, "TIMESTAMP_NTZ '2024-01-02 03:04:05'"),
    ],
)
def test_literals(value: int | float | str | None, kind: DataType, text: str) -> None:
    assert literal_text(literal(value, kind)) == text


def test_bare_literals() -> None:
    assert literal_text(literal(None)) == "NULL"
    assert literal_text(literal(True)) == "TRUE"
    assert literal_text(literal(datetime(2024, 1, 2, 3, 4, 5, 60))) == (
        "TIMESTAMP '2024-01-02 03:04:05.000060'"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("storeID", "storeID"),
        ("date", "date"),
        ("_x1", "_x1"),
        ("1x", "`1x`"),
        ("unit price", "`unit price`"),
        ("odd`name", "`odd``name`"),
        ("Order", "`Order`"),
        ("größe", "`größe`"),
        ("", "``"),
    ],
)
def test_quote(name: str, text: str) -> None:
    assert quote(name) == text
