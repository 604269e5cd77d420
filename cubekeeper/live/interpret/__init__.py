"""What calculus and M3 mean, in plain Python: every backend must match this room.

- `functions`, `scalar`: scalar expressions; NULL is None, numbers are exact.
- `collection`: tuples to numbers, without zeros, with indexes made when first asked for.
- `evaluate`: queries over collections.
- `machine`: trigger programs.
"""
