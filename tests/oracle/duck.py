"""Spark SQL on DuckDB. Each function below bridges one difference of meaning, and says which.

What needs no bridge was checked: three-valued logic, NULLs in aggregates and GROUP BY, binary
order of strings, NaN as the greatest double and equal to itself, errors on integer overflow and
failed casts, rounding half up of decimals, truncating division of integers, ISO weeks.
What is not bridged, and must not be generated: MODE (ties), APPROX_COUNT_DISTINCT (another sketch),
decimals beyond 38 digits (Spark gives up scale, DuckDB refuses).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import duckdb
import sqlglot
from sqlglot import exp

from cubekeeper.schema import DataType, Kind


def connect() -> duckdb.DuckDBPyConnection:
    """A database in memory with the settings that our Spark sessions have."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET threads = 1")
    connection.execute("SET preserve_insertion_order = false")
    return connection


@lru_cache(maxsize=8192)
def to_duckdb(spark_sql: str) -> str:
    """The same query or expression in DuckDB's SQL.

    >>> to_duckdb("SELECT CAST(x AS INT), `a b` <=> 3L FROM t")
    'SELECT CAST(x AS INT), "a b" IS NOT DISTINCT FROM CAST(3 AS BIGINT) FROM t'
    """
    tree = sqlglot.parse_one(spark_sql, read="spark")
    for node in reversed(list(tree.walk(bfs=True))):  # parts before the wholes they are in
        bridge = _BRIDGES.get(type(node))
        bridged = node if bridge is None else bridge(node)
        if bridged is not node:
            if node is tree:
                tree = bridged
            else:
                node.replace(bridged)
    return tree.sql("duckdb")


def _strict_cast(node: exp.Expr) -> exp.Expr:
    """ANSI casts raise; sqlglot takes Spark's CAST for one that gives NULL."""
    return exp.Cast(this=node.this.copy(), to=node.args["to"].copy())


def _escaped_like(node: exp.Expr) -> exp.Expr:
    r"""LIKE escapes with a backslash in Spark, with nothing in DuckDB unless told."""
    if isinstance(node.parent, exp.Escape):
        return node
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _sunday_is_one(node: exp.Expr) -> exp.Expr:
    """DAYOFWEEK counts from Sunday = 1 in Spark, = 0 in DuckDB."""
    return exp.paren(exp.Add(this=node.copy(), expression=exp.Literal.number(1)))


def _stays_a_date(node: exp.Expr) -> exp.Expr:
    """DATE_ADD, ADD_MONTHS and TRUNC give a date in Spark, a timestamp in DuckDB."""
    return exp.cast(node.copy(), exp.DataType.Type.DATE)


def _is_a_timestamp(node: exp.Expr) -> exp.Expr:
    """DATE_TRUNC gives a timestamp with the session's zone in Spark, whatever it is given."""
    return exp.cast(node.copy(), exp.DataType.Type.TIMESTAMPTZ)


def _isnan_of_null(node: exp.Expr) -> exp.Expr:
    """ISNAN(NULL) is FALSE in Spark, NULL in DuckDB."""
    return exp.Coalesce(this=node.copy(), expressions=[exp.false()])


_BRIDGES: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.TryCast: _strict_cast,
    exp.Like: _escaped_like,
    exp.ILike: _escaped_like,
    exp.DayOfWeek: _sunday_is_one,
    exp.TsOrDsAdd: _stays_a_date,
    exp.AddMonths: _stays_a_date,
    exp.DateTrunc: _stays_a_date,
    exp.TimestampTrunc: _is_a_timestamp,
    exp.IsNan: _isnan_of_null,
}

_TYPES = {
    Kind.STRING: "VARCHAR",
    Kind.FLOAT: "REAL",
    Kind.BINARY: "BLOB",
    Kind.TIMESTAMP: "TIMESTAMPTZ",
    Kind.TIMESTAMP_NTZ: "TIMESTAMP",
    Kind.INT: "INTEGER",
}


def duckdb_type(type_: DataType) -> str:
    """The type of a DuckDB column that holds the values of a Spark type, exactly.

    >>> from cubekeeper.schema import STRING, decimal
    >>> duckdb_type(decimal(12, 2)), duckdb_type(STRING)
    ('DECIMAL(12,2)', 'VARCHAR')
    """
    return _TYPES.get(type_.kind, str(type_).upper())


def quoted(identifier: str) -> str:
    """An identifier in DuckDB's quotes."""
    return '"' + identifier.replace('"', '""') + '"'
