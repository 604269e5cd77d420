"""Reading stays quick. The bounds are several times what is usual, so that only a blunder fails."""

import time
from random import Random

from cubekeeper.declare import load_text

FACTS, DIMENSIONS, VIEWS = 5, 6, 200


def _warehouse() -> str:
    rng = Random(1)
    lines = ["dimensions:"]
    for d in range(DIMENSIONS):
        attributes = ", ".join(f"d{d}_a{n}: string" for n in range(8))
        lines.append(f"  - {{name: dim{d}, key: d{d}_id, columns: {{d{d}_id: int, {attributes}}}}}")
    lines.append("facts:")
    for f in range(FACTS):
        keys = ", ".join(f"f{f}_d{d}: int" for d in range(DIMENSIONS))
        values = ", ".join(f"f{f}_m{n}: int not null" for n in range(6))
        joins = ", ".join(f"{{dimension: dim{d}, on: f{f}_d{d}}}" for d in range(DIMENSIONS))
        lines.append(f"  - {{name: fact{f}, columns: {{{keys}, {values}}}, joins: [{joins}]}}")
    lines.append("summary_tables:")
    for v in range(VIEWS):
        f, dimensions = v % FACTS, rng.sample(range(DIMENSIONS), 3)
        groups = ", ".join(f"d{d}_a{rng.randrange(3)}" for d in dimensions)
        measures = {"n": "COUNT(*)", "s": f"SUM(f{f}_m0 * f{f}_m1)", "a": f"AVG(f{f}_m2)"}
        condition = f"f{f}_m1 > {rng.randrange(50)}"
        if v % 2:
            listed = ", ".join(f"{name}: {sql}" for name, sql in measures.items())
            lines.append(f"  - name: v{v}\n    fact: fact{f}\n    group_by: [{groups}]")
            lines.append(f"    filter: {condition}\n    measures: [{listed}]")
        else:
            selected = ", ".join(f"{sql} AS {name}" for name, sql in measures.items())
            joins = " ".join(f"JOIN dim{d} ON f{f}_d{d} = d{d}_id" for d in dimensions)
            lines.append(
                f"  - name: v{v}\n    sql: SELECT {groups}, {selected} FROM fact{f} {joins}"
            )
            lines.append(f"         WHERE {condition} GROUP BY {groups}")
    return "\n".join(lines) + "\n"


def _seconds(text: str, views: int) -> float:
    begun = time.process_time()
    assert len(load_text(text).warehouse.summary_tables) == views
    return time.process_time() - begun


def test_two_hundred_views_over_five_facts():
    assert _seconds(_warehouse(), VIEWS) < 3


def test_a_cube_of_four_thousand_views():
    columns = [f"c{n}" for n in range(12)]
    text = (
        f"facts: [{{name: f, columns: {{{', '.join(f'{c}: int' for c in columns)}}}}}]\n"
        f"cubes: [{{name: c, fact: f, cube: [{', '.join(columns)}], measures: [n: COUNT(*)]}}]\n"
    )
    assert _seconds(text, 4096) < 2
