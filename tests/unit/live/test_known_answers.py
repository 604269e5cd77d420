"""The worked examples of the DBToaster paper (VLDB 2012) and of the slides of 2010."""

from cubekeeper.live.calculus.build import var
from cubekeeper.live.calculus.variables import free
from cubekeeper.live.interpret.evaluate import rows
from cubekeeper.live.interpret.machine import Machine
from cubekeeper.live.lower.viewlets import Compiler, Mode
from cubekeeper.live.m3.nodes import Event, Relation, View
from cubekeeper.live.m3.text import map_text, statement_text
from cubekeeper.live.view import LiveView
from cubekeeper.parse.calculus import parse_query
from cubekeeper.source import Fragment


def program(text, relations, mode=Mode.OPTIMIZED):
    declared = [
        Relation(name, tuple(var(c) for c in columns.split()))
        for name, columns in relations.items()
    ]
    query = parse_query(Fragment.of_text(text), {r.name: r.columns for r in declared})
    columns = tuple(var(c) for c in sorted(free(query)))
    view = View("Q", columns, tuple(c.column for c in columns), query)
    return Compiler(declared, mode).compile([view])


def inserting(compiled, relation):
    (trigger,) = (t for t in compiled.triggers if (t.event, t.relation) == (Event.INSERT, relation))
    return [statement_text(s) for s in trigger.statements]


def definitions(compiled):
    return [map_text(m).partition(":= ")[2] for m in compiled.maps]


def contents(machine, name):
    return machine.maps[name].rows


def test_example_1_goes_through_its_five_states():
    compiled = program("Sum[](R(x) * S(y))", {"R": "x", "S": "y"}, Mode.NAIVE)
    assert definitions(compiled) == ["Sum[](R(x) * S(y));", "Sum[](S(y));", "Sum[](R(x));"]
    machine = Machine(compiled)
    for relation, count in (("R", 2), ("S", 3)):
        for number in range(count):
            machine.event(Event.INSERT, relation, (number,))
    states = []
    for number, relation in enumerate(["", "S", "R", "S", "S"]):
        if relation:
            machine.event(Event.INSERT, relation, (100 + number,))
        states.append(tuple(contents(machine, name)[()] for name in ("Q", "Q_1", "Q_2")))
    assert states == [(6, 3, 2), (8, 4, 2), (12, 4, 3), (15, 5, 3), (18, 6, 3)]


ORDERS = {"O": "ordk custk xch", "LI": "ordk partk price"}


def test_examples_2_and_7_have_triggers_of_constant_time():
    compiled = program(
        "Sum[](O(k, custk, xch) * LI(k2, partk, price) * [k = k2] * {price * xch})", ORDERS
    )
    assert inserting(compiled, "O") == [
        "Q[] += {x_xch} * Q_1[x_ordk];",
        "Q_2[x_ordk] += {x_xch};",
    ]
    assert inserting(compiled, "LI") == [
        "Q[] += {x_price} * Q_2[x_ordk];",
        "Q_1[x_ordk] += {x_price};",
    ]


def test_examples_8_and_9_keep_the_outer_and_the_nested_query_apart():
    compiled = program("Sum[](R(a) * (n := Sum[](S(b))) * [n = a])", {"R": "a", "S": "b"})
    assert sorted(definitions(compiled)) == ["R(a);", "Sum[](S(b));"]
    machine = Machine(compiled)
    machine.batch({"R": {(1,): 1, (2,): 3}, "S": {(7,): 1}})
    (view,) = compiled.views
    assert rows(view.query, machine, ()) == {(): 1}
    machine.batch({"S": {(8,): 1}})
    assert rows(view.query, machine, ()) == {(): 3}


