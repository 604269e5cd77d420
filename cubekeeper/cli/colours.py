"""How reports are coloured on a terminal. Elsewhere the colours are stripped on the way out."""

from __future__ import annotations

from typing import Any, Final

import click

from cubekeeper.report.words import Role, Style, plain

_DRESS: Final[dict[Role, dict[str, Any]]] = {
    Role.HEADING: {"bold": True},
    Role.NAME: {"fg": "cyan", "bold": True},
    Role.LABEL: {},
    Role.FIGURE: {},
    Role.MUTED: {"dim": True},
    Role.WARN: {"fg": "yellow"},
    Role.QUERY: {"fg": "green"},
}


def colours(to_file: bool = False) -> Style:
    """The style of reports: colours, or none for a text that goes to a file."""
    return plain if to_file else _coloured


def _coloured(text: str, role: Role) -> str:
    dress = _DRESS[role]
    return click.style(text, **dress) if dress else text
