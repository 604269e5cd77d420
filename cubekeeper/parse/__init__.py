"""The border: SQL text to scalar expressions and SELECT skeletons; the only room with sqlglot.

- `dialect`: tokens, trees and positions.
- `bind`: trees to typed expressions; `sugar` brings many spellings to one.
- `aggregate`: measures.
- `raw`: expressions that are parsed but not yet resolved.
- `select`: the skeleton of a SELECT.
"""

from cubekeeper.parse.bind import Scope
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
