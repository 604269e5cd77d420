"""Pieces of XML: escaped text, short numbers, and text that fits its room."""

from __future__ import annotations

import re
from html import escape
from typing import Final

_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: str) -> str:
    """Text for XML: escaped, and without the characters XML has no place for."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=False)


def attribute(text: str) -> str:
    """Text for an attribute between double quotes."""
    return escape(_FORBIDDEN.sub("\ufffd", text), quote=True)


def short(value: float) -> str:
    """A coordinate, as short as a tenth of a unit allows."""
    return f"{value:.1f}".removesuffix(".0")


def text_element(
    role: str, text: str, x: float, y: float, width: float, size: float, extra: str = ""
) -> str:
    """A line of text that takes exactly `width`, in whatever font."""
    fit = f' textLength="{short(width)}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
    return (
        f'<text class="{role}" x="{short(x)}" y="{short(y)}" font-size="{short(size)}"{fit}{extra}>'
        f"{escaped(text)}</text>"
    )
