"""How the time for lattice, parents and plan grows with the number of summary tables.

It is processor time: nothing here waits or runs in parallel, so that on an idle machine it is the
time that passes, and on a busy one it is still that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Final, TypeVar

from cubekeeper.bench.workloads import Workload, cube, mixed, product
from cubekeeper.declare import load_text
from cubekeeper.derive import build_lattice, choose
from cubekeeper.lattice.model import Lattice
from cubekeeper.plan.stages import Plan
from cubekeeper.report.words import table
from cubekeeper.schedule import build_plan

STAGES: Final = ("declare", "lattice", "parents", "plan")


@dataclass(frozen=True, slots=True)
class Series:
    """A family of workloads: how one is made, the usual sizes, and those of a long run."""

    make: Callable[[int], Workload]
    usual: tuple[int, ...]
    long: tuple[int, ...]


SERIES: Final[Mapping[str, Series]] = {
    "cube": Series(cube, (4, 6, 8, 10), (11,)),
    "product": Series(product, (2, 3, 4, 5), (6,)),
    "mixed": Series(mixed, (25, 50, 100, 200), (400, 800)),
}


@dataclass(frozen=True, slots=True)
class Timing:
    """One workload measured: how large it is, and the best seconds of each stage.

    `pairs` counts the pairs of tables of which one can be computed from the other.
    """

    family: str
    size: int
    views: int
    pairs: int
    plan_stages: int
    seconds: Mapping[str, float]

    @property
    def after_declaring(self) -> float:
        """Lattice, parents and plan, without reading the YAML: what the budgets are about."""
        return sum(self.seconds[stage] for stage in STAGES if stage != "declare")


T = TypeVar("T")


class _Clock:
    """Keeps the best time of each stage over several runs."""

    def __init__(self) -> None:
        self.best: dict[str, float] = {}

    def time(self, stage: str, work: Callable[[], T]) -> T:
        start = process_time()
        result = work()
        taken = process_time() - start
        self.best[stage] = min(taken, self.best.get(stage, taken))
        return result


def measure(workload: Workload, repeat: int = 1) -> Timing:
    """Take a workload from YAML to plan, and keep the best time of each stage."""
    clock = _Clock()
    for _ in range(repeat - 1):
        _run(workload, clock)
    lattice, plan = _run(workload, clock)
    return Timing(
        family=workload.family,
        size=workload.size,
        views=len(lattice.nodes),
        pairs=sum(len(parents) for parents in lattice.labels.values()),
        plan_stages=len(plan.stages),
        seconds=clock.best,
    )


def _run(workload: Workload, clock: _Clock) -> tuple[Lattice, Plan]:
    loaded = clock.time("declare", lambda: load_text(workload.text))
    lattice = clock.time("lattice", lambda: build_lattice(loaded.warehouse))
    made = clock.time("parents", lambda: choose(lattice, loaded.statistics))
    return lattice, clock.time("plan", lambda: build_plan(lattice, made))


def measure_growth(
    families: Sequence[str] = (*SERIES,), *, long: bool = False, repeat: int = 1
) -> Iterator[Timing]:
    """Measure families of workloads, small before large."""
    for family in families:
        series = SERIES[family]
        for size in series.usual + (series.long if long else ()):
            yield measure(series.make(size), repeat)


def growth_text(timings: Sequence[Timing]) -> str:
    """A table of the timings; `growth` compares a line with the one before it.

    >>> seconds = dict.fromkeys(STAGES, 0.25)
    >>> small = Timing("cube", 4, 16, 65, 35, seconds)
    >>> large = Timing("cube", 6, 64, 665, 131, dict.fromkeys(STAGES, 1.0))
    >>> growth_text([small, large]).splitlines()[-1].split("  ")[-1]
    '4.0× time for 4.0× tables'
    """
    header = ["family", "size", "tables", "pairs", "stages", *STAGES, "lattice to plan", "growth"]
    rows = []
    for before, timing in zip([None, *timings], timings, strict=False):
        rows.append(
            [
                timing.family,
                str(timing.size),
                f"{timing.views:,}",
                f"{timing.pairs:,}",
                f"{timing.plan_stages:,}",
                *(f"{timing.seconds[stage]:.3f}" for stage in STAGES),
                f"{timing.after_declaring:.3f}",
                _growth(before, timing),
            ]
        )
    return "\n".join(table(header, rows, numeric=range(1, len(header) - 1)))


def _growth(before: Timing | None, timing: Timing) -> str:
    if before is None or before.family != timing.family:
        return ""
    time = timing.after_declaring / before.after_declaring
    return f"{time:.1f}× time for {timing.views / before.views:.1f}× tables"


def growth_data(timings: Sequence[Timing]) -> list[dict[str, object]]:
    """The same as plain data, seconds in full."""
    return [
        {
            "family": timing.family,
            "size": timing.size,
            "summary_tables": timing.views,
            "derivable_pairs": timing.pairs,
            "plan_stages": timing.plan_stages,
            "seconds": {stage: timing.seconds[stage] for stage in STAGES},
            "lattice_to_plan": timing.after_declaring,
        }
        for timing in timings
    ]
