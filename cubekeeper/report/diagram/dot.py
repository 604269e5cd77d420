"""A diagram as DOT, for Graphviz and whatever else reads it."""

from __future__ import annotations

from cubekeeper.report.diagram.model import Card, Diagram, Tone

_LOOK = {
    Tone.BASE: 'shape=cylinder, style=filled, fillcolor="#26324a", fontcolor=white',
    Tone.REBUILT: 'style="rounded,dashed"',
}


def diagram_dot(diagram: Diagram) -> str:
    """The picture as a DOT graph: chosen links bold, the others dashed."""
    names = {card.id: f"n{place}" for place, card in enumerate(diagram.cards)}
    lines = [
        f"digraph {_quoted(diagram.title)} {{",
        '  node [shape=box, style=rounded, fontname="Helvetica", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for card in diagram.cards:
        look = f", {_LOOK[card.tone]}" if card.tone in _LOOK else ""
        lines.append(f"  {names[card.id]} [label={_quoted(_label(card))}{look}];")
    for link in diagram.links:
        style = 'style=bold, color="#2563c9"' if link.strong else "style=dashed, color=gray60"
        label = f", label={_quoted(link.label)}" if link.label else ""
        lines.append(f"  {names[link.source]} -> {names[link.target]} [{style}{label}];")
    return "\n".join([*lines, "}", ""])


def _label(card: Card) -> str:
    chips = ", ".join(f"[{chip.text}]" if chip.ghost else chip.text for chip in card.chips)
    parts = [card.title, chips, *card.lines, card.figure, card.remark]
    return "\n".join(part for part in parts if part)


def _quoted(text: str) -> str:
    r"""A DOT string; line breaks become its own.

    >>> _quoted('a "b"\nc\\d')
    '"a \\"b\\"\\nc\\\\d"'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "").replace("\0", "") + '"'
