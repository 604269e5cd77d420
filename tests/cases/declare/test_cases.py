"""Text in, text out: every refusal and every warning with its exact words.

Each `*.txt` holds cases of one topic::

    ## what the case is about
    YAML of the file `case.yml`
    -->
    what cubekeeper says about it

The tables of `base.yml` are there too, unless the title ends in `(alone)`. After a change of words
run with ``CUBEKEEPER_UPDATE_CASES=1`` and read the difference before keeping it.
"""

import os
import re
from pathlib import Path

import pytest

from cubekeeper.declare import load
from cubekeeper.errors import DeclarationErrors

HERE = Path(__file__).parent
BASE = HERE / "base.yml"


def _cases():
    for file in sorted(HERE.glob("*.txt")):
        _, *blocks = ("\n" + file.read_text()).split("\n## ")
        for block in blocks:
            title, _, rest = block.partition("\n")
            text, arrow, expected = rest.partition("\n-->\n")
            assert arrow, f"{file.name}: `{title}` has no -->"
            yield pytest.param(
                file, title, text + "\n", expected.strip("\n"), id=f"{file.stem}: {title}"
            )


def _said():
    try:
        cautions = load(Path()).cautions
    except DeclarationErrors as errors:
        return str(errors)
    return "\n\n".join(map(str, cautions)) or "accepted"


@pytest.mark.parametrize(("file", "title", "text", "expected"), list(_cases()))
def test_case(file, title, text, expected, tmp_path, monkeypatch):
    if not title.endswith("(alone)"):
        (tmp_path / "base.yml").write_text(BASE.read_text())
    (tmp_path / "case.yml").write_text(text)
    monkeypatch.chdir(tmp_path)
    said = _said()
    if os.environ.get("CUBEKEEPER_UPDATE_CASES"):
        before = f"\n## {title}\n{text}-->\n"
        whole = ("\n" + file.read_text()).replace(before + expected, f"{before}{said}\n")
        file.write_text(re.sub(r"\n+## ", "\n\n## ", whole).strip("\n") + "\n")
        expected = said
    assert said == expected


def test_titles_are_different():
    ids = [case.id for case in _cases()]
    assert len(ids) == len(set(ids))
