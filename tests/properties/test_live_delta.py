"""Law 3: delta(Q)(D, dD) = Q(D + dD) - Q(D), for batches and for single rows."""

from hypothesis import given
from hypothesis import strategies as st

from cubekeeper.live.calculus.build import var
from cubekeeper.live.calculus.variables import free, modes
from cubekeeper.live.interpret.collection import Collection
from cubekeeper.live.interpret.evaluate import rows
from cubekeeper.live.transform.delta import batch, delta, single
from tests.properties.live_random import ARITIES, database, databases, plus, queries


def difference(query, before, after):
    columns = tuple(sorted(free(query)))
    change = Collection(rows(query, database(after), columns))
    for key, count in rows(query, database(before), columns).items():
        change.add(key, -count)
    return change.rows


@given(queries(), databases(), st.sampled_from(sorted(ARITIES)), databases(least=-2))
def test_batch(query, before, name, changes):
    changes = {name: changes[name]}
    found = delta(query, batch(name))
    columns = tuple(sorted(free(query)))
    got = rows(found, database(before, changes), columns) if free(found) >= free(query) else {}
    assert got == difference(query, before, plus(before, changes))


@given(queries(), databases(), st.sampled_from(sorted(ARITIES)), st.data())
def test_single(query, before, name, data):
    values = data.draw(st.tuples(*[st.one_of(st.none(), st.integers(0, 2))] * ARITIES[name]))
    sign = data.draw(st.sampled_from([1, -1]))
    args = [var(f"@{i}", nullable=True) for i in range(len(values))]
    known = {arg.column: value for arg, value in zip(args, values, strict=True)}
    found = delta(query, single(name, args, sign))
    columns = tuple(sorted(free(query)))
    got = rows(found, database(before), columns, known) if free(found) >= free(query) else {}
    assert got == difference(query, before, plus(before, {name: {values: sign}}))


@given(queries())
def test_every_random_query_finds_its_variables(query):
    assert modes(query) == (frozenset(), free(query))
