"""`cubekeeper demo`: it finds the example, shows every step, and leaves a page."""

from pathlib import Path

import pytest

from cubekeeper.cli.commands.demo import find_example
from cubekeeper.errors import InputError
from tests.unit.cli.conftest import ROOT


def test_it_shows_the_commands_it_stands_for(ask, tmp_path: Path):
    answer = ask("demo", "--output", tmp_path / "new" / "demo")
    assert (answer.code, answer.err) == (0, "")
    picture = tmp_path / "new" / "demo" / "retail.html"
    assert picture.is_file()
    commands = [line[2:].split() for line in answer.out.splitlines() if line.startswith("$ ")]
    assert len(commands) == 5
    for program, *args in commands:
        assert program == "cubekeeper"
        shown = ask(*args)
        assert shown.code == 0
        assert shown.out.strip() in answer.out
    assert f"Wrote {picture}" in answer.out


def test_as_data(ask, tmp_path: Path):
    answer = ask("demo", "lattice/snowflake", "--output", tmp_path, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert {"lattice", "plan", "cost"} <= answer.data.keys()
    assert Path(answer.data["picture"]).is_file()


def test_a_name_that_is_no_file_name(ask, tmp_path: Path):
    file = tmp_path / "a.yml"
    text = (ROOT / "lattice" / "retail" / "warehouse.yml").read_text()
    file.write_text(text.replace("name: retail", "name: our shop/x"))
    answer = ask("demo", file, "--output", tmp_path / "out", "--json")
    assert answer.data["picture"] == str(tmp_path / "out" / "our_shop_x.html")


def test_a_folder_that_cannot_be_made(ask, tmp_path: Path):
    (tmp_path / "file").write_text("")
    answer = ask("demo", "--output", tmp_path / "file" / "demo")
    assert (answer.code, answer.out) == (2, "")
    assert "cannot write" in answer.err


def test_the_example_is_found_upward():
    assert find_example(ROOT) == Path("lattice", "retail")
    assert find_example(ROOT / "tests" / "unit") == ROOT / "lattice" / "retail"


def test_outside_of_the_repository(tmp_path: Path):
    with pytest.raises(InputError, match="no `lattice/retail` in this folder"):
        find_example(tmp_path)
