"""cubekeeper keeps a warehouse's summary tables right.

Two rivers start from one set of declarations; this file is the map. Rooms are of four kinds:
*nouns* (N) are frozen data and import only nouns; the *border* (B) is where foreign trees are
copied into ours; *verbs* (V) turn one noun into the next and import no other verb; *edges* (E)
touch the world. `tests/import_directions.py` holds the contract and `make lint` enforces it.

============  ====  ================================================================================
errors         N    what can go wrong: your input, unsupported, not yet, our bug; with where and why
source         N    files, spans, SQL fragments inside YAML
schema         N    types and columns, by Spark SQL's names
scalar         N    typed scalar expressions and aggregates in one canonical form
parse          B    SQL text to scalar expressions and SELECT skeletons (the only room with sqlglot)
\\             \\    *— the nightly river —*
warehouse      N    Fact, Dimension, Hierarchy, SummaryTable: what the owners declared
statistics     N    sizes, distinct counts, changes per batch, cost weights
declare        V    YAML and SQL to a warehouse and its statistics, every error with its position
lattice        N    stored tables, derives edges with join labels, estimates, chosen parents
derive         V    warehouse to lattice: dependencies, helpers, friendly extension, push-down,
                    filter implication, edge queries, sizes, parents, cost, advisor, what-if
plan           N    the stages of a batch as frozen data: explain and run read the same object
schedule       V    lattice and changes to a plan
spark          E    Spark and Delta: set-up, sessions (the only room with pyspark)
report         E    text, JSON, DOT, SVG and HTML of lattice, cost and plan
bench          E    workloads and timers: ``cubekeeper bench …``
cli            E    the commands
============  ====  ================================================================================

Importing this package imports nothing heavy: no pyspark, no airflow, no sqlglot.
"""

__version__ = "0.1.0"
