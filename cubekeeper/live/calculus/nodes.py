"""The ring calculus: every query is a function from its free variables to numbers.

The whole grammar::

    Query = Const(number)            the same number everywhere
          | Value(expr)              the number that a scalar expression gives; NULL counts 0
          | Cond(expr)               1 where the condition is TRUE, 0 where it is FALSE or NULL
          | Atom(kind, name, vars)   R(x, y): how often the row is in the relation, change or map
          | Mul(factors)             product, point by point: the natural join
          | Add(terms)               sum, point by point: the union
          | Sum(over, body)          the sum over all values of some variables: grouping
          | Let(var, expr)           1 where var is the value of the expression, else 0
          | Lift(var, body)          1 where var is the number that the body gives, else 0
          | Extreme(var, least, key, body)
                                     1 where var is the least (or greatest) key for which the body
                                     is not 0, or NULL where there is none; else 0
          | Exists(body)             1 where the body is not 0, else 0

Scalar expressions are those of `cubekeeper.scalar`, their columns being the variables. Variables
are compared as SQL compares groups: NULL is one value like others. SQL's three-valued logic lives
in `Cond` alone. Products and sums commute; `variables.modes` says which variables must be known
before a query can be evaluated, and which ones evaluating it finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from cubekeeper.scalar.nodes import ColumnRef, Expr

Number = int | Fraction
"""A ring value. Exact always: a double enters as the fraction it is."""

Var = ColumnRef
"""A variable is a column reference with an empty path."""


class AtomKind(Enum):
    """What an atom reads."""

    RELATION = "relation"
    DELTA = "delta"
    MAP = "map"


class _Node:
    """Compares by structure and remembers its hash: nodes are looked up often."""

    __slots__ = ()

    def __hash__(self) -> int:
        known = self.__dict__.get("_hash")
        if known is None:
            known = hash((type(self).__name__, self._fields()))
            self.__dict__["_hash"] = known
        return int(known)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        assert isinstance(other, _Node)
        return self._fields() == other._fields()

    def _fields(self) -> tuple[object, ...]:
        known = self.__dict__.get("_parts")
        if known is None:
            known = tuple(v for name, v in self.__dict__.items() if name != "_hash")
            self.__dict__["_parts"] = known
        return tuple(known)


@dataclass(frozen=True, eq=False)
class Const(_Node):
    """The same number everywhere."""

    value: Number


@dataclass(frozen=True, eq=False)
class Value(_Node):
    """The number that a scalar expression gives, 0 for NULL."""

    expr: Expr


@dataclass(frozen=True, eq=False)
class Cond(_Node):
    """1 where a condition is TRUE."""

    expr: Expr


@dataclass(frozen=True, eq=False)
class Atom(_Node):
    """The multiplicity of a row in a named collection."""

    kind: AtomKind
    name: str
    vars: tuple[Var, ...]


@dataclass(frozen=True, eq=False)
class Mul(_Node):
    """A product of two or more factors."""

    factors: tuple[Query, ...]


@dataclass(frozen=True, eq=False)
class Add(_Node):
    """A sum of two or more terms."""

    terms: tuple[Query, ...]


@dataclass(frozen=True, eq=False)
class Sum(_Node):
    """The sum over all values of the variables in `over`, which are local to it."""

    over: tuple[str, ...]
    body: Query


@dataclass(frozen=True, eq=False)
class Let(_Node):
    """1 where a variable is the value of an expression."""

    var: Var
    expr: Expr


@dataclass(frozen=True, eq=False)
class Lift(_Node):
    """1 where a variable is the number that a query gives."""

    var: Var
    body: Query


@dataclass(frozen=True, eq=False)
class Extreme(_Node):
    """1 where a variable is the least or greatest `key` in the support of a query."""

    var: Var
    least: bool
    key: Var
    body: Query


@dataclass(frozen=True, eq=False)
class Exists(_Node):
    """1 on the support of a query."""

    body: Query


Query = Const | Value | Cond | Atom | Mul | Add | Sum | Let | Lift | Extreme | Exists

ZERO = Const(0)
ONE = Const(1)
