"""Spark SQL as sqlglot reads it for us: tokens and trees, or an error that says where and why.

sqlglot rewrites many functions while it parses (``year(d)`` becomes ``Year(TsOrDsToDate(d))``). Our
reader keeps every call as it was written, except the few whose arguments have a syntax of their
own, so that names are looked up in one table: ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

from cubekeeper.errors import InputError, UnsupportedError
from cubekeeper.parse.located import MAX_NESTING, NESTING, Text, too_deep
from cubekeeper.scalar.functions import NONDETERMINISTIC
from cubekeeper.source import Fragment, Span

MAX_LENGTH: Final = 100_000

_OWN_SYNTAX: Final = ("CAST", "TRY_CAST", "EXTRACT", "SUBSTRING", "SUBSTR", "TRIM", "POSITION")


def _placed(
    parse: Callable[[SparkParser], exp.Expr],
) -> Callable[[SparkParser], exp.Expr]:
    """Remember where the name of a function with its own syntax stands."""

    def parse_and_place(parser: SparkParser) -> exp.Expr:
        name = parser._tokens[parser._index - 2]
        return parse(parser).update_positions(name)

    return parse_and_place


class _Parser(SparkParser):
    FUNCTIONS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {
        name: _placed(SparkParser.FUNCTION_PARSERS[name]) for name in _OWN_SYNTAX
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": lambda self: self._parse_case()}
    COLUMN_OPERATORS: ClassVar = {
        token: SparkParser.COLUMN_OPERATORS[token] for token in (TokenType.DOT, TokenType.DCOLON)
    }
    PRIMARY_PARSERS: ClassVar = {
        **SparkParser.PRIMARY_PARSERS,
        TokenType.NULL: lambda _, token: exp.Null().update_positions(token),
        TokenType.TRUE: lambda _, token: exp.Boolean(this=True).update_positions(token),
        TokenType.FALSE: lambda _, token: exp.Boolean(this=False).update_positions(token),
    }

    def _parse_interval(self, *args: Any, **kwargs: Any) -> exp.Add | exp.Interval | None:
        """Remember where an interval stands; sqlglot makes its number anew."""
        first = self._curr
        interval = super()._parse_interval(*args, **kwargs)
        if interval is not None:
            interval.update_positions(first)
            interval.meta["end"] = self._prev.end
        return interval

    def _warn_unsupported(self) -> None:
        """Say nothing: what sqlglot cannot read is refused by us."""


class CubekeeperSpark(Spark):
    """Registered with sqlglot under its own name, beside Spark."""

    Parser = _Parser


_SPARK: Final = CubekeeperSpark()


def read(fragment: Fragment) -> Text:
    """Tokenize a fragment; refuses what is empty, too long, too deep, or never expressible."""
    if len(fragment.text) > MAX_LENGTH:
        raise InputError(
            "too-long",
            f"this SQL text has {len(fragment.text):,} characters, more than {MAX_LENGTH:,}",
            span=fragment.span(0, 1),
        )
    try:
        text = Text(fragment, tuple(_SPARK.tokenize(fragment.text)))
    except TokenError as error:
        raise _token_error(fragment, error) from None
    if not text.tokens:
        raise InputError("syntax", "SQL text is missing here", span=fragment.span())
    _check_nesting(text)
    _check_words(text)
    return text


def _token_error(fragment: Fragment, error: TokenError) -> InputError:
    found = re.search(r"Missing (\S+) from \d+:(\d+)", str(error.__cause__))
    if not found:
        return InputError("syntax", "this is not SQL text", span=fragment.span())
    start = min(int(found[2]), max(0, len(fragment.text) - 1))
    return InputError(
        "syntax",
        f"a text that begins with {found[1]} is never closed",
        span=fragment.span(start, start + 1),
        hint=r"inside a string write a quote as \'" if found[1] == "'" else None,
    )


def _check_nesting(text: Text) -> None:
    depth = 0
    for token in text.tokens:
        depth += NESTING.get(token.token_type, 0)
        if depth > MAX_NESTING:
            raise too_deep(text.token_span(token))


_NOW_TOKENS: Final = frozenset(
    token for token in SparkParser.NO_PAREN_FUNCTIONS if token is not TokenType.CURRENT_ROLE
)
_PARAMETER_TOKENS: Final = frozenset(
    {TokenType.PLACEHOLDER, TokenType.PARAMETER, TokenType.COLON, TokenType.L_BRACE}
)


def _check_words(text: Text) -> None:
    """Refuse CURRENT_DATE, parameters and the like here: they leave no position in the tree."""
    previous = TokenType.COMMA
    for token, following in zip(text.tokens, (*text.tokens[1:], None), strict=True):
        if token.token_type in _NOW_TOKENS and previous is not TokenType.DOT:
            raise nondeterministic(token.text, text.token_span(token))
        if token.token_type in _PARAMETER_TOKENS:
            raise UnsupportedError(
                "parameter",
                "a declaration has no parameters",
                span=text.token_span(token),
                hint="write the value itself",
            )
        if following and (token.text.upper(), following.text.upper()) == ("WITHOUT", "TIME"):
            raise UnsupportedError(
                "unsupported-syntax",
                "types WITHOUT TIME ZONE are written timestamp_ntz",
                span=text.token_span(token),
            )
        previous = token.token_type


def nondeterministic(name: str, span: Span) -> UnsupportedError:
    """The error of a function whose value does not follow from its arguments."""
    reason = NONDETERMINISTIC.get(name.lower(), "depends on more than the data")
    return UnsupportedError(
        "nondeterministic",
        f"`{name.lower()}` {reason}",
        span=span,
        hint="put the value into a column when the row is written",
    )


def parse_condition(text: Text) -> exp.Expr:
    """The tree of one scalar or aggregate expression."""
    first = text.tokens[0]
    if first.token_type in (TokenType.SELECT, TokenType.WITH):
        raise InputError(
            "syntax",
            "an expression belongs here, not a query",
            span=text.token_span(first),
        )
    return _parsed(
        text,
        lambda parser: parser.parse_into(exp.Condition, list(text.tokens), text.fragment.text),
    )


def parse_statement(text: Text) -> exp.Expr:
    """The tree of one statement."""
    return _parsed(text, lambda parser: parser.parse(list(text.tokens), text.fragment.text))


def _parsed(text: Text, parse: Callable[[_Parser], list[exp.Expr | None]]) -> exp.Expr:
    _check_single(text)
    try:
        trees = parse(_Parser(dialect=_SPARK, error_level=ErrorLevel.IMMEDIATE))
    except ParseError as error:
        raise _parse_error(text, error) from None
    except RecursionError:
        raise too_deep(text.fragment.span()) from None
    except Exception:  # sqlglot trips over some texts that are not SQL
        raise InputError("syntax", "this is not valid SQL", span=text.fragment.span()) from None
    tree = trees[0] if trees else None
    if tree is None:
        raise InputError("syntax", "SQL text is missing here", span=text.fragment.span())
    return tree


def _check_single(text: Text) -> None:
    for index, token in enumerate(text.tokens):
        if token.token_type is TokenType.SEMICOLON and index + 1 < len(text.tokens):
            raise InputError(
                "several-statements",
                "one statement belongs here, not several",
                span=text.token_span(text.tokens[index + 1]),
            )


def _parse_error(text: Text, error: ParseError) -> InputError:
    details = error.errors[0] if error.errors else {}
    line, column = details.get("line"), details.get("col")
    description = str(details.get("description") or "this is not valid SQL")
    if not isinstance(line, int) or not isinstance(column, int):
        return InputError("syntax", _plain(description, None), span=text.fragment.span())
    token = next(
        (token for token in text.tokens if (token.line, token.col) == (line, column)),
        text.tokens[-1],
    )
    return InputError("syntax", _plain(description, token.text), span=text.token_span(token))


def _plain(description: str, found: str | None) -> str:
    """sqlglot's message in the words of someone who does not know its classes."""
    where = f" near `{found}`" if found else ""
    if description.startswith("Required keyword"):
        return f"something is missing in this SQL{where}"
    if description.startswith("Expecting"):
        return f"{description.removeprefix('Expecting').strip()} is missing in this SQL{where}"
    return f"this SQL is not understood{where}"
