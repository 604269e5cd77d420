"""Where things stand in a SQL text: its tokens, and the stretch of text behind a node."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from cubekeeper.errors import InputError
from cubekeeper.source import Fragment, Span

MAX_NESTING: Final = 30


@dataclass(frozen=True, eq=False)
class Text:
    """A fragment with its tokens."""

    fragment: Fragment
    tokens: tuple[Token, ...]

    @cached_property
    def _starts(self) -> list[int]:
        return [token.start for token in self.tokens]

    def token_at(self, offset: int) -> int:
        """The index of the token that covers an offset."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def token_span(self, token: Token) -> Span:
        """Where a token stands in the source."""
        return self.fragment.span(token.start, token.end + 1)

    def extent(self, node: exp.Expr) -> tuple[int, int] | None:
        """The offsets of a node's text, or None where sqlglot kept no position.

        The hull of all positions inside the node, widened to whole parentheses and CASE … END.
        """
        places = [
            (part.meta["start"], part.meta["end"])
            for part in node.walk()
            if "start" in part.meta and "end" in part.meta
        ]
        if not places:
            return None
        first = self.token_at(min(start for start, _ in places))
        last = self.token_at(max(end for _, end in places))
        first, last = self._balanced(*self._prefixed(node, first, last))
        while last + 1 < len(self.tokens) and all(
            token.token_type is TokenType.STRING for token in self.tokens[last : last + 2]
        ):
            last += 1  # the parts of 'it''s'
        return self.tokens[first].start, self.tokens[last].end + 1

    def strings_at(self, node: exp.Expr) -> tuple[Token, ...] | None:
        """The string tokens of a node that is several strings in a row."""
        parts = node.expressions
        if not parts or "start" not in parts[0].meta:
            return None
        first = self.token_at(parts[0].meta["start"])
        tokens = self.tokens[first : first + len(parts)]
        plain = all(token.token_type is TokenType.STRING for token in tokens)
        return (
            tokens
            if plain and [token.text for token in tokens] == [p.name for p in parts]
            else None
        )

    def _prefixed(self, node: exp.Expr, first: int, last: int) -> tuple[int, int]:
        """Take in the words in front of a node that carry no position."""
        wanted = _PREFIXES.get(type(node), ())
        for at in range(first - 1, -1, -1):
            kind = self.tokens[at].token_type
            if kind in wanted:
                return at, last
            if not wanted or kind not in _SKIPPED:
                break
        return first, last

    def _balanced(self, first: int, last: int) -> tuple[int, int]:
        depth = lowest = 0
        for token in self.tokens[first : last + 1]:
            depth += NESTING.get(token.token_type, 0)
            lowest = min(lowest, depth)
        missing_left, missing_right = -lowest, depth - lowest
        first = self._reach(first, -1, missing_left)
        return first, self._reach(last, 1, missing_right)

    def _reach(self, index: int, step: int, missing: int) -> int:
        """Move on until as many brackets are opened (or closed) as are missing."""
        best = index
        while missing > 0 and 0 <= index + step < len(self.tokens):
            index += step
            missing += NESTING.get(self.tokens[index].token_type, 0) * step
            best = index
        return best

    def span(self, node: exp.Expr) -> Span:
        """Where a node stands in the source; that of what is around it where nothing is known."""
        at: exp.Expr | None = node
        while at is not None:
            extent = self.extent(at)
            if extent is not None:
                return self.fragment.span(*extent)
            at = at.parent
        return self.fragment.span()


NESTING: Final[Mapping[TokenType, int]] = {
    TokenType.L_PAREN: 1,
    TokenType.R_PAREN: -1,
    TokenType.L_BRACKET: 1,
    TokenType.R_BRACKET: -1,
    TokenType.CASE: 1,
    TokenType.END: -1,
}
_PREFIXES: Final[Mapping[type[exp.Expr], tuple[TokenType, ...]]] = {
    exp.Case: (TokenType.CASE,),
    exp.Not: (TokenType.NOT,),
    exp.Neg: (TokenType.DASH,),
    exp.Paren: (TokenType.L_PAREN,),
    exp.Subquery: (TokenType.L_PAREN,),
    exp.Exists: (TokenType.EXISTS,),
    exp.Select: (TokenType.SELECT,),
}
_SKIPPED: Final = frozenset(
    {TokenType.L_PAREN, TokenType.WHEN, TokenType.SELECT, TokenType.DISTINCT}
)


def too_deep(span: Span) -> InputError:
    """The error of an expression that is nested beyond reason."""
    return InputError(
        "too-deep",
        f"this is nested more than {MAX_NESTING} levels deep",
        span=span,
        hint="name parts of it as computed columns",
    )
