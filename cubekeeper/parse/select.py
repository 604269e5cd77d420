"""The skeleton of one SELECT: tables, joins, conditions, outputs and groups, names unresolved."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from cubekeeper.errors import InputError, UnsupportedError
from cubekeeper.parse.aggregate import contains_aggregate
from cubekeeper.parse.clauses import CLAUSES, JOINS, UNDERSTOOD, Refusal
from cubekeeper.parse.dialect import parse_statement, read
from cubekeeper.parse.located import Text
from cubekeeper.parse.raw import RawExpr, column_parts, raw
from cubekeeper.parse.refuse import check_constructs
from cubekeeper.source import Fragment, Span


class JoinKind(Enum):
    """How a table enters the FROM clause."""

    FROM = "from"
    """The first table, or one after a comma: conditions are in WHERE."""
    INNER = "inner"
    LEFT = "left"


@dataclass(frozen=True)
class Name:
    """A name and where it stands."""

    text: str
    span: Span


@dataclass(frozen=True)
class FromTable:
    """A table of the FROM clause, in the order written."""

    name: str
    alias: str
    kind: JoinKind
    on: tuple[RawExpr, ...]
    using: tuple[Name, ...]
    span: Span


@dataclass(frozen=True)
class SelectItem:
    """An output: its expression, and its name where it has one (an alias or a column's name)."""

    expr: RawExpr
    name: str | None
    aliased: bool
    span: Span


@dataclass(frozen=True)
class Select:
    """One SELECT block; conditions are lists of conjuncts."""

    view_name: Name | None
    tables: tuple[FromTable, ...]
    where: tuple[RawExpr, ...]
    items: tuple[SelectItem, ...]
    group_by: tuple[RawExpr, ...]
    span: Span


def parse_select(fragment: Fragment) -> Select:
    """The skeleton of ``SELECT …`` or ``CREATE VIEW name (columns) AS SELECT …``.

    >>> select = parse_select(Fragment.of_text("SELECT city, SUM(qty) AS q FROM pos GROUP BY city"))
    >>> [(item.name, item.expr.text) for item in select.items]
    [('city', 'city'), ('q', 'SUM(qty)')]
    """
    text = read(fragment)
    return _Skeleton(text).statement(parse_statement(text))


@dataclass(frozen=True)
class _Skeleton:
    text: Text

    def wrong(self, span: Span, code: str, message: str, hint: str | None = None) -> NoReturn:
        raise InputError(code, message, span=span, hint=hint)

    def refuse(self, refusal: Refusal, node: exp.Expr) -> NoReturn:
        span = next(
            (
                self.text.token_span(token)
                for token in self.text.tokens
                if token.token_type in refusal.tokens
            ),
            None,
        )
        raise UnsupportedError(
            refusal.code,
            refusal.message,
            span=span or self.text.span(node),
            hint=refusal.hint,
        )

    def statement(self, node: exp.Expr) -> Select:
        while isinstance(node, exp.Subquery) and _is_plain(node):
            node = node.this
        if isinstance(node, exp.Create):
            return self.view(node)
        return self.query(node, None, None)

    def view(self, node: exp.Create) -> Select:
        target = node.this
        self.check_parts(node)
        if node.kind != "VIEW" or node.expression is None:
            self.not_a_select()
        columns: list[exp.Expr] | None = None
        if isinstance(target, exp.Schema):
            columns, target = target.expressions, target.this
        name = Name(".".join(part.name for part in target.parts), self.text.span(target))
        query = node.expression
        while isinstance(query, exp.Subquery) and _is_plain(query):
            query = query.this
        return self.query(query, name, columns)

    def not_a_select(self) -> NoReturn:
        first = self.text.tokens[0]
        self.wrong(
            self.text.token_span(first),
            "not-a-select",
            "a summary table is declared by SELECT or CREATE VIEW … AS SELECT",
        )

    def query(self, node: exp.Expr, name: Name | None, columns: list[exp.Expr] | None) -> Select:
        if isinstance(node, exp.SetOperation):
            tokens = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)
            self.refuse(
                Refusal(
                    "set-operation",
                    "UNION, EXCEPT and INTERSECT are not supported",
                    "declare one table for each SELECT",
                    tokens,
                ),
                node,
            )
        if not isinstance(node, exp.Select):
            self.not_a_select()
        self.check_parts(node)
        if node.args.get("from_") is None:
            self.wrong(self.text.span(node), "no-from", "SELECT needs a FROM")
        items = tuple(self.item(part) for part in node.expressions)
        return Select(
            name,
            self.tables(node),
            self.conjuncts(node.args["where"].this, "WHERE") if node.args.get("where") else (),
            items if columns is None else self.renamed(items, columns),
            self.groups(node),
            self.text.fragment.span(),
        )

    def check_parts(self, node: exp.Expr) -> None:
        for clause, value in node.args.items():
            if not value or clause in UNDERSTOOD[type(node)]:
                continue
            if clause in CLAUSES:
                self.refuse(CLAUSES[clause], node)
            what = f"this {node.key} has a part ({clause.strip('_')}) that is not supported"
            self.refuse(Refusal("unsupported-syntax", what), node)

    # --- outputs

    def item(self, node: exp.Expr) -> SelectItem:
        span = self.text.span(node)
        inner = node.this if isinstance(node, exp.Alias) else node
        if isinstance(inner, exp.Star) or isinstance(inner.this, exp.Star):
            raise UnsupportedError(
                "select-star",
                "SELECT * is not supported: the outputs must not change with the base tables",
                span=self.text.span(inner),
                hint="name the columns",
            )
        expr = self.raw(inner)
        if isinstance(node, exp.Alias):
            return SelectItem(expr, node.alias, True, span)
        parts = column_parts(expr)
        return SelectItem(expr, parts[-1] if parts else None, False, span)

    def renamed(
        self, items: tuple[SelectItem, ...], columns: list[exp.Expr]
    ) -> tuple[SelectItem, ...]:
        if len(items) != len(columns):
            self.wrong(
                self.text.span(columns[0]),
                "view-columns",
                f"the view names {len(columns)} columns, its SELECT gives {len(items)}",
            )
        return tuple(
            SelectItem(item.expr, column.name, True, self.text.span(column))
            for item, column in zip(items, columns, strict=True)
        )

    # --- tables

    def tables(self, node: exp.Select) -> tuple[FromTable, ...]:
        first = node.args["from_"].this
        found = [self.table(first, JoinKind.FROM, None)]
        for join in node.args.get("joins") or ():
            self.check_parts(join)
            found.append(self.table(join.this, self.kind(join), join))
        return tuple(found)

    def kind(self, join: exp.Join) -> JoinKind:
        extent = self.text.extent(join.this)
        before = self.text.token_at(extent[0]) - 1 if extent else -1
        comma = before >= 0 and self.text.tokens[before].token_type is TokenType.COMMA
        words = [join.method.upper(), join.side.upper(), join.kind.upper()]
        if isinstance(join.this, exp.Lateral):
            words.insert(0, "LATERAL")
        for word in words:
            if word in JOINS and not (comma and word == "CROSS"):
                raise UnsupportedError(
                    "join-kind",
                    f"{word} joins are not supported",
                    span=self.text.span(join.this),
                    hint=JOINS[word],
                )
        if comma:
            return JoinKind.FROM
        return JoinKind.LEFT if "LEFT" in words else JoinKind.INNER

    def table(self, node: exp.Expr, kind: JoinKind, join: exp.Join | None) -> FromTable:
        span = self.text.span(node)
        if isinstance(node, exp.Query):
            raise UnsupportedError(
                "subquery",
                "a subquery in FROM is not supported",
                span=span,
                hint="name the base tables themselves, and filter in WHERE",
            )
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise UnsupportedError("from", "only tables may stand in FROM", span=span)
        self.check_parts(node)
        if node.args.get("alias"):
            self.check_parts(node.args["alias"])
        name = ".".join(part.name for part in node.parts)
        on = self.on(join)
        using = tuple(
            Name(part.name, self.text.span(part))
            for part in (join.args.get("using") if join else None) or ()
        )
        if kind is JoinKind.LEFT and not on and not using:
            self.wrong(span, "join-condition", "LEFT JOIN needs ON or USING")
        return FromTable(name, node.alias or node.name, kind, on, using, span)

    def on(self, join: exp.Join | None) -> tuple[RawExpr, ...]:
        """The conditions after ON; sqlglot adds ``ON TRUE`` itself where none is written."""
        condition = join.args.get("on") if join else None
        if condition is None or (isinstance(condition, exp.Boolean) and condition.this):
            return ()
        return self.conjuncts(condition, "ON")

    # --- conditions and groups

    def conjuncts(self, node: exp.Expr, clause: str) -> tuple[RawExpr, ...]:
        parts: list[RawExpr] = []
        pending = [node]
        while pending:
            at = pending.pop()
            if isinstance(at, exp.And):
                pending += [at.expression, at.this]
            elif isinstance(at, exp.Paren) and isinstance(at.this, exp.And):
                pending.append(at.this)
            else:
                self.no_aggregate(at, clause)
                parts.append(self.raw(at))
        return tuple(parts)

    def no_aggregate(self, node: exp.Expr, clause: str) -> None:
        if contains_aggregate(node):
            self.wrong(
                self.text.span(node),
                "misplaced-aggregate",
                f"an aggregate has no place in {clause}",
                "aggregates stand alone, as measures",
            )

    def groups(self, node: exp.Select) -> tuple[RawExpr, ...]:
        group = node.args.get("group")
        if group is None:
            return ()
        parts = group.expressions
        for part in parts:
            if isinstance(part, exp.Cube | exp.Rollup | exp.GroupingSets):
                self.refuse(CLAUSES["cube"], part)
        self.check_parts(group)
        for part in parts:
            self.no_aggregate(part, "GROUP BY")
        return tuple(self.raw(part) for part in parts)

    def raw(self, node: exp.Expr) -> RawExpr:
        check_constructs(self.text, node)
        return raw(node, self.text)


def _is_plain(node: exp.Subquery) -> bool:
    return not any(value for key, value in node.args.items() if key != "this")
