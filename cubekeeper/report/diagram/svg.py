"""A diagram as SVG: a picture that stands alone, or the stage of the interactive page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from cubekeeper.report.diagram.faces import (
    CHIP_HEIGHT,
    LABEL,
    SMALL,
    TITLE,
    ChipBox,
    Face,
    Words,
    face_of,
    label_width,
)
from cubekeeper.report.diagram.layout.arrange import arrange
from cubekeeper.report.diagram.layout.graph import Arc, Box, Graph, Layout, Placed, Route, Spacing
from cubekeeper.report.diagram.layout.swing import swings
from cubekeeper.report.diagram.measure import halves, text_width
from cubekeeper.report.diagram.model import Card, Diagram, Key, Link
from cubekeeper.report.diagram.styles import picture_style
from cubekeeper.report.diagram.xml import attribute, escaped, short, text_element

_STRONG: Final = 4
_TIP: Final = 5.0
_FAR_LARGEST: Final = 26.0
_COMPACT_SPACING: Final = Spacing(
    between_cards=10.0,
    beside_card=7.0,
    between_lanes=4.0,
    gap=46.0,
    most_gap=170.0,
    port=5.0,
    aspect=0.9,
)
_SIZES: Final = {
    "title": TITLE,
    "figure": SMALL,
    "line": SMALL,
    "remark": SMALL,
    "small-title": 10.0,
    "heading": 17.0,
    "caption": SMALL,
}
_BOLD: Final = frozenset({"title", "heading"})


@dataclass(frozen=True)
class Drawing:
    """A diagram with a face for every card and a place for every face and drawn link."""

    diagram: Diagram
    faces: tuple[Face, ...]
    links: tuple[Link, ...]
    layout: Layout


def draw(diagram: Diagram) -> Drawing:
    """Lay a diagram out."""
    faces = tuple(face_of(card, compact=diagram.compact) for card in diagram.cards)
    index = {card.id: place for place, card in enumerate(diagram.cards)}
    links = tuple(link for link in diagram.links if link.drawn)
    arcs = tuple(
        Arc(
            index[link.source],
            index[link.target],
            _STRONG if link.strong else 1,
            label_width(link),
        )
        for link in links
    )
    boxes = tuple(Box(face.width, face.height) for face in faces)
    spacing = _COMPACT_SPACING if diagram.compact else Spacing()
    return Drawing(diagram, faces, links, arrange(Graph(boxes, arcs), spacing))


def diagram_svg(diagram: Diagram) -> str:
    """The whole picture as one SVG document with its own style, title and legend."""
    drawing = draw(diagram)
    head = _Head.of(drawing)
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc"'
            f' viewBox="0 0 {short(head.width)} {short(head.height)}"'
            f' width="{short(head.width)}" height="{short(head.height)}">',
            f'<title id="title">{escaped(diagram.title)}</title>',
            f'<desc id="desc">{escaped(diagram.description)}</desc>',
            f"<style>{picture_style(both_schemes=True)}</style>",
            *definitions(),
            f'<rect class="paper" width="{short(head.width)}" height="{short(head.height)}"/>',
            *head.lines(),
            f'<g transform="translate({short(head.shift)} {short(head.depth)})">',
            *world(drawing, interactive=False),
            "</g>",
            "</svg>",
            "",
        ]
    )


def world(drawing: Drawing, *, interactive: bool) -> Iterator[str]:
    """The links (faint below strong), their labels, and the cards."""
    numbered = list(enumerate(zip(drawing.links, drawing.layout.routes, strict=True)))
    for draw_one in (_wire, _tag):
        for strong in (False, True):
            for number, (link, route) in numbered:
                if link.strong is strong:
                    yield from draw_one(number, link, route, interactive=interactive)
    for number, (card, face, placed) in enumerate(
        zip(drawing.diagram.cards, drawing.faces, drawing.layout.boxes, strict=True)
    ):
        yield from _card(
            number, card, face, placed, interactive=interactive, compact=drawing.diagram.compact
        )


def _wire(number: int, link: Link, route: Route, *, interactive: bool) -> Iterator[str]:
    kind = "strong" if link.strong else "faint"
    path = _path(route)
    if interactive:
        yield f'<g class="link {kind}" data-link="{number}"><path class="touch" d="{path}"/>'
    else:
        title = link.detail.heading or f"{link.source} → {link.target}"
        yield f'<g class="link {kind}"><title>{escaped(title)}</title>'
    yield f'<path class="wire" d="{path}" marker-end="url(#{kind}-tip)"/></g>'


def _tag(number: int, link: Link, route: Route, *, interactive: bool) -> Iterator[str]:
    if not link.label or route.label is None:
        return
    data = f' data-link="{number}"' if interactive else ""
    x, y = route.label
    width, room = label_width(link), text_width(link.label, LABEL)
    yield (
        f'<g class="link {"strong" if link.strong else "faint"}"{data}>'
        f'<rect class="tag" x="{short(x - width / 2)}" y="{short(y - 9)}" width="{short(width)}"'
        ' height="18" rx="9"/>'
        + text_element("tag-text", link.label, x - room / 2, y + 4, room, LABEL)
        + "</g>"
    )


def _card(
    number: int, card: Card, face: Face, placed: Placed, *, interactive: bool, compact: bool
) -> Iterator[str]:
    data = (
        f' data-card="{number}" tabindex="0" role="button" aria-label="{attribute(_spoken(card))}"'
        if interactive
        else ""
    )
    place = f"translate({short(placed.left)} {short(placed.y)})"
    yield f'<g class="card {card.tone.value}"{data} transform="{place}">'
    if not interactive:
        yield f"<title>{escaped(_spoken(card))}</title>"
    size = f'width="{short(face.width)}" height="{short(face.height)}"'
    radius = 5 if compact else 10
    if not compact:
        yield f'<rect class="shade" y="2.5" {size} rx="{radius}"/>'
    yield f'<rect class="plate" {size} rx="{radius}"/>'
    yield '<g class="near">' if interactive else "<g>"
    yield from (_words(words) for words in face.words)
    for box in face.chips:
        yield from _chip(box)
    yield "</g>"
    if compact or interactive:
        yield from _stripes(card, face, far=not compact)
    if interactive:
        yield from _far_title(card, face)
    yield "</g>"


def _chip(box: ChipBox) -> Iterator[str]:
    hue = "none" if box.chip.hue is None else f"h{box.chip.hue % 8}"
    ghost = " ghost" if box.chip.ghost else ""
    yield (
        f'<rect class="chip {hue}{ghost}" x="{short(box.x)}" y="{short(box.y)}"'
        f' width="{short(box.width)}" height="{short(CHIP_HEIGHT)}" rx="5"/>'
    )
    room = text_width(box.text, SMALL)
    left = box.x + (box.width - room) / 2
    yield text_element(f"chip-text {hue}{ghost}", box.text, left, box.y + 13, room, SMALL)


def _stripes(card: Card, face: Face, *, far: bool) -> Iterator[str]:
    """A stripe per group-by column: all that a small card, or one seen from afar, shows of them."""
    hues = [chip.hue for chip in card.chips if chip.hue is not None and not chip.ghost]
    side, height = (10.0, 7.0) if far else (5.0, 2.5)
    each = (face.width - 2 * side) / max(len(hues), 1)
    shown = 'far" display="none' if far else "near"
    for place, hue in enumerate(hues):
        yield (
            f'<rect class="stripe s{hue % 8} {shown}" x="{short(side + place * each)}"'
            f' y="{short(face.height - 2 * height)}" width="{short(max(each - 2, 1))}"'
            f' height="{short(height)}"/>'
        )


def _far_title(card: Card, face: Face) -> Iterator[str]:
    """The title alone, as large as the card allows: shown when the page is zoomed far out."""
    best: tuple[float, tuple[str, ...]] = (0.0, (card.title,))
    for lines in ((card.title,), halves(card.title)):
        unit = max(text_width(line, 1.0, bold=True) for line in lines)
        high = face.height * (0.62 if card.chips else 0.8) / (1.15 * len(lines))
        size = min((face.width - 14.0) / max(unit, 0.01), high, _FAR_LARGEST)
        best = max(best, (size, lines))
    size, lines = best
    middle = face.height * (0.42 if card.chips else 0.5)
    for place, line in enumerate(lines):
        room = text_width(line, size, bold=True)
        y = middle + (place - (len(lines) - 1) / 2) * size * 1.15 + size * 0.36
        x = (face.width - room) / 2
        yield text_element("far", line, x, y, room, size, extra=' display="none"')


def _words(words: Words) -> str:
    return text_element(words.role, words.text, words.x, words.y, words.width, _SIZES[words.role])


def _path(route: Route) -> str:
    """The line through its stations; it ends where the arrow's tip takes over."""
    first = route.stations[0]
    parts = [f"M{short(first.x)} {short(first.top)}"]
    if first.bottom - first.top >= 0.5:
        parts.append(f"V{short(first.bottom)}")
    for swing in swings(route, tip=_TIP):
        if abs(swing.x1 - swing.x0) < 0.5 and abs(swing.slope0) + abs(swing.slope1) < 0.01:
            parts.append(f"V{short(swing.y1)}")
        else:
            points = (*swing.controls(), (swing.x1, swing.y1))
            parts.append("C" + " ".join(f"{short(x)} {short(y)}" for x, y in points))
        if swing.down > swing.y1:
            parts.append(f"V{short(swing.down)}")
    return "".join(parts)


