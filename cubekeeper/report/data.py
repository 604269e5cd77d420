"""The lattice and its tables as plain data: what ``--json`` prints."""

from __future__ import annotations

from cubekeeper.derive.edges import build_edge
from cubekeeper.lattice.choice import Maintenance
from cubekeeper.lattice.model import Lattice
from cubekeeper.lattice.text import edge_sql
from cubekeeper.plan.text import candidate_as_data, estimate_as_data
from cubekeeper.report.sketch import Line, Sketch
from cubekeeper.warehouse.text import summary_table_sql

Data = dict[str, object]


def lattice_data(lattice: Lattice, maintenance: Maintenance, *, sql: bool = False) -> Data:
    """The lattice as JSON-able data: facts, tables, and the edges of its picture.

    With `sql` every edge has its query.
    """
    sketch = Sketch(lattice, maintenance)
    changes = maintenance.sizes.changes
    facts = dict.fromkeys(node.view.fact for node in lattice.nodes.values())
    return {
        "warehouse": lattice.warehouse.name,
        "unit": sketch.unit,
        "changes": {
            "origin": changes.origin,
            "tables": [
                {"table": c.table, "insertions": c.insertions, "deletions": c.deletions}
                for c in changes.tables
            ],
        },
        "propagate_cost": maintenance.propagate_cost,
        "window_cost": maintenance.window_cost,
        "facts": [
            {"name": fact, "rows": estimate_as_data(sketch.base_rows(fact))} for fact in facts
        ],
        "tops": list(lattice.tops),
        "views": [_view(sketch, view) for view in lattice.nodes],
        "edges": [_edge(sketch, line, sql=sql) for line in sketch.lines],
    }


def view_data(lattice: Lattice, maintenance: Maintenance, name: str) -> Data:
    """One table as JSON-able data, with its declaration, its ways in, and the query of each."""
    sketch = Sketch(lattice, maintenance)
    made = sketch.choice(name)
    parents = dict.fromkeys([*([made.parent] if made else []), *lattice.parents(name), None])
    known = {way.parent: way for way in (made.chosen, *made.runners_up)} if made else {}
    return {
        **_view(sketch, name),
        "declared": summary_table_sql(lattice.warehouse, lattice.node(name).view),
        "ways": [
            {
                "parent": parent,
                "joins": list(sketch.joins(parent, name)),
                "chosen": made is not None and parent == made.parent,
                "costs": candidate_as_data(known[parent]) if parent in known else None,
                "query": edge_sql(lattice, build_edge(lattice, parent, name)),
            }
            for parent in parents
        ],
        "below": [
            {"view": child, "joins": list(sketch.joins(name, child))}
            for child in lattice.children[name]
        ],
    }


def _view(sketch: Sketch, view: str) -> Data:
    node = sketch.lattice.node(view)
    made, delta = sketch.choice(view), sketch.delta(view)
    again = sketch.maintenance.recomputations.get(view)
    return {
        "name": view,
        "fact": node.view.fact,
        "cube": node.view.cube,
        "filter": sketch.filter(view) or None,
        "policy": node.view.policy.value,
        "keys": [
            {
                "name": key.name,
                "expression": sketch.expression(view, key.expr),
                "origin": key.origin.value,
            }
            for key in node.keys
        ],
        "aggregates": [
            {
                "name": stored.name,
                "expression": sketch.aggregate(view, place),
                "origin": stored.origin.value,
                "reason": stored.reason,
            }
            for place, stored in enumerate(node.aggregates)
        ],
        "outputs": [
            {"name": output.name, "expression": sketch.expression(view, output.expr)}
            for output in node.outputs
        ],
        "incremental": node.incremental,
        "rebuild_reasons": list(sketch.rebuild_reasons(view)),
        "mode": sketch.mode(view).name.lower(),
        "rows": estimate_as_data(sketch.rows(view)),
        "delta": estimate_as_data(delta) if delta else None,
        "parent": made.parent if made else None,
        "cost": made.chosen.cost if made else None,
        "recompute_cost": again.cost if again else None,
    }


def _edge(sketch: Sketch, line: Line, *, sql: bool) -> Data:
    data: Data = {
        "parent": line.parent,
        "child": line.child,
        "joins": list(line.joins),
        "chosen": line.chosen,
        "cost": line.candidate.cost if line.candidate else None,
    }
    if sql:
        edge = build_edge(sketch.lattice, line.parent, line.child)
        data["query"] = edge_sql(sketch.lattice, edge)
    return data
