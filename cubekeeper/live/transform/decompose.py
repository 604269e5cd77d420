"""Query decomposition (Figure 2, rule 1): independent parts of a product are summed apart."""

from __future__ import annotations

from cubekeeper.live.calculus.build import factors, mul, sum_over
from cubekeeper.live.calculus.nodes import Query, Sum
from cubekeeper.live.calculus.variables import Names, free


def decompose(query: Query) -> Query | None:
    """The sum of a product over variables that its parts do not share is a product of sums.

    >>> from cubekeeper.live.calculus.build import relation, var
    >>> from cubekeeper.live.calculus.text import to_text
    >>> r, s = relation("R", var("x"), var("g")), relation("S", var("y"), var("g"))
    >>> to_text(decompose(sum_over(["x", "y"], mul(r, s))))
    'Sum[g](R(x, g)) * Sum[g](S(y, g))'
    """
    if not isinstance(query, Sum):
        return None
    groups = connected(factors(query.body), frozenset(query.over))
    if len(groups) < 2:
        return None
    return mul(*(sum_over(query.over, mul(*group)) for group in groups))


def connected(parts: tuple[Query, ...], through: Names) -> list[list[Query]]:
    """The parts of a product in groups that share some of the given variables."""
    groups: list[tuple[Names, list[Query]]] = []
    for part in parts:
        names = free(part) & through
        touching = [group for group in groups if names & group[0]]
        others = [group for group in groups if not names & group[0]]
        members = [member for group in touching for member in group[1]]
        joined = names.union(*(group[0] for group in touching))
        groups = [*others, (joined, [*members, part])]
    position = {id(part): index for index, part in enumerate(parts)}
    ordered = [sorted(members, key=lambda part: position[id(part)]) for _, members in groups]
    return sorted(ordered, key=lambda group: position[id(group[0])])
