"""What the repository promises before any room works: light imports, clean locks, one version."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import cubekeeper

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKED = {  # lock file -> the extra it pins on top of the runtime
    "requirements.lock": None,
    "requirements-dev.lock": "dev",
    "requirements-airflow.lock": "airflow",
}


def run(*command: str) -> str:
    """Run a command in the repository, free of an outer make, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pins(lock: str) -> list[Requirement]:
    lines = (ROOT / lock).read_text().splitlines()
    return [Requirement(line.rstrip("\\ ")) for line in lines if not line.startswith(" ")]


def declared(extra: str | None) -> list[Requirement]:
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *PROJECT["dependency-groups"]["build"]]
    if extra is not None:
        wanted += project["optional-dependencies"][extra]
    return [Requirement(line) for line in wanted]


def test_importing_the_package_imports_nothing_heavy():
    loaded = run(sys.executable, "-c", "import sys, cubekeeper; print(*sys.modules)").split()
    heavy = {"airflow", "click", "duckdb", "pydantic", "pyspark", "sqlglot", "yaml"}
    assert heavy.intersection(loaded) == set()


def test_the_version_is_written_the_same_twice():
    assert cubekeeper.__version__ == PROJECT["project"]["version"]


@pytest.mark.parametrize("lock", LOCKED)
def test_a_lock_holds_pins_and_hashes_and_nothing_else(lock):
    pin = r"[a-z0-9-]+==[\w.!+]+( ; [\w\s.'*()=<>!]+)? \\"
    line_hash = r"    --hash=sha256:[0-9a-f]{64}( \\)?"
    lines = (ROOT / lock).read_text().splitlines()
    assert lines
    assert [line for line in lines if not re.fullmatch(f"{pin}|{line_hash}", line)] == []


@pytest.mark.parametrize(("lock", "extra"), LOCKED.items())
def test_a_lock_pins_what_the_project_declares(lock, extra):
    pinned: dict[str, list[str]] = {}
    for pin in pins(lock):
        (specifier,) = pin.specifier
        pinned.setdefault(canonicalize_name(pin.name), []).append(specifier.version)
    stale = [
        str(wanted)
        for wanted in declared(extra)
        if not pinned.get(canonicalize_name(wanted.name))
        or not all(map(wanted.specifier.contains, pinned[canonicalize_name(wanted.name)]))
    ]
    assert stale == [], "run `make lock`"


@pytest.mark.parametrize("lock", [lock for lock, extra in LOCKED.items() if extra])
def test_the_larger_locks_repeat_the_runtime_pins(lock):
    assert {str(pin) for pin in pins("requirements.lock")} <= {str(pin) for pin in pins(lock)}


def test_make_help_lists_every_target():
    (phony,) = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert run("make") == run("make", "help")
    assert re.findall(r"^  make ([a-z-]+) +\S", run("make"), re.MULTILINE) == phony.split()


def test_the_wheel_carries_every_file_of_the_package(tmp_path: Path):
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    present = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "cubekeeper").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == present
