"""What is printed reads back: queries of the calculus, and programs in every mode."""

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cubekeeper.live.calculus.nodes import ZERO
from cubekeeper.live.calculus.text import to_text
from cubekeeper.live.calculus.variables import free
from cubekeeper.live.interpret.evaluate import rows
from cubekeeper.live.interpret.machine import Machine
from cubekeeper.live.lower.viewlets import Mode
from cubekeeper.live.m3.text import program_text
from cubekeeper.parse.calculus import parse_program, parse_query
from cubekeeper.source import Fragment
from tests.properties.live_random import ARITIES, database, databases, queries, v
from tests.properties.test_live_programs import assert_right, compiled

COLUMNS = {name: tuple(v(f"k{i}") for i in range(n)) for name, n in ARITIES.items()}


@settings(phases=[Phase.generate])
@given(queries(), databases())
def test_a_query_reads_back(query, data):
    """Nothing is lost but what nobody can tell apart: that a lifted number is never NULL."""
    again = parse_query(Fragment.of_text(to_text(query)), COLUMNS)
    assert to_text(parse_query(Fragment.of_text(to_text(again)), COLUMNS)) == to_text(again)
    names = tuple(sorted(free(query)))
    assert rows(again, database(data), names) == rows(query, database(data), names)


@settings(phases=[Phase.generate])
@given(queries(1), st.sampled_from(Mode), databases())
def test_a_program_reads_back_and_runs(query, mode, data):
    if query == ZERO:
        return
    program = compiled(query, mode)
    text = program_text(program)
    again = parse_program(Fragment.of_text(text))
    assert program_text(again) == text
    machine = Machine(again)
    machine.load({})
    machine.batch(data)
    assert_right(machine, query, data)
