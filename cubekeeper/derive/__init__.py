"""From a warehouse to its lattice, and from the lattice to sizes, parents, costs and advice."""

from cubekeeper.derive.build import build_lattice
from cubekeeper.derive.edges import build_edge

__all__ = ["build_edge", "build_lattice"]
