"""A small night on Delta tables: it trains the class-data archive and is what start-up is timed on.

As a program, `python -m cubekeeper.spark.exercise plain|ours FOLDER NOW` goes from a cold process
to its first Delta result, with a session as Spark's manual shows it or with cubekeeper's, and
prints when it got where.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Final

from pyspark import SparkContext
from pyspark.sql import SparkSession

from cubekeeper.spark.jars import find_jars
from cubekeeper.spark.session import DELTA_CATALOG, DELTA_EXTENSION, close_session, open_session
from cubekeeper.spark.settings import read_settings

SALES: Final = """
    SELECT id, id % 50 AS store, date_add(DATE '2026-01-01', CAST(id % 30 AS INT)) AS day,
           CAST(id % 17 AS DECIMAL(12, 2)) AS amount, CAST(id AS STRING) AS note
    FROM range({first}, {end})
"""


def first_result(session: SparkSession, folder: str) -> int:
    """Write a Delta table and read a grouped sum of it back; returns the number of groups."""
    sales = f"{folder}/sales"
    session.sql(SALES.format(first=0, end=1000)).write.format("delta").save(sales)
    grouped = session.sql(
        f"SELECT store, count(*), sum(amount) FROM delta.`{sales}` GROUP BY store"
    )
    return len(grouped.collect())


def merge(session: SparkSession, folder: str) -> None:
    """Merge changes into the table that `first_result` wrote."""
    session.sql(
        f"""MERGE INTO delta.`{folder}/sales` t
            USING ({SALES.format(first=900, end=1100)}) s
            ON t.id <=> s.id AND t.day >= DATE '2026-01-01'
            WHEN MATCHED AND s.amount < 2 THEN DELETE
            WHEN MATCHED THEN UPDATE SET amount = CAST(t.amount + s.amount AS DECIMAL(12, 2))
            WHEN NOT MATCHED THEN INSERT *"""
    )


def night(session: SparkSession, folder: str) -> None:
    """Touch what a nightly batch uses, so that the archive holds the classes for it."""
    first_result(session, folder)
    merge(session, folder)
    views = f"{folder}/views"
    session.sql(
        f"""SELECT store, day, count(*) AS n, sum(amount) AS amount, min(day) AS first_day
            FROM delta.`{folder}/sales` VERSION AS OF 0
            GROUP BY GROUPING SETS ((store, day), (store), (day), ())"""
    ).write.format("delta").partitionBy("day").save(views)
    changed = session.sql(
        f"""SELECT coalesce(a.store, b.store) AS store, coalesce(a.day, b.day) AS day,
                   coalesce(a.n, 0) + coalesce(b.n, 0) AS n, a.amount, b.first_day
            FROM delta.`{views}` a FULL OUTER JOIN delta.`{views}` b
              ON a.store <=> b.store AND a.day <=> b.day
            WHERE coalesce(a.day, b.day) = DATE '2026-01-05'"""
    )
    replaced = changed.write.format("delta").mode("overwrite")
    replaced.option("replaceWhere", "day = DATE '2026-01-05'").save(views)
    session.read.format("delta").load(views).orderBy("n").toArrow()


def _plain_session() -> SparkSession:
    """A session with Delta as the manuals show it, its jars at hand."""
    return (
        SparkSession.builder.appName("plain")
        .config("spark.jars", ",".join(map(str, find_jars())))
        .config("spark.sql.extensions", DELTA_EXTENSION)
        .config("spark.sql.catalog.spark_catalog", DELTA_CATALOG)
        .getOrCreate()
    )


def _end_plain_session(session: SparkSession) -> None:
    gateway = SparkContext._gateway
    assert gateway is not None
    session.stop()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def main(kind: str, folder: str, began: float) -> dict[str, float]:
    """Seconds since the process was asked for, and of processor time until its end."""
    session = _plain_session() if kind == "plain" else open_session(read_settings())
    laps = {"session": time.time() - began}
    first_result(session, folder)
    laps["result"] = time.time() - began
    merge(session, folder)
    laps["merge"] = time.time() - began
    if kind == "plain":
        _end_plain_session(session)
    else:
        close_session()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return laps | {"cpu": sum(each.ru_utime + each.ru_stime for each in used)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1], sys.argv[2], float(sys.argv[3]))) + "\n")
