"""What the layout reads and gives back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """The size of a card."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Arc:
    """A line from a box to one below it; a heavier one is kept straighter and less crossed.

    `label` is the width of the text on it; 0 is none.
    """

    tail: int
    head: int
    weight: int = 1
    label: float = 0.0


@dataclass(frozen=True, slots=True)
class Graph:
    """Boxes and the lines between them, by index; lines do not form circles."""

    boxes: tuple[Box, ...]
    arcs: tuple[Arc, ...]


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances, in the units of the boxes."""

    between_cards: float = 34.0
    between_lanes: float = 11.0
    beside_card: float = 20.0
    label_height: float = 20.0
    gap: float = 30.0
    most_gap: float = 110.0
    port: float = 24.0
    between_parts: float = 72.0
    aspect: float = 1.9
    margin: float = 28.0


@dataclass(frozen=True, slots=True)
class Placed:
    """A box in its place: the middle of its upper edge, and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        """The x of its left edge."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """The x of its right edge."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Station:
    """An upright piece of a line; between two of them the line swings over.

    A piece without length may be passed at a slant of at most `lean`, sideways per unit down.
    """

    x: float
    top: float
    bottom: float
    lean: float = 0.0


@dataclass(frozen=True, slots=True)
class Route:
    """The way of a line from box to box, and the middle of its label."""

    stations: tuple[Station, ...]
    label: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is, in a frame that begins at (0, 0)."""

    width: float
    height: float
    boxes: tuple[Placed, ...]
    routes: tuple[Route, ...]
