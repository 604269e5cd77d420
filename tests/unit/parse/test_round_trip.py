"""Text written from an expression reads back as the same expression, and other engines read it."""

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings

from cubekeeper.parse import parse_aggregate, parse_expression
from cubekeeper.scalar.aggregates import Aggregate
from cubekeeper.scalar.nodes import Expr
from cubekeeper.scalar.text import aggregate_to_sql, quote, to_sql
from cubekeeper.schema import TIMESTAMP, TIMESTAMP_NTZ
from cubekeeper.source import Fragment, Span
from tests.unit.scalar.expressions import COLUMNS, SCOPE, aggregates, exprs, written

many = settings(max_examples=4 * settings().max_examples)


@many
@given(exprs)
def test_expression(expr: Expr) -> None:
    text = to_sql(expr, written)
    assert parse_expression(Fragment.of_text(text), SCOPE) == expr, text


@given(aggregates())
def test_aggregate(aggregate: Aggregate) -> None:
    text = aggregate_to_sql(aggregate, written)
    assert parse_aggregate(Fragment.of_text(text), SCOPE) == aggregate, text


def _tables() -> str:
    names = {TIMESTAMP: "TIMESTAMPTZ", TIMESTAMP_NTZ: "TIMESTAMP"}
    columns = ", ".join(
        f'"{column.name}" {names.get(column.type, str(column.type))}' for column in COLUMNS.values()
    )
    return (
        f"CREATE TABLE t ({columns}, store STRUCT({columns}));"
        "CREATE MACRO pmod(a, b) AS ((a % b) + b) % b;"
    )


def test_duckdb_understands_it() -> None:
    with duckdb.connect() as connection:
        connection.execute(_tables())

        @many
        @given(exprs)
        def understood(expr: Expr) -> None:
            text = f"SELECT {to_sql(expr, written)} AS value FROM t"
            connection.execute(sqlglot.transpile(text, read="spark", write="duckdb")[0]).fetchall()

        understood()


KEYWORDS = sorted(
    word.lower() for word in sqlglot.dialects.Spark.Tokenizer.KEYWORDS if word.isidentifier()
)


@pytest.mark.parametrize("word", KEYWORDS)
def test_a_keyword_as_a_name(word: str) -> None:
    """`quote` puts backticks around every word that would not be read as a column."""

    class Anything:
        def resolve(self, parts: tuple[str, ...], span: Span) -> Expr:
            assert parts[-1] == word
            return SCOPE.resolve(("qty",), span)

    name = quote(word)
    for text in (
        name,
        f"1 + {name}",
        f"t.{name} = {name}",
        f"CASE WHEN {name} = 1 THEN {name} END",
    ):
        parse_expression(Fragment.of_text(text), Anything())
