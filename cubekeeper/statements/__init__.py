"""From a lattice and the stages of its plan to Spark SQL text; whoever runs it is not known here.

- `changes`: what changed in a base table, as one signed relation.
- `delta`: the summary-delta table of a view, from the base's changes or its parent's delta (4.1).
- `refresh`: the new rows of the groups that a delta touches (4.2, 4.3).
- `recompute`: the MIN and MAX that a deletion took away, and folding them in.
- `tables`: a table built anew, overwritten, and as its readers see it.

Queries name no table themselves: the caller says by which text a table is read in which state. Such
a text may be a name or a query in parentheses, so that statements can be nested into one or stored
on the way.
"""

from cubekeeper.statements.changes import applied, net_changes, signed_rows
from cubekeeper.statements.columns import ACTION, WEIGHT, Action, delta_columns, stored_columns
from cubekeeper.statements.delta import summary_delta
from cubekeeper.statements.model import Relations, Statement
from cubekeeper.statements.recompute import fold, recompute
from cubekeeper.statements.refresh import append, refresh, tests_compared
from cubekeeper.statements.tables import build, overwritten, readers_view

__all__ = [
    "ACTION",
    "WEIGHT",
    "Action",
    "Relations",
    "Statement",
    "append",
    "applied",
    "build",
    "delta_columns",
    "fold",
    "net_changes",
    "overwritten",
    "readers_view",
    "recompute",
    "refresh",
    "signed_rows",
    "stored_columns",
    "summary_delta",
    "tests_compared",
]
