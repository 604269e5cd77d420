"""Cubes, rollups and grouping sets: one declaration, many summary tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cubekeeper.declare.documents import CubeDocument, DefaultsDocument, NamedExpression
from cubekeeper.declare.expressions import bound_filter, hierarchies_named, named_expression
from cubekeeper.declare.leaves import LONGEST_NAME, Word
from cubekeeper.declare.report import AlreadyReported, attempt, attempt_all
from cubekeeper.declare.scope import NameScope
from cubekeeper.declare.views import Reader, Settings, finished, read_keys, read_measures
from cubekeeper.errors import InputError, Problems, did_you_mean
from cubekeeper.parse import column_parts, parse_raw
from cubekeeper.warehouse.model import Key, SummaryTable
from cubekeeper.warehouse.rebase import rebased

MAX_VIEWS: Final = 4_096
_SHORTHANDS: Final = ("cube", "rollup", "grouping_sets")

KeySet = tuple[Key, ...]


@dataclass(frozen=True)
class Axis:
    """An item of a cube: one of its keys is there, or none. A column has one, a hierarchy many."""

    name: Word
    keys: tuple[Key, ...]


def read_cube(
    document: CubeDocument, defaults: DefaultsDocument | None, using: Reader
) -> tuple[SummaryTable, ...]:
    """The summary tables of a cube, the finest first."""
    problems, scope = using.problems, using.scope_of(document)
    sets = attempt(problems, _key_sets, document, scope, problems)
    measures = attempt(problems, read_measures, document.measures, scope, problems)
    conditions = attempt(problems, bound_filter, document.filter, scope)
    if sets is None or measures is None or conditions is None:
        raise AlreadyReported
    settings = Settings.of(document, defaults)
    views = [
        SummaryTable(
            _view_name(document.name, keys),
            scope.root,
            keys,
            measures,
            conditions,
            settings.policy,
            settings.lattice_friendly,
            document.name.text,
            document.description,
            document.name.span,
        )
        for keys in sets
    ]
    _check_names(views, document)
    finished(views[0], problems)
    for view in views[1:]:
        finished(view, Problems())  # what is to be said was said of the finest
    return tuple(views)


def _key_sets(document: CubeDocument, scope: NameScope, problems: Problems) -> Sequence[KeySet]:
    given = [name for name in _SHORTHANDS if document.has(name)]
    if len(given) != 1:
        raise InputError(
            "cube-form",
            f"the cube `{document.name.text}` needs one of `cube`, `rollup` or `grouping_sets`"
            + (f", not {len(given)}" if given else ""),
            span=document.key_span(given[1]) if given else document.name.span,
        )
    if document.cube is None and document.has("mandatory"):
        raise InputError(
            "cube-form",
            "`mandatory` goes with `cube` only",
            span=document.key_span("mandatory"),
            hint=f"remove it, and write only the combinations wanted in `{given[0]}`",
        )
    if document.cube is not None:
        sets = _cube_sets(document, document.cube, scope, problems)
    elif document.rollup is not None:
        keys = read_keys(document.rollup, scope, problems)
        sets = [keys[:length] for length in range(len(keys), -1, -1)]
    else:
        sets = _grouping_sets(document.grouping_sets or (), scope, problems)
    kept = _pruned(sets, document)
    if not kept:
        raise InputError(
            "empty-cube",
            f"the cube `{document.name.text}` has no tables left",
            span=document.name.span,
        )
    return kept


def _grouping_sets(
    written: Sequence[Sequence[NamedExpression]], scope: NameScope, problems: Problems
) -> list[KeySet]:
    sets = [attempt(problems, read_keys, items, scope, problems) for items in written]
    if None in sets:
        raise AlreadyReported
    return [keys for keys in sets if keys is not None]


def _cube_sets(
    document: CubeDocument,
    items: Sequence[NamedExpression],
    scope: NameScope,
    problems: Problems,
) -> list[KeySet]:
    axes = attempt_all(problems, lambda item: _axis(item, scope), items)
    axes = _named_apart(axes)
    needed = _mandatory(document, axes)
    choices = [
        axis.keys if index in needed else (*axis.keys, None) for index, axis in enumerate(axes)
    ]
    most = len(axes) if document.max_dimensions is None else document.max_dimensions
    count = _count(choices, most)
    if count > MAX_VIEWS:
        raise InputError(
            "cube-size",
            f"the cube `{document.name.text}` would have {count:,} tables; at most {MAX_VIEWS:,}"
            " are made",
            span=document.key_span("cube"),
            hint="set `max_dimensions`, list the combinations as `grouping_sets`, or make"
            " several smaller cubes",
        )
    sets: list[KeySet] = [()]
    for keys in choices:
        wider = [(*chosen, key) if key else chosen for chosen in sets for key in keys]
        sets = [chosen for chosen in wider if len(chosen) <= most]
    return sets


def _count(choices: Sequence[Sequence[Key | None]], most: int) -> int:
    """How many ways there are to take one of each, at most so many of them not None."""
    ways = [1]  # by the number of keys taken
    for keys in choices:
        taken = sum(key is not None for key in keys)
        without = len(keys) - taken
        ways = [
            (ways[n] * without if n < len(ways) else 0) + (ways[n - 1] * taken if n else 0)
            for n in range(len(ways) + 1)
        ]
    return sum(ways[: most + 1])


def _axis(item: NamedExpression, scope: NameScope) -> Axis:
    parts = column_parts(parse_raw(item.expr))
    hierarchies = list(hierarchies_named(parts, scope)) if parts else []
    if not hierarchies:
        return _column_axis(item, scope)
    text, span = item.expr.text.strip(), item.expr.span()
    if len(hierarchies) > 1:
        choices = " or ".join(f"`{scope.qualified(path, h.name)}`" for path, h in hierarchies)
        raise InputError(
            "ambiguous-hierarchy",
            f"`{text}` could mean {choices}",
            span=span,
            hint="write which one is meant",
        )
    if item.name is not None:
        raise InputError(
            "hierarchy-name",
            "a hierarchy in a cube keeps the names of its levels",
            span=item.name.span,
            hint=f"write `{text}` alone",
        )
    path, hierarchy = hierarchies[0]
    warehouse, fact = scope.tables.warehouse, scope.root
    keys = [
        Key(level.name, rebased(warehouse, fact, path, level.expr), span)
        for level in hierarchy.levels
    ]
    return Axis(Word(text, span), tuple(keys))


def _column_axis(item: NamedExpression, scope: NameScope) -> Axis:
    try:
        name, expr = named_expression(item, scope, "an item of a cube")
    except InputError as error:
        if error.code == "unknown-column":
            word = item.expr.text.strip().rpartition(".")[2]
            known = {h.name for path in scope.paths for h in scope.table(path).hierarchies}
            if word.lower() not in map(str.lower, known) and (hint := did_you_mean(word, known)):
                near = hint.startswith("did you mean")
                error.hint = hint if near else error.hint
        raise
    return Axis(name, (Key(name.text, expr, name.span),))


def _named_apart(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Axes with their keys' names made different: `city` of two roles is `customer_city` …"""
    counts = Counter(name for axis in axes for name in {key.name.lower() for key in axis.keys})
    apart = []
    for axis in axes:
        prefix = axis.name.text.rpartition(".")[0].replace(".", "_")
        apart.append(
            Axis(
                axis.name,
                tuple(
                    Key(f"{prefix}_{key.name}", key.expr, key.span)
                    if prefix and counts[key.name.lower()] > 1
                    else key
                    for key in axis.keys
                ),
            )
        )
    return tuple(apart)


