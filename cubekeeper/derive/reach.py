"""Which summary tables a batch of changes reaches, and through which base tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from cubekeeper.lattice.model import Lattice, Node
from cubekeeper.scalar.nodes import Expr, Path, column_refs
from cubekeeper.statistics.changes import Changes, TableChange


def roles_read(lattice: Lattice) -> Mapping[str, frozenset[Path]]:
    """For each summary table the roles of dimensions on which its stored rows depend.

    A path is followed through every table on it: a city's region also depends on the store's city.
    """
    paths_of = cache(_paths_of)

    def roles(node: Node) -> frozenset[Path]:
        arguments = (stored.aggregate.argument for stored in node.aggregates)
        exprs = (*(key.expr for key in node.keys), *arguments, *node.view.filter)
        return frozenset[Path]().union(*(paths_of(expr) for expr in exprs if expr is not None))

    return {name: roles(node) for name, node in lattice.nodes.items()}


def _paths_of(expr: Expr) -> frozenset[Path]:
    return frozenset(
        ref.path[:length] for ref in column_refs(expr) for length in range(1, len(ref.path) + 1)
    )


def changed_roles(lattice: Lattice, changes: Changes) -> Mapping[str, Mapping[Path, TableChange]]:
    """For each fact the roles of dimensions whose changes reach rows that were there before.

    Insertions alone do not: every old foreign key found its row already, so no old row refers to
    a new one.
    """
    by_table = {change.table: change for change in changes.tables if change.deletions}
    warehouse = lattice.warehouse
    return {
        fact.name: {
            path: by_table[table]
            for path in warehouse.paths(fact.name)
            if path and (table := warehouse.table_at(fact.name, path).name) in by_table
        }
        for fact in warehouse.facts
    }


def reached(lattice: Lattice, changes: Changes) -> Mapping[str, tuple[str, ...]]:
    """For each summary table that the changes can alter the changed tables that reach it."""
    changed = {change.table for change in changes.tables if change.rows}
    roles = changed_roles(lattice, changes)
    found: dict[str, tuple[str, ...]] = {}
    for name, read in roles_read(lattice).items():
        fact = lattice.node(name).view.fact
        tables = [fact] if fact in changed else []
        tables += [change.table for path, change in roles[fact].items() if path in read]
        if tables:
            found[name] = tuple(dict.fromkeys(tables))
    return found
