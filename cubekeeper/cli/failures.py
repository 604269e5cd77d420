"""The one place where a failure becomes words (or JSON) and an exit code.

0 done · 1 the check found a difference · 2 your input · 3 our bug. An interrupt ends with 130 and a
reader that closed the pipe with 141, as the shell's own signals do; both quietly.
"""

from __future__ import annotations

import errno
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

import click

from cubekeeper import __version__
from cubekeeper.cli.output import deliver_json, say, say_problem
from cubekeeper.errors import (
    CubekeeperError,
    DeclarationErrors,
    ExitCode,
    InputError,
    InternalError,
    as_data,
)

INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141
_NO_PLACE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
DEBUG_VARIABLE: Final = "CUBEKEEPER_DEBUG"


def asks_for_json(args: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also one that cannot be understood otherwise.

    >>> asks_for_json(["plan", "--frmat", "--json"]), asks_for_json(["plan", "--format", "text"])
    (True, False)
    """
    options = list(args[: args.index("--")] if "--" in args else args)
    one_word = bool({"--json", "--format=json"} & {*options})
    return one_word or ("--format", "json") in pairwise(options)


def report_failure(failure: BaseException, args: Sequence[str]) -> int:
    """Tell the user what went wrong, and return the exit code that says whose move it is."""
    match failure:
        case KeyboardInterrupt() | click.Abort():
            return INTERRUPTED
        case BrokenPipeError():
            return PIPE_CLOSED
        case OSError() if failure.errno in _NO_PLACE and failure.filename is None:
            reason = (failure.strerror or "").lower()
            return _report(InputError("unwritable", f"cannot write the result: {reason}"), args)
        case click.exceptions.NoArgsIsHelpError():
            say(failure.format_message())
            return ExitCode.INPUT
        case click.ClickException():
            return _report(_usage_error(failure), args)
        case CubekeeperError() if failure.exit_code is not ExitCode.INTERNAL:
            return _report(failure, args)
        case _:
            return _report(_our_bug(failure, args), args)


def _report(error: CubekeeperError, args: Sequence[str]) -> int:
    errors = error.errors if isinstance(error, DeclarationErrors) else (error,)
    if asks_for_json(args):
        with suppress(OSError):  # nobody is left to tell, but for the exit code
            deliver_json({"ok": False, "errors": [as_data(each) for each in errors]})
        return error.exit_code
    for index, each in enumerate(errors):
        if index:
            say("")
        say_problem(each)
    if len(errors) > 1:
        say(f"\n{len(errors)} errors")
    return error.exit_code


def _usage_error(failure: click.ClickException) -> InputError:
    context = failure.ctx if isinstance(failure, click.UsageError) else None
    hint = f"`{context.command_path} --help` explains it, with examples" if context else None
    message = failure.format_message().rstrip(".")
    return InputError("usage", message[:1].lower() + message[1:], hint=hint)


def _our_bug(failure: BaseException, args: Sequence[str]) -> InternalError:
    """A failure that nobody foresaw, as an error; its traceback goes where it can be sent from."""
    if isinstance(failure, CubekeeperError):
        code, what = failure.code, failure.message
    else:
        code, what = "unexpected", f"{type(failure).__name__}: {failure}".rstrip(": ")
    trace = "".join(traceback.format_exception(failure))
    if os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0"):
        say(trace)
        return InternalError(code, what, hint="this is a fault in cubekeeper; see above")
    try:
        path = _write_report(trace, args)
    except OSError:
        say(trace)
        return InternalError(code, what, hint="this is a fault in cubekeeper; see above")
    hint = f"this is a fault in cubekeeper, not in your files; please report it with {path}"
    return InternalError(code, what, hint=hint)


def _write_report(trace: str, args: Sequence[str]) -> Path:
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    head = f"cubekeeper {__version__}, {python}\narguments: {[*args]}\n\n"
    descriptor, name = tempfile.mkstemp(prefix="cubekeeper-bug-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(head + trace)
    return Path(name)


def flush_stdout() -> None:
    """See that all of the result has left, as long as the failure to do so can be told."""
    if sys.stdout is not None:
        sys.stdout.flush()


def let_go_of_stdout() -> None:
    """Point stdout at nothing, so that Python does not try again at its end to flush it."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stdout that is no file has nothing to flush
        return
