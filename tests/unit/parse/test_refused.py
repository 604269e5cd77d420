"""What is refused and how it is said: `refused.txt` holds SQL texts and their whole errors.

A case begins with `expression`, `measure` or `select` alone on a line, then the text, then `=>`,
then the error up to the next case. `python -m tests.unit.parse.test_refused` writes the errors
anew; review the difference.
"""

from pathlib import Path

import pytest

from cubekeeper.errors import CubekeeperError, ExitCode
from cubekeeper.parse import (
    bind,
    bind_aggregate,
    is_aggregate,
    parse_aggregate,
    parse_expression,
    parse_select,
)
from cubekeeper.source import Fragment
from tests.unit.scalar.expressions import SCOPE

FILE = Path(__file__).with_name("refused.txt")
KINDS = ("expression", "measure", "select")


def cases() -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    lines = FILE.read_text("utf-8").splitlines()
    starts = [i for i, line in enumerate(lines) if line in KINDS]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        middle = lines.index("=>", start)
        text, error = lines[start + 1 : middle], lines[middle + 1 : end]
        found.append((lines[start], "\n".join(text), "\n".join(error).strip("\n")))
    return found


def read(kind: str, text: str) -> None:
    fragment = Fragment.of_text(text)
    match kind:
        case "expression":
            parse_expression(fragment, SCOPE)
        case "measure":
            parse_aggregate(fragment, SCOPE)
        case _:
            for item in parse_select(fragment).items:
                use = bind_aggregate if is_aggregate(item.expr) else bind
                use(item.expr, SCOPE)


def refused(kind: str, text: str) -> CubekeeperError:
    with pytest.raises(CubekeeperError) as caught:
        read(kind, text)
    return caught.value


@pytest.mark.parametrize(("kind", "text", "expected"), cases())
def test_refused(kind: str, text: str, expected: str) -> None:
    error = refused(kind, text)
    assert str(error) == expected
    assert error.exit_code is ExitCode.INPUT
    assert error.span is not None


def rewrite() -> None:
    blocks = [f"{kind}\n{text}\n=>\n{refused(kind, text)}\n" for kind, text, _ in cases()]
    FILE.write_text("\n".join(blocks), "utf-8")


if __name__ == "__main__":
    rewrite()
