"""Every way to fail: its words, its JSON, its exit code, and nothing left behind."""

import re
from pathlib import Path

import click
import pytest

from cubekeeper.cli import failures, main
from cubekeeper.cli.lazy import Entry
from cubekeeper.errors import DeclarationErrors, InputError, InternalError, NotYetError
from cubekeeper.source import Source, Span


@pytest.fixture
def failing(monkeypatch, ask):
    """Make `cubekeeper fail` raise something, and run it."""

    def run(failure: BaseException, *options: str):
        @click.command()
        @click.option("--json", "json_wanted", is_flag=True)
        @click.option("--format", "form")
        def fail(**_: object) -> None:
            raise failure

        monkeypatch.setattr(main, "fail", fail, raising=False)
        entry = Entry("fail", "cubekeeper.cli.main", "fail", "Fail.")
        monkeypatch.setitem(main.cubekeeper.entries, "fail", entry)
        return ask("fail", *options)

    return run


def where() -> Span:
    return Span(Source("shop.yml", "facts: []\nview: x\n"), 10, 14)


def test_an_input_error_says_where_and_what_to_do(failing):
    answer = failing(InputError("unknown-key", "unknown key `view`", span=where(), hint="remove"))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "shop.yml:2:1: error: unknown key `view` [unknown-key]\n  view: x\n  ^^^^\n  hint: remove\n"
    )


def test_all_errors_are_shown_and_counted(failing):
    errors = [InputError("a", "first"), NotYetError("b", "second")]
    answer = failing(DeclarationErrors(errors))
    assert answer.code == 2
    assert answer.err == "error: first [a]\n\nnot yet: second [b]\n\n2 errors\n"


@pytest.mark.parametrize("options", [("--json",), ("--format", "json"), ("--format=json",)])
def test_errors_as_json_are_on_stdout_alone(failing, options):
    answer = failing(DeclarationErrors([InputError("a", "first", span=where())]), *options)
    assert (answer.code, answer.err) == (2, "")
    assert answer.data == {
        "ok": False,
        "errors": [
            {
                "kind": "input",
                "code": "a",
                "message": "first",
                "hint": None,
                "where": {"file": "shop.yml", "line": 2, "column": 1, "length": 4},
            }
        ],
    }


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero [unexpected]"),
        (RecursionError(), "RecursionError [unexpected]"),
        (InternalError("no-edge", "`a` has no edge"), "`a` has no edge [no-edge]"),
        (PermissionError(13, "no"), "PermissionError: [Errno 13] no [unexpected]"),
    ],
)
def test_our_bug_is_told_briefly_and_kept_whole(
    failing, monkeypatch, tmp_path: Path, failure, message
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answer = failing(failure)
    assert (answer.code, answer.out) == (3, "")
    assert answer.err.startswith(f"our bug: {message}\n")
    (report,) = tmp_path.iterdir()
    assert str(report) in answer.err
    kept = report.read_text()
    assert "Traceback (most recent call last)" in kept
    assert "arguments: ['fail']" in kept


def test_our_bug_as_json(failing, monkeypatch, tmp_path: Path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answer = failing(KeyError("x"), "--json")
    assert (answer.code, answer.data["errors"][0]["kind"]) == (3, "our bug")


@pytest.mark.parametrize("reason", ["asked for", "no place to write"])
def test_the_traceback_is_shown_when_asked_for_or_when_it_cannot_be_kept(
    monkeypatch, capfd, reason
):
    def no_space(*_: object) -> Path:
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(failures, "_write_report", no_space)
    monkeypatch.setenv("CUBEKEEPER_DEBUG", "1" if reason == "asked for" else "0")
    assert failures.report_failure(ValueError("odd"), []) == 3
    err = capfd.readouterr().err
    assert "ValueError: odd\n" in err
    assert "our bug: ValueError: odd [unexpected]" in err


@pytest.mark.parametrize(
    ("failure", "code"),
    [(KeyboardInterrupt(), 130), (click.Abort(), 130), (click.exceptions.Exit(1), 1)],
)
def test_some_endings_are_quiet(failing, failure, code):
    answer = failing(failure)
    assert (answer.code, answer.out, answer.err) == (code, "", "")


def test_a_closed_pipe_is_quiet(capfd):
    assert failures.report_failure(BrokenPipeError(), []) == 141
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (["latice"], "`cubekeeper` has no command `latice`", "did you mean `lattice`?"),
        (["lattice", "shw"], "`cubekeeper lattice` has no command `shw`", "did you mean `show`?"),
        (
            ["validate", "a", "b"],
            "unexpected extra argument (b)",
            "`cubekeeper validate --help`",
        ),
        (["init"], "missing argument 'DIR'", "`cubekeeper init --help`"),
        (["plan", "--format", "pdf"], "'pdf' is not one of", "`cubekeeper plan --help`"),
        (["schema", "--output"], "option '--output' requires an argument", "schema --help`"),
        (["validate", "--jsn"], "no such option '--jsn'", "`cubekeeper validate --help`"),
    ],
)
def test_a_wrong_command_line_is_the_users_move(ask, args, message, hint):
    answer = ask(*args)
    assert (answer.code, answer.out) == (2, "")
    first, second = answer.err.splitlines()
    assert re.match("error: .* \\[(usage|unknown-command)\\]$", first)
    assert message in first
    assert hint in second


def test_a_wrong_command_line_as_json(ask):
    answer = ask("plan", "--frmat", "--json")
    assert (answer.code, answer.err) == (2, "")
    (error,) = answer.data["errors"]
    assert (error["kind"], error["code"]) == ("input", "usage")


@pytest.mark.parametrize("group", [[], ["lattice"]])
def test_a_group_without_a_command_shows_its_help(ask, group):
    answer = ask(*group)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == ask(*group, "--help").out


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ([], False),
        (["validate", "--json"], True),
        (["plan", "--format", "json"], True),
        (["plan", "--format", "text"], False),
        (["validate", "--", "--json"], False),
    ],
)
def test_asking_for_json(args, wanted):
    assert failures.asks_for_json(args) is wanted
