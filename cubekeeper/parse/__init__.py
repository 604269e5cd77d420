"""The border: SQL text to scalar expressions and SELECT skeletons; the only room with sqlglot.

- `dialect`: texts to tokens and trees; `located`: where a node stands in its text.
- `bind`: trees to typed expressions, with `binder`; `sugar` brings many spellings to one.
- `refuse`: what is understood but has no place in a declaration.
- `aggregate`: measures.
- `raw`: expressions that are parsed but not yet resolved.
- `select`: the skeleton of a SELECT.
"""

from cubekeeper.parse.binder import Scope
from cubekeeper.parse.raw import (
    RawExpr,
    bind,
    bind_aggregate,
    column_parts,
    equality,
    is_aggregate,
    ordinal,
    parse_aggregate,
    parse_expression,
    parse_raw,
)
from cubekeeper.parse.select import FromTable, JoinKind, Name, Select, SelectItem, parse_select

__all__ = [
    "FromTable",
    "JoinKind",
    "Name",
    "RawExpr",
    "Scope",
    "Select",
    "SelectItem",
    "bind",
    "bind_aggregate",
    "column_parts",
    "equality",
    "is_aggregate",
    "ordinal",
    "parse_aggregate",
    "parse_expression",
    "parse_raw",
    "parse_select",
]
