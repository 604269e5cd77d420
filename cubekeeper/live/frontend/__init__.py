"""SQL to calculus.

- `scopes`: what names mean.
- `relations`: a query as calculus with named columns.
- `select`, `sources`, `conditions`, `aggregates`: the clauses of SELECT.
- `program`: a whole SQL text to relations and views.
"""
