"""The class-data archive: Spark's classes as the JVM holds them in memory, mapped at its start.

Loading and checking some twenty thousand classes is most of what a cold Spark does. A JVM that has
done it once writes them to a file (about 200 MB) when it ends; the next one maps that file. It fits
one JDK and one class path only, both of which its name stands for; without it, or if the JVM
refuses it, everything works and starts more slowly.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from cubekeeper.spark.jars import cache_folder
from cubekeeper.spark.java import Java

KEPT: Final = 4


def archive_path(
    java: Java, class_path: tuple[Path, ...], environment: Mapping[str, str] = os.environ
) -> Path:
    """Where the archive for this Java and these jars is, made or not."""
    seal = hashlib.sha256()
    seal.update(f"{java.executable}\n{java.identity}\n".encode())
    for path in class_path:
        facts = path.stat()
        seal.update(f"{path} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return cache_folder(environment) / "archives" / f"{seal.hexdigest()[:20]}.jsa"


def use_archive(path: Path) -> tuple[str, ...]:
    """The options with which a JVM maps an archive, if there is one; it then counts as new."""
    if not path.is_file():
        return ()
    with suppress(OSError):  # a cache that somebody else owns can be used as well
        os.utime(path)
    return (f"-XX:SharedArchiveFile={path}", "-Xshare:auto")


def write_archive(path: Path) -> tuple[str, ...]:
    """The options with which a JVM writes an archive when it ends."""
    return (f"-XX:ArchiveClassesAtExit={path}",)


def drop_old_archives(folder: Path, keep: int = KEPT) -> None:
    """Delete all but the newest archives: each belongs to a JDK and jars that may be gone."""
    archives = sorted(folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime)
    for path in archives[:-keep]:
        path.unlink(missing_ok=True)
