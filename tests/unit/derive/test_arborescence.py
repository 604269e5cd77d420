"""The cheapest parents without circles, against trying every assignment."""

from itertools import product
from random import Random

import pytest

from cubekeeper.derive.arborescence import WayIn, cheapest_parents, parents_first


def total(chosen) -> tuple[float, int, int]:
    return tuple(sum(way[at] for way in chosen) for at in range(3))


def has_circle(parents: dict[str, str | None]) -> bool:
    for start in parents:
        at: str | None = start
        steps = 0
        while at is not None and at in parents:
            at, steps = parents[at], steps + 1
            if steps > len(parents):
                return True
    return False


def best_by_trying_all(ways):
    names = list(ways)
    return min(
        total(choice)
        for choice in product(*ways.values())
        if not has_circle({n: way.source for n, way in zip(names, choice, strict=True)})
    )


def random_ways(pick: Random) -> dict[str, list[WayIn]]:
    names = [f"t{at}" for at in range(pick.randint(1, 5))]
    ways = {}
    for name in names:
        into = [WayIn(float(pick.randint(1, 30)), pick.randint(0, 2), -1, None)]
        for rank, source in enumerate([*names, "outside"]):
            if source != name and pick.random() < 0.6:
                into.append(WayIn(float(pick.randint(1, 12)), pick.randint(0, 2), rank, source))
        ways[name] = sorted(into, key=lambda way: way[:3])
    return ways


@pytest.mark.parametrize("seeds", [range(at, at + 50) for at in range(0, 500, 50)])
def test_it_is_the_best_assignment_ties_included(seeds):
    circles = 0
    for seed in seeds:
        ways = random_ways(Random(seed))
        chosen = cheapest_parents(ways)
        assert chosen.keys() == ways.keys()
        assert all(way in ways[name] for name, way in chosen.items())
        assert not has_circle({name: way.source for name, way in chosen.items()})
        assert total(chosen.values()) == best_by_trying_all(ways), f"seed {seed}"
        circles += has_circle({n: into[0].source for n, into in ways.items()})
    assert circles > 5, "hardly a circle had to be opened"


def test_circles_within_circles():
    """Two pairs that prefer their partners, and then each other's pair."""
    ways = {
        "a": [WayIn(1.0, 0, 1, "b"), WayIn(5.0, 0, 2, "c"), WayIn(100.0, 0, 9, None)],
        "b": [WayIn(1.0, 0, 0, "a"), WayIn(90.0, 0, 9, None)],
        "c": [WayIn(1.0, 0, 3, "d"), WayIn(6.0, 0, 0, "a"), WayIn(70.0, 0, 9, None)],
        "d": [WayIn(1.0, 0, 2, "c"), WayIn(80.0, 0, 9, None)],
    }
    chosen = {name: way.source for name, way in cheapest_parents(ways).items()}
    assert chosen == {"a": "c", "b": "a", "c": None, "d": "c"}


def test_hundreds_of_tables_with_the_same_groups():
    """Each would rather derive from any other than from outside: one must go first."""
    names = [f"t{at}" for at in range(300)]
    ways = {
        name: [WayIn(5.0, 0, rank, other) for rank, other in enumerate(names) if other != name]
        + [WayIn(50.0 - (name == "t7"), 0, 999, None)]
        for name in names
    }
    chosen = cheapest_parents(ways)
    assert [name for name, way in chosen.items() if way.source is None] == ["t7"]
    assert not has_circle({name: way.source for name, way in chosen.items()})


def test_equal_costs_are_decided_by_joins_then_by_order():
    ways = [WayIn(5.0, 1, 0, "x"), WayIn(5.0, 0, 2, "z"), WayIn(5.0, 0, 1, "y")]
    assert [way.source for way in sorted(ways)] == ["y", "z", "x"]


def test_nothing_to_choose():
    assert cheapest_parents({}) == {}


def test_parents_come_first():
    parents = {"d": "c", "c": "b", "b": "outside", "a": None}
    assert parents_first(parents, ["d", "a", "b", "c"]) == ["b", "c", "d", "a"]
