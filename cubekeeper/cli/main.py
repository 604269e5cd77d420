"""Where the process starts and ends: the list of commands, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click

from cubekeeper import __version__
from cubekeeper.cli.failures import flush_stdout, let_go_of_stdout, report_failure
from cubekeeper.cli.lazy import Entry, LazyGroup
from cubekeeper.cli.output import tolerate_narrow_encodings, wants_colour

PROGRAM: Final = "cubekeeper"


def _entry(section: str, name: str, summary: str) -> Entry:
    return Entry(name, f"cubekeeper.cli.commands.{name}", name, summary, section)


ENTRIES: Final = (
    _entry("Start", "init", "Start a warehouse: write a small, commented one into a folder."),
    _entry("Start", "demo", "Walk through the retail example, step by step."),
    _entry("Start", "setup", "Prepare this machine for Spark: Java, Delta's jars, a quick start."),
    _entry("Declare", "validate", "Check the declarations and report every problem at once."),
    _entry("Declare", "schema", "Print the JSON Schema of the declarations, for editors."),
    _entry("Understand", "lattice", "See the lattice, its costs, and what would change them."),
    _entry("Understand", "plan", "Print the plan of a nightly batch, with rows and costs."),
    _entry("Understand", "explain", "Say why the plan is as it is, or all about one table."),
    _entry("Measure", "bench", "Measure how cubekeeper itself grows with its input."),
)

NOTES: Final = """\
WAREHOUSE is a folder of YAML files, or one YAML file. Where it is left out,
CUBEKEEPER_WAREHOUSE names it, or it is looked for from the current folder
upward: a folder that holds `warehouse.yml`, or a file `cubekeeper.yml`, which
is then the whole of it.

Exit codes:
  0  done
  1  the check found a difference
  2  something is wrong with your input; nothing was written
  3  something is wrong with cubekeeper; the message says where the details are,
     CUBEKEEPER_DEBUG=1 shows them

Results go to stdout, messages to stderr; --json gives both as data. Colours
appear on a terminal only; NO_COLOR and CLICOLOR_FORCE are respected.
"""


@click.group(
    cls=LazyGroup,
    entries=ENTRIES,
    notes=NOTES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name=PROGRAM)
def cubekeeper() -> None:
    """Keep the summary tables of a warehouse equal to their definitions.

    Declare facts, dimensions and summary tables in YAML. cubekeeper derives which table can be
    computed from which, at what cost, and plans the nightly batch that brings them all up to date.
    """


def run(args: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    >>> run(["--version"])
    cubekeeper, version ...
    0
    """
    try:
        tolerate_narrow_encodings()
        _answer_shell_completion()
        colour = wants_colour(os.environ)
        try:
            with cubekeeper.make_context(PROGRAM, [*args], color=colour) as context:
                cubekeeper.invoke(context)
        finally:
            flush_stdout()
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except BaseException as failure:
        if isinstance(failure, SystemExit | GeneratorExit):
            raise
        return _end_badly(failure, args)
    return 0


def _end_badly(failure: BaseException, args: Sequence[str]) -> int:
    code = report_failure(failure, args)
    try:
        flush_stdout()
    except OSError:
        let_go_of_stdout()
    return code


def _answer_shell_completion() -> None:
    instruction = os.environ.get("_CUBEKEEPER_COMPLETE")
    if instruction:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(cubekeeper, {}, PROGRAM, "_CUBEKEEPER_COMPLETE", instruction))


def main() -> NoReturn:
    """Be the process `cubekeeper`."""
    sys.exit(run(sys.argv[1:]))
