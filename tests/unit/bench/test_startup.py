"""The benchmark of cold starts compares like with like."""

import pytest

from cubekeeper.bench.startup import (
    KINDS,
    LAPS,
    ColdStart,
    measure_startup,
    startup_data,
    startup_text,
)

STARTS = [
    ColdStart(kind, {"session": s, "result": 2 * s, "merge": 3 * s, "cpu": 4 * s})
    for kind, seconds in (("plain", (5.0, 6.0, 50.0)), ("ours", (2.0, 3.0, 4.0)))
    for s in seconds
]


def test_the_ratio_is_that_of_the_medians():
    data = startup_data(STARTS)
    assert data["ratio"] == dict.fromkeys(LAPS, 0.5)


def test_the_text_has_a_line_for_each_lap():
    lines = startup_text(STARTS).splitlines()
    assert lines[0].split() == ["plain", "ours", "ratio"]
    assert lines[3].split() == ["first", "Delta", "result", "12.0", "6.0", "0.50"]
    assert len(lines) == 2 + len(LAPS)


@pytest.mark.slow
def test_cold_starts_take_turns():
    starts = list(measure_startup(1))
    assert tuple(start.kind for start in starts) == KINDS
    for start in starts:
        seconds = start.seconds
        assert 0 < seconds["session"] < seconds["result"] < seconds["merge"]
        assert seconds["cpu"] > 0
