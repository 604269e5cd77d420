"""Putting the choices for one batch into stages, each after those it waits for.

- A delta waits for the delta it is computed from.
- No table changes until every delta is there: a batch that fails before leaves no trace.
- Refresh and rebuild come after all base tables have their changes; a rebuild also after its
  parent is right, MIN and MAX included.
- Publishing comes last, after everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cubekeeper.lattice.choice import Maintenance
from cubekeeper.lattice.model import Lattice
from cubekeeper.plan.stages import (
    Apply,
    Plan,
    Propagate,
    Publish,
    Rebuild,
    Recompute,
    Refresh,
    RefreshPath,
    Seal,
    Stage,
)
from cubekeeper.statistics.changes import Changes

_SEAL, _RECOMPUTE, _PUBLISH = "seal", "recompute", "publish"


def build_plan(lattice: Lattice, maintenance: Maintenance) -> Plan:
    """The plan of one batch; without changes it has no stages."""
    changes = maintenance.sizes.changes
    changed = tuple(change.table for change in changes.tables if change.rows)
    return Plan(
        warehouse=lattice.warehouse.name,
        changes=changes,
        stages=tuple(_stages(lattice, maintenance, changed)) if changed else (),
        untouched=maintenance.untouched,
        unit=maintenance.weights.unit,
    )


def _stages(
    lattice: Lattice, maintenance: Maintenance, changed: tuple[str, ...]
) -> Iterator[Stage]:
    yield Stage(_SEAL, Seal(changed), ())
    propagates = list(_propagates(maintenance))
    yield from propagates
    applies = list(_applies(maintenance, changed, _ends(propagates) or (_SEAL,)))
    yield from applies
    applied = tuple(stage.id for stage in applies)
    written = list(_refreshes(maintenance, applied))
    if maintenance.recomputations:
        groups = tuple(maintenance.recomputations.items())
        waits = tuple(_refresh(view) for view, _ in groups)
        written.append(Stage(_RECOMPUTE, Recompute(groups), waits))
    written += _rebuilds(maintenance, applied)
    yield from written
    views = tuple(name for name in lattice.nodes if name in maintenance.reached)
    yield Stage(_PUBLISH, Publish(views), _ends([*applies, *written]))


def _propagate(view: str) -> str:
    return f"propagate:{view}"


def _refresh(view: str) -> str:
    return f"refresh:{view}"


def _rebuild(view: str) -> str:
    return f"rebuild:{view}"


def _propagates(maintenance: Maintenance) -> Iterator[Stage]:
    deltas = maintenance.deltas.by_view
    for view, choice in deltas.items():
        parent = choice.parent
        after = _SEAL if parent is None or parent not in deltas else _propagate(parent)
        yield Stage(_propagate(view), Propagate(view, choice), (after,))


def _applies(
    maintenance: Maintenance, changed: tuple[str, ...], after: tuple[str, ...]
) -> Iterator[Stage]:
    for table in changed:
        rows = maintenance.sizes.changes.rows(table)
        action = Apply(table, rows, maintenance.apply_cost(table))
        yield Stage(f"apply:{table}", action, after)


def _refreshes(maintenance: Maintenance, applied: tuple[str, ...]) -> Iterator[Stage]:
    for view, choice in maintenance.deltas.by_view.items():
        path, reason = _refresh_path(maintenance.reached[view], maintenance.sizes.changes)
        again = maintenance.recomputations.get(view)
        columns = again.columns if again else ()
        chosen = choice.chosen
        action = Refresh(view, path, reason, chosen.rows_out, columns, chosen.write_cost)
        yield Stage(_refresh(view), action, (_propagate(view), *applied))


def _refresh_path(tables: Sequence[str], changes: Changes) -> tuple[RefreshPath, str]:
    deleting = [table for table in tables if (c := changes.of(table)) and not c.insert_only]
    if deleting:
        names = " and ".join(f"`{table}`" for table in deleting)
        verb = "have" if len(deleting) > 1 else "has"
        return RefreshPath.GENERAL, f"{names} {verb} deletions: groups can lose rows or vanish"
    names = " and ".join(f"`{table}`" for table in tables)
    return RefreshPath.INSERTIONS_ONLY, f"{names} only gains rows: no group can vanish (4.3)"


def _rebuilds(maintenance: Maintenance, applied: tuple[str, ...]) -> Iterator[Stage]:
    for view, choice in maintenance.rebuilds.by_view.items():
        action = Rebuild(view, choice, maintenance.reasons[view])
        yield Stage(_rebuild(view), action, (*_ready(maintenance, choice.parent), *applied))


def _ready(maintenance: Maintenance, parent: str | None) -> tuple[str, ...]:
    """The stage after which a parent has its new rows; none if it keeps the old ones."""
    if parent is None or parent in maintenance.untouched:
        return ()
    if parent in maintenance.recomputations:
        return (_RECOMPUTE,)
    return (_refresh(parent) if parent in maintenance.deltas.by_view else _rebuild(parent),)


def _ends(stages: Sequence[Stage]) -> tuple[str, ...]:
    """The stages that no other one waits for."""
    awaited = {name for stage in stages for name in stage.after}
    return tuple(stage.id for stage in stages if stage.id not in awaited)
