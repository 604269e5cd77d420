"""From a lattice with its choices to the plan of a batch."""

from cubekeeper.schedule.build import build_plan

__all__ = ["build_plan"]
