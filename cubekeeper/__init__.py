"""cubekeeper keeps a warehouse's summary tables right.

Two rivers start from one set of declarations; this file is the map. Rooms are of four kinds:
*nouns* (N) are frozen data and import only nouns; the *border* (B) is where foreign trees are
copied into ours; *verbs* (V) turn one noun into the next and import no other verb; *edges* (E)
touch the world. `tests/import_directions.py` holds the contract and `make lint` enforces it.

The ground::

    errors          N  what can go wrong: your input, unsupported, not yet, our bug; where and why
    source          N  files, spans, SQL fragments inside YAML
    schema          N  types and columns, by Spark SQL's names
    scalar          N  typed scalar expressions and aggregates in one canonical form
    parse           B  SQL text to our trees, with positions: the only room that knows sqlglot

The nightly river, from declarations to the plan of a batch::

    warehouse       N  Fact, Dimension, Hierarchy, SummaryTable: what the owners declared
    statistics      N  sizes, distinct counts, changes per batch, cost weights
    declare         V  YAML and SQL to a warehouse and its statistics
    lattice         N  stored tables, derives edges with join labels, estimates, chosen parents
    derive          V  warehouse to lattice: dependencies, helpers, friendly extension, push-down,
                       filter implication, edge queries, sizes, parents, cost, advisor, what-if
    plan            N  the stages of a batch as frozen data: explain and run read the same object
    schedule        V  lattice and changes to a plan
    statements      V  a plan to SQL text: changes, deltas, refresh, recomputation, readers' views

The live river, in the making (no command reaches it yet)::

    live.calculus   N  queries as polynomials over relations, in one canonical form
    live.transform  N  the algebra of the calculus: deltas and the rewrite rules
    live.m3         N  maps and triggers, as data and as text
    live.frontend   V  SQL to the calculus
    live.lower      V  the calculus to M3, by the viewlet transform
    live.interpret  V  what calculus and M3 mean, in plain Python
    live.view       E  `cubekeeper.live.compile`: what Python users touch

What people touch::

    report          E  text, JSON, DOT, SVG and HTML of lattice, cost and plan
    bench           E  workloads and timers: ``cubekeeper bench …``
    cli             E  the commands

Importing this package imports nothing heavy: no pyspark, no airflow, no sqlglot.
"""

__version__ = "0.1.0"
