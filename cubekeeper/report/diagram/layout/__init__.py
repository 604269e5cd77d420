"""A layered layout in pure Python: ranks, rows, order, place, routes (Sugiyama's steps).

    Graph ─ ranks ─► Sheet (rows of vertices) ─ order ─► fewer crossings ─ place ─► x
          ─ arrange ─► y, routes, parts side by side (a Layout) ─ swing ─► curves

Deterministic: the same graph gives the same coordinates everywhere. No box touches another, and a
line crosses a row of boxes only in a lane that the row has kept free for it.
"""
