"""Every command on every example: it works, its JSON is the same twice, its help is true."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest

from cubekeeper.bench import lattice_growth, startup
from cubekeeper.bench.startup import LAPS, ColdStart
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
    if command not in ("show --sql", "cost", "advise"):  # queries and tables are not broken
        assert all(len(line) <= 100 for line in answer.out.splitlines())


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("command", ON_A_WAREHOUSE)
def test_json_is_data_on_stdout_alone_and_stable(ask, command, example):
    args = [arg.format(example) for arg in ON_A_WAREHOUSE[command]]
    answer = ask(*args, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.data["ok"] is True
    assert answer.data["warehouse"] == Path(example).name
    assert answer.out == ask(*args, "--json").out


@pytest.mark.parametrize("command", [*ON_A_WAREHOUSE, "html", "svg", "dot"])
def test_a_warehouse_without_summary_tables_is_no_failure(ask, command, tmp_path: Path):
    file = tmp_path / "new.yml"
    file.write_text("facts: [{name: f, columns: {a: int}}]")
    form = ("lattice", "show", "{}", "--format", command)
    answer = ask(*(arg.format(file) for arg in ON_A_WAREHOUSE.get(command, form)))
    assert answer.code == 0, answer.err


def test_cautions_are_messages_or_data(ask, tmp_path: Path):
    """A sum of floats depends on the order: accepted, and said."""
    (tmp_path / "warehouse.yml").write_text(
        """
facts:
  - name: f
    columns: {a: int not null, b: double}
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
    other = ask("plan", tmp_path)
    assert other.code == 0
    assert other.err == "a warning about the declarations: see `cubekeeper validate`\n"


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
    for family, series in lattice_growth.SERIES.items():  # small ones: it is not about time here
        small = replace(series, usual=series.usual[:1], long=())
        monkeypatch.setitem(lattice_growth.SERIES, family, small)
    monkeypatch.setattr(startup, "cold_start", lambda kind: ColdStart(kind, dict.fromkeys(LAPS, 1)))
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
    assert all(len(line) <= 100 for line in answer.out.splitlines())


def test_the_version(ask):
    assert ask("--version").out.startswith("cubekeeper, version 0.")


@pytest.mark.parametrize("command", ["plan", "explain", "show", "cost", "advise"])
def test_statistics_changes_and_weights_mean_the_same_everywhere(ask, command):
    args = [arg.format("lattice/retail") for arg in ON_A_WAREHOUSE[command]]
    usual = ask(*args, "--json").data
    for options in (
        ("--stats", "lattice/retail/table3.yml"),
        ("--changes", "pos=+7"),
        ("--weights", "paper"),
    ):
        answer = ask(*args, *options, "--json")
        assert answer.code == 0
        assert answer.data != usual
    weighted = ask(*args, "--stats", "lattice/retail/table3.yml", "--weights", "paper", "--json")
    assert weighted.data == ask(*args, "--stats", "lattice/retail/table3.yml", "--json").data


# --- where the warehouse comes from --------------------------------------------------------------


def test_the_warehouse_is_found_from_inside(ask, monkeypatch):
    expected = ask("lattice", "show", "lattice/retail", "--json").out
    monkeypatch.setenv("CUBEKEEPER_WAREHOUSE", "lattice/retail")
    assert ask("lattice", "show", "--json").out == expected
    monkeypatch.delenv("CUBEKEEPER_WAREHOUSE")
    monkeypatch.chdir(ROOT / "lattice" / "retail")
    here = ask("lattice", "show", "--json").out
    assert here == expected.replace("lattice/retail/stats.yml", "stats.yml")


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
        (("lattice", "advise", "lattice/retail", "--top", "-1"), "-1", ""),
        (("lattice", "advise", "lattice/retail", "--space", "many"), "many", ""),
        (("lattice", "advise", "lattice/retail", "--space", "nan"), "nan", ""),
        (("demo", "lattice/nowhere"), "`lattice/nowhere` does not exist", ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_the_users_move(ask, args, message, hint):
    as_text, as_data = ask(*args), ask(*args, "--json")
    assert as_text.code == as_data.code == 2
    assert as_text.out == as_data.err == ""
    (error,) = as_data.data["errors"]
    assert message in error["message"]
    assert hint in (error["hint"] or "")


def test_formats_that_do_not_go_together(ask):
    answer = ask("plan", "lattice/retail", "--json", "--format", "html")
    assert (answer.code, answer.data["errors"][0]["code"]) == (2, "usage")
    answer = ask("explain", "lattice/retail", "sR_sales", "--format", "html")
    assert (answer.code, answer.out) == (2, "")
    assert "text or JSON only" in answer.err


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
        (("lattice", "show", "lattice/retail"), "a.svg", "<?xml"),
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
    form = {"<?xml": "svg", "<!doctype html>": "html", "digraph": "dot", "{": "json"}[beginning]
    plain = [arg for arg in args if arg not in ("--format", "dot")]
    assert ask(*plain, "--format", form).out == text


def test_colours_only_when_forced_or_on_a_terminal(ask, monkeypatch, tmp_path: Path):
    plain = ask("plan", "lattice/retail").out
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    coloured = ask("plan", "lattice/retail").out
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    ask("plan", "lattice/retail", "--output", tmp_path / "plan.txt")
    assert (tmp_path / "plan.txt").read_text(encoding="utf-8") == plain
    assert "\x1b[" not in ask("plan", "lattice/retail", "--json").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert ask("plan", "lattice/retail").out == plain
