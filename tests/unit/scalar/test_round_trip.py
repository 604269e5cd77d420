"""Text written from an expression reads back as the same expression."""

from hypothesis import given, settings

from cubekeeper.parse import parse_aggregate, parse_expression
from cubekeeper.scalar.aggregates import Aggregate
from cubekeeper.scalar.nodes import Expr
from cubekeeper.scalar.text import aggregate_to_sql, to_sql
from cubekeeper.source import Fragment
from tests.unit.scalar.expressions import SCOPE, aggregates, exprs, written


@settings(max_examples=300, deadline=None)
@given(exprs)
def test_expression(expr: Expr) -> None:
    text = to_sql(expr, written)
    assert parse_expression(Fragment.of_text(text), SCOPE) == expr, text


@settings(max_examples=50, deadline=None)
@given(aggregates())
def test_aggregate(aggregate: Aggregate) -> None:
    text = aggregate_to_sql(aggregate, written)
    assert parse_aggregate(Fragment.of_text(text), SCOPE) == aggregate, text
