"""What a command says: results to stdout or a file, everything else to stderr."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import click

from cubekeeper.errors import Caution, CubekeeperError, InputError, describe


def wants_colour(environment: Mapping[str, str]) -> bool | None:
    """Whether to colour: yes, no, or (None) only what goes to a terminal.

    >>> wants_colour({"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}), wants_colour({})
    (False, None)
    """
    if environment.get("NO_COLOR"):
        return False
    if environment.get("CLICOLOR_FORCE", "0") != "0":
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return None


def tolerate_narrow_encodings() -> None:
    """Let a terminal that cannot show a character show `?` in its place instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")


def say(message: str) -> None:
    """Tell the user something that is not the result."""
    click.echo(message, err=True, color=wants_colour(os.environ))


def say_problem(problem: CubekeeperError | Caution) -> None:
    """Show an error or a caution, its label coloured on a terminal."""
    label, colour = {
        "warning": ("warning", "yellow"),
        "our bug": ("our bug", "magenta"),
        "input": ("error", "red"),
    }.get(problem.kind, (problem.kind, "red"))
    first, *rest = describe(problem).split("\n")
    first = first.replace(f"{label}: ", click.style(f"{label}: ", fg=colour, bold=True), 1)
    say("\n".join([first, *(_styled(line, colour) for line in rest)]))


def _styled(line: str, colour: str) -> str:
    if line.strip() and not line.strip(" \t^"):
        return click.style(line, fg=colour, bold=True)
    if line.startswith("  hint: "):
        return click.style("  hint: ", fg="cyan") + line.removeprefix("  hint: ")
    return line


def show(text: str) -> None:
    """Print a result, with one line end at its end."""
    click.echo(text.rstrip("\n"), color=wants_colour(os.environ))


def deliver_json(data: object, output: Path | None = None) -> None:
    """Print or write data as JSON: readable, in the same order every time, in any encoding."""
    to_stdout = output is None or str(output) == "-"
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii") if to_stdout else "utf-8"
    ascii_only = encoding.lower().replace("-", "") != "utf8"
    deliver(json_text(data, ascii_only=ascii_only), output)


def json_text(data: object, *, ascii_only: bool = False) -> str:
    """Data as JSON that people can read."""
    return json.dumps(data, indent=2, ensure_ascii=ascii_only, allow_nan=False)


def deliver(text: str, output: Path | None) -> None:
    """Print a result, or write it to the file that was asked for and say so."""
    if output is None or str(output) == "-":
        show(text)
    else:
        write_whole(output, text.rstrip("\n") + "\n")
        say(f"wrote {output}")


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there in full or not at all; a device is written directly."""
    try:
        path = path.resolve()
        if path.exists() and not path.is_file():
            if path.is_dir():
                raise InputError(
                    "unwritable", f"`{path}` is a folder", hint="name a file inside it"
                )
            path.write_text(text, encoding="utf-8")
            return
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(mode)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> InputError:
    """The error of a place that cannot be written."""
    reason = (error.strerror or str(error)).lower()
    hint = None if path.parent.is_dir() else f"make the folder first: mkdir -p {path.parent}"
    return InputError("unwritable", f"cannot write `{path}`: {reason}", hint=hint)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