def definitions() -> Iterator[str]:
    """The arrows' tips."""
    yield "<defs>"
    for kind in ("strong", "faint"):
        yield (
            f'<marker id="{kind}-tip" class="{kind}-tip" viewBox="0 0 8 8" refX="3" refY="4"'
            ' markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
            '<path d="M0 0.8L7.5 4L0 7.2z"/></marker>'
        )
    yield "</defs>"


@dataclass(frozen=True)
class _Head:
    """The heading and legend above a picture that stands alone, and the frame around all."""

    diagram: Diagram
    width: float
    height: float
    depth: float
    shift: float
    rows: tuple[tuple[tuple[float, Key], ...], ...]

    @classmethod
    def of(cls, drawing: Drawing) -> _Head:
        diagram = drawing.diagram
        heading = text_width(diagram.title, _SIZES["heading"], bold=True)
        keys = [_key_width(key) for key in diagram.legend]
        least = max([heading, min(sum(keys), 560.0), *keys])
        width = max(drawing.layout.width, least + 56.0)
        rows: list[list[tuple[float, Key]]] = [[]]
        x = 28.0
        for key, room in zip(diagram.legend, keys, strict=True):
            if x > 28.0 and x + room > width - 28.0:
                rows.append([])
                x = 28.0
            rows[-1].append((x, key))
            x += room
        depth = 48.0 + 22.0 * len(rows) if diagram.legend else 44.0
        shift = (width - drawing.layout.width) / 2
        return cls(
            diagram, width, drawing.layout.height + depth, depth, shift, tuple(map(tuple, rows))
        )

    def lines(self) -> Iterator[str]:
        size = _SIZES["heading"]
        room = text_width(self.diagram.title, size, bold=True)
        yield text_element("heading", self.diagram.title, 28.0, 38.0, room, size)
        for place, row in enumerate(self.rows):
            for x, key in row:
                y = 62.0 + 22.0 * place
                yield from key_sample(key, x, y)
                room = text_width(key.meaning, SMALL)
                yield text_element("caption", key.meaning, x + 34, y + 4, room, SMALL)


