"""The JSON Schema of declaration files, for editors."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from cubekeeper.declare.documents import StatisticsDocument, WarehouseDocument

SCHEMA_ID: Final = "cubekeeper.schema.json"


def json_schema() -> dict[str, Any]:
    """What an editor needs to check and complete a declaration file or a file of statistics.

    >>> sorted(json_schema()["anyOf"][0])
    ['$ref']
    """
    schema = TypeAdapter(WarehouseDocument | StatisticsDocument).json_schema()
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cubekeeper declarations",
    }
    return head | schema
