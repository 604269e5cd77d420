"""The style sheets and scripts that ship with the package."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=2)
def picture_style(*, both_schemes: bool) -> str:
    """The style sheet of the picture; alone it carries its colours, in a page it uses the page's.

    A picture that stands alone spells the colours out, once per scheme, because not every viewer
    of SVG knows variables.
    """
    sheet = asset("picture.css")
    if not both_schemes:
        return sheet
    light, dark = schemes()
    dark_sheet = _spelled_out(sheet, dark)
    return f"{_spelled_out(sheet, light)}\n@media (prefers-color-scheme: dark) {{\n{dark_sheet}}}\n"


@lru_cache(maxsize=1)
def schemes() -> tuple[dict[str, str], dict[str, str]]:
    """The colours of the light and of the dark scheme, by name, as `colours.css` has them."""
    blocks = re.findall(r"\{([^{}]*--[^{}]*)\}", asset("colours.css"))
    light, dark = (dict(re.findall(r"(--[\w-]+):\s*([^;]+);", block)) for block in blocks)
    return light, {**light, **dark}


def asset(name: str) -> str:
    """A file that ships with the package, without its comments if it is a style sheet."""
    text = (files("cubekeeper.report") / "assets" / name).read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/\n?", "", text, flags=re.DOTALL) if name.endswith(".css") else text


def _spelled_out(sheet: str, colours: dict[str, str]) -> str:
    return re.sub(r"var\((--[\w-]+)\)", lambda match: colours[match[1]], sheet)
