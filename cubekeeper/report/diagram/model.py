"""What is drawn: cards joined by links, each with the detail that the side panel shows.

    Diagram ── Card ── Chip, Detail        a lattice: card = table, link = derives edge
            └─ Link ── Detail              a plan:    card = stage, link = "comes after"

A diagram is words only; `layout` gives it coordinates, `svg` and `page` draw it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Tone(Enum):
    """What kind of thing a card stands for; the style sheet gives each its look."""

    BASE = "base"
    VIEW = "view"
    REBUILT = "rebuilt"
    PROPAGATE = "propagate"
    WINDOW = "window"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Chip:
    """A small labelled box on a card: a group-by attribute, coloured by its dimension.

    A `ghost` chip is a column that readers of the table do not see.
    """

    text: str
    hue: int | None = None
    ghost: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table in the side panel; a row may lead to a card, or to the link between two."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    goto: tuple[str | tuple[str, str], ...] = ()
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Code:
    """A query in the side panel, under a caption."""

    caption: str
    text: str


@dataclass(frozen=True, slots=True)
class Detail:
    """What the side panel shows of a card or a link."""

    heading: str
    subtitle: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    code: tuple[Code, ...] = ()
    grids: tuple[Grid, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A box of the picture: a title, a figure beside it, chips, and lines of smaller text.

    The `remark` comes last and stands out.
    """

    id: str
    title: str
    tone: Tone
    figure: str = ""
    chips: tuple[Chip, ...] = ()
    lines: tuple[str, ...] = ()
    remark: str = ""
    detail: Detail = field(default_factory=lambda: Detail(""))


@dataclass(frozen=True, slots=True)
class Link:
    """An arrow between two cards; `strong` ones carry the story, the others are faint.

    A link that is not `drawn` appears only when one of its ends is looked at.
    """

    source: str
    target: str
    strong: bool
    label: str = ""
    drawn: bool = True
    detail: Detail = field(default_factory=lambda: Detail(""))


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the legend: a sample and what it means."""

    sample: str
    meaning: str
    hue: int | None = None


@dataclass(frozen=True)
class Diagram:
    """A whole picture. Links run from cards above to cards below and never in a circle.

    `compact` cards show their title and a stripe per chip: there are too many for more. `others`
    are the faint links in two words, `sought` what one can look for.
    """

    title: str
    description: str
    cards: tuple[Card, ...]
    links: tuple[Link, ...]
    legend: tuple[Key, ...] = ()
    overview: Detail = field(default_factory=lambda: Detail(""))
    compact: bool = False
    others: str = "other links"
    sought: str = "a card"
