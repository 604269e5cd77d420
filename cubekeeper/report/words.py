"""Numbers and lines as people read them, plain unless a style is given."""

from __future__ import annotations

import shutil
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Final

from cubekeeper.lattice.choice import Estimate
from cubekeeper.statistics.changes import Changes

WIDTH: Final = 100
WIDEST: Final = 120


class Role(Enum):
    """What a piece of text is, for whoever colours it."""

    HEADING = "heading"
    NAME = "name"
    LABEL = "label"
    FIGURE = "figure"
    MUTED = "muted"
    WARN = "warn"
    QUERY = "query"


Style = Callable[[str, Role], str]
"""Dresses a piece of text; it must not change how many characters are seen."""


def plain(text: str, _role: Role) -> str:
    """No dress at all.

    >>> plain("SID_sales", Role.NAME)
    'SID_sales'
    """
    return text


def terminal_width(wanted: int | None = None) -> int:
    """The columns of the terminal (or of COLUMNS), within what is comfortable to read.

    >>> terminal_width(80), terminal_width(500), terminal_width(1)
    (80, 120, 60)
    """
    columns = shutil.get_terminal_size((WIDTH, 24)).columns if wanted is None else wanted
    return max(60, min(WIDEST, columns))


def number(value: float) -> str:
    """A figure with thousands separators, and decimals only where they are needed.

    >>> number(1314010), number(12.5), number(0.0421), number(99.999), number(0)
    ('1,314,010', '12.5', '0.0421', '100', '0')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "unknown"
    size = abs(value)
    if size >= 100 or value == round(value):
        return f"{value:,.0f}"
    if size >= 1:
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{value:.3g}"


def plural(count: float, one: str, many: str | None = None) -> str:
    """A count with its word.

    >>> plural(1, "row"), plural(2000, "row"), plural(2, "query", "queries")
    ('1 row', '2,000 rows', '2 queries')
    """
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def rows_text(estimate: Estimate) -> str:
    """Rows of a table, with a tilde unless they were given or measured.

    >>> rows_text(Estimate(1000, "given")), rows_text(Estimate(730.4, "estimated"))
    ('1,000', '~730')
    """
    known = estimate.source in ("given", "measured")
    rows = estimate.rows
    figure = "<1" if 0 < rows < 0.5 else number(round(rows)) if rows == rows else number(rows)
    return figure if known else f"~{figure}"


def rows_phrase(estimate: Estimate) -> str:
    """Rows of a table with their word.

    >>> rows_phrase(Estimate(1, "given")), rows_phrase(Estimate(730.4, "estimated"))
    ('1 row', '~730 rows')
    """
    return f"{rows_text(estimate)} {'row' if round(estimate.rows) == 1 else 'rows'}"


def cost_text_of(cost: float, unit: str) -> str:
    """A cost with its unit.

    >>> cost_text_of(14210, "tuple accesses"), cost_text_of(3.456, "seconds")
    ('14,210 tuple accesses', '3.46 seconds')
    """
    return f"{number(cost)} {unit}"


def compared(cost: float, other: float, name: str) -> str:
    """How one cost stands to another, in words.

    >>> compared(100, 1000, "recomputation"), compared(250, 100, "counting")
    ('10 times cheaper than recomputation', '2.5 times dearer than counting')
    >>> compared(5, 5, "before"), compared(3, 0, "before"), compared(0, 3, "before")
    ('as dear as before', 'dearer than before', 'cheaper than before')
    """
    if cost == other:
        return f"as dear as {name}"
    word = "cheaper" if cost < other else "dearer"
    least, most = sorted((cost, other))
    if least <= 0:
        return f"{word} than {name}"
    ratio = most / least
    shown = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}" if ratio >= 1.1 else f"{ratio:.3g}"
    return f"{shown} times {word} than {name}"


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(-1100), signed(25), signed(0)
    ('−1,100', '+25', '0')
    """
    return number(0) if value == 0 else ("+" if value > 0 else "−") + number(abs(value))


