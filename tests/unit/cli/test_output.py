"""Results are whole or not there; colours and encodings follow the terminal."""

import io
import os
import stat
import sys
from pathlib import Path

import pytest

from cubekeeper.cli.output import (
    deliver,
    deliver_json,
    say_problem,
    tolerate_narrow_encodings,
    wants_colour,
    write_whole,
)
from cubekeeper.errors import Caution, InputError
from cubekeeper.source import Source, Span


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, None),
        ({"NO_COLOR": ""}, None),
        ({"NO_COLOR": "1"}, False),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR_FORCE": "0"}, None),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
        ({"CLICOLOR": "0"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "CLICOLOR_FORCE": "1"}, True),
    ],
)
def test_colours_follow_the_environment(environment, wanted):
    assert wants_colour(environment) is wanted


@pytest.mark.parametrize(("forced", "coloured"), [("1", True), ("0", False)])
def test_problems_are_coloured_only_when_wanted(monkeypatch, capfd, forced, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("CLICOLOR_FORCE", forced)
    span = Span(Source("a.yml", "a: b\n"), 0, 1)
    say_problem(Caution("odd", "this is odd", span, "look"))
    err = capfd.readouterr().err
    assert ("\x1b[" in err) is coloured
    assert "a.yml:1:1: " in err


def test_a_file_is_written_whole_and_readable(tmp_path: Path):
    target = tmp_path / "plan.txt"
    write_whole(target, "a × b\n")
    assert target.read_text(encoding="utf-8") == "a × b\n"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask
    assert [*tmp_path.iterdir()] == [target]


def test_a_file_that_is_there_keeps_its_mode_and_its_link(tmp_path: Path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path):
    target = tmp_path / "plan.txt"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(target, "\ud800")
    assert target.read_text() == "old"
    assert [*tmp_path.iterdir()] == [target]


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("missing/plan.txt", "no such file or directory", "make the folder first: mkdir -p"),
        ("file/plan.txt", "not a directory", "make the folder first: mkdir -p"),
        (".", "is a folder", "name a file inside it"),
        ("x" * 300, "file name too long", None),
    ],
)
def test_a_place_that_cannot_be_written(tmp_path: Path, path, message, hint):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        write_whole(tmp_path / path, "text")
    assert message in caught.value.message
    assert (hint or "") in (caught.value.hint or "")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_device_is_written_directly():
    write_whole(Path(os.devnull), "text")
    assert Path(os.devnull).is_char_device()


def test_a_dash_is_stdout(capfd):
    deliver("text", Path("-"))
    assert capfd.readouterr() == ("text\n", "")


def test_where_a_result_went_is_a_message(tmp_path: Path, capfd):
    deliver("text", tmp_path / "a.txt")
    assert capfd.readouterr() == ("", f"wrote {tmp_path / 'a.txt'}\n")
    assert (tmp_path / "a.txt").read_text() == "text\n"


@pytest.mark.parametrize(
    ("encoding", "text"), [("utf-8", b'"\xc3\x97"\n'), ("ascii", b'"\\u00d7"\n')]
)
def test_json_survives_any_encoding(monkeypatch, tmp_path: Path, encoding, text):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    tolerate_narrow_encodings()
    deliver_json("×")
    assert written.getvalue() == text
    deliver_json("×", tmp_path / "a.json")
    assert (tmp_path / "a.json").read_bytes() == b'"\xc3\x97"\n'


def test_text_survives_any_encoding(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    tolerate_narrow_encodings()
    deliver("a ─ × b", None)
    assert written.getvalue() == b"a ? \xd7 b\n"
