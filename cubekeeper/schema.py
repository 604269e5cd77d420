"""Types, columns and tables, shared by both rivers. Type names are Spark SQL's."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from cubekeeper.source import Span


class Kind(Enum):
    """The families of values that cubekeeper knows, each with its Spark SQL name."""

    BOOLEAN = "boolean"
    TINYINT = "tinyint"
    SMALLINT = "smallint"
    INT = "int"
    BIGINT = "bigint"
    DECIMAL = "decimal"
    FLOAT = "float"
    DOUBLE = "double"
    STRING = "string"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"
    INTERVAL = "interval"
    NULL = "void"


MAX_DECIMAL_PRECISION: Final = 38


@dataclass(frozen=True, slots=True)
class DataType:
    """A column's type; precision and scale belong to decimals only.

    >>> str(decimal(12, 2)), str(BIGINT)
    ('decimal(12,2)', 'bigint')
    """

    kind: Kind
    precision: int = 0
    scale: int = 0

    def __post_init__(self) -> None:
        if self.kind is Kind.DECIMAL and not (
            1 <= self.precision <= MAX_DECIMAL_PRECISION and 0 <= self.scale <= self.precision
        ):
            raise ValueError(f"decimal({self.precision},{self.scale}) is not a Spark type")

    def __str__(self) -> str:
        if self.kind is Kind.DECIMAL:
            return f"decimal({self.precision},{self.scale})"
        return str(self.kind.value)

    @property
    def is_integer(self) -> bool:
        """Whether it is one of the four integer types."""
        return self.kind in _INTEGER_DIGITS

    @property
    def is_float(self) -> bool:
        """Whether its arithmetic is inexact."""
        return self.kind in (Kind.FLOAT, Kind.DOUBLE)

    @property
    def is_numeric(self) -> bool:
        """Whether arithmetic applies to it."""
        return self.is_integer or self.is_float or self.kind is Kind.DECIMAL

    @property
    def is_temporal(self) -> bool:
        """Whether it is a date or a timestamp."""
        return self.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)

    @property
    def as_decimal(self) -> DataType:
        """The decimal that holds every value of an exact numeric type."""
        if self.kind is Kind.DECIMAL:
            return self
        return DataType(Kind.DECIMAL, _INTEGER_DIGITS[self.kind], 0)


_INTEGER_DIGITS: Final = {Kind.TINYINT: 3, Kind.SMALLINT: 5, Kind.INT: 10, Kind.BIGINT: 20}

BOOLEAN: Final = DataType(Kind.BOOLEAN)
TINYINT: Final = DataType(Kind.TINYINT)
SMALLINT: Final = DataType(Kind.SMALLINT)
INT: Final = DataType(Kind.INT)
BIGINT: Final = DataType(Kind.BIGINT)
FLOAT: Final = DataType(Kind.FLOAT)
DOUBLE: Final = DataType(Kind.DOUBLE)
STRING: Final = DataType(Kind.STRING)
BINARY: Final = DataType(Kind.BINARY)
DATE: Final = DataType(Kind.DATE)
TIMESTAMP: Final = DataType(Kind.TIMESTAMP)
TIMESTAMP_NTZ: Final = DataType(Kind.TIMESTAMP_NTZ)
INTERVAL: Final = DataType(Kind.INTERVAL)
NULL: Final = DataType(Kind.NULL)


def decimal(precision: int, scale: int = 0) -> DataType:
    """An exact decimal type."""
    return DataType(Kind.DECIMAL, precision, scale)


_ALIASES: Final = {
    "bool": "boolean",
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "numeric": "decimal",
    "dec": "decimal",
    "timestamp_ltz": "timestamp",
}
_TYPE_TEXT: Final = re.compile(r"\s*([A-Za-z_]+)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*")
_DECLARABLE: Final = {kind.value: kind for kind in Kind if kind not in (Kind.INTERVAL, Kind.NULL)}

TYPE_NAMES: Final = tuple(sorted({*_DECLARABLE, *_ALIASES, "varchar", "char"}))


def parse_type(text: str) -> DataType:
    """Read a type in Spark SQL's words; raises `ValueError` with the reason.

    >>> parse_type("DECIMAL(12, 2)"), parse_type("long") == BIGINT
    (DataType(kind=<Kind.DECIMAL: 'decimal'>, precision=12, scale=2), True)
    >>> parse_type("decimal(50,2)")
    Traceback (most recent call last):
    ValueError: decimal(50,2) is not a Spark type
    """
    match = _TYPE_TEXT.fullmatch(text)
    if not match:
        raise ValueError(f"`{text}` is not a type")
    name, first, second = match[1].lower(), match[2], match[3]
    name = _ALIASES.get(name, name)
    if name in ("varchar", "char"):
        if first is None or second is not None:
            raise ValueError(f"`{name}` takes one length, as in {name}(20)")
        return STRING
    if name not in _DECLARABLE:
        raise ValueError(f"unknown type `{match[1]}`")
    if name == "decimal":
        return decimal(int(first or 10), int(second or 0))
    if first is not None:
        raise ValueError(f"`{name}` takes no length")
    return DataType(_DECLARABLE[name])


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a base table."""

    name: str
    type: DataType
    nullable: bool = True
    description: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)
