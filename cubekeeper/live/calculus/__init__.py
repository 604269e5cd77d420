"""The ring calculus: queries as polynomials over relations.

- `nodes`: the grammar.
- `build`: smart constructors that keep one canonical form.
- `variables`: free, input and output variables; substitution; canonical names.
- `types`: the type of the number that a query gives.
- `text`: queries as text; `cubekeeper.parse.calculus` reads them back.
"""
