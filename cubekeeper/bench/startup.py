"""How long a cold process takes to its first Delta result, with a plain session and with ours.

Every run is a process of its own, and plain and ours take turns, so that what else the machine does
meets both. Wall-clock time is what a user waits; processor time is what stays comparable when other
processes share the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from cubekeeper.errors import InternalError
from cubekeeper.report.words import table
from cubekeeper.spark.jars import find_jars

KINDS: Final = ("plain", "ours")
LAPS: Final[Mapping[str, str]] = {
    "session": "session is up",
    "result": "first Delta result",
    "merge": "first MERGE done",
    "cpu": "processor time in all",
}


@dataclass(frozen=True, slots=True)
class ColdStart:
    """One process: the seconds from asking for it to each lap, and its processor time."""

    kind: str
    seconds: Mapping[str, float]


def measure_startup(repeat: int) -> Iterator[ColdStart]:
    """Start cold processes in turns; the first pair only warms the machine's file cache."""
    find_jars()
    for turn in range(repeat + 1):
        for kind in KINDS:
            start = cold_start(kind)
            if turn:
                yield start


def cold_start(kind: str) -> ColdStart:
    """Run one process to its end, and read what it noted."""
    with tempfile.TemporaryDirectory(prefix="cubekeeper-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "cubekeeper.spark.exercise", kind, folder, str(time.time())],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise InternalError("bench", f"a cold start failed: {done.stderr.strip()[-500:]}")
    return ColdStart(kind, json.loads(done.stdout.splitlines()[-1]))


def medians(starts: Sequence[ColdStart]) -> dict[str, dict[str, float]]:
    """The median of each lap, for each kind of session.

    >>> runs = [ColdStart("ours", dict.fromkeys(LAPS, s)) for s in (3.0, 9.0, 4.0)]
    >>> medians(runs)["ours"]["result"]
    4.0
    """
    kinds = dict.fromkeys(start.kind for start in starts)
    return {
        kind: {lap: median(s.seconds[lap] for s in starts if s.kind == kind) for lap in LAPS}
        for kind in kinds
    }


def startup_data(starts: Sequence[ColdStart]) -> dict[str, object]:
    """The medians and their ratio, ours to plain, as plain data."""
    middle = medians(starts)
    ratio = {lap: middle["ours"][lap] / middle["plain"][lap] for lap in LAPS}
    return {"medians": middle, "ratio": ratio}


def startup_text(starts: Sequence[ColdStart]) -> str:
    """The medians side by side, and their ratio."""
    middle = medians(starts)
    rows = [
        (
            label,
            f"{middle['plain'][lap]:.1f}",
            f"{middle['ours'][lap]:.1f}",
            f"{middle['ours'][lap] / middle['plain'][lap]:.2f}",
        )
        for lap, label in LAPS.items()
    ]
    return "\n".join(table(("", "plain", "ours", "ratio"), rows, numeric=(1, 2, 3)))
