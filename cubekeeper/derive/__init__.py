"""From a warehouse to its lattice, and from the lattice to sizes, parents, costs and advice."""

from cubekeeper.derive.advise import advise
from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.candidates import CostModel
from cubekeeper.derive.cost_table import cost_table
from cubekeeper.derive.edges import build_edge
from cubekeeper.derive.parents import choose, maintain
from cubekeeper.derive.sizes import estimate_sizes
from cubekeeper.derive.what_if import what_if

__all__ = [
    "CostModel",
    "advise",
    "build_edge",
    "build_lattice",
    "choose",
    "cost_table",
    "estimate_sizes",
    "maintain",
    "what_if",
]
