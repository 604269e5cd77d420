"""Delta's two jars: where they are, and that they are the right ones.

Set-up brings them into the cache folder once; a session only looks. `CUBEKEEPER_JARS` names a
folder that holds them already, for machines that may not download.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cubekeeper.errors import InputError

CACHE_VARIABLE: Final = "CUBEKEEPER_CACHE"
JARS_VARIABLE: Final = "CUBEKEEPER_JARS"


@dataclass(frozen=True, slots=True)
class Jar:
    """A library for the JVM, named as its build system names it, and what its bytes must be."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The name of its file.

        >>> DELTA_JARS[1].file_name
        'delta-storage-4.4.0.jar'
        """
        return f"{self.artifact}-{self.version}.jar"

    @property
    def coordinate(self) -> str:
        """Its name for a resolver.

        >>> DELTA_JARS[1].coordinate
        'io.delta:delta-storage:4.4.0'
        """
        return f"{self.group}:{self.artifact}:{self.version}"


DELTA_JARS: Final = (
    Jar(
        "io.delta",
        "delta-spark_4.2_2.13",
        "4.4.0",
        "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
    ),
    Jar(
        "io.delta",
        "delta-storage",
        "4.4.0",
        "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
    ),
)


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where set-up keeps what it made.

    >>> cache_folder({"XDG_CACHE_HOME": "/var/cache/me"}).as_posix()
    '/var/cache/me/cubekeeper'
    >>> cache_folder({"CUBEKEEPER_CACHE": "/big/disk"}).as_posix()
    '/big/disk'
    """
    if named := environment.get(CACHE_VARIABLE):
        return Path(named).expanduser().absolute()
    root = environment.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "cubekeeper"


def find_jars(environment: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Delta's jars, each checked; never downloads."""
    named = environment.get(JARS_VARIABLE)
    folder = Path(named).expanduser().absolute() if named else cache_folder(environment) / "jars"
    return tuple(_checked(jar, folder, named is not None) for jar in DELTA_JARS)


def _checked(jar: Jar, folder: Path, named: bool) -> Path:
    # a resolver's own folder puts the group before the name
    for name in (jar.file_name, f"{jar.group}_{jar.file_name}"):
        path = folder / name
        if path.is_file():
            return check_jar(jar, path)
    if named:
        raise InputError(
            "jars-missing",
            f"{JARS_VARIABLE} names `{folder}`, which has no `{jar.file_name}`",
            hint=f"put `{jar.coordinate}` there, or unset {JARS_VARIABLE}"
            " and run `cubekeeper setup`",
        )
    raise InputError(
        "jars-missing",
        f"Delta's jar `{jar.file_name}` is not on this machine yet",
        hint="run `cubekeeper setup` once; on a machine without network, set"
        f" {JARS_VARIABLE} to a folder that holds it",
    )


def is_jar(jar: Jar, path: Path) -> bool:
    """Whether a file is there and is that jar, byte for byte."""
    return path.is_file() and _digest(path) == jar.sha256


def check_jar(jar: Jar, path: Path) -> Path:
    """Return the path if the file is that jar, byte for byte."""
    found = _digest(path)
    if found != jar.sha256:
        raise InputError(
            "wrong-jar",
            f"`{path}` is not {jar.coordinate}: its SHA-256 begins with {found[:12]},"
            f" it must begin with {jar.sha256[:12]}",
            hint="run `cubekeeper setup`, which replaces what is wrong in its own cache",
        )
    return path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep_jar(jar: Jar, found: Path, folder: Path) -> Path:
    """Copy a jar into a folder if it is the right one; it is there in full or not at all."""
    check_jar(jar, found)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / jar.file_name
    draft = target.with_name(f".{jar.file_name}.{os.getpid()}")
    try:
        shutil.copyfile(found, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return target
