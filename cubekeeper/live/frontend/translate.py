"""Queries to calculus: SELECT, set operations, and what may be nested in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from cubekeeper.errors import InputError, NotYetError, UnsupportedError, did_you_mean
from cubekeeper.live.calculus.build import add, cond, exists, let, lift, mul, sum_over, value
from cubekeeper.live.calculus.nodes import ONE, Query, Var
from cubekeeper.live.calculus.variables import free, modes
from cubekeeper.live.frontend.aggregates import Group, aggregated
from cubekeeper.live.frontend.conditions import holds, quantified
from cubekeeper.live.frontend.scopes import Named, Names, Relation, SourceScope
from cubekeeper.live.frontend.sources import Source, anti, joined, outer_columns, table
from cubekeeper.live.m3.nodes import Relation as Table
from cubekeeper.parse import bind
from cubekeeper.parse import query as sql
from cubekeeper.scalar.build import TypeProblem, call, cast, literal
from cubekeeper.scalar.nodes import ColumnRef, Expr, column_refs, rewrite
from cubekeeper.scalar.types import common_type
from cubekeeper.schema import BIGINT


@dataclass(frozen=True)
class Context:
    """What is around a query: the scope of an outer query, and named queries."""

    outer: SourceScope | None = None
    ctes: Mapping[str, tuple[sql.Cte, Context]] = field(default_factory=dict)


@dataclass
class Translator:
    """Turns queries over known tables into relations of the calculus."""

    tables: Mapping[str, Table]
    views: Mapping[str, sql.CreateView]
    names: Names = field(default_factory=Names)

    # --- queries

    def relation(
        self, query: sql.Query, context: Context, extra: Sequence[sql.Scalar] = ()
    ) -> Relation:
        """The rows of a query; `extra` expressions become columns at the end."""
        for cte in query.ctes:
            context = replace(context, ctes={**context.ctes, cte.name.lower(): (cte, context)})
        match query:
            case sql.SelectQuery():
                return self.select(query, context, extra)
            case sql.SetQuery():
                return self.combined(query, context)
            case _:
                assert_never(query)

    def nested(self, query: sql.Query, context: Context) -> Relation:
        """A query inside another: ORDER BY without LIMIT means nothing there."""
        if query.tail.limit is not None or query.tail.offset:
            raise NotYetError(
                "nested-limit", "LIMIT inside a query is not supported yet", span=query.span
            )
        before = frozenset(self.names.taken)
        return self.relation(query, context).narrowed(before)

    def combined(self, query: sql.SetQuery, context: Context) -> Relation:
        """Two queries combined by UNION, EXCEPT or INTERSECT."""
        before = frozenset(self.names.taken)
        left, right = (self.nested(part, context) for part in (query.left, query.right))
        if len(left.columns) != len(right.columns):
            raise InputError(
                "set-columns",
                f"the queries give {len(left.columns)} and {len(right.columns)} columns",
                span=query.span,
            )
        columns = tuple(
            (title, self.common(one, other, title, query))
            for (title, one), (_, other) in zip(left.columns, right.columns, strict=True)
        )
        a, b = (_in_columns(side, columns, before) for side in (left, right))
        if query.operator == "union":
            both = add(a, b)
            return Relation(both if query.keep_all else exists(both), columns)
        outer = before | {v.column for _, v in columns}
        there = self.names.new("there", BIGINT, nullable=False)
        if not query.keep_all:
            operator = "<>" if query.operator == "intersect" else "="
            test = cond(call(operator, there, literal(0)))
            return Relation(mul(exists(a), lift(there, b), test), columns).narrowed(outer)
        here = self.names.new("here", BIGINT, nullable=False)
        less = call("least", here, there)
        if query.operator == "except":
            less = call("greatest", call("-", here, there), cast(literal(0), BIGINT))
        parts = (exists(a), lift(here, a), lift(there, b), value(less))
        return Relation(mul(*parts), columns).narrowed(outer)

    def common(self, one: Var, other: Var, title: str, query: sql.SetQuery) -> Var:
        """A variable that holds the values of two columns."""
        kind = common_type((one.type, other.type))
        if kind is None:
            raise InputError(
                "type-error",
                f"column `{title}` is {one.type} here, {other.type} there",
                span=query.span,
            )
        return self.names.new(title, kind, nullable=one.nullable or other.nullable)

    # --- SELECT

    def select(
        self, query: sql.SelectQuery, context: Context, extra: Sequence[sql.Scalar]
    ) -> Relation:
        """The rows of one SELECT."""
        before = frozenset(self.names.taken)
        source = Source(ONE, ())
        if query.source is not None:
            source = self.source(query.source, context)
        scope = SourceScope(source.columns, context.outer)
        inside = replace(context, outer=scope)
        rows = source.query
        if query.where is not None:
            condition, parts = self.bound(query.where, scope, inside)
            rows = mul(rows, *parts, holds(condition, query.where.span))
        items = [*_listed(query, source), *(("", expr) for expr in extra)]
        if query.groups or query.grouping or query.having or any(map(_aggregates, _all(items))):
            result = self.grouped(query, items, rows, scope, inside, before)
        else:
            result = self.plain(items, rows, scope, inside)
        loose = modes(result.query)[0] - before
        if loose:
            raise InputError(
                "not-grouped",
                "a column outside the groups is used without an aggregate",
                span=query.span,
                hint="add it to GROUP BY, or aggregate it",
            )
        if query.distinct:
            return Relation(exists(result.narrowed(before).query), result.columns)
        return result

    def plain(
        self,
        items: Sequence[tuple[str, sql.Scalar | Expr]],
        rows: Query,
        scope: SourceScope,
        inside: Context,
    ) -> Relation:
        """The rows of a SELECT without groups."""
        columns: list[tuple[str, Var]] = []
        parts = [rows]
        for title, item in items:
            expr, needs = (
                (item, []) if not isinstance(item, sql.Scalar) else self.bound(item, scope, inside)
            )
            parts += needs
            columns.append((title, self.column(expr, title, parts)))
        return Relation(mul(*parts), tuple(columns))

    def column(self, expr: Expr, title: str, parts: list[Query]) -> Var:
        """The variable of an output."""
        if isinstance(expr, ColumnRef):
            return expr
        out = self.names.like(expr, title or "value")
        parts.append(let(out, expr))
        return out

    def grouped(
        self,
        query: sql.SelectQuery,
        items: Sequence[tuple[str, sql.Scalar | Expr]],
        rows: Query,
        scope: SourceScope,
        inside: Context,
        before: frozenset[str],
    ) -> Relation:
        """The rows of a SELECT with groups: one for each group of each grouping set."""
        keys: list[tuple[Expr, Var]] = []
        for scalar in (_group_item(group, items) for group in query.groups):
            expr, parts = (
                self.bound(scalar, scope, inside)
                if isinstance(scalar, sql.Scalar)
                else (scalar, [])
            )
            parts = [rows, *parts]
            keys.append((expr, self.column(expr, "group", parts)))
            rows = mul(*parts)
        sets = query.grouping if query.grouping is not None else ((),)
        made = [
            self.one_set(query, items, rows, keys, chosen, scope, inside, before) for chosen in sets
        ]
        if len(made) == 1:
            return made[0]
        columns = tuple(
            (title, self.names.new(title, v.type, nullable=True)) for title, v in made[0].columns
        )
        return Relation(add(*(_in_columns(one, columns, before) for one in made)), columns)

    def one_set(
        self,
        query: sql.SelectQuery,
        items: Sequence[tuple[str, sql.Scalar | Expr]],
        rows: Query,
        keys: list[tuple[Expr, Var]],
        chosen: tuple[int, ...],
        scope: SourceScope,
        inside: Context,
        before: frozenset[str],
    ) -> Relation:
        """The groups of one grouping set."""
        named = {keys[i][0]: keys[i][1] for i in chosen}
        gone = {expr: literal(None, expr.type) for expr, _ in keys if expr not in named}
        here: dict[Expr, Expr] = {**gone, **named}
        group = Group(rows, before | {v.column for v in named.values()}, self.names, bool(chosen))
        parts: list[Query] = [exists(group.total())] if chosen else []
        columns: list[tuple[str, Var]] = []
        base = {ref.column for named_ in scope.columns for ref in column_refs(named_.expr)}

        def bound(item: sql.Scalar | Expr) -> Expr:
            expr, needs = (
                self.bound(item, scope, inside, group)
                if isinstance(item, sql.Scalar)
                else (item, [])
            )
            parts.extend(needs)
            expr = rewrite(expr, lambda e: here.get(e))
            loose = {ref.column for ref in column_refs(expr)} & base - group.keys
            if loose and isinstance(item, sql.Scalar):
                raise InputError(
                    "not-grouped",
                    f"`{item.text}` uses a column that is not grouped by",
                    span=item.span,
                    hint="add it to GROUP BY, or aggregate it",
                )
            return expr

        for title, item in items:
            expr = bound(item)
            columns.append((title, self.column(expr, title, parts)))
        if query.having is not None:
            parts.append(holds(bound(query.having), query.having.span))
        return Relation(mul(*parts), tuple(columns))

    # --- sources

    def source(self, part: sql.From, context: Context) -> Source:
        """The rows of a FROM clause."""
        match part:
            case sql.TableRef():
                return self.named(part, context)
            case sql.QueryRef():
                inner = self.nested(part.query, context)
                return self.aliased(inner, part.alias, part.columns, part)
            case sql.Join():
                return self.join(part, context)
            case _:
                assert_never(part)

    def named(self, part: sql.TableRef, context: Context) -> Source:
        """The rows of a table, a view or a query of WITH."""
        name = part.name.lower()
        if name in context.ctes:
            cte, around = context.ctes[name]
            inner = self.nested(cte.query, around)
            return self.aliased(inner, part.alias, part.columns or cte.columns, part)
        if name in self.views:
            view = self.views[name]
            inner = self.nested(view.query, Context())
            return self.aliased(inner, part.alias, part.columns or view.columns, part)
        if name not in self.tables:
            known = [*(t.name for t in self.tables.values()), *self.views]
            raise InputError(
                "unknown-table",
                f"there is no table `{part.name}`",
                span=part.span,
                hint=did_you_mean(part.name, known),
            )
        source = table(self.tables[name], part.alias, self.names)
        return source if not part.columns else _renamed(source, part.columns)

    def aliased(
        self, inner: Relation, alias: str, titles: tuple[str, ...], part: sql.From
    ) -> Source:
        """The rows of a subquery under a name."""
        if titles and len(titles) != len(inner.columns):
            raise InputError(
                "alias-columns",
                f"{len(inner.columns)} columns get {len(titles)} names",
                span=part.span,
            )
        columns = [
            Named(alias, titles[i] if titles else title, v)
            for i, (title, v) in enumerate(inner.columns)
        ]
        return Source(inner.query, tuple(columns))

    def join(self, part: sql.Join, context: Context) -> Source:
        """The rows of a join."""
        outer = frozenset(self.names.taken)
        left, right = self.source(part.left, context), self.source(part.right, context)
        condition: Query = ONE
        shared = _shared(part, left, right)
        both = SourceScope((*left.columns, *right.columns), context.outer)
        for one, other in shared:
            try:
                condition = mul(condition, cond(call("=", one.expr, other.expr)))
            except TypeProblem as problem:
                raise InputError("type-error", problem.message, span=part.span) from None
        if part.on is not None:
            expr, parts = self.bound(part.on, both, replace(context, outer=both))
            condition = mul(condition, *parts, holds(expr, part.on.span))
        matched = mul(left.query, right.query, condition)
        terms, free_left, free_right = [matched], left, right
        if part.kind in ("left", "full"):
            terms.append(anti(left, right, condition, outer, self.names))
            free_right = outer_columns(right)
        if part.kind in ("right", "full"):
            terms.append(anti(right, left, condition, outer, self.names))
            free_left = outer_columns(left)
        columns = (*free_left.columns, *free_right.columns)
        kept = {ref.column for n in columns for ref in column_refs(n.expr)}
        if len(terms) > 1:
            terms = [sum_over(sorted(free(t) - kept - outer), t) for t in terms]
        return joined(part, add(*terms), free_left, free_right, shared)

    # --- expressions

    def bound(
        self, scalar: sql.Scalar, scope: SourceScope, inside: Context, group: Group | None = None
    ) -> tuple[Expr, list[Query]]:
        """The typed expression, and the factors that its holes need."""
        holes: dict[str, Expr] = {}
        parts: list[Query] = []
        for name, hole in scalar.holes:
            holes[name], needs = self.hole(hole, scope, inside, group)
            parts += needs
        return bind(scalar.expr, scope.with_holes(holes)), parts

    def hole(
        self, hole: sql.Hole, scope: SourceScope, inside: Context, group: Group | None
    ) -> tuple[Expr, list[Query]]:
        """The value of what a scalar expression cannot hold."""
        match hole:
            case sql.AggregateHole():
                return self.aggregate(hole, scope, inside, group)
            case sql.ScalarQuery(query):
                return self.scalar_query(query, inside)
            case sql.ExistsQuery(query):
                outer = frozenset(self.names.taken)
                rows = self.nested(query, inside).query
                count = self.names.new("found", BIGINT, nullable=False)
                total = sum_over(sorted(free(rows) - outer), rows)
                return call("<>", count, literal(0)), [lift(count, total)]
            case sql.Quantified():
                subject, parts = self.bound(hole.subject, scope, inside, group)
                outer = frozenset(self.names.taken)
                rows_ = self.nested(hole.query, inside)
                expr, needs = quantified(hole, subject, rows_, outer, self.names)
                return expr, [*parts, *needs]
            case _:
                assert_never(hole)

    def aggregate(
        self, hole: sql.AggregateHole, scope: SourceScope, inside: Context, group: Group | None
    ) -> tuple[Expr, list[Query]]:
        """The value of an aggregate."""
        if group is None:
            raise InputError(
                "misplaced-aggregate",
                f"the aggregate {hole.function.upper()} has no place here",
                span=hole.span,
                hint="conditions on aggregates stand in HAVING",
            )
        argument: Expr | None = None
        needs: list[Query] = []
        if hole.argument is not None:
            argument, needs = self.bound(hole.argument, scope, inside)
        if hole.filter is not None:
            condition, more = self.bound(hole.filter, scope, inside)
            needs = [*needs, *more, holds(condition, hole.filter.span)]
            group = replace(group, never_empty=False)
        return aggregated(hole, argument, replace(group, rows=mul(group.rows, *needs)))

    def scalar_query(self, query: sql.Query, inside: Context) -> tuple[Expr, list[Query]]:
        """A subquery used as a value: an aggregate without groups, which always has one row."""
        single = (
            isinstance(query, sql.SelectQuery)
            and not query.groups
            and not query.distinct
            and not query.tail.offset
            and query.tail.limit != 0
            and len(query.items) == 1
            and query.items[0].expr is not None
            and _aggregates(query.items[0].expr)
        )
        if not single or not isinstance(query, sql.SelectQuery):
            raise UnsupportedError(
                "scalar-subquery",
                "a subquery used as a value must be one aggregate without GROUP BY",
                span=query.span,
                hint="MAX(…) or SUM(…) of the one value means the same",
            )
        bare = replace(query, having=None, tail=sql.Tail())
        if query.having is not None:
            raise NotYetError(
                "scalar-having", "HAVING in a value is not supported yet", span=query.span
            )
        result = self.relation(bare, inside)
        return result.columns[0][1], [result.query]


def _all(items: Sequence[tuple[str, sql.Scalar | Expr]]) -> list[sql.Scalar]:
    return [item for _, item in items if isinstance(item, sql.Scalar)]


def _aggregates(scalar: sql.Scalar) -> bool:
    return any(
        isinstance(hole, sql.AggregateHole)
        or (isinstance(hole, sql.Quantified) and _aggregates(hole.subject))
        for _, hole in scalar.holes
    )


def _listed(query: sql.SelectQuery, source: Source) -> list[tuple[str, sql.Scalar | Expr]]:
    """The outputs with their names; ``*`` becomes the columns it stands for."""
    found: list[tuple[str, sql.Scalar | Expr]] = []
    for item in query.items:
        if item.expr is not None:
            found.append((item.name or item.expr.text, item.expr))
            continue
        chosen = source.starred(item.table)
        if not chosen:
            raise InputError("star", "`*` stands for no column here", span=item.span)
        found += [(named.name, named.expr) for named in chosen]
    return found


def _group_item(
    group: sql.Scalar, items: Sequence[tuple[str, sql.Scalar | Expr]]
) -> sql.Scalar | Expr:
    """What GROUP BY 2 and GROUP BY alias stand for."""
    number = group.ordinal
    if number is not None:
        if not 1 <= number <= len(items):
            raise InputError("group-position", f"there is no output {number}", span=group.span)
        return items[number - 1][1]
    return group


def _in_columns(
    relation: Relation, columns: Sequence[tuple[str, Var]], before: frozenset[str]
) -> Query:
    """A relation with its columns bound to given variables, in their types."""
    lets = []
    for (_, old), (_, new) in zip(relation.columns, columns, strict=True):
        same = old.type == new.type or (not new.type.is_float and new.type.is_numeric)
        lets.append(let(new, old if same else cast(old, new.type)))
    return Relation(mul(relation.query, *lets), tuple(columns)).narrowed(before).query


def _shared(part: sql.Join, left: Source, right: Source) -> list[tuple[Named, Named]]:
    """The columns that USING or NATURAL makes equal."""
    names = [name.text for name in part.using]
    if part.natural:
        others = {n.name.lower() for n in right.visible}
        names = [n.name for n in left.visible if n.name.lower() in others]
    pairs = []
    for name in names:
        one, other = left.one(name), right.one(name)
        if one is None or other is None:
            raise InputError(
                "unknown-column", f"USING needs one `{name}` on both sides", span=part.span
            )
        pairs.append((one, other))
    return pairs


def _renamed(source: Source, titles: tuple[str, ...]) -> Source:
    columns = tuple(
        replace(named, name=titles[i]) if i < len(titles) else named
        for i, named in enumerate(source.columns)
    )
    return replace(source, columns=columns)
