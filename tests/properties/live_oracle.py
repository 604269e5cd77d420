"""DuckDB as the oracle of live views: the same SQL after every batch of a random stream."""

import math
import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import duckdb

from cubekeeper.live.view import LiveView

SCHEMA = """
CREATE TABLE R (a INT, b INT, c INT);
CREATE TABLE S (b INT, d INT, name VARCHAR(10));
CREATE TABLE T (k INT NOT NULL, a INT, price DECIMAL(8,2), day DATE);
"""


def value(rng, column):
    from datetime import date

    if column == "name":
        return rng.choice([None, "ab", "abc", "b%", "Xy"])
    if column == "price":
        return rng.choice([None, *(Decimal(n) / 4 for n in range(-4, 12))])
    if column == "day":
        return rng.choice([None, *(date(2024, m, 28) for m in (1, 2, 12))])
    if column == "k":
        return rng.randint(0, 4)
    return rng.choice([None, 0, 1, 1, 2, 3])


COLUMNS = {"R": ("a", "b", "c"), "S": ("b", "d", "name"), "T": ("k", "a", "price", "day")}


def batches(seed, count=5, width=5):
    """Inserts and deletes, some of them updates, by table."""
    rng = random.Random(seed)
    alive: dict[str, list] = {name: [] for name in COLUMNS}
    for number in range(count):
        inserts = {
            name: [tuple(value(rng, c) for c in columns) for _ in range(rng.randint(0, width))]
            for name, columns in COLUMNS.items()
        }
        deletes = {}
        for name, rows in alive.items():
            gone = rows[:] if number == count - 1 else rng.sample(rows, rng.randint(0, len(rows)))
            deletes[name] = gone
            for row in gone:
                rows.remove(row)
            rows += inserts[name]
        yield inserts, deletes


def normal(item):
    if isinstance(item, bool) or item is None or isinstance(item, str):
        return item
    if isinstance(item, int | float | Decimal | Fraction):
        number = float(item)
        if math.isnan(number) or math.isinf(number):
            return str(number)
        return float(f"{number:.9g}") + 0.0
    return str(item)


def bag(rows):
    return Counter(tuple(normal(v) for v in row) for row in rows)


class Oracle:
    def __init__(self, schema=SCHEMA):
        self.connection = duckdb.connect()
        for statement in schema.split(";"):
            if statement.strip():
                self.connection.execute(statement)

    def apply(self, inserts, deletes):
        for name, rows in inserts.items():
            marks = ", ".join("?" for _ in COLUMNS[name])
            for row in rows:
                self.connection.execute(f"INSERT INTO {name} VALUES ({marks})", row)
        for name, rows in deletes.items():
            test = " AND ".join(f"{c} IS NOT DISTINCT FROM ?" for c in COLUMNS[name])
            for row in rows:
                self.connection.execute(
                    f"DELETE FROM {name} WHERE rowid = "
                    f"(SELECT min(rowid) FROM {name} WHERE {test})",
                    row,
                )

    def rows(self, query):
        return self.connection.execute(query).fetchall()


def check(query, mode, *, by_row=False, seed=0, count=5, width=5):
    """Compare a live view with DuckDB after every batch."""
    view = LiveView.of(f"{SCHEMA}{query}", mode)
    oracle = Oracle()
    assert bag(view.rows()) == bag(oracle.rows(query)), "empty tables"
    for inserts, deletes in batches(seed, count, width):
        oracle.apply(inserts, deletes)
        view.apply(inserts, deletes, by_row=by_row)
        assert bag(view.rows()) == bag(oracle.rows(query)), (inserts, deletes)
