"""A whole SQL text to base tables and views of the calculus."""

from __future__ import annotations

from collections.abc import Sequence

from cubekeeper.errors import InputError
from cubekeeper.live.calculus.build import var
from cubekeeper.live.frontend.scopes import Relation
from cubekeeper.live.frontend.translate import Context, Translator
from cubekeeper.live.m3.nodes import Relation as Table
from cubekeeper.live.m3.nodes import Sorting, View
from cubekeeper.parse import query as sql
from cubekeeper.source import Fragment

UNNAMED = "result"


def read_sql(fragment: Fragment) -> tuple[tuple[Table, ...], tuple[View, ...]]:
    """The base tables that a SQL text declares, and its views over them.

    >>> tables, views = read_sql(Fragment.of_text("CREATE TABLE R (a INT); SELECT a FROM R"))
    >>> [table.name for table in tables], views[0].titles
    (['R'], ('a',))
    """
    tables: dict[str, Table] = {}
    queries: dict[str, sql.CreateView] = {}
    for statement in sql.parse_script(fragment):
        name = (statement.name or UNNAMED).lower()
        if name in tables or name in queries:
            raise InputError("name-taken", f"`{name}` is declared twice", span=statement.span)
        if isinstance(statement, sql.CreateTable):
            tables[name] = _table(statement)
        else:
            queries[name] = statement
    if not queries:
        raise InputError("no-view", "there is no SELECT here", span=fragment.span())
    views, known = [], dict[str, sql.CreateView]()
    for name, statement in queries.items():
        views.append(_view(statement, Translator(tables, dict(known))))
        if statement.name:
            known[name] = statement
    return tuple(tables.values()), tuple(views)


def _table(declared: sql.CreateTable) -> Table:
    columns = tuple(var(c.name, c.type, nullable=c.nullable) for c in declared.columns)
    names = [c.name.lower() for c in declared.columns]
    for name in names:
        if names.count(name) > 1:
            raise InputError("name-taken", f"`{name}` is declared twice", span=declared.span)
    return Table(declared.name, columns, declared.static, declared.key)


def _view(declared: sql.CreateView, translator: Translator) -> View:
    query = declared.query
    shown = _titles(query)
    extra = [key.expr for key in query.tail.order if _position(key.expr, shown) is None]
    if extra and (isinstance(query, sql.SetQuery) or query.distinct):
        raise InputError(
            "order-by", "ORDER BY names no output here", span=extra[0].span, hint="name an output"
        )
    relation = translator.relation(query, Context(), extra).narrowed(frozenset())
    titles = tuple(title for title, _ in relation.columns[: len(relation.columns) - len(extra)])
    order = _order(query.tail, extra, titles, relation)
    return View(
        declared.name or UNNAMED,
        tuple(v for _, v in relation.columns),
        declared.columns or titles,
        relation.query,
        order,
        query.tail.limit,
        query.tail.offset,
    )


def _titles(query: sql.Query) -> list[str | None]:
    """The names of the outputs as far as they are known; None where ``*`` hides how many."""
    while isinstance(query, sql.SetQuery):
        query = query.left
    return [item.name if item.expr is not None else None for item in query.items]


def _position(expr: sql.Scalar, shown: Sequence[str | None]) -> int | str | None:
    if expr.ordinal is not None:
        return expr.ordinal - 1
    parts = expr.column if not expr.holes else None
    if parts is not None and len(parts) == 1:
        named = [t for t in shown if t is not None and t.lower() == parts[0].lower()]
        return parts[0] if named else None
    return None


def _order(
    tail: sql.Tail, extra: Sequence[sql.Scalar], titles: Sequence[str], relation: Relation
) -> tuple[Sorting, ...]:
    found = []
    lowered = [title.lower() for title in titles]
    for key in tail.order:
        place = _position(key.expr, titles)
        if key.expr in extra:
            at = len(titles) + list(extra).index(key.expr)
        elif isinstance(place, int):
            at = place
        else:
            at = lowered.index(str(place).lower())
        if not 0 <= at < len(relation.columns):
            raise InputError("order-by", "there is no such output", span=key.expr.span)
        found.append(Sorting(at, key.descending, key.nulls_first))
    return tuple(found)
