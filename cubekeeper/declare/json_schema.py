"""The JSON Schema of declaration files, for editors."""

from __future__ import annotations

from typing import Any

from cubekeeper.declare.documents import StatisticsDocument, WarehouseDocument


def json_schema() -> dict[str, Any]:
    """What an editor needs to check and complete a declaration file or a file of statistics.

    >>> [choice["$ref"] for choice in json_schema()["anyOf"]]
    ['#/$defs/WarehouseDocument', '#/$defs/StatisticsDocument']
    """
    schema = _without_null(WarehouseDocument.model_json_schema())
    definitions = schema.pop("$defs")
    definitions[WarehouseDocument.__name__] = schema
    kinds = (WarehouseDocument, StatisticsDocument)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "cubekeeper declarations",
        "description": "A warehouse, a part of one, or a file of statistics.",
        "anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds],
        "$defs": dict(sorted(definitions.items())),
    }


def _without_null(schema: Any) -> Any:
    """The schema without `null`: what is optional is left out, not written as nothing."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema if item != {"type": "null"}]
    if not isinstance(schema, dict):
        return schema
    plain = {
        key: _without_null(value)
        for key, value in schema.items()
        if not (key == "default" and value is None)
    }
    choices = plain.get("anyOf")
    if isinstance(choices, list) and len(choices) == 1:
        del plain["anyOf"]
        plain = {**choices[0], **plain}
    return plain
