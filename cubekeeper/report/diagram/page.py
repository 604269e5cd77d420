"""A diagram as one HTML file: picture, side panel, search; nothing is fetched from anywhere."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from string import Template

from cubekeeper.report.diagram.model import Detail, Diagram, Grid, Key
from cubekeeper.report.diagram.styles import asset, picture_style
from cubekeeper.report.diagram.svg import Drawing, definitions, draw, key_sample, world

Json = Mapping[str, "Json"] | Sequence["Json"] | str | float | bool | None


def diagram_html(diagram: Diagram) -> str:
    """The page of a diagram.

    A content policy allows the page's own script and style and nothing else, not even an image
    from elsewhere; names and queries reach the page as escaped text or as data.
    """
    drawing = draw(diagram)
    script = asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(asset("page.html")).substitute(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        title=escape(diagram.title),
        description=escape(diagram.description),
        style=asset("colours.css") + picture_style(both_schemes=False) + asset("page.css"),
        legend="".join(_legend_entry(key) for key in diagram.legend),
        picture="\n".join(_stage(drawing)),
        others=escape(diagram.others),
        sought=escape(f"Find {diagram.sought}"),
        faint="" if any(link.drawn and not link.strong for link in diagram.links) else " hidden",
        data=embedded_json(_data(drawing)),
        script=script,
    )


def embedded_json(value: Json) -> str:
    """JSON that cannot end the element it stands in.

    >>> print(embedded_json("</script>&"))
    "\\u003c/script\\u003e\\u0026"
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _stage(drawing: Drawing) -> Iterator[str]:
    width, height = drawing.layout.width, drawing.layout.height
    kind = "small" if drawing.diagram.compact else "full"
    yield (
        f'<svg id="stage" class="{kind}" xmlns="http://www.w3.org/2000/svg"'
        f' viewBox="0 0 {width:.0f} {height:.0f}" role="group" aria-labelledby="heading">'
    )
    yield from definitions()
    yield '<g id="extra"></g>'
    yield from world(drawing, interactive=True)
    yield "</svg>"


def _legend_entry(key: Key) -> str:
    sample = "".join(key_sample(key, 2.0, 8.0))
    return (
        f'<li><svg width="30" height="16" aria-hidden="true">{sample}</svg>'
        f"{escape(key.meaning)}</li>"
    )


def _data(drawing: Drawing) -> Json:
    diagram = drawing.diagram
    index = {card.id: place for place, card in enumerate(diagram.cards)}
    links = [*drawing.links, *(link for link in diagram.links if not link.drawn)]
    return {
        "size": [round(drawing.layout.width), round(drawing.layout.height)],
        "overview": _detail(diagram.overview),
        "cards": [
            {
                "id": card.id,
                "title": card.title,
                "box": [round(box.left), round(box.y), round(box.width), round(box.height)],
                "detail": _detail(card.detail),
            }
            for card, box in zip(diagram.cards, drawing.layout.boxes, strict=True)
        ],
        "links": [
            {
                "ends": [index[link.source], index[link.target]],
                "strong": link.strong,
                "drawn": link.drawn,
                "detail": _detail(link.detail),
            }
            for link in links
        ],
    }


def _detail(detail: Detail) -> Json:
    return {
        "heading": detail.heading,
        "subtitle": detail.subtitle,
        "facts": [list(fact) for fact in detail.facts],
        "notes": list(detail.notes),
        "code": [[code.caption, code.text] for code in detail.code],
        "grids": [_grid(grid) for grid in detail.grids],
    }


def _grid(grid: Grid) -> Json:
    return {
        "caption": grid.caption,
        "header": list(grid.header),
        "rows": [list(row) for row in grid.rows],
        "goto": [list(end) if isinstance(end, tuple) else [end] for end in grid.goto],
        "numeric": sorted(grid.numeric),
    }
