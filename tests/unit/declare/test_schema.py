"""The JSON Schema for editors: committed, current, and of one mind with the reader."""

import json
from pathlib import Path

import jsonschema
import pytest

from cubekeeper.declare import json_schema
from cubekeeper.declare.compose import compose
from cubekeeper.declare.nodes import Mapping, Sequence
from cubekeeper.errors import Problems
from cubekeeper.source import Source

ROOT = Path(__file__).parents[3]
COMMITTED = ROOT / "lattice" / "cubekeeper.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def plain(node):
    if isinstance(node, Mapping):
        return {key.text: plain(value) for key, value in node.entries}
    return [plain(item) for item in node.items] if isinstance(node, Sequence) else node.value


def valid(text):
    return VALIDATOR.is_valid(plain(compose(Source("t.yml", text), Problems())))


def test_the_committed_schema_is_current():
    text = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    assert COMMITTED.read_text() == text, "write it again: cubekeeper schema"


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_everything_is_described():
    for name, definition in json_schema()["$defs"].items():
        assert definition["title"], name
        assert definition["description"], name


@pytest.mark.parametrize("file", sorted((ROOT / "lattice").glob("*/*.yml")), ids=str)
def test_examples_are_valid(file):
    assert valid(file.read_text())
    assert "# yaml-language-server: $schema=../cubekeeper.schema.json" in file.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "fact: []",
        "facts: [{name: pos}]",
        "facts: [{name: __pos, columns: {a: int}}]",
        "facts: [{name: pos, columns: {a: {typ: int}}}]",
        "dimensions: [{name: d, columns: {a: int}}]",
        "summary_tables: [{name: a}]",
        "summary_tables: [{name: a, sql: SELECT 1, fact: pos}]",
        "summary_tables: [{name: a, fact: pos, policy: fast}]",
        "cubes: [{name: a, fact: pos}]",
        "cubes: [{name: a, fact: pos, cube: [x], rollup: [y]}]",
        "tables: {pos: {rows: -1}}",
        "weights: papr",
        "kind: declarations",
        "version: 2",
    ],
)
def test_what_editors_underline(text):
    assert not valid(text)
