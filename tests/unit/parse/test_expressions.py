"""What each spelling becomes: `expressions.txt` holds `written -> canonical :: type`.

A ? behind the type means nullable. `python -m tests.unit.parse.test_expressions` writes the right
hand sides anew; review the difference.
"""

from pathlib import Path

import pytest

from cubekeeper.parse import bind, bind_aggregate, is_aggregate, parse_raw
from cubekeeper.scalar.text import aggregate_to_sql, to_sql
from cubekeeper.source import Fragment
from tests.unit.scalar.expressions import SCOPE, written

FILE = Path(__file__).with_name("expressions.txt")


def result(text: str) -> str:
    raw = parse_raw(Fragment.of_text(text))
    if is_aggregate(raw):
        aggregate = bind_aggregate(raw, SCOPE)
        mark = "?" if aggregate.nullable else ""
        return f"{aggregate_to_sql(aggregate, written)} :: {aggregate.type}{mark}"
    expr = bind(raw, SCOPE)
    return f"{to_sql(expr, written)} :: {expr.type}{'?' if expr.nullable else ''}"


def cases() -> list[str]:
    lines = FILE.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("line", cases())
def test_expression(line: str) -> None:
    text, _, expected = line.partition(" -> ")
    assert result(text) == expected


def rewrite() -> None:
    out = []
    for line in FILE.read_text("utf-8").splitlines():
        text = line.partition(" -> ")[0]
        out.append(line if not line or line.startswith("#") else f"{text} -> {result(text)}")
    FILE.write_text("\n".join(out) + "\n", "utf-8")


if __name__ == "__main__":
    rewrite()
