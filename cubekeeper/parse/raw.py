"""Expressions that are parsed but whose names are not resolved yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from cubekeeper.parse.aggregate import bind_measure, contains_aggregate
from cubekeeper.parse.bind import binder, name_parts
from cubekeeper.parse.binder import Scope
from cubekeeper.parse.dialect import parse_condition, read
from cubekeeper.parse.located import Text
from cubekeeper.parse.refuse import check_depth
from cubekeeper.scalar.aggregates import Aggregate
from cubekeeper.scalar.nodes import Expr
from cubekeeper.source import Fragment, Span


@dataclass(frozen=True, eq=False, slots=True)
class RawExpr:
    """An expression as written, opaque outside this room."""

    _node: exp.Expr = field(repr=False)
    _text: Text = field(repr=False)

    @property
    def span(self) -> Span:
        """Where it stands in the source."""
        return self._text.span(self._node)

    @property
    def text(self) -> str:
        """What was written."""
        extent = self._text.extent(self._node)
        whole = self._text.fragment.text
        return whole.strip() if extent is None else whole[slice(*extent)]

    def __repr__(self) -> str:
        return f"RawExpr({self.text!r})"


def raw(node: exp.Expr, text: Text) -> RawExpr:
    """Wrap a node of a tree that nobody changes; what is around it serves for positions only."""
    check_depth(text, node)
    return RawExpr(node, text)


def parse_raw(fragment: Fragment) -> RawExpr:
    """Parse one expression without resolving its names.

    >>> parse_raw(Fragment.of_text("qty * price + 1"))
    RawExpr('qty * price + 1')
    """
    text = read(fragment)
    return raw(parse_condition(text), text)


def bind(raw_expr: RawExpr, scope: Scope) -> Expr:
    """The typed expression, its names resolved in a scope.

    >>> from cubekeeper.scalar.nodes import ColumnRef
    >>> from cubekeeper.schema import INT
    >>> class Ints:
    ...     def resolve(self, parts, span):
    ...         return ColumnRef((), parts[-1], INT, False)
    >>> str(bind(parse_raw(Fragment.of_text("qty / 2")), Ints()).type)
    'double'
    """
    return binder(raw_expr._text, scope).bind(raw_expr._node)


def bind_aggregate(raw_expr: RawExpr, scope: Scope) -> Aggregate:
    """The aggregate that an expression is; anything else is refused.

    >>> from cubekeeper.scalar.nodes import ColumnRef
    >>> from cubekeeper.schema import INT
    >>> class Ints:
    ...     def resolve(self, parts, span):
    ...         return ColumnRef((), parts[-1], INT, False)
    >>> bind_aggregate(parse_raw(Fragment.of_text("SUM(qty)")), Ints()).function
    <AggregateFunction.SUM: 'sum'>
    """
    return bind_measure(binder(raw_expr._text, scope), raw_expr._node)


def is_aggregate(raw_expr: RawExpr) -> bool:
    """Whether an aggregate stands anywhere in an expression.

    >>> is_aggregate(parse_raw(Fragment.of_text("SUM(qty) / 2")))
    True
    """
    return contains_aggregate(raw_expr._node)


def column_parts(raw_expr: RawExpr) -> tuple[str, ...] | None:
    """The parts of the name when it is a plain column.

    >>> column_parts(parse_raw(Fragment.of_text("stores.city")))
    ('stores', 'city')
    """
    return name_parts(_bare(raw_expr._node))


def equality(raw_expr: RawExpr) -> tuple[RawExpr, RawExpr] | None:
    """The two sides of ``a = b``.

    >>> equality(parse_raw(Fragment.of_text("pos.storeID = stores.storeID")))
    (RawExpr('pos.storeID'), RawExpr('stores.storeID'))
    """
    node = _bare(raw_expr._node)
    if not isinstance(node, exp.EQ):
        return None
    return RawExpr(node.this, raw_expr._text), RawExpr(node.expression, raw_expr._text)


def ordinal(raw_expr: RawExpr) -> int | None:
    """The number when it is a plain integer, as in GROUP BY 1.

    >>> ordinal(parse_raw(Fragment.of_text("2")))
    2
    """
    node = raw_expr._node
    if isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdecimal():
        return int(str(node.this)[:9])
    return None


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def parse_expression(fragment: Fragment, scope: Scope) -> Expr:
    """The typed expression of a SQL text: `parse_raw`, then `bind`."""
    return bind(parse_raw(fragment), scope)


def parse_aggregate(fragment: Fragment, scope: Scope) -> Aggregate:
    """The aggregate of a SQL text: `parse_raw`, then `bind_aggregate`."""
    return bind_aggregate(parse_raw(fragment), scope)
