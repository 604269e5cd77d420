"""Calculus and M3 text to queries and programs; the printed form reads back to the same value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NoReturn

from cubekeeper.errors import InputError, did_you_mean
from cubekeeper.live.calculus.build import (
    add,
    cond,
    const,
    delta_relation,
    exists,
    extreme,
    let,
    lift,
    map_atom,
    mul,
    neg,
    relation,
    sum_over,
    value,
    var,
)
from cubekeeper.live.calculus.nodes import Query, Var
from cubekeeper.live.calculus.types import ring_type
from cubekeeper.live.calculus.variables import modes
from cubekeeper.live.m3.nodes import (
    Effect,
    Event,
    MapDecl,
    Program,
    Relation,
    Sorting,
    Statement,
    Trigger,
    View,
)
from cubekeeper.parse.raw import parse_expression
from cubekeeper.scalar.nodes import Expr
from cubekeeper.schema import DataType, parse_type
from cubekeeper.source import Fragment, Span

_TOKEN: Final = re.compile(
    r"\s+|--[^\n]*|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|`(?P<quoted>(?:[^`]|``)+)`"
    r"|(?P<number>\d+(?:\.\d+|/\d+)?)|(?P<sign>:=|\+=|[-+*(){}\[\],;:])"
)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def parse_query(
    fragment: Fragment,
    relations: Mapping[str, tuple[Var, ...]],
    maps: Mapping[str, tuple[Var, ...]] | None = None,
    known: Mapping[str, Var] | None = None,
) -> Query:
    """The query of a text, given the columns of its relations and the keys of its maps.

    >>> from cubekeeper.live.calculus.text import to_text
    >>> columns = {"R": (var("a"), var("b"))}
    >>> to_text(parse_query(Fragment.of_text("Sum[x](R(x, y) * {y} * [x < 3])"), columns))
    'Sum[x](R(x, y) * {y} * [x < 3])'
    """
    reader = _Reader(fragment, dict(relations), dict(maps or {}), dict(known or {}))
    query = reader.sum()
    reader.end()
    return query


def parse_program(fragment: Fragment) -> Program:
    """The program of an M3 text."""
    return _Reader(fragment, {}, {}, {}).program()


@dataclass
class _Reader:
    fragment: Fragment
    relations: dict[str, tuple[Var, ...]]
    maps: dict[str, tuple[Var, ...]]
    vars: dict[str, Var]
    at: int = 0
    declared: list[Relation] = field(default_factory=list)

    # --- tokens

    def peek(self) -> _Token:
        text, at = self.fragment.text, self.at
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                self.wrong(f"`{text[at]}` is not understood", at, at + 1)
            if found.lastgroup is not None:
                content = (found[found.lastgroup] or "").replace("``", "`")
                kind = "name" if found.lastgroup == "quoted" else found.lastgroup
                word = content if kind != "sign" else found[0]
                return _Token(kind, word, found.start(), found.end())
            at = found.end()
        return _Token("end", "", len(text), len(text))

    def next(self) -> _Token:
        token = self.peek()
        self.at = token.end
        return token

    def span(self, start: int, end: int) -> Span:
        return self.fragment.span(start, max(end, start + 1))

    def wrong(self, message: str, start: int, end: int, hint: str | None = None) -> NoReturn:
        raise InputError("m3-syntax", message, span=self.span(start, end), hint=hint)

    def expect(self, text: str) -> _Token:
        token = self.next()
        if token.text != text:
            self.wrong(f"`{text}` belongs here, not `{token.text}`", token.start, token.end)
        return token

    def accept(self, text: str) -> bool:
        if self.peek().text == text and self.peek().kind != "end":
            self.next()
            return True
        return False

    def name(self) -> str:
        token = self.next()
        if token.kind != "name":
            self.wrong(f"a name belongs here, not `{token.text}`", token.start, token.end)
        return token.text

    def end(self) -> None:
        token = self.peek()
        if token.kind != "end":
            self.wrong(f"`{token.text}` is too much here", token.start, token.end)

    def listed(self, read: Callable[[], str], close: str) -> list[str]:
        found: list[str] = []
        while not self.accept(close):
            if found:
                self.expect(",")
            found.append(read())
        return found

    # --- queries

    def sum(self) -> Query:
        terms = [self.term()]
        while self.peek().text in ("+", "-") and self.peek().kind == "sign":
            negative = self.next().text == "-"
            term = self.term()
            terms.append(neg(term) if negative else term)
        return add(*terms)

    def term(self) -> Query:
        negative = self.accept("-")
        parts = [self.factor()]
        while self.accept("*"):
            parts.append(self.factor())
        product = mul(*parts)
        return neg(product) if negative else product

    def factor(self) -> Query:
        token = self.peek()
        if token.kind == "number":
            self.next()
            return const(Fraction(token.text))
        if token.text == "{":
            return value(self.scalar("{", "}"))
        if token.text == "[":
            return cond(self.scalar("[", "]"))
        if token.text == "-":
            return self.term()
        if token.text == "(":
            return self.parenthesis()
        return self.named()

    def parenthesis(self) -> Query:
        self.expect("(")
        start = self.at
        if self.peek().kind == "name":
            name = self.name()
            if self.accept(":="):
                return self.binding(name)
            if self.peek().text == "is":
                self.next()
                expr = self.scalar("{", "}")
                self.expect(")")
                return let(self.variable(name, expr.type, nullable=expr.nullable), expr)
        self.at = start
        query = self.sum()
        self.expect(")")
        return query

    def binding(self, name: str) -> Query:
        start = self.at
        if self.peek().text in ("min", "max") and self.peek().kind == "name":
            least = self.next().text == "min"
            if self.peek().kind == "name":
                key_name = self.name()
                self.expect("of")
                body = self.sum()
                self.expect(")")
                key = self.vars.get(key_name)
                if key is None:
                    self.wrong(f"nothing finds `{key_name}`", start, self.at)
                return extreme(self.variable(name, key.type, nullable=True), key, body, least=least)
            self.at = start
        body = self.sum()
        self.expect(")")
        return lift(self.variable(name, ring_type(body), nullable=False), body)

    def named(self) -> Query:
        token = self.peek()
        name = self.name()
        if name == "Sum" and self.peek().text == "[":
            self.expect("[")
            kept = frozenset(self.listed(self.name, "]"))
            self.expect("(")
            body = self.sum()
            self.expect(")")
            return sum_over(sorted(modes(body)[1] - kept), body)
        if name == "Exists" and self.peek().text == "(":
            self.expect("(")
            body = self.sum()
            self.expect(")")
            return exists(body)
        if name == "delta" and self.peek().kind == "name":
            name = self.name()
            return delta_relation(name, *self.columns(name, self.relations, "(", ")", token))
        if self.peek().text == "[":
            return map_atom(name, *self.columns(name, self.maps, "[", "]", token))
        return relation(name, *self.columns(name, self.relations, "(", ")", token))

    def columns(
        self, name: str, known: Mapping[str, tuple[Var, ...]], first: str, last: str, token: _Token
    ) -> list[Var]:
        if name not in known:
            what = "map" if first == "[" else "relation"
            hint = did_you_mean(name, known)
            self.wrong(f"there is no {what} `{name}`", token.start, token.end, hint)
        self.expect(first)
        names = self.listed(self.name, last)
        types = known[name]
        if len(names) != len(types):
            self.wrong(f"`{name}` has {len(types)} columns, not {len(names)}", token.start, self.at)
        return [
            self.variable(n, t.type, nullable=t.nullable) for n, t in zip(names, types, strict=True)
        ]

    def variable(self, name: str, type: DataType, *, nullable: bool) -> Var:
        known = self.vars.setdefault(name, var(name, type, nullable=nullable))
        return var(name, known.type if known.type != type else type, nullable=nullable)

    def scalar(self, first: str, last: str) -> Expr:
        """The SQL between brackets; brackets inside of it are counted."""
        start = self.expect(first).end
        depth, at, quote = 1, start, ""
        text = self.fragment.text
        while at < len(text) and depth:
            char = text[at]
            if quote:
                at += char == "\\"
                quote = "" if char == quote else quote
            elif char in "'`":
                quote = char
            else:
                depth += (char == first) - (char == last)
            at += 1
        if depth:
            self.wrong(f"`{first}` is never closed", start - 1, start)
        self.at = at
        inner = Fragment.of_text(text[start : at - 1], self.fragment.span().source.name)
        return parse_expression(inner, self)

    def resolve(self, parts: tuple[str, ...], span: Span) -> Expr:
        """A variable of the query."""
        found = self.vars.get(parts[-1])
        if found is None:
            hint = did_you_mean(parts[-1], self.vars)
            raise InputError(
                "m3-scope", f"nothing finds the variable `{parts[-1]}`", span=span, hint=hint
            )
        return found

    # --- programs

    def program(self) -> Program:
        maps: list[MapDecl] = []
        triggers: list[Trigger] = []
        views: list[View] = []
        while self.peek().kind != "end":
            token = self.next()
            self.vars = {}
            match token.text:
                case "stream" | "static":
                    self.declared.append(self.table(token.text == "static"))
                case "map":
                    maps.append(self.map())
                case "on":
                    triggers.append(self.trigger())
                case "view":
                    views.append(self.view())
                case _:
                    self.wrong(
                        f"`{token.text}` begins no declaration",
                        token.start,
                        token.end,
                        "stream, static, map, on and view do",
                    )
        return Program(tuple(self.declared), tuple(maps), tuple(triggers), tuple(views))

    def table(self, static: bool) -> Relation:
        name = self.name()
        self.expect("(")
        columns = self.typed(")")
        key: tuple[str, ...] = ()
        if self.accept("key"):
            self.expect("(")
            key = tuple(self.listed(self.name, ")"))
        self.expect(";")
        self.relations[name] = columns
        return Relation(name, columns, static, key)

    def typed(self, close: str) -> tuple[Var, ...]:
        found: list[Var] = []
        while not self.accept(close):
            if found:
                self.expect(",")
            found.append(self.typed_name())
        return tuple(found)

    def typed_name(self) -> Var:
        name = self.name()
        start = self.peek().start
        text = self.name()
        if self.accept("("):
            text += f"({self.next().text}"
            if self.accept(","):
                text += f",{self.next().text}"
            self.expect(")")
            text += ")"
        try:
            kind = parse_type(text)
        except ValueError as problem:
            self.wrong(str(problem), start, self.at)
        nullable = True
        if self.accept("not"):
            self.expect("null")
            nullable = False
        return var(name, kind, nullable=nullable)

    def map(self) -> MapDecl:
        name = self.name()
        self.expect("[")
        keys = self.typed("]")
        self.expect(":")
        kind = self.typed_type()
        self.expect(":=")
        self.vars = {key.column: key for key in keys}
        definition = self.sum()
        self.expect(";")
        self.maps[name] = keys
        return MapDecl(name, keys, kind, definition)

    def typed_type(self) -> DataType:
        at = self.at
        self.at = at
        saved = self.fragment.text[at:].lstrip()
        found = re.match(r"[A-Za-z_]+\s*(\(\s*\d+\s*(,\s*\d+\s*)?\))?", saved)
        if found is None:
            self.wrong("a type belongs here", at, at + 1)
        offset = len(self.fragment.text[at:]) - len(saved)
        self.at = at + offset + found.end()
        try:
            return parse_type(found[0])
        except ValueError as problem:
            self.wrong(str(problem), at + offset, self.at)

    def trigger(self) -> Trigger:
        word = self.next()
        if word.text == "batch":
            event, name, args = Event.BATCH, self.name(), []
        elif word.text in ("insert", "delete"):
            event = Event.INSERT if word.text == "insert" else Event.DELETE
            self.expect("into" if event is Event.INSERT else "from")
            token = self.peek()
            name = self.name()
            args = self.columns(name, self.relations, "(", ")", token)
        else:
            self.wrong("batch, insert or delete belongs here", word.start, word.end)
        self.expect("{")
        statements: list[Statement] = []
        while not self.accept("}"):
            self.vars = {arg.column: arg for arg in args}
            statements.append(self.statement())
        return Trigger(event, name, tuple(args), tuple(statements))

    def statement(self) -> Statement:
        token = self.peek()
        name = self.name()
        keys = self.columns(name, self.maps, "[", "]", token)
        effect = self.next()
        if effect.text not in ("+=", ":="):
            self.wrong("+= or := belongs here", effect.start, effect.end)
        query = self.sum()
        self.expect(";")
        return Statement(name, tuple(keys), Effect(effect.text), query)

    def view(self) -> View:
        name = self.name()
        self.expect("(")
        columns: list[Var] = []
        titles: list[str] = []
        hidden = False
        while not self.accept(")"):
            if columns and not hidden and self.accept(";"):
                hidden = True
            elif columns:
                self.expect(",")
            column = self.typed_name()
            columns.append(column)
            if not hidden:
                titles.append(self.name() if self.accept("as") else column.column)
        self.expect(":")
        self.vars = {c.column: c for c in columns}
        query = self.sum()
        order, limit, offset = self.ordering()
        self.expect(";")
        return View(name, tuple(columns), tuple(titles), query, order, limit, offset)

    def ordering(self) -> tuple[tuple[Sorting, ...], int | None, int]:
        order: list[Sorting] = []
        limit, offset = None, 0
        if self.accept("order"):
            self.expect("by")
            while True:
                column = int(self.next().text) - 1
                descending = self.accept("desc")
                self.expect("nulls")
                order.append(Sorting(column, descending, self.next().text == "first"))
                if not self.accept(","):
                    break
        if self.accept("limit"):
            limit = int(self.next().text)
        if self.accept("offset"):
            offset = int(self.next().text)
        return tuple(order), limit, offset
