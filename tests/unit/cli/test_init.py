"""`cubekeeper init` writes a warehouse that works, and never over anything."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from cubekeeper.cli.commands.init import SCHEMA_FILE


def test_what_it_writes_is_valid_without_a_caution(ask, tmp_path: Path):
    answer = ask("init", tmp_path / "new" / "shop")
    assert (answer.code, answer.err) == (0, "")
    written = sorted(path.name for path in (tmp_path / "new" / "shop").iterdir())
    assert written == [SCHEMA_FILE, "stats.yml", "summary_tables.yml", "warehouse.yml"]
    valid = ask("validate", tmp_path / "new" / "shop", "--json")
    assert (valid.code, valid.err) == (0, "")
    assert valid.data["cautions"] == []
    tables = valid.data["summary_tables"]
    assert len(tables) == 9
    assert {table["cube"] for table in tables} == {None, "revenue"}
    assert all(table["incremental"] for table in tables)


def test_what_it_writes_shows_what_the_comments_say(ask, tmp_path: Path):
    """The finest table is the only one computed from the base, but for what it cannot answer."""
    ask("init", tmp_path / "shop")
    for command in (["plan"], ["explain"], ["lattice", "cost"], ["lattice", "advise"]):
        answer = ask(*command, tmp_path / "shop")
        assert (answer.code, answer.err) == (0, "")


def test_editors_find_the_schema_beside_the_files(ask, tmp_path: Path):
    ask("init", tmp_path / "shop")
    assert (tmp_path / "shop" / SCHEMA_FILE).read_text() == ask("schema").out
    for file in (tmp_path / "shop").glob("*.yml"):
        assert file.read_text().startswith(f"# yaml-language-server: $schema={SCHEMA_FILE}\n")


def test_the_files_fit_the_schema(ask, tmp_path: Path):
    ask("init", tmp_path / "shop")
    schema = json.loads((tmp_path / "shop" / SCHEMA_FILE).read_text())
    for file in (tmp_path / "shop").glob("*.yml"):
        text = re.sub(
            r"\bon:", "'on':", file.read_text()
        )  # YAML 1.1 takes the word for a truth value
        jsonschema.validate(yaml.safe_load(text), schema)


def test_the_current_folder_if_it_is_empty(ask, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = ask("init", ".")
    assert answer.code == 0
    assert "cd " not in answer.out
    assert ask("validate").code == 0


def test_as_data(ask, tmp_path: Path):
    answer = ask("init", tmp_path / "shop", "--json")
    assert answer.data["ok"] is True
    assert all(Path(file).is_file() for file in answer.data["files"])


@pytest.mark.parametrize("content", ["notes.txt", ".hidden"])
def test_a_folder_with_anything_in_it_is_left_alone(ask, tmp_path: Path, content):
    (tmp_path / content).write_text("mine")
    answer = ask("init", tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "is not empty [not-empty]" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == [content]


def test_a_file_is_no_folder(ask, tmp_path: Path):
    (tmp_path / "file").write_text("mine")
    for target in (tmp_path / "file", tmp_path / "file" / "shop"):
        answer = ask("init", target)
        assert (answer.code, answer.out) == (2, "")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_failure_half_way_leaves_nothing(ask, tmp_path: Path, monkeypatch):
    from cubekeeper.cli.commands import init
    from cubekeeper.cli.output import unwritable, write_whole

    def full_disk(path: Path, text: str) -> None:
        if path.name == "stats.yml":
            raise unwritable(path, OSError(28, "No space left on device"))
        write_whole(path, text)

    monkeypatch.setattr(init, "write_whole", full_disk)
    answer = ask("init", tmp_path / "new" / "shop")
    assert (answer.code, answer.out) == (2, "")
    assert "no space left on device" in answer.err
    assert [*tmp_path.iterdir()] == []