def _key_width(key: Key) -> float:
    return 34.0 + text_width(key.meaning, SMALL) + 20.0


def key_sample(key: Key, x: float, y: float) -> Iterator[str]:
    """What a line of the legend shows before its words."""
    match key.sample:
        case "strong" | "faint" as kind:
            yield (
                f'<g class="link {kind}"><path class="wire" marker-end="url(#{kind}-tip)"'
                f' d="M{short(x)} {short(y)}H{short(x + 20)}"/></g>'
            )
        case "chip" | "ghost" as kind:
            hue = "none" if key.hue is None else f"h{key.hue % 8}"
            ghost = " ghost" if kind == "ghost" else ""
            yield (
                f'<rect class="chip {hue}{ghost}" x="{short(x)}" y="{short(y - 7)}" width="26"'
                ' height="14" rx="4"/>'
            )
        case tone:
            yield (
                f'<g class="card {attribute(tone)}"><rect class="plate"'
                f' x="{short(x)}" y="{short(y - 7)}" width="26" height="14" rx="4"/></g>'
            )


def _spoken(card: Card) -> str:
    """A card in words, for those who hear it."""
    chips = ", ".join(chip.text for chip in card.chips if not chip.ghost)
    by = f"by {chips}" if chips else ""
    parts = [card.title, card.figure, by, *card.lines, card.remark]
    return "; ".join(part for part in parts if part)
