"""How long the old versions of a Delta table stay readable, as table properties.

A published batch is a set of table versions. Since Delta 4.1 a version older than
`deletedFileRetentionDuration` is refused even if its files are there, and the log that knows
versions is cut after `logRetentionDuration`; both must therefore outlast the longest time that a
warehouse may go without a batch, with its readers still reading the last one.
"""

from __future__ import annotations

from typing import Final

from cubekeeper.errors import InputError

SHORTEST_DAYS: Final = 7
DEFAULTS_PREFIX: Final = "spark.databricks.delta.properties.defaults."


def table_properties(retention_days: int) -> dict[str, str]:
    """The properties that every table of a warehouse is made with, by Spark and by delta-rs alike.

    >>> table_properties(30)["delta.deletedFileRetentionDuration"]
    'interval 30 days'
    """
    if retention_days < SHORTEST_DAYS:
        raise InputError(
            "retention",
            f"`retention_days` is {retention_days}, and readers need at least {SHORTEST_DAYS}",
            hint="take more days than the longest time without a batch",
        )
    return {
        "delta.deletedFileRetentionDuration": f"interval {retention_days} days",
        "delta.logRetentionDuration": f"interval {retention_days} days",
    }


def session_defaults(retention_days: int) -> dict[str, str]:
    """The same as settings of a session, for tables that it makes without naming properties.

    >>> for key in session_defaults(30):
    ...     print(key)
    spark.databricks.delta.properties.defaults.deletedFileRetentionDuration
    spark.databricks.delta.properties.defaults.logRetentionDuration
    """
    properties = table_properties(retention_days).items()
    return {DEFAULTS_PREFIX + key.removeprefix("delta."): value for key, value in properties}
