"""The full syntax of queries: SELECT with everything in it, set operations, tables and views.

Expressions stay `RawExpr`s whose names are resolved later. What a scalar expression cannot hold
(aggregates and subqueries) is taken out: a name such as ``#3`` stands in its place, and the hole
is listed beside the expression.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from cubekeeper.errors import InputError, UnsupportedError
from cubekeeper.parse.bind import binder, column_type
from cubekeeper.parse.dialect import parse_statement, read
from cubekeeper.parse.located import Text
from cubekeeper.parse.raw import RawExpr, column_parts, ordinal, raw
from cubekeeper.parse.refuse import is_aggregate_call
from cubekeeper.parse.select import Name
from cubekeeper.scalar.nodes import Expr
from cubekeeper.schema import STRING, Column, DataType
from cubekeeper.source import Fragment, Span


@dataclass(frozen=True)
class Scalar:
    """An expression with its holes, by the names that stand for them."""

    expr: RawExpr
    holes: tuple[tuple[str, Hole], ...]
    span: Span

    @property
    def column(self) -> tuple[str, ...] | None:
        """The parts of the name when it is a plain column."""
        return column_parts(self.expr)

    @property
    def ordinal(self) -> int | None:
        """The number when it is a plain integer."""
        return ordinal(self.expr)

    @property
    def text(self) -> str:
        """What was written."""
        return self.expr.text


@dataclass(frozen=True)
class AggregateHole:
    """An aggregate call; COUNT(*) has no argument."""

    function: str
    distinct: bool
    argument: Scalar | None
    filter: Scalar | None
    span: Span


@dataclass(frozen=True)
class ScalarQuery:
    """A subquery used as a value."""

    query: Query
    span: Span


@dataclass(frozen=True)
class ExistsQuery:
    """EXISTS (query)."""

    query: Query
    span: Span


@dataclass(frozen=True)
class Quantified:
    """``subject operator ANY|ALL (query)``; IN is ``= ANY``."""

    operator: str
    every: bool
    subject: Scalar
    query: Query
    span: Span


Hole = AggregateHole | ScalarQuery | ExistsQuery | Quantified


@dataclass(frozen=True)
class TableRef:
    """A table or view by its name."""

    name: str
    alias: str
    columns: tuple[str, ...]
    span: Span


@dataclass(frozen=True)
class QueryRef:
    """A subquery in FROM."""

    query: Query
    alias: str
    columns: tuple[str, ...]
    span: Span


@dataclass(frozen=True)
class Join:
    """A join of two sources; `kind` is inner, left, right or full."""

    left: From
    right: From
    kind: str
    on: Scalar | None
    using: tuple[Name, ...]
    natural: bool
    span: Span


From = TableRef | QueryRef | Join


@dataclass(frozen=True)
class Item:
    """An output; no expression stands for ``*``, with the table's name if there is one."""

    expr: Scalar | None
    name: str | None
    table: str | None
    span: Span


@dataclass(frozen=True)
class OrderKey:
    """One key of ORDER BY."""

    expr: Scalar
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Tail:
    """ORDER BY, LIMIT and OFFSET."""

    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True)
class Cte:
    """One query of WITH."""

    name: str
    columns: tuple[str, ...]
    query: Query


@dataclass(frozen=True)
class SelectQuery:
    """One SELECT; `grouping` lists grouping sets by the positions of group expressions."""

    ctes: tuple[Cte, ...]
    distinct: bool
    items: tuple[Item, ...]
    source: From | None
    where: Scalar | None
    groups: tuple[Scalar, ...]
    grouping: tuple[tuple[int, ...], ...] | None
    having: Scalar | None
    tail: Tail
    span: Span


@dataclass(frozen=True)
class SetQuery:
    """Two queries combined; `operator` is union, except or intersect."""

    ctes: tuple[Cte, ...]
    operator: str
    keep_all: bool
    left: Query
    right: Query
    tail: Tail
    span: Span


Query = SelectQuery | SetQuery


