"""The twelve queries of the paper, against DuckDB after every batch, in every mode."""

import random
import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from cubekeeper.live.lower.viewlets import Mode
from cubekeeper.live.view import LiveView
from tests.properties.live_oracle import bag

FOLDER = Path(__file__).resolve().parents[2] / "sql" / "paper"
SMALL = {"orderkey": 6, "custkey": 4, "partkey": 4, "suppkey": 3, "nationkey": 3, "regionkey": 2}


def parts(name):
    text = (FOLDER / f"{name}.sql").read_text()
    start = text.index("CREATE VIEW")
    views = {v.split()[2]: v for v in re.findall(r"CREATE VIEW.*?;", text[start:], re.DOTALL)}
    return text[:start], views


CASES = [(name, view) for name in ("finance", "tpch") for view in parts(name)[1]]


def value(rng, column, kind):
    if column in SMALL:
        return rng.randint(1, SMALL[column])
    if kind.startswith("decimal"):
        return Decimal(rng.randint(-200, 6000)) / 100
    if kind == "date":
        return date(rng.choice([1994, 1995, 1997]), rng.randint(1, 12), rng.randint(1, 28))
    if kind == "string":
        return rng.choice(["BUILDING", "AUTO"])
    if column == "price":
        return rng.randint(1, 8) * 600
    return rng.randint(1, 9)


def run(name, view_name, mode, *, by_row, seed, batches=4):
    schema, views = parts(name)
    query = views[view_name].partition(" AS\n")[2].rstrip(";")
    live = LiveView.of(schema + views[view_name], mode)
    oracle = duckdb.connect()
    for statement in re.sub(r"TBLPROPERTIES \(.*?\)", "", schema).split(";"):
        if "CREATE" in statement:
            oracle.execute(statement)
    rng = random.Random(seed)
    alive: dict[str, list] = {r.name: [] for r in live.program.relations}
    for number in range(batches):
        inserts, deletes = {}, {}
        for relation in live.program.relations:
            if relation.static and number:
                continue
            new = [
                tuple(value(rng, c.column, str(c.type)) for c in relation.columns)
                for _ in range(rng.randint(0, 6))
            ]
            rows = alive[relation.name]
            old = [] if relation.static else rng.sample(rows, rng.randint(0, len(rows) // 2))
            for row in old:
                rows.remove(row)
            rows += new
            inserts[relation.name], deletes[relation.name] = new, old
            oracle.execute(f"DELETE FROM {relation.name}")
            marks = ", ".join("?" for _ in relation.columns)
            for row in rows:
                oracle.execute(f"INSERT INTO {relation.name} VALUES ({marks})", row)
        if number == 0:
            static = {r.name for r in live.program.relations if r.static}
            live.apply({n: rows for n, rows in inserts.items() if n in static})
            inserts = {n: rows for n, rows in inserts.items() if n not in static}
        live.apply(inserts, deletes, by_row=by_row)
        assert bag(live.rows()) == bag(oracle.execute(query).fetchall())


@pytest.mark.parametrize("by_row", [False, True], ids=["batches", "rows"])
@pytest.mark.parametrize(("name", "view"), CASES)
def test_optimized(name, view, by_row):
    for seed in range(2):
        run(name, view, Mode.OPTIMIZED, by_row=by_row, seed=seed)


@pytest.mark.parametrize("mode", [Mode.DEPTH_0, Mode.DEPTH_1, Mode.NAIVE], ids=lambda m: m.value)
@pytest.mark.parametrize(("name", "view"), CASES)
def test_other_modes(name, view, mode):
    run(name, view, mode, by_row=False, seed=3, batches=3)


def test_views_share_maps():
    schema, views = parts("finance")
    together = LiveView.of(schema + "".join(views.values())).program
    alone = sum(len(LiveView.of(schema + v).program.maps) for v in views.values())
    assert len(together.maps) < alone


def test_a_static_table_costs_nothing():
    schema, views = parts("tpch")
    program = LiveView.of(schema + views["SSB4"]).program
    assert not any(trigger.relation == "Nation" for trigger in program.triggers)
