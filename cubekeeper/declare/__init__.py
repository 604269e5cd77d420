"""Declaring: YAML and SQL to a warehouse and its statistics, every error with its position.

    files ► compose (nodes) ► documents ► tables ► computed ► views, cubes ► a Warehouse
                                              scope: what names mean

- `files`, `compose`, `nodes`: bytes to a YAML tree in which everything has a place.
- `leaves`, `documents`, `json_schema`: the shape of the language, by pydantic.
- `tables`, `computed`: columns, keys, foreign keys; computed columns and hierarchies.
- `scope`, `expressions`: names to columns; group-by columns, measures and filters.
- `views`, `sql_views`, `from_clause`, `cubes`, `cautions`: summary tables in every form.
- `stats`: sizes. `build` and `load` put it together; `report` lets reading go on after a problem.
"""

from cubekeeper.declare.json_schema import json_schema
from cubekeeper.declare.load import (
    Loaded,
    is_statistics,
    load,
    load_statistics,
    load_text,
    summary_table_from_sql,
)

__all__ = [
    "Loaded",
    "is_statistics",
    "json_schema",
    "load",
    "load_statistics",
    "load_text",
    "summary_table_from_sql",
]