@dataclass(frozen=True)
class CreateTable:
    """A declared table."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    static: bool
    span: Span


@dataclass(frozen=True)
class CreateView:
    """A named query; a query without CREATE VIEW has no name."""

    name: str | None
    columns: tuple[str, ...]
    query: Query
    span: Span


Statement = CreateTable | CreateView


def parse_script(fragment: Fragment) -> tuple[Statement, ...]:
    """The statements of a SQL text, separated by semicolons.

    >>> script = parse_script(Fragment.of_text("CREATE TABLE R (a INT); SELECT a FROM R"))
    >>> [type(statement).__name__ for statement in script]
    ['CreateTable', 'CreateView']
    """
    text = read(fragment)
    return tuple(_Reader(part).statement(parse_statement(part)) for part in _parts(text))


def _parts(text: Text) -> Iterator[Text]:
    current: list[Token] = []
    for token in text.tokens:
        if token.token_type is TokenType.SEMICOLON:
            if current:
                yield Text(text.fragment, tuple(current))
            current = []
        else:
            current.append(token)
    if current:
        yield Text(text.fragment, tuple(current))


_OPERATORS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_KNOWN_CLAUSES: Final = frozenset(
    "expressions from_ joins where group having order limit offset distinct with_ kind hint "
    "operation_modifiers".split()
)


_TEXTS: Final = frozenset({"varchar", "char", "nvarchar", "nchar", "bpchar"})


class _NoNames:
    def resolve(self, parts: tuple[str, ...], span: Span) -> Expr:
        raise AssertionError(parts, span)


@dataclass(frozen=True)
class _Reader:
    text: Text

    def unsupported(self, node: exp.Expr, code: str, message: str, hint: str = "") -> NoReturn:
        raise UnsupportedError(code, message, span=self.text.span(node), hint=hint or None)

    def wrong(self, node: exp.Expr, code: str, message: str, hint: str = "") -> NoReturn:
        raise InputError(code, message, span=self.text.span(node), hint=hint or None)

    # --- statements

    def statement(self, node: exp.Expr) -> Statement:
        span = self.text.span(node)
        if isinstance(node, exp.Create):
            if node.kind == "TABLE" and isinstance(node.this, exp.Schema):
                return self.table(node)
            if node.kind == "VIEW" and node.expression is not None:
                return self.view(node)
            self.unsupported(node, "statement", "only CREATE TABLE and CREATE VIEW are understood")
        if not isinstance(node, exp.Query):
            self.unsupported(
                node, "statement", "a live view is a SELECT", "write SELECT … or CREATE VIEW … AS"
            )
        return CreateView(None, (), self.query(node), span)

    def table(self, node: exp.Create) -> CreateTable:
        columns: list[Column] = []
        key: tuple[str, ...] = ()
        for part in node.this.expressions:
            if isinstance(part, exp.ColumnDef):
                kinds = [c.args.get("kind") for c in part.args.get("constraints") or ()]
                primary = any(isinstance(k, exp.PrimaryKeyColumnConstraint) for k in kinds)
                required = any(isinstance(k, exp.NotNullColumnConstraint) for k in kinds)
                kind = self.column_type(part.args["kind"])
                nullable = not (primary or required)
                columns.append(Column(part.name, kind, nullable, span=self.text.span(part)))
                key = (part.name,) if primary else key
            elif isinstance(part, exp.PrimaryKey):
                key = tuple(k.name for k in part.expressions)
            elif not isinstance(part, exp.ForeignKey | exp.Constraint):
                self.unsupported(part, "constraint", "this constraint is not understood")
        names = {k.lower() for k in key}
        done = tuple(
            Column(c.name, c.type, c.nullable and c.name.lower() not in names, span=c.span)
            for c in columns
        )
        return CreateTable(node.this.this.name, done, key, _is_static(node), self.text.span(node))

    def column_type(self, node: exp.Expr) -> DataType:
        if isinstance(node.this, exp.DType) and node.this.value.lower() in _TEXTS:
            return STRING
        return column_type(binder(self.text, _NoNames()), node)

    def view(self, node: exp.Create) -> CreateView:
        target, columns = node.this, ()
        if isinstance(target, exp.Schema):
            columns, target = tuple(c.name for c in target.expressions), target.this
        return CreateView(target.name, columns, self.query(node.expression), self.text.span(node))

    # --- queries

    def query(self, node: exp.Expr) -> Query:
        span = self.text.span(node)
        while isinstance(node, exp.Subquery) and not node.args.get("joins"):
            if any(node.args.get(k) for k in ("order", "limit", "offset", "with_")):
                self.unsupported(node, "order-in-subquery", "ORDER BY outside parentheses")
            node = node.this
        if isinstance(node, exp.SetOperation):
            return self.set_query(node, span)
        if not isinstance(node, exp.Select):
            self.unsupported(node, "query", f"this query ({node.key}) is not supported")
        return self.select(node, span)

    def set_query(self, node: exp.SetOperation, span: Span) -> SetQuery:
        for clause in ("by_name", "side", "kind", "on"):
            if node.args.get(clause):
                self.unsupported(node, "set-operation", "this set operation is not supported")
        return SetQuery(
            self.ctes(node),
            node.key,
            node.args.get("distinct") is False,
            self.query(node.this),
            self.query(node.expression),
            self.tail(node),
            span,
        )

    def select(self, node: exp.Select, span: Span) -> SelectQuery:
        for clause, value in node.args.items():
            if value and clause not in _KNOWN_CLAUSES:
                self.unsupported(node, clause, f"{clause.upper()} is not supported in live views")
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            self.unsupported(node, "distinct-on", "DISTINCT ON is not supported")
        groups, grouping = self.groups(node)
        where, having = node.args.get("where"), node.args.get("having")
        return SelectQuery(
            self.ctes(node),
            distinct is not None,
            tuple(self.item(part) for part in node.expressions),
            self.source(node),
            None if where is None else self.scalar(where.this),
            groups,
            grouping,
            None if having is None else self.scalar(having.this),
            self.tail(node),
            span,
        )

    def ctes(self, node: exp.Expr) -> tuple[Cte, ...]:
        clause = node.args.get("with_")
        if clause is None:
            return ()
        if clause.args.get("recursive"):
            self.unsupported(clause, "recursive", "a recursive query cannot be maintained")
        return tuple(
            Cte(
                part.alias,
                tuple(c.name for c in part.args["alias"].args.get("columns") or ()),
                self.query(part.this),
            )
            for part in clause.expressions
        )

    def item(self, node: exp.Expr) -> Item:
        span = self.text.span(node)
        inner = node.this if isinstance(node, exp.Alias) else node
        if isinstance(inner, exp.Star):
            if inner.args.get("except_") or inner.args.get("replace"):
                self.unsupported(inner, "star", "* EXCEPT is not supported", "name the columns")
            return Item(None, None, None, span)
        if isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star):
            return Item(None, None, inner.table, span)
        scalar = self.scalar(inner)
        if isinstance(node, exp.Alias):
            return Item(scalar, node.alias, None, span)
        parts = scalar.column if not scalar.holes else None
        return Item(scalar, parts[-1] if parts else None, None, span)

    def groups(
        self, node: exp.Select
    ) -> tuple[tuple[Scalar, ...], tuple[tuple[int, ...], ...] | None]:
        group = node.args.get("group")
        if group is None:
            return (), None
        if group.args.get("all") or group.args.get("totals"):
            self.unsupported(node, "group-by-all", "GROUP BY ALL is not supported")
        listed: list[Scalar] = []
        sets: list[tuple[int, ...]] = [()]

        def add(parts: list[exp.Expr]) -> tuple[int, ...]:
            listed.extend(self.scalar(part) for part in parts)
            return tuple(range(len(listed) - len(parts), len(listed)))

        special = [*(group.args.get("rollup") or ()), *(group.args.get("cube") or ())]
        special += group.args.get("grouping_sets") or ()
        for part in [*group.expressions, *special]:
            chosen: list[tuple[int, ...]]
            match part:
                case exp.Rollup():
                    all_ = add(part.expressions)
                    chosen = [all_[:i] for i in range(len(all_), -1, -1)]
                case exp.Cube():
                    all_ = add(part.expressions)
                    chosen = _subsets(all_)
                case exp.GroupingSets():
                    chosen = [add(_members(one)) for one in part.expressions]
                case _:
                    chosen = [add([part])]
            sets = [(*old, *new) for old in sets for new in chosen]
        return tuple(listed), tuple(sets)

    def tail(self, node: exp.Expr) -> Tail:
        order, limit, offset = (node.args.get(k) for k in ("order", "limit", "offset"))
        keys = tuple(self.order_key(part) for part in order.expressions) if order else ()
        return Tail(keys, self.count(limit), self.count(offset) or 0)

    def order_key(self, node: exp.Expr) -> OrderKey:
        descending = bool(node.args.get("desc"))
        return OrderKey(self.scalar(node.this), descending, bool(node.args.get("nulls_first")))

    def count(self, node: exp.Expr | None) -> int | None:
        if node is None:
            return None
        value = node.expression
        if not isinstance(value, exp.Literal) or not str(value.this).isdecimal():
            self.unsupported(node, "limit", "LIMIT and OFFSET take a whole number")
        return int(str(value.this))

    # --- sources

    def source(self, node: exp.Select) -> From | None:
        clause = node.args.get("from_")
        if clause is None:
            return None
        found = self.table_ref(clause.this)
        for join in node.args.get("joins") or ():
            found = self.join(found, join)
        return found

    def join(self, left: From, node: exp.Join) -> Join:
        side, kind = node.side.upper(), node.kind.upper()
        if kind not in ("", "INNER", "CROSS", "OUTER") or side not in ("", "LEFT", "RIGHT", "FULL"):
            self.unsupported(node, "join-kind", f"{side} {kind} joins are not supported".strip())
        natural = node.method.upper() == "NATURAL"
        if node.method and not natural:
            self.unsupported(node, "join-kind", f"{node.method} joins are not supported")
        on = node.args.get("on")
        using = tuple(Name(p.name, self.text.span(p)) for p in node.args.get("using") or ())
        written = None if on is None else self.scalar(on)
        if side and written is None and not using and not natural:
            self.wrong(node, "join-condition", f"{side} JOIN needs ON or USING")
        right = self.table_ref(node.this)
        span = self.text.span(node.this)
        return Join(left, right, side.lower() or "inner", written, using, natural, span)

    def table_ref(self, node: exp.Expr) -> From:
        span = self.text.span(node)
        for clause in ("sample", "pivots", "laterals"):
            if node.args.get(clause):
                self.unsupported(node, clause, f"{clause} in FROM is not supported")
        alias = node.args.get("alias")
        columns = tuple(c.name for c in alias.args.get("columns") or ()) if alias else ()
        found: From
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            found = TableRef(node.name, node.alias or node.name, columns, span)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            found = QueryRef(self.query(node.this), node.alias, columns, span)
        elif isinstance(node, exp.Subquery | exp.Paren) and isinstance(node.this, exp.Table):
            found = self.table_ref(node.this)
        else:
            self.unsupported(node, "from", "only tables and subqueries may stand in FROM")
        for join in node.args.get("joins") or ():
            found = self.join(found, join)
        return found

    # --- expressions

    def scalar(self, node: exp.Expr) -> Scalar:
        span = self.text.span(node)
        holes: list[tuple[str, Hole]] = []
        root = exp.Paren(this=node.copy())
        while (part := next((p for p in root.walk(bfs=True) if _is_hole(p)), None)) is not None:
            name = f"#{len(holes)}"
            holes.append((name, self.hole(part)))
            stand_in = exp.Column(this=exp.Identifier(this=name, quoted=True))
            stand_in.meta.update(_place(part))
            part.replace(exp.Not(this=stand_in) if part.args.get("negate") else stand_in)
        return Scalar(raw(root.this, self.text), tuple(holes), span)

    def hole(self, node: exp.Expr) -> Hole:
        span = self.text.span(node)
        match node:
            case exp.Exists():
                return ExistsQuery(self.query(node.this), span)
            case exp.In():
                inner = self.query(node.args["query"])
                return Quantified("=", False, self.scalar(node.this), inner, span)
            case exp.Subquery() | exp.Select() | exp.SetOperation():
                return ScalarQuery(self.query(node), span)
            case exp.Filter():
                call, condition = _bare(node.this), node.expression.this
                if not is_aggregate_call(call):
                    self.wrong(node, "filter", "FILTER follows an aggregate")
                return self.aggregate(call, self.scalar(condition), span)
            case _ if type(node) in _OPERATORS:
                test = node.expression
                inner = self.query(test.this)
                every = isinstance(test, exp.All)
                subject = self.scalar(node.this)
                return Quantified(_OPERATORS[type(node)], every, subject, inner, span)
            case _:
                return self.aggregate(node, None, span)

    def aggregate(self, node: exp.Expr, condition: Scalar | None, span: Span) -> AggregateHole:
        name, arguments = node.name.lower(), node.expressions
        distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
        if distinct:
            arguments = arguments[0].expressions
        if len(arguments) == 1 and isinstance(arguments[0], exp.Star) and name == "count":
            return AggregateHole(name, distinct, None, condition, span)
        if len(arguments) != 1:
            self.unsupported(node, "aggregate", f"{name.upper()} takes 1 argument here")
        argument = self.scalar(arguments[0])
        if any(isinstance(hole, AggregateHole) for _, hole in argument.holes):
            self.wrong(node, "nested-aggregate", "an aggregate cannot aggregate an aggregate")
        return AggregateHole(name, distinct, argument, condition, span)


def _is_hole(node: exp.Expr) -> bool:
    if isinstance(node, exp.Exists | exp.Subquery | exp.Select | exp.SetOperation | exp.Filter):
        return True
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    if type(node) in _OPERATORS and isinstance(node.expression, exp.Any | exp.All):
        return isinstance(node.expression.this, exp.Query)
    return is_aggregate_call(node)


def _place(node: exp.Expr) -> dict[str, object]:
    for part in node.walk():
        if "start" in part.meta:
            return dict(part.meta)
    return {}


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _members(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Tuple):
        return list(node.expressions)
    return [node.this] if isinstance(node, exp.Paren) else [node]


def _subsets(of: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for one in of:
        found = [*found, *((*subset, one) for subset in found)]
    return found


def _is_static(node: exp.Create) -> bool:
    properties = node.args.get("properties")
    for part in properties.expressions if properties else ():
        if part.name.lower() == "static":
            return str(part.args["value"].name).lower() == "true"
    return False
