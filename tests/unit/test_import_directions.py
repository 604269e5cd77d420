"""The import contract holds for the package, and the check sees every way to break it."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests.import_directions import CONTRACT, PACKAGE, Kind, Row, contract_faults, offences, room_of


@pytest.fixture
def complaints(tmp_path: Path):
    """Write a package from a mapping of file names to source, and check it."""

    def check(files: dict[str, str]) -> list[str]:
        for name, source in files.items():
            path = tmp_path / "cubekeeper" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(source))
        return [str(offence) for offence in offences(tmp_path / "cubekeeper")]

    return check


def test_the_package_keeps_the_contract():
    assert [str(offence) for offence in offences(PACKAGE)] == []


def test_the_contract_keeps_its_own_rules():
    assert contract_faults(CONTRACT) == []


def test_allowed_imports_pass(complaints):
    files = {
        "__init__.py": "",
        "source.py": "import dataclasses",
        "errors.py": "from cubekeeper.source import Span",
        "lattice/__init__.py": "from cubekeeper.lattice.model import Node",
        "lattice/model.py": "from cubekeeper import errors",
        "declare/load.py": "import yaml\nfrom cubekeeper.parse import select",
        "parse/select.py": "import sqlglot",
        "cli/main.py": "import click, cubekeeper.lattice\nfrom cubekeeper import __version__",
    }
    assert complaints(files) == []


@pytest.mark.parametrize(
    ("source", "line"),
    [
        pytest.param("import cubekeeper.derive", 1, id="plain"),
        pytest.param("import os, cubekeeper.derive.cost as cost", 1, id="one of several"),
        pytest.param("from cubekeeper.derive import (\n    cost,\n)", 2, id="from"),
        pytest.param("from cubekeeper import derive", 1, id="from the package"),
        pytest.param("from ..derive import cost", 1, id="relative"),
        pytest.param("from .. import derive", 1, id="relative without a module"),
        pytest.param("def late():\n    from cubekeeper.derive import cost", 2, id="in a function"),
        pytest.param(
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import cubekeeper.derive",
            3,
            id="for type checking",
        ),
        pytest.param(
            "import importlib\nimportlib.import_module('cubekeeper.derive')", 2, id="import_module"
        ),
        pytest.param(
            "from importlib import import_module\nimport_module('..derive', __package__)",
            2,
            id="relative import_module",
        ),
    ],
)
def test_every_form_of_import_is_seen(complaints, source, line):
    files = {"lattice/model.py": source, "derive/__init__.py": "", "derive/cost.py": ""}
    assert complaints(files) == [
        f"cubekeeper/lattice/model.py:{line}: room lattice (noun) imports room derive: "
        "a noun may import only nouns"
    ]


def test_relative_imports_start_from_the_package_in_its_init_file(complaints):
    files = {"lattice/__init__.py": "from .model import Node", "lattice/model.py": ""}
    assert complaints(files) == []
    assert complaints({"lattice/__init__.py": "from ..derive import cost"}) == [
        "cubekeeper/lattice/__init__.py:1: room lattice (noun) imports room derive: "
        "a noun may import only nouns"
    ]


def test_a_verb_imports_no_verb(complaints):
    assert complaints({"schedule.py": "import cubekeeper.derive", "derive.py": ""}) == [
        "cubekeeper/schedule.py:1: room schedule (verb) imports room derive: "
        "a verb may import only nouns and borders"
    ]


def test_a_room_of_the_right_kind_must_still_be_in_the_row(complaints):
    assert complaints({"schema.py": "\nimport cubekeeper.errors", "errors.py": ""}) == [
        "cubekeeper/schema.py:2: room schema (noun) imports room errors: "
        "its row allows source (types and columns are shared by everything above)"
    ]


def test_a_room_without_a_row_is_refused(complaints):
    assert complaints({"attic/__init__.py": "", "attic/box.py": "import pyspark"}) == [
        "cubekeeper/attic/__init__.py:1: room attic has no row: "
        "add one to CONTRACT in import_directions.py"
    ]


def test_under_live_each_sub_package_is_a_room(complaints):
    assert room_of("cubekeeper.live.m3") == "live.m3"
    assert complaints({"live/unheard/ring.py": ""}) == [
        "cubekeeper/live/unheard/ring.py:1: room live.unheard has no row: "
        "add one to CONTRACT in import_directions.py"
    ]


@pytest.mark.parametrize(
    ("file", "source", "complaint"),
    [
        (
            "derive/run.py",
            "def run():\n    import pyspark.sql",
            "cubekeeper/derive/run.py:2: room derive (verb) imports library pyspark: "
            "only room spark may (declaring, planning and costing need no JVM)",
        ),
        (
            "cli/main.py",
            "from airflow.sdk import dag",
            "cubekeeper/cli/main.py:1: room cli (edge) imports library airflow: "
            "only room airflow may (an optional extra that takes seconds to import)",
        ),
        (
            "report/html.py",
            "import duckdb",
            "cubekeeper/report/html.py:1: room report (edge) imports library duckdb: "
            "only room bench may (an oracle proves nothing about a product that runs on it)",
        ),
        (
            "derive/cost.py",
            "import yaml",
            "cubekeeper/derive/cost.py:1: room derive (verb) imports library yaml: "
            "its row allows none",
        ),
        (
            "schema.py",
            "import leftpad",
            "cubekeeper/schema.py:1: room schema (noun) imports library leftpad: "
            "its row allows none",
        ),
    ],
)
def test_a_library_stays_where_its_row_puts_it(complaints, file, source, complaint):
    assert complaints({file: source}) == [complaint]


def test_a_cycle_between_modules_is_reported_with_its_path(complaints):
    files = {
        "lattice/edges.py": "\nfrom cubekeeper.lattice import nodes",
        "lattice/labels.py": "def late():\n    import cubekeeper.lattice.edges",
        "lattice/nodes.py": "from cubekeeper.lattice.labels import Label",
    }
    assert complaints(files) == [
        "cubekeeper/lattice/edges.py:2: import cycle: cubekeeper.lattice.edges -> "
        "cubekeeper.lattice.nodes -> cubekeeper.lattice.labels -> cubekeeper.lattice.edges"
    ]


def test_rows_that_contradict_their_kind_are_faults():
    def row(kind: Kind, rooms: str = "", libraries: str = "") -> Row:
        return Row(kind, frozenset(rooms.split()), frozenset(libraries.split()), "")

    contract = {
        "tree": row(Kind.NOUN, "grow"),
        "grow": row(Kind.VERB, "tree prune attic"),
        "prune": row(Kind.VERB, "tree", libraries="duckdb yaml"),
    }
    assert contract_faults(contract) == [
        "row tree (noun) names grow (verb): a noun may import only nouns",
        "row grow names attic, which has no row",
        "row grow (verb) names prune (verb): a verb may import only nouns and borders",
        "row prune names duckdb, whose only home is bench: "
        "an oracle proves nothing about a product that runs on it",
    ]
