"""Every command on every example: it works, its JSON is the same twice, its help is true."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cubekeeper.cli.lazy import Command, LazyGroup
from cubekeeper.cli.main import cubekeeper
from tests.unit.cli.conftest import ROOT

EXAMPLES = ("lattice/retail", "lattice/retail_cube", "lattice/ssb", "lattice/snowflake")
ON_A_WAREHOUSE = {
    "validate": ("validate", "{}"),
    "plan": ("plan", "{}"),
    "explain": ("explain", "{}"),
    "show": ("lattice", "show", "{}"),
    "show --sql": ("lattice", "show", "{}", "--sql"),
    "cost": ("lattice", "cost", "{}"),
    "advise": ("lattice", "advise", "{}"),
}


def all_commands(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from all_commands(command, (*path, name))


COMMANDS = dict(all_commands(cubekeeper))
LEAVES = {name: command for name, command in COMMANDS.items() if isinstance(command, Command)}


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("command", ON_A_WAREHOUSE)
def test_every_command_works_on_every_example(ask, command, example):
    args = [arg.format(example) for arg in ON_A_WAREHOUSE[command]]
    answer = ask(*args)
    assert answer.code == 0, answer.err
    assert answer.out.strip()
    assert "\x1b[" not in answer.out
    assert all(line == line.rstrip() for line in answer.out.splitlines())
    assert all(len(line) <= 100 for line in answer.out.splitlines() if "SELECT" not in line)


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("command", ON_A_WAREHOUSE)
def test_json_is_data_on_stdout_alone_and_stable(ask, command, example):
    args = [arg.format(example) for arg in ON_A_WAREHOUSE[command]]
    answer = ask(*args, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.data["ok"] is True
    assert answer.data["warehouse"] == Path(example).name
    assert answer.out == ask(*args, "--json").out


def test_cautions_are_messages_or_data(ask, tmp_path: Path):
    """A sum of ints can overflow: accepted, and said."""
    (tmp_path / "warehouse.yml").write_text(
        """
facts:
  - name: f
    columns: {a: int not null, b: float}
summary_tables:
  - name: v
    fact: f
    group_by: [a]
    measures: [{name: s, agg: sum, expr: b}]