def test_figure_4_has_these_maps_and_statements():
    compiled = program(
        "Sum[ck](C(ck) * O(ck, ok) * LI(ok, qty) * {qty}"
        " * (n := Sum[ok](LI(ok, q2) * {q2})) * [100 < n])",
        {"C": "ck", "O": "ck ok", "LI": "ok qty"},
    )
    nested = "(n := Sum[ok](LI(ok, q2) * {q2})) * [n > 100]"
    assert definitions(compiled) == [
        f"Sum[ck](C(ck) * O(ck, ok) * LI(ok, qty) * {{qty}} * {nested});",  # Q
        f"Sum[ck](O(ck, ok) * LI(ok, qty) * {{qty}} * {nested});",  # Q_C
        "C(ck);",  # Q_O1
        "Sum[ok](LI(ok, qty) * {qty});",  # Q_O2
        "C(ck) * O(ck, ok);",  # Q_LI
        "O(ck, ok);",  # Q_LI,C
    ]
    assert inserting(compiled, "C") == [
        "Q[x_ck] += Q_1[x_ck];",  # 01
        "C[x_ck] += 1;",  # 03
        "Q_3[x_ck, ok] += O[x_ck, ok];",  # 02
    ]
    large = "Sum[]((n := Q_2[x_ok]) * [n > 100])"
    larger = "Sum[]((n := Q_2[x_ok] + {x_qty}) * [n > 100])"
    assert inserting(compiled, "O") == [
        f"Q[x_ck] += C[x_ck] * Q_2[x_ok] * {large};",  # 04
        f"Q_1[x_ck] += Q_2[x_ok] * {large};",  # 07
        "Q_3[x_ck, x_ok] += C[x_ck];",  # 05
        "O[x_ck, x_ok] += 1;",  # 06
    ]
    change = f"(Q_2[x_ok] * {larger} - Q_2[x_ok] * {large} + {larger} * {{x_qty}})"
    assert inserting(compiled, "LI") == [
        f"Q[ck] += Q_3[ck, x_ok] * {change};",  # 08
        f"Q_1[ck] += O[ck, x_ok] * {change};",  # 09
        "Q_2[x_ok] += {x_qty};",  # 10
    ]


def test_customers_of_a_nation_go_through_the_six_events_of_the_slides():
    compiled = program("Sum[c1](C(c1, n) * C(c2, n))", {"C": "cid nation"})
    assert inserting(compiled, "C") == [
        "Q[x_cid] += Q_1[x_nation] + 1;",
        "Q[c1] += C[c1, x_nation];",
        "Q_1[x_nation] += 1;",
        "C[x_cid, x_nation] += 1;",
    ]
    machine = Machine(compiled)
    insert, delete = Event.INSERT, Event.DELETE
    seen = []
    for event, row in [
        (insert, (1, "US")),
        (insert, (2, "UK")),
        (insert, (3, "UK")),
        (insert, (4, "US")),
        (delete, (3, "UK")),
        (insert, (3, "US")),
    ]:
        machine.event(event, "C", row)
        seen.append({key[0]: count for key, count in contents(machine, "Q").items()})
    assert seen == [
        {1: 1},
        {1: 1, 2: 1},
        {1: 1, 2: 2, 3: 2},
        {1: 2, 2: 2, 3: 2, 4: 2},
        {1: 2, 2: 1, 4: 2},
        {1: 3, 2: 1, 3: 3, 4: 3},
    ]
    assert contents(machine, "Q_1") == {("US",): 3, ("UK",): 1}


def test_three_relations_in_bulk():
    compiled = program(
        "Sum[](R(a, b) * S(b, c) * T(c, d) * {a * d})", {"R": "a b", "S": "b c", "T": "c d"}
    )
    assert inserting(compiled, "R")[0] == "Q[] += {x_a} * Q_1[x_b];"
    assert inserting(compiled, "S")[:2] == [
        "Q[] += Q_2[x_b] * Q_3[x_c];",
        "Q_1[x_b] += Q_3[x_c];",
    ]
    assert inserting(compiled, "T") == [
        "Q[] += {x_d} * Q_4[x_c];",
        "Q_1[b] += {x_d} * S[b, x_c];",
        "Q_3[x_c] += {x_d};",
    ]


HOLDS = """
CREATE TABLE Bids (t INT, oid INT, bid INT, p INT, v INT);
CREATE TABLE Asks (t INT, oid INT, bid INT, p INT, v INT);
SELECT SUM((A.p * A.v - B.p * B.v) * (A.t - B.t)) AS holds FROM Bids B, Asks A WHERE B.bid = A.bid
"""


def test_the_holds_of_the_slides():
    view = LiveView.of(HOLDS)
    bids = [(5, 4, 2, 100, 50), (3, 2, 1, 90, 100), (7, 6, 1, 70, 25)]
    asks = [(6, 5, 2, 105, 70), (2, 1, 1, 110, 60), (4, 3, 1, 115, 50)]
    view.apply({"Bids": bids, "Asks": asks})
    view.apply({"Bids": [(9, 4, 2, 100, 100)]}, {"Bids": [bids[0]]})
    view.apply({"Asks": [(11, 5, 2, 105, 120)]}, {"Asks": [asks[0]]}, by_row=True)
    assert view.rows() == [(-31900,)]
