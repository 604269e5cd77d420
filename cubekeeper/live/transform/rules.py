"""The rules in their order."""

from __future__ import annotations

from typing import Final

from cubekeeper.live.calculus.nodes import Query
from cubekeeper.live.transform.expand import expand
from cubekeeper.live.transform.inline import inline
from cubekeeper.live.transform.passes import Rule, Trace, rewrite
from cubekeeper.live.transform.pull_sums import pull_sums
from cubekeeper.live.transform.split_values import split_values
from cubekeeper.live.transform.unify import unify

PULL_SUMS: Final = Rule("pull-sums", pull_sums)
SPLIT_VALUES: Final = Rule("split-values", split_values)
EXPAND: Final = Rule("expand", expand)
UNIFY: Final = Rule("unify", unify)
INLINE: Final = Rule("inline", inline)

RULES: Final = (SPLIT_VALUES, EXPAND, PULL_SUMS, UNIFY, INLINE)
"""All rules; every one keeps the value of a query."""


def simplify(query: Query, trace: Trace | None = None) -> Query:
    """The normal form: a sum of grouping sums of products, with as few variables as possible."""
    return rewrite(query, RULES, trace)
