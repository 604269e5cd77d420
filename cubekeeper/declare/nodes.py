"""The YAML tree of a declaration file: every scalar, list and mapping with its place.

    Node = Scalar(text) | Sequence(items) | Mapping(entries)

Mapping keys are always text, so that ``on:`` is a key named "on" and not the truth value that
YAML 1.1 makes of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cubekeeper.source import Fragment, Span

ScalarValue = str | int | float | bool | None

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUES: Final = frozenset({"true", "yes", "on"})
_FALSES: Final = frozenset({"false", "no", "off"})
_INTEGER: Final = re.compile(r"[-+]?[0-9][0-9_]{0,99}")
_FLOAT: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, eq=False)
class Scalar:
    """A word, a number, a quoted text or a block of text."""

    text: str
    span: Span
    plain: bool
    block: bool = False

    @property
    def size(self) -> int:
        """How many nodes it is, with aliases counted out."""
        return 1

    @property
    def value(self) -> ScalarValue:
        """What an unquoted word means in YAML; quoted text is always text."""
        return _plain_value(self.text) if self.plain else self.text

    def fragment(self) -> Fragment:
        """The text as SQL that knows where each of its words stands in the file."""
        raw, at = self.span.source.text, self.span.start
        if self.block:  # skip the `|` or `>` and what else is on its line
            at = raw.find("\n", at) + 1
        pieces: list[tuple[int, int]] = []
        for word in re.finditer(r"\S+", self.text):
            found = raw.find(word[0], at, self.span.end)
            if found < 0:  # written with escapes: follow what came before
                continue
            if not pieces or found - word.start() != pieces[-1][1] - pieces[-1][0]:
                pieces.append((word.start(), found))
            at = found + len(word[0])
        return Fragment(self.text, self.span.source, tuple(pieces) or ((0, self.span.start),))


@dataclass(frozen=True, eq=False)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    span: Span
    size: int


@dataclass(frozen=True, eq=False)
class Mapping:
    """Keys with their values, in the order written; no key stands twice."""

    entries: tuple[tuple[Scalar, Node], ...]
    span: Span
    size: int

    @cached_property
    def values(self) -> dict[str, Node]:
        """The values by the text of their keys."""
        return {key.text: value for key, value in self.entries}

    def key(self, name: str) -> Scalar:
        """The key of that name, where it is written."""
        return next(key for key, _ in self.entries if key.text == name)


Node = Scalar | Sequence | Mapping


def kind_of(node: Node) -> str:
    """What a node is, in a reader's words.

    >>> from cubekeeper.source import Source
    >>> kind_of(Scalar("yes", Span(Source("", "yes"), 0, 3), plain=True))
    'the truth value `yes`'
    """
    match node:
        case Sequence():
            return "a list"
        case Mapping():
            return "a mapping"
        case Scalar():
            match node.value:
                case None:
                    return "nothing"
                case bool():
                    return f"the truth value `{node.text}`"
                case int() | float():
                    return f"the number {node.text}"
                case _:
                    return f"`{_shortened(node.text)}`"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


def _plain_value(text: str) -> ScalarValue:
    if text in _NULLS:
        return None
    lowered = text.lower()
    if lowered in _TRUES or lowered in _FALSES:
        return lowered in _TRUES
    if _INTEGER.fullmatch(text):
        return int(text.replace("_", ""))
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
