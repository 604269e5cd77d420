"""Which warehouse is meant: the one named, or the one found from the current folder upward."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from cubekeeper.errors import InputError, did_you_mean

VARIABLE: Final = "CUBEKEEPER_WAREHOUSE"
FOLDER_MARKS: Final = ("warehouse.yml", "warehouse.yaml")
WHOLE_FILES: Final = ("cubekeeper.yml", "cubekeeper.yaml")


def locate(given: str | None) -> Path:
    """The path of the warehouse: as given, by the environment, or found; it must exist."""
    named = given or os.environ.get(VARIABLE)
    if named:
        return _existing(Path(named), None if given else VARIABLE)
    found = find_upward(Path.cwd())
    if found is None:
        raise InputError(
            "no-warehouse",
            "there is no `warehouse.yml` in this folder or any folder above it",
            hint=f"name the warehouse (a folder or a YAML file), set {VARIABLE},"
            " or start one with `cubekeeper init my_warehouse`",
        )
    return found


def find_upward(start: Path) -> Path | None:
    """The nearest warehouse from a folder upward, written as short as it can be.

    A folder that holds ``warehouse.yml`` is one, read with all YAML files in it. A file
    ``cubekeeper.yml`` is one by itself, for a folder whose other YAML files are something else.
    """
    for folder in (start, *start.parents):
        if any((folder / name).is_file() for name in FOLDER_MARKS):
            return _shortened(folder, start)
        for name in WHOLE_FILES:
            if (folder / name).is_file():
                return _shortened(folder / name, start)
    return None


def _shortened(path: Path, start: Path) -> Path:
    """A path that the user recognises in messages."""
    return Path(os.path.relpath(path, start))


def _existing(path: Path, variable: str | None) -> Path:
    if path.exists():
        return path
    origin = f", which {variable} names," if variable else ""
    raise InputError(
        "no-such-path",
        f"`{path}`{origin} does not exist",
        hint=_nearest_existing(path),
    )


def _nearest_existing(path: Path) -> str | None:
    if path.parent.is_dir():
        siblings = [entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")]
        return did_you_mean(path.name, siblings)
    return None
