"""How wide a text will be, without a font at hand.

Widths are those of Helvetica and of the fonts made to its measure (Arial, Liberation Sans), in
thousandths of the size. Drawings set `textLength` to the same number, so that a text fits its box
in any font.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_GROUPS: Final = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;It[]\\f",
    333: "-()r`",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "ckvxyzsJ",
    556: "0123456789abdeghnopqu#$?L_",
    584: "+<=>~",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "mM",
    889: "%",
    944: "W",
    1015: "@",
}
_WIDTHS: Final = {char: width for width, chars in _GROUPS.items() for char in chars}
_OTHERS: Final = {"·": 333, "…": 1000, "⋈": 760, "≤": 549, "≥": 549, "×": 584, "−": 584}
_BOLD: Final = 1.07
_MONO: Final = 602
_WORD_END: Final = re.compile(r"[_\s.:-]+|[a-z0-9](?=[A-Z])")
_UNKNOWN: Final = 610
_WIDE: Final = 1000


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, bold: bool = False, mono: bool = False) -> float:
    """The width of a line of text.

    >>> round(text_width("sales", 10), 1), text_width("", 10)
    (23.3, 0.0)
    >>> text_width("WWW", 12) > text_width("iii", 12)
    True
    """
    units = sum(_MONO if mono and ord(char) < 128 else _char_width(char) for char in text)
    return units * size / 1000 * (_BOLD if bold else 1.0)


def shorten(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """The text, or as much of it as fits with an ellipsis.

    >>> shorten("TotalQuantity", 10, 200), shorten("TotalQuantity", 10, 40)
    ('TotalQuantity', 'Total…')
    """
    if text_width(text, size, bold=bold) <= room:
        return text
    end = len(text)
    while end > 1 and text_width(text[:end] + "…", size, bold=bold) > room:
        end -= 1
    return text[:end].rstrip() + "…"


def halves(text: str) -> tuple[str, ...]:
    """A name on two lines, broken where a word ends and the longer line is shortest.

    >>> halves("calendar__d_year_region"), halves("returnsByDepartment"), halves("pos")
    (('calendar__d_', 'year_region'), ('returnsBy', 'Department'), ('pos',))
    """
    breaks = [match.end() for match in _WORD_END.finditer(text) if match.end() < len(text)]
    if not breaks:
        return (text,)
    best = min(breaks, key=lambda end: (max(end, len(text) - end), end))
    return (text[:best].rstrip(), text[best:])


def _char_width(char: str) -> int:
    width = _WIDTHS.get(char) or _OTHERS.get(char)
    if width is not None:
        return width
    if unicodedata.combining(char):
        return 0
    return _WIDE if unicodedata.east_asian_width(char) in "WF" or ord(char) > 0xFFFF else _UNKNOWN
