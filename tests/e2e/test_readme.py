"""The README's tour is real: every command in it is run, and what it shows must be printed.

A ``console`` block holds a command and its output. A line with nothing but ``…`` stands for any
number of lines left out. ``python tests/e2e/test_readme.py`` writes the outputs anew.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)^```$", re.M | re.S)
SKIPPED = "…\n"


def blocks() -> list[tuple[str, str]]:
    return [(match["command"], match["output"]) for match in BLOCK.finditer(README.read_text())]


def run(command: str) -> str:
    words = shlex.split(command)
    assert words[0] == "cubekeeper", command
    done = subprocess.run(
        [sys.executable, "-m", "cubekeeper", *words[1:]],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())


def pattern(output: str) -> str:
    return "(?:[^\n]*\n)*?".join(re.escape(part) for part in output.split(SKIPPED))


@pytest.mark.parametrize(("command", "output"), blocks(), ids=[command for command, _ in blocks()])
def test_the_readme_shows_what_is_printed(command, output):
    assert re.fullmatch(pattern(output), run(command)), run(command)


def test_the_readme_has_a_tour():
    assert len(blocks()) >= 5


def test_the_picture_in_the_readme_is_the_one_that_is_drawn(tmp_path):
    drawn = tmp_path / "lattice.svg"
    run(f"cubekeeper lattice show lattice/retail --format svg --output {shlex.quote(str(drawn))}")
    assert drawn.read_text() == (ROOT / "lattice/retail/lattice.svg").read_text()


def _renewed(match: re.Match[str]) -> str:
    """The block with its output as it is now; blocks that leave lines out are left alone."""
    if SKIPPED in match["output"]:
        return match[0]
    return f"```console\n$ {match['command']}\n{run(match['command'])}```"


if __name__ == "__main__":
    run("cubekeeper lattice show lattice/retail --format svg --output lattice/retail/lattice.svg")
    README.write_text(BLOCK.sub(_renewed, README.read_text()))
