"""What can go wrong, said so that the reader knows whose move it is.

One root, four kinds, each with a stable code, a span where there is one, and a hint:

- `InputError`: your input is wrong; exit code 2.
- `UnsupportedError`: what you ask for is understood but not maintained exactly; exit code 2.
- `NotYetError`: it will be supported, it is not yet; exit code 2.
- `InternalError`: our bug; exit code 3.

All problems of a file are collected in a `Problems` and raised at once as `DeclarationErrors`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import IntEnum
from typing import ClassVar

from cubekeeper.source import Span


class ExitCode(IntEnum):
    """What a command's exit code means."""

    DONE = 0
    DIFFERENCE = 1
    INPUT = 2
    INTERNAL = 3


class CubekeeperError(Exception):
    """The root of everything that cubekeeper raises on purpose."""

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL

    def __init__(
        self, code: str, message: str, *, span: Span | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.hint = hint

    def __str__(self) -> str:
        return describe(self)


class InputError(CubekeeperError):
    """The user's input is wrong."""

    kind = "input"
    exit_code = ExitCode.INPUT


class UnsupportedError(CubekeeperError):
    """Understood, but it cannot be maintained exactly, so it is refused."""

    kind = "unsupported"
    exit_code = ExitCode.INPUT


class NotYetError(CubekeeperError):
    """Understood and intended, but not built yet."""

    kind = "not yet"
    exit_code = ExitCode.INPUT


class InternalError(CubekeeperError):
    """A broken promise inside cubekeeper."""

    kind = "our bug"
    exit_code = ExitCode.INTERNAL


class DeclarationErrors(CubekeeperError):
    """Every problem found in one reading of the declarations, in the order of the files."""

    kind = "input"
    exit_code = ExitCode.INPUT

    def __init__(self, errors: Sequence[CubekeeperError]) -> None:
        self.errors = tuple(errors)
        count = len(self.errors)
        super().__init__("declarations", f"{count} problem{'s' if count != 1 else ''} found")

    def __str__(self) -> str:
        return "\n\n".join(describe(error) for error in self.errors)


@dataclass(frozen=True)
class Caution:
    """Something accepted that the user should know about (a warning)."""

    code: str
    message: str
    span: Span | None = None
    hint: str | None = None
    kind: ClassVar[str] = "warning"

    def __str__(self) -> str:
        return describe(self)


@dataclass
class Problems:
    """Collects errors and cautions, so that one reading reports them all.

    The only mutable thing that the verbs of declaring share.
    """

    errors: list[CubekeeperError] = field(default_factory=list)
    cautions: list[Caution] = field(default_factory=list)

    def add(self, error: CubekeeperError) -> None:
        """Keep an error; the errors of a group are kept one by one."""
        if isinstance(error, DeclarationErrors):
            self.errors.extend(error.errors)
        else:
            self.errors.append(error)

    def warn(
        self, code: str, message: str, *, span: Span | None = None, hint: str | None = None
    ) -> None:
        """Keep a caution, once."""
        caution = Caution(code, message, span, hint)
        if caution not in self.cautions:
            self.cautions.append(caution)

    def raise_if_any(self) -> None:
        """Raise what was collected, each once, in the order of the source positions."""
        different: dict[tuple[str, str, Span | None], CubekeeperError] = {}
        for error in self.errors:
            different.setdefault((error.code, error.message, error.span), error)
        if different:
            raise DeclarationErrors(sorted(different.values(), key=_source_order))

    def cautions_in_order(self) -> tuple[Caution, ...]:
        """The cautions, in the order of the source positions."""
        return tuple(sorted(self.cautions, key=_source_order))


def _source_order(error: CubekeeperError | Caution) -> tuple[str, int]:
    return (error.span.source.name, error.span.start) if error.span else ("", -1)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the nearest known name, or lists what there is.

    >>> did_you_mean("itemId", ["storeID", "itemID", "date"])
    'did you mean `itemID`?'
    >>> did_you_mean("zzz", ["storeID", "itemID"])
    'known: `itemID`, `storeID`'
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{by_lower[close[0]]}`?"
    if 0 < len(by_lower) <= 12:
        return "known: " + ", ".join(f"`{candidate}`" for candidate in sorted(by_lower.values()))
    return None


def describe(problem: CubekeeperError | Caution) -> str:
    """The full text of a problem: position, kind, reason, the line with a caret, and the hint.

    >>> from cubekeeper.source import Source
    >>> span = Span(Source("shop.yml", "facts: []\\nview: x\\n"), 10, 14)
    >>> print(
    ...     describe(InputError("unknown-key", "unknown key `view`", span=span, hint="try `views`"))
    ... )
    shop.yml:2:1: error: unknown key `view` [unknown-key]
      view: x
      ^^^^
      hint: try `views`
    """
    label = {"input": "error", "warning": "warning"}.get(problem.kind, problem.kind)
    where = f"{problem.span}: " if problem.span else ""
    lines = [f"{where}{label}: {problem.message} [{problem.code}]"]
    if problem.span:
        lines += _quoted_line(problem.span)
    if problem.hint:
        lines.append(f"  hint: {problem.hint}")
    return "\n".join(lines)


_WIDEST_QUOTE = 100


def _quoted_line(span: Span) -> list[str]:
    text = span.source.line(span.line)
    first = span.column - 1
    length = max(1, min(span.end - span.start, len(text) - first))
    if len(text) > _WIDEST_QUOTE:  # keep the caret in sight on very long lines
        cut = max(0, first - _WIDEST_QUOTE // 2)
        text, first = text[cut : cut + _WIDEST_QUOTE], first - cut
        length = max(1, min(length, len(text) - first))
    pad = "".join("\t" if char == "\t" else " " for char in text[:first])
    return [f"  {text}", f"  {pad}{'^' * length}"]


def as_data(problem: CubekeeperError | Caution) -> dict[str, object]:
    """The same problem as plain data, for ``--json``."""
    data: dict[str, object] = {
        "kind": problem.kind,
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
        "where": None,
    }
    if problem.span:
        data["where"] = {
            "file": problem.span.source.name,
            "line": problem.span.line,
            "column": problem.span.column,
            "length": problem.span.end - problem.span.start,
        }
    return data
