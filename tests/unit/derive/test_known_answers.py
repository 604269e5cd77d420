"""The lattices that the 1997 paper draws: Example 5.1, Figure 5, Figure 9, and section 3.4."""

from dataclasses import replace
from itertools import product

import pytest

from cubekeeper.declare import load
from cubekeeper.derive import build_edge, build_lattice
from cubekeeper.lattice.model import Lattice, Origin
from cubekeeper.lattice.text import edge_sql
from cubekeeper.scalar.nodes import ColumnRef

STORE = ("storeID", "city", "region", None)
ITEM = ("itemID", "category", None)
DATE = ("date", None)


@pytest.fixture(scope="module")
def retail():
    return load("lattice/retail").warehouse


@pytest.fixture(scope="module")
def cube():
    return load("lattice/retail_cube").warehouse


def roles(lattice: Lattice) -> dict[tuple[str, str], tuple[str, ...]]:
    """Every derives pair (child, parent) with the names of the dimensions it joins."""
    return {
        (child, parent): tuple(path[-1] for path in label)
        for child, parents in lattice.labels.items()
        for parent, label in parents.items()
    }


def test_example_5_1_the_derives_relation_before_extension(retail):
    assert roles(build_lattice(retail, friendly=False)) == {
        ("sCD_sales", "SID_sales"): ("stores",),
        ("SiC_sales", "SID_sales"): ("items",),
        ("sR_sales", "SID_sales"): ("stores",),
        ("sR_sales", "sCD_sales"): ("stores",),
        ("sR_sales", "SiC_sales"): ("stores",),
    }


def test_example_5_1_top_and_bottom(retail):
    lattice = build_lattice(retail, friendly=False)
    assert lattice.tops == ("SID_sales",)
    assert [name for name in lattice.nodes if not lattice.children[name]] == ["sR_sales"]


def test_figure_9_after_extension_and_push_down(retail):
    lattice = build_lattice(retail)
    assert roles(lattice) == {
        ("sCD_sales", "SID_sales"): ("stores",),
        ("SiC_sales", "SID_sales"): ("items",),
        ("sR_sales", "SID_sales"): ("stores",),
        ("sR_sales", "sCD_sales"): (),
        ("sR_sales", "SiC_sales"): ("stores",),
    }
    carried = {
        name: [
            key.expr.column
            for key in node.keys
            if key.origin is Origin.EXTENSION and isinstance(key.expr, ColumnRef)
        ]
        for name, node in lattice.nodes.items()
    }
    assert carried == {"SID_sales": [], "sCD_sales": ["region"], "SiC_sales": [], "sR_sales": []}


def test_figure_9_no_aggregate_is_carried(retail):
    """MIN(date) is over a group-by column of SID_sales, so it stays where it was declared."""
    for node in build_lattice(retail).nodes.values():
        assert all(stored.origin is Origin.DECLARED for stored in node.aggregates)


def test_figure_9_covers(retail):
    assert build_lattice(retail).covers == {
        "SID_sales": (),
        "sCD_sales": ("SID_sales",),
        "SiC_sales": ("SID_sales",),
        "sR_sales": ("sCD_sales", "SiC_sales"),
    }


def test_figure_3_the_query_of_region_sales_needs_no_join(retail):
    lattice = build_lattice(retail)
    edge = build_edge(lattice, "sCD_sales", "sR_sales")
    assert edge.joins == ()
    assert edge_sql(lattice, edge, lambda name: f"sd_{name}") == (
        "SELECT sCD_sales.__stores_region AS region,\n"
        "       SUM(sCD_sales.TotalCount) AS TotalCount,\n"
        "       SUM(sCD_sales.TotalQuantity) AS TotalQuantity\n"
        "FROM sd_sCD_sales AS sCD_sales\n"
        "GROUP BY sCD_sales.__stores_region"
    )


def test_section_5_4_the_fourth_edge_joins_stores(retail):
    edge = build_edge(build_lattice(retail), "SiC_sales", "sR_sales")
    assert edge.label == ("stores",)


def group_by(node) -> tuple[str, ...]:
    return tuple(key.name for key in node.view.keys)


GroupBy = tuple[str, ...]


def figure_5_edges() -> dict[tuple[GroupBy, GroupBy], tuple[str, ...]]:
    """The edges of Figure 5: one step down in one of the three dimensions."""
    edges: dict[tuple[GroupBy, GroupBy], tuple[str, ...]] = {}
    for point in product(STORE, ITEM, DATE):
        for axis, (levels, join) in enumerate(((STORE, "stores"), (ITEM, "items"), (DATE, ""))):
            if point[axis] is None:
                continue
            step = levels[levels.index(point[axis]) + 1]
            below = tuple(step if i == axis else level for i, level in enumerate(point))
            from_key = join and point[axis] == levels[0] and step is not None
            upper = tuple(level for level in point if level)
            edges[upper, tuple(level for level in below if level)] = (join,) if from_key else ()
    return edges


def test_figure_5_every_node_and_every_edge_label(cube):
    lattice = build_lattice(cube)
    assert len(lattice.nodes) == 24
    drawn = {
        (group_by(lattice.node(parent)), group_by(lattice.node(child))): tuple(
            path[-1] for path in lattice.labels[child][parent]
        )
        for child, parents in lattice.covers.items()
        for parent in parents
    }
    assert len(drawn) == 46
    assert drawn == figure_5_edges()


def test_figure_5_the_top_joins_nothing(cube):
    lattice = build_lattice(cube)
    (top,) = lattice.tops
    assert group_by(lattice.node(top)) == ("storeID", "itemID", "date")
    assert lattice.base_labels[top] == ()


def test_section_3_4_removing_a_node_joins_its_neighbours(cube):
    """Without any (city, …) view the (region, …) views hang below (storeID, …), joining stores."""
    kept = tuple(v for v in cube.summary_tables if "city" not in (k.name for k in v.keys))
    lattice = build_lattice(replace(cube, summary_tables=kept))
    names = {group_by(node): name for name, node in lattice.nodes.items()}
    region = names["region", "itemID", "date"]
    assert lattice.covers[region] == (names["storeID", "itemID", "date"],)
    assert lattice.labels[region][lattice.covers[region][0]] == (("stores",),)


def test_section_3_4_without_its_top_a_partial_lattice_has_several(cube):
    kept = tuple(v for v in cube.summary_tables if len(v.keys) < 3)
    lattice = build_lattice(replace(cube, summary_tables=kept))
    assert {group_by(lattice.node(top)) for top in lattice.tops} == {
        ("storeID", "itemID"),
        ("storeID", "date"),
        ("itemID", "date"),
    }