"""
    )
    answer = ask("validate", tmp_path)
    assert answer.code == 0
    assert "warning: " in answer.err
    assert "warning: " not in answer.out
    data = ask("validate", tmp_path, "--json")
    assert data.err == ""
    assert [caution["kind"] for caution in data.data["cautions"]] == ["warning"]


@pytest.mark.parametrize("name", LEAVES)
def test_help_has_a_summary_examples_and_json(ask, name):
    group = COMMANDS.get(name.rpartition(" ")[0], cubekeeper)
    assert isinstance(group, LazyGroup)
    command = LEAVES[name]
    summary = group.entries[name.rpartition(" ")[2]].summary
    assert (command.help or "").startswith(summary + "\n")
    assert command.examples
    answer = ask(*name.split(), "--help")
    assert answer.code == 0
    for expected in (f"Usage: cubekeeper {name} ", "--json", "Examples:", *command.examples):
        assert expected in answer.out


@pytest.mark.parametrize(
    "example",
    [example for name, command in LEAVES.items() for example in command.examples],
)
def test_every_example_of_the_help_works(ask, example, tmp_path: Path, monkeypatch):
    program, *args = shlex.split(example)
    assert program == "cubekeeper"
    (tmp_path / "lattice").symlink_to(ROOT / "lattice")
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    if args[0] == "bench":
        pytest.skip("takes long; tests/unit/bench runs a small one")
    answer = ask(*args)
    assert answer.code == 0, answer.err
    if "--json" in args:
        json.loads(answer.out)


def test_the_help_of_the_program_lists_everything(ask):
    answer = ask("--help")
    assert answer.code == 0
    for name in cubekeeper.entries:
        assert f"\n  {name} " in answer.out
    for code in ("0  done", "1  the check found a difference", "2  ", "3  "):
        assert f"\n  {code}" in answer.out
    assert all(len(line) <= 80 for line in answer.out.splitlines())


def test_the_version(ask):
    assert ask("--version").out.startswith("cubekeeper, version 0.")


# --- where the warehouse comes from --------------------------------------------------------------


def test_the_warehouse_is_found_from_inside(ask, monkeypatch):
    expected = ask("lattice", "show", "lattice/retail", "--json").out
    monkeypatch.chdir(ROOT / "lattice" / "retail")
    assert ask("lattice", "show", "--json").out == expected
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("CUBEKEEPER_WAREHOUSE", "lattice/retail")
    assert ask("lattice", "show", "--json").out == expected


def test_explain_takes_a_lone_word_for_a_view(ask, monkeypatch):
    expected = ask("explain", "lattice/retail", "sr_SALES").out
    assert "sR_sales" in expected
    monkeypatch.chdir(ROOT / "lattice" / "retail")
    assert ask("explain", "sR_sales").out == expected
    assert ask("explain", ".", "sR_sales").out == expected
    assert ask("explain").out == ask("explain", ".").out


def test_a_file_alone_is_a_warehouse(ask):
    answer = ask("validate", "lattice/retail/warehouse.yml", "--json")
    assert answer.code == 0
    assert answer.data["files"] == ["lattice/retail/warehouse.yml"]


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ON_A_WAREHOUSE)
@pytest.mark.parametrize("missing", ["nowhere", "nowhere/at/all", "lattice/retail/tabel3.yml"])
def test_a_missing_warehouse(ask, command, missing):
    args = [arg.format(missing) for arg in ON_A_WAREHOUSE[command]]
    answer = ask(*args)
    assert (answer.code, answer.out) == (2, "")
    assert f"`{missing}` does not exist" in answer.err


def test_a_folder_without_declarations(ask, tmp_path: Path):
    answer = ask("validate", tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert str(tmp_path) in answer.err
    assert "error: " in answer.err


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (("explain", "lattice/retail", "sR_sale"), "`sR_sale`", "did you mean `sR_sales`?"),
        (("lattice", "what-if", "lattice/retail", "--drop", "x"), "`x`", "`SID_sales`"),
        (("lattice", "what-if", "lattice/retail"), "nothing to compare", "--add or to --drop"),
        (("plan", "lattice/retail", "--changes", "pos"), "`pos` is not a change", "pos=+5000"),
        (("plan", "lattice/retail", "--changes", "sores=1"), "`sores`", "did you mean `stores`?"),
        (("plan", "lattice/retail", "--stats", "no.yml"), "`no.yml`", ""),
        (("plan", "lattice/retail", "--stats", "lattice"), "lattice", ""),
        (("plan", "lattice/retail", "--json", "--format", "html"), "exclude each other", ""),
        (("lattice", "advise", "lattice/retail", "--top", "-1"), "-1", ""),
        (("lattice", "advise", "lattice/retail", "--space", "many"), "many", ""),
        (("lattice", "advise", "lattice/retail", "--space", "nan"), "nan", ""),
        (("explain", "lattice/retail", "sR_sales", "--format", "html"), "text or JSON only", ""),
        (("demo", "lattice/nowhere"), "`lattice/nowhere` does not exist", ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_the_users_move(ask, args, message, hint):
    as_text, as_data = ask(*args), ask(*args, "--json")
    assert as_text.code == as_data.code == 2
    assert as_text.out == as_data.err == "" or "--json" in args
    (error,) = as_data.data["errors"]
    assert message in error["message"]
    assert hint in (error["hint"] or "")


@pytest.mark.parametrize(
    "args",
    [
        ("schema",),
        ("plan", "lattice/retail"),
        ("lattice", "show", "lattice/retail", "--format", "svg"),
        ("lattice", "cost", "lattice/retail", "--json"),
    ],
)
def test_an_unwritable_output_is_an_input_error(ask, args, tmp_path: Path):
    answer = ask(*args, "--output", tmp_path / "missing" / "file.txt")
    assert answer.code == 2
    assert [*tmp_path.iterdir()] == []


# --- formats and files ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "name", "beginning"),
    [
        (("lattice", "show", "lattice/retail"), "a.svg", "<svg"),
        (("lattice", "show", "lattice/retail"), "a.html", "<!doctype html>"),
        (("lattice", "show", "lattice/retail"), "a.dot", "digraph"),
        (("lattice", "show", "lattice/retail"), "a.json", "{"),
        (("lattice", "show", "lattice/retail", "--format", "dot"), "a.txt", "digraph"),
        (("plan", "lattice/retail"), "a.html", "<!doctype html>"),
        (("plan", "lattice/retail"), "a.json", "{"),
    ],
)
def test_a_file_gets_the_format_of_its_name_unless_told(ask, args, name, beginning, tmp_path: Path):
    answer = ask(*args, "--output", tmp_path / name)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == f"wrote {tmp_path / name}\n"
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text.lower().startswith(beginning)
    form = {"<svg": "svg", "<!doctype html>": "html", "digraph": "dot", "{": "json"}[beginning]
    plain = [arg for arg in args if arg not in ("--format", "dot")]
    assert ask(*plain, "--format", form).out == text


def test_a_text_file_has_no_colours(ask, monkeypatch, tmp_path: Path):
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    assert "\x1b[" in ask("plan", "lattice/retail").out
    ask("plan", "lattice/retail", "--output", tmp_path / "plan.txt")
    assert "\x1b[" not in (tmp_path / "plan.txt").read_text(encoding="utf-8")
