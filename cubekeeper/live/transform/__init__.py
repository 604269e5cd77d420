"""Calculus to calculus: the delta of a query, and rules that keep its value.

- `delta`: how a query changes when its relations do.
- `domain`: where a change can matter.
- one file for each rule; `rules.RULES` is their order, `passes` runs them.
"""
