"""A layered layout in pure Python: ranks, rows, order, place, routes (Sugiyama's steps).

    Graph ─ ranks ─► rows of vertices (a Sheet) ─ order ─► fewer crossings ─ place ─► x ─ route ─► Layout

Deterministic: the same graph gives the same coordinates everywhere. No box touches another, and a
line crosses a row of boxes only in a lane that the row has kept free for it.
"""
