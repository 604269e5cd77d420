"""Every rule keeps the value of every query, and so do the ring's laws."""

import pytest
from hypothesis import given

from cubekeeper.live.calculus.build import add, mul, neg, sum_over
from cubekeeper.live.calculus.nodes import ZERO
from cubekeeper.live.calculus.variables import free
from cubekeeper.live.interpret.evaluate import rows
from cubekeeper.live.transform.delta import batch, delta
from cubekeeper.live.transform.passes import rewrite
from cubekeeper.live.transform.rules import RULES, simplify
from tests.properties.live_random import database, databases, queries


def meaning(query, data, columns):
    return {} if query == ZERO else rows(query, database(data, data), columns)


def assert_same(left, right, data):
    columns = tuple(sorted(free(left)))
    assert meaning(right, data, columns) == meaning(left, data, columns)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@given(query=queries(), data=databases())
def test_a_rule_keeps_the_value(rule, query, data):
    assert_same(query, rewrite(query, [rule]), data)


@given(queries(), databases())
def test_all_rules_together_keep_the_value(query, data):
    assert_same(query, simplify(query), data)


@given(queries(), databases())
def test_they_keep_the_value_of_deltas(query, data):
    change = delta(query, batch("R"))
    assert_same(change, simplify(change), data)


@given(queries(1), queries(1), queries(1), databases())
def test_products_commute_and_distribute_over_sums(a, b, c, data):
    names = sorted(free(b) & free(c))
    b, c = (sum_over(sorted(free(q) - set(names)), q) for q in (b, c))
    assert_same(mul(a, b), mul(b, a), data)
    assert_same(mul(a, add(b, c)), add(mul(a, b), mul(a, c)), data)
    assert_same(mul(mul(a, b), c), mul(a, mul(b, c)), data)


@given(queries(1), databases())
def test_a_query_less_itself_is_nothing(query, data):
    assert add(query, neg(query)) == ZERO
    assert_same(add(query, query), add(query, add(query, add(query, neg(query)))), data)
