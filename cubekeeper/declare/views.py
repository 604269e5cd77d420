"""Summary tables from the structured form, and what holds for every form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cubekeeper.declare.cautions import warn_about
from cubekeeper.declare.documents import (
    DefaultsDocument,
    MeasureDocument,
    NamedExpression,
    SummaryTableDocument,
    ViewDocument,
)
from cubekeeper.declare.expressions import bound_filter, bound_measure, named_expression
from cubekeeper.declare.leaves import Word
from cubekeeper.declare.report import AlreadyReported, Names, attempt, attempt_all
from cubekeeper.declare.scope import NameScope, Tables, reachable
from cubekeeper.declare.sql_views import read_select
from cubekeeper.errors import InputError, Problems, UnsupportedError
from cubekeeper.scalar.nodes import Expr, column_refs
from cubekeeper.source import Span
from cubekeeper.warehouse.model import Key, Measure, Policy, SummaryTable


@dataclass(frozen=True)
class Reader:
    """What is needed to read views: the tables, the names seen from each fact, the problems."""

    tables: Tables
    scopes: Mapping[str, NameScope]
    problems: Problems

    def scope_of(self, document: ViewDocument) -> NameScope:
        """The names that a view over a fact may use."""
        if document.fact is None:
            raise InputError(
                "missing-key",
                f"`{document.name.text}` does not say which `fact` it aggregates",
                span=document.name.span,
                hint="add `fact: …`, or write the table as `sql: SELECT …`",
            )
        facts = self.tables.warehouse.facts
        found = self.tables.find(document.fact.text, document.fact.span, facts, "fact")
        return self.scopes[found.name]


def reader(tables: Tables, problems: Problems) -> Reader:
    """A reader for all facts of the tables."""
    scopes = {fact.name: reachable(tables, fact.name) for fact in tables.warehouse.facts}
    return Reader(tables, scopes, problems)


@dataclass(frozen=True)
class Settings:
    """How a view is kept, from its document or the defaults of its file."""

    policy: Policy
    lattice_friendly: bool

    @staticmethod
    def of(document: ViewDocument, defaults: DefaultsDocument | None) -> Settings:
        """What a document says, or else the defaults, or else ours."""
        policy, friendly = document.policy, document.lattice_friendly
        if policy is None:
            policy = defaults.policy if defaults else Policy.AUTO
        if friendly is None:
            friendly = defaults.lattice_friendly if defaults else True
        return Settings(policy, friendly)


_STRUCTURED = ("fact", "group_by", "measures", "filter")


def read_view(
    document: SummaryTableDocument, defaults: DefaultsDocument | None, using: Reader
) -> SummaryTable:
    """The summary table of a document in either form."""
    settings = Settings.of(document, defaults)
    if document.sql is None:
        return _structured(document, settings, using)
    for name in _STRUCTURED:
        if document.has(name):
            raise InputError(
                "two-forms",
                f"`{name}` and `sql` do not go together: the SELECT says it all",
                span=document.key_span(name),
                hint=f"put it into the SELECT, or remove `sql` of `{document.name.text}`",
            )
    view = read_select(document.sql, using.tables, document.name, using.problems)
    return finished(
        SummaryTable(
            document.name.text,
            view.fact,
            view.keys,
            view.measures,
            view.filter,
            settings.policy,
            settings.lattice_friendly,
            description=document.description,
            span=document.name.span,
        ),
        using.problems,
    )


def _structured(document: SummaryTableDocument, settings: Settings, using: Reader) -> SummaryTable:
    problems, scope = using.problems, using.scope_of(document)
    keys = attempt(problems, read_keys, document.group_by, scope, problems)
    measures = attempt(problems, read_measures, document.measures, scope, problems)
    conditions = attempt(problems, bound_filter, document.filter, scope)
    if keys is None or measures is None or conditions is None:
        raise AlreadyReported
    return finished(
        SummaryTable(
            document.name.text,
            scope.root,
            keys,
            measures,
            conditions,
            settings.policy,
            settings.lattice_friendly,
            description=document.description,
            span=document.name.span,
        ),
        problems,
    )


def read_keys(
    items: Sequence[NamedExpression], scope: NameScope, problems: Problems
) -> tuple[Key, ...]:
    """The group-by columns; every problem among them is kept."""

    def read(item: NamedExpression) -> Key:
        name, expr = named_expression(item, scope, "a group-by column")
        return Key(name.text, expr, name.span)

    return attempt_all(problems, read, items)


def read_measures(
    items: Sequence[MeasureDocument], scope: NameScope, problems: Problems
) -> tuple[Measure, ...]:
    """The measures; every problem among them is kept."""

    def read(item: MeasureDocument) -> Measure:
        name, aggregate = bound_measure(item, scope)
        return Measure(name.text, aggregate, name.span)

    return attempt_all(problems, read, items)


def finished(view: SummaryTable, problems: Problems) -> SummaryTable:
    """The view, after the checks that hold for every form."""
    _check_outputs(view, problems)
    if view.policy is Policy.INCREMENTAL_STRICT:
        _check_strict(view)
    warn_about(view, problems)
    return view


def _check_outputs(view: SummaryTable, problems: Problems) -> None:
    if not view.keys and not view.measures:
        raise InputError(
            "no-columns",
            f"`{view.name}` has neither group-by columns nor measures",
            span=view.span,
            hint="add `measures`",
        )
    names = Names(problems)
    outputs: Iterable[tuple[str, Span | None, str]] = (
        *((key.name, key.span, "a group-by column") for key in view.keys),
        *((measure.name, measure.span, "a measure") for measure in view.measures),
    )
    fresh = [names.take(Word(name, span), what) for name, span, what in outputs if span]
    if not all(fresh):
        raise AlreadyReported
    seen: dict[Expr, Key] = {}
    for key in view.keys:
        if not column_refs(key.expr):
            raise InputError(
                "constant",
                f"the group-by column `{key.name}` depends on no column",
                span=key.span,
                hint="leave it out: it does not change the groups",
            )
        first = seen.setdefault(key.expr, key)
        if first is not key:
            raise InputError(
                "repeated-key",
                f"`{key.name}` groups by the same expression as `{first.name}`",
                span=key.span,
                hint="remove one of them",
            )


def _check_strict(view: SummaryTable) -> None:
    for measure in view.measures:
        reason = measure.aggregate.rebuild_reason
        if reason is not None:
            raise UnsupportedError(
                "not-incremental",
                f"`{measure.name}` cannot be maintained incrementally: {reason}",
                span=measure.span,
                hint="choose `policy: auto` to let the table be rebuilt, or remove the measure",
            )
