"""Spark's rules for the types of results; the answers were read off Spark 4.2 itself."""

import pytest

from cubekeeper.scalar.types import arithmetic_type, common_type, comparable
from cubekeeper.schema import NULL, DataType, parse_type


def kind(text: str) -> DataType:
    return NULL if text == "void" else parse_type(text)


ARITHMETIC = """
int * decimal(12,2) = decimal(23,2)
decimal(38,10) * decimal(38,10) = decimal(38,6)
decimal(12,2) / decimal(12,2) = decimal(27,15)
decimal(12,2) + decimal(12,2) = decimal(13,2)
decimal(38,10) + decimal(12,2) = decimal(38,9)
decimal(38,10) - decimal(5,4) = decimal(38,9)
decimal(38,10) / decimal(12,2) = decimal(38,8)
decimal(12,2) % decimal(5,4) = decimal(5,4)
decimal(12,2) pmod decimal(5,4) = decimal(5,4)
bigint + decimal(12,2) = decimal(23,2)
bigint * decimal(38,10) = decimal(38,6)
bigint / decimal(12,2) = decimal(35,13)
tinyint + decimal(5,4) = decimal(8,4)
decimal(12,2) + double = double
decimal(12,2) * float = double
int / int = double
bigint / tinyint = double
float / float = double
tinyint + tinyint = tinyint
tinyint + smallint = smallint
int * bigint = bigint
int % bigint = bigint
float + float = float
float + tinyint = double
float + bigint = double
float * double = double
void + int = int
void / void = double
void * decimal(12,2) = decimal(25,4)
"""


@pytest.mark.parametrize("line", ARITHMETIC.strip().splitlines())
def test_arithmetic(line: str) -> None:
    left, operator, right, _, expected = line.split()
    assert str(arithmetic_type(operator, kind(left), kind(right))) == expected


COMMON = """
int bigint = bigint
int decimal(12,2) = decimal(12,2)
bigint decimal(12,2) = decimal(22,2)
decimal(12,2) decimal(38,10) = decimal(38,10)
decimal(38,0) decimal(38,20) = decimal(38,0)
decimal(30,10) decimal(38,2) = decimal(38,2)
bigint decimal(38,10) = decimal(38,10)
float int = double
float float = float
float double = double
decimal(12,2) float = double
date timestamp = timestamp
date timestamp_ntz = timestamp_ntz
timestamp timestamp_ntz = timestamp
void string = string
void void = void
int void decimal(3,1) = decimal(11,1)
"""


@pytest.mark.parametrize("line", COMMON.strip().splitlines())
def test_common(line: str) -> None:
    *types, _, expected = line.split()
    assert str(common_type(map(kind, types))) == expected
    assert str(common_type(map(kind, reversed(types)))) == expected


@pytest.mark.parametrize(
    "pair",
    ["int string", "date string", "boolean int", "date int", "binary string", "boolean string"],
)
def test_no_type_in_common(pair: str) -> None:
    left, right = map(kind, pair.split())
    assert common_type((left, right)) is None
    assert not comparable(left, right)
