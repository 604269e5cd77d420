"""Running a command line inside the test's own process, and a folder to run it in."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cubekeeper.cli.main import run

ROOT = Path(__file__).resolve().parents[3]
QUIET = ("CUBEKEEPER_WAREHOUSE", "CUBEKEEPER_DEBUG", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE")


@dataclass(frozen=True)
class Answer:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The JSON on stdout."""
        return json.loads(self.out)


Ask = Callable[..., Answer]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Ask:
    """Run a command line in the repository's folder, or in the one that was changed to."""
    for variable in QUIET:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)

    def answer(*args: object) -> Answer:
        capfd.readouterr()
        code = run([str(arg) for arg in args])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Answer(code, out, err)

    return answer
