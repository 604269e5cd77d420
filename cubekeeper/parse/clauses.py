"""The clauses of SELECT that are read, and those that are refused with their reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType


@dataclass(frozen=True)
class Refusal:
    """Why a clause is refused; the first of its tokens is where."""

    code: str
    message: str
    hint: str | None = None
    tokens: tuple[TokenType, ...] = ()


CLAUSES: Final = {
    "with_": Refusal(
        "cte",
        "WITH is not supported: a summary table reads base tables directly",
        "write one SELECT over the fact and its dimensions",
        (TokenType.WITH,),
    ),
    "distinct": Refusal(
        "distinct",
        "SELECT DISTINCT is not supported",
        "GROUP BY the columns: each group is one row",
        (TokenType.DISTINCT,),
    ),
    "having": Refusal(
        "having",
        "HAVING is not supported: a group that fails it today may pass it tomorrow",
        "keep all groups and filter when the table is read",
        (TokenType.HAVING,),
    ),
    "qualify": Refusal(
        "window", "QUALIFY is not supported", "filter when the table is read", (TokenType.QUALIFY,)
    ),
    "windows": Refusal(
        "window",
        "a window function looks at other rows of the result, which cannot be maintained",
        "compute it when the table is read",
        (TokenType.WINDOW,),
    ),
    **dict.fromkeys(
        ("order", "sort", "cluster", "distribute"),
        Refusal(
            "order-by",
            "a table has no order",
            "order the rows when the table is read",
            (
                TokenType.ORDER_BY,
                TokenType.SORT_BY,
                TokenType.CLUSTER_BY,
                TokenType.DISTRIBUTE_BY,
            ),
        ),
    ),
    **dict.fromkeys(
        ("limit", "offset"),
        Refusal(
            "limit",
            "which rows LIMIT keeps cannot be maintained",
            "limit the rows when the table is read",
            (TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH),
        ),
    ),
    "laterals": Refusal(
        "lateral",
        "LATERAL VIEW is not supported",
        "unpack the rows when they are written",
        (TokenType.LATERAL,),
    ),
    "sample": Refusal(
        "sample",
        "a sample cannot be maintained",
        "name the condition in WHERE",
        (TokenType.TABLE_SAMPLE,),
    ),
    "all": Refusal(
        "group-by-all", "GROUP BY ALL is not supported", "name the columns", (TokenType.GROUP_BY,)
    ),
    **dict.fromkeys(
        ("cube", "rollup", "grouping_sets"),
        Refusal(
            "grouping-sets",
            "GROUP BY CUBE, ROLLUP and GROUPING SETS make several tables of one",
            "declare them under `cubes:`",
            (TokenType.CUBE, TokenType.ROLLUP, TokenType.GROUPING_SETS),
        ),
    ),
    "columns": Refusal(
        "alias-columns", "columns are not renamed in FROM", "name the outputs in SELECT: x AS y"
    ),
    "version": Refusal(
        "table-version", "a summary table reads its base tables as they are, not AS OF a version"
    ),
    "pivots": Refusal(
        "pivot", "PIVOT is not supported", "write SUM(…) FILTER (WHERE …)", (TokenType.PIVOT,)
    ),
}
UNDERSTOOD: Final[Mapping[type[exp.Expr], frozenset[str]]] = {
    exp.Select: frozenset({"expressions", "from_", "joins", "where", "group", "hint"}),
    exp.Table: frozenset({"this", "db", "catalog", "alias"}),
    exp.TableAlias: frozenset({"this"}),
    exp.Join: frozenset({"this", "on", "using", "kind", "side", "method"}),
    exp.Create: frozenset({"this", "kind", "expression", "replace", "exists", "properties"}),
    exp.Group: frozenset({"expressions"}),
}
"""The parts of each clause that are read; any other part is refused."""

JOINS: Final = {
    "RIGHT": "write it as a LEFT JOIN from the fact table",
    "FULL": "a fact's foreign key finds its dimension row: INNER or LEFT JOIN it",
    "CROSS": "join along a declared foreign key: JOIN … ON",
    "NATURAL": "name the columns: JOIN … USING (…)",
    "SEMI": "join along a declared foreign key: JOIN … ON",
    "ANTI": "join along a declared foreign key: JOIN … ON",
    "LATERAL": "unpack the rows when they are written",
    "STRAIGHT": "join along a declared foreign key: JOIN … ON",
    "ASOF": "join along a declared foreign key: JOIN … ON",
}
