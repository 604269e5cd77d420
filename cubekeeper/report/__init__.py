"""Reports: the lattice, the plan, costs and advice as text, data, pictures and pages.

Pure functions from frozen nouns to text (ending in one line break) or to JSON-able data. Text is
plain unless a `Style` dresses it, and as wide as the terminal unless a width is given.
"""

from __future__ import annotations

from cubekeeper.lattice.choice import Maintenance
from cubekeeper.lattice.model import Lattice
from cubekeeper.plan.stages import Plan
from cubekeeper.report.advice import advice_data, advice_text, what_if_data, what_if_text
from cubekeeper.report.cost import cost_data, cost_text
from cubekeeper.report.data import lattice_data, view_data
from cubekeeper.report.diagram.dot import diagram_dot
from cubekeeper.report.diagram.page import diagram_html
from cubekeeper.report.diagram.svg import diagram_svg
from cubekeeper.report.picture import lattice_diagram
from cubekeeper.report.plan import plan_text
from cubekeeper.report.plan_picture import plan_diagram
from cubekeeper.report.tree import lattice_text
from cubekeeper.report.view import view_text

__all__ = [
    "advice_data",
    "advice_text",
    "cost_data",
    "cost_text",
    "lattice_data",
    "lattice_dot",
    "lattice_html",
    "lattice_svg",
    "lattice_text",
    "plan_html",
    "plan_text",
    "view_data",
    "view_text",
    "what_if_data",
    "what_if_text",
]


def lattice_dot(lattice: Lattice, maintenance: Maintenance) -> str:
    """The lattice as a DOT graph."""
    return diagram_dot(lattice_diagram(lattice, maintenance, queries=False))


def lattice_svg(lattice: Lattice, maintenance: Maintenance) -> str:
    """The lattice as a picture that stands alone."""
    return diagram_svg(lattice_diagram(lattice, maintenance, queries=False))


def lattice_html(lattice: Lattice, maintenance: Maintenance) -> str:
    """The lattice as one page for a browser, with the query of every edge."""
    return diagram_html(lattice_diagram(lattice, maintenance))


def plan_html(plan: Plan, lattice: Lattice) -> str:
    """The plan as one page for a browser."""
    return diagram_html(plan_diagram(plan, lattice))
