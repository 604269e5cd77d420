"""Scalar expressions and aggregates: typed, immutable, in one canonical form.

- `nodes`: the grammar, and walking it.
- `types`: Spark's ANSI rules for the type of a result.
- `functions`: the table of every operator and function that is known.
- `build`: the only way to make nodes; checks types and brings them into the canonical form.
- `aggregates`: the aggregate functions and how each can be maintained.
- `counting`: the counts that keep other aggregates exact.
- `text`: back to Spark SQL.
"""
