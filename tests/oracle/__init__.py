"""What the property tests are made of: random input, DuckDB as an independent judge, comparison.

- `filters`: random filters over a typed row, and rows that stand close around their constants.
- `tables`, `warehouses`: random facts and dimensions, and whole declarations as YAML text.
- `data`: random rows that keep what a warehouse declares, loaded into DuckDB.
- `batches`: random changes of such rows, one batch after the other.
- `duck`: Spark SQL run on DuckDB, each difference of meaning bridged by name.
- `lattices`, `nights`: a whole lattice, and whole batches by their plans, run on DuckDB.
- `compare`: two results compared as bags, with evidence when they differ.
- `lattices`: a whole lattice run on DuckDB and compared; `shrink`: a failing one made smaller.

Generators take a `random.Random`, so that one of them serves twice: seeded, in bulk, with the seed
as reproducer; and drawn by Hypothesis (`st.randoms(use_true_random=False)`), which shrinks it.
"""