def _mandatory(document: CubeDocument, axes: Sequence[Axis]) -> set[int]:
    names = [axis.name.text for axis in axes]
    needed = set()
    for word in document.mandatory:
        matches = [i for i, name in enumerate(names) if name.lower() == word.text.lower()]
        if not matches:
            raise InputError(
                "unknown-item",
                f"`{word.text}` is not an item of this cube",
                span=word.span,
                hint=did_you_mean(word.text, names),
            )
        needed.update(matches)
    return needed


def _pruned(sets: Sequence[KeySet], document: CubeDocument) -> list[KeySet]:
    """The sets that `exclude` and `max_dimensions` leave, each once."""
    known = {key.name.lower(): key.name for keys in sets for key in keys}
    excluded = set()
    for combination in document.exclude:
        for word in combination:
            if word.text.lower() not in known:
                raise InputError(
                    "unknown-item",
                    f"`{word.text}` is not a column of this cube",
                    span=word.span,
                    hint=did_you_mean(word.text, known.values()),
                )
        excluded.add(frozenset(word.text.lower() for word in combination))
    most = document.max_dimensions
    kept = {
        frozenset(key.name.lower() for key in keys): keys
        for keys in reversed(sets)
        if most is None or len(keys) <= most
    }
    return [keys for names, keys in reversed(kept.items()) if names not in excluded]


def _view_name(cube: Word, keys: KeySet) -> str:
    return f"{cube.text}__{'_'.join(key.name for key in keys) or 'all'}"


def _check_names(views: Sequence[SummaryTable], document: CubeDocument) -> None:
    seen: set[str] = set()
    for view in views:
        if view.name.lower() in seen or len(view.name) > LONGEST_NAME:
            longer = len(view.name) > LONGEST_NAME
            raise InputError(
                "cube-names",
                f"a table of the cube would be named `{view.name[:60]}…`, which is too long"
                if longer
                else f"two tables of the cube would be named `{view.name}`",
                span=document.name.span,
                hint="give the columns other names: `short: column`",
            )
        seen.add(view.name.lower())