def visible(text: str) -> int:
    """The columns that a text takes on a terminal.

    >>> visible("⋈ stores"), visible("東京")
    (8, 4)
    """
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up with blanks to a width.

    >>> pad("a", 3) + "|", pad("a", 3, right=True)
    ('a  |', '  a')
    """
    blank = " " * max(0, width - visible(text))
    return blank + text if right else text + blank


def clean(text: str) -> str:
    """The text without what could move a terminal's cursor; such characters are shown by name.

    >>> clean("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def wrap(
    text: str, width: int, first: str = "", rest: str | None = None, *, strict: bool = False
) -> list[str]:
    """Lines of at most a width; words longer than that stand alone, or are broken if `strict`.

    >>> wrap("by storeID, itemID, date, category", 24, "  ")
    ['  by storeID, itemID,', '  date, category']
    """
    return textwrap.wrap(
        clean(text),
        max(width, 24),
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=strict,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def listed(names: Iterable[str]) -> str:
    """Names in a row, as in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed([])
    ('a', 'a, b and c', '')
    """
    *most, last = [*names] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def changes_words(changes: Changes) -> str:
    """The changes of a batch, in a phrase.

    >>> from cubekeeper.statistics.changes import TableChange
    >>> changes_words(Changes((TableChange("pos", 5000.0, 20.0),), "asked for"))
    'pos 5,000 inserted and 20 deleted (asked for)'
    """
    parts = []
    for change in changes.tables:
        kinds = [
            f"{number(rows)} {word}"
            for rows, word in ((change.insertions, "inserted"), (change.deletions, "deleted"))
            if rows
        ]
        parts.append(f"{change.table} {' and '.join(kinds)}")
    return f"{'; '.join(parts) if parts else 'none'} ({changes.origin})"


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numeric: Iterable[int] = (),
    total: Sequence[str] | None = None,
    width: int = WIDEST,
    style: Style = plain,
) -> list[str]:
    """An aligned table: first column in the style of names, `numeric` ones to the right.

    A last column of words is wrapped where the width ends.

    >>> for line in table(["view", "cost"], [["a", "10"], ["bb", "1,000"]], numeric=[1]):
    ...     print(line)
    view   cost
    ───────────
    a        10
    bb    1,000
    """
    everything = [header, *rows, *([total] if total else [])]
    cells = [[clean(cell) for cell in row] for row in everything]
    widths = [max(visible(row[place]) for row in cells) for place in range(len(header))]
    right = set(numeric)
    last = len(header) - 1
    if last not in right:
        widths[last] = min(widths[last], max(24, width - sum(widths[:last]) - 2 * last))

    def lines_of(row: Sequence[str], roles: Sequence[Role]) -> Iterator[str]:
        ends = [row[last]] if last in right else wrap(row[last], widths[last], strict=True)
        cells = [
            pad(cell, widths[place], right=place in right) for place, cell in enumerate(row[:last])
        ]
        cells.append(pad(ends[0], widths[last], right=True) if last in right else ends[0])
        while len(cells) > 1 and not cells[-1].strip():
            cells.pop()
        cells[-1] = cells[-1].rstrip()
        yield "  ".join(style(cell, role) for cell, role in zip(cells, roles, strict=False))
        for more in ends[1:]:
            yield " " * (sum(widths[:last]) + 2 * last) + style(more, roles[last])

    rule = style("─" * (sum(widths) + 2 * last), Role.MUTED)
    body = [Role.NAME] + [
        Role.FIGURE if place in right else Role.LABEL for place in range(1, len(header))
    ]
    lines = [*lines_of(cells[0], [Role.MUTED] * len(header)), rule]
    for row in cells[1 : 1 + len(rows)]:
        lines += lines_of(row, body)
    if total:
        lines += [rule, *lines_of(cells[-1], [Role.HEADING] * len(header))]
    return lines


def said(text: str, width: int, style: Style) -> list[str]:
    """A remark below or above a table, wrapped."""
    return [style(line, Role.MUTED) for line in wrap(text, width, "", "  ")]


def query_lines(query: str, style: Style) -> list[str]:
    """A query, indented; its lines are left as long as they are."""
    return [style(f"  {clean(line)}", Role.QUERY) for line in query.splitlines()]
