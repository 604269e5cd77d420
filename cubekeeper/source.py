"""Where a piece of the user's text stands: files, spans, and SQL fragments inside YAML.

Every declared thing remembers its `Span`, so that an error can show the line and put a caret under
the offending word. A `Fragment` is SQL text that was lifted out of a YAML scalar: it knows how
to turn an offset in the SQL back into a span of the file.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Source:
    """A text and the name by which the user knows it (a path as typed, or ``<sql>``)."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offsets at which the lines begin."""
        return (0, *(i + 1 for i, char in enumerate(self.text) if char == "\n"))

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of an offset.

        >>> Source("a.yml", "x: 1\\ny: 2\\n").position(5)
        (2, 1)
        """
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its end."""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")


@dataclass(frozen=True)
class Span:
    """A stretch of a source, by character offsets, the end excluded."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """The 1-based line on which the span begins."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """The 1-based column at which the span begins."""
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        """What is written there."""
        return self.source.text[self.start : self.end]

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Fragment:
    """A text taken out of a source, and where its pieces stand there.

    `pieces` pairs offsets in this text with the source offsets of the same characters, in order;
    what lies between two of them follows the first.

    >>> yaml = Source("a.yml", "sql: |\\n  SELECT a\\n  FROM t\\n")
    >>> sql = Fragment("SELECT a\\nFROM t\\n", yaml, ((0, 9), (9, 20)))
    >>> str(sql.span(14, 15))
    'a.yml:3:8'
    """

    text: str
    source: Source
    pieces: tuple[tuple[int, int], ...]

    @staticmethod
    def whole(source: Source) -> Fragment:
        """The fragment that is the whole source."""
        return Fragment(source.text, source, ((0, 0),))

    @staticmethod
    def of_text(text: str, name: str = "<sql>") -> Fragment:
        """A fragment for text that came from no file."""
        return Fragment.whole(Source(name, text))

    def offset(self, local: int) -> int:
        """The source offset of an offset in this text."""
        index = bisect_right(self.pieces, local, key=lambda piece: piece[0])
        here, there = self.pieces[max(index - 1, 0)]
        return max(0, min(there + local - here, len(self.source.text)))

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The source span of a stretch of this text (the whole text by default)."""
        first = self.offset(start)
        last = self.offset(len(self.text.rstrip()) if end is None else end)
        return Span(self.source, first, max(first, last))
