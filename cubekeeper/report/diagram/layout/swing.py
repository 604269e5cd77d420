"""The curves between the stations of a line: monotone, so that they never leave their corridor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cubekeeper.report.diagram.layout.graph import Route, Station


@dataclass(frozen=True, slots=True)
class Swing:
    """A cubic curve from (x0, y0) down to (x1, y1) with the slopes dx/dy at its ends.

    After it the line goes straight down to `down`.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    slope0: float
    slope1: float
    down: float

    def controls(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The two control points of the curve in Bézier's form.

        An upright end gets a longer arm, so that lines leave and reach cards gently.
        """
        height = self.y1 - self.y0
        first = height * (0.5 if self.slope0 == 0 else 1 / 3)
        second = height * (0.5 if self.slope1 == 0 else 1 / 3)
        return (
            (self.x0 + self.slope0 * first, self.y0 + first),
            (self.x1 - self.slope1 * second, self.y1 - second),
        )


def swings(route: Route, tip: float = 0.0) -> Iterator[Swing]:
    """The curves of a line; the last one ends `tip` above its card.

    >>> line = Route((Station(0, 0, 10), Station(30, 40, 40, 2.0), Station(60, 70, 70)), None)
    >>> [(swing.x1, round(swing.slope1, 2)) for swing in swings(line)]
    [(30, 1.0), (60, 0.0)]
    """
    stations = route.stations
    slopes = [_slope(stations, index) for index in range(len(stations))]
    for index in range(1, len(stations)):
        before, after = stations[index - 1], stations[index]
        last = index == len(stations) - 1
        end = after.top - (tip if last else 0.0)
        down = end if last else after.bottom
        yield Swing(before.x, before.bottom, after.x, end, slopes[index - 1], slopes[index], down)


def _slope(stations: tuple[Station, ...], index: int) -> float:
    """The slant at a station: none where the line turns back, else between its neighbours'."""
    here = stations[index]
    if here.lean == 0 or index in (0, len(stations) - 1):
        return 0.0
    before, after = stations[index - 1], stations[index + 1]
    first = (here.x - before.x) / max(here.top - before.bottom, 1.0)
    second = (after.x - here.x) / max(after.top - here.bottom, 1.0)
    if first * second <= 0:
        return 0.0
    slope = 2 * first * second / (first + second)
    return max(-here.lean, min(here.lean, slope))
