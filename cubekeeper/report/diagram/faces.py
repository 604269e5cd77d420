"""The face of a card: how large it is and where its words stand, before it has a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cubekeeper.report.diagram.measure import shorten, text_width
from cubekeeper.report.diagram.model import Card, Chip, Link

TITLE: Final = 13.0
SMALL: Final = 11.0
LABEL: Final = 11.0
CHIP_HEIGHT: Final = 18.0

_PAD: Final = 12.0
_CHIP_PAD: Final = 7.0
_CHIP_GAP: Final = 5.0
_LINE: Final = 15.0
_LEAST: Final = 112.0
_ROOM: Final = 224.0
_TITLE_ROOM: Final = 300.0
_COMPACT_TITLE: Final = 10.0
_COMPACT_ROOM: Final = 96.0


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of text at its place on a card; `width` is what it may take."""

    role: str
    text: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class ChipBox:
    """A chip at its place on a card, as short as its text was made."""

    chip: Chip
    text: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Face:
    """A card's size and what is written on it, from its upper left corner."""

    width: float
    height: float
    words: tuple[Words, ...]
    chips: tuple[ChipBox, ...]


def face_of(card: Card, *, compact: bool = False) -> Face:
    """Measure a card and set its words.

    >>> from cubekeeper.report.diagram.model import Tone
    >>> face = face_of(Card("v", "sales", Tone.VIEW, "10 rows", (Chip("storeID", 0),)))
    >>> [words.text for words in face.words], face.chips[0].text, face.height
    (['sales', '10 rows'], 'storeID', 60.0)
    """
    return _compact_face(card) if compact else _full_face(card)


def label_width(link: Link) -> float:
    """The room that a link's label takes, its padding included; 0 is none."""
    return text_width(link.label, LABEL) + 14.0 if link.label else 0.0


def _full_face(card: Card) -> Face:
    title = shorten(card.title, TITLE, _TITLE_ROOM, bold=True)
    title_width = text_width(title, TITLE, bold=True)
    figure_width = text_width(card.figure, SMALL)
    head = title_width + (18.0 + figure_width if card.figure else 0.0)
    below = bool(card.figure) and head > _ROOM
    head = max(title_width, figure_width) if below else head
    chips = [(chip, shorten(chip.text, SMALL, _ROOM - 2 * _CHIP_PAD)) for chip in card.chips]
    widths = [text_width(text, SMALL) + 2 * _CHIP_PAD for _, text in chips]
    room = max(head, _ROOM)
    lines = [("line", line) for text in card.lines for line in _wrapped(text, room)]
    lines += [("remark", line) for line in _wrapped(card.remark, room) if line]
    inner = max(
        [
            head,
            _LEAST,
            *_row_widths(widths, room),
            *(text_width(line, SMALL) for _, line in lines),
        ]
    )
    words = [Words("title", title, _PAD, 23.0, title_width)]
    if card.figure:
        x, y = (_PAD, 40.0) if below else (_PAD + inner - figure_width, 23.0)
        words.append(Words("figure", card.figure, x, y, figure_width))
    boxes, y = _set_chips(chips, widths, inner, 49.0 if below else 32.0)
    y += 5.0 if boxes and lines else 0.0
    for role, line in lines:
        y += _LINE
        words.append(Words(role, line, _PAD, y - 3.0, text_width(line, SMALL)))
    below_last = 6.0 if lines else 10.0 if boxes else 4.0
    return Face(inner + 2 * _PAD, y + below_last, tuple(words), boxes)


def _row_widths(widths: Sequence[float], room: float) -> list[float]:
    """How wide the rows of chips are, if each is filled before the next begins."""
    rows: list[float] = []
    for width in widths:
        if rows and rows[-1] + _CHIP_GAP + width <= room:
            rows[-1] += _CHIP_GAP + width
        else:
            rows.append(width)
    return rows


def _set_chips(
    chips: Sequence[tuple[Chip, str]], widths: Sequence[float], inner: float, y: float
) -> tuple[tuple[ChipBox, ...], float]:
    """Chips from left to right, a new row where the card ends; and the y below them."""
    boxes: list[ChipBox] = []
    x = 0.0
    for (chip, text), width in zip(chips, widths, strict=True):
        if x > 0 and x + width > inner + 0.01:
            x, y = 0.0, y + CHIP_HEIGHT + _CHIP_GAP
        boxes.append(ChipBox(chip, text, _PAD + x, y, width))
        x += width + _CHIP_GAP
    return tuple(boxes), y + CHIP_HEIGHT if boxes else y


def _compact_face(card: Card) -> Face:
    title = shorten(card.title, _COMPACT_TITLE, _COMPACT_ROOM)
    width = text_width(title, _COMPACT_TITLE)
    return Face(max(width, 24.0) + 14.0, 24.0, (Words("small-title", title, 7.0, 14.0, width),), ())


def _wrapped(text: str, room: float) -> list[str]:
    """Lines of words that fit; a word that does not is shortened."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else ""
        if lines and text_width(longer, SMALL) <= room:
            lines[-1] = longer
        else:
            lines.append(shorten(word, SMALL, room))
    return lines
