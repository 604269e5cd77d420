"""What every form of expression needs while names and types are found: scope, errors, recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

from sqlglot import exp

from cubekeeper.errors import InputError, UnsupportedError
from cubekeeper.parse.located import Text
from cubekeeper.parse.refuse import refusal
from cubekeeper.scalar.build import TypeProblem, call
from cubekeeper.scalar.nodes import Expr
from cubekeeper.source import Span


class Scope(Protocol):
    """What column names mean where an expression stands."""

    def resolve(self, parts: tuple[str, ...], span: Span) -> Expr:
        """The expression that a name such as ``city`` or ``stores.city`` stands for.

        Raises `InputError` for an unknown or ambiguous name.
        """
        ...


@dataclass(frozen=True)
class Binder:
    """Turns nodes of one text into expressions of one scope."""

    text: Text
    scope: Scope
    forms: Mapping[type[exp.Expr], Form]

    def bind(self, node: exp.Expr) -> Expr:
        """The typed expression of a node; a part of it that no form reads is refused."""
        form = self.forms.get(type(node))
        if form is None or any(
            value and name != "negate" and name not in form.parts
            for name, value in node.args.items()
        ):
            self.refuse(node)
        return self.sided(node, form.bind(self, node))

    def sided(self, node: exp.Expr, built: Expr) -> Expr:
        """The opposite, where NOT LIKE and the like are kept as a flag."""
        return call("not", built) if node.args.get("negate") else built

    def binds(self, nodes: Sequence[exp.Expr]) -> list[Expr]:
        """The expressions of several nodes."""
        return [self.bind(node) for node in nodes]

    # --- errors

    def wrong(self, node: exp.Expr, code: str, message: str, hint: str | None = None) -> NoReturn:
        """Raise an input error at a node."""
        raise InputError(code, message, span=self.text.span(node), hint=hint)

    def unsupported(
        self, node: exp.Expr, code: str, message: str, hint: str | None = None
    ) -> NoReturn:
        """Raise an unsupported error at a node."""
        raise UnsupportedError(code, message, span=self.text.span(node), hint=hint)

    def refuse(self, node: exp.Expr) -> NoReturn:
        """Raise the error of a construct that has no meaning here."""
        raise refusal(self.text, node)

    def typed(self, node: exp.Expr, parts: Sequence[exp.Expr], build: Callable[[], Expr]) -> Expr:
        """Build, and put a type problem where the offending part stands."""
        try:
            return build()
        except TypeProblem as problem:
            at = node
            if problem.argument is not None and problem.argument < len(parts):
                at = parts[problem.argument]
            raise self.type_error(at, problem) from None

    def type_error(self, node: exp.Expr, problem: TypeProblem) -> InputError:
        """A type problem at a node."""
        return InputError(
            "type-error", problem.message, span=self.text.span(node), hint=problem.hint
        )

    def call(self, node: exp.Expr, name: str, *parts: exp.Expr) -> Expr:
        """A canonical function over bound parts."""
        args = self.binds(parts)
        return self.typed(node, parts, lambda: call(name, *args))


@dataclass(frozen=True)
class Form:
    """How one class of nodes is bound, and the parts of such a node that this reads."""

    bind: Callable[[Binder, exp.Expr], Expr]
    parts: frozenset[str]
