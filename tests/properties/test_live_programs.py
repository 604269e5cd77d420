"""Law 2 for the calculus: every map of every program stays equal to its definition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cubekeeper.live.calculus.build import var
from cubekeeper.live.calculus.nodes import ZERO
from cubekeeper.live.calculus.variables import free
from cubekeeper.live.interpret.evaluate import rows
from cubekeeper.live.interpret.machine import Machine
from cubekeeper.live.lower.viewlets import Compiler, Mode
from cubekeeper.live.m3.nodes import Relation, View
from tests.properties.live_random import ARITIES, database, databases, plus, queries, v

RELATIONS = [
    Relation(name, tuple(var(f"k{i}", nullable=True) for i in range(arity)))
    for name, arity in ARITIES.items()
]


def compiled(query, mode):
    columns = tuple(v(name) for name in sorted(free(query)))
    view = View("Q", columns, tuple(c.column for c in columns), query)
    return Compiler(RELATIONS, mode).compile([view])


def assert_right(machine, query, data):
    for declared in machine.program.maps:
        names = tuple(key.column for key in declared.keys)
        expected = rows(declared.definition, database(data), names)
        assert machine.maps[declared.name].rows == expected, declared
    names = tuple(sorted(free(query)))
    (view,) = machine.program.views
    assert rows(view.query, machine, names) == rows(query, database(data), names)


def names_in_order(data):
    return st.permutations(sorted(data))


@settings(max_examples=max(10, settings().max_examples // 5))
@pytest.mark.parametrize("by_row", [False, True], ids=["batches", "rows"])
@pytest.mark.parametrize("mode", Mode, ids=lambda mode: mode.value)
@given(query=queries(1), batches=st.lists(databases(least=-2), max_size=2), data=st.data())
def test_every_map_equals_its_definition(mode, by_row, query, batches, data):
    if query == ZERO:
        return
    machine = Machine(compiled(query, mode))
    state: dict[str, dict] = {name: {} for name in ARITIES}
    machine.load(state)
    for batch in batches:
        order = data.draw(names_in_order(batch))
        changes = {name: batch[name] for name in order}
        (machine.tuples if by_row else machine.batch)(changes)
        state = plus(state, changes)
        assert_right(machine, query, state)
