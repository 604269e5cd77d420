"""A plan as plain data: what ``--json`` prints and other programs read."""

from __future__ import annotations

from typing import assert_never

from cubekeeper.lattice.choice import Candidate, Choice, Estimate, Term
from cubekeeper.plan.stages import (
    Action,
    Apply,
    Plan,
    Propagate,
    Publish,
    Rebuild,
    Recompute,
    Refresh,
    Seal,
    Stage,
)

Data = dict[str, object]


def plan_as_data(plan: Plan) -> Data:
    """The plan as JSON-able data, its keys always in the same order."""
    return {
        "warehouse": plan.warehouse,
        "changes": {
            "origin": plan.changes.origin,
            "tables": [
                {
                    "table": change.table,
                    "insertions": change.insertions,
                    "deletions": change.deletions,
                }
                for change in plan.changes.tables
            ],
        },
        "unit": plan.unit,
        "propagate_cost": plan.propagate_cost,
        "window_cost": plan.window_cost,
        "stages": [_stage(stage) for stage in plan.stages],
        "untouched": list(plan.untouched),
    }


def _stage(stage: Stage) -> Data:
    return {
        "id": stage.id,
        "stage": type(stage.action).__name__.lower(),
        "in_window": stage.in_window,
        "after": list(stage.after),
        **_action(stage.action),
    }


def _action(action: Action) -> Data:
    match action:
        case Seal(tables=tables):
            return {"tables": list(tables)}
        case Propagate(view=view, choice=choice):
            return {
                "view": view,
                **_choice(choice),
                "reads_fact": action.reads_fact,
                "cost": action.cost,
            }
        case Apply(table=table, rows=rows, cost=cost):
            return {"table": table, "rows": rows, "cost": cost}
        case Refresh(view=view, path=path, reason=reason, rows=rows, recompute=columns, cost=cost):
            return {
                "view": view,
                "path": path.value,
                "reason": reason,
                "rows": estimate_as_data(rows),
                "recompute": list(columns),
                "cost": cost,
            }
        case Rebuild(view=view, choice=choice, reason=reason):
            return {"view": view, "reason": reason, **_choice(choice), "cost": action.cost}
        case Recompute(groups=groups):
            return {
                "views": [
                    {
                        "view": view,
                        "columns": list(expected.columns),
                        "groups": expected.groups,
                        "rows_in": expected.rows_in,
                    }
                    for view, expected in groups
                ],
                "cost": action.cost,
            }
        case Publish(views=views):
            return {"views": list(views)}
        case _:
            assert_never(action)


def _choice(choice: Choice) -> Data:
    return {
        "parent": choice.parent,
        "joins": list(choice.edge.label),
        "way": candidate_as_data(choice.chosen),
        "runners_up": [candidate_as_data(candidate) for candidate in choice.runners_up],
        "more_ways": choice.more,
        "instead": candidate_as_data(choice.instead) if choice.instead else None,
    }


def candidate_as_data(candidate: Candidate) -> Data:
    """One way to compute a table, with its figures."""
    return {
        "parent": candidate.parent,
        "terms": [_term(term) for term in candidate.terms],
        "rows_in": estimate_as_data(candidate.rows_in),
        "rows_out": estimate_as_data(candidate.rows_out),
        "read_cost": candidate.read_cost,
        "join_cost": candidate.join_cost,
        "write_cost": candidate.write_cost,
        "stage_cost": candidate.stage_cost,
        "cost": candidate.cost,
    }


def _term(term: Term) -> Data:
    return {
        "source": term.source.value,
        "joins": [{"dimension": name, "version": version.value} for name, version in term.joins],
        "rows_in": term.rows_in,
        "cost": term.cost,
    }


def estimate_as_data(estimate: Estimate) -> Data:
    """A number of rows with where it comes from."""
    return {"rows": estimate.rows, "source": estimate.source, "how": estimate.how}
