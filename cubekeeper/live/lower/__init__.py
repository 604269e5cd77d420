"""Calculus to M3: the viewlet transform.

- `signature`: when two queries are the same map.
- `materialize`: which parts of a query become maps (the materialization decision).
- `viewlets`: maps, their deltas, the maps those need, and so on until nothing new is needed.
- `cost`: the cost model of 5.1.
"""
