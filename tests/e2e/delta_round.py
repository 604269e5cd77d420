"""A Delta table's life in one round, for any session; as a script, for the one of the environment.

The script prints what the round gives, as JSON, and where Spark ran.
"""

import json
import sys
from typing import Any

from pyspark.sql import SparkSession

from cubekeeper.spark.session import close_session, open_session
from cubekeeper.spark.settings import read_settings

ROUND = {
    "versions": [0, 1],
    "before": [[1, "10.50", "a"], [2, "20.00", None], [None, "5.00", "n"]],
    "after": [[2, "20.25", None], [3, "7.00", "new"], [None, "6.00", "n"]],
    "retention": "interval 30 days",
}


def delta_round(session: SparkSession, folder: str) -> dict[str, Any]:
    """Create a table, merge into it with a NULL key, and read both versions."""
    table = f"delta.`{folder}/round`"
    session.sql(
        f"""CREATE TABLE {table} USING delta AS
            SELECT * FROM VALUES (1, 10.50BD, 'a'), (2, 20.00BD, NULL), (NULL, 5.00BD, 'n')
            AS t(id, amount, note)"""
    )
    session.sql(
        f"""MERGE INTO {table} t
            USING (SELECT * FROM VALUES (1, -10.50BD, 'a'), (2, 0.25BD, NULL), (3, 7.00BD, 'new'),
                                        (NULL, 1.00BD, 'n') AS s(id, amount, note)) s
            ON t.id <=> s.id
            WHEN MATCHED AND t.amount + s.amount = 0 THEN DELETE
            WHEN MATCHED THEN UPDATE SET amount = CAST(t.amount + s.amount AS DECIMAL(4, 2))
            WHEN NOT MATCHED THEN INSERT *"""
    )
    history = session.sql(f"DESCRIBE HISTORY {table}").collect()
    detail = session.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    return {
        "versions": sorted(row["version"] for row in history),
        "before": _rows(session, f"{table} VERSION AS OF 0"),
        "after": _rows(session, table),
        "retention": detail["properties"]["delta.deletedFileRetentionDuration"],
    }


def _rows(session: SparkSession, table: str) -> list[list[Any]]:
    ordered = session.sql(f"SELECT * FROM {table} ORDER BY id NULLS LAST").collect()
    return [[row["id"], str(row["amount"]), row["note"]] for row in ordered]


def main() -> None:
    settings = read_settings()
    session = open_session(settings)
    executors = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    where = {"master": session.sparkContext.master, "executors": executors}
    result = delta_round(session, settings.path("tables"))
    close_session()
    sys.stdout.write(json.dumps({"round": result, **where}))


if __name__ == "__main__":
    main()
